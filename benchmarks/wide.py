"""Very many columns, and very few positives: `python -m benchmarks.wide`.

Made tables. *Wide*: 20,000 rows of 500 to 5,000 flags, each of which .5 to 30 % of the rows have; thirty of them say
something. *Rare*: 100,000 rows of 20 numbers, of which five say something, and one positive in 500. AUC and log loss on
other rows, of the default learner, DP-EBM and DP-FTRL with the same bounds, logistic regression without privacy, and
the share of positives.

Results are lines of `benchmarks/results/wide.parquet`, by version of the library; the last thing printed is a table.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks import peers
from benchmarks.accuracy import DELTA, scored, version
from benchmarks.data import Table
from benchmarks.lines import Line, Lines
from tacit.schema import Schema

TELLING, WIDE, RARE = 30, (20_000, 10_000), (100_000, 100_000)
"""Flags that say something; rows to learn from and to judge by of either kind."""

TABLES = {"500 flags": 500, "1,000 flags": 1000, "2,000 flags": 2000, "5,000 flags": 5000, "1 in 500": 0}
"""Table -> its flags; none where positives are rare."""

WHO = {"additive": peers.additive, "dp_ebm": peers.dp_ebm, "dp_ftrl": peers.dp_ftrl}
PLAIN = {"logistic": peers.logistic, "prior": peers.prior}


def made(name: str) -> tuple[Table, Table]:
    """Rows to learn from, and rows to judge by."""
    generator, flags = np.random.default_rng(11), TABLES[name]
    X, score = wide(flags, generator) if flags else rare(generator)
    y = (generator.random(len(X)) < expit(score)).astype(np.int64)
    upper = 1.0 if flags else 10.0
    columns = {column: {"kind": "numeric", "lower": 0.0, "upper": upper} for column in X}
    label = {"column": "target", "kind": "classes", "classes": [0, 1], "positive": 1}
    table = Table(name, X, y, Schema.from_dict({"label": label, "columns": columns}))
    rows, known = np.arange(len(y)), (WIDE if flags else RARE)[0]
    return table.rows(rows[:known]), table.rows(rows[known:])


def wide(flags: int, generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Flags, and log-odds that thirty of them move by as much as makes them say alike."""
    shares = np.exp(generator.uniform(np.log(0.005), np.log(0.3), flags))
    cells = (generator.random((sum(WIDE), flags), np.float32) < shares).astype(float)
    sizes = generator.normal(size=TELLING) / np.sqrt(shares[:TELLING] * (1 - shares[:TELLING]))
    effect = (cells[:, :TELLING] - shares[:TELLING]) @ sizes
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(flags)]), 1.5 * effect / effect.std() - 0.5


def rare(generator: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers from 0 to 10, and log-odds with which one row in 500 is positive."""
    cells = np.minimum(generator.exponential(2.0, (sum(RARE), 20)), 10.0)
    effect = 0.45 * cells[:, :3].sum(axis=1) - 0.7 * np.abs(cells[:, 3] - 3.0) + 1.2 * (cells[:, 4] > 5.0)
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(20)]), effect - 9.6


def measured(who: str, epsilon: float | None, train: Table, test: Table) -> Line:
    """AUC, log loss, and seconds of the processor."""
    learner, start = (WHO | PLAIN)[who], time.process_time()
    found = scored(test.y, learner(train, test, epsilon or 0.0, DELTA, 0))
    seconds = time.process_time() - start
    return {"auc": round(found["auc"], 4), "log_loss": round(found["log_loss"], 4), "seconds": round(seconds, 1)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--who", nargs="+", choices=[*WHO, *PLAIN], default=[*WHO, *PLAIN])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 8.0])
    parser.add_argument("--version", default=None, help="name of our version; the last commit of src/tacit")
    args = parser.parse_args()
    lines, now = Lines("wide"), args.version or version()
    out = ["| table | positives | who | epsilon | AUC | log loss | seconds |", "|---" * 7 + "|"]
    for name in args.tables:
        train, test = made(name)
        for who in args.who:
            for epsilon in args.epsilon if who in WHO else [None]:
                job = {"table": name, "who": who, "epsilon": epsilon, **({"version": now} if who == "additive" else {})}
                line = lines.run(job, lambda: measured(who, epsilon, train, test))  # noqa: B023
                shown = "" if epsilon is None else f"{epsilon:g}"
                figures = f"{line['auc']:.3f} | {line['log_loss']:.4f} | {line['seconds']:.1f}"
                out.append(f"| {name} | {train.y.mean():.4f} | {who} | {shown} | {figures} |")
                print(out[-1], flush=True)
    print("\n".join(["", *out]))


if __name__ == "__main__":
    main()
