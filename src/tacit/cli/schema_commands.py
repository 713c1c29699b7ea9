"""`tacit schema`: make a first schema from public data, check one, and read and write those of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli import discover
from tacit.cli.console import as_json as print_json
from tacit.cli.console import features_of, visible
from tacit.cli.failures import Mistake
from tacit.cli.outputs import check_outputs
from tacit.cli.tables import rows_of

if TYPE_CHECKING:
    from tacit.schema.draft import Draft

app = typer.Typer(help="Schemas: the public facts about a table, in a TOML file.", no_args_is_help=True)


class Foreign(StrEnum):
    """Whose schemas are read and written."""

    croissant = "croissant"
    frictionless = "frictionless"
    pandera = "pandera"


@dataclass(frozen=True, kw_only=True)
class InitArguments(shared.CsvArguments, shared.WritingArguments):
    data: Annotated[
        Path | None, typer.Argument(help="A PUBLIC sample (CSV, also .gz, or Parquet). Never the private rows.")
    ] = None
    target: Annotated[str, "Column to predict."] = ""
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file.")] = Path("schema.toml")
    dictionary: Annotated[
        Path | None, "Instead of a sample: a CSV with name, kind, lower, upper, categories (a|b), description ..."
    ] = None
    kind: Annotated[str | None, "Kind of the target: classes or numeric. Default: inferred from its values."] = None
    thousands: Annotated[
        str, "Thousands separator in numbers: , if 1,204 means 1204; also . or ' or a blank. The schema remembers it."
    ] = ""
    positive: Annotated[str | None, "Positive class. Default: the last one."] = None


@dataclass(frozen=True, kw_only=True)
class FileArguments(shared.JsonArguments):
    schema: Annotated[Path, "A schema file (TOML)."]


@dataclass(frozen=True, kw_only=True)
class ImportArguments(shared.WritingArguments):
    document: Annotated[Path, "A JSON file of the other tool. PUBLIC facts only."]
    source: Annotated[Foreign, typer.Option("--from", help="The tool that wrote it.")]
    target: Annotated[str | None, "Column to predict."] = None
    positive: Annotated[str | None, "Positive class. Default: the last one."] = None
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file.")] = Path("schema.toml")


@dataclass(frozen=True, kw_only=True)
class ExportArguments:
    schema: Annotated[Path, "A schema file (TOML)."]
    to: Annotated[Foreign, typer.Option("--to", help="The tool to write it for.")]
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file (JSON).")] = Path("schema.json")
    force: shared.Force = False


def init(arguments: InitArguments) -> None:
    """Draft a schema from a PUBLIC sample or a data dictionary, for you to read and correct.

    A schema is never charged for, so it must not be made from private rows: finding their bounds and categories
    privately costs budget.
    """
    data, dictionary, target, output = arguments.data, arguments.dictionary, arguments.target, arguments.output
    if (data is None) == (dictionary is None):
        raise Mistake("give either a public sample or --dictionary")
    if not target:
        raise Mistake("--target is missing: name the column to predict")
    check_outputs({"--output": output}, {"the sample": data, "the dictionary": dictionary}, force=arguments.force)
    _check_options(arguments)
    _warn()
    _write(_drafted(arguments), output, arguments.as_json)


def import_(arguments: ImportArguments) -> None:
    """Draft a schema from one of pandera, Frictionless or Croissant, for you to read and correct.

    Columns without public bounds or values are left out, and named.
    """
    from tacit.schema.exchange import import_schema

    check_outputs({"--output": arguments.output}, {"the document": arguments.document}, force=arguments.force)
    _warn()
    draft = import_schema(
        arguments.document, arguments.source.value, label=arguments.target, positive=arguments.positive
    )
    _write(draft, arguments.output, arguments.as_json)


def export(arguments: ExportArguments) -> None:
    """Write a schema for pandera, Frictionless or Croissant, as JSON."""
    import json

    from tacit.schema import Schema
    from tacit.schema.exchange import export_schema
    from tacit.whole_files import write_text

    check_outputs({"--output": arguments.output}, {"the schema": arguments.schema}, force=arguments.force)
    document = export_schema(Schema.from_toml(arguments.schema), arguments.to.value)
    write_text(arguments.output, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    typer.echo(f"wrote {arguments.output} for {arguments.to.value}")


def _write(draft: Draft, output: Path, as_json: bool) -> None:
    """Writes a draft and prints its questions."""
    draft.to_toml(output)
    if as_json:
        print_json({"schema": str(output), "fingerprint": draft.schema.fingerprint(), "notes": list(draft.notes)})
        return
    end = ":" if draft.notes else "."
    typer.echo(f"wrote {output}: {features_of(draft.schema)}. Read it and correct it{end}")
    for note in draft.notes:
        typer.echo(visible(f"  {note}"))


def _check_options(arguments: InitArguments) -> None:
    from tacit.schema.cell_format import THOUSANDS
    from tacit.schema.label import LabelKind

    if arguments.kind not in (None, *LabelKind):
        raise Mistake(f"--kind must be one of {', '.join(LabelKind)}, got {arguments.kind!r}")
    if arguments.thousands not in ("", *THOUSANDS) or (
        arguments.thousands and arguments.thousands == arguments.decimal
    ):
        raise Mistake(f"--thousands must be one of {' '.join(map(repr, THOUSANDS))}, and not what --decimal says")
    if arguments.dictionary is not None and (arguments.kind is not None or arguments.thousands):
        raise Mistake("--kind and --thousands are about a sample; a dictionary says it itself")


def validate(arguments: FileArguments) -> None:
    """Check that a schema file is valid. Exits with 2 if it is not."""
    from tacit.schema import Schema
    from tacit.schema.identifiers import refuse_identifiers

    loaded = Schema.from_toml(arguments.schema)
    refuse_identifiers(loaded)
    facts: dict[str, Any] = {
        "valid": True,
        "features": len(loaded.features),
        "label": None if loaded.label is None else loaded.label.column,
        "unit": None if loaded.unit is None else loaded.unit.column,
        "fingerprint": loaded.fingerprint(),
    }
    if arguments.as_json:
        print_json(facts)
        return
    label = f"label '{facts['label']}'" if facts["label"] else "no label (give --target to fit)"
    typer.echo(f"{arguments.schema} is valid: {features_of(loaded)}, {label}, fingerprint {facts['fingerprint'][:16]}")


def _drafted(arguments: InitArguments) -> Draft:
    from tacit.encoding.read import column_names, read_sample
    from tacit.schema.draft import Draft, draft_from_dictionary, draft_schema
    from tacit.schema.errors import SchemaError

    if arguments.dictionary is not None:
        with rows_of(arguments.dictionary, arguments) as (dictionary, dialect):
            try:
                return draft_from_dictionary(dictionary, arguments.target, arguments.positive, dialect)
            except SchemaError as error:  # of the file that was named, and not of its copy in UTF-8
                where = error.where.replace(str(dictionary), str(arguments.dictionary))
                raise SchemaError(error.problem, error.remedy, error.field, where) from None
    assert arguments.data is not None
    with rows_of(arguments.data, arguments) as (data, dialect):
        names = column_names(data, dialect)
        unnamed = sum(not name.strip() for name in names)
        if unnamed and len(names) - unnamed <= 1 and arguments.target not in names:
            title = next((name for name in names if name.strip()), "")
            raise Mistake(
                f"the first line of {arguments.data} says {title!r} and names no other column, as a title above the "
                "header does: delete the lines above the header"
            )
        draft = draft_schema(
            read_sample(data, dialect),
            arguments.target,
            arguments.positive,
            public=True,
            kind=arguments.kind,
            decimal=dialect.decimal,
            thousands=arguments.thousands,
        )
    words = "column has no name and is" if unnamed == 1 else "columns have no names and are"
    return Draft(draft.schema, (f"{unnamed} {words} left out", *draft.notes)) if unnamed else draft


def _warn() -> None:
    """The warning: on stderr, so that it is seen whatever becomes of stdout."""
    from rich.console import Console
    from rich.panel import Panel

    from tacit.schema.draft import PUBLIC_ONLY

    text = PUBLIC_ONLY.replace("\n", " ")
    Console(stderr=True).print(Panel(text, title="public data only", border_style="bold yellow"))


shared.command(app, "init", InitArguments, init)
shared.command(app, "validate", FileArguments, validate)
shared.command(app, "import", ImportArguments, import_)
shared.command(app, "export", ExportArguments, export)
shared.command(app, "discover", discover.DiscoverArguments, discover.run, spends=True)
