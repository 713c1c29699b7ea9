"""The base rate, from everything released that bears on it; and the intercept that it asks for.

Trees start from a score of 0 and not from the base rate: at 0 both classes contribute alike, while near the rate of a
rare class the many rows of the other one hardly say anything. As long as scores are near 0 the totals of a tree's
leaves say how many rows there are and by how many the classes differ, more precisely than a separate release could.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats
from tacit.binning.tree_bins import Totals
from tacit.curator.budget import Budget
from tacit.growing.newton_trees import LeafSums
from tacit.growing.tuning import BASE, Base
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import LEVEL_BITS, LEVELS, RowRule
from tacit.queries.tree_cells import HESSIAN_IS_FREE, logistic_gradient_rule


class BaseRate:
    """Precision-weighted averages of the number of rows and of the difference of the classes.

    Args:
        totals: the released number of rows of each class.
        tuning: the numbers of the learner.
    """

    def __init__(self, totals: Totals, tuning: Base = BASE) -> None:
        self.tuning = tuning
        precision = 1.0 / (2.0 * totals.sd**2) if totals.sd > 0 else 1.0
        self._exact = totals.sd == 0
        self._rows = [totals.raw_rows * precision, precision]
        self._difference = [totals.raw_difference * precision, precision]
        self._beyond = [0.0, 0.0]
        self._start, self._chance, self._weight = 0.0, 0.5, 1.0
        self.mean_score = 0.0
        self._square = 0.0

    def start(self, margins: Margins, rule: RowRule) -> float:
        """Moves all scores to the base rate's log-odds, as far as they are known by now, and returns how far that is.

        Args:
            margins: the log of the score, empty.
            rule: what rows contribute to trees.
        """
        self._start = float(margins.add(OneCell(), [self.log_odds])[0])
        self._chance = 0.5 * (1.0 + math.tanh(0.5 * self._start))
        level = LEVELS // 2 + math.floor(self._start * 2**LEVEL_BITS)
        self._weight = float(rule.table[1, level, 0] - rule.table[0, level, 0]) / rule.unit
        self.mean_score = self._start
        return self._start

    @property
    def curvature_at_start(self) -> float:
        """Of a row, as the rule weighs it."""
        return self._weight * self._chance * (1.0 - self._chance)

    def add_tree(self, sums: LeafSums, steps: Floats) -> None:
        """Takes in a tree: its released sums, and its steps."""
        moved = math.sqrt(self._square) + abs(self.mean_score - self._start)
        if moved <= self.tuning.near_start and not self._exact:
            self._count(sums, len(steps))
        weight = np.maximum(sums.curvatures, 0.0) + sums.curvature_sd + 1e-9
        total = float(weight.sum())
        self.mean_score += float((steps * weight).sum()) / total
        self._square += float((steps**2 * weight).sum()) / total

    def _count(self, sums: LeafSums, leaves: int) -> None:
        """While scores are about as at the start, trees add up to ``w (n_1 - p n)`` and ``w p (1 - p) n``."""
        average_in(self._rows, float(sums.curvatures.sum()), sums.curvature_sd, leaves, 1.0 / self.curvature_at_start)
        average_in(self._beyond, float(sums.gradients.sum()), sums.sd, leaves, 2.0 / self._weight)

    def _difference_now(self) -> tuple[float, float]:
        """Positives minus negatives, by the first release and by all trees together, and its variance."""
        by_trees = self._beyond[0] + self._beyond[1] * (2.0 * self._chance - 1.0) * self.rows
        precision = self._difference[1] + self._beyond[1]
        return (self._difference[0] + by_trees) / precision, 1.0 / precision

    @property
    def rows(self) -> float:
        """The number of rows, at least 1."""
        return max(self._rows[0] / self._rows[1], 1.0)

    @property
    def log_odds(self) -> float:
        """The base rate's log-odds, drawn to 0 by the noise that is left."""
        difference, variance = self._difference_now()
        curvature = self.rows / 4.0
        noise = 0.0 if self._exact else variance / 4.0
        prior = self.tuning.rate_prior
        trust = curvature**2 * prior / (curvature**2 * prior + curvature + noise)
        return trust * 2.0 * math.atanh(float(np.clip(difference / self.rows, -0.96, 0.96)))

    @property
    def curvature(self) -> float:
        """Of a row at the base rate."""
        rate = 0.5 * (1.0 + math.tanh(0.5 * self.log_odds))
        return rate * (1.0 - rate)

    def intercept_sd(self, sd: float) -> float:
        """Standard deviation that noise of ``sd`` in the last step's sum leaves in the intercept."""
        curvature = max(self.rows * self.curvature, 1.0)
        prior = self.tuning.intercept_prior
        return sd * curvature * prior / (curvature**2 * prior + curvature + sd**2)


def average_in(average: list[float], total: float, sd: float, leaves: int, factor: float) -> None:
    """Adds ``factor`` times the total of noisy leaves to a precision-weighted average."""
    precision = 1.0 / (leaves * (factor * sd) ** 2)
    average[0] += factor * total * precision
    average[1] += precision


def set_intercept(budget: Budget, margins: Margins, base_rate: BaseRate, steps: int) -> float:
    """The intercept: what the base rate asks for beyond the trees' mean score, then Newton steps that look.

    Args:
        budget: of one step, on a table with two labels.
        margins: the log of the score; the intercept is added to it.
        base_rate: what is known of it.
        steps: how many Newton steps.
    """
    pure, numbers = budget.is_pure, base_rate.tuning
    rule = logistic_gradient_rule(1.0, 1.0 if pure else math.sqrt(HESSIAN_IS_FREE), 1 if pure else 2)
    scale = float(rule.table[1, LEVELS // 2, 1]) / (0.25 * rule.unit)
    start = float(np.clip(base_rate.log_odds - base_rate.mean_score, -numbers.largest, numbers.largest))
    intercept = float(margins.add(OneCell(), [start])[0])
    least = max(min(numbers.least_curvature, 0.5 * base_rate.curvature) * base_rate.rows, 1.0)
    for number in range(steps):
        query = Histogram(OneCell(), rule, margins)
        sums = budget.measure(query, 1.0, Label(Stage.INTERCEPT, round=number + 1))
        gradient = float(sums.value[0, 0])
        curvature = max(float(sums.value[0, 1]) / scale, least)
        step = gradient * curvature * numbers.intercept_prior
        step /= curvature**2 * numbers.intercept_prior + curvature + sums.sd**2
        intercept += float(
            margins.add(OneCell(), [float(np.clip(step, -numbers.largest_step, numbers.largest_step))])[0]
        )
    return intercept
