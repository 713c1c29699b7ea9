"""Random forests: structures that look at no row, leaves that vote with noise.

RF-L counts the classes of every leaf with noise; RF-E chooses the label of every leaf by the exponential mechanism.
Source: Nock, Henecka 2020, section 17.2, after Fletcher, Islam 2017 with global sensitivity.

A row falls into one leaf of a tree, so all leaves of a tree cost as much as one (``sharp``); the paper divides the
budget among them. All trees see all rows: with independent parts of the rows a tree would have as much more budget as
it has fewer rows, and more sampling error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.tree_bins import Column, TreeBins, release_rows
from tacit.curator.curator import Curator
from tacit.curator.measurement import Measurement
from tacit.growing.random_trees import RandomStructures
from tacit.models.tree import Tree, TreeShape
from tacit.privacy.charges import BoundedRange, Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule
from tacit.queries.selection import Selection
from tacit.queries.tree_cells import TreeCells
from tacit.trees.budget import SplitBudget
from tacit.trees.leaf_shares import base_rate_of, drawn_to
from tacit.trees.m_alpha_boost import public_cells
from tacit.trees.tuning import FORESTS, Forests


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

    ``share`` is what each tree took of the budget.
    """

    bins: tuple[TreeBins, ...]
    trees: tuple[Tree, ...]
    depth: int
    share: float


def learn_forest(
    curator: Curator,
    budget: SplitBudget,
    columns: Sequence[Column],
    settings: ForestSettings,
    public_rows: int | None = None,
) -> Forest:
    """Learns a forest for a binary label; ``public_rows`` is asked for only if the depth is to follow from it."""
    bins = public_cells(curator, columns, settings.cells)
    left, depth, base = 1.0, settings.depth, 0.5
    rows = None if public_rows is None else float(public_rows)
    asked = budget.release(settings.tuning.rows_share)
    if settings.mechanism == "exponential" and settings.parallel:
        counts = _classes(curator, asked)
        rows, base, left = (
            float(counts.value.sum()),
            base_rate_of([(counts.value, counts.sd)]),
            left - settings.tuning.rows_share,
        )
    elif depth is None and rows is None:
        rows, left = release_rows(curator, asked).value, left - settings.tuning.rows_share
    if depth is None:
        assert rows is not None
        depth = depth_rule(rows, budget, left / settings.trees, settings.tuning)
    share = left / settings.trees / (1.0 if settings.parallel else 2.0**depth)
    generator = curator.public_generator
    shapes, released = [], []
    for number in range(settings.trees):
        shapes.append(random_shape(columns, bins, depth, generator))
        released.append(_leaves(curator, budget, settings, shapes[-1], share, number + 1, base))
    return Forest(bins, _votes(shapes, released, settings), depth, left / settings.trees)


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
        None if column.ordered else generator.permutation(made.size).astype(np.int64)
        for column, made in zip(columns, bins, strict=True)
    ]
    return RandomStructures([b.mass for b in bins], generator, ranks).draw(depth, len(columns))


def _classes(curator: Curator, charge: Charge) -> Measurement:
    """Releases how many rows each class has."""
    query = Histogram(OneCell(), fine_class_count_rule(curator.layout.n_labels))
    return curator.measure(query, charge, Label(Stage.COUNTS, "rows of each class"))


def _leaves(
    curator: Curator,
    budget: SplitBudget,
    settings: ForestSettings,
    shape: TreeShape,
    share: float,
    tree: int,
    base: float,
) -> tuple[Floats, float]:
    """Of every leaf, the noisy class counts (RF-L) or all the weight on one class (RF-E), and the noise in a count."""
    cells = TreeCells(shape)
    counts = Histogram(cells, fine_class_count_rule(curator.layout.n_labels))
    if settings.mechanism == "laplace":
        # charged apart, every leaf has noise for its own small share: it is the noise that pays
        release = curator.measure(counts, budget.release(share), Label(Stage.LEAVES, "class counts of leaves", tree))
        return release.value, release.sd
    charge = budget.selection(share)
    if settings.parallel:
        ahead = head_start(base, _label_selection(counts, slice(None)), curator, charge, settings.tuning)
        selection = _label_selection(counts, slice(None), ahead)
        chosen = curator.select(selection, charge, Label(Stage.LEAVES, "labels of leaves", tree)).indices
    else:
        chosen = np.array(
            [
                curator.select(
                    _label_selection(counts, slice(k, k + 1)), charge, Label(Stage.LEAVES, f"leaf {k}", tree)
                ).indices[0]
                for k in range(cells.size)
            ]
        )
    return np.eye(2)[chosen], 0.0


def head_start(base: float, selection: Selection, curator: Curator, charge: Charge, tuning: Forests) -> int:
    """By how much label 1 is ahead in a leaf of no rows, in units of the choice's scores: less than 0 where it is rare.

    The choice is between ``exp(range score / movement)``. With such a start its log-odds are those of the base rate,
    some times over: a leaf that holds nearly nobody says what most rows are, and does not draw lots. The base rate was
    released before, so the start is public and moves no score.
    """
    if not isinstance(charge, BoundedRange):
        return 0
    log_odds = tuning.head_start * math.log(base / (1.0 - base))
    return round(log_odds * selection.score_range(curator.neighbouring) / charge.range)


def _label_selection(counts: Histogram, leaves: slice, ahead: int = 0) -> Selection:
    """The choice of the most frequent label in each leaf: a row raises the count of one label of one leaf by one."""

    def score(answers: Iterator[Ints]) -> Ints:
        return next(answers)[leaves] + np.array([0, ahead], np.int64)

    size = len(range(counts.cells.size)[leaves])
    return Selection(
        (counts,), score, (size, 2), counts.unit, "class counts of a leaf: a row raises one of them by one"
    )


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
