"""RF-E: the label of every leaf by the exponential mechanism, relative to the base rate.

A leaf's label is 1 where its proportion of positives exceeds the base rate ``b``: the choice is between the scores
``(1 - b) n_1`` and ``b n_0``, whose difference is ``n (n_1 / n - b)``. A row raises one score of one leaf. With
``b = 1/2`` that is the choice of the more frequent class. Scores are the log-odds of the base rate and a multiple of
the mean of the labels, -1 and 1: leaves of no rows draw lots, so a row that falls into such leaves is at the base rate.
The multiple is fitted to released counts of rows by class and mean label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.curator.curator import Curator
from tacit.models.tree import Tree, TreeShape
from tacit.privacy.charges import Charge, Repeated
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule, fine_class_count_rule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import TreeCells, middle_margins
from tacit.trees.budget import SplitBudget
from tacit.trees.tuning import Forests

WEIGHT_UNIT = 1 << 8
"""Not tuned: integer units of the weight of a row in a score."""

VOTE_BINS = 8
"""Not tuned: intervals of the mean label, each of a width of two standard deviations of lots drawn by 64 trees."""

SCALES = np.arange(1, 33) / 4.0
"""Not tuned: the multiples of the mean label that are tried."""

ALIKE = 3.0
"""Not tuned: standard deviations of noise within which rows beyond one interval of votes may be none."""


def label_charges(pool: SplitBudget, trees: int, tuning: Forests) -> tuple[Charge, ...]:
    """All charges of a forest of chosen labels, in their order: rows of each class, labels, how far they move."""
    counts, scale = pool.release(tuning.classes_share), pool.release(tuning.scale_share)
    return counts, Repeated(_label_charge(pool, trees, tuning), trees), scale


def _label_charge(pool: SplitBudget, trees: int, tuning: Forests) -> Charge:
    """The labels of one tree, whose leaves hold disjoint rows."""
    return pool.selection((1.0 - tuning.classes_share - tuning.scale_share) / trees)


def trees_of_labels(
    curator: Curator, budget: SplitBudget, shapes: Sequence[TreeShape], base: float, tuning: Forests
) -> tuple[Tree, ...]:
    """Trees whose leaves add to the log-odds of the base rate, or take away from them, by the labels chosen for them.

    ``base`` is the positive class's share of all rows, released before.
    """
    charge = _label_charge(budget, len(shapes), tuning)
    weights, margins, values = class_weights(base), Margins(), []
    for number, shape in enumerate(shapes):
        counts = Histogram(TreeCells(shape), fine_class_count_rule(curator.layout.n_labels))
        selection = label_selection(counts, slice(None), weights)
        chosen = curator.select(selection, charge, Label(Stage.LEAVES, "labels of leaves", number + 1)).indices
        values.append(margins.add(counts.cells, (2.0 * chosen - 1.0) / len(shapes)))
    query = Histogram(OneCell(), votes_rule(), margins)
    released = curator.measure(
        query, budget.release(tuning.scale_share), Label(Stage.CALIBRATION, "rows of each class by votes")
    )
    scale = scale_of_votes(released.value.reshape(2, VOTE_BINS), released.sd, log_odds(base), tuning.usual_scale)
    return tuple(Tree(shape, scale * value, np.ones(len(value))) for shape, value in zip(shapes, values, strict=True))


def votes_rule() -> RowRule:
    """A count of each row in the channel of its class and of its mean label, in :data:`VOTE_BINS` equal intervals."""
    places = np.clip(np.floor((middle_margins() + 1.0) * 0.5 * VOTE_BINS), 0, VOTE_BINS - 1).astype(np.int64)
    one = np.eye(VOTE_BINS, dtype=np.int32)[places]
    nothing = np.zeros_like(one)
    return RowRule(np.stack([np.hstack([one, nothing]), np.hstack([nothing, one])]), 1)


def scale_of_votes(counts: Floats, sd: float, start: float, usual: float) -> float:
    """By how much the mean of the labels moves the log-odds, from noisy counts of rows by class and mean label.

    The multiple of least log loss, where each pays a standard deviation of what noise makes of its advantage over the
    usual one. It is 0 where all rows are in one interval of votes, as nothing tells them apart: in every tree they
    share a leaf, whose label is a lot. (Labels of leaves without rows would differ all the same.)

    Args:
        counts: shape ``(2, VOTE_BINS)``.
        sd: standard deviation of the noise in one.
        start: the log-odds of the base rate.
        usual: the multiple where noise hides all others.
    """
    rows = counts.sum(axis=0)
    doubt_of_others = ALIKE * sd * math.sqrt(2 * (VOTE_BINS - 1))
    if rows.sum() - rows.max() <= doubt_of_others < rows.max() / 8:
        return 0.0
    votes = (np.arange(VOTE_BINS) + 0.5) / VOTE_BINS * 2.0 - 1.0
    scales = np.append(SCALES, usual)
    scores = start + scales[:, None] * votes
    losses = np.stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)], axis=1)
    advantage = losses - losses[-1]
    doubt = sd * np.sqrt(np.square(advantage).sum(axis=(1, 2)))
    return float(scales[int(((advantage * counts).sum(axis=(1, 2)) + doubt).argmin())])


def log_odds(base: float) -> float:
    """The log-odds of a proportion strictly between 0 and 1."""
    return math.log(base / (1.0 - base))


def class_weights(base: float) -> Ints:
    """What a row of each class counts in its label's score, in units: the larger one is :data:`WEIGHT_UNIT`."""
    rarer = min(base, 1.0 - base)
    small = max(round(WEIGHT_UNIT * rarer / (1.0 - rarer)), 1)
    return np.array([WEIGHT_UNIT, small] if base > 0.5 else [small, WEIGHT_UNIT], np.int64)


def label_selection(counts: Histogram, leaves: slice, weights: Ints | None = None) -> Selection:
    """The choice of a label in each leaf: a row raises the score of one label of one leaf, by at most its weight.

    ``weights`` are integers, of a row of each class; None for 1 each, the choice of the more frequent class.
    """
    counting = np.ones(2, np.int64) if weights is None else weights

    def score(answers: Iterator[Ints]) -> Ints:
        return next(answers)[leaves] * counting

    size = len(range(counts.cells.size)[leaves])
    movement = counts.unit * int(counting.max())
    theorem = "weighted class counts of a leaf: a row raises one of them by at most the larger weight"
    return Selection((counts,), score, (size, 2), movement, theorem)
