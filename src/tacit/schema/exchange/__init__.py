"""Schemas of other tools: Frictionless Table Schema, pandera and Croissant, read into drafts and written.

What only tacit knows (the label, the protected unit, spacing, marks for missing values) travels under the key
``tacit``, which other tools ignore, so that what is written is read back as the same schema. A schema is public: do not
import one whose bounds and values were taken from the rows to be protected.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.schema.draft import Draft
from tacit.schema.errors import SchemaError, nearest
from tacit.schema.exchange.formats import FORMATS, Field, Format
from tacit.schema.label import Label, Unit
from tacit.schema.schema import Schema


def import_schema(
    document: Mapping[str, Any] | str | os.PathLike[str], source: str, *, label: str | None = None, positive: Any = None
) -> Draft:
    """Reads the schema of another tool into a draft, to be read and corrected.

    Args:
        document: a JSON file, or what it holds.
        source: ``"frictionless"``, ``"pandera"`` or ``"croissant"``.
        label: the column to predict, if the document was not written by tacit.
        positive: the positive class, if it is not to be the last one.

    Raises:
        SchemaError: for what is no such document, and for all columns that cannot be declared, at once.

    Example:
        >>> from tacit.schema.exchange import import_schema
        >>> ages = {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110}}
        >>> draft = import_schema({"fields": [ages, {"name": "note", "type": "string"}]}, "frictionless")
        >>> print(draft.schema.features, draft.notes)
        ('age',) ('note: left out: its values are not stated; add them if they are public',)
    """
    where = "the document" if isinstance(document, Mapping) else os.fspath(document)
    data = document if isinstance(document, Mapping) else _json(Path(document))
    try:
        fields, own = _format(source).read(data)
    except SchemaError as error:
        raise error.inside(where) from None
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        problem = f"is no schema of {source} ({type(error).__name__}: {error})"
        raise SchemaError(problem, f"sources are {', '.join(FORMATS)}", where=where) from None
    stated = own.get("label")
    name = label or (stated or {}).get("column")
    columns, notes, errors = {}, [], []
    target = None
    for each in fields:
        try:
            if each.name == name:
                target = _label(each, stated if label is None else None, positive)
                continue
            columns[each.name], note = each.column()
            notes += [f"{each.name}: {note}"] if note else []
        except SchemaError as error:
            errors.append(error.inside(f"column '{each.name}'"))
    if name is not None and target is None and not errors:
        errors.append(SchemaError(f"there is no column '{name}'", nearest(name, columns)))
    if errors:
        raise SchemaError.of(errors).inside(where)
    return Draft(Schema(columns, target, Unit.from_dict(own["unit"]) if own.get("unit") else None), tuple(notes))


def export_schema(schema: Schema, target: str) -> dict[str, Any]:
    """Writes a schema for another tool, as plain data for ``json.dump``.

    Args:
        schema: any schema.
        target: ``"frictionless"``, ``"pandera"`` or ``"croissant"``.

    Example:
        >>> from tacit.examples import hospital
        >>> from tacit.schema.exchange import export_schema, import_schema
        >>> X, y, schema = hospital(100)
        >>> print(import_schema(export_schema(schema, "pandera"), "pandera").schema == schema)
        True
    """
    fields = [Field.of(name, column) for name, column in schema.columns.items()]
    own: dict[str, Any] = {}
    if schema.label is not None:
        own["label"] = schema.label.to_dict()
        fields.append(_field_of_label(schema.label))
    if schema.unit is not None:
        own["unit"] = schema.unit.to_dict()
    document = _format(target).write(fields, own)
    data: dict[str, Any] = json.loads(json.dumps(document, default=str))
    return data


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise SchemaError(f"unknown format '{name}'", nearest(name, FORMATS))
    return FORMATS[name]


def _json(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SchemaError(f"cannot be read ({error.strerror})", "give a JSON file", where=str(path)) from None
    except ValueError as error:
        raise SchemaError(f"is not JSON ({error})", "export it as JSON", where=str(path)) from None
    if not isinstance(data, Mapping):
        raise SchemaError("is no JSON object", "give the whole document", where=str(path))
    return data


def _field_of_label(label: Label) -> Field:
    lower, upper = label.bounds if label.is_numeric else (None, None)
    kind = "number" if label.is_numeric else "string"
    if label.classes and all(isinstance(value, bool) for value in label.classes):
        kind = "boolean"
    elif label.classes and all(isinstance(value, int) for value in label.classes):
        kind = "integer"
    return Field(name=label.column, type=kind, lower=lower, upper=upper, values=label.classes)


def _label(field: Field, stated: Mapping[str, Any] | None, positive: Any) -> Label:
    """The label from its field; ``stated`` is what tacit wrote about it."""
    if stated is not None:
        return Label.from_dict(stated)
    values = field.values or ((False, True) if field.type == "boolean" else ())
    if values:
        return Label(field.name, "classes", tuple(values), () if positive is None else positive)
    return Label(field.name, "numeric", lower=field.lower, upper=field.upper)
