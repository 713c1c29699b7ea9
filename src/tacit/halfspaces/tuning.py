"""All numbers by which halfspaces are tuned: accuracy depends on them, and no promise does.

A learner takes a :class:`Tuning` through its :class:`~tacit.halfspaces.plan.Options`; to vary a number, replace it::

    HalfspaceLearner(request, options=Options(tuning=replace(Tuning(), most_rate=0.1)))
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """How the budget is divided, how rows are weighted, how far steps go, and what is believed of noisy numbers."""

    # Shares of the budget: the number of rows; the moments that the row space is scaled by; the counts that turn scores
    # into probabilities; the counts of rows by side and class; the end tests, if there is a stopping rule. Before all
    # of them: the histogram of lengths.
    # Rows are counted by class where they have a constant coordinate; without one the curve has a slope alone, and
    # counts cost less than they take from the rounds.
    count_share: float = 0.01
    class_counts_share: float = 0.04
    scaling_share: float = 0.10
    calibration_share: float = 0.05
    slope_share: float = 0.02
    errors_share: float = 0.01
    stopping_share: float = 0.10
    norm_share: float = 0.02

    # Without a constant coordinate: from how many rows per unit of the whole budget's noise on scores and errors are
    # counted. With fewer, noise in the counts outweighs the rows in them, and the curve would be the prior's anyway.
    least_counted: float = 200.0

    # From how many rows per unit of noise and root of dimension on ``measure="auto"`` takes the logistic measure.
    # Below, SmoothBoost's normalised, clipped hypotheses waste less of the budget on noise; above, the logistic loss
    # fits tables better that no halfspace separates. Made tables show where they cross (``python -m
    # benchmarks.halfspace_rule``).
    logistic_signal: float = 400.0

    # Without a constant coordinate: rows count as far on the wrong side from so many typical scores on, and are many
    # from this share of the rows and so many deviations of the count's noise on. The budget's share makes those
    # deviations ``far_noise`` of the rows, between two bounds; nothing where they are more than ``far_hides`` of them.
    # Where there are many, the logistic measure goes on, unscaled; with more rounds from so many rows per unit of the
    # whole budget's noise on, and many more from ten times as many on.
    far_scores: float = 2.0
    far_rows: float = 0.04
    far_deviations: float = 2.0
    far_noise: float = 0.02
    least_far_share: float = 0.002
    most_far_share: float = 0.015
    far_hides: float = 0.25
    far_rounds: int = 80
    far_rounds_from: float = 1000.0
    most_far_rounds: int = 320

    # How far one step of the logistic measure may move a margin, in log-odds; beyond, its weights no longer change.
    logistic_step: float = 16.0

    # Gradient steps stay stable up to 5.2 over the largest second moment of a row, at momentum .9: the curvature of the
    # logistic loss is at most 1/4 of it, and Nesterov's steps bear ``(2 + 2 m) / (1 + 2 m)`` over that.
    stable_rate: float = 5.0

    # The longest gradient step in scaled rows, where few columns would allow more: it follows noise.
    most_rate: float = 0.15
    most_momentum: float = 0.9

    # Rounds: in general; under pure privacy, where every round divides epsilon itself; of SmoothBoost from
    # ``many_columns`` on, as one round's noise then turns a row's weight less; of lazy Bregman, whose steps are short.
    rounds: int = 40
    pure_rounds: int = 8
    smooth_rounds: int = 80
    many_columns: int = 100
    lazy_rounds: int = 200

    # Lazy Bregman's lambda and density.
    lazy_rate: float = 0.2
    lazy_density: float = 0.15

    # SmoothBoost's gamma: the advantage that a round is trusted to have; the other one is for rows with a constant
    # coordinate, which hardly any halfspace separates.
    advantage: float = 0.4
    classes_advantage: float = 0.2

    # Variance of the positive class's share of the rows, before they are counted; it is kept so far away from 0 and 1,
    # and so many standard deviations of its noise.
    base_variance: float = 0.08
    least_base: float = 0.01
    base_deviations: float = 0.25

    # Scaling without a constant coordinate: the least part of its share, and from how many rows per unit of noise and
    # root of dimension on it takes all; the length that rows' squares are shortened to, as a kurtosis (3 for rows whose
    # coordinates are alike and normal), and from which such signal on it grows with it; and how many standard
    # deviations longer than on average noise is taken to be, of the mean and of the squares.
    least_scaling: float = 0.3
    scaling_signal: float = 100.0
    typical_kurtosis: float = 3.0
    shortening_signal: float = 50.0
    mean_surplus: float = 2.0
    square_surplus: float = 0.25

    # How many times what all have in common a wide coordinate may have, that is told by what is sure of it alone.
    most_apart: float = 20.0

    # The longest first step of SmoothBoost's centres; and without a constant coordinate, what a unit of signal adds
    # where coordinates may all be alike, in general and times one over their number, and its root where they differ.
    most_pace: float = 4.0
    alike_pace: float = 0.1
    narrow_pace: float = 4.0
    apart_pace: float = 1.0

    # Least length of a centre, in standard deviations of its own noise: a centre that drowns in noise stays small.
    length_floor: float = 0.5

    # Standard deviations of noise that are added to every variance that stands for itself; the least variance of a
    # coordinate, as a share of what all have in common, where noise hides their differences; and as a share of the mean
    # squared length of a row.
    noise_floor: float = 1.0
    shared_floor: float = 0.1
    relative_floor: float = 1e-6

    # Cells per factor of 2, and how many such factors below the longest possible row lengths are told apart.
    cells_per_octave: int = 4
    octaves: int = 8

    # Share of the rows that may be shortened: they keep their direction, and the noise is smaller for all others; and
    # so many standard deviations of noise more, as noise hides them.
    shortened: float = 0.05
    unsure: float = 1.0

    # With fewer rows than so many standard deviations of the noise in all counts together, nothing is shortened.
    least_sure: float = 3.0

    # Rows per standard deviation of the noise in a count, from which the bounds of a column are found by themselves.
    own_bounds: float = 12.0

    # Scores are counted on so many levels, up to so many typical scores; beyond, they count as if they were there.
    calibration_levels: int = 16
    calibration_range: float = 4.0

    # What the digits of a weight are worth, times the number of weights: nats, for a change of its share in scores as
    # large as these vary. All together vary by at most about half of one over it.
    rounding_price: float = 1024.0

    # The calibration's slope by scores of spread 1, before they are counted, if nothing of them were noise.
    # And how far off the offset may be that the base rate asks for, as a share of it and of 1.
    prior_slope: float = 2.0
    offset_slack: float = 0.1

    # Bounds of the calibration's slope (and one over it) and of its offset, in log-odds.
    most_slope: float = 50.0
    most_offset: float = 20.0


TUNING = Tuning()
"""As they were chosen."""
