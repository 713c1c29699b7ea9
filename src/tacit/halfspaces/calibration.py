"""From scores to probabilities: a logistic curve through noisy counts by score and class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from tacit.curator.curator import Curator
from tacit.privacy.charges import Charge
from tacit.queries.halfspace_log import HalfspaceLog
from tacit.queries.levels import Levels
from tacit.queries.margin_counts import MarginCounts

Floats = npt.NDArray[np.float64]

N_LEVELS = 32
RANGE = 4.0
"""Scores are counted up to this many typical scores."""

NOISE_LEVELS = 1.5
"""A count that is not this many standard deviations of the noise above 0 is taken as 0."""


@dataclass(frozen=True)
class Calibration:
    """``log-odds = offset + slope * score``, with a slope that is not negative."""

    slope: float
    offset: float


DEFAULT = Calibration(2.0, 0.0)
"""What is taken where there are too few rows to say more, for scores whose typical size is 1."""


def calibrate(curator: Curator, weights: Floats, radius: int, typical: float, charge: Charge) -> Calibration:
    """Releases counts by score and class, and fits a curve through them.

    Args:
        curator: the gate in front of the rows.
        weights: the halfspace, shape ``(d,)``.
        radius: integer length of a row of norm 1.
        typical: a typical score; fixes the levels.
        charge: of the one release.
    """
    log = HalfspaceLog(len(weights), radius)
    log.add(weights / (RANGE * typical))
    levels = Levels.covering(1.0, N_LEVELS)
    release = curator.measure(MarginCounts(log, levels), charge, "counts by score and class")
    counts = np.where(release.value > NOISE_LEVELS * release.sd, release.value, 0.0)
    fitted = fit_curve(levels.middles * RANGE, counts)
    return Calibration(fitted.slope / typical, fitted.offset)


def fit_curve(scores: Floats, counts: Floats) -> Calibration:
    """The logistic curve of greatest likelihood, drawn a little towards :data:`DEFAULT`.

    Args:
        scores: shape ``(k,)``.
        counts: rows of class 0 and 1 by score, not negative, shape ``(k, 2)``.
    """

    def loss(point: Floats) -> tuple[float, Floats]:
        slope, offset = point
        odds = slope * scores + offset
        value = counts[:, 1] @ np.logaddexp(0, -odds) + counts[:, 0] @ np.logaddexp(0, odds)
        pull = 0.5 * (slope - DEFAULT.slope) ** 2 + 0.5 * offset**2
        positive = 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        slack = counts[:, 0] * positive - counts[:, 1] * (1 - positive)
        gradient = np.array([slack @ scores + slope - DEFAULT.slope, slack.sum() + offset])
        return float(value + pull), gradient

    found = minimize(loss, np.array([DEFAULT.slope, 0.0]), jac=True, bounds=[(0.05, 50.0), (-20.0, 20.0)])
    return Calibration(float(found.x[0]), float(found.x[1]))
