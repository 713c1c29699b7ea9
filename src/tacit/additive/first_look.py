"""How every additive fit begins: the number of rows, what can be afforded for it, and where the rows lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.additive.plan import BINNING_SHARE, Plan, plan, signal_to_noise
from tacit.binning.measure import Bins, Column, measure_bins, release_total
from tacit.curator.budget import Budget


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What is known before anything is learned, all of it released.

    Attributes:
        total: number of rows.
        signal: ``q``, the rows relative to the noise of one release of all columns.
        plan: shares of the allowance.
        bins: of every column.
        binning_sd: standard deviation of the noise in a column's counts.
    """

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
    strength: float = 1.0,
    two_classes: bool = True,
    together: bool = True,
) -> FirstLook:
    """Counts rows, plans, and bins the columns; the columns' codes in the table are replaced by bins.

    Args:
        budget: what the plan divides.
        columns: columns to use.
        pairs: whether interactions are wanted.
        trees: whether trees over the residual are wanted.
        strength: how much a row says, relative to a row of two classes.
        two_classes: whether labels are two classes, and not several or numbers.
        together: whether trees may be heard together.
    """
    count = len(columns)
    first = BINNING_SHARE / 2 / (count + 1)  # the plan, which says how much binning may cost, needs the number of rows
    total, counted = release_total(budget.part(first))
    signal = signal_to_noise(total, count, budget.sd(), strength)
    chosen = plan(total, count, signal, budget.is_pure, pairs, trees, two_classes=two_classes, together=together)
    each = (chosen.binning - first) / count
    bins, more = measure_bins(budget.part(each), columns, total)
    return FirstLook(total, signal, chosen.with_binning(chosen.binning + more + counted - first), bins, budget.sd(each))
