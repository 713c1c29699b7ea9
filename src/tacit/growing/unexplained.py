"""The share of the labels' variance that scores leave unexplained, and the curvature of the loss there: one release."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.curator.budget import Budget
from tacit.growing.tuning import REMAINING, Remaining
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT, RowRule
from tacit.queries.tree_cells import middle_chances

CHANCE_SCALE = 0.25
"""Not tuned, of the sensitivity: chances are summed in this scale, so that none of the three numbers is longer than the
others."""


@dataclass(frozen=True)
class Unexplained:
    """What scores leave unexplained; what is typical, where nothing is known.

    Attributes:
        curvature: the mean variance of rows' weights, where scores are right.
        share: of the variance of the labels: 1 where scores say nothing of them, 0 where all labels follow.
        numbers: of the tuning.
    """

    curvature: float = REMAINING.typical_curvature
    share: float = REMAINING.typical_share
    numbers: Remaining = REMAINING

    @property
    def noise_factor(self) -> float:
        """By what noise in a score may be more than where much is left unexplained.

        Noise of variance ``s^2`` costs log loss ``s^2 p (1 - p) / 2``. Where labels follow from columns log-odds are
        large, and so is what they lack; the same noise hides less of it.
        """
        return min(max(math.sqrt(self.numbers.typical_share / self.share), 1.0), self.numbers.largest_noise_factor)


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


def released_unexplained(
    budget: Budget, rows: float, clip: float, margins: Margins, numbers: Remaining = REMAINING
) -> Unexplained:
    """What scores leave unexplained, for all of the budget; near what is typical in much noise.

    Args:
        budget: what it may spend, of Gaussian noise, on a table with two labels.
        rows: the released number of rows.
        clip: see :func:`unexplained_rule`.
        margins: the log of the scores.
        numbers: of the tuning.
    """
    query = Histogram(OneCell(), unexplained_rule(clip), margins)
    release = budget.measure(query, 1.0, Label(Stage.UNEXPLAINED, "unexplained variance"))
    curvature, variance, chance = (float(number) / max(rows, 1.0) for number in release.value[0])
    sd = release.sd / max(rows, 1.0)
    chance = min(max(chance / CHANCE_SCALE, numbers.rare), 1.0 - numbers.rare)
    whole = chance * (1.0 - chance)
    share_sd = sd / whole * math.hypot(1.0, variance / whole * (1.0 - 2.0 * chance) / CHANCE_SCALE)
    return Unexplained(
        max(_believed(curvature, sd, numbers.typical_curvature, numbers.curvature_spread), numbers.least_curvature),
        max(_believed(variance / whole, share_sd, numbers.typical_share, numbers.share_spread), numbers.least_share),
        numbers,
    )


def _believed(found: float, sd: float, typical: float, spread: float) -> float:
    """The posterior mean of a number with a Gaussian prior, from one look with noise."""
    return typical + spread**2 / (spread**2 + sd**2) * (found - typical)
