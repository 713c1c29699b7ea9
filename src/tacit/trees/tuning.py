"""All numbers by which trees are tuned: accuracy depends on them, and no promise does.

Those of gradient trees are in :mod:`tacit.growing.tuning`. A learner takes its own class of them; to vary a number,
replace it::

    ForestLearner(request, tuning=replace(Forests(), rows_per_noise=8.0))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SeveralClasses:
    """Of gradient trees of several classes (:mod:`tacit.trees.several_classes`).

    Shares of the budget that are not here, bins, and trees under Laplace noise are those of two classes.
    """

    # Share of the budget for counting the classes, under Gaussian noise.
    counting_share: float = 0.03

    # Variance by which constants move while trees are grown (log-odds squared).
    moves: float = 0.25

    # Under Gaussian noise, trees are averaged as a kernel. How many, and how many columns each may cut.
    trees: int = 150
    columns_per_tree: int = 4

    # Noise that they may leave in a score, about.
    noise: float = 0.6

    # Rows that tell how scores are spread.
    simulated_rows: int = 3000


@dataclass(frozen=True)
class Boosting:
    """Of M-alpha-boost (:mod:`tacit.trees.m_alpha_boost`)."""

    # What a user may choose instead: depth of complete trees, the share of the budget for splits, the largest absolute
    # value that a leaf may say, public cells of a numeric column.
    depth: int = 4
    split_share: float = 0.5
    leaf_bound: float = 10.0
    cells: int = 10

    # Share of the budget for the number of rows, where it is private; and how many standard deviations of its noise the
    # cap lies above the released number.
    rows_share: float = 0.02
    sure: float = 6.0

    # Share of a level's budget that objective calibration spends on finding the error so far.
    errors_share: float = 0.3

    # Of the smoothed criterion: what a node is taken to hold more of either class, as a part of its weight; and as rows
    # over the range of a choice.
    smoothing: float = 0.1
    smoothing_by_noise: float = 200.0

    # Splits and leaves are dear, so there are many trees only where rows far outweigh the noise: the root of rows times
    # epsilon over this, within bounds.
    signal_per_tree: float = 60.0
    least_trees: int = 2
    most_trees: int = 20


@dataclass(frozen=True)
class Forests:
    """Of random forests (:mod:`tacit.trees.forest`)."""

    # What a user may choose instead: the number of trees, public cells of a numeric column.
    trees: int = 21
    cells: int = 50

    # Share of the budget for the number of rows, where the depth is to follow from it; and for the rows of each class,
    # where labels of leaves are chosen.
    rows_share: float = 0.02
    classes_share: float = 0.1

    # Of a forest's trees, where no depth is asked for.
    largest_depth: int = 10

    # Trees are as deep as leaves of average size hold this many standard deviations of their noise.
    rows_per_noise: float = 6.0

    # A leaf's proportion varies around the base rate as the mean of a Beta law of one more row than this.
    prior_rows: float = 1.0

    # Standard deviations of its noise, from which a leaf's surplus of a class is taken for real.
    clear: float = 3.0

    # Where labels are chosen, the share of the budget for how far all trees of one label move the log-odds of the base
    # rate; and how far they do where noise hides it.
    scale_share: float = 0.05
    usual_scale: float = 2.0

    # Variance of the base rate, were any as likely as any other; and how near to 0 or 1 it is believed to be at most.
    base_prior: float = 1.0 / 12.0
    least_base: float = 1e-3


SEVERAL_CLASSES, BOOSTING, FORESTS = SeveralClasses(), Boosting(), Forests()
"""As they were chosen."""
