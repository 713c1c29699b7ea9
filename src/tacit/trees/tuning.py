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

    counting_share: float = 0.03  # of the budget, for counting the classes under Gaussian noise
    moves: float = 0.25  # variance by which constants move while trees are grown (squared log-odds)

    # Under Gaussian noise, trees are averaged as a kernel.
    trees: int = 150
    columns_per_tree: int = 4
    noise: float = 0.6  # that they may leave in a score
    simulated_rows: int = 3000  # to see how scores are spread


@dataclass(frozen=True)
class Boosting:
    """Of M-alpha-boost (:mod:`tacit.trees.m_alpha_boost`)."""

    # What a user may choose instead.
    depth: int = 4  # of complete trees
    split_share: float = 0.5  # of the budget
    leaf_bound: float = 10.0  # largest absolute value of a leaf
    cells: int = 10  # public, of a numeric column

    rows_share: float = 0.02  # of the budget, for the number of rows where it is private;
    sure: float = 6.0  # the cap lies so many standard deviations of its noise above the released number
    errors_share: float = 0.3  # of a level's budget, by which the printed objective calibration finds the error so far

    # Of the smoothed criterion: what a node is taken to hold more of either class.
    smoothing: float = 0.1  # relative to its weight
    smoothing_by_noise: float = 200.0  # rows over the range of a choice

    # Splits and leaves are dear: the number of trees is the root of rows times epsilon over this, within bounds.
    signal_per_tree: float = 60.0
    least_trees: int = 2
    most_trees: int = 20


@dataclass(frozen=True)
class Forests:
    """Of random forests (:mod:`tacit.trees.forest`)."""

    # What a user may choose instead.
    trees: int = 21
    cells: int = 50  # public, of a numeric column

    rows_share: float = 0.02  # of the budget, for the number of rows where the depth is to follow from it
    classes_share: float = 0.1  # the same for the rows of each class, where labels of leaves are chosen
    largest_depth: int = 10  # where none is asked for
    rows_per_noise: float = 6.0  # standard deviations of its noise that a leaf of average size holds
    prior_rows: float = 1.0  # a leaf's proportion varies around the base rate as the mean of a Beta law of one more row
    clear: float = 3.0  # standard deviations of noise from which a leaf's surplus of a class is taken for real

    # Where labels are chosen: how far all trees of one label move the log-odds of the base rate.
    scale_share: float = 0.05  # of the budget, to find it
    usual_scale: float = 2.0  # where noise hides it

    base_prior: float = 1.0 / 12.0  # variance of the base rate, were any as likely as any other
    least_base: float = 1e-3  # distance of it from 0 and 1


SEVERAL_CLASSES, BOOSTING, FORESTS = SeveralClasses(), Boosting(), Forests()  # as they were chosen
