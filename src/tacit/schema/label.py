"""The label and the protected unit, as publicly declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, final

from tacit.schema.cell_format import CellFormat, number_format
from tacit.schema.columns import check_allow, check_bounds
from tacit.schema.errors import SchemaError, nearest, refuse_unknown
from tacit.schema.values import (
    Value,
    distinct_values,
    identity,
    plain_count,
    plain_flag,
    plain_number,
    plain_text,
    plain_value,
    short_number,
)

MOST_CLASSES = 254
"""Label codes are 8 bits and 255 stands for a dropped row."""


class LabelKind(StrEnum):
    """What a label is: one of some classes, or a number."""

    CLASSES = "classes"
    NUMERIC = "numeric"


@final
@dataclass(frozen=True)
class Label:
    """What is to be predicted.

    Attributes:
        column: name of the label's column.
        kind: ``"classes"`` or ``"numeric"``.
        classes: for classes: the values, at least two. A row with any other label is dropped.
        positive: for classes: a value or several. If given, the problem has two classes: positive and the rest. Of two
            classes without it the second is the positive one; of more, each stays a class of its own. Where there are
            two sides, labels may be false and true, too, or 0 and 1, as far as classes do not mean those themselves.
        lower, upper: for numeric labels: finite bounds, values outside are clipped.
        exact: for classes: whether texts that spell numbers are compared as texts, as in a categorical column.
        missing_values, symbol, thousands: for numeric labels: how cells are written, as in a numeric column.
        allow: for classes: ``"identifier"`` if they may be published although they look like identifiers.
    """

    column: str
    kind: LabelKind | str = LabelKind.CLASSES
    classes: tuple[Value, ...] = ()
    positive: Any = ()
    lower: float | None = None
    upper: float | None = None
    exact: bool = False
    missing_values: tuple[float, ...] = ()
    symbol: str = ""
    thousands: str = ""
    allow: str = ""

    def __post_init__(self) -> None:
        check_allow(self.allow)
        object.__setattr__(self, "exact", plain_flag(self.exact, "exact"))
        if not plain_text(self.column, "column"):
            raise SchemaError("is empty", "name the label's column", "column")
        if self.kind not in tuple(LabelKind):
            raise SchemaError(f"unknown kind {self.kind!r}", nearest(str(self.kind), LabelKind), "kind")
        object.__setattr__(self, "kind", LabelKind(self.kind))
        if self.is_numeric:
            self._check_numeric()
        else:
            self._check_classes()

    def _check_classes(self) -> None:
        for field in ("lower", "upper", "missing_values", "symbol", "thousands"):
            if getattr(self, field) not in (None, (), ""):
                raise SchemaError("belongs to a numeric label", "leave it out, or set kind = 'numeric'", field)
        classes = distinct_values(self.classes, "classes", 2, MOST_CLASSES, self.exact)
        positives = self.positive if _is_list(self.positive) else () if self.positive is None else (self.positive,)
        names = {identity(value): value for value in classes}
        positive = []
        for item in positives:
            value = plain_value(item, "positive")
            if identity(value) not in names:
                hint = nearest(identity(value), names)
                raise SchemaError(f"{value!r} is not one of classes", hint, "positive")
            positive.append(names[identity(value)])
        if positive and len(set(map(identity, positive))) == len(classes):
            raise SchemaError("all classes are positive", "leave at least one out", "positive")
        identities = {identity(value) for value in positive}
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "positive", tuple(value for value in classes if identity(value) in identities))

    def _check_numeric(self) -> None:
        for field in ("classes", "positive", "exact", "allow"):
            if getattr(self, field) not in ((), None, False, ""):
                raise SchemaError("belongs to a label of kind 'classes'", "leave it out", field)
        for field in ("lower", "upper"):
            if getattr(self, field) is None:
                raise SchemaError("is missing", "a numeric label needs public bounds", field)
            object.__setattr__(self, field, plain_number(getattr(self, field), field))
        assert self.lower is not None
        assert self.upper is not None
        check_bounds(self.lower, self.upper)
        cell_format = number_format(self.symbol, self.thousands, self.missing_values)
        object.__setattr__(self, "missing_values", cell_format.missing_values)
        object.__setattr__(self, "classes", ())
        object.__setattr__(self, "positive", ())

    @property
    def is_numeric(self) -> bool:
        """Whether it is a number; otherwise it is one of some classes."""
        return self.kind == LabelKind.NUMERIC

    @property
    def cell_format(self) -> CellFormat:
        """How the cells of a numeric label are written."""
        return CellFormat(self.symbol, self.thousands, self.missing_values)

    @property
    def is_plain_number(self) -> bool:
        """Whether a file's cells are read as plain numbers, and not as texts."""
        return self.is_numeric and self.cell_format.is_plain

    @property
    def bounds(self) -> tuple[float, float]:
        """Of a numeric label: lower and upper.

        Raises:
            TypeError: for a label of classes.
        """
        if self.lower is None or self.upper is None:
            raise TypeError(f"the label '{self.column}' has classes, and no bounds")
        return self.lower, self.upper

    @property
    def positive_classes(self) -> tuple[Value, ...]:
        """The positive classes of a problem with two sides; empty if every class stands for itself."""
        if self.positive:
            return tuple(self.positive)
        return self.classes[1:] if len(self.classes) == 2 else ()

    def to_dict(self) -> dict[str, Any]:
        """The label as plain data; :meth:`from_dict` is the inverse."""
        if self.is_numeric:
            lower, upper = map(short_number, self.bounds)
            of_numbers = {"column": self.column, "kind": str(self.kind), "lower": lower, "upper": upper}
            marks = [short_number(mark) for mark in self.missing_values]
            return of_numbers | self.cell_format.to_dict() | ({"missing_values": marks} if marks else {})
        data: dict[str, Any] = {"column": self.column, "kind": str(self.kind), "classes": list(self.classes)}
        if self.positive:
            data["positive"] = self.positive[0] if len(self.positive) == 1 else list(self.positive)
        return data | ({"exact": True} if self.exact else {}) | ({"allow": self.allow} if self.allow else {})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Label:
        """The inverse of :meth:`to_dict`; refuses unknown keys."""
        return Label(**_keys_of(data, Label, ("column",)))


@final
@dataclass(frozen=True)
class Unit:
    """Who is protected, when not a row: a person's rows share a value of ``column``, and at most ``max_rows`` count.

    Rows without a value there count not at all: nobody could tell how many of them are one person's. ``name`` is what
    one of them is called in reports, such as ``"patient"``.
    """

    column: str
    max_rows: int
    name: str = ""

    def __post_init__(self) -> None:
        if not plain_text(self.column, "column"):
            raise SchemaError("is empty", "name the unit's column", "column")
        object.__setattr__(self, "max_rows", plain_count(self.max_rows, "max_rows", 1, 1_000_000))
        object.__setattr__(self, "name", plain_text(self.name, "name").strip())

    def to_dict(self) -> dict[str, Any]:
        """The unit as plain data; :meth:`from_dict` is the inverse."""
        return {"column": self.column, "max_rows": self.max_rows, **({"name": self.name} if self.name else {})}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Unit:
        """The inverse of :meth:`to_dict`; refuses unknown keys."""
        return Unit(**_keys_of(data, Unit, ("column", "max_rows")))


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _keys_of(data: Any, kind: type, required: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise SchemaError(f"must be a table of keys, got {data!r:.80}", "")
    refuse_unknown(data, [field.name for field in fields(kind)])
    for field in required:
        if field not in data:
            raise SchemaError("is missing", "it is needed", field)
    return dict(data)
