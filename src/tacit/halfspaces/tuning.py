"""All numbers by which halfspaces are tuned: accuracy depends on them, and no promise does.

A learner takes a :class:`Tuning` through its :class:`~tacit.halfspaces.plan.Options`; to vary a number, replace it::

    HalfspaceLearner(request, options=Options(tuning=replace(Tuning(), most_rate=0.1)))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """How the budget is divided, how rows are weighted, how far steps go, and what is believed of noisy numbers."""

    # Shares of the budget.
    count_share: float = 0.01  # number of rows
    class_counts_share: float = 0.04  # the same by class, where rows have a constant coordinate
    scaling_share: float = 0.10  # moments that the row space is scaled by
    calibration_share: float = 0.05  # counts that turn scores into probabilities
    slope_share: float = 0.02  # the same without a constant coordinate, where the curve has a slope alone
    errors_share: float = 0.01  # rows by side and class
    stopping_share: float = 0.10  # end tests
    norm_share: float = 0.02  # histogram of lengths, before all of them

    # Rows per unit of the whole budget's noise from which scores and errors are counted without a constant coordinate:
    # with fewer, noise outweighs the rows in the counts.
    least_counted: float = 200.0

    # Rows per unit of noise and root of dimension from which ``measure="auto"`` takes the logistic measure, which fits
    # tables better that no halfspace separates. Below, SmoothBoost's normalised, clipped hypotheses waste less of the
    # budget on noise (``python -m benchmarks.halfspace_rule`` shows where they cross on made tables).
    logistic_signal: float = 400.0

    # Without a constant coordinate, whether many rows lie far on the wrong side of the first centre: then the logistic
    # measure goes on, unscaled, with more rounds from so many rows per unit of the whole budget's noise.
    far_scores: float = 2.0  # typical scores from which a row is far
    far_rows: float = 0.04  # share of the rows from which they are many,
    far_deviations: float = 2.0  # and standard deviations of the count's noise
    far_noise: float = 0.02  # that these deviations are of the rows, by the share of the budget,
    least_far_share: float = 0.002  # between two bounds
    most_far_share: float = 0.015
    far_hides: float = 0.25  # of the rows; no count where the noise is more
    long_centre: float = 2.0  # squared length of the first centre, 1 where the scaling is right; if more,
    long_far_share: float = 0.05  # the count is worth so much of the budget,
    long_scores: float = 1.0  # a row is far from so many typical scores,
    long_deviations: float = 0.5  # and many are told with so many deviations
    far_rounds: int = 80
    far_rounds_from: float = 1000.0
    most_far_rounds: int = 320  # from ten times as many

    # Steps.
    logistic_step: float = 16.0  # log-odds that one step of the logistic measure may move a margin
    stable_rate: float = 5.0  # times one over a row's largest second moment: stable up to 5.2 at momentum .9, as the
    # curvature of the logistic loss is at most 1/4 and Nesterov's steps bear (2 + 2 m) / (1 + 2 m) over that
    most_rate: float = 0.15  # gradient step in scaled rows, where few columns would allow one that follows noise
    most_momentum: float = 0.9

    # Rounds.
    rounds: int = 40
    pure_rounds: int = 8  # every round divides epsilon itself
    smooth_rounds: int = 80  # of SmoothBoost from many_columns, where the noise of a round turns weights less
    many_columns: int = 100
    lazy_rounds: int = 200  # of lazy Bregman, whose steps are short

    lazy_rate: float = 0.2  # lambda of lazy Bregman
    lazy_density: float = 0.15
    advantage: float = 0.4  # gamma of SmoothBoost, which a round is trusted to have
    classes_advantage: float = 0.2  # the same with a constant coordinate: hardly any halfspace separates such rows

    # The positive class's share of the rows.
    base_variance: float = 0.08  # prior
    least_base: float = 0.01  # distance from 0 and 1,
    base_deviations: float = 0.25  # and in standard deviations of its noise

    # Scaling without a constant coordinate; signal is rows per unit of noise and root of dimension.
    least_scaling: float = 0.3  # of its share,
    scaling_signal: float = 100.0  # of which it takes all from this signal
    typical_kurtosis: float = 3.0  # length that rows' squares are shortened to; 3 if coordinates are alike and normal
    shortening_signal: float = 50.0  # from which that grows with the signal
    mean_surplus: float = 2.0  # standard deviations longer than on average that noise is taken to be, of the mean,
    square_surplus: float = 0.25  # and of the squares
    most_apart: float = 20.0  # that a wide coordinate may have of what all have in common

    # The first step of SmoothBoost's centres.
    most_pace: float = 4.0
    alike_pace: float = 0.1  # that a unit of signal adds where coordinates may all be alike,
    narrow_pace: float = 4.0  # the same times one over their number,
    apart_pace: float = 1.0  # and for its root where they differ

    # Floors.
    length_floor: float = 0.5  # of a centre, in standard deviations of its noise: what drowns in noise stays small
    noise_floor: float = 1.0  # standard deviations of noise added to a variance that stands for itself
    shared_floor: float = 0.1  # variance of a coordinate, relative to what all have in common, where noise hides it
    relative_floor: float = 1e-6  # the same relative to the mean squared length of a row

    # The histogram of lengths.
    cells_per_octave: int = 4
    octaves: int = 8  # below the longest possible row
    shortened: float = 0.05  # share of the rows that may be shortened: noise is smaller for all others,
    unsure: float = 1.0  # and standard deviations of noise beyond
    least_sure: float = 3.0  # standard deviations of the noise of all counts; with fewer rows nothing is shortened

    own_bounds: float = 12.0  # rows per standard deviation of a count's noise from which a column has its own bounds

    # Calibration.
    calibration_levels: int = 16  # of scores,
    calibration_range: float = 4.0  # up to so many typical ones
    prior_slope: float = 2.0  # by scores of spread 1
    offset_slack: float = 0.1  # of the offset that the base rate asks for, as a share of it and of 1
    most_slope: float = 50.0  # and one over it
    most_offset: float = 20.0  # log-odds

    # What the digits of a weight are worth, times the number of weights: nats, for a change of its share in scores as
    # large as these vary. All together vary by at most about half of one over it.
    rounding_price: float = 1024.0


TUNING = Tuning()  # as they were chosen
