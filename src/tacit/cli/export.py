"""`tacit export`: a model as SQL, as an ONNX graph, as a workbook; and the JSON Schema of its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import answer
from tacit.cli.failures import Mistake
from tacit.cli.outputs import check_outputs
from tacit.whole_files import write_text, write_with


class Target(StrEnum):
    """What a model is exported to."""

    SQL = "sql"
    ONNX = "onnx"
    JSON_SCHEMA = "json-schema"
    EXCEL = "excel"


ENDINGS = {Target.SQL: ".sql", Target.ONNX: ".onnx", Target.JSON_SCHEMA: ".schema.json", Target.EXCEL: ".xlsx"}


@dataclass(frozen=True, kw_only=True)
class ExportArguments(shared.WritingArguments):
    model: shared.ModelFile
    to: Annotated[Target, typer.Option("--to", help="Format: sql, onnx, excel, or json-schema (of the model file).")]
    output: shared.Beside = None
    dialect: Annotated[
        Literal["postgresql", "duckdb", "sqlite", "bigquery", "snowflake", "sqlserver", "spark"], "SQL dialect."
    ] = "duckdb"
    table: Annotated[str, "Name of the table in the SQL query."] = "data"
    keep: Annotated[list[str] | None, "Column to select beside the predictions (repeatable)."] = None


def run(arguments: ExportArguments) -> None:
    """Export a model so that it predicts without tacit: a SQL query, an ONNX graph or a workbook of its curves.

    Needs the extra "export" of the package.
    """
    from tacit.export.statement import Subject
    from tacit.models.files import load_model
    from tacit.privacy.certificate import Certificate

    target = arguments.output if arguments.output is not None else arguments.model.with_suffix(ENDINGS[arguments.to])
    check_outputs({"--output": target}, {"the model": arguments.model}, force=arguments.force)
    model, certificate = load_model(arguments.model)
    subject = Subject(model, None if certificate is None else Certificate.from_dict(certificate))
    _write(arguments, subject, target)
    written = {"written": str(target)}
    of_table = {"reads": f"the table {arguments.table!r} in {arguments.dialect}"} if arguments.to is Target.SQL else {}
    answer(arguments.as_json, written | subject.facts, "Export", written | of_table)


def _write(arguments: ExportArguments, subject: object, target: Path) -> None:
    if arguments.to is not Target.SQL and arguments.keep:
        raise Mistake("--keep is for --to sql")
    if arguments.to is Target.SQL:
        from tacit.export.sql import to_sql

        write_text(target, to_sql(subject, arguments.dialect, arguments.table, arguments.keep or ()))
    elif arguments.to is Target.ONNX:
        from tacit.export.onnx_graph import to_onnx

        data = to_onnx(subject).SerializeToString()
        write_with(target, lambda file: file.write(data))
    elif arguments.to is Target.EXCEL:
        from tacit.export.excel import to_excel

        to_excel(subject, target)
    else:
        from tacit.export.json_schema import json_schema

        write_text(target, json.dumps(json_schema(), indent=1) + "\n")
