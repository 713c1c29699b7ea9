"""What paid evaluation is worth: ``python -m benchmarks.evaluation [score] [numbers] [recalibration] [discovery] ...``.

``score``: on Adult's test rows, the private figures beside the exact ones, and how wide the intervals are. ``numbers``:
the same for predictions of a number with errors of known size, on made rows.
``recalibration``: calibration error and log loss of the default learner before and after. ``discovery``: AUC with the
declared schema, with a discovered one (paid from the same epsilon), and with none. ``search``: what every fit of a
search gets of the budget. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from benchmarks.data import Table, splits
from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.discovery.discover_schema import discover_schema
from tacit.encoding.frames import columns_of
from tacit.evaluation.private_score import private_score
from tacit.evaluation.private_selection import PrivateSelection
from tacit.evaluation.recalibrate import recalibrate

Result = dict[str, Any]
DELTA = 1e-6


def show(line: Result) -> Result:
    """Prints a result as it comes."""
    print("  ".join(f"{key} {value}" for key, value in line.items()), flush=True)
    return line


def fitted(table: Table, epsilon: float, seed: int) -> AdditiveBoostClassifier:
    """The default learner."""
    return AdditiveBoostClassifier(epsilon, DELTA, schema=table.schema, random_state=seed).fit(table.X, table.y)


def calibration_error(chances: np.ndarray, y: np.ndarray, groups: int = 15) -> float:
    """The expected calibration error over groups of equal size."""
    parts = np.array_split(np.argsort(chances, kind="stable"), groups)
    return sum(abs(float((y[part] - chances[part]).sum())) for part in parts) / len(y)


def compared(job: Result, scores: Sequence[Any], exact: Mapping[str, float]) -> list[Result]:
    """Private figures beside exact ones."""
    results = []
    for name, value in exact.items():
        line = {**job, "metric": name, "exact": round(value, 4)}
        line["private"] = round(float(np.mean([s[name].value for s in scores])), 4)
        line["error"] = round(float(np.sqrt(np.mean([(s[name].value - value) ** 2 for s in scores]))), 4)
        line["half_width"] = round(float(np.mean([(s[name].high - s[name].low) / 2 for s in scores])), 4)
        results.append(show(line))
    return results


def score(seeds: int) -> list[Result]:
    """Private figures and their intervals beside the exact ones."""
    _, train, test = next(splits("adult", 1))
    model = fitted(train, 1.0, 0)
    chances = model.predict_proba(test.X)[:, 1]
    results = []
    for n in (1000, 4000, 16_000):
        for epsilon in (0.1, 1.0):
            rows = np.random.default_rng(0).permutation(len(test.y))[:n]
            part, p = test.rows(rows), chances[rows]
            exact = {
                "auc": roc_auc_score(part.y, p),
                "accuracy": accuracy_score(part.y, p >= 0.5),
                "log_loss": log_loss(part.y, np.clip(p, 0.01, 0.99)),
                "calibration": calibration_error(p, part.y),
            }
            scores = [private_score(model, part.X, part.y, epsilon, DELTA, random_state=seed) for seed in range(seeds)]
            results += compared({"part": "score", "n": n, "epsilon": epsilon}, scores, exact)
    return results


class Said:
    """A regressor whose predictions stand in the data."""

    def predict(self, rows: Any) -> np.ndarray:
        return np.asarray(rows["said"])


def numbers(seeds: int) -> list[Result]:
    """Private figures of predictions with normal errors of size 1, under bounds 40 apart; R2 is .8."""
    generator, results = np.random.default_rng(0), []
    for n in (1000, 4000, 16_000):
        said = generator.normal(0, 2, n)
        y = said + generator.normal(0, 1, n)
        exact = {
            "mae": mean_absolute_error(y, said),
            "rmse": root_mean_squared_error(y, said),
            "r2": r2_score(y, said),
        }
        for epsilon in (0.1, 1.0):
            scores = [
                private_score(
                    Said(), {"said": said}, y, epsilon, DELTA, tuple(exact), target_bounds=(-20, 20), random_state=seed
                )
                for seed in range(seeds)
            ]
            results += compared({"part": "numbers", "n": n, "epsilon": epsilon}, scores, exact)
    return results


def recalibration(seeds: int) -> list[Result]:
    """Before and after, with a tenth of the training rows set aside and a tenth of the fit's epsilon."""
    results = []
    for name in ("adult", "magic", "credit_default", "abalone", "spambase"):
        for epsilon in (0.5, 4.0):
            runs = []
            for seed, train, test in splits(name, seeds):
                aside = np.random.default_rng(seed).random(len(train.y)) < 0.1
                model = fitted(train.rows(np.flatnonzero(~aside)), epsilon, seed)
                kept = train.rows(np.flatnonzero(aside))
                result = recalibrate(model, kept.X, kept.y, epsilon, DELTA, random_state=seed)
                before = model.predict_proba(test.X)[:, 1]
                after = result.model.predict_proba(columns_of(test.X))[:, 1]
                both = [(calibration_error(p, test.y), log_loss(test.y, np.clip(p, 1e-9, 1))) for p in (before, after)]
                runs.append((*both[0], *both[1], result.changed))
            figures = np.mean(np.array(runs, float), axis=0).round(4).tolist()
            names = ("ece_before", "log_loss_before", "ece_after", "log_loss_after", "changed")
            results.append(
                show(
                    {
                        "part": "recalibration",
                        "data": name,
                        "epsilon": epsilon,
                        **dict(zip(names, figures, strict=True)),
                    }
                )
            )
    return results


def discovery(seeds: int) -> list[Result]:
    """AUC with the declared schema, with one found for a fifth of the same epsilon, and with none: the fit finds it."""
    results = []
    for name in ("adult", "credit_default", "magic", "wine_white", "cardiotocography", "banknote"):
        for epsilon in (0.5, 1.0, 4.0):
            runs = []
            for seed, train, test in splits(name, seeds):
                declared = fitted(train, epsilon, seed)
                columns = train.X.assign(label_column=train.y)
                found, _ = discover_schema(columns, "label_column", 0.2 * epsilon, DELTA / 2, random_state=seed)
                learned = AdditiveBoostClassifier(0.8 * epsilon, DELTA / 2, schema=found, random_state=seed)
                learned.fit(train.X, train.y)
                alone = AdditiveBoostClassifier(epsilon, DELTA, random_state=seed).fit(train.X, train.y)
                models = (declared, learned, alone)
                runs.append([roc_auc_score(test.y, model.predict_proba(test.X)[:, 1]) for model in models])
            means = np.mean(runs, axis=0).round(4).tolist()
            results.append(
                show(
                    {
                        "part": "discovery",
                        "data": name,
                        "epsilon": epsilon,
                        "declared": means[0],
                        "discovered": means[1],
                        "in the fit": means[2],
                    }
                )
            )
    return results


def search(_: int) -> list[Result]:
    """What is left for a fit, by strategy and number of candidates."""
    results = []
    for delta in (DELTA, 0.0):
        for count in (2, 3, 4, 8, 16, 32):
            line: Result = {"part": "search", "delta": delta, "candidates": count}
            for strategy in ("each", "random_stopping"):
                candidates = [AdditiveBoostClassifier() for _ in range(count)]
                plan = PrivateSelection(candidates, epsilon=1.0, delta=delta, strategy=strategy).dry_run()
                line[strategy] = round(plan["epsilon_per_fit"], 3)
            results.append(show(line))
    return results


PARTS = {"score": score, "numbers": numbers, "recalibration": recalibration, "discovery": discovery, "search": search}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"among {', '.join(PARTS)}")
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    results = [line for part in args.parts for line in PARTS[part](args.seeds)]
    print(json.dumps({"benchmark": "evaluation", "seeds": args.seeds, "results": results}))


if __name__ == "__main__":
    main()
