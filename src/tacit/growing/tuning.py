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

    tries: int = 4  # of a node, to find a column that can still be cut there
    missed_pairs: float = 0.05  # chance that no tree has cut both of two columns, at which there are enough trees

    # Columns that a tree which chooses its splits may cut: they cost time alone.
    most_columns: int = 20
    least_columns: int = 6
    wide_upto: float = 300_000.0  # rows up to which it may cut most_columns


@dataclass(frozen=True)
class Stepping:
    """Steps of leaves of every kind (:mod:`tacit.growing.newton_trees`)."""

    largest_step: float = 2.0  # of a leaf (log-odds)
    first_variance: float = 0.02  # of the leaves' true steps, before the first tree
    first_spread: float = 0.05  # standard deviation of that


@dataclass(frozen=True)
class Newton:
    """Newton's steps (:mod:`tacit.growing.newton_trees`)."""

    variance_drift: float = 0.001  # standard deviation of the change of the steps' variance from tree to tree
    rows_variation: float = 0.5  # of the rows' own variation, still in the residuals: between none and all of it
    within_leaves: float = 4.0  # variance of a point relative to its leaf's mean: most differs within leaves
    largest_prior: float = 1.0  # variance of steps
    sure: float = 2.0  # standard deviations above the estimate, up to which the steps' variance may lie
    level_drift: float = 0.01  # standard deviation of the total curvature's relative change from tree to tree
    least_curvature: float = 0.05  # of a leaf, relative to the mean one
    most_scatter: float = 2.0  # variance of the leaves' curvatures, relative to their squared mean


@dataclass(frozen=True)
class Scoring:
    """Newton's steps of several scores (:mod:`tacit.growing.score_leaves`)."""

    first_prior: float = 0.25  # variance of a leaf's step before anything is known, relative to the plan's
    least_prior: float = 0.02  # it never falls below this part of that
    memory: float = 0.97  # of what earlier trees say about the prior: trees use up what there is to find


@dataclass(frozen=True)
class Kernel:
    """Trees that are averaged as a kernel (:mod:`tacit.growing.kernel_trees`)."""

    clip: float = 0.55  # largest norm of a row's contribution
    hessian_scale: float = 0.87  # of its curvature, which shares the noise
    rows_of_noise: float = 20.0  # of a leaf, times mu**2: there noise and the rows' own variation are of a size
    least_depth: float = 3.0
    most_depth: float = 9.0
    most_variance: float = 2.0  # prior variance of a score (squared log-odds)
    coarse_levels: int = 7  # of a tree, at which the variance of the remainder is seen: deeper, noise hides it
    informative: int = 100  # trees that say how much remains; later ones have taken part of it themselves
    most_numbers: float = 1e6  # released by all trees together, unless informative ones need more
    bold_after: int = 20  # trees of two classes that show that more than
    bold_from: float = 2.0  # this variance of a score is left over (squared log-odds), so that later ones step further,
    boldest: float = 4.0  # in proportion to its square, up to so many times as far as noise allows otherwise
    of_a_point: float = 40.0  # variance of a point relative to the leaves' means: deep trees of other columns add much


@dataclass(frozen=True)
class Tracing:
    """How much of a sum of trees is noise (:mod:`tacit.growing.tree_noise`)."""

    simulated_rows: int = 1500
    runs: int = 6  # of noise alone through the rounds
    answered: float = 0.7  # of noise in the scores, by a sum: were scores right it would be all
    least_curvature: float = 0.05  # of a leaf, relative to the mean one
    least_sum: float = 0.25  # standard deviations of noise; the median stands in for what smaller sums answer


@dataclass(frozen=True)
class Softmax:
    """Of several classes (:mod:`tacit.growing.softmax`)."""

    class_spread: float = 1.2  # standard deviation of the logarithms of class sizes
    tree_curvature: int = 77  # weight of the curvature beside the gradient in a leaf, in units of 1/256: about .3


@dataclass(frozen=True)
class Gradient:
    """Of gradient trees (:mod:`tacit.growing.gradient_trees`)."""

    # Shares of the budget.
    bins_share: float = 0.09  # histograms, where they are bought
    signal_for_bins: float = 600.0  # rows times epsilon per column from which they are at delta 0, where noise is dear
    rows_share: float = 0.005  # number of rows
    pure_rows_share: float = 0.06
    intercept_share: float = 0.005  # each of intercept_steps
    pure_intercept_share: float = 0.01
    intercept_steps: int = 2

    # By the signal, rows relative to the noise. Below faint, scores stay near 0: curvatures say little, so the clip
    # leaves them little room, and trees that cut fewer columns say more of each. From clear, noise hardly matters.
    faint: float = 300.0
    deeper_from: float = 1500.0  # 5 levels instead of 4
    deepest_from: float = 6000.0  # 6 levels, and more_trees
    clear: float = 100_000.0
    clip: float = 0.53  # largest norm of a row's contribution
    faint_clip: float = 0.505
    trees: int = 500
    more_trees: int = 700
    rate: float = 0.1  # of the way to the posterior mean
    faint_rate: float = 0.12
    clear_rate: float = 0.17
    prior: float = 0.5  # variance of a step (squared log-odds)
    faint_prior: float = 1.0
    deep_prior: float = 0.2  # from deepest_from to clear

    # Where rows are very many, and from clear, splits are chosen; elsewhere random trees see as much for nothing.
    choice_share: float = 0.5  # of the trees' budget
    choosing_trees: int = 150
    least_choosing_trees: int = 64
    choosing_rows: float = 1e8  # trees times rows, at most
    choosing_depth: int = 6
    choosing_rate: float = 0.22  # of the way to the posterior mean with choosing_trees; further with fewer
    enough: float = 0.006  # variance of steps (squared log-odds) surely below which trees end

    # Laplace noise grows with the number of trees: ``factor * signal**power`` of them, with signal rows times epsilon.
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

    binning: TreeBinning = TREE_BINNING


@dataclass(frozen=True)
class Base:
    """Of the base rate and the intercept (:mod:`tacit.growing.gradient_trees`)."""

    largest_difference: float = 0.96  # of the classes, per row, where the base rate's log-odds follow from it
    near_start: float = 0.2  # size of scores up to which all rows contribute as they did at the start
    rate_prior: float = 1.0  # variance of the base rate's log-odds
    intercept_prior: float = 0.5  # variance of the correction once trees are there
    largest: float = 6.0  # intercept (log-odds)
    largest_step: float = 2.0  # of it
    least_curvature: float = 0.02  # of a row; or half of that at the base rate where less: a step divides by it


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
GRADIENT, BASE = Gradient(), Base()  # as they were chosen
