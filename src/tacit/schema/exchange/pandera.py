"""pandera: what ``DataFrameSchema.to_json()`` writes and ``from_json`` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.schema.errors import SchemaError
from tacit.schema.exchange.field import OWN, Field

LOWER = ("greater_than_or_equal_to", "greater_than")
UPPER = ("less_than_or_equal_to", "less_than")
CHECKS = (*LOWER, *UPPER, "in_range", "isin")
TYPES = (("int", "integer"), ("uint", "integer"), ("float", "number"), ("decimal", "number"), ("bool", "boolean"),
         ("date", "date"))  # fmt: skip
NAMES = {"number": "float64", "integer": "int64", "boolean": "bool", "date": "datetime64[ns]", "string": "str"}
VERSION = "0.24.0"


def read(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
    """The columns of a data frame's schema."""
    columns = document.get("columns")
    if not isinstance(columns, Mapping):
        raise SchemaError("has no table of columns", "give what DataFrameSchema.to_json() writes")
    own = (document.get("metadata") or {}).get(OWN, {})
    return [_field(name, rules) for name, rules in columns.items()], own


def _field(name: str, rules: Mapping[str, Any]) -> Field:
    checks = _checks(rules.get("checks")) | _checks({check: rules[check] for check in CHECKS if check in rules})
    dtype = str(rules.get("dtype") or "").lower()
    between = checks.get("in_range") or {}
    return Field(
        name=name,
        type=next((kind for start, kind in TYPES if dtype.startswith(start)), "string"),
        lower=next((checks[check] for check in LOWER if check in checks), between.get("min_value")),
        upper=next((checks[check] for check in UPPER if check in checks), between.get("max_value")),
        values=tuple(checks.get("isin") or ()),
        unique=bool(rules.get("unique")),
        description=rules.get("description") or "",
        own=(rules.get("metadata") or {}).get(OWN, {}),
    )


def _checks(checks: Any) -> dict[str, Any]:
    """What the checks of a column state, by their names: in a list or a table; the newest versions have them bare."""
    if isinstance(checks, Mapping):
        return {name: _stated(value) for name, value in checks.items()}
    return {each["options"]["check_name"]: _stated(each) for each in checks or ()}


def _stated(check: Any) -> Any:
    if not isinstance(check, Mapping):
        return check
    stated = {name: value for name, value in check.items() if name != "options"}
    return next(iter(stated.values())) if len(stated) == 1 else stated


def write(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a data frame."""
    return {
        "schema_type": "dataframe",
        "version": VERSION,
        "columns": {each.name: _written(each) for each in fields},
        "checks": None,
        "index": None,
        "dtype": None,
        "coerce": True,
        "strict": False,
        "name": None,
        "ordered": False,
        "unique": None,
        "report_duplicates": "all",
        "unique_column_names": False,
        "add_missing_columns": False,
        "title": None,
        "description": None,
        "metadata": {OWN: dict(own)},
    }


def _written(field: Field) -> dict[str, Any]:
    rules = {LOWER[0]: field.lower, UPPER[0]: field.upper, "isin": list(field.values) or None}
    checks = [
        {"value": value, "options": {"check_name": name, "raise_warning": False, "ignore_na": True}}
        for name, value in rules.items()
        if value is not None
    ]
    return {
        "title": None,
        "description": field.description or None,
        "dtype": NAMES[field.type],
        "nullable": True,
        "checks": checks or None,
        "unique": False,
        "coerce": False,
        "required": True,
        "regex": False,
        "metadata": {OWN: dict(field.own)},
    }
