"""The number of rows; and, where a constant coordinate can hold it, how many of them are positive."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.curator.budget import Budget
from tacit.halfspaces.plan import Options
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
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
