"""Ordered classes: `python -m benchmarks.ordered --epsilon 0.1 1 8 --seeds 3`.

Log loss (of probabilities clipped at one in a thousand), the ranked probability score (the sum over cuts of squared
errors of the chance to be at or below it) and the mean absolute error in steps of the order, on random fifths: the
flagship with ``ordered=True``, the same as classes without an order, and the shares of the classes. Targets are grades,
answers and steps of schooling; which ones was settled before any was learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import score_peers as peers
from benchmarks.data import load
from benchmarks.score_runs import arguments, run
from benchmarks.score_tables import ScoreTable, class_table, raw_rows
from tacit.schema import Schema

LEAST = 1e-3

GRADED = ("wine_red", "wine_white", "cardiotocography")
"""Tables whose classes, as ``benchmarks.multiclass`` has them, are in an order."""

RINGS = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
"""Abalone's rings, grouped: up to 5, each number, from 15 on."""

ANSWERS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "health": ("nhis_uninsured", "hlth", ("1", "2", "3", "4", "5")),
    "health_rand": ("rand_medexp", "health", ("poor", "fair", "good", "excellent")),
    "ideology": ("trump_vote", "ideo", ("1", "2", "3", "4", "5")),
    "schooling": ("wife_ownhi", "education", ("<9years", "9-11years", "12years", "13-15years", "16years", ">16years")),
    "schooling_wage": (
        "wage_noinsurance",
        "education",
        ("1. < HS Grad", "2. HS Grad", "3. Some College", "4. College Grad", "5. Advanced Degree"),
    ),
    "living_standard": ("contraceptive", "LivingStandard", ("1", "2", "3", "4")),
    "economy": ("beps_conservative", "economic.cond.national", ("1", "2", "3", "4", "5")),
    "parks": ("kakadu_nopay", "recparks", ("1", "2", "3", "4", "5")),
}
"""Name -> one of the sixty tables, the column that becomes the target, its values in order."""

SETS = (*GRADED, "rings", *ANSWERS)


def table(name: str) -> ScoreTable:
    """An ordered target; ``y`` holds the place in the order."""
    if name in GRADED:
        return class_table(name)
    if name == "rings":
        whole = class_table("abalone")
        return _with_order(
            name, whole.X, np.digitize(raw_rows("abalone")["target"].astype(int), RINGS, right=True), whole.schema
        )
    source, column, values = ANSWERS[name]
    binary = load(source)
    described = binary.schema.to_dict()
    described["columns"].pop(column)
    result = binary.X[column]
    if result.dtype == float:
        result = result.map(lambda value: f"{value:g}")
    codes = pd.Categorical(result, categories=list(values)).codes.astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    whole = _with_order(name, binary.X.drop(columns=column), codes, Schema.from_dict(described))
    return whole.rows(known)


def _with_order(name: str, X: pd.DataFrame, codes: np.ndarray, schema: Schema) -> ScoreTable:
    label = {"column": "target", "kind": "classes", "classes": list(range(int(codes.max()) + 1))}
    return ScoreTable(name, X, codes, Schema.from_dict({**schema.to_dict(), "label": label}))


def ours(train: ScoreTable, test: ScoreTable, epsilon: float, delta: float, seed: int, **asked: Any) -> np.ndarray:
    """The default learner, with its parameters."""
    from tacit import AdditiveBoostClassifier

    model = AdditiveBoostClassifier(epsilon, delta, schema=train.schema, random_state=seed, **asked)
    return model.fit(train.X, train.y).predict_proba(test.X)


def metrics(test: ScoreTable, found: np.ndarray) -> dict[str, float]:
    """Log loss, ranked probability score, and the mean distance of the median class."""
    chances = np.clip(np.nan_to_num(found), LEAST, None)
    chances /= chances.sum(axis=1, keepdims=True)
    upto = chances.cumsum(axis=1)[:, :-1]
    lower = test.y[:, None] <= np.arange(upto.shape[1])
    return {
        "log_loss": float(-np.log(chances[np.arange(len(test.y)), test.y]).mean()),
        "rps": float(np.square(upto - lower).sum(axis=1).mean()),
        "distance": float(np.abs((upto < 0.5).sum(axis=1) - test.y).mean()),
    }


def main() -> None:
    """The command."""
    private: dict[str, Callable[..., np.ndarray]] = {"ordered": partial(ours, ordered=True), "classes": ours}
    plain = {"prior": peers.prior}
    run("ordered", arguments(__doc__, SETS, [*private, *plain]), table, private, plain, metrics)


if __name__ == "__main__":
    main()
