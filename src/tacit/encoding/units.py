"""Units: which rows are one person's, by the identifier in a column."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Hashable
from typing import Any

import numpy as np

from tacit.arrays import Bools, Ints
from tacit.encoding.errors import FrameError
from tacit.encoding.keys import NO_KEY, codes_by
from tacit.encoding.tokens import as_tokens
from tacit.encoding.values import is_missing

_WHOLE = re.compile(r"(0|-?[1-9][0-9]{0,299})(\.0+)?")
"""How a whole number is written that loses nothing by being read."""

NO_UNIT = NO_KEY
"""The code of a row whose identifier is missing: nobody can tell whose it is."""


def unit_of(value: Any) -> Hashable | None:
    """What identifies a unit, None where nothing does. Depends on the value alone.

    However one identifier came to be written, it must be one unit, or a person would have more rows than are paid for:
    ``1``, ``1.0``, ``True``, ``"1"``, ``" 1.0"`` and ``b"1"`` are equal. Other texts stand for themselves: ``"007"``,
    ``"12e3"`` and ``"0e46"`` are no numbers here, as they would make one unit of several persons.
    """
    try:
        value = value.item() if isinstance(value, np.generic) else value
        value = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        if is_missing(value):
            return None
        if isinstance(value, str):
            text = value.strip()
            return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text
        if isinstance(value, float | decimal.Decimal) and not math.isfinite(value):
            return None
        hash(value)
    except (TypeError, ValueError, ArithmeticError):  # it cannot say what it is; no row is a reason to stop
        return None
    found: Hashable = value
    return found


def unit_codes(values: Any, name: str = "") -> Ints:
    """A code per row, equal where rows are of one unit, :data:`NO_UNIT` where the identifier is missing."""
    try:
        tokens = as_tokens(values, name)
    except FrameError:  # dates and the like: no categories, but they can identify
        tokens = np.fromiter(values, object, len(values))
    return codes_by(unit_of, tokens)[0]


def first_rows(units: Ints, most: int) -> Bools:
    """Whether a row is among the first ``most`` of its unit, shape ``(rows,)``; rows without a unit are not.

    A row depends on its own unit only: were rows without an identifier one unit, persons would push each other out.
    """
    order = np.argsort(units, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(units[order]) > 0])) if len(order) else order
    rank = np.empty(len(units), np.int64)
    rank[order] = np.arange(len(units)) - np.repeat(starts, np.diff(np.append(starts, len(units))))
    counts: Bools = (rank < most) & (units != NO_UNIT)
    return counts
