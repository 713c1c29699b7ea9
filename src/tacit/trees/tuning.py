"""All numbers by which trees are tuned: accuracy depends on them, and no promise does.

A learner takes its own class of them; to vary a number, replace it::

    GradientTreesLearner(request, tuning=replace(Gradient(), choosing_trees=100))
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tacit.binning.tuning import TREE_BINNING, TreeBinning
from tacit.growing.tuning import GROWING, KERNEL, Growing


@dataclass(frozen=True)
class Gradient:
    """Of gradient trees (:mod:`tacit.trees.gradient`)."""

    # Share of the budget for histograms, where they are bought. Under pure epsilon they are from so many rows times
    # epsilon on per column: their noise is dear.
    bins_share: float = 0.09
    signal_for_bins: float = 600.0

    # Shares of the budget for the number of rows, and for each step of the intercept.
    rows_share: float = 0.005
    pure_rows_share: float = 0.06
    intercept_share: float = 0.005
    pure_intercept_share: float = 0.01
    intercept_steps: int = 2

    # Rows relative to the noise ("signal"), below which scores stay near 0. Curvatures say little then, so the clip
    # leaves them little room, and trees that cut fewer columns say more of each.
    faint: float = 300.0

    # The largest norm of a row's contribution under Gaussian noise, and below ``faint``.
    clip: float = 0.53
    faint_clip: float = 0.505

    # Signal from which noise hardly matters: trees are as bold as without privacy.
    clear: float = 100_000.0

    # Signals from which trees are deeper than 4, and than 5; from the second on there are ``more_trees``.
    deeper_from: float = 1500.0
    deepest_from: float = 6000.0
    trees: int = 500
    more_trees: int = 700

    # How far a step goes towards the posterior mean: below ``faint``, up to ``clear``, and from there on.
    faint_rate: float = 0.12
    rate: float = 0.1
    clear_rate: float = 0.17

    # Prior variance of a step (log-odds squared): below ``faint``; in general; from ``deepest_from`` up to ``clear``.
    faint_prior: float = 1.0
    prior: float = 0.5
    deep_prior: float = 0.2

    # Where rows are very many, and from ``clear`` on, splits are chosen, and this share of the trees' budget goes to
    # that: elsewhere random trees see as much for nothing.
    choice_share: float = 0.5

    # How many such trees, how many at least, and how many times the rows at most: each takes long.
    choosing_trees: int = 150
    least_choosing_trees: int = 64
    choosing_rows: float = 1e8
    choosing_depth: int = 6

    # How far each of so many steps towards the posterior mean; further where they are fewer.
    choosing_rate: float = 0.22

    # Such trees end once the prior of their steps is surely below this (log-odds squared).
    enough: float = 0.006

    # Under Laplace noise, which grows with the number of trees: ``factor * signal ** power`` of them, within bounds,
    # and larger steps. Signal is rows times epsilon.
    laplace_factor: float = 0.173
    laplace_power: float = 0.617
    least_laplace_trees: int = 4
    most_laplace_trees: int = 250
    laplace_deeper_from: tuple[float, ...] = (1000.0, 6000.0, 30_000.0)
    laplace_more_columns_from: tuple[float, ...] = (1000.0, 10_000.0)
    most_laplace_rate: float = 0.3
    laplace_rate: float = 1.05
    laplace_prior: float = 1.0
    laplace_clip: float = 0.65
    laplace_curvature_scale: float = 0.6

    # How bins are made.
    binning: TreeBinning = TREE_BINNING


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

    # A point's prior variance relative to that of the means of leaves: no columns' effects come before the trees, so
    # that more of it shows in leaves.
    of_a_point: float = 15.0

    # Rows that tell how scores are spread.
    simulated_rows: int = 3000

    @property
    def growing(self) -> Growing:
        """Of how they grow."""
        return replace(GROWING, kernel=replace(KERNEL, of_a_point=self.of_a_point))


@dataclass(frozen=True)
class Base:
    """Of the base rate and the intercept (:mod:`tacit.trees.base_rate`)."""

    # As long as scores have moved by no more than about this, all rows contribute as they did at the start.
    near_start: float = 0.2

    # Variance of the base rate's log-odds, and of what is left to correct once the trees are there.
    rate_prior: float = 1.0
    intercept_prior: float = 0.5

    # The largest intercept, and the largest step of it (log-odds).
    largest: float = 6.0
    largest_step: float = 2.0

    # Curvature of a row on average, or half of what it has at the base rate where that is less: a step divides by it.
    least_curvature: float = 0.02


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

    # Share of the budget for the number of rows, where the depth is to follow from it; for those of each class, where
    # labels of leaves are chosen.
    rows_share: float = 0.02

    # Of a forest's trees, where no depth is asked for.
    largest_depth: int = 10

    # Trees are as deep as leaves of average size hold this many standard deviations of their noise.
    rows_per_noise: float = 6.0

    # A leaf's proportion varies around the base rate as the mean of a Beta law of one more row than this.
    prior_rows: float = 1.0

    # Standard deviations of its noise, from which a leaf's surplus of a class is taken for real.
    clear: float = 3.0

    # How many times the log-odds of the base rate a label is ahead in a leaf of no rows, where labels are chosen.
    head_start: float = 3.0

    # Variance of the base rate, were any as likely as any other; and how near to 0 or 1 it is believed to be at most.
    base_prior: float = 1.0 / 12.0
    least_base: float = 1e-3


GRADIENT, SEVERAL_CLASSES, BASE, BOOSTING, FORESTS = Gradient(), SeveralClasses(), Base(), Boosting(), Forests()
"""As they were chosen."""
