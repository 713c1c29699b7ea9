"""Frictionless Table Schema: https://datapackage.org/standard/table-schema/ (versions 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.schema.errors import SchemaError
from tacit.schema.exchange.field import OWN, Field

TYPES = {"number": "number", "integer": "integer", "year": "integer", "boolean": "boolean", "date": "date",
         "datetime": "date"}  # fmt: skip


def read(document: Mapping[str, Any]) -> tuple[list[Field], Mapping[str, Any]]:
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
    return [_field(each, keys) for each in document["fields"]], document.get(OWN, {})


def _field(entry: Mapping[str, Any], keys: list[str]) -> Field:
    rules, listed = entry.get("constraints", {}), entry.get("categories", ())
    values = rules.get("enum") or [each["value"] if isinstance(each, Mapping) else each for each in listed]
    return Field(
        name=entry["name"],
        type=TYPES.get(entry.get("type", "string"), "string"),
        lower=rules.get("minimum"),
        upper=rules.get("maximum"),
        values=tuple(values),
        ordered=bool(entry.get("categoriesOrdered")),
        unique=bool(rules.get("unique")) or [entry["name"]] == keys,
        description=entry.get("description", ""),
        own=entry.get(OWN, {}),
    )


def write(fields: Sequence[Field], own: Mapping[str, Any]) -> dict[str, Any]:
    """A table schema."""
    return {
        "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
        "fields": [_written(each) for each in fields],
        **({OWN: dict(own)} if own else {}),
    }


def _written(field: Field) -> dict[str, Any]:
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
