"""From scores to probabilities: a logistic curve through noisy counts by score and class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.halfspaces.plan import Options
from tacit.halfspaces.scaling import Scaling
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MarginCounts
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_class_count_rule, fine_count_rule


@dataclass(frozen=True)
class BaseRate:
    """What was released of the rows as a whole: their number, at least 1, and the log-odds of the positive class.

    Those are 0 for rows without a constant coordinate, where they have no place; ``sd`` is about that of their noise.
    """

    rows: float
    log_odds: float = 0.0
    sd: float = 0.0


def count_rows(budget: Budget, options: Options) -> BaseRate:
    """Releases the number of rows, of each class where rows have a constant coordinate: one row is in one count.

    The share of the positive class is drawn to 1/2 by its noise, and kept a quarter of it away from 0 and 1.
    """
    by_class, n_labels = options.constant != 0, budget.layout.n_labels
    rule = fine_class_count_rule(n_labels) if by_class else fine_count_rule(n_labels)
    label = Label(Stage.COUNTS, "rows of each class" if by_class else "number of rows")
    counts = budget.measure(Histogram(OneCell(), rule), options.shares["count"], label)
    rows = max(1.0, float(counts.value.sum()))
    if not by_class:
        return BaseRate(rows)
    numbers = options.tuning
    noise = counts.sd / rows
    share = min(max(float(counts.value[0, 1]) / rows, 0.0), 1.0)
    share = 0.5 + (share - 0.5) * numbers.base_variance / (numbers.base_variance + noise**2)
    least = min(0.5, max(numbers.least_base, numbers.base_deviations * noise))
    share = min(max(share, least), 1.0 - least)
    return BaseRate(rows, math.log(share / (1.0 - share)), noise / (share * (1.0 - share)))


@dataclass(frozen=True)
class Calibration:
    """``log-odds = offset + slope * score``, with a slope that is positive."""

    slope: float
    offset: float


DEFAULT = Calibration(2.0, 0.0)  # what is taken where nothing is counted, for scores whose typical size is 1


@dataclass(frozen=True)
class Spread:
    """Where scores lie, by the released model of the rows: they are counted around ``centre``, by ``width``."""

    centre: float
    width: float


def spread_of(weights: Floats, scaling: Scaling, constant: float) -> Spread:
    """The spread of the scores ``weights . x``; around 0 for rows without a constant coordinate."""
    width = math.sqrt(float(scaling.variances @ weights**2))
    centre = float(scaling.mean @ weights)
    return Spread(centre, width or 1.0) if constant else Spread(0.0, math.hypot(width, centre) or 1.0)


def calibrate(
    curator: Curator,
    weights: Floats,
    radius: int,
    spread: Spread,
    charge: Charge,
    constant: float,
    prior: Prior,
    tuning: Tuning = TUNING,
) -> Calibration:
    """Releases counts by score and class, and fits a curve through them.

    ``radius`` is the integer length of a row of norm 1; ``constant`` the value of the rows' last coordinate if it is
    the same in all, or 0: then the curve crosses one half at score 0.
    """
    log, reach = HalfspaceLog(len(weights), radius), tuning.calibration_range
    shifted = weights.copy()
    if constant:
        shifted[-1] -= spread.centre / constant
    log.add(shifted / (reach * spread.width))
    levels = Levels.covering(1.0, tuning.calibration_levels)
    release = curator.measure(MarginCounts(log, levels), charge, Label(Stage.CALIBRATION, "counts by score and class"))
    fitted = fit_curve(levels.middles * reach, release.value, release.sd, bool(constant), prior, tuning)
    slope = fitted.slope / spread.width
    return Calibration(slope, fitted.offset - slope * spread.centre)


@dataclass(frozen=True)
class Prior:
    """What is believed of a curve before scores are counted: normal, its slope with a standard deviation of 1.

    That of the offset is at most 1: the base rate's, which was drawn to 1/2 where it is worse known.
    """

    slope: float
    offset: float
    offset_sd: float = 1.0


def prior_of(spread: Spread, noise: float, base_rate: BaseRate, tuning: Tuning = TUNING) -> Prior:
    """The prior of a curve over scores around their centre and by their width.

    The slope is a typical one by the share of the scores' standard deviation that is not ``noise`` of the rounds: where
    noise is all there is, everybody is at the base rate. The offset is what has the base rate as its mean then.
    """
    slope = tuning.prior_slope * math.sqrt(max(0.0, 1.0 - (noise / spread.width) ** 2))
    offset = base_rate.log_odds * math.sqrt(1.0 + math.pi / 8.0 * slope**2)
    slack = math.hypot(base_rate.sd, tuning.offset_slack * (1.0 + abs(offset)))
    return Prior(slope, offset, min(1.0, slack))


def fit_curve(
    scores: Floats, counts: Floats, noise_sd: float, with_offset: bool, prior: Prior, tuning: Tuning = TUNING
) -> Calibration:
    """The logistic curve of greatest likelihood, drawn towards the prior as strongly as the noise asks for.

    Counts of class 0 and 1 by score, shape ``(k, 2)``, enter as they are, negative ones too: cut off at zero they would
    add up to rows that do not exist. The pull is that of the prior, times what a parameter's slack has of variance with
    noise over what it has from a sample of rows alone: noise in a count of the rarer class has nearly its whole weight,
    though few rows do.
    """
    positive = float(expit(prior.offset))
    rows = max(1.0, float(counts.sum()) * positive * (1.0 - positive))
    noise = noise_sd**2 * (positive**2 + (1.0 - positive) ** 2) / rows
    steep, high = 1.0 + noise * float(scores @ scores), (1.0 + noise * len(scores)) / prior.offset_sd**2

    def loss(point: Floats) -> tuple[float, Floats]:
        slope, offset = float(point[0]), float(point[1])
        odds = slope * scores + offset
        value = counts[:, 1] @ np.logaddexp(0, -odds) + counts[:, 0] @ np.logaddexp(0, odds)
        value += 0.5 * (steep * (slope - prior.slope) ** 2 + high * (offset - prior.offset) ** 2)
        positive = expit(odds)
        slack = counts[:, 0] * positive - counts[:, 1] * (1 - positive)
        pulls = steep * (slope - prior.slope), high * (offset - prior.offset)
        return float(value), np.array([slack @ scores + pulls[0], slack.sum() + pulls[1]])

    most_offset = tuning.most_offset if with_offset else 0.0
    bounds = [(1.0 / tuning.most_slope, tuning.most_slope), (-most_offset, most_offset)]
    optimum = minimize(loss, (prior.slope, prior.offset), jac=True, bounds=bounds, method="L-BFGS-B")
    return Calibration(float(optimum.x[0]), float(optimum.x[1]))
