"""What is publicly known about a table: :class:`Schema`, its columns, label and unit."""

from tacit.schema.columns import (
    BooleanColumn,
    CategoricalColumn,
    Column,
    DateColumn,
    IdColumn,
    IgnoredColumn,
    NumericColumn,
    OrdinalColumn,
    column_from_dict,
)
from tacit.schema.errors import SchemaError
from tacit.schema.label import Label, LabelKind, Unit
from tacit.schema.schema import Schema
from tacit.schema.values import Value

__all__ = [
    "BooleanColumn",
    "CategoricalColumn",
    "Column",
    "DateColumn",
    "IdColumn",
    "IgnoredColumn",
    "Label",
    "LabelKind",
    "NumericColumn",
    "OrdinalColumn",
    "Schema",
    "SchemaError",
    "Unit",
    "Value",
    "column_from_dict",
]
