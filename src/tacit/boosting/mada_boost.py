"""MadaBoost's measure (Domingo and Watanabe 2000), by which the additive model boosts."""

from __future__ import annotations

from functools import cache

import numpy as np

from tacit.arrays import Floats
from tacit.queries.rules import RowRule, signed_margin_rule


def mada_boost(margin: Floats) -> Floats:
    """``min(1, exp(-margin))``, in the shape of the margins.

    Its population optimum is exactly the log-odds; among measures bounded by 1 it carries the most signal.
    """
    return np.minimum(1.0, np.exp(-np.maximum(margin, 0.0)))


@cache
def mada_boost_rule() -> RowRule:
    """What a row contributes to a step: its sign times MadaBoost's measure."""
    return signed_margin_rule(mada_boost)
