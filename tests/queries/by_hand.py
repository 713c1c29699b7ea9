"""What tests of queries by value ask of a query, and the small rules they ask it about."""

from __future__ import annotations

import numpy as np

from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity
from tacit.queries.rules import RowRule

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def moves(query: object, relation: Neighbouring) -> tuple[int, int]:
    """L1 and squared L2."""
    result: Sensitivity = query.sensitivity(relation)  # type: ignore[attr-defined]
    return result.l1, result.l2_squared


def rule_of(*lines: tuple[int, ...], unit: int = 3) -> RowRule:
    """A rule that does not look at margins: a line per label."""
    return RowRule(np.array(lines, np.int32)[:, None, :], unit)
