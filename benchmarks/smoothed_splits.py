"""Splits scored by Matsushita's loss, smoothed, beside Gini: `python -m benchmarks.smoothed_splits`.

M-alpha-boost with two trees of depth 4 (pure epsilon, replace-one, half of the budget for splits) on the domains of the
trees paper, ten folds; only what scores splits differs. Printed are test errors, their means over domains, and on how
many domains each errs less than Gini, and as much. Nothing is kept.

``smoothed`` is the library's criterion of that name: :class:`~tacit.trees.losses.SmoothedLoss`, whose smoothing follows
from the noise and the released support. ``added rows`` adds the same number
``s`` to both classes of every node of a level, an eighth of the mean weight of its leaves. Both are charged for the
exact range of their scores. ``heaviest first`` is Gini in trees of few leaves: the leaf of largest risk is split first.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.paper_domains import DOMAINS, Domain, domain
from benchmarks.paper_trees import gate
from tacit.arrays import Floats
from tacit.queries.tree_cells import TreeCells
from tacit.trees.budget import SplitBudget
from tacit.trees.learners import DEEPEST
from tacit.trees.m_alpha_boost import BoostSettings, MAlphaBoost

CRITERIA = ("gini", "smoothed", "added rows", "matsushita", "heaviest first")
TREES, DEPTH = 2, 4
PART = 0.125


@dataclass(frozen=True)
class AddedRows:
    """The node risk ``2 sqrt((w1 + s) (w0 + s))``, less the part that every row adds to every candidate.

    Scores clip class weights at ``n - 1``, of ``n`` rows. Below, a row of weight 1 adds between ``least`` and
    ``2 sqrt(n - 1 + s) (sqrt(1 + s) - sqrt(s))`` to its node's risk; without the linear part, from 0 to the difference.
    """

    added: float
    rows: int

    @property
    def least(self) -> float:
        """The slope where it is flattest."""
        return math.sqrt(self.added / (self.rows - 1 + self.added))

    def node_risk(self, positives: Floats, total: Floats) -> Floats:
        """The risk of nodes."""
        return 2.0 * np.sqrt((positives + self.added) * (total - positives + self.added)) - self.least * total

    def bayes_risk(self, u: float) -> float:
        """What the range of a score is made from: ``u`` times the range at ``1 / u`` rows."""
        most = 2.0 * math.sqrt(1.0 / u - 1.0 + self.added) * (math.sqrt(1.0 + self.added) - math.sqrt(self.added))
        return u * (most - self.least)


class AddedRowsBoost(MAlphaBoost):
    """M-alpha-boost whose splits are scored with rows added to every node of a level."""

    def split_loss(
        self, level: int, cells: TreeCells | None, tree: int, root_error: list[float] | None = None
    ) -> AddedRows:  # type: ignore[override]
        """The risk that scores the splits of a level."""
        del cells, tree, root_error
        support = float(self.said[-1].weights.sum()) if self.said else self.rows
        return AddedRows(PART * max(support, 1.0) / 2.0**level, self.induction.cap)


def error(world: Domain, criterion: str, epsilon: float, fold: int, leaves: int) -> float:
    """The test error on one fold; ``leaves`` are those of trees that split the heaviest first."""
    train, test = world.folds[fold]
    budget = SplitBudget.of(epsilon, 0.0)
    named = {"heaviest first": "gini", "added rows": None, "matsushita": None}.get(criterion, criterion)
    settings = BoostSettings(1.0, named, TREES, DEPTH, 0.5, 10.0, 10)
    if criterion == "heaviest first":
        settings = replace(settings, depth=DEEPEST, leaves=leaves)
    missing = [False] * len(world.columns)
    kind = AddedRowsBoost if criterion == "added rows" else MAlphaBoost
    boost = kind(gate(world, train, budget.whole, 7919 * fold), budget, world.columns, missing, settings, len(train))
    learned = boost.run()
    codes = [made.mapping[c[test]].astype(np.uint8) for made, c in zip(learned.bins, world.codes, strict=True)]
    score = sum(tree.values[tree.shape.find(codes)] for tree in learned.trees)
    return float(np.mean((score > 0) != world.y[test]))


def told(errors: dict[str, list[float]], criteria: Sequence[str]) -> dict[str, tuple[float, int, int]]:
    """Per criterion: the mean over domains, and on how many it errs less than Gini, and as much."""
    gini = np.array(errors["gini"])
    results = {name: np.array(errors[name]) - gini for name in criteria}
    return {
        name: (round(float(np.mean(errors[name])), 4), int((gap < -1e-9).sum()), int((np.abs(gap) <= 1e-9).sum()))
        for name, gap in results.items()
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=list(DOMAINS))
    parser.add_argument("--criteria", nargs="+", choices=CRITERIA[1:], default=list(CRITERIA[1:]), help="beside Gini")
    parser.add_argument("--epsilon", nargs="+", type=float, default=[1.0, 10.0, math.inf])
    parser.add_argument("--leaves", type=int, default=6, help="of trees that split the heaviest leaf first")
    parser.add_argument("--folds", type=int, default=10)
    args = parser.parse_args()
    criteria = [CRITERIA[0], *args.criteria]
    start, figures = time.perf_counter(), {}
    errors: dict[float, dict[str, list[float]]] = {e: {name: [] for name in criteria} for e in args.epsilon}
    print(f"{'':28}", *criteria)
    for name in args.domains:
        world = domain(name)
        for epsilon, found in errors.items():
            for criterion in criteria:
                found[criterion].append(
                    np.mean([error(world, criterion, epsilon, k, args.leaves) for k in range(args.folds)])
                )
            shown = (f"{found[criterion][-1]:.3f}" for criterion in criteria)
            print(f"{name:26} {epsilon:4g}", *shown, f" {(time.perf_counter() - start) / 60:.1f} min", flush=True)
    for epsilon, found in errors.items():
        figures[str(epsilon)] = told(found, criteria)
        for criterion, (mean, less, even) in figures[str(epsilon)].items():
            print(f"epsilon {epsilon:4g} {criterion:12} mean {mean:.4f}, less than Gini on {less}, as much on {even}")
    print(json.dumps({"benchmark": "smoothed_splits", "domains": len(args.domains), "figures": figures}))


if __name__ == "__main__":
    main()
