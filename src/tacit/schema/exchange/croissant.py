"""Croissant: https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html, the fields of one record set.

The standard has no place for bounds and values of a field: they stand as schema.org has them, ``minValue``,
``maxValue`` and ``valueReference``. The rows are private: where their file is, and its ``sha256``, are
left to fill in. What only tacit knows is a JSON text: readers of the standard follow objects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.schema.errors import SchemaError
from tacit.schema.exchange.field import OWN, Field

TYPES = {"Float": "number", "Number": "number", "Float64": "number", "Float32": "number", "Integer": "integer",
         "Int64": "integer", "Int32": "integer", "Boolean": "boolean", "Date": "date", "DateTime": "date"}  # fmt: skip
NAMES = {"number": "sc:Float", "integer": "sc:Integer", "boolean": "sc:Boolean", "date": "sc:Date", "string": "sc:Text"}
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


def read(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
    """The fields of the only record set that has no data of its own, as enumerations have."""
    sets = [each for each in document.get("recordSet", ()) if each.get("field") and not each.get("data")]
    if len(sets) != 1:
        raise SchemaError(f"has {len(sets)} record sets with fields", "leave the one of your table")
    keys = [each["@id"] for each in _list(sets[0].get("key"))]
    return [_field(each, keys) for each in sets[0]["field"]], json.loads(document.get(OWN, "{}"))


def _list(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, list) else [value]


def _field(entry: Mapping[str, Any], keys: list[str]) -> Field:
    kinds = [str(each).replace("#", ":").split("/")[-1].split(":")[-1] for each in _list(entry.get("dataType"))]
    return Field(
        name=entry.get("name") or str(entry.get("@id", "")).split("/")[-1],
        type=next((TYPES[kind] for kind in kinds if kind in TYPES), "string"),
        lower=entry.get("minValue"),
        upper=entry.get("maxValue"),
        values=tuple(_list(entry.get("valueReference"))),
        unique=[entry.get("@id")] == keys,
        description=entry.get("description", ""),
        own=json.loads(entry.get(OWN, "{}")),
    )


def write(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """A description of a table in one file, whose place is to be filled in."""
    place = {"@type": "cr:FileObject", "@id": FILE, "name": FILE, "contentUrl": FILE, "encodingFormat": "text/csv",
             "sha256": ""}  # fmt: skip
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "table",
        "distribution": [place],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": [_written(f) for f in fields]}],
        **({OWN: json.dumps(own)} if own else {}),
    }


def _written(field: Field) -> dict[str, Any]:
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
        "dataType": NAMES[field.type],
        **{key: value for key, value in facts.items() if value is not None},
        "source": {"fileObject": {"@id": FILE}, "extract": {"column": field.name}},
        OWN: json.dumps(field.own),
    }
