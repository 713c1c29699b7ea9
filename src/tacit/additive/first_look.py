"""How every additive fit begins: the number of rows, what can be afforded for it, and where the rows lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.additive.losses import Loss
from tacit.additive.plan import Plan
from tacit.additive.planner import Planner, signal_to_noise
from tacit.binning.measure import Bins, Column, measure_bins, release_total
from tacit.binning.tuning import BINNING, Binning
from tacit.curator.budget import Budget


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What is known before anything is learned, all of it released.

    Attributes:
        columns: that are used.
        total: number of rows.
        signal: ``q``, the rows relative to the noise of one release of all columns.
        plan: shares of the budget.
        bins: of every column.
        binning_sd: standard deviation of the noise in a column's counts.
    """

    columns: tuple[Column, ...]
    total: float
    signal: float
    plan: Plan
    bins: list[Bins]
    binning_sd: float


def first_look(
    budget: Budget,
    columns: Sequence[Column],
    pairs: bool,
    trees: bool,
    loss: Loss,
    planner: Planner,
    tuning: Binning = BINNING,
) -> FirstLook:
    """Counts rows, plans, and bins the columns; the columns' codes in the table are replaced by bins.

    Args:
        budget: what the plan divides.
        columns: columns to use.
        pairs: whether interactions are wanted.
        trees: whether trees over the residual are wanted.
        loss: for how much a row says, and which trees there may be.
        planner: the rule.
        tuning: the numbers of the bins.
    """
    count = len(columns)
    first = (
        planner.numbers.binning_share / 2 / (count + 1)
    )  # the plan, which says how much binning may cost, needs the number of rows
    total, counted = release_total(budget.part(first), tuning.measuring)
    signal = signal_to_noise(total, count, budget.sd(), loss.strength)
    chosen = planner.plan(total, count, signal, budget.is_pure, pairs, trees, rest=loss.rest)
    each = (chosen.binning - first) / count
    bins, more = measure_bins(budget.part(each), columns, total, tuning)
    planned = chosen.with_binning(chosen.binning + more + counted - first)
    return FirstLook(tuple(columns), total, signal, planned, bins, budget.sd(each))
