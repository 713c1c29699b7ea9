"""From scores to probabilities: a logistic curve through noisy counts by score and class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.halfspaces.scaling import Scaling
from tacit.halfspaces.tuning import TUNING, Tuning
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels, MarginCounts


@dataclass(frozen=True)
class Calibration:
    """``log-odds = offset + slope * score``, with a slope that is positive."""

    slope: float
    offset: float


DEFAULT = Calibration(2.0, 0.0)
"""What is taken where there are too few rows to say more, for scores whose typical size is 1."""


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
    tuning: Tuning = TUNING,
) -> Calibration:
    """Releases counts by score and class, and fits a curve through them.

    Args:
        curator: the gate in front of the rows.
        weights: the halfspace, shape ``(d,)``.
        radius: integer length of a row of norm 1.
        spread: where the scores lie.
        charge: of the one release.
        constant: value of the rows' last coordinate if it is the same in all; 0 if there is no such coordinate, and
            then the curve crosses one half at score 0.
        tuning: the numbers of the learner.
    """
    log, reach = HalfspaceLog(len(weights), radius), tuning.calibration_range
    shifted = weights.copy()
    if constant:
        shifted[-1] -= spread.centre / constant
    log.add(shifted / (reach * spread.width))
    levels = Levels.covering(1.0, tuning.calibration_levels)
    release = curator.measure(MarginCounts(log, levels), charge, Label(Stage.CALIBRATION, "counts by score and class"))
    fitted = fit_curve(levels.middles * reach, release.value, release.sd, bool(constant), tuning)
    slope = fitted.slope / spread.width
    return Calibration(slope, fitted.offset - slope * spread.centre)


def fit_curve(
    scores: Floats, counts: Floats, noise_sd: float, with_offset: bool, tuning: Tuning = TUNING
) -> Calibration:
    """The logistic curve of greatest likelihood, drawn towards :data:`DEFAULT` as strongly as the noise asks for.

    Counts enter as they are, negative ones too: cut off at zero they would add up to rows that do not exist. The pull
    is that of a normal prior of standard deviation 1 on both parameters, once with the weight of one row and once with
    that of the noise in all counts together.

    Args:
        scores: shape ``(k,)``.
        counts: noisy numbers of rows of class 0 and 1 by score, shape ``(k, 2)``.
        noise_sd: standard deviation of the noise in a count.
        with_offset: whether to fit the offset.
        tuning: the numbers of the learner.
    """
    pull = 1.0 + noise_sd * math.sqrt(counts.size)

    def loss(point: Floats) -> tuple[float, Floats]:
        slope, offset = float(point[0]), float(point[1])
        odds = slope * scores + offset
        value = counts[:, 1] @ np.logaddexp(0, -odds) + counts[:, 0] @ np.logaddexp(0, odds)
        value += 0.5 * pull * ((slope - DEFAULT.slope) ** 2 + offset**2)
        positive = expit(odds)
        slack = counts[:, 0] * positive - counts[:, 1] * (1 - positive)
        gradient = np.array([slack @ scores + pull * (slope - DEFAULT.slope), slack.sum() + pull * offset])
        return float(value), gradient

    most_offset = tuning.most_offset if with_offset else 0.0
    bounds = [(1.0 / tuning.most_slope, tuning.most_slope), (-most_offset, most_offset)]
    found = minimize(loss, np.array([DEFAULT.slope, 0.0]), jac=True, bounds=bounds, method="L-BFGS-B")
    return Calibration(float(found.x[0]), float(found.x[1]))
