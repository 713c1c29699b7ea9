"""The neighbouring relation and the unit of protection: what "one person" means in a privacy claim."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.schema import Schema, Unit


class Neighbouring(StrEnum):
    """Which pairs of tables a guarantee compares.

    One ledger has one relation; mixing two is an error, and there is no conversion.

    Example:
        >>> from tacit import Neighbouring
        >>> Neighbouring("replace_one").n_is_public
        True
    """

    ADD_OR_REMOVE_ONE = "add_or_remove_one"
    """One table has one row (or one unit's rows) more than the other: the number of rows is private."""

    REPLACE_ONE = "replace_one"
    """Both tables have the same number of rows and differ in one: the number of rows is public."""

    @property
    def n_is_public(self) -> bool:
        """Whether the number of rows may be used without paying for it."""
        return self is Neighbouring.REPLACE_ONE


UNIT_OF_A_ROW = ("", 1)  # what is protected where no unit is declared: column and most rows
ROW = "row"  # the same for callers


def unit_key(unit: Unit | str | None) -> tuple[str, int]:
    """What is protected, as accounts compare it: a unit's column and most rows; None and ``"row"`` are a single row."""
    if isinstance(unit, str) and unit != ROW:
        raise ValueError(f"unit must be a Unit(column, max_rows) or {ROW!r}, got {unit!r}")
    return UNIT_OF_A_ROW if unit is None or isinstance(unit, str) else (unit.column, unit.max_rows)


def describe_unit(unit: tuple[str, int]) -> str:
    """A unit for people."""
    column, rows = unit
    return "single rows" if unit == UNIT_OF_A_ROW else f"one {column!r} with up to {rows} row{'s' * (rows > 1)}"


def unit_question(schema: Schema) -> str:
    """What to ask where an identifier is declared and no unit is; empty if there is nothing to ask."""
    name = schema.id_column
    if name is None or schema.unit is not None:
        return ""
    return (
        f"one row is protected, and the schema declares the identifier {name!r}: may one {name} have several rows? "
        f"Then declare a unit with column {name!r} and as many max_rows; if not, max_rows = 1 says so"
    )


def name_question(names: Iterable[str]) -> str:
    """The same where no schema says what columns are, by their names alone; empty if none is called an identifier."""
    from tacit.schema.identifier_names import names_identifier

    name = next(filter(names_identifier, names), None)
    if name is None:
        return ""
    return (
        f"one row is protected, no schema says what columns are, and one is called {name!r}: may one {name} have "
        f"several rows? Then declare a unit with column {name!r} in a schema. Without one a model learns from it, too"
    )
