"""What can be expected of so many rows before any is read: the planning rule, asked beforehand."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from tacit.additive.planner import Planner, signal_to_noise
from tacit.additive.tuning import Planning
from tacit.privacy.budget import Allowance


def outlook(rows: int, n_columns: int, allowance: Allowance, pairs: bool, trees: bool) -> dict[str, Any]:
    """What a fit to two classes could do with ``rows`` rows.

    Args:
        rows: how many are expected, from public knowledge.
        n_columns: columns of the model.
        allowance: the budget.
        pairs: whether interactions are wanted.
        trees: whether trees over the residual are wanted.

    Returns:
        ``signal``, the ratio ``q`` of rows to noise; ``learns``, of "columns", "pairs" and "trees" what there would be
        budget for; ``sure``, whether probabilities can be expected to be better than the shares of the classes alone;
        ``sure_from``, the number of rows from which they can.
    """
    sd = allowance.sd(1.0)
    signal = signal_to_noise(rows, n_columns, sd)
    planned = partial(Planner().plan, rows, n_columns, signal, allowance.is_pure, pairs)
    chosen = planned(trees)
    # what a look will say is not known beforehand: either may follow
    may_pair = planned(False).looks_for_pairs if chosen.look else chosen.looks_for_pairs
    affordable = {"columns": True, "pairs": may_pair, "trees": chosen.n_trees > 0}
    return {
        "signal": signal,
        "learns": [name for name, bought in affordable.items() if bought],
        "sure": signal >= Planning.sure_from,
        "sure_from": math.ceil(Planning.sure_from * sd * math.sqrt(max(n_columns, 1))),
    }
