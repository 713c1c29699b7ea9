"""Greedy rule lists whose rules are chosen by noisy Gini impurity, after Ly and others (2024): a peer.

A rule's score is the Gini impurity that it leaves: of the rows that it takes and of those that it leaves over, by their
numbers. Noise follows the smooth sensitivity (Nissim, Raskhodnikova, Smith 2007), which is small while many rows are
left: Laplace noise of scale ``2 S / epsilon``, where ``S`` is a ``beta``-smooth bound for ``beta = epsilon / (2 log(2 /
delta))``. The rule of least noisy impurity is chosen, its rows go, and so on; noisy class counts say what rules and
"else" predict.

Neighbours differ by a row added or removed. One noisy score is (epsilon, delta) differentially private. A step is
charged as one, the other scores being free as under report-noisy-max: **no proof of that stands here**, for there the
scale is public, and here it follows the rows. It is granted to the peer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from benchmarks.data import Table
from benchmarks.list_peers import numbers, numeric_columns

COUNTS_SHARE = 0.2
"""Of the budget, for what rules predict; as in our lists."""

CUTS = 7
"""Per numeric column, in equal steps between its public bounds."""


def impurity(taken: np.ndarray, positives: np.ndarray, rows: int, all_positives: int) -> np.ndarray:
    """Gini impurity ``2 p (1 - p)`` of the rows that a rule takes and of the others, weighted by their numbers.

    Args:
        taken, positives: how many rows, and rows of label 1, each rule takes.
        rows, all_positives: how many there are.
    """
    parts = ((taken, positives), (rows - taken, all_positives - positives))
    whole = sum(2.0 * ones * (size - ones) / np.maximum(size, 1) for size, ones in parts)
    return np.asarray(whole / max(rows, 1))


def local_bound(rows: np.ndarray) -> np.ndarray:
    """The most by which one row more or fewer moves the impurity of ``rows`` rows, whatever the rule takes.

    A row more adds ``d`` to rows times impurity, ``0 <= d <= 2 m / (m + 1)``, and 1 to ``m`` rows. So an impurity ``f``
    moves by ``(d - f) / (m + 1)``: at most ``2 m / (m + 1)**2``, where a row joins a part that holds all others, of the
    other class, and at least ``-1 / (2 m + 2)``, which is less. A row fewer is the way back, from ``m + 1`` rows.
    """
    before = np.maximum(np.asarray(rows) - 1.0, 1.0)
    return np.asarray(2.0 * before / (before + 1.0) ** 2)


def smooth_bounds(most: int, beta: float) -> np.ndarray:
    """Per number of rows from 0 to ``most``: the largest ``exp(-beta k)`` times the local bound at ``k`` rows fewer.

    More rows have smaller local bounds, so this is the largest at any table ``k`` rows away; one row more or fewer
    changes it by a factor of at most ``exp(beta)``.
    """
    rows = np.arange(most + 1)
    return np.asarray(np.exp(np.maximum.accumulate(np.log(local_bound(rows)) + beta * rows) - beta * rows))


def noise_scale(rows: int, epsilon: float, delta: float) -> float:
    """The scale of the Laplace noise in one rule's impurity, with so many rows left."""
    return 2.0 * float(smooth_bounds(rows, epsilon / (2.0 * math.log(2.0 / delta)))[-1]) / epsilon


@dataclass
class SmoothRuleList:
    """Up to ``rules`` conjunctions of at most two literals, read from the top.

    Args:
        epsilon, delta: of the whole fit.
        rules: how many; at epsilon 1 three do better than eight on ``mushroom`` and ``congressional_voting``.
        generator: of the noise.
    """

    epsilon: float
    delta: float
    rules: int = 3
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    def fit(self, literals: np.ndarray, y: np.ndarray) -> SmoothRuleList:
        """Learns from literals (truth values, shape ``(rows, literals)``) and labels 0 and 1."""
        step = (1.0 - COUNTS_SHARE) * self.epsilon / self.rules
        left = np.ones(len(y), bool)
        self.rules_, counts = [], []
        for _ in range(self.rules):
            taken, positives = (pairs_of(literals[left & kept]) for kept in (np.ones_like(left), y == 1))
            noise = noise_scale(int(left.sum()), step, self.delta / self.rules) * self.generator.laplace(
                size=taken.shape
            )
            scores = impurity(taken, positives, int(left.sum()), int(y[left].sum())) + noise
            rule = np.unravel_index(int(scores.argmin()), scores.shape)
            covered = left & literals[:, rule[0]] & literals[:, rule[1]]
            self.rules_.append((int(rule[0]), int(rule[1])))
            counts.append(np.bincount(y[covered], minlength=2))
            left &= ~covered
        counts.append(np.bincount(y[left], minlength=2))
        noise = self.generator.laplace(0.0, 1.0 / (COUNTS_SHARE * self.epsilon), (len(counts), 2))
        self._labels = (np.array(counts) + noise).argmax(axis=1)
        return self

    def predict(self, literals: np.ndarray) -> np.ndarray:
        """Labels: of the first rule that holds, or of "else"."""
        result = np.full(len(literals), self._labels[-1])
        for (first, second), label in zip(reversed(self.rules_), reversed(self._labels[:-1]), strict=True):
            result[literals[:, first] & literals[:, second]] = label
        return result


def pairs_of(literals: np.ndarray) -> np.ndarray:
    """In how many rows two literals hold together; on the diagonal, in how many one holds."""
    cells = literals.astype(np.float32)
    return np.rint(cells.T @ cells).astype(np.int64)


def literals_of(table: Table) -> np.ndarray:
    """Truth values of every public threshold and category, and of their negations."""
    X, lower, upper = numbers(table)
    held = []
    for column, low, high, is_number in zip(X.T, lower, upper, numeric_columns(table), strict=True):
        cuts = np.linspace(low, high, CUTS + 2)[1:-1] if is_number else [0.5]
        held += [column > cut for cut in cuts]
    positive = np.stack(held, axis=1)
    return np.concatenate([positive, ~positive], axis=1)


def smooth_list_labels(train: Table, test: Table, epsilon: float, delta: float) -> np.ndarray:
    """Labels of the test rows."""
    return SmoothRuleList(epsilon, delta).fit(literals_of(train), train.y).predict(literals_of(test))
