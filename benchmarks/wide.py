"""Very many columns, and very few positives: `python -m benchmarks.wide`.

Made tables. *Wide*: 20,000 rows of 500 to 5,000 flags, each of which .5 to 30 % of the rows have; thirty of them say
something. *Rare*: 100,000 rows of 20 numbers, of which five say something, and one positive in 500. AUC and log loss on
other rows, of the default learner, DP-EBM and DP-FTRL with the same bounds, logistic regression without privacy, and
the share of positives.

``--thinned``: twelve of the sixty tables of which the training rows keep so many random positives that they are 1, 2 or
5 %; all test rows count, positives by a weight that gives them the same share. Average precision, log loss, and
calibration: the error over ten groups of equal weight, relative to the positives, and predicted over true positives.

Results are lines of `benchmarks/results/wide.parquet`, by version of the library; the last thing printed is a table.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import average_precision_score

from benchmarks import data, peers, store
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

THINNED = dict.fromkeys(("stop_search", "trump_vote", "nesarc_heavydrink", "wife_ownhi"), 0.01)
THINNED |= dict.fromkeys(("hotel_parking", "birdstrike_effect", "nhis_uninsured", "lending_bad"), 0.02)
THINNED |= dict.fromkeys(("alcohol_abuse", "health_uninsured", "loans_renter", "flchain_death"), 0.05)
"""Thinned tables, of 5,000 rows or more after it, and their shares of positives."""

RARE_FIGURES = ("precision", "log_loss", "calibration", "total")


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
    result = scored(test.y, learner(train, test, epsilon or 0.0, DELTA, 0))
    seconds = time.process_time() - start
    return {"auc": round(result["auc"], 4), "log_loss": round(result["log_loss"], 4), "seconds": round(seconds, 1)}


def lightgbm(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """LightGBM without privacy, 100 trees of 15 leaves."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(num_leaves=15, learning_rate=0.05, verbose=-1, n_jobs=1)
    cells = [peers.one_hot(train, table).to_numpy() for table in (train, test)]
    return np.asarray(model.fit(cells[0], train.y).predict(cells[1], raw_score=True))


RARE_WHO = {"additive": peers.additive, "dp_ebm": peers.dp_ebm, "dp_ebm_fast": peers.PRIVATE["dp_ebm_fast"]}
RARE_PLAIN = {"lightgbm": lightgbm, **PLAIN}


def thinned(name: str, share: float) -> tuple[Table, Table]:
    """Training rows of which this share is positive, and all test rows of the first split."""
    train, test = data.split(data.load(name), 0)
    others, positives = (np.flatnonzero(train.y == label) for label in (0, 1))
    some = np.random.default_rng(0).permutation(positives)[: round(len(others) * share / (1 - share))]
    return train.rows(np.sort(np.concatenate([others, some]))), test


def rare_figures(y: np.ndarray, log_odds: np.ndarray, share: float) -> Line:
    """The figures of rare positives, with test rows weighted to this share of them."""
    weight = np.where(y == 1, share / (1 - share) * (y == 0).sum() / (y == 1).sum(), 1.0)
    chances = expit(log_odds)
    order = np.argsort(chances, kind="stable")
    groups = np.minimum(np.cumsum(weight[order]) / weight.sum() * 10, 9).astype(int)
    excess = np.bincount(groups, (weight * (chances - y))[order])
    losses, positives = np.logaddexp(0.0, np.where(y == 1, -log_odds, log_odds)), (weight * y).sum()
    return {
        "precision": float(average_precision_score(y, log_odds, sample_weight=weight)),
        "log_loss": float(np.average(losses, weights=weight)),
        "calibration": float(np.abs(excess).sum() / positives),
        "total": float((weight * chances).sum() / positives),
    }


def run_thinned(epsilons: list[float], lines: Lines, now: str) -> None:
    """Runs the thinned tables."""
    for name, share in THINNED.items():
        train, test = thinned(name, share)
        for who, learner in (RARE_WHO | RARE_PLAIN).items():
            for epsilon in epsilons if who in RARE_WHO else [None]:
                job = {"table": name, "share": share, "who": who, "epsilon": epsilon}
                job |= {"version": now} if who == "additive" else {}
                lines.run(
                    job,
                    lambda: rare_figures(test.y, learner(train, test, epsilon or 0.0, DELTA, 0), share),  # noqa: B023
                )
        print(name, share, flush=True)


def rare_means() -> dict[str, dict[str, dict[str, float]]]:
    """Means over the thinned tables, of our newest version: figure -> who -> epsilon, "None" without privacy."""
    lines = [line for line in store.read("wide") if "share" in line["job"]]
    last = next((line["job"]["version"] for line in reversed(lines) if "version" in line["job"]), None)
    result = pd.DataFrame(
        [line["job"] | line["result"] for line in lines if line["job"].get("version", last) == last],
        columns=["table", "share", "who", "epsilon", *RARE_FIGURES],
    )
    by = result.groupby(["who", result["epsilon"].map(str).replace("nan", "None")])[list(RARE_FIGURES)].mean()
    return {
        figure: {str(who): own.droplevel(0).round(4).to_dict() for who, own in by[figure].groupby(level=0)}
        for figure in RARE_FIGURES
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thinned", action="store_true", help="real tables with rare positives in place of made ones")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--who", nargs="+", choices=[*WHO, *PLAIN], default=[*WHO, *PLAIN])
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 8.0])
    parser.add_argument("--version", default=None, help="name of our version; the last commit of src/tacit")
    args = parser.parse_args()
    lines, now = Lines("wide"), args.version or version()
    if args.thinned:
        run_thinned(args.epsilon, lines, now)
        print(pd.DataFrame({figure: pd.DataFrame(means).stack() for figure, means in rare_means().items()}).to_string())
        return
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
