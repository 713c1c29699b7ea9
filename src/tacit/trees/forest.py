"""Random forests: structures that look at no row, leaves that vote with noise.

RF-L counts the classes of every leaf with noise; RF-E chooses the label of every leaf by the exponential mechanism.
Source: Nock, Henecka 2020, section 17.2, after Fletcher, Islam 2017 with global sensitivity. The label is the more
frequent class in the paper, which is the same in all leaves where positives are rare. Here, unless leaves pay apart, it
is 1 where the proportion of positives exceeds the base rate ``b``: the choice is between the scores ``(1 - b) n_1`` and
``b n_0``, whose difference is ``n (n_1 / n - b)``; a row raises one score of one leaf. Scores are the log-odds of the
base rate and a multiple of the mean of the labels, -1 and 1: leaves of no rows draw lots, so a row that falls into such
leaves is at the base rate. The multiple is fitted to released counts of rows by class and mean label.

A row falls into one leaf of a tree, so all leaves of a tree cost as much as one (``sharp``); the paper divides the
budget among them. All trees see all rows: with independent parts of the rows a tree would have as much more budget as
it has fewer rows, and more sampling error.

A leaf of few rows is lost in the noise. Shrunk to 1/2, it would call everybody in a sparse region positive, without
any evidence, where the positive class is rare: proportions are drawn to the base rate, by post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints, added
from tacit.binning.measure import Column
from tacit.binning.tree_bins import TreeBins, grid, release_rows
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.growing.random_trees import RandomStructures
from tacit.models.tree import Tree, TreeShape
from tacit.models.tree_ensemble import Link
from tacit.privacy.charges import Charge, Repeated
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule, fine_class_count_rule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import TreeCells, middle_margins
from tacit.trees.budget import SplitBudget
from tacit.trees.tuning import FORESTS, Forests

LARGEST_CODE = 255  # not tuned: codes of cells are bytes


def public_cells(curator: Curator, columns: Sequence[Column], cells: int) -> tuple[TreeBins, ...]:
    """Coarsens every column by a public map: a regular grid of ``cells``, or the categories as they are."""
    bins = []
    for column in columns:
        mapping = np.minimum(grid(column, curator.layout.n_codes[column.index], cells), LARGEST_CODE)
        curator.coarsen(column.index, mapping)
        bins.append(TreeBins(mapping, np.ones(int(mapping.max()) + 1)))
    return tuple(bins)


def base_rate_of(released: Sequence[tuple[Floats, float]], tuning: Forests = FORESTS) -> float:
    """The positive class's share of all rows, from the noisy class counts of all trees; drawn to 1/2 by their noise."""
    negatives, positives = (float(np.mean([counts[:, k].sum() for counts, _ in released])) for k in (0, 1))
    rows = max(negatives + positives, 1.0)
    noise = math.sqrt(added(len(counts) * sd**2 for counts, sd in released)) / len(released) / rows
    return _drawn_to_half(positives / rows, noise, tuning)


def base_rate_of_leaves(counts: Floats, sd: float, tuning: Forests = FORESTS) -> float:
    """The positive class's share of all rows from one tree's noisy class counts, shape ``(leaves, 2)``.

    Leaves count by their released size, as the sum of all counts has the noise of every leaf, and most rows are in few:
    ``sum t n_1 / sum t**2``, less what noise adds to the products. Where leaves are alike, the sum of all is better.
    """
    leaves, totals = len(counts), counts.sum(axis=1)
    square = float(totals @ totals) - 2.0 * leaves * sd**2
    rows = max(float(totals.sum()), 1.0)
    noise = sd * math.sqrt(max(square, 0.0) + 2.0 * leaves * sd**2) / max(square, 1.0)
    if noise >= sd * math.sqrt(leaves) / rows:
        return base_rate_of([(counts, sd)], tuning)
    share = (float(totals @ counts[:, 1]) - leaves * sd**2) / square
    return _drawn_to_half(share, noise, tuning)


def _drawn_to_half(share: float, noise: float, tuning: Forests) -> float:
    """A proportion with noise of this standard deviation, were any as likely as any other."""
    shrunk = 0.5 + (min(max(share, 0.0), 1.0) - 0.5) * tuning.base_prior / (tuning.base_prior + noise**2)
    return min(max(shrunk, tuning.least_base), 1.0 - tuning.least_base)


def drawn_to(base: float, counts: Floats, sd: float, tuning: Forests = FORESTS, sampled: bool = True) -> Floats:
    """Proportions of the positive class from noisy class counts, drawn to the base rate; one per leaf.

    The posterior mean given the surplus ``(1 - base) n_1 - base n_0``, and a number of rows. Where the surplus may be
    noise, the number is ``base n_1 + (1 - base) n_0`` over its weight, whose noise is not correlated with it: a leaf of
    no rows is at the base rate on average, whatever noise makes of it. (With counts cut off at 0, noise alone would say
    "half".) Where it is clear, ``n_0 + n_1``. It is not kept in [0, 1]: the mean over trees is.

    ``base`` is the positive class's share of all rows; ``counts`` are noisy, shape ``(leaves, 2)``, ``sd`` the noise in
    one. Where rows are not ``sampled``, leaves are drawn by the noise alone.
    """
    weight = base**2 + (1.0 - base) ** 2
    surplus = (1.0 - base) * counts[:, 1] - base * counts[:, 0]
    clear = np.abs(surplus) > tuning.clear * sd * math.sqrt(weight)
    rows = np.where(clear, counts.sum(axis=1), (base * counts[:, 1] + (1.0 - base) * counts[:, 0]) / weight)
    rows = np.maximum(rows, 0.0)
    one_row = base * (1.0 - base)
    prior = one_row / (1.0 + tuning.prior_rows)
    return base + prior * rows * surplus / (prior * rows**2 + rows * one_row * sampled + sd**2 * weight + 1e-12)


@dataclass(frozen=True)
class ForestSettings:
    """What a user may choose; see :class:`~tacit.RandomTreesClassifier`.

    ``parallel``: whether the leaves of a tree are charged together.
    """

    mechanism: str
    trees: int
    depth: int | None
    cells: int
    parallel: bool
    tuning: Forests = FORESTS


@dataclass(frozen=True, eq=False)
class Forest:
    """What was learned, all of it released: a leaf's value is its vote over the number of trees.

    ``share`` is what each tree took of the budget; scores begin at ``intercept``, and ``link`` makes probabilities of
    them.
    """

    bins: tuple[TreeBins, ...]
    trees: tuple[Tree, ...]
    depth: int
    share: float
    link: Link
    intercept: float


def learn_forest(
    curator: Curator,
    budget: SplitBudget,
    columns: Sequence[Column],
    settings: ForestSettings,
    public_rows: int | None = None,
) -> Forest:
    """Learns a forest for a binary label; ``public_rows`` is asked for only if the depth is to follow from it."""
    bins = public_cells(curator, columns, settings.cells)
    remainder, depth = 1.0, settings.depth
    rows = None if public_rows is None else float(public_rows)
    base, tuning = None, settings.tuning
    if settings.mechanism == "exponential" and settings.parallel:
        counts = _classes(curator, budget.release(tuning.classes_share))
        rows, base = float(counts.value.sum()), base_rate_of([(counts.value, counts.sd)])
        remainder -= tuning.classes_share
    elif depth is None and rows is None:
        rows = release_rows(curator, budget.release(tuning.rows_share)).value
        remainder -= tuning.rows_share
    if depth is None:
        assert rows is not None
        depth = depth_rule(rows, budget, remainder / settings.trees, tuning)
    generator = curator.public_generator
    shapes = [random_shape(columns, bins, depth, generator) for _ in range(settings.trees)]
    if base is not None:
        trees = trees_of_labels(curator, budget, shapes, base, tuning)
    else:
        share = remainder / settings.trees / (1.0 if settings.parallel else 2.0**depth)
        released = [_leaves(curator, budget, settings, shape, share, k + 1) for k, shape in enumerate(shapes)]
        trees = _votes(shapes, released, settings)
    link, intercept = (Link("share"), 0.0) if base is None else (Link("logistic"), log_odds(base))
    return Forest(bins, trees, depth, remainder / settings.trees, link, intercept)


def depth_rule(rows: float, budget: SplitBudget, share: float, tuning: Forests = FORESTS) -> int:
    """As deep as leaves of average size stand out of their noise, at least 1."""
    if math.isinf(budget.amount):
        noise = 1.0
    elif budget.pure:
        noise = math.sqrt(2.0) / (budget.amount * share)
    else:
        noise = 1.0 / math.sqrt(2.0 * budget.amount * share)
    deepest = math.log2(max(rows / (tuning.rows_per_noise * max(noise, 1.0)), 2.0))
    return int(min(max(math.floor(deepest), 1), tuning.largest_depth))


def random_shape(
    columns: Sequence[Column], bins: Sequence[TreeBins], depth: int, generator: np.random.Generator
) -> TreeShape:
    """A complete tree that cuts any column at a uniform threshold, categories in an order drawn for this tree."""
    ranks = [
        None if column.ordered else generator.permutation(column_bins.size).astype(np.int64)
        for column, column_bins in zip(columns, bins, strict=True)
    ]
    return RandomStructures([b.mass for b in bins], generator, ranks).draw(depth, len(columns))


def _classes(curator: Curator, charge: Charge) -> Measurement:
    query = Histogram(OneCell(), fine_class_count_rule(curator.layout.n_labels))
    return curator.measure(query, charge, Label(Stage.COUNTS, "rows of each class"))


def _leaves(
    curator: Curator, budget: SplitBudget, settings: ForestSettings, shape: TreeShape, share: float, tree: int
) -> tuple[Floats, float]:
    """Of every leaf, the noisy class counts (RF-L) or all the weight on one class (RF-E), and the noise in a count."""
    cells = TreeCells(shape)
    counts = Histogram(cells, fine_class_count_rule(curator.layout.n_labels))
    if settings.mechanism == "laplace":
        # charged apart, every leaf has noise for its own small share: it is the noise that pays
        release = curator.measure(counts, budget.release(share), Label(Stage.LEAVES, "class counts of leaves", tree))
        return release.value, release.sd
    charge = budget.selection(share)
    choices = [(label_selection(counts, slice(k, k + 1)), f"leaf {k}") for k in range(cells.size)]
    labels = [curator.select(one, charge, Label(Stage.LEAVES, name, tree)).indices[0] for one, name in choices]
    return np.eye(2)[labels], 0.0


def _votes(
    shapes: Sequence[TreeShape], released: Sequence[tuple[Floats, float]], settings: ForestSettings
) -> tuple[Tree, ...]:
    """Trees that vote: twice the leaf's proportion minus one, drawn to the base rate by the noise; or the label."""
    if settings.mechanism == "exponential" or not settings.parallel:
        return tuple(
            Tree(shape, np.sign(counts[:, 1] - counts[:, 0]) / settings.trees, np.maximum(counts.sum(axis=1), 0.0))
            for shape, (counts, _) in zip(shapes, released, strict=True)
        )
    base = base_rate_of(released, settings.tuning)
    trees = []
    for shape, (counts, sd) in zip(shapes, released, strict=True):
        share = drawn_to(base, counts, sd, settings.tuning)
        trees.append(Tree(shape, (2.0 * share - 1.0) / settings.trees, np.maximum(counts.sum(axis=1), 0.0)))
    return tuple(trees)


WEIGHT_UNIT = 1 << 8  # not tuned: integer units of the weight of a row in a score

VOTE_BINS = 8
"""Not tuned: intervals of the mean label, each of a width of two standard deviations of lots drawn by 64 trees."""

SCALES = np.arange(1, 33) / 4.0  # not tuned: the multiples of the mean label that are tried
ALIKE = 3.0  # not tuned: standard deviations of noise within which rows beyond one interval of votes may be none


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
        indices = curator.select(selection, charge, Label(Stage.LEAVES, "labels of leaves", number + 1)).indices
        values.append(margins.add(counts.cells, (2.0 * indices - 1.0) / len(shapes)))
    query, label = Histogram(OneCell(), votes_rule(), margins), Label(Stage.CALIBRATION, "rows of each class by votes")
    released = curator.measure(query, budget.release(tuning.scale_share), label)
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

    ``counts`` have shape ``(2, VOTE_BINS)``, each with noise of ``sd``; ``start`` is the log-odds of the base rate,
    ``usual`` the multiple where noise hides all others.
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
