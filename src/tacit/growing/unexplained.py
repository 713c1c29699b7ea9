"""The share of the labels' variance that scores leave unexplained, and the curvature of the loss there: one release."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.curator.budget import Budget
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule
from tacit.queries.tree_cells import middle_chances

TYPICAL_CURVATURE, CURVATURE_SPREAD = 0.15, 0.05
"""What rows are thought to have on average, and how far that may be off, before it is released."""

LEAST_CURVATURE = 0.005

TYPICAL_SHARE, SHARE_SPREAD = 0.6, 0.25
"""The same for the share of the labels' variance that scores leave open."""

CHANCE_SCALE = 0.25
"""Chances are summed in this scale: none of the three numbers is then longer than the others."""

RARE = 0.01
"""Classes are not thought to be rarer than this."""

LARGEST_NOISE_FACTOR = 2.0


@dataclass(frozen=True)
class Unexplained:
    """What scores leave unexplained; what is typical, where nothing is known.

    Attributes:
        curvature: the mean variance of rows' weights, where scores are right.
        share: of the variance of the labels: 1 where scores say nothing of them, 0 where all labels follow.
    """

    curvature: float = TYPICAL_CURVATURE
    share: float = TYPICAL_SHARE

    @property
    def noise_factor(self) -> float:
        """By what noise in a score may be more than where much is left unexplained.

        Noise of variance ``s^2`` costs log loss ``s^2 p (1 - p) / 2``. Where labels follow from columns log-odds are
        large, and so is what they lack; the same noise hides less of it.
        """
        return min(max(math.sqrt(TYPICAL_SHARE / self.share), 1.0), LARGEST_NOISE_FACTOR)


def unexplained_rule(clip: float) -> RowRule:
    """What a row says of it: the variance of its weight where its score is right, that of its label, and its chance.

    Args:
        clip: weights of rows are no longer than this: the first number is ``w^2 p (1 - p)``, ``w`` being 1 or less so
            that ``w max(p, 1 - p)`` is at most the clip.
    """
    p = middle_chances()
    weight, variance = np.minimum(1.0, clip / np.maximum(p, 1.0 - p)), p * (1.0 - p)
    numbers = np.stack([weight**2 * variance, variance, CHANCE_SCALE * p], axis=-1)
    values = np.trunc(numbers * WEIGHT_UNIT).astype(np.int32)
    return RowRule(np.ascontiguousarray(np.stack([values, values])), WEIGHT_UNIT)


def released_unexplained(budget: Budget, rows: float, clip: float, margins: Margins) -> Unexplained:
    """What scores leave unexplained, for all of the budget; near what is typical in much noise.

    Args:
        budget: what it may spend, of Gaussian noise, on a table with two labels.
        rows: the released number of rows.
        clip: see :func:`unexplained_rule`.
        margins: the log of the scores.
    """
    query = Histogram(OneCell(), unexplained_rule(clip), margins)
    release = budget.measure(query, 1.0, Label(Stage.UNEXPLAINED, "unexplained variance"))
    curvature, variance, chance = (float(number) / max(rows, 1.0) for number in release.value[0])
    sd = release.sd / max(rows, 1.0)
    chance = min(max(chance / CHANCE_SCALE, RARE), 1.0 - RARE)
    whole = chance * (1.0 - chance)
    share_sd = sd / whole * math.hypot(1.0, variance / whole * (1.0 - 2.0 * chance) / CHANCE_SCALE)
    return Unexplained(
        max(_believed(curvature, sd, TYPICAL_CURVATURE, CURVATURE_SPREAD), LEAST_CURVATURE),
        max(_believed(variance / whole, share_sd, TYPICAL_SHARE, SHARE_SPREAD), 1e-3),
    )


def _believed(found: float, sd: float, typical: float, spread: float) -> float:
    """The posterior mean of a number with a Gaussian prior, from one look with noise."""
    return typical + spread**2 / (spread**2 + sd**2) * (found - typical)
