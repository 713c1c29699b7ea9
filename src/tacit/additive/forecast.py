"""What can be expected of so many rows before any is read: the planning rule, asked beforehand."""

from __future__ import annotations

import math
from typing import Any

from tacit.additive.first_look import trees_alone_upto
from tacit.additive.plan import Plan
from tacit.additive.planner import Planner, signal_to_noise
from tacit.additive.tuning import Planning
from tacit.privacy.budget import Allowance

PLANNER = Planner()


def forecast(
    rows: int,
    n_columns: int,
    allowance: Allowance,
    pairs: bool,
    trees: bool,
    trees_alone: bool = False,
    planner: Planner = PLANNER,
) -> dict[str, Any]:
    """What a fit to two classes could do with ``rows`` rows.

    Args:
        rows: how many are expected, from public knowledge.
        n_columns: columns of the model.
        allowance: the budget.
        pairs: whether interactions are wanted.
        trees: whether trees over the residual are wanted.
        trees_alone: whether trees in place of columns are learned from so many rows (:mod:`tacit.additive.first_look`).
        planner: the rule of the fit.

    Returns:
        ``signal``, the rows relative to the noise of one release of all columns (``q``; at delta 0 that noise grows
        with their number and not with its root), or of one number where trees are learned alone; ``enough``, from
        which ``signal`` on probabilities can be expected to be better than the shares of the classes alone; ``sure``,
        whether they can; ``sure_from``, the number of rows from which they can; ``learns``, of "columns", "pairs" and
        "trees" what there would be budget for, if only for one of the last two.
    """
    numbers = planner.numbers
    noise, enough = _noise(n_columns, allowance, trees_alone, numbers)
    if trees_alone:
        learns, sure_from = ["trees"], enough * noise
        columns_from = trees_alone_upto(n_columns, allowance.sd(1.0), numbers)
        if sure_from >= columns_from:  # so many rows are learned from column by column
            sure_from = max(columns_from, numbers.pure_sure_from * _noise(n_columns, allowance, False, numbers)[0])
    else:
        signal = signal_to_noise(rows, n_columns, allowance.sd(1.0))
        plan = planner.plan(rows, n_columns, signal, allowance.is_pure, pairs, trees)
        without_trees = planner.decided(plan, 0.0) if plan.undecided else plan
        learns, sure_from = _bought(plan, without_trees), enough * noise
    signal = rows / max(noise, 1e-12)
    return {
        "signal": signal,
        "learns": learns,
        "sure": signal >= enough,
        "enough": enough,
        "sure_from": math.ceil(sure_from),
    }


def rarest_share(signal: float, enough: float) -> float | None:
    """From which share of the rarer of two classes on probabilities can be expected to beat the shares of the classes.

    What columns say is a sum over rows of ``p (1 - p)`` and more of what moves their log-odds, whose noise does not
    depend on ``p``. So of classes with the shares ``p`` and ``1 - p`` so many rows are worth ``4 p (1 - p)`` of as many
    of two classes alike.

    Returns:
        the smaller solution of ``4 p (1 - p) signal = enough``; None where not even classes alike have enough.
    """
    return (1.0 - math.sqrt(1.0 - enough / signal)) / 2.0 if signal >= enough else None


def _noise(n_columns: int, allowance: Allowance, trees_alone: bool, numbers: Planning) -> tuple[float, float]:
    """The noise of one release, and how many times that rows must be."""
    one, count = allowance.sd(1.0), max(n_columns, 1)
    if trees_alone:
        return one, numbers.trees_sure_from
    if allowance.is_pure:
        return one * count, numbers.pure_sure_from
    return one * math.sqrt(count), numbers.sure_from


def _bought(*plans: Plan) -> list[str]:
    """Of columns, pairs and trees what one of the plans has budget for."""
    bought = {
        "columns": True,
        "pairs": any(plan.looks_for_pairs for plan in plans),
        "trees": any(plan.n_trees > 0 for plan in plans),
    }
    return [name for name, there in bought.items() if there]
