"""All numbers by which trees are tuned: accuracy depends on them, and no promise does.

What a plan sets for each fit (how many trees, how deep) is on the pages of the learners. To vary a number, replace it::

    replace(GROWING, kernel=replace(KERNEL, rows_of_noise=40.0))
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.binning.tuning import TREE_BINNING, TreeBinning


@dataclass(frozen=True)
class Cutting:
    """Where nodes cut (:mod:`tacit.growing.random_trees`, :mod:`tacit.growing.chosen_trees`)."""

    # How often a node looks for a column that can still be cut there.
    tries: int = 4

    # The chance that no tree has cut both of two given columns, at which there are enough trees for pairs.
    missed_pairs: float = 0.05

    # Columns that a tree which chooses its splits may cut: up to so many rows, and at least where rows are more. They
    # cost time alone.
    most_columns: int = 20
    least_columns: int = 6
    wide_upto: float = 300_000.0


@dataclass(frozen=True)
class Stepping:
    """Steps of leaves of every kind (:mod:`tacit.growing.variance_filter`)."""

    # No leaf moves a score by more log-odds than this.
    largest_step: float = 2.0

    # What the variance of leaves' true steps is thought to be before the first tree, and how far that may be off.
    first_variance: float = 0.02
    first_spread: float = 0.05


@dataclass(frozen=True)
class Newton:
    """Newton's steps (:mod:`tacit.growing.newton_trees`)."""

    # By how much the variance of true steps may change from one tree to the next (standard deviation).
    variance_drift: float = 0.001

    # Share of the rows' own variation that is still in the residuals: between none and all of it, as trees go on.
    rows_variation: float = 0.5

    # A point's variance relative to that of the mean of its leaf: most of what is left over differs within leaves.
    within_leaves: float = 4.0

    # The prior variance of steps is at most this.
    largest_prior: float = 1.0

    # Standard deviations above what was found, up to which the variance of true steps may lie.
    sure: float = 2.0

    # By what part of itself the total curvature may change from one tree to the next (standard deviation).
    level_drift: float = 0.01

    # Variance of leaves' curvatures relative to their squared mean: no release of a tree is believed to show more.
    most_scatter: float = 2.0


@dataclass(frozen=True)
class Scoring:
    """Newton's steps of several scores (:mod:`tacit.growing.score_leaves`)."""

    # Prior variance of a leaf's step before anything is known, relative to the plan's; it never falls below the second
    # number times this first one.
    first_prior: float = 0.25
    least_prior: float = 0.02

    # What earlier trees tell about the prior counts for less and less: trees use up what there is to find.
    memory: float = 0.97


@dataclass(frozen=True)
class Kernel:
    """Trees that are averaged as a kernel (:mod:`tacit.growing.kernel_trees`)."""

    # The largest norm of a row's contribution, and by how much its curvature is scaled to share the noise.
    clip: float = 0.55
    hessian_scale: float = 0.87

    # A leaf holds about so many times ``1 / mu**2`` rows: there noise and the rows' own variation are of a size.
    rows_of_noise: float = 20.0

    least_depth: float = 3.0
    most_depth: float = 9.0

    # The prior variance of a score (log-odds squared) is never larger.
    most_variance: float = 2.0

    # Levels of a tree at which the variance of what is left over is seen: deeper, noise hides it.
    coarse_levels: int = 7

    # So many trees tell how much is left over; later ones have taken part of it themselves.
    informative: int = 100

    # No more trees than release so many numbers, unless all of them are needed for that.
    most_numbers: float = 1e6

    # A point's prior variance relative to the variance of the means of leaves: what two rows of one leaf have in common
    # is little of what deep trees of other columns can tell of each.
    of_a_point: float = 40.0


@dataclass(frozen=True)
class Tracing:
    """How much of a sum of trees is noise (:mod:`tacit.growing.tree_noise`)."""

    # Rows, and how often noise is run through the rounds.
    simulated_rows: int = 1500
    runs: int = 6

    # How far a sum of weighted gradients answers to noise in the scores, relative to its released curvature. Over rows
    # whose scores are right it would be all the way; rows are not, and leaves of other trees hold others than noise
    # moved.
    answered: float = 0.7

    # Sums nearer to 0 than this many standard deviations tell little of the answer to them: the tree's median stands
    # in.
    least_sum: float = 0.25


@dataclass(frozen=True)
class Softmax:
    """Of several classes (:mod:`tacit.growing.softmax`)."""

    # Logarithms of class sizes are thought to scatter this much.
    class_spread: float = 1.2

    # Weight of the curvature beside the gradient in a leaf of a tree, in units of 1/256: about .3.
    tree_curvature: int = 77


@dataclass(frozen=True)
class Gradient:
    """Of gradient trees (:mod:`tacit.growing.gradient_trees`)."""

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
class Base:
    """Of the base rate and the intercept (:mod:`tacit.growing.gradient_trees`)."""

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
class Growing:
    """All of them."""

    cutting: Cutting = Cutting()
    stepping: Stepping = Stepping()
    newton: Newton = Newton()
    scoring: Scoring = Scoring()
    kernel: Kernel = Kernel()
    tracing: Tracing = Tracing()


CUTTING, STEPPING, NEWTON, KERNEL = Cutting(), Stepping(), Newton(), Kernel()
TRACING, SOFTMAX, GROWING = Tracing(), Softmax(), Growing()
GRADIENT, BASE = Gradient(), Base()
"""As they were chosen."""
