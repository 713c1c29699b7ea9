"""Who an account protects: single rows, or a unit of several."""

from __future__ import annotations

from tacit.schema import Unit

UNIT_OF_A_ROW = ("", 1)
"""What is protected where no unit is declared: column and most rows."""

ROW = "row"
"""The same for callers."""


def unit_key(unit: Unit | str | None) -> tuple[str, int]:
    """What is protected, as accounts compare it: a unit's column and most rows; None and ``"row"`` are a single row."""
    if isinstance(unit, str) and unit != ROW:
        raise ValueError(f"unit must be a Unit(column, max_rows) or {ROW!r}, got {unit!r}")
    return UNIT_OF_A_ROW if unit is None or isinstance(unit, str) else (unit.column, unit.max_rows)


def words_of(unit: tuple[str, int]) -> str:
    """A unit for people."""
    column, rows = unit
    return "single rows" if unit == UNIT_OF_A_ROW else f"one {column!r} with up to {rows} row{'s' * (rows > 1)}"
