"""What learners make of shuffled labels: `python -m benchmarks.placebo`.

The table has a rare class that lives where rows are sparse. Training labels are shuffled, and true labels of new rows
are ranked: an AUC above .5, or a mean chance in sparse groups above the base rate, is belief without evidence. Learners
of several classes have a third one that says nothing; learners of numbers have a number that is large where the class
is rare, and their predictions rank. Printed are means over the shuffles with their standard errors; the last line is
one JSON object.

Where noise is most of a score, a hundred draws of it may rank by luck. With ``--both-signs`` every shuffle is learned
from twice, with all noise reversed the second time, and counts by the mean of the two: what noise adds and takes away
alike is gone then, and what is left is bias and the luck of labels. Choices by the exponential mechanism stay the same.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

import tacit
from tacit.closure import FiniteClassClassifier, Thresholds
from tacit.noise.seeded_source import SeededSource

Make = Callable[[dict[str, Any]], Any]

COLUMNS: dict[str, Any] = {f"x{j}": {"kind": "numeric", "lower": 0, "upper": 10} for j in range(5)}
COLUMNS["group"] = {"kind": "categorical", "categories": list("abcdef")}
SCHEMA = {"label": {"column": "y", "kind": "classes", "classes": [0, 1]}, "columns": COLUMNS}

CLASSIFIERS: dict[str, Make] = {
    "gradient trees": lambda request: tacit.BoostedTreesClassifier(**request),
    "gradient trees, 60": lambda request: tacit.BoostedTreesClassifier(**request, n_trees=60),
    "gradient trees, pure": lambda request: tacit.BoostedTreesClassifier(**{**request, "delta": 0.0}),
    "M-alpha": lambda request: tacit.MAlphaBoostClassifier(**request, alpha=0.5, criterion="gini"),
    "RF-L": lambda request: tacit.RandomTreesClassifier(**request),
    "RF-E": lambda request: tacit.RandomTreesClassifier(**request, mechanism="exponential"),
    "additive": lambda request: tacit.AdditiveBoostClassifier(**request),
    "additive, pure": lambda request: tacit.AdditiveBoostClassifier(**{**request, "delta": 0.0}),
    "halfspace": lambda request: tacit.HalfspaceBoostClassifier(**request),
    "decision list": lambda request: tacit.DecisionListClassifier(**request),
    "finite class": lambda request: FiniteClassClassifier(Thresholds("x0"), **request),
}


SEVERAL: dict[str, Make] = {
    "gradient trees, 3 classes": lambda request: tacit.BoostedTreesClassifier(**request),
    "additive, 3 classes": lambda request: tacit.AdditiveBoostClassifier(**request),
    "additive, ordered": lambda request: tacit.AdditiveBoostClassifier(**request, ordered=True),
}
NUMBERS: dict[str, Make] = {
    "additive, mean": lambda request: tacit.AdditiveBoostRegressor(**request),
    "additive, quantile": lambda request: tacit.AdditiveBoostRegressor(**request, loss="quantile", quantile=0.9),
    "additive, Poisson": lambda request: tacit.AdditiveBoostRegressor(**request, loss="poisson"),
}
LEARNERS = {**CLASSIFIERS, **SEVERAL, **NUMBERS}
THIRD, FEW, MORE, MOST = 0.3, 1.0, 4.0, 20.0
"""Share of rows of the third class; means of the number without and with the rare class, and its upper bound."""


def rows(n: int, generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table, its labels (7 % positive), and which rows are of a sparse group."""
    frame = pd.DataFrame({f"x{j}": np.minimum(generator.exponential(1.0, n), 9.99) for j in range(5)})
    frame["group"] = generator.choice(list("abcdef"), n, p=[0.6, 0.3, 0.04, 0.03, 0.02, 0.01])
    sparse = frame["group"].isin(list("cdef")).to_numpy()
    odds = -4.2 + 0.8 * (frame["x0"] + frame["x1"] - 1.0) + 1.2 * sparse
    return frame, (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int), sparse


def placebo(name: str, seed: int, epsilon: float = 1.0, shuffled: bool = True, n: int = 2500) -> tuple[float, float]:
    """AUC on new rows, and the mean chance (or number) in sparse groups over that of all training rows."""
    generator = np.random.default_rng(seed)
    (frame, y, _), (new, truth, sparse) = rows(n, generator), rows(4000, generator)
    label, target = SCHEMA["label"], y
    if name in SEVERAL:
        label, target = label | {"classes": [0, 1, 2]}, np.where((y == 0) & (generator.random(n) < THIRD), 2, y)
    if name in NUMBERS:
        label = {"column": "y", "kind": "numeric", "lower": 0, "upper": MOST}
        target = np.minimum(generator.poisson(np.where(y == 1, MORE, FEW)), MOST).astype(float)
    request = {"epsilon": epsilon, "delta": 1e-6, "schema": {**SCHEMA, "label": label}, "random_state": seed}
    model = LEARNERS[name](request).fit(frame, generator.permutation(target) if shuffled else target)
    if name in NUMBERS:
        predictions, middle = model.predict(new), np.quantile(target, 0.9) if "quantile" in name else target.mean()
        return roc_auc_score(truth, predictions), predictions[sparse].mean() / middle
    two = hasattr(model, "decision_function") and name not in SEVERAL
    score = model.decision_function(new) if two else model.predict_proba(new)[:, 1]
    return roc_auc_score(truth, score), model.predict_proba(new)[sparse, 1].mean() / y.mean()


@contextmanager
def reversed_noise() -> Iterator[None]:
    """All additive noise of seeded fits has the other sign, while it lasts."""
    gaussian, laplace = SeededSource.gaussian, SeededSource.laplace
    with ExitStack() as stack:
        stack.enter_context(patch.object(SeededSource, "gaussian", lambda *asked: -gaussian(*asked)))
        stack.enter_context(patch.object(SeededSource, "laplace", lambda *asked: -laplace(*asked)))
        yield


def both_signs(name: str, seed: int, epsilon: float = 1.0, n: int = 2500) -> tuple[float, float]:
    """:func:`placebo` as the mean of two fits: with noise, and with the same noise reversed."""
    plain = placebo(name, seed, epsilon, n=n)
    with reversed_noise():
        other = placebo(name, seed, epsilon, n=n)
    return (plain[0] + other[0]) / 2, (plain[1] + other[1]) / 2


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--who", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0])
    parser.add_argument("--shuffles", type=int, default=24)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--both-signs", action="store_true", help="learn a second time, with all noise reversed")
    args = parser.parse_args()
    figures, try_one = {}, both_signs if args.both_signs else placebo
    for name in args.who:
        for epsilon in args.epsilon:
            result = np.array([try_one(name, args.first + seed, epsilon) for seed in range(args.shuffles)])
            (auc, over), errors = result.mean(axis=0), result.std(axis=0, ddof=1) / args.shuffles**0.5
            figures[f"{name}, epsilon {epsilon:g}"] = [round(float(value), 3) for value in (auc, errors[0], over)]
            print(
                f"{name:26s} {epsilon:5g}  AUC {auc:.3f} +- {errors[0]:.3f}, sparse {over:.2f} +- {errors[1]:.2f}",
                flush=True,
            )
    run = {"benchmark": "placebo", "shuffles": args.shuffles, "first": args.first, "both_signs": args.both_signs}
    print(json.dumps({**run, "figures": figures}))


if __name__ == "__main__":
    main()
