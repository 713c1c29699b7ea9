"""Deep random trees cut back to their populated nodes, beside the library's: `python -m benchmarks.pruned_forest`.

The idea is that of Lumberjack (Lebeda, Erb, Cebere, Bellet 2026): a tree may be deep where rows are many and must end
early where they are few, and where to end is found on all paths at once by binary search along the height. In a step
every path proposes the node halfway between the deepest one known to be populated and the highest one known not to be;
one noisy histogram counts the rows of all of them, and what is below the threshold is not populated. No proposed node
lies below another: two paths through the upper one would have been told the same so far, and propose the same. So a row
is in one cell of each of ``log2(height + 1)`` histograms, each of sensitivity 1, and the noise in a count grows with
the root of that logarithm alone. Leaves then release class counts, as those of :class:`~tacit.RandomTreesClassifier`
do. The numbers below were set once, before any table was looked at.

Printed are AUCs, on every fourth of the sixty tables, with default settings of the others; nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import roc_auc_score

import tacit
from benchmarks import data
from tacit.arrays import Ints
from tacit.binning.tree_bins import TreeBins
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.learning.learner import Task
from tacit.learning.tree_ensemble import columns_of_task, features_of
from tacit.learning.weights import sealed
from tacit.models.tree import Tree, TreeShape
from tacit.models.tree_ensemble import Link, TreeEnsembleModel
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule
from tacit.queries.tree_cells import TreeCells
from tacit.trees.budget import SplitBudget
from tacit.trees.forest import base_rate_of, drawn_to, public_cells, random_shape
from tacit.trees.learners import ForestLearner

HEIGHT, SEARCH, CLEAR = 15, 0.3, 3.0
"""Of trees; the share of the budget for searches; standard deviations of a count from which a node is populated."""


def cut_back(whole: TreeShape, ends: Ints) -> tuple[TreeShape, Ints]:
    """The complete tree, cut where its paths (from left to right) end, and the leaf of every path.

    A path that ends earlier than another one through the same node ends below it, at its sibling.
    """
    height, paths = whole.depth, np.arange(len(ends))
    inner = [(ends > d).reshape(1 << d, -1).any(axis=1) for d in range(height)]
    depths = sum((inner[d][paths >> (height - d)] for d in range(height)), np.zeros(len(paths), np.int64))
    leaf = np.cumsum(paths % (1 << (height - depths)) == 0) - 1
    first = np.cumsum([0, *(nodes.sum() for nodes in inner)])
    number = [first[d] + np.cumsum(nodes) - 1 for d, nodes in enumerate(inner)]
    children = [np.zeros((0, 2), np.int64)]
    for d in range(height):
        below = 2 * np.flatnonzero(inner[d])[:, None] + np.arange(2)
        end = -1 - leaf[below << (height - d - 1)]
        children.append(np.where(inner[d + 1][below], number[d + 1][below], end) if d + 1 < height else end)
    places = np.concatenate([(1 << d) - 1 + np.flatnonzero(nodes) for d, nodes in enumerate(inner)])
    return TreeShape(whole.columns[places], whole.right[places], np.concatenate(children)), leaf


def populated(curator: Curator, pool: SplitBudget, whole: TreeShape, share: float, tree: int) -> Ints:
    """The depth of the deepest populated node of every path, by binary search."""
    height, steps = whole.depth, math.ceil(math.log2(whole.depth + 1))
    paths = np.arange(1 << height)
    low, high = np.zeros(len(paths), np.int64), np.full(len(paths), height + 1)
    for step in range(steps):
        for depth in range(1, height + 1):  # all nodes above a populated one are
            known = (low >= depth).reshape(1 << depth, -1).any(axis=1)[paths >> (height - depth)]
            low = np.where(known & (depth < high), np.maximum(low, depth), low)
        open_ = high - low > 1
        shape, leaf = cut_back(whole, np.where(open_, (low + high) // 2, low))
        query = Histogram(TreeCells(shape), fine_class_count_rule(curator.layout.n_labels))
        label = Label(Stage.SPLITS, f"populated nodes, step {step + 1}", tree)
        released = curator.measure(query, pool.release(share / steps), label)
        result = released.value.sum(axis=1)[leaf] >= CLEAR * max(math.sqrt(2.0) * released.sd, 1.0)
        high = np.where(open_ & ~result, (low + high) // 2, high)
        low = np.where(open_ & result, (low + high) // 2, low)
    return low


class PrunedForestLearner(ForestLearner):
    """A random forest of deep trees, cut back."""

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> TreeEnsembleModel:
        budget, task = sealed(rows, allowance, task)
        curator, columns, pool = budget.curator, columns_of_task(task), SplitBudget.of_releases(budget.allowance)
        bins: tuple[TreeBins, ...] = public_cells(curator, columns, self.n_bins)
        shapes, released = [], []
        for tree in range(self.n_trees):
            whole = random_shape(columns, bins, HEIGHT, curator.public_generator)
            shapes.append(cut_back(whole, populated(curator, pool, whole, SEARCH / self.n_trees, tree + 1))[0])
            query = Histogram(TreeCells(shapes[-1]), fine_class_count_rule(curator.layout.n_labels))
            charge, label = pool.release((1.0 - SEARCH) / self.n_trees), Label(Stage.LEAVES, "leaves", tree + 1)
            counts = curator.measure(query, charge, label)
            released.append((counts.value, counts.sd))
        base, trees = base_rate_of(released), []
        for shape, (counts, sd) in zip(shapes, released, strict=True):
            votes = (2.0 * drawn_to(base, counts, sd) - 1.0) / self.n_trees
            trees.append(Tree(shape, votes, np.maximum(counts.sum(axis=1), 0.0)))
        names, made = task.label_index.names, features_of(task, bins)
        return TreeEnsembleModel(names, 0.0, made, tuple(trees), Link("share"))


class PrunedForest(tacit.RandomTreesClassifier):
    """The estimator of it."""

    def make_learner(self, request: Request) -> PrunedForestLearner:
        return PrunedForestLearner(request)


KINDS = {
    "pruned": PrunedForest,
    "complete": tacit.RandomTreesClassifier,
    "boosted": tacit.BoostedTreesClassifier,
    "default": tacit.AdditiveBoostClassifier,
}


def aucs(name: str, epsilon: float, seeds: int, who: list[str]) -> Iterator[list[float]]:
    """Of every learner, on every split."""
    for seed, train, test in data.splits(name, seeds):
        request = {"epsilon": epsilon, "delta": 1e-6, "schema": train.schema, "random_state": seed}
        fitted = [KINDS[kind](**request).fit(train.X, train.y) for kind in who]
        yield [float(roc_auc_score(test.y, model.predict_proba(test.X)[:, 1])) for model in fitted]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=sorted(data.table_tasks())[::4])
    parser.add_argument("--who", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=1)
    args = parser.parse_args()
    results = {name: np.mean(list(aucs(name, args.epsilon, args.seeds, args.who)), axis=0) for name in args.data}
    for name, values in results.items():
        print(f"{name:26}", *(f"{value:.3f}" for value in values))
    means = dict(zip(args.who, np.mean(list(results.values()), axis=0).round(4).tolist(), strict=True))
    print(json.dumps({"benchmark": "pruned_forest", "tables": len(results), "epsilon": args.epsilon, "auc": means}))


if __name__ == "__main__":
    main()
