"""How every additive fit begins: the number of rows, what can be afforded for it, and where the rows lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.additive.losses import Loss
from tacit.additive.plan import Plan
from tacit.additive.planner import Planner, signal_to_noise
from tacit.additive.tuning import PLANNING, Planning
from tacit.binning.measure import Bins, Column, measure_bins, release_total
from tacit.binning.tuning import BINNING, Binning
from tacit.curator.budget import Budget
from tacit.learning.learner import Task, monotone_of
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What is known before anything is learned, all of it released."""

    columns: tuple[Column, ...]  # that are used
    total: float  # number of rows
    signal: float  # `q`, the rows relative to the noise of one release of all columns
    plan: Plan  # shares of the budget
    bins: list[Bins]  # of every column
    binning_sd: float  # standard deviation of the noise in a column's counts


def first_look(
    budget: Budget,
    columns: Sequence[Column],
    pairs: bool,
    trees: bool,
    loss: Loss,
    planner: Planner,
    tuning: Binning = BINNING,
) -> FirstLook:
    """Counts rows, plans, and bins the columns; the columns' codes in the table are replaced by bins."""
    count = len(columns)
    first = (
        planner.numbers.binning_share / 2 / (count + 1)
    )  # the plan, which says how much binning may cost, needs the number of rows
    total, counted = release_total(budget.part(first), tuning.measuring)
    signal = signal_to_noise(total, count, budget.sd(), loss.strength)
    plan = planner.plan(total, count, signal, budget.is_pure, pairs, trees, remainder=loss.remainder)
    each = (plan.binning - first) / count
    bins, more = measure_bins(budget.part(each), columns, total, tuning)
    planned = plan.with_binning(plan.binning + more + counted - first)
    return FirstLook(tuple(columns), total, signal, planned, bins, budget.sd(each))


def may_boost_trees_alone(allowance: Allowance, task: Task) -> bool:
    """Whether trees alone may be the better model; they hold no curve to rise, and are measured for two classes."""
    rising = any(monotone_of(task, name) for name in task.names)
    return allowance.is_pure and task.label_index.n_classes == 2 and not rising


def noise_exceeds_signal(rows: float, n_columns: int, sd: float, numbers: Planning = PLANNING) -> bool:
    """Whether there are so few rows that trees alone are the better model.

    ``sd`` is that of Laplace noise where one number takes the whole budget.
    """
    return rows < trees_alone_upto(n_columns, sd, numbers)


def trees_alone_upto(n_columns: int, sd: float, numbers: Planning = PLANNING) -> float:
    """The number of rows from which columns are the better model; as for :func:`noise_exceeds_signal`."""
    return numbers.pure_trees_upto * n_columns * sd / math.sqrt(2.0)


def counted_first(budget: Budget, task: Task, numbers: Planning = PLANNING) -> tuple[float, Budget]:
    """The number of rows, by which it is decided, and the budget that is left: a public one costs nothing."""
    if task.public_rows is not None:
        return float(task.public_rows), budget
    query, share = Histogram(OneCell(), fine_count_rule(budget.layout.n_labels)), numbers.pure_counting
    released = budget.measure(query, share, Label(Stage.COUNTS, "number of rows, to choose what is learned"))
    return released.value.item(), budget.part(1.0 - share).as_whole()
