"""`tacit check`: the operator's tool that looks at rows and complains. Its output is not for release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import schema_of
from tacit.cli.console import as_json as print_json
from tacit.cli.console import progress, visible
from tacit.cli.failures import COMPLAINTS, together
from tacit.cli.tables import check_there, rows_of

if TYPE_CHECKING:
    from tacit.cli.findings import Findings

NOT_FOR_RELEASE = (
    "NOT FOR RELEASE: this was read from the rows without any privacy. It is for the data's operator only."
)
"""What every output of the command begins with."""


@dataclass(frozen=True, kw_only=True)
class CheckArguments(shared.CsvArguments, shared.JsonArguments):
    data: shared.Data
    schema: Annotated[Path, typer.Option("--schema", help="Schema file (TOML): the public facts about each column.")]
    unit: shared.UnitColumn = None
    max_rows: shared.MaxRows = None
    strict: Annotated[bool, "Exit with code 1 if any problem is found."] = False


def run(arguments: CheckArguments) -> None:
    """List what a fit would clip, drop or treat as missing. Reads the rows: keep the output confidential."""
    from tacit.cli.findings import find, readable_rows
    from tacit.encoding.errors import DataError

    read_schema = partial(schema_of, arguments.schema, arguments.unit, arguments.max_rows)
    declared, _ = together(read_schema, lambda: check_there(arguments.data))
    assert declared is not None
    with (
        rows_of(arguments.data, arguments) as (data, dialect),
        progress(arguments.data.name, quiet=arguments.as_json) as tell,
    ):
        try:
            findings = find(data, declared, lambda rows: tell(f"{rows:,} rows read"), dialect)
        except DataError:
            rows = readable_rows(data, dialect)
            if rows is not None and not arguments.as_json:
                typer.echo(
                    f"{NOT_FOR_RELEASE}\n{arguments.data.name}: {rows:,} rows could be read, and a fit refuses it"
                )
            raise
    if arguments.as_json:
        print_json({"notice": NOT_FOR_RELEASE, **findings.to_dict()})
    else:
        _print(arguments.data, findings)
    if arguments.strict and findings.complaints:
        raise typer.Exit(COMPLAINTS)


def _print(data: Path, findings: Findings) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(NOT_FOR_RELEASE, style="bold yellow")
    table = Table(title=f"{data.name}: {findings.rows:,} rows", title_justify="left", title_style="bold", box=None)
    for heading in ("column", "kind", "missing", "clipped", "unknown", "examples of unknown"):
        table.add_column(heading, justify="right" if heading in ("missing", "clipped", "unknown") else "left")
    for column in findings.columns:
        clipped = column.get("clipped_below", 0) + column.get("clipped_above", 0)
        cells = (
            column["name"],
            column["kind"],
            _share(column["missing"], findings.rows),
            _share(clipped, findings.rows),
            _share(column["unknown"], findings.rows),
            ", ".join(f"{value!r} ({count:,})" for value, count in column["unknown_values"][:3]),
        )
        table.add_row(*(Text(visible(cell)) for cell in cells))  # cells of the data are no markup
    console.print(table)
    for name, facts in (("label", findings.label), ("unit", findings.unit)):
        if facts:
            words = ", ".join(f"{key.replace('_', ' ')} {_shown(facts[key])}" for key in facts)
            console.print(visible(f"{name}: {words}"), highlight=False, markup=False)
    console.print()
    for complaint in findings.complaints:
        console.print(visible(f"- {complaint}"), style="yellow", highlight=False, markup=False)
    if not findings.complaints:
        console.print("no problems beyond the table above", style="green")


def _share(count: int, rows: int) -> str:
    if not count:
        return ""
    percent = 100.0 * count / rows
    return f"{percent:.1f} %" if percent >= 0.05 else f"{count:,} rows"


def _shown(fact: Any) -> str:
    if isinstance(fact, dict):
        return "(" + ", ".join(f"{name}: {_shown(value)}" for name, value in fact.items()) + ")"
    if isinstance(fact, list):
        return "(" + ", ".join(f"{value!r}: {count:,}" for value, count in fact[:3]) + ")" if fact else "none"
    return f"{fact:,}" if isinstance(fact, int) else str(fact)
