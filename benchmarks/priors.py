"""``python -m benchmarks.priors``: the default learner with right, wrong and absent priors of its numeric columns.

What an expert would say is taken from the rows that are tested on, or from all rows where those are fewer than 2,000:
the sign of a column's rank correlation with the label, for columns where it exceeds .03. *Ranked* adds their order of
importance, *reversed* turns every sign, *random* gives every numeric column a random one. All fits of a table, split
and epsilon share their seed. Prints the change against no prior, as means over tables with their standard errors.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from collections import defaultdict
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import Table, load, split
from tacit import AdditiveBoostClassifier
from tacit.schema import NumericColumn, Schema

WAYS = ("right", "ranked", "reversed", "random")
TABLES = (
    *(
        "kershaw_swing",
        "saratoga_aircon",
        "nhis_smoked_pregnant",
        "math_placement",
        "ames_expensive",
        "lalonde_unemp78",
    ),
    *("ui_noclaim", "swiss_labor", "loan_reject", "credit_bad", "mroz_work", "contraceptive"),
)
"""Twelve of the sixty, with 4 to 33 numeric columns and 750 to 5,000 rows."""
FEWEST = 2000
"""Tested rows from which they alone say what is expected."""


def correlations(table: Table) -> dict[str, float]:
    """Rank correlations of the numeric columns with the label."""
    results = {}
    for name, column in table.schema.columns.items():
        present = table.X[name].notna().to_numpy()
        if isinstance(column, NumericColumn) and present.sum() >= 20:
            ranks = table.X[name][present].rank().to_numpy()
            results[name] = float(np.corrcoef(ranks, table.y[present])[0, 1]) if ranks.std() > 0 else 0.0
    return results


def schema_with(way: str, schema: Schema, signs: dict[str, float], generator: np.random.Generator) -> Schema:
    """The schema with the priors of that way."""
    described: dict[str, Any] = schema.to_dict()
    large = sorted((name for name, size in signs.items() if abs(size) > 0.03), key=lambda name: -abs(signs[name]))
    for rank, name in enumerate(signs if way == "random" else large, start=1):
        up = generator.random() < 0.5 if way == "random" else (signs[name] > 0) != (way == "reversed")
        described["columns"][name]["prior"] = "increasing" if up else "decreasing"
        if way == "ranked":
            described["columns"][name]["importance"] = rank
    return Schema.from_dict(described)


def judged(schema: Schema, train: Table, test: Table, epsilon: float, seed: int) -> np.ndarray:
    """AUC and log loss of one fit."""
    model = AdditiveBoostClassifier(epsilon=epsilon, delta=1e-6, schema=schema, random_state=seed)
    positive = np.asarray(model.fit(train.X, train.y).predict_proba(test.X))[:, 1]
    return np.array([roc_auc_score(test.y, positive), log_loss(test.y, np.clip(positive, 1e-6, 1 - 1e-6))])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=TABLES, help="of the sixty")
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--epsilon", type=float, nargs="*", default=[0.1, 1.0])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    changes: dict[tuple[float, str], dict[str, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for name in arguments.tables:
        table = load(name)
        for seed in range(arguments.splits):
            train, test = split(table, seed)
            signs = correlations(test if len(test.y) >= FEWEST else table)
            for epsilon in arguments.epsilon:
                without = judged(train.schema, train, test, epsilon, seed)
                for way in WAYS:
                    generator = np.random.default_rng(zlib.crc32(name.encode()) + seed)
                    schema = schema_with(way, train.schema, signs, generator)
                    changes[epsilon, way][name].append(judged(schema, train, test, epsilon, seed) - without)
        print(name, flush=True)
    for (epsilon, way), by_table in changes.items():
        means = np.array([np.mean(splits, axis=0) for splits in by_table.values()])
        errors = means.std(axis=0, ddof=1) / np.sqrt(len(means))
        print(
            f"{epsilon:g} {way:9s} {len(means)} tables: AUC {means[:, 0].mean():+.4f} ± {errors[0]:.4f} (worst "
            f"{means[:, 0].min():+.4f}), log loss {means[:, 1].mean():+.4f} ± {errors[1]:.4f}"
        )


if __name__ == "__main__":
    main()
