"""All numbers by which the flagship is tuned, each with its unit and the reason for it.

``python -m tools.fit_planning_rule --choices NAME`` chose them on synthetic tables, where a comment does not name real
ones; ``docs/planning.md`` has the outcome. ``python -m tools.real_tables --vary GROUP.NAME=VALUE`` judges a change on
real tables. Numbers of proofs (units of integers, bounds that a sensitivity rests on) are not here: nobody may tune
them. A learner takes a :class:`Tuning`; vary one by ``replace(Tuning(), planning=replace(Planning(), sweeps=9))``.

``q = n mu / sqrt(d)`` is the signal-to-noise ratio of ``n`` rows and ``d`` columns, and ``mu`` that of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.binning.tuning import BINNING, Binning
from tacit.growing.tuning import GRADIENT, GROWING, Gradient, Growing


@dataclass(frozen=True)
class Planning:
    """How the budget is divided (:mod:`tacit.additive.planner`); shares are of ``mu**2``, at delta 0 of epsilon."""

    binning_share: float = 0.12  # number of rows and bins

    # Numbers of sweeps.
    sweeps: int = 24  # over the columns
    noisy_sweeps: int = 6  # the same for two classes below pairs_from, where the model hardly moves
    joint_sweeps: int = 12  # over columns and pairs together
    converging_from: float = 10_000.0  # q from which sweeps over very many rows end by themselves
    pure_sweeps: int = 2  # at delta 0, where noise grows with the number of releases (sixty tables)
    pure_clear_sweeps: int = 4  # the same where pairs are tried
    pure_joint_sweeps: int = 3

    # At delta 0 what counts is rows times epsilon, per column (sixty tables).
    pure_trees_upto: float = 50.0  # below, trees alone learn two classes
    pure_pairs_from: float = 2000.0  # from here there are more sweeps, and pairs
    pure_counting: float = 0.01  # share for the number of rows, where that is private and decides

    # Pairs.
    pairs_from: float = 140.0  # q from which they are tried
    before_pairs: float = 0.35  # share of the columns before pairs
    screening: float = 0.1  # looking for pairs
    pair_counting: float = 0.05  # counts of the pairs found

    # Newton trees: a row is in one leaf of a tree, so the noise does not grow with the number of columns.
    trees_from: float = 900.0  # n mu from which there are any
    trees_full: float = 3000.0  # n mu from which they have
    largest_tree_share: float = 0.5
    tree_part: float = 0.7  # of what is left after columns and looking for pairs (rich tables)

    # Averaged trees (sixty tables and the sets of the accuracy page).
    averaged_from: float = 700.0  # n mu from which they may follow columns and pairs
    clear_first_part: float = 0.15  # share of the columns before pairs from trees_full on (rich tables)
    trees_explained_from: float = 0.9  # variance of scores (squared log-odds) from which those of two classes follow
    tree_noise: float = 0.33  # standard deviation of the noise that they leave in a score (log-odds)
    kernel_trees: int = 150
    kernel_upto: float = 10.0  # mu; beyond, noise is next to nothing, and Newton trees fit more closely

    # Newton trees: how many, and how far a tree steps towards the posterior mean, by q.
    trees: int = 400  # up to fast_from
    most_trees: int = 1000  # from clear_from
    least_trees: int = 32
    tree_rows: float = 6.4e7  # trees times rows, at most
    slow_upto: float = 2000.0
    fast_from: float = 5000.0
    clear_from: float = 20_000.0
    slow_tree_rate: float = 0.12  # up to slow_upto
    tree_rate: float = 0.25  # from fast_from
    least_tree_prior: float = 0.006  # variance of steps, never thought smaller (squared log-odds)
    random_enough: float = 0.003  # variance of steps below which trees end where rows are very many
    enough: float = 0.01  # the same where columns explain much, and of trees that choose, as each takes longer

    # The intercept's share of the budget is min(care / m**2, doubt / m, largest), with m = n mu.
    intercept_care: float = 300.0
    intercept_doubt: float = 4.0
    largest_intercept_part: float = 0.5

    columns_per_tree: int = 6  # pairs and columns know already what few columns say

    # Trees of very many rows whose splits are chosen: one release of theirs replaces many of random trees.
    choice_from: float = 100_000.0  # n mu
    choice_share: float = 0.6  # of the trees' share, for the choices
    choosing_trees: int = 64  # at least
    most_choosing_trees: int = 256
    choosing_rows: float = 2e8  # trees times rows, at most
    trees_by_root: float = 0.2  # trees per root of n mu
    choosing_depth: int = 6
    choosing_rate: float = 0.45  # of the way to the posterior mean

    # More sweeps where no trees follow and noise is little, between two q.
    patient_from: float = 400.0
    patient_full: float = 20_000.0
    most_sweeps: int = 200
    most_swept: int = 6000  # releases of columns: each is an entry of the ledger

    deep_from: tuple[float, ...] = (2500.0, 10000.0)  # q for six levels, and for seven where rows are not very many

    # Signal-to-noise below which probabilities may be worse than the class shares alone (docs/planning.md).
    sure_from: float = 70.0  # q
    pure_sure_from: float = 100.0  # q / sqrt(d), at delta 0
    trees_sure_from: float = 700.0  # rows over the noise of one number, where trees alone are learned


@dataclass(frozen=True)
class Sweeping:
    """How sweeps go, and the prior of effects (:mod:`tacit.additive.sweeps`)."""

    # Sweeps before which the loss releases the size of contributions again.
    refreshed: tuple[int, ...] = (0, 1, 3, 7, 15)
    refreshed_later: tuple[int, ...] = (0, 4)  # of the joint sweeps

    # Share of the way from the current effect to the posterior mean that one step goes.
    step: float = 0.5
    long_step: float = 0.9  # with at most few_sweeps
    few_sweeps: int = 6

    equal_part: float = 0.4  # of the sweeps, in which all terms have equal shares
    least_share: float = 0.25  # of a term's release later, relative to an equal one
    converged: float = 0.04  # sweeps end once scores move by less than this part of what they vary by

    likely_variance: float = 1.0  # prior variance of a table's scores, all columns together (sixty tables)
    unlikely: float = 1.5  # standard deviation of the logarithm of a column's part of it
    pseudo_terms: float = 3.0  # weight of that prior, in terms
    simulated_rows: int = 512  # to see how scores are spread


@dataclass(frozen=True)
class Expecting:
    """How large effects are that the schema expects (:mod:`tacit.additive.public_prior`), in log-odds."""

    likely: float = 0.5  # standard deviation of the scores that expected effects make, before anything is released
    doubt: float = 0.5  # of that
    spread: float = 0.5  # standard deviation of a column's size around the common one


@dataclass(frozen=True)
class Pairing:
    """How pairs are looked for and learned (:mod:`tacit.additive.pairs`)."""

    groups: int = 8  # of each column of a pair, at most

    screened_columns: int = 14  # of largest variance
    screened_clearly_from: float = 10_000.0  # q from which there are
    screened_clearly: int = 32

    pairs_per_column: float = 2.0  # learned, at most
    least_most_pairs: int = 3  # that limit is at least this
    least_evidence: float = 3.0  # log-likelihood ratio of a pair to noise: of many, some pass by chance
    least_count: float = 0.02  # rows of a cell, relative to what its margins say

    # Two priors of an interaction: how much of its sides' means it keeps, and the variance of each cell by itself.
    priors: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.3, 0.05))

    screen_scales: tuple[float, ...] = (0.03, 0.06, 0.12, 0.25, 0.5)  # sizes of an interaction (log-odds)
    screen_modes: int = 5  # directions of each ordered side that a screening releases: fewer have less noise,
    mode_scale: float = 0.3  # and are chosen for an interaction of this size


@dataclass(frozen=True)
class Clipping:
    """How rows are bounded together over a sweep (:mod:`tacit.additive.joint_clipping`)."""

    joint_below: float = 20_000.0  # q; with less noise, weighing rows costs more time than it saves
    tightness: float = 0.6  # limit of a row's squared length, relative to the expected one (at delta 0: sixty tables)
    simulated_rows: int = 4000  # to see what is expected


@dataclass(frozen=True)
class Counting:
    """How classes are counted, where there are several (:class:`tacit.additive.losses.SoftmaxLoss`).

    The share is ``care * noise`` within two bounds, with ``noise`` that of all counts, per row. At delta 0, where the
    variance of a count goes with one over its squared share, ``pure_care * noise**(2 / 3)`` makes what counts and
    columns lose together least.
    """

    least_counted: float = 0.02
    most_counted: float = 0.05
    counting_care: float = 0.7
    pure_care: float = 2.0
    pure_counted: float = 0.5  # at most

    moves: float = 0.25  # variance by which constants move while effects are learned


@dataclass(frozen=True)
class Residuals:
    """How residuals of numbers are looked at and clipped (:mod:`tacit.additive.residual_loss`)."""

    least_scale: float = 1 / 256  # unit of the score, as a part of the declared range
    usual_inside: float = 0.9  # rows within the clip, before residuals are seen
    least_within: float = 0.02  # rows within a quantile's window, at least
    tree_curvature: float = 0.3  # weight of the curvature beside the gradient in a leaf, relative to the clip

    # What histograms cost.
    looking: float = 0.06  # share of the budget of all of them
    levelling: float = 0.04  # and of the mean of the residuals when all else is learned
    looks: int = 12  # parts of that share,
    first_look: int = 4  # of which the histogram of the target has so many,
    seen: float = 12.0  # and more where rows would not be so many times its noise,
    most_seen: float = 0.2  # up to this share of the budget
    pure_seen: float = 40.0  # at delta 0: rows times epsilon times the share of a histogram,
    pure_looking: float = 0.4  # as far as all have at most this share, and that of the target half of it

    start_bits: int = 6  # the histogram of the target has 2**start_bits cells
    windows: tuple[float, ...] = (0.15, 0.2, 0.3, 0.45, 0.65, 1.0)  # half-widths for quantiles, in mean residuals
    skew: float = 0.25  # how much of what is clipped off in all counts as bias, beside what one side has more
    level_noise: float = 0.05  # standard deviation of the mean residual's noise, in units of the score
    likely_level: float = 0.05  # how large that mean is thought to be
    tree_noise: float = 0.45  # that kernel trees leave in a score, relative to its residuals and to that of log-odds
    most_left_over: float = 0.2  # of the residuals' variance, for kernel trees
    least_inside: float = 0.3  # rows within the squared loss's clip: noise would make narrower ones look cheap


@dataclass(frozen=True)
class LogLinked:
    """How the losses with a log link begin (:mod:`tacit.additive.log_link_loss`)."""

    first_octaves: int = 20  # doublings below the upper bound that the histogram of the target tells apart
    octaves: int = 16  # the same of residuals
    least_ratio: float = 1 / 32  # of the mean to the standard deviation
    most_ratio: float = 32.0
    looks_from: float = 100.0  # rows that are not 0, over the noise of a histogram of residuals
    most_noise: float = 0.6  # that kernel trees leave in the logarithm of a mean
    lasting: float = 0.5  # how much of what a clip cuts off counts beside noise: the level is mended at the end,
    surprise: float = 3.0  # where it is believed to be other than was thought from so many standard deviations on,
    largest_fall: float = 0.9  # and falls by at most this part
    least_kept: float = 0.5  # of what lies above the mean, by a clip


@dataclass(frozen=True)
class TargetShapes:
    """The prior of the targets' distribution (:mod:`tacit.additive.target_shapes`); not in :class:`Tuning`."""

    # Of all losses without a log link: normal laws, and log-normal ones.
    places: int = 33  # of the middle between the bounds
    sds: tuple[float, ...] = (0.004, 0.008, 0.016, 0.03, 0.06, 0.09, 0.13, 0.18, 0.25, 0.4)  # relative to the range
    medians: int = 15  # half a doubling apart
    log_sds: tuple[float, ...] = (0.4, 0.8, 1.3)

    # Under a log link: zeros beside a log-normal or a gamma law, whose tail is lighter.
    zeros: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97, 0.99, 0.997)  # parts of the rows
    widths: tuple[float, ...] = (0.25, 0.5, 0.8, 1.2, 1.8)  # standard deviations of the logarithm
    orders: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)  # of the gamma law
    expected: float = 0.0003  # mean, relative to the upper bound: bounds are wide
    factor: float = 16.0  # by which that may well be off

    misfit: float = 0.3  # of what a cell holds: no target has one of the shapes exactly
    sure: float = 2.0  # standard deviations of noise by which a count must leave the shape to be believed
    linked_sure: float = 3.0  # under a log link, where the uppermost cells hold most of a mean


@dataclass(frozen=True)
class ResidualShapes:
    """The prior of the residuals' distribution (:mod:`tacit.additive.residual_loss`); not in :class:`Tuning`."""

    narrower: float = 0.7  # scale of the Laplace and the heavy-tailed law beside the normal one
    one_sided_middle: float = 1.2  # of the one-sided law, in its scales
    centres: tuple[float, ...] = (-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0)  # of all others
    misfit: float = 0.1  # as in TargetShapes
    sure: float = 3.0
    expected: float = 0.7  # scale, in units of the score
    factor: float = 2.5
    belief: float = 3.0  # log-likelihood that earlier histograms keep, because residuals change


@dataclass(frozen=True)
class Effects:
    """Effects of one column (:mod:`tacit.additive.posterior`, :mod:`tacit.additive.term`); not in :class:`Tuning`."""

    largest: float = 4.0  # effect of a bin (log-odds)

    # Weights of the covariances that an effect may have.
    straight: tuple[float, float] = (0.9, 0.1)  # of a linear and a cubic spline
    curved: tuple[float, float] = (0.3, 0.7)
    rough: tuple[float, float] = (0.2, 0.8)  # of a linear spline and a random walk

    # Of a row of two classes where no class is rare.
    typical_scatter: float = 0.35  # variance of what it contributes
    mode_curvature: float = 0.35  # as far as it is known beforehand

    least_curvature: float = 0.02  # of scores


@dataclass(frozen=True)
class Intercepts:
    """How the intercept is found (:mod:`tacit.additive.intercept`); not in :class:`Tuning`."""

    least_curvature: float = 0.005  # of two classes; the same of scatter
    variance: float = 6.0  # prior of the intercept (squared log-odds)
    pure_variance: float = 0.3  # the same of a number at delta 0: its first histogram is sure, and sweeps are few
    largest: float = 6.0  # intercept
    largest_excess: float = 0.97  # of one class over the other, per row, in the closed form of the first step
    well_known: float = 0.1  # posterior standard deviation (log-odds) from which Newton steps are enough
    one_sided: float = 0.4  # of the most that contributions could add up to: beyond, rows lie on one side,
    no_doubt: float = 4.0  # by so many standard deviations of noise
    least_doubt: float = 0.2  # about the intercept, of a sum of clipped numbers: a narrow clip looks exact and is not
    longest_bracket: float = 4.0  # bracketing step


@dataclass(frozen=True)
class Tuning:
    """All of them."""

    planning: Planning = Planning()
    sweeping: Sweeping = Sweeping()
    expecting: Expecting = Expecting()
    pairing: Pairing = Pairing()
    clipping: Clipping = Clipping()
    counting: Counting = Counting()
    residuals: Residuals = Residuals()
    binning: Binning = BINNING
    growing: Growing = GROWING
    gradient: Gradient = GRADIENT


PLANNING, SWEEPING, CLIPPING = Planning(), Sweeping(), Clipping()
COUNTING, RESIDUALS, TUNING = Counting(), Residuals(), Tuning()
LOG_LINKED, TARGET_SHAPES, RESIDUAL_SHAPES = LogLinked(), TargetShapes(), ResidualShapes()
EFFECTS, INTERCEPTS = Effects(), Intercepts()  # as they were chosen
