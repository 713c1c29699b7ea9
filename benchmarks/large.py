"""Tables of very many rows: `python -m benchmarks.large`. Accuracy and seconds against peers, on synthetic tables.

The tables are those the planning rule is fitted on (`tools.synthetic_tables`), twelve columns that hang on two common
factors, with truths from additive to deep trees. AUC and log loss are on 8,000 other rows. LightGBM has no privacy: it
is the ceiling, with 100 trees of 31 leaves and with 400 of 63. DP-EBM has the same bounds as we have.

Results are lines of `benchmarks/results/large.parquet`, by version of the library; the last thing printed is a table.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.lines import Lines
from tools.fit_planning_rule import version
from tools.synthetic_tables import DENSE, Drawn, Setting, draw

COLUMNS, FACTORS = 12, 2
LEAST = 1e-6
"""Probabilities nearer to 0 and 1 than this count as this in the log loss."""

TRUTHS = tuple(truth for truth in DENSE if truth != "linear")
Guess = np.ndarray


def numbers(X: pd.DataFrame) -> pd.DataFrame:
    """Categories as their codes."""
    return X.apply(lambda column: column if column.dtype.kind == "f" else column.astype(int))


def flagship(table: Drawn, epsilon: float) -> Guess:
    """The flagship with default settings."""
    from tacit import AdditiveBoostClassifier

    model = AdditiveBoostClassifier(epsilon=epsilon, schema=table.schema, random_state=0).fit(table.X, table.y)
    return model.predict_proba(table.X_test)[:, 1]


def trees(table: Drawn, epsilon: float) -> Guess:
    """Private boosted trees with default settings."""
    from tacit import BoostedTreesClassifier

    model = BoostedTreesClassifier(epsilon=epsilon, schema=table.schema, random_state=0).fit(table.X, table.y)
    return model.predict_proba(table.X_test)[:, 1]


def dp_ebm(table: Drawn, epsilon: float) -> Guess:
    """interpret's DP-EBM with default settings and the same bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier

    columns = table.schema.columns
    bounds = {
        place: (column.lower, column.upper) for place, column in enumerate(columns.values()) if column.kind == "numeric"
    }
    kinds = ["continuous" if column.kind == "numeric" else "nominal" for column in columns.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPExplainableBoostingClassifier(
            epsilon=epsilon, delta=1e-6, privacy_bounds=bounds, feature_types=kinds, n_jobs=-1, random_state=0
        ).fit(table.X, table.y)
    return model.predict_proba(table.X_test)[:, 1]


def lightgbm(n_trees: int, leaves: int) -> Callable[[Drawn, float], Guess]:
    """LightGBM without privacy."""

    def guess(table: Drawn, _: float) -> Guess:
        from lightgbm import LGBMClassifier

        model = LGBMClassifier(n_estimators=n_trees, num_leaves=leaves, verbose=-1)
        return model.fit(numbers(table.X), table.y).predict_proba(numbers(table.X_test))[:, 1]

    return guess


PRIVATE: dict[str, Callable[[Drawn, float], Guess]] = {"flagship": flagship, "trees": trees, "dp_ebm": dp_ebm}
OPEN = {"lightgbm_100": lightgbm(100, 31), "lightgbm_400": lightgbm(400, 63)}


def measured(table: Drawn, fit: Callable[[Drawn, float], Guess], epsilon: float) -> dict[str, float]:
    """A fit's AUC, log loss and seconds, prediction included."""
    start = time.perf_counter()
    guess = np.clip(fit(table, epsilon), LEAST, 1 - LEAST)
    seconds = time.perf_counter() - start
    facts = {"auc": roc_auc_score(table.y_test, guess), "log_loss": log_loss(table.y_test, guess), "seconds": seconds}
    return {name: round(float(value), 4) for name, value in facts.items()}


def run(args: argparse.Namespace) -> list[str]:
    """All that was asked for, as lines of a markdown table."""
    lines, means = Lines("large"), dict[tuple[str, float], list[dict[str, float]]]()
    out = [f"| truth | rows | epsilon | {' | '.join(args.who)} |", "|---" * (3 + len(args.who)) + "|"]
    for rows in args.rows:
        for truth in args.truths:
            setting = Setting(truth, rows, COLUMNS, 1.0, args.seed + TRUTHS.index(truth), FACTORS)
            table: list[Drawn] = []

            def result(who: str, epsilon: float, setting: Setting = setting, table: list[Drawn] = table) -> Any:
                job: dict[str, Any] = {"who": who, "truth": setting.truth, "rows": setting.rows, "seed": setting.seed}
                if who in PRIVATE:
                    job |= {"epsilon": epsilon} | ({} if who == "dp_ebm" else {"version": args.version})
                fit = (PRIVATE | OPEN)[who]

                def work() -> dict[str, float]:
                    if not table:
                        table.append(draw(setting))
                    return measured(table[0], fit, epsilon)

                return lines.run(job, work)

            for epsilon in args.epsilon:
                results = [result(who, epsilon) for who in args.who]
                for who, one in zip(args.who, results, strict=True):
                    means.setdefault((who, epsilon), []).append(one)
                cells = [f"{one['auc']:.4f} {one['log_loss']:.4f} {one['seconds']:.1f} s" for one in results]
                out.append(f"| {truth} | {rows:,} | {epsilon:g} | {' | '.join(cells)} |")
                print(out[-1], flush=True)
    for epsilon in args.epsilon:
        cells = []
        for who in args.who:
            of = {what: float(np.mean([one[what] for one in means[who, epsilon]])) for what in ("auc", "log_loss")}
            cells.append(f"{of['auc']:.4f} {of['log_loss']:.4f}")
        out.append(f"| mean | | {epsilon:g} | {' | '.join(cells)} |")
    return out


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--truths", nargs="+", choices=TRUTHS, default=list(TRUTHS))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 8.0])
    parser.add_argument("--who", nargs="+", choices=[*PRIVATE, *OPEN], default=[*PRIVATE, *OPEN])
    parser.add_argument("--seed", type=int, default=500)
    parser.add_argument("--version", default=None, help="name of the source's version; the last commit of src/tacit")
    args = parser.parse_args()
    args.version = args.version or version()
    out = run(args)
    print("\n".join(["", "AUC, log loss, seconds:", "", *out]))


if __name__ == "__main__":
    main()
