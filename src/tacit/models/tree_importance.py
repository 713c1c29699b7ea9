"""How much each column matters to a sum of trees, from the model alone.

A column's importance is the root of half the mean square by which the score moves when the column alone is drawn anew:
its total effect (Jansen 1999, Sobol 2001). Rows are made from the shares of bins that the released support tells of,
column by column, so columns that go together in the table do not here. What the noise in leaves moves is taken off,
where leaves know theirs. What the splits of single trees explain would add up noise: hundreds of random trees then make
all columns alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import CODES, Bytes, Floats
from tacit.models.tree import ScoreTree, Tree

ROWS = 1024
"""Not tuned: made-up rows; their number moves the third digit of an importance."""

STEPS = 30
"""Not tuned: steps of expectation and maximisation, which hardly move shares after ten."""


def bin_shares(trees: Sequence[Tree] | Sequence[ScoreTree], column: int, n_bins: int) -> Floats:
    """The share of rows in every bin of a column, shape ``(bins,)``, as the support of leaves tells.

    Most likely shares under what every split of the column sends to the right, of splits that no other of the same
    column stands above; where no split tells bins apart, they share alike.
    """
    sets, right, weights = [], [], []
    for tree in trees:
        mass = np.concatenate([[0.0], np.cumsum(tree.support)])
        spans = tree.shape.spans
        mine = np.flatnonzero(tree.shape.columns == column)
        for split in mine:
            first, middle, last = spans[split]
            inside = [s for s in mine if s != split and spans[s, 0] <= first and last <= spans[s, 2]]
            if not inside and mass[last] > mass[first]:
                sets.append(tree.shape.goes_right(int(split))[:n_bins])
                right.append(mass[last] - mass[middle])
                weights.append(mass[last] - mass[first])
    shares = np.full(n_bins, 1.0 / n_bins)
    if not sets:
        return shares
    member, ones, total = np.array(sets, float), np.array(right), np.array(weights)
    for _ in range(STEPS):
        inside_share = np.clip(member @ shares, 1e-12, 1.0 - 1e-12)
        factor = (ones / inside_share) @ member + ((total - ones) / (1.0 - inside_share)) @ (1.0 - member)
        shares = shares * factor
        shares /= shares.sum()
    return shares


def spread_points(rows: int, dimension: int) -> Floats:
    """Points spread evenly over [0, 1), shape ``(rows,)``: fractions of the multiples of a root of a prime."""
    points: Floats = np.mod((np.arange(rows) + 1.0) * np.sqrt(_prime(dimension)), 1.0)
    return points


def _prime(place: int) -> int:
    """The prime of this place; 2 is that of 0."""
    prime, number = -1, 1
    while prime < place:
        number += 1
        prime += all(number % d for d in range(2, int(number**0.5) + 1))
    return number


def total_effects(
    trees: Sequence[Tree] | Sequence[ScoreTree], n_bins: Sequence[int], shares: Sequence[Floats] | None = None
) -> Floats:
    """The importance of every column, shape ``(columns,)``; 0 for one that no tree tests.

    The sum of the trees is the score; of several scores, squares add up. ``shares`` are those of rows in the bins of
    every column, where released; None for what the support of leaves tells.
    """
    rows, anew = _made_up(trees, n_bins, shares)
    effects = np.zeros(len(n_bins))
    for column in anew:
        moved, noise = np.zeros((ROWS, 1)), np.zeros((ROWS, 1))
        changed = [anew[column] if place == column else codes for place, codes in enumerate(rows)]
        for tree in trees:
            if column not in tree.shape.used_columns:
                continue
            before, after = tree.shape.find(rows), tree.shape.find(changed)
            values = tree.values.reshape(len(tree.support), -1)
            moved = moved + (values[after] - values[before])
            if tree.sd is not None:
                variances = tree.sd.reshape(len(tree.support), -1) ** 2
                noise = noise + np.where((before != after)[:, None], variances[before] + variances[after], 0.0)
        effects[column] = np.sqrt(max(0.0, 0.5 * float(np.mean((moved**2 - noise).sum(axis=1)))))
    return effects


def partial_effects(
    trees: Sequence[ScoreTree], shares: Sequence[Floats], columns: Sequence[int]
) -> list[PartialEffect]:
    """What the bins of some columns add to the scores on average over the other columns (Friedman 2001).

    Columns are taken to be independent of each other. Effects have mean 0 over the rows, of which ``shares`` are in
    bins.
    """
    rows, _ = _made_up(trees, [len(one) for one in shares], shares)
    return [_partial_effect(trees, rows, column, shares[column]) for column in columns]


@dataclass(frozen=True, eq=False)
class PartialEffect:
    """What the bins of a column add to the scores on average."""

    effect: Floats  # shape `(bins, n_scores)`
    sd: Floats  # standard deviation of the noise in it, where leaves know theirs; else 0


def _partial_effect(trees: Sequence[ScoreTree], rows: list[Bytes], column: int, shares: Floats) -> PartialEffect:
    testing = [tree for tree in trees if column in tree.shape.used_columns]
    effect = np.zeros((len(shares), trees[0].values.shape[1]))
    variance = np.zeros_like(effect)
    for code in range(len(shares)):
        there = [np.full(ROWS, code, np.uint8) if place == column else codes for place, codes in enumerate(rows)]
        for tree in testing:
            leaf_shares = np.bincount(tree.shape.find(there), minlength=tree.shape.n_leaves) / ROWS
            effect[code] += leaf_shares @ tree.values
            if tree.sd is not None:
                variance[code] += np.square(leaf_shares) @ np.square(tree.sd)
    return PartialEffect(effect - shares @ effect, np.sqrt(variance))


def _made_up(
    trees: Sequence[Tree] | Sequence[ScoreTree], n_bins: Sequence[int], shares: Sequence[Floats] | None
) -> tuple[list[Bytes], dict[int, Bytes]]:
    """Made-up rows; and of the columns that trees test, codes to draw anew with."""
    columns = sorted({column for tree in trees for column in tree.shape.used_columns})
    rows: list[Bytes] = [np.zeros(ROWS, np.uint8)] * len(n_bins)
    anew: dict[int, Bytes] = {}
    for place, column in enumerate(columns):
        column_shares = bin_shares(trees, column, min(n_bins[column], CODES)) if shares is None else shares[column]
        edges = np.cumsum(column_shares)
        rows[column], anew[column] = (
            np.minimum(np.searchsorted(edges, spread_points(ROWS, line), "right"), len(edges) - 1).astype(np.uint8)
            for line in (2 * place, 2 * place + 1)
        )
    return rows, anew
