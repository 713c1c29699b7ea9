"""What the schemas of other tools say of a column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.schema.columns import Column, IgnoredColumn, column_from_dict, listed_categories
from tacit.schema.errors import SchemaError

OWN = "tacit"
"""The key of what only tacit knows; other tools ignore it."""

SAID = ("lower", "upper", "categories", "description")
"""Keys of a column that every format says in its own way."""

NUMBERS = ("number", "integer")


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column in the words that all formats share.

    Attributes:
        name: of the column.
        type: ``"number"``, ``"integer"``, ``"boolean"``, ``"date"`` or ``"string"``.
        lower, upper: bounds of numbers and dates, if stated.
        values: allowed values; empty if any are.
        ordered: whether the values have an order.
        unique: whether no two rows share a value.
        description: for people.
        own: what only tacit knows: other keys of the column, as in a schema file.
    """

    name: str
    type: str
    lower: Any = None
    upper: Any = None
    values: tuple[Any, ...] = ()
    ordered: bool = False
    unique: bool = False
    description: str = ""
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, column: Column) -> Field:
        """A column of a schema."""
        data = column.to_dict()
        values = listed_categories(column)
        kinds = {"numeric": "number", "boolean": "boolean", "date": "date"}
        whole = bool(values) and all(isinstance(value, int) for value in values)
        return cls(
            name=name,
            type="integer" if whole else kinds.get(column.kind, "string"),
            lower=data.get("lower"),
            upper=data.get("upper"),
            values=values,
            ordered=column.kind == "ordinal",
            description=column.description,
            own={key: value for key, value in data.items() if key not in SAID},
        )  # fmt: skip

    def column(self) -> tuple[Column, str]:
        """The column of a schema, and what a person should decide; without bounds it is left out.

        Raises:
            SchemaError: if what it says is no column.
        """
        kind = self.own.get("kind") or self._kind()
        if kind == "ignore" and "kind" not in self.own:
            lacks = "its values" if self.type == "string" else "lower and upper bounds"
            return IgnoredColumn(self.description), f"left out: {lacks} are not stated; add them if they are public"
        facts: dict[str, Any] = {"kind": kind, **({"granularity": "month"} if kind == "date" else {}), **self.own}
        if kind in ("numeric", "date"):
            bounds = {"lower": self.lower, "upper": self.upper}
            facts |= {
                key: _date(value) if kind == "date" else value for key, value in bounds.items() if value is not None
            }
        if self.values and kind in ("categorical", "ordinal"):
            facts["categories"] = list(self.values)
        if self.description:
            facts["description"] = self.description
        return column_from_dict(facts), ""

    def _kind(self) -> str:
        if self.unique:
            return "id"
        if self.values:
            return "ordinal" if self.ordered else "categorical"
        if self.type == "boolean":
            return "boolean"
        bounded = self.lower is not None and self.upper is not None
        return "ignore" if self.type == "string" or not bounded else "date" if self.type == "date" else "numeric"


def _date(value: Any) -> dt.date:
    if isinstance(value, dt.date):
        return value
    try:
        return dt.date.fromisoformat(str(value)[:10])
    except ValueError:
        raise SchemaError(f"{value!r} is not a date", "write for example 2020-03-31") from None
