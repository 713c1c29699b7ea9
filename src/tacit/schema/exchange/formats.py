"""Columns in the words of Frictionless Table Schema, pandera and Croissant, read and written.

Frictionless: https://datapackage.org/standard/table-schema/ (versions 1 and 2). pandera: what
``DataFrameSchema.to_json()`` writes and ``from_json`` reads. Croissant: the fields of one record set of
https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html. That standard has no place for bounds and values of
a field: they stand as schema.org has them, ``minValue``, ``maxValue`` and ``valueReference``. The rows are private:
where their file is, and its ``sha256``, are left to fill in. What only tacit knows is a JSON text there: readers of
the standard follow objects.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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


FRICTIONLESS_TYPES = {"number": "number", "integer": "integer", "year": "integer", "boolean": "boolean", "date": "date",
         "datetime": "date"}  # fmt: skip


def read_frictionless(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
    """The fields of a table schema, or of the only resource of a data package."""
    if "resources" in document:
        schemas = [each["schema"] for each in document["resources"] if isinstance(each.get("schema"), Mapping)]
        if len(schemas) != 1:
            raise SchemaError(f"has {len(schemas)} resources with a schema", "give the schema of one table")
        document = schemas[0]
    if not isinstance(document.get("fields"), Sequence):
        raise SchemaError("has no list of fields", "give a Table Schema, or a data package")
    key = document.get("primaryKey", ())
    keys = [key] if isinstance(key, str) else list(key)
    return [_frictionless_field(each, keys) for each in document["fields"]], document.get(OWN, {})


def _frictionless_field(entry: Mapping[str, Any], keys: list[str]) -> Field:
    rules, listed = entry.get("constraints", {}), entry.get("categories", ())
    values = rules.get("enum") or [each["value"] if isinstance(each, Mapping) else each for each in listed]
    return Field(
        name=entry["name"],
        type=FRICTIONLESS_TYPES.get(entry.get("type", "string"), "string"),
        lower=rules.get("minimum"),
        upper=rules.get("maximum"),
        values=tuple(values),
        ordered=bool(entry.get("categoriesOrdered")),
        unique=bool(rules.get("unique")) or [entry["name"]] == keys,
        description=entry.get("description", ""),
        own=entry.get(OWN, {}),
    )


def write_frictionless(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """A table schema."""
    return {
        "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
        "fields": [_frictionless_written(each) for each in fields],
        **({OWN: dict(own)} if own else {}),
    }


def _frictionless_written(field: Field) -> dict[str, Any]:
    rules: dict[str, Any] = {"minimum": field.lower, "maximum": field.upper, "enum": list(field.values) or None}
    rules = {name: value for name, value in rules.items() if value is not None}
    order = {"categories": list(field.values), "categoriesOrdered": True} if field.ordered else {}
    return {
        "name": field.name,
        "type": field.type,
        **({"description": field.description} if field.description else {}),
        **({"constraints": rules} if rules else {}),
        **order,
        OWN: dict(field.own),
    }


LOWER = ("greater_than_or_equal_to", "greater_than")
UPPER = ("less_than_or_equal_to", "less_than")
CHECKS = (*LOWER, *UPPER, "in_range", "isin")
PANDERA_TYPES = {"int": "integer", "uint": "integer", "float": "number", "decimal": "number", "bool": "boolean",
                 "date": "date"}  # fmt: skip
PANDERA_NAMES = {"number": "float64", "integer": "int64", "boolean": "bool", "date": "datetime64[ns]", "string": "str"}
VERSION = "0.24.0"


def read_pandera(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
    """The columns of a data frame's schema."""
    columns = document.get("columns")
    if not isinstance(columns, Mapping):
        raise SchemaError("has no table of columns", "give what DataFrameSchema.to_json() writes")
    own = (document.get("metadata") or {}).get(OWN, {})
    return [_pandera_field(name, rules) for name, rules in columns.items()], own


def _pandera_field(name: str, rules: Mapping[str, Any]) -> Field:
    checks = _pandera_checks(rules.get("checks")) | _pandera_checks(
        {check: rules[check] for check in CHECKS if check in rules}
    )
    dtype = str(rules.get("dtype") or "").lower()
    between = checks.get("in_range") or {}
    return Field(
        name=name,
        type=next((kind for start, kind in PANDERA_TYPES.items() if dtype.startswith(start)), "string"),
        lower=next((checks[check] for check in LOWER if check in checks), between.get("min_value")),
        upper=next((checks[check] for check in UPPER if check in checks), between.get("max_value")),
        values=tuple(checks.get("isin") or ()),
        unique=bool(rules.get("unique")),
        description=rules.get("description") or "",
        own=(rules.get("metadata") or {}).get(OWN, {}),
    )


def _pandera_checks(checks: Any) -> dict[str, Any]:
    """What the checks of a column state, by their names: in a list or a table; the newest versions have them bare."""
    if isinstance(checks, Mapping):
        return {name: _pandera_stated(value) for name, value in checks.items()}
    return {each["options"]["check_name"]: _pandera_stated(each) for each in checks or ()}


def _pandera_stated(check: Any) -> Any:
    if not isinstance(check, Mapping):
        return check
    stated = {name: value for name, value in check.items() if name != "options"}
    return next(iter(stated.values())) if len(stated) == 1 else stated


def write_pandera(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a data frame."""
    nothing = dict.fromkeys(("checks", "index", "dtype", "name", "unique", "title", "description"))
    rules = {"coerce": True, "strict": False, "ordered": False, "report_duplicates": "all",
             "unique_column_names": False, "add_missing_columns": False}  # fmt: skip
    columns = {each.name: _pandera_written(each) for each in fields}
    own_facts = {"metadata": {OWN: dict(own)}}
    return {"schema_type": "dataframe", "version": VERSION, "columns": columns, **nothing, **rules, **own_facts}


def _pandera_written(field: Field) -> dict[str, Any]:
    rules = {LOWER[0]: field.lower, UPPER[0]: field.upper, "isin": list(field.values) or None}
    checks = [
        {"value": value, "options": {"check_name": name, "raise_warning": False, "ignore_na": True}}
        for name, value in rules.items()
        if value is not None
    ]
    return {
        "title": None,
        "description": field.description or None,
        "dtype": PANDERA_NAMES[field.type],
        "nullable": True,
        "checks": checks or None,
        "unique": False,
        "coerce": False,
        "required": True,
        "regex": False,
        "metadata": {OWN: dict(field.own)},
    }


CROISSANT_TYPES = {
    **dict.fromkeys(("Float", "Number", "Float64", "Float32"), "number"), "Boolean": "boolean",
    **dict.fromkeys(("Integer", "Int64", "Int32"), "integer"), "Date": "date", "DateTime": "date",
}  # fmt: skip
CROISSANT_NAMES = {
    "number": "sc:Float", "integer": "sc:Integer", "boolean": "sc:Boolean", "date": "sc:Date", "string": "sc:Text",
}  # fmt: skip
FILE = "rows.csv"
PLAIN = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in PLAIN.split()},
}
"""The standard's own context, which its readers compare with that of a document."""


def read_croissant(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
    """The fields of the only record set that has no data of its own, as enumerations have."""
    sets = [each for each in document.get("recordSet", ()) if each.get("field") and not each.get("data")]
    if len(sets) != 1:
        raise SchemaError(f"has {len(sets)} record sets with fields", "leave the one of your table")
    keys = [each["@id"] for each in _croissant_list(sets[0].get("key"))]
    return [_croissant_field(each, keys) for each in sets[0]["field"]], json.loads(document.get(OWN, "{}"))


def _croissant_list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]


def _croissant_field(entry: Mapping[str, Any], keys: list[str]) -> Field:
    kinds = [
        str(each).replace("#", ":").split("/")[-1].split(":")[-1] for each in _croissant_list(entry.get("dataType"))
    ]
    return Field(
        name=entry.get("name") or str(entry.get("@id", "")).split("/")[-1],
        type=next((CROISSANT_TYPES[kind] for kind in kinds if kind in CROISSANT_TYPES), "string"),
        lower=entry.get("minValue"),
        upper=entry.get("maxValue"),
        values=tuple(_croissant_list(entry.get("valueReference"))),
        unique=[entry.get("@id")] == keys,
        description=entry.get("description", ""),
        own=json.loads(entry.get(OWN, "{}")),
    )


def write_croissant(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """A description of a table in one file, whose place is to be filled in."""
    place = {"@type": "cr:FileObject", "@id": FILE, "name": FILE, "contentUrl": FILE, "encodingFormat": "text/csv",
             "sha256": ""}  # fmt: skip
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "table",
        "distribution": [place],
        "recordSet": [
            {"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": [_croissant_written(f) for f in fields]}
        ],
        **({OWN: json.dumps(own)} if own else {}),
    }


def _croissant_written(field: Field) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "description": field.description or None,
        "minValue": field.lower,
        "maxValue": field.upper,
        "valueReference": list(field.values) or None,
    }
    return {
        "@type": "cr:Field",
        "@id": f"rows/{field.name}",
        "name": field.name,
        "dataType": CROISSANT_NAMES[field.type],
        **{key: value for key, value in facts.items() if value is not None},
        "source": {"fileObject": {"@id": FILE}, "extract": {"column": field.name}},
        OWN: json.dumps(field.own),
    }


class Format(NamedTuple):
    """Who reads and who writes the schemas of a tool."""

    read: Callable[[Mapping[str, Any]], tuple[list[Field], Mapping[str, Any]]]
    write: Callable[[Sequence[Field], Mapping[str, Any]], dict[str, Any]]


FORMATS = {
    "croissant": Format(read_croissant, write_croissant),
    "frictionless": Format(read_frictionless, write_frictionless),
    "pandera": Format(read_pandera, write_pandera),
}
