"""Judges numbers of the default learner on sixty real tables, leaving studies out: `python -m tools.real_tables`.

Every value given stands in place of the rule's, on every table, split and epsilon:

    python -m tools.real_tables --vary planning.noisy_sweeps=3 planning.noisy_sweeps=24 --epsilon 0.1

prints, by groups of the signal ``q = n mu / sqrt(d)``, the rule's mean log loss and AUC and by how much each value
exceeds them, with standard errors over studies. The last two columns stand side by side: what choosing the value (the
rule among them) with the least loss on all studies of the group brings on these same studies, which flatters it, and
what it brings where it was not chosen: for every study the value with the least loss on all others is taken, and judged
on that study alone. A value is worth taking where the last is negative, not where its own mean is. Results are lines of
a file, by version of the source; what is there is not run again.

With ``--same-noise`` all fits of a table, split and epsilon draw from the same seed, release by release: what they
differ by is then what the value does, as far as the same is asked, and standard errors are up to ten times smaller.
"""

from __future__ import annotations

import argparse
import ast
import math
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise, product
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks import data, store
from benchmarks.accuracy import scored, version
from tacit.additive import learn
from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.tuning import TUNING, Tuning
from tacit.privacy.budget import Allowance
from tacit.schema.columns import NumericColumn
from tacit.schema.schema import Schema
from tools.fit_planning_rule import with_number

RESULTS = "real_tables"
DELTA, RULE = 1e-6, "rule"
OLD = tuple(name for name in data.LARGE + data.SMALL if name not in ("adult", "hill_valley_noise"))
"""The sets of the accuracy page, but for one that comes split and one in which nothing additive sees much."""
SIGNALS = (0.0, 25.0, 70.0, 140.0, 400.0, math.inf)
"""Ends of the groups of ``q``."""


WHOLE_BINS = "release maps=whole bins"
"""A value that is no number: columns release their bins, and not the directions in which effects can be large."""


def whole_bins(masses: np.ndarray, covariance: np.ndarray, noise_to_signal: float) -> np.ndarray:
    """Stands in place of a release map: every bin by itself, so that an image has length 1."""
    del covariance, noise_to_signal
    return np.eye(len(masses))


@contextmanager
def varied(value: str) -> Iterator[None]:
    """What no number says, while it lasts."""
    with ExitStack() as stack:
        for name in ("natural_modes", "principal_modes") if value == WHOLE_BINS else ():
            stack.enter_context(patch.object(learn, name, whole_bins))
        yield


def tuned(changes: str) -> Tuning:
    """The rule's numbers with some replaced: ``"group.number=value"``, also in groups of groups, joined by ``+``."""
    tuning = TUNING
    for change in changes.split("+") if not changes.startswith((RULE, WHOLE_BINS)) else ():
        name, value = change.split("=")
        tuning = with_number(tuning, name.split("."), ast.literal_eval(value))
    return tuning


def too_wide(schema: Schema, ranges: float) -> Schema:
    """A schema whose numeric columns are declared to end so many of their ranges above their upper bounds."""
    columns = {
        name: replace(column, upper=column.upper + ranges * (column.upper - column.lower))
        if isinstance(column, NumericColumn)
        else column
        for name, column in schema.columns.items()
    }
    return replace(schema, columns=columns)


def fit(
    name: str,
    seed: int,
    epsilon: float,
    value: str,
    interactions: bool | str,
    ranges: float = 0.0,
    same_noise: bool = False,
) -> dict[str, Any]:
    """One fit with fresh noise, or with the noise that all values have, scored on the rows left out."""
    train, test = data.split(data.load(name), seed)
    learner = type("Varied", (AdditiveBoostClassifier,), {"tuning": tuned(value)})
    schema = too_wide(train.schema, ranges)
    state = zlib.crc32(f"{name}{seed}{epsilon}".encode()) if same_noise else None
    model = learner(epsilon=epsilon, delta=DELTA, schema=schema, interactions=interactions, random_state=state)
    start = time.process_time()
    with varied(value):
        model.fit(train.X, train.y)
    seconds = round(time.process_time() - start, 3)
    scores = model.decision_function(test.X)
    signal = len(train.y) * Allowance.of(epsilon, DELTA).mu / math.sqrt(train.X.shape[1])
    study = data.table_tasks()[name]["study"] if name in data.table_tasks() else name
    return {"study": study, "q": round(signal, 1), "seconds": seconds, **scored(test.y, scores)}


def differences(lines: pd.DataFrame, values: Sequence[str], figure: str) -> pd.DataFrame:
    """What each value exceeds the rule by: a row per study, the mean over its tables, splits and epsilons."""
    cells = lines.pivot_table(index=["study", "data", "seed", "epsilon"], columns="value", values=figure).dropna()
    by_study = cells.groupby("study").mean()
    rule = by_study[[value for value in by_study if value.startswith(RULE)]].mean(axis=1)
    return by_study[list(values)].sub(rule, axis=0)


def rules(repeats: int) -> list[str]:
    """What fits of the rule are called: noise in one alone would be in every difference."""
    return [RULE, *(f"{RULE}, fit {number}" for number in range(2, repeats + 1))]


def fitted(excess: pd.DataFrame) -> pd.Series:
    """Per study, the loss beyond the rule's of the value that is best on all studies, this one among them."""
    means = excess.mean()
    return excess[means.idxmin()] if means.min() < 0 else pd.Series(0.0, index=excess.index)


def left_out(excess: pd.DataFrame) -> pd.Series:
    """Per study, the loss beyond the rule's of the value that is best on all other studies."""
    results = {}
    for study in excess.index:
        others = excess.drop(index=study).mean()
        best = others.idxmin() if len(excess) > 1 and others.min() < 0 else None
        results[study] = float(excess.loc[study, best]) if best is not None else 0.0
    return pd.Series(results, dtype=float)


def shown(mean: float, error: float) -> str:
    """A cell of the table."""
    return f"{mean:+.4f} ± {error:.4f}"


def table(lines: pd.DataFrame, values: Sequence[str]) -> list[str]:
    """The figures as lines of a markdown table."""
    out = [f"| q | studies | figure | rule | {' | '.join(values)} | chosen on all | chosen on the others |"]
    out.append("|---" * (6 + len(values)) + "|")
    for low, high in pairwise(SIGNALS):
        part = lines[(lines["q"] >= low) & (lines["q"] < high)]
        if part["study"].nunique() < 3:
            continue
        for figure in ("log_loss", "auc"):
            excess = differences(part, values, figure)
            rule = part[part["value"].str.startswith(RULE)].groupby("study")[figure].mean().mean()
            cells = [shown(excess[v].mean(), excess[v].sem()) for v in values]
            chosen = (fitted(excess), left_out(excess)) if figure == "log_loss" else ()
            cells += [shown(float(found.mean()), float(found.sem())) for found in chosen] or ["", ""]
            out.append(f"| {low:g} to {high:g} | {len(excess)} | {figure} | {rule:.4f} | {' | '.join(cells)} |")
    return out


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What says which fits are judged."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", nargs="+", type=float, default=[0.1, 1.0, 4.0])
    parser.add_argument("--seeds", type=int, default=2, help="splits of each table")
    parser.add_argument("--interactions", default="True", choices=["True", "False", "pairs"])
    parser.add_argument("--old", action="store_true", help="the sets of the accuracy page in place of the sixty tables")
    parser.add_argument("--most-rows", type=int, default=100_000, help="leave larger tables out, of the sixty")
    parser.add_argument("--too-wide", type=float, default=0.0, help="declare upper bounds so many ranges too high")
    parser.add_argument("--same-noise", action="store_true", help="one seed for all fits of a table, split and epsilon")
    parser.add_argument("--repeats", type=int, default=1, help="fits of the rule for each split and epsilon")
    return parser


def gathered(args: argparse.Namespace, values: Sequence[str]) -> pd.DataFrame:
    """A line per table, split, epsilon and value; what the file has of this version is not run again."""
    interactions = args.interactions if args.interactions == "pairs" else args.interactions == "True"
    fields = ("version", "data", "seed", "epsilon", "value", "interactions", "too_wide", "same_noise")
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for line in store.read(RESULTS):
        known[tuple(line.get(field, 0.0) for field in fields)] = line
    lines, now = [], version()
    tables = [name for name, task in data.table_tasks().items() if task["n"] <= args.most_rows]
    for name in OLD if args.old else tables:
        for seed, epsilon, value in product(range(args.seeds), args.epsilon, [*rules(args.repeats), *values]):
            key = (now, name, seed, epsilon, value, args.interactions, args.too_wide, args.same_noise)
            if key not in known:
                model = fit(name, seed, epsilon, value, interactions, args.too_wide, args.same_noise)
                known[key] = {**dict(zip(fields, key, strict=True)), **model}
                store.add(RESULTS, known[key])
            lines.append(known[key])
        print(name, flush=True)
    return pd.DataFrame(lines)


def main() -> None:
    """The command."""
    parser = arguments(__doc__)
    parser.add_argument("--vary", nargs="+", required=True, help="group.number=value of the tuning page; + joins some")
    args = parser.parse_args()
    print("\n".join(table(gathered(args, args.vary), args.vary)))


if __name__ == "__main__":
    main()
