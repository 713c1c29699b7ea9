"""Fits the planning rule of the default learner to synthetic tables: `python -m tools.fit_planning_rule`.

For every choice of the rule (sweeps, shares, trees ...) it fits tables of a family (:mod:`tools.synthetic_tables`) with
each of a few values in place of the rule's, and prints, by the signal `q = n mu / sqrt(d)`, the mean loss of each value
beside the rule's own. A value that is better than the rule by more than twice the standard error of the paired
difference is marked; the best of these is what the rule would be here. Loss is the excess of the log loss over that of
the true probabilities, as a share of what the base rate alone would lose: 0 is the truth, 1 the base rate.

Results are lines of a file, by version of the source; what is there is not run again. `docs/planning.md` explains.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import store
from tacit.additive import plan
from tacit.additive.boost import AdditiveBoost
from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.plan import Remainder
from tacit.additive.planner import Planner
from tacit.additive.tuning import TUNING
from tacit.growing import gradient_trees
from tacit.privacy.budget import Allowance
from tacit.trees.estimator import BoostedTreesClassifier
from tools.synthetic_tables import Drawn, Setting, dense_family, draw, family, flag_family, heavy_family, large_family

RESULTS = "planning"
DELTA = 1e-6
SIGNALS = (0.0, 70.0, 140.0, 400.0, 1000.0, 2500.0, 10_000.0, 30_000.0, 100_000.0, math.inf)
"""Ends of the groups of `q` by which losses are averaged."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "sweeps": (4, 8, 16, 24, 48),
    "binning": (0.03, 0.06, 0.12, 0.2, 0.3),
    "tightness": (0.0, 0.3, 0.6, 1.0, 1.5),
    "least_bins": (12, 24, 48),
    "histogram_from": (0.0, 10.0, 20.0, 40.0, 80.0),
    "intercept_doubt": (2.0, 8.0, 1e9),
    "pairs": ("none", 0.0, 0.33, 0.66, 1.0),
    "pair_evidence": (0.0, 1.0, 3.0, 6.0),
    "averaged_from": (350.0, 1400.0),
    "tree_kind": ("one by one", "none"),
    "tree_share": (0.0, 0.2, 0.4, 0.6, 0.8),
    "tree_noise": (0.15, 0.25, 0.5),
    "trees_explained_from": (0.0, 0.45, 1.8, 1e12),
    "rows_of_noise": (5.0, 80.0),
    "of_a_point": (4.0, 15.0, 160.0),
    "n_trees": (100, 200, 400, 800),
    "tree_depth": (3, 4, 5, 6, 7),
    "columns_per_tree": (2, 3, 4, 6),
    "tree_rate": (0.06, 0.12, 0.25, 0.4),
    "within_leaves": (1.0, 2.0, 4.0, 8.0),
    "least_tree_prior": (0.001, 0.006, 0.02, 0.05),
    "choice_from": (30_000.0, 300_000.0, 1e12),
    "choice_share": (0.3, 0.45, 0.6, 0.75),
    "choosing_rate": (0.2, 0.3, 0.45, 0.6),
    "trees.prior": (0.1, 0.2, 0.5),
    "trees.trees": (125, 250, 500, 1000),
    "trees.depth": (3, 4, 5, 6, 7),
    "trees.columns_per_tree": (2, 3, 4, 6),
    "trees.rate": (0.06, 0.12, 0.25),
}
"""What is varied: of the default learner, and (`trees.`) of `BoostedTreesClassifier`."""

RULE = "rule"


def signal(setting: Setting) -> float:
    """`q`: the rows relative to the noise of releasing all columns once."""
    return setting.rows * Allowance.of(setting.epsilon, DELTA).mu / math.sqrt(setting.columns)


TREE_FIELDS = ("n_trees", "tree_depth", "tree_rate", "tree_columns", "tree_noise")


def _with_rest(glass: plan.Plan, chosen: plan.Plan, share: float) -> plan.Plan:
    """The plan of columns and pairs, with ``share`` for what they leave over, in the way of another plan."""
    if not share or not chosen.n_trees:
        return glass
    return replace(glass.scaled(1.0 - share), **{name: getattr(chosen, name) for name in TREE_FIELDS})


def _flagship_rule(choice: str, value: Any) -> Callable[..., Any]:
    """The plan with one choice replaced."""
    by_rule = Planner.plan

    def varied(
        self: Planner,
        total: float,
        n_columns: int,
        q: float,
        pure: bool,
        pairs: bool = True,
        trees: bool = True,
        **more: Any,
    ):
        from_rule = partial(by_rule, self)
        chosen = from_rule(total, n_columns, q, pure, pairs, trees, **more)
        if choice == "pairs":
            without = value == "none"
            pretended = 1.0 if without else 140.0 * (1000.0 / 140.0) ** value
            glass = from_rule(total, n_columns, pretended, pure, not without, False, **more)
            return _with_rest(glass, chosen, chosen.trees)
        if choice == "tree_kind":
            if value == "none":
                return from_rule(total, n_columns, q, pure, pairs, False, **more)
            return from_rule(total, n_columns, q, pure, pairs, trees, **{**more, "remainder": Remainder.NEWTON})
        if choice == "tree_share":
            glass = from_rule(total, n_columns, q, pure, pairs and chosen.looks_for_pairs, False, **more)
            return _with_rest(glass, chosen, value)
        if choice == "binning":
            others = ("mains", "screening", "pair_counts", "joint")
            first = 1.0 - chosen.trees
            grow = (first - value * first) / sum(getattr(chosen, name) for name in others)
            scaled = {name: getattr(chosen, name) * grow for name in others}
            return replace(chosen, binning=value * first, **scaled)
        if choice == "sweeps":
            return replace(chosen, sweeps=value, joint_sweeps=max(value // 2, 1) if chosen.joint_sweeps else 0)
        if choice == "columns_per_tree":
            return replace(chosen, tree_columns=value) if chosen.n_trees else chosen
        if choice == "n_trees":
            return replace(chosen, n_trees=value, tree_rate=self.tree_rate(q, value)) if chosen.n_trees else chosen
        return replace(chosen, **{choice: value}) if chosen.n_trees else chosen

    return varied


NUMBERS: dict[str, str] = {
    "tightness": "clipping.tightness",
    "averaged_from": "planning.averaged_from",
    "tree_noise": "planning.tree_noise",
    "trees_explained_from": "planning.trees_explained_from",
    "choice_from": "planning.choice_from",
    "choice_share": "planning.choice_share",
    "choosing_rate": "planning.choosing_rate",
    "intercept_doubt": "planning.intercept_doubt",
    "pair_evidence": "pairing.least_evidence",
    "least_tree_prior": "planning.least_tree_prior",
    "least_bins": "binning.measuring.least_bins_of_shapes",
    "histogram_from": "binning.searching.histogram_from",
    "rows_of_noise": "growing.kernel.rows_of_noise",
    "of_a_point": "growing.kernel.of_a_point",
    "within_leaves": "growing.newton.within_leaves",
}
"""Choices that are numbers of the default learner: what is set to the value."""


def with_number(page: Any, path: Sequence[str], value: Any) -> Any:
    """A page of numbers with the one at the end of the path replaced."""
    name, *deeper = path
    return replace(page, **{name: with_number(getattr(page, name), deeper, value) if deeper else value})


@contextmanager
def varied(choice: str, value: Any) -> Iterator[None]:
    """The rule with one choice replaced, while it lasts."""
    with ExitStack() as stack:
        if choice.startswith("trees."):
            by_rule, field = gradient_trees.gaussian_plan, choice.removeprefix("trees.")
            stack.enter_context(
                patch.object(gradient_trees, "gaussian_plan", lambda *facts: replace(by_rule(*facts), **{field: value}))
            )
        elif choice == "tightness" and not value:
            stack.enter_context(
                patch.object(AdditiveBoost, "tuning", with_number(TUNING, ["clipping", "joint_below"], 0.0))
            )
        elif choice in NUMBERS:
            stack.enter_context(
                patch.object(AdditiveBoost, "tuning", with_number(TUNING, NUMBERS[choice].split("."), value))
            )
        elif choice != RULE:
            stack.enter_context(patch.object(Planner, "plan", _flagship_rule(choice, value)))
        yield


def loss(setting: Setting, drawn: Drawn, choice: str, value: Any, repeat: int = 0) -> dict[str, float]:
    """Fits once, with noise of seed ``repeat``, and returns the loss, in [0, about 1], and the AUC."""
    from sklearn.metrics import roc_auc_score

    face = BoostedTreesClassifier if choice.startswith("trees.") else AdditiveBoostClassifier
    plain = value == RULE
    with varied(RULE if plain else choice, value):
        learner = face(epsilon=setting.epsilon, delta=DELTA, schema=drawn.schema, random_state=repeat)
        model = learner.fit(drawn.X, drawn.y)
        guess = np.clip(model.predict_proba(drawn.X_test)[:, 1], 1e-6, 1 - 1e-6)
    best = np.clip(drawn.chances, 1e-9, 1 - 1e-9)

    def expected(p: np.ndarray) -> float:  # over labels, given the true probabilities
        return float(-(drawn.chances * np.log(p) + (1 - drawn.chances) * np.log(1 - p)).mean())

    floor, base = expected(best), expected(np.full(len(best), drawn.chances.mean()))
    auc = float(roc_auc_score(drawn.y_test, guess)) if 0 < drawn.y_test.sum() < len(drawn.y_test) else 0.5
    return {"loss": (expected(guess) - floor) / max(base - floor, 1e-9), "auc": auc}


def version() -> str:
    """The last commit that touched the library."""
    command = ["git", "log", "-1", "--format=%h", "--", "src/tacit"]
    return subprocess.run(
        command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True
    ).stdout.strip()


def key(line: dict[str, Any]) -> tuple[Any, ...]:
    """What makes two fits the same."""
    return (
        line["version"],
        line["face"],
        line["choice"],
        str(line["value"]),
        tuple(line["setting"].values()),
        line["repeat"],
    )


def run(args: argparse.Namespace) -> list[dict[str, Any]]:
    """All lines asked for, running what is not known."""
    known = {key(line): line for line in store.read(RESULTS)}
    out, start = [], time.perf_counter()
    low, high = args.signals
    kinds = {"dense": dense_family, "flags": flag_family, "heavy": heavy_family, "large": large_family}
    tables = next((made for name, made in kinds.items() if getattr(args, name)), family)
    settings = [s for s in tables(args.tables, args.seed, args.most_rows) if low <= signal(s) < high]
    for number, setting in enumerate(settings):
        drawn = None
        for choice in args.choices:
            face = "trees" if choice.startswith("trees.") else "additive"
            for value in (RULE, *CHOICES[choice]):
                for repeat in range(args.repeats):
                    named = RULE if value == RULE else choice
                    facts = {"version": args.version, "face": face, "choice": named, "value": value, "repeat": repeat}
                    line = {**facts, "setting": asdict(setting), "q": round(signal(setting), 1)}
                    if key(line) not in known:
                        if args.seconds and time.perf_counter() - start > args.seconds:
                            continue
                        drawn = drawn or draw(setting)
                        line |= loss(setting, drawn, choice, value, repeat)
                        known[key(line)] = line
                        store.add(RESULTS, line)
                    out.append(known[key(line)])
        print(f"table {number + 1} of {len(settings)}: {setting}", flush=True)
    return out


def table(lines: list[dict[str, Any]], choice: str, figure: str = "loss") -> list[str]:
    """The figures of a choice as lines of a markdown table: loss by group of q, and the difference from the rule.

    ``figure`` may also be ``"auc"``, of which more is better.
    """
    better = -1 if figure == "auc" else 1
    face = "trees" if choice.startswith("trees.") else "additive"
    cells: dict[tuple[str, tuple[int, int]], float] = {}
    signals: dict[tuple[int, int], float] = {}
    for line in lines:
        if line["face"] == face and line["choice"] in (choice, RULE):
            place = (tuple(line["setting"].values()), line["repeat"])
            cells[str(line["value"]), place] = better * line[figure]
            signals[place] = line["q"]
    values = [str(value) for value in CHOICES[choice]]
    out = [f"| q | tables | rule | {' | '.join(values)} | best |", "|---" * (4 + len(values)) + "|"]
    for low, high in pairwise(SIGNALS):
        places = [p for p, q in signals.items() if low <= q < high and all((v, p) in cells for v in (RULE, *values))]
        if len(places) < 3:
            continue
        rule = np.array([cells[RULE, place] for place in places])
        row = [f"{low:g} to {high:g}", str(len({place[0] for place in places})), f"{better * rule.mean():.4f}"]
        best, least = RULE, 0.0
        for value in values:
            difference = np.array([cells[value, place] for place in places]) - rule
            error = difference.std(ddof=1) / math.sqrt(len(difference))
            mark = "**" if difference.mean() < -2 * error - 1e-12 else ""
            if mark and difference.mean() < least:
                best, least = value, float(difference.mean())
            row.append(f"{mark}{better * difference.mean():+.4f}{mark} ± {error:.4f}")
        out.append("| " + " | ".join([*row, best]) + " |")
    return out


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--choices", nargs="+", default=list(CHOICES), choices=list(CHOICES))
    parser.add_argument("--tables", type=int, default=60, help="tables of the family")
    parser.add_argument("--seed", type=int, default=0, help="of the family")
    parser.add_argument("--dense", action="store_true", help="columns that hang together, and much that interacts")
    parser.add_argument("--flags", action="store_true", help="columns of rare flags")
    parser.add_argument("--heavy", action="store_true", help="columns of amounts and counts, with long tails")
    parser.add_argument("--large", action="store_true", help="100,000 rows and more")
    parser.add_argument("--most-rows", type=int, default=100_000, help="rows of the largest table")
    parser.add_argument("--signals", type=float, nargs=2, default=(0.0, math.inf), help="only tables of such a q")
    parser.add_argument("--repeats", type=int, default=1, help="fits of each table")
    parser.add_argument("--seconds", type=float, default=0.0, help="start no new fit after this long; 0 for no limit")
    parser.add_argument("--figure", choices=["loss", "auc"], default="loss", help="what the printed tables compare")
    parser.add_argument("--version", default=None, help="name of the source's version; the last commit of src/tacit")
    args = parser.parse_args()
    args.version = args.version or version()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    lines = run(args)
    for choice in args.choices:
        print(f"\n### {choice}\n\n" + "\n".join(table(lines, choice, args.figure)))


if __name__ == "__main__":
    main()
