"""All numbers by which the flagship is tuned: what each is, its unit, and why it is what it is.

They were chosen on synthetic tables by ``tools/fit_planning_rule.py``; ``docs/planning.md`` has the outcome. Numbers of
proofs (units of integers, bounds that a sensitivity rests on) are not here: nobody may tune them. A learner takes a
:class:`Tuning`; a number is varied by ``replace(Tuning(), planning=replace(Planning(), kernel_from=800.0))``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.binning.tuning import BINNING, Binning
from tacit.growing.tuning import GRADIENT, GROWING, Gradient, Growing


@dataclass(frozen=True)
class Planning:
    """How the budget is divided (:mod:`tacit.additive.planner`)."""

    binning_share: float = 0.12

    # Sweeps over the columns, and over columns and pairs together; few of pure privacy, whose noise grows with their
    # number, and few below a signal-to-noise ``q`` where the model hardly moves.
    sweeps: int = 24
    noisy_sweeps: int = 6
    noisy_below: float = 70.0
    joint_sweeps: int = 12
    pure_sweeps: int = 2
    pure_clear_sweeps: int = 4
    pure_joint_sweeps: int = 3

    # At delta 0 what counts is rows times epsilon, per column: two classes are learned by trees alone up to the first,
    # and from the second on there are more sweeps, and pairs of any loss are tried. Where the number of rows is
    # private, finding it costs this share first.
    pure_trees_upto: float = 50.0
    pure_pairs_from: float = 2000.0
    pure_counting: float = 0.01

    # Signal-to-noise ``q = n mu / sqrt(d)`` from which pairs are tried, and at which they get their full share.
    pairs_from: float = 140.0
    pairs_full: float = 1000.0

    # The same for trees, in ``n mu``: a row pays for its one leaf of a tree, however many columns there are.
    trees_from: float = 900.0
    trees_full: float = 3000.0
    largest_tree_share: float = 0.5

    # ``n mu`` from which averaged trees may follow the columns of two classes; what columns get before; and the
    # variance of their scores (squared log-odds) from which trees follow: below, pairs and columns have the rest.
    averaged_from: float = 700.0
    first_part: float = 0.3
    trees_explained_from: float = 0.9

    # The same for trees of several classes or numbers, whose splits are random where rows are not very many: deep ones
    # that are averaged as a kernel.
    kernel_from: float = 400.0
    kernel_full: float = 2000.0

    # Their full share at the first ``mu``, and from the second on, where a few rows in a leaf exceed its noise; by the
    # logarithm between them, and below, down to nothing where a leaf must hold many.
    noisy_mu: float = 0.25
    clear_mu: float = 1.5
    kernel_share: float = 0.3
    largest_kernel_share: float = 0.6

    # They go so far that noise leaves about this standard deviation in a score (log-odds).
    tree_noise: float = 0.33

    # How many of them; and the ``mu`` beyond which noise is next to nothing: Newton trees fit more closely there.
    kernel_trees: int = 150
    kernel_upto: float = 10.0

    # Trees are as deep as bins are fine, which takes at least this part of the budget.
    least_binning_share: float = 0.05

    # How many up to ``fast_from``, from ``clear_from`` on, and where rows are very many; and the most trees times rows.
    trees: int = 400
    most_trees: int = 1000
    least_trees: int = 32
    tree_rows: float = 6.4e7

    # How far a tree steps towards the posterior mean from ``fast_from`` on, and up to ``slow_upto``.
    tree_rate: float = 0.25
    slow_tree_rate: float = 0.12

    # Signal-to-noise up to which trees step slowly, from which they step far, and from which there are as many as help.
    slow_upto: float = 2000.0
    fast_from: float = 5000.0
    clear_from: float = 20_000.0

    # Trees learn the variance of their steps; it is never thought smaller than this (log-odds squared).
    least_tree_prior: float = 0.006

    # Where rows are very many, trees end once steps are surely smaller than that; each that chooses takes longer.
    random_enough: float = 0.003
    choosing_enough: float = 0.01

    # The intercept's part of the budget is the first over the squared signal-to-noise of all rows, at most the
    # second over that signal-to-noise, and at most the third.
    intercept_care: float = 300.0
    intercept_doubt: float = 4.0
    largest_intercept_part: float = 0.5

    # How many columns a tree may cut, as columns and pairs know already what few columns say.
    columns_per_tree: int = 6

    # Signal-to-noise ``n mu`` from which trees of very many rows choose their splits, and what of theirs goes to that.
    choice_from: float = 100_000.0
    choice_share: float = 0.6

    # Such trees see in one look what random ones need many for, so there are fewer: at least, at most, how many times
    # the rows at most, and relative to the root of ``n mu``; their levels, and how far they step to the posterior mean.
    choosing_trees: int = 64
    most_choosing_trees: int = 256
    choosing_rows: float = 2e8
    trees_by_root: float = 0.2
    choosing_depth: int = 6
    choosing_rate: float = 0.45

    # Signal-to-noise ``q`` from which, and up to which, sweeps grow in number where no trees follow: how many there are
    # then, and how many releases of columns at most, as each is an entry of the ledger.
    patient_from: float = 400.0
    patient_full: float = 20_000.0
    most_sweeps: int = 200
    most_swept: int = 6000

    # Signal-to-noise from which trees have six levels instead of five, and (unless rows are very many) seven.
    deep_from: tuple[float, ...] = (2500.0, 10000.0)

    # Signal-to-noise below which probabilities may be worse than the class shares alone (``docs/planning.md``): ``q``;
    # at delta 0, where noise goes with the number of columns and not with its root, ``q / sqrt(d)``, and where trees
    # are learned in place of columns, the rows relative to the noise of one number.
    sure_from: float = 70.0
    pure_sure_from: float = 100.0
    trees_sure_from: float = 700.0


@dataclass(frozen=True)
class Sweeping:
    """How sweeps go, and what effects are thought to look like beforehand (:mod:`tacit.additive.sweeps`)."""

    # Sweeps before which the loss looks again at the size of contributions: of the first ones, and of later ones.
    refreshed: tuple[int, ...] = (0, 1, 3, 7, 15)
    refreshed_later: tuple[int, ...] = (0, 4)

    # Share of the way from the current effect to the posterior mean that one step goes; long where sweeps are few.
    step: float = 0.5
    long_step: float = 0.9
    few_sweeps: int = 6

    # Part of the sweeps after which shares follow what is known of the terms, and the least share of a term's release,
    # relative to equal ones (``tacit.additive.sweeps``).
    equal_part: float = 0.4
    least_share: float = 0.25

    # Effects have converged when a sweep moves scores by less than this part of what they vary by.
    converged: float = 0.04

    # What the variance of a table's scores is thought to be before anything is known, all columns together; and by
    # how much, in natural logarithms, a column's share of it may well be off.
    likely_variance: float = 1.0
    unlikely: float = 1.5

    # How many terms of a kind count for as much as what is thought of them beforehand; and how many rows are simulated
    # to see how scores of the model are spread.
    pseudo_terms: float = 3.0
    simulated_rows: int = 512


@dataclass(frozen=True)
class Pairing:
    """How pairs are looked for and learned (:mod:`tacit.additive.pairs`)."""

    # Each column of a pair is merged to at most this many groups.
    groups: int = 8

    # Pairs are screened among this many columns of largest variance; from this signal-to-noise ``q`` on, so many more.
    screened_columns: int = 14
    screened_clearly_from: float = 10_000.0
    screened_clearly: int = 32

    # At most so many pairs are learned for each column of the table, and so many however few columns there are.
    pairs_per_column: float = 2.0
    least_most_pairs: int = 3

    # A pair must be this much likelier (in logarithms) than noise: of many, some pass by chance.
    least_evidence: float = 3.0

    # How large an interaction may be (log-odds), and how many directions of each ordered side a screening releases at
    # most, chosen for one of the last size: what is not smooth hides from it, and the rest is found with less noise.
    screen_scales: tuple[float, ...] = (0.03, 0.06, 0.12, 0.25, 0.5)
    screen_modes: int = 5
    mode_scale: float = 0.3


@dataclass(frozen=True)
class Clipping:
    """How rows are bounded together over a sweep (:mod:`tacit.additive.joint_clipping`)."""

    # Signal-to-noise up to which it is done: with less noise weighing rows costs more time than it saves.
    joint_below: float = 20_000.0

    # The limit on a row's squared length, relative to what is expected of it: longer rows are shortened. And how many
    # rows are drawn from the released bins, each column by itself, to see what is to be expected.
    tightness: float = 0.6
    simulated_rows: int = 4000


@dataclass(frozen=True)
class Counting:
    """How classes are counted, where there are several (:class:`tacit.additive.losses.SoftmaxLoss`)."""

    # Counting the classes takes this part of the budget: between the two, and between them in proportion to the
    # number of classes and to the noise in one count per row.
    least_counted: float = 0.02
    most_counted: float = 0.05
    counting_care: float = 0.7

    # At delta 0, where the variance of a count goes with one over its share squared: the share is the first times the
    # noise to the power 2 / 3, which makes what counts and columns lose together least, at most the second.
    pure_care: float = 2.0
    pure_counted: float = 0.5

    # Variance by which constants move while effects are learned.
    moves: float = 0.25


@dataclass(frozen=True)
class Residuals:
    """How residuals of numbers are looked at and clipped (:mod:`tacit.additive.residual_loss`)."""

    # The unit of the score is at least this part of the declared range.
    least_scale: float = 1 / 256

    # What looking at residuals may cost is divided by the first; the look at the targets counts for the second.
    looks: int = 12
    first_look: int = 4

    # The look at the targets gets so much of the budget that rows, relative to its noise, are the first, up to the
    # second. At delta 0 a look gets so much that rows times epsilon times its share are the third, as far as all
    # looks together have at most the fourth, of which the look at the targets may have a half.
    seen: float = 12.0
    most_seen: float = 0.2
    pure_seen: float = 40.0
    pure_looking: float = 0.4

    # The first look has ``2**start_bits`` cells. Half-widths of the window of the quantile loss, relative to the mean
    # size of the residuals.
    start_bits: int = 6
    windows: tuple[float, ...] = (0.15, 0.2, 0.3, 0.45, 0.65, 1.0)

    # How much of what is clipped off in all counts as bias, beside what is clipped off on one side only.
    skew: float = 0.25

    # Shares of the budget: of all looks at residuals, and of one at their mean when all else is learned.
    looking: float = 0.06
    levelling: float = 0.04

    # The standard deviation of noise that this mean may have, in units of the score, and how large it is thought to be.
    level_noise: float = 0.05
    likely_level: float = 0.05

    # The noise that kernel trees may leave in a score, relative to its residuals, and to the same of log-odds; they
    # never think that more of the residuals' variance is left for them than the second.
    tree_noise: float = 0.45
    most_left_over: float = 0.2

    # The squared loss's clip leaves this share of the rows unclipped or more: what lets fewer count costs more than its
    # noise saves, and noise in the histogram would make it look cheap.
    least_inside: float = 0.3


@dataclass(frozen=True)
class Linked:
    """How the losses with a log link begin (:mod:`tacit.additive.log_link_loss`)."""

    # Cells of histograms of the target, and of residuals: so many doublings below the upper bound. The mean is thought
    # to be at least and at most so large beside the standard deviation.
    first_octaves: int = 20
    octaves: int = 16
    least_ratio: float = 1 / 32
    most_ratio: float = 32.0

    # Rows whose target is not 0, in standard deviations of the noise of a look at residuals, from which there are such
    # looks; and the most noise that kernel trees leave in the logarithm of a mean.
    looks_from: float = 100.0
    most_noise: float = 0.6

    # How much of what a clip cuts off counts beside noise: the rest is a loss of the level, which is mended at the end;
    # there it is believed to be other than was thought from so many standard deviations of noise.
    lasting: float = 0.5
    surprise: float = 3.0

    # A clip leaves at least this part of what lies above the mean.
    least_kept: float = 0.5


@dataclass(frozen=True)
class Spreads:
    """How targets are thought to be spread (:mod:`tacit.additive.target_shapes`); not in :class:`Tuning`."""

    # Of targets of all other losses: places of a normal law between the bounds and its standard deviations, relative to
    # their range; medians of a log-normal one, half a doubling apart, and standard deviations of the logarithm.
    places: int = 33
    sds: tuple[float, ...] = (0.004, 0.008, 0.016, 0.03, 0.06, 0.09, 0.13, 0.18, 0.25, 0.4)
    medians: int = 15
    log_sds: tuple[float, ...] = (0.4, 0.8, 1.3)

    # Under a log link: parts of the rows that are 0, and of all others standard deviations of the logarithms, or the
    # orders of a gamma law, whose tail is lighter.
    zeros: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97, 0.99, 0.997)
    widths: tuple[float, ...] = (0.25, 0.5, 0.8, 1.2, 1.8)
    orders: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)

    # The mean is thought about the first large relative to the upper bound, by a factor of the second: bounds are wide.
    expected: float = 0.0003
    factor: float = 16.0

    # No target has one of the shapes exactly: a cell is believed to this part of what it holds. Standard deviations of
    # noise by which a count must leave the outline to be believed, and then only beyond them; under a log link, where
    # the uppermost cells hold most of a mean, the last.
    misfit: float = 0.3
    sure: float = 2.0
    linked_sure: float = 3.0


@dataclass(frozen=True)
class Outlines:
    """What residuals are thought to look like (:mod:`tacit.additive.residual_loss`). Not a part of :class:`Tuning`."""

    # Where a shape's middle may lie, in its own scales.
    centres: tuple[float, ...] = (-1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0)

    # Standard deviations of noise by which a count must leave the outline to be believed, and then only beyond them.
    sure: float = 3.0

    # Residuals are thought about the first large in units of the score, by a factor of the second.
    expected: float = 0.7
    factor: float = 2.5

    # What earlier looks tell is believed up to so many units of log-likelihood, because residuals change.
    belief: float = 3.0


@dataclass(frozen=True)
class Effects:
    """Effects of one column (:mod:`tacit.additive.posterior`, :mod:`tacit.additive.term`); not in :class:`Tuning`."""

    # No effect of a bin is larger (log-odds).
    largest: float = 4.0

    # Of a row of two classes where no class is rare: variance of what it contributes, and the curvature, as far as it
    # is known beforehand.
    typical_scatter: float = 0.35
    mode_curvature: float = 0.35

    # No curvature of scores is thought smaller.
    least_curvature: float = 0.02


@dataclass(frozen=True)
class Intercepts:
    """How the intercept is found (:mod:`tacit.additive.intercept`). Not a part of :class:`Tuning`."""

    # No curvature, and no scatter, of two classes is thought smaller.
    least_curvature: float = 0.005

    # Prior variance of the intercept (squared log-odds), and the largest one. Of a number at delta 0, whose first look
    # is sure to see where the rows lie, and whose sweeps are few and may be all noise: the second.
    variance: float = 6.0
    pure_variance: float = 0.3
    largest: float = 6.0

    # Posterior standard deviation (log-odds) below which one Newton step on the averaged releases is enough.
    well_known: float = 0.1

    # Rows lie on one side of the intercept where their contributions add up to more than the first part of the most
    # they could, by so many standard deviations of noise.
    one_sided: float = 0.4
    no_doubt: float = 4.0

    # A sum of clipped numbers is thought to leave at least this much open about the intercept, while sums are weighed
    # against each other: a clip that was chosen far too narrow looks exact, and is next to no evidence. No bracketing
    # step of the intercept is longer than the second.
    least_doubt: float = 0.2
    longest_bracket: float = 4.0


@dataclass(frozen=True)
class Tuning:
    """All of them."""

    planning: Planning = Planning()
    sweeping: Sweeping = Sweeping()
    pairing: Pairing = Pairing()
    clipping: Clipping = Clipping()
    counting: Counting = Counting()
    residuals: Residuals = Residuals()
    binning: Binning = BINNING
    growing: Growing = GROWING
    gradient: Gradient = GRADIENT


PLANNING, SWEEPING, CLIPPING = Planning(), Sweeping(), Clipping()
COUNTING, RESIDUALS, TUNING = Counting(), Residuals(), Tuning()
LINKED, SPREADS, OUTLINES, EFFECTS, INTERCEPTS = Linked(), Spreads(), Outlines(), Effects(), Intercepts()
"""As they were chosen."""
