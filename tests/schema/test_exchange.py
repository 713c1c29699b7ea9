"""Schemas of pandera, Frictionless and Croissant, read and written."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tacit import Schema, SchemaError
from tacit.cli.main import app
from tacit.schema.exchange import FORMATS, export_schema, import_schema

RICH = {
    "columns": {
        "who": {"kind": "id"},
        "age": {
            "kind": "numeric", "lower": 0, "upper": 110, "spacing": [1, 18], "monotone": "increasing",
            "missing_values": [-9], "description": "Jahre",
        },
        "ward": {"kind": "categorical", "categories": ["01", "02"], "missing": True},
        "code": {"kind": "categorical", "categories": [1, 2]},
        "pain": {"kind": "ordinal", "categories": ["none", "mild", "severe"]},
        "seen": {"kind": "date", "granularity": "year", "lower": dt.date(2019, 1, 1), "upper": dt.date(2021, 5, 1)},
        "day": {"kind": "date", "granularity": "weekday", "format": "%d.%m.%Y"},
        "flag": {"kind": "boolean"},
        "note": {"kind": "ignore"},
    },
    "label": {"column": "ill", "classes": ["no", "yes"], "positive": "no"},
    "unit": {"column": "who", "max_rows": 3, "name": "patient"},
}  # fmt: skip
LABELS: tuple[dict[str, Any], ...] = (
    RICH["label"],
    {"column": "ill", "classes": [False, True]},
    {"column": "ill", "classes": [1, 2, 3]},
    {"column": "cost", "kind": "numeric", "lower": -0.5, "upper": 900},
)

TABLE_SCHEMA = {
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110}, "description": "years"},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "m"]}},
        {"name": "pain", "type": "string", "categories": ["no", "some"], "categoriesOrdered": True},
        {"name": "pay", "type": "number", "constraints": {"minimum": 0}},
        {"name": "seen", "type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2021-06-30"}},
        {"name": "ok", "type": "boolean"},
    ],
    "primaryKey": "id",
}
PANDERA = {
    "schema_type": "dataframe",
    "columns": {
        "id": {"dtype": "str", "unique": True, "checks": None, "description": None},
        "age": {
            "dtype": "int64",
            "unique": False,
            "checks": [
                {"value": 0, "options": {"check_name": "greater_than_or_equal_to"}},
                {"value": 110, "options": {"check_name": "less_than_or_equal_to"}},
            ],
            "description": "years",
        },
        "sex": {"dtype": "str", "checks": {"isin": ["f", "m"]}},
        "pay": {"dtype": "float64", "greater_than_or_equal_to": 0},
        "kin": {"dtype": "int64", "in_range": {"min_value": 0, "max_value": 9, "include_min": True}},
        "old": {"dtype": "float64", "checks": {"greater_than_or_equal_to": {"value": 0, "options": {}}}},
        "seen": {
            "dtype": "datetime64[ns]",
            "checks": {
                "in_range": {"min_value": "2020-01-01 00:00:00", "max_value": "2021-06-30", "include_min": True}
            },
        },
        "ok": {"dtype": "bool", "checks": None},
    },
}
CROISSANT = {
    "recordSet": [
        {"@id": "sexes", "field": [{"@id": "sexes/name"}], "data": [{"sexes/name": "f"}]},
        {
            "@id": "people",
            "key": {"@id": "people/id"},
            "field": [
                {"@id": "people/id", "dataType": "sc:Text"},
                {
                    "@id": "people/age",
                    "dataType": ["sc:Integer"],
                    "minValue": 0,
                    "maxValue": 110,
                    "description": "years",
                },
                {"@id": "people/sex", "name": "sex", "dataType": "sc:Text", "valueReference": ["f", "m"]},
                {"@id": "people/pay", "dataType": "cr:Float64", "minValue": 0},
                {"@id": "people/ok", "dataType": "https://schema.org/Boolean"},
                {"@id": "people/seen", "dataType": "sc:Date", "minValue": "2020-01-01", "maxValue": "2021-06-30"},
            ],
        },
    ]
}
EXPECTED = {
    "id": {"kind": "id"},
    "age": {"kind": "numeric", "lower": 0, "upper": 110, "description": "years"},
    "sex": {"kind": "categorical", "categories": ["f", "m"]},
    "pain": {"kind": "ordinal", "categories": ["no", "some"]},
    "pay": {"kind": "ignore"},
    "kin": {"kind": "numeric", "lower": 0, "upper": 9},
    "old": {"kind": "ignore"},
    "seen": {"kind": "date", "granularity": "month", "lower": "2020-01-01", "upper": "2021-06-30"},
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("label", LABELS)
def test_what_is_written_is_read_back_as_it_was(name: str, label: dict[str, Any]) -> None:
    schema = Schema.from_dict({**RICH, "label": label})
    text = json.dumps(export_schema(schema, name))
    draft = import_schema(json.loads(text), name)
    assert (draft.schema, draft.notes) == (schema, ())
    bare = Schema(schema.columns)
    assert import_schema(export_schema(bare, name), name).schema == bare


@pytest.mark.parametrize(
    ("name", "document"), [("frictionless", TABLE_SCHEMA), ("pandera", PANDERA), ("croissant", CROISSANT)]
)
def test_documents_of_others_become_drafts(name: str, document: dict[str, Any]) -> None:
    draft = import_schema(document, name, label="ok")
    columns = {key: column.to_dict() for key, column in draft.schema.columns.items()}
    assert columns == {key: EXPECTED[key] for key in columns}
    assert len(columns) >= 5
    ignored = [key for key in columns if EXPECTED[key]["kind"] == "ignore"]
    lacks = "left out: lower and upper bounds are not stated; add them if they are public"
    assert draft.notes == tuple(f"{key}: {lacks}" for key in ignored)
    assert draft.schema.label is not None
    assert draft.schema.label.classes == (False, True)


def test_a_data_package_holds_one_table() -> None:
    package = {"resources": [{"name": "a", "schema": TABLE_SCHEMA}, {"name": "notes"}]}
    assert import_schema(package, "frictionless") == import_schema(TABLE_SCHEMA, "frictionless")
    with pytest.raises(SchemaError, match="2 resources with a schema"):
        import_schema({"resources": [{"schema": TABLE_SCHEMA}] * 2}, "frictionless")


def test_all_columns_that_cannot_be_declared_are_named_at_once() -> None:
    wrong = [
        {"name": "age", "type": "integer", "constraints": {"minimum": 9, "maximum": 1}},
        {"name": "sex", "type": "string", "constraints": {"enum": ["f", "f"]}},
        {"name": "ok", "type": "string"},
    ]
    with pytest.raises(SchemaError) as caught:
        import_schema({"fields": wrong}, "frictionless", label="ok")
    for part in ("column 'age'", "lower = 9", "column 'sex'", "column 'ok'"):
        assert part in str(caught.value)
    assert str(caught.value).count("Nothing was spent.") == 1


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "document", [{}, {"fields": 3}, {"columns": [1]}, {"recordSet": [{"field": [3]}]}, {"fields": [{}]}]
)
def test_what_is_no_such_document_is_refused(name: str, document: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        import_schema(document, name)


def test_the_label_must_be_there() -> None:
    with pytest.raises(SchemaError, match=r"no column 'sax'; did you mean 'sex'\?"):
        import_schema(TABLE_SCHEMA, "frictionless", label="sax")


def test_commands(tmp_path: Path) -> None:
    def run(*words: Any) -> Any:
        return CliRunner().invoke(app, ["schema", *map(str, words)])

    schema = Schema.from_dict(RICH)
    schema.to_toml(tmp_path / "a.toml")
    for name in FORMATS:
        place = tmp_path / f"{name}.json"
        assert run("export", tmp_path / "a.toml", "--to", name, "-o", place).exit_code == 0
        assert run("export", tmp_path / "a.toml", "--to", name, "-o", place).exit_code == 2  # it is there
        back = tmp_path / f"{name}.toml"
        result = run("import", place, "--from", name, "-o", back)
        assert (result.exit_code, "7 features" in result.output) == (0, True)
        assert Schema.from_toml(back) == schema
    (tmp_path / "no.json").write_text("{")
    assert "is not JSON" in run("import", tmp_path / "no.json", "--from", "pandera", "-o", tmp_path / "b.toml").output
