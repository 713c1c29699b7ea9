"""The schema: all that is publicly known about a table before a row of it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, final

import rfc8785

from tacit.display import Brief, Shown
from tacit.schema.columns import Column, IdColumn, OrdinalColumn, column_from_dict
from tacit.schema.errors import SchemaError, refuse_unknown
from tacit.schema.label import Label, Unit
from tacit.schema.values import check_name
from tacit.whole_files import read_toml, write_text

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Schema(Brief, Shown):
    """Columns, label and protected unit. Public; made by a person or from public data, never from the private rows.

    Attributes:
        columns: per column name, what it holds; the order is the order of the features.
        label: what is to be predicted, if declared.
        unit: who is protected, if it is not a row.

    Raises:
        SchemaError: names the column and the field, and says what would be right.

    Example:
        >>> from tacit import Schema
        >>> schema = Schema.from_dict({"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}})
        >>> print(schema.features, schema.columns["age"].upper)
        ('age',) 100.0
    """

    columns: Mapping[str, Column]
    label: Label | None = None
    unit: Unit | None = None

    def __post_init__(self) -> None:
        for name, column in self.columns.items():
            check_name(name)
            if not isinstance(column, Column):
                raise SchemaError(f"got {column!r}", "give a column such as NumericColumn(0, 1)", where=_column(name))
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        if self.label is not None and self.label.column in self.columns:
            raise SchemaError(
                "is the label and listed under columns too", "keep it under label", where=_column(self.label.column)
            )
        if self.unit is not None:
            if self.unit.column in self.features:
                raise SchemaError(
                    "is the unit and a feature too", "declare it as kind 'id'", where=_column(self.unit.column)
                )
            if self.label is not None and self.label.column == self.unit.column:
                raise SchemaError("is both label and unit", "they must differ", where=_column(self.unit.column))
        if not self.features:
            raise SchemaError("no column to learn from", "declare at least one feature under columns")

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns a model may learn from, in order."""
        return tuple(name for name, column in self.columns.items() if column.is_feature)

    @property
    def ordinals(self) -> frozenset[str]:
        """The columns whose categories have an order."""
        return frozenset(name for name, column in self.columns.items() if isinstance(column, OrdinalColumn))

    @property
    def id_column(self) -> str | None:
        """The first column declared as an identifier, or the unit's."""
        if self.unit is not None:
            return self.unit.column
        return next((name for name, column in self.columns.items() if isinstance(column, IdColumn)), None)

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain data in the layout of the file; :meth:`from_dict` is the inverse, exactly."""
        data: dict[str, Any] = {}
        if self.label is not None:
            data["label"] = self.label.to_dict()
        if self.unit is not None:
            data["unit"] = self.unit.to_dict()
        data["columns"] = {name: column.to_dict() for name, column in self.columns.items()}
        return data

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Schema:
        """Reads a schema from plain data; an error names all columns and sections that are wrong."""
        if not isinstance(data, Mapping):
            raise SchemaError(f"a schema is a table of keys, got {type(data).__name__}", "")
        refuse_unknown(data, ("label", "unit", "columns"))
        columns = data.get("columns")
        if not isinstance(columns, Mapping) or not columns:
            raise SchemaError("no columns are declared", "add a section [columns.NAME] per column")
        errors: list[SchemaError] = []

        def read(where: str, make: Callable[[Any], T], part: Any) -> T | None:
            try:
                return make(part)
            except SchemaError as error:
                errors.append(error.inside(where))
                return None

        declared = {name: read(_column(name), column_from_dict, column) for name, column in columns.items()}
        label = read("section [label]", Label.from_dict, data["label"]) if "label" in data else None
        unit = read("section [unit]", Unit.from_dict, data["unit"]) if "unit" in data else None
        if errors:
            raise SchemaError.of(errors)
        return Schema({name: column for name, column in declared.items() if column is not None}, label, unit)

    def to_toml(self, path: str | os.PathLike[str], header: str = "") -> None:
        """Writes the schema file, whole or not at all. ``header``: lines that go on top as comments."""
        import tomli_w

        lines = "".join(f"# {line}\n" if line else "#\n" for line in header.splitlines())
        write_text(path, lines + ("\n" if lines else "") + tomli_w.dumps(self.to_dict()))

    @staticmethod
    def from_toml(path: str | os.PathLike[str]) -> Schema:
        """Reads a schema file; errors name the file, and for syntax the line."""
        where = os.fspath(path)
        try:
            data = read_toml(path)
        except OSError as error:
            raise SchemaError(f"cannot be read ({error.strerror})", "give a schema file", where=where) from None
        except UnicodeDecodeError:
            raise SchemaError("is not UTF-8 text", "save it as UTF-8", where=where) from None
        except ValueError as error:
            raise SchemaError(f"is not valid TOML: {error}", "", where=where) from None
        try:
            return Schema.from_dict(data)
        except SchemaError as error:
            raise error.inside(where) from None

    def canonical_json(self) -> bytes:
        """One text per schema (RFC 8785), columns in their order."""
        data = self.to_dict()
        data["columns"] = list(data["columns"].items())
        return rfc8785.dumps(data)

    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return hashlib.sha256(self.canonical_json()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.canonical_json() == other.canonical_json() if isinstance(other, Schema) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.canonical_json())

    def __getstate__(self) -> dict[str, Any]:
        return self.to_dict()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(vars(Schema.from_dict(state)))


def _column(name: object) -> str:
    return f"column '{name}'"
