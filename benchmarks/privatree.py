"""A shallow private tree by the idea of PrivaTree (Vos, Vos, Li, Erkin, Verwer 2023): a peer, pure epsilon.

Numeric columns are cut at private quantiles, every split is chosen by one permute-and-flip among all columns' cuts, and
every leaf's label by one more. Nodes of a level hold disjoint rows, so a level costs as much as a node, and the leaves
as much as a leaf. Of the budget, leaves take what makes the expected share of rows they mislabel 1 %, at most half; the
rest is shared equally by the quantiles and the levels.

Neighbours differ by a row added or removed. The number of rows is taken as public, in the peer's favour. The published
program releases a noisy histogram of every column in every node, each for the node's whole budget; choosing once is
what does not cost more the more columns there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.data import Table
from benchmarks.list_peers import numbers, numeric_columns

BINS = 8
"""Of a numeric column: three levels of medians of parts."""

MISLABELLED, LARGEST_LEAF_SHARE = 0.01, 0.5
"""The paper's: the share of rows that leaves may be expected to mislabel, and the most of the budget that they take."""

MOST_OF_IMPURITY = 2.0
"""A row more raises ``2 a b / (a + b)``, the rows of a node times its Gini impurity, by less than this, and never
lowers it."""


def permute_and_flip(scores: np.ndarray, epsilon: float, generator: np.random.Generator) -> int:
    """Chooses an index: candidates in random order, each taken with chance ``exp(epsilon (score - best))``.

    Pure ``epsilon`` where a row more moves all scores the same way, each by at most 1 (McKenna, Sheldon 2020; it is
    report-noisy-max with exponential noise of scale ``1 / epsilon``). The best is always taken when its turn comes.
    """
    chances = np.exp(epsilon * (scores - scores.max()))
    order = generator.permutation(len(scores))
    taken = generator.random(len(scores)) < chances[order]
    return int(order[np.argmax(taken)])


def worst_expected_error(classes: int) -> float:
    """The most rows that permute-and-flip is expected to mislabel in a leaf, times epsilon (McKenna, Sheldon 2020).

    The maximum over ``p`` of ``log(1 / p) (1 - (1 - (1 - p)**K) / (K p))``: all labels but the best one equally bad,
    each taken with chance ``p``, when its turn comes.
    """
    p = np.linspace(1e-6, 1.0, 1_000_001)
    missed = 1.0 - (1.0 - (1.0 - p) ** classes) / (classes * p)
    return float((-np.log(p) * missed).max())


@dataclass(frozen=True)
class Shares:
    """What of epsilon the parts take: the quantiles of all columns together, a level, the leaves."""

    quantiles: float
    level: float
    leaves: float

    @staticmethod
    def of(epsilon: float, rows: int, depth: int, numeric_columns: int, classes: int = 2) -> Shares:
        """The division for so many rows, counted publicly; without numeric columns quantiles take nothing."""
        wanted = worst_expected_error(classes) * 2**depth / (max(rows, 1) * MISLABELLED)
        leaves = min(wanted, LARGEST_LEAF_SHARE * epsilon)
        level = (epsilon - leaves) / (depth + (numeric_columns > 0))
        return Shares(level if numeric_columns else 0.0, level, leaves)


def private_median(
    values: np.ndarray, lower: float, upper: float, epsilon: float, generator: np.random.Generator
) -> float:
    """A number in ``[lower, upper]`` by the exponential mechanism, its score minus half of ``|below - above|``.

    A row more moves the score by half, so density ``exp(epsilon score)`` is pure ``epsilon``. The density is constant
    between values that follow each other: an interval is drawn, and a number in it.
    """
    ends = np.concatenate([[lower], np.sort(np.clip(values, lower, upper)), [upper]])
    below = np.arange(len(values) + 1)
    with np.errstate(divide="ignore"):
        logs = np.log(np.diff(ends)) - epsilon * np.abs(below - len(values) / 2.0)
    if not np.isfinite(logs).any():
        return lower
    part = int(np.argmax(logs + generator.gumbel(size=len(logs))))
    return float(generator.uniform(ends[part], ends[part + 1]))


def private_quantiles(
    values: np.ndarray, lower: float, upper: float, bins: int, epsilon: float, generator: np.random.Generator
) -> np.ndarray:
    """Cuts into ``bins`` parts (a power of two) by medians of disjoint parts, so that a level costs once.

    After Kaplan, Schnapp, Stemmer 2022.
    """
    levels = int(math.log2(bins))
    parts, cuts = [(values, lower, upper)], []
    for _ in range(levels):
        halves = []
        for rows, low, high in parts:
            cut = private_median(rows, low, high, epsilon / levels, generator)
            cuts.append(cut)
            halves += [(rows[rows <= cut], low, cut), (rows[rows > cut], cut, high)]
        parts = halves
    return np.unique(cuts)


def scores_of_splits(right: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Minus the impurity that each candidate leaves behind, in units of what a row moves it, so of sensitivity 1.

    Args:
        right: which rows each candidate sends right, shape ``(rows, candidates)``.
        y: labels 0 and 1.
    """
    positives, rows = y @ right, right.sum(axis=0)
    left = np.array([len(y) - rows, y.sum() - positives], float)
    impurity = sum(
        2.0 * ones * (all_rows - ones) / np.maximum(all_rows, 1) for all_rows, ones in ((rows, positives), left)
    )
    return np.asarray(-impurity / MOST_OF_IMPURITY)


@dataclass
class PrivaTree:
    """A binary tree of fixed depth over columns of numbers.

    Args:
        epsilon: of the whole fit.
        depth: of the tree.
        generator: of the noise.
    """

    epsilon: float
    depth: int = 3
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    def fit(self, X: np.ndarray, y: np.ndarray, bounds: Sequence[tuple[float, float] | None]) -> PrivaTree:
        """Learns from labels 0 and 1; ``bounds`` are those of numeric columns, None for columns of 0 and 1."""
        numeric = [k for k, ends in enumerate(bounds) if ends is not None]
        shares = Shares.of(self.epsilon, len(y), self.depth, len(numeric))
        candidates = []
        for k, ends in enumerate(bounds):
            if ends is None:
                candidates.append((k, 0.5))
                continue
            share = shares.quantiles / len(numeric)
            candidates += [(k, float(cut)) for cut in private_quantiles(X[:, k], *ends, BINS, share, self.generator)]
        self._columns = np.array([k for k, _ in candidates])
        self._cuts = np.array([cut for _, cut in candidates])
        right = X[:, self._columns] > self._cuts
        node = np.zeros(len(y), int)
        self._splits = []
        for level in range(self.depth):
            chosen = np.array(
                [
                    permute_and_flip(scores_of_splits(right[here], y[here]), shares.level, self.generator)
                    for here in (node == k for k in range(2**level))
                ]
            )
            self._splits.append(chosen)
            node = 2 * node + right[np.arange(len(y)), chosen[node]]
        counts = np.zeros((2**self.depth, 2))
        np.add.at(counts, (node, y), 1.0)
        self._labels = np.array([permute_and_flip(leaf, shares.leaves, self.generator) for leaf in counts])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Labels."""
        node = np.zeros(len(X), int)
        for chosen in self._splits:
            split = chosen[node]
            node = 2 * node + (X[np.arange(len(X)), self._columns[split]] > self._cuts[split])
        return np.asarray(self._labels[node])


def privatree_labels(
    train: Table, test: Table, epsilon: float, depth: int, generator: np.random.Generator
) -> np.ndarray:
    """Labels of the test rows; gaps are at the lower bound, categories one column each, as other peers have them."""
    X, lower, upper = numbers(train)
    kinds = numeric_columns(train)
    bounds = [(low, high) if is_number else None for low, high, is_number in zip(lower, upper, kinds, strict=True)]
    return PrivaTree(epsilon, depth, generator).fit(X, train.y, bounds).predict(numbers(test)[0])
