"""`tacit schema`: make a first schema from public data, show one, check one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.console import as_json as print_json
from tacit.cli.console import table
from tacit.cli.failures import Mistake, guarded
from tacit.cli.files import check_outputs, write_with

if TYPE_CHECKING:
    from tacit.schema import Column, Label, Schema
    from tacit.schema.draft import Draft

app = typer.Typer(help="What is public about a table, in a TOML file.", no_args_is_help=True)

MOST_SHOWN = 6
"""Categories listed per column in a summary."""

SchemaPath = Annotated[Path, typer.Argument(help="A schema file (TOML).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of text.")]


@app.command()
@guarded
def init(
    data: Annotated[
        Path | None, typer.Argument(help="A PUBLIC sample (CSV, also .gz, or Parquet). Never the private rows.")
    ] = None,
    target: Annotated[str, typer.Option("--target", help="Column to predict.")] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")] = Path("schema.toml"),
    dictionary: Annotated[
        Path | None,
        typer.Option(help="Instead of a sample: a CSV with name, kind, lower, upper, categories (a|b), description."),
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The positive class; by default the last one.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write a first schema from a PUBLIC sample or data dictionary, to be read and corrected by you.

    A schema is never charged for, so it must not be made from private rows: finding their bounds and categories
    privately costs budget.
    """
    if (data is None) == (dictionary is None):
        raise Mistake("give either a public sample or --dictionary")
    if not target:
        raise Mistake("--target is missing: name the column to predict")
    check_outputs({"--output": output}, {"the sample": data, "the dictionary": dictionary})
    if output.exists() and not force:
        raise Mistake(f"{output} exists; give another --output, or --force to overwrite it")
    _warn()
    draft = _drafted(data, dictionary, target, positive)
    write_with(output, draft.to_toml)
    if as_json:
        print_json({"schema": str(output), "fingerprint": draft.schema.fingerprint(), "notes": list(draft.notes)})
        return
    typer.echo(f"wrote {output}: {len(draft.schema.features)} features. Read it and correct it:")
    for note in draft.notes:
        typer.echo(f"  {note}")


@app.command()
@guarded
def show(schema: SchemaPath, as_json: Json = False) -> None:
    """Show what a schema declares."""
    loaded = _load(schema)
    if as_json:
        print_json({**loaded.to_dict(), "fingerprint": loaded.fingerprint()})
        return
    rows = {name: describe(column) for name, column in loaded.columns.items()}
    if loaded.label is not None:
        rows[f"{loaded.label.column} (label)"] = describe_label(loaded.label)
    if loaded.unit is not None:
        rows[f"{loaded.unit.column} (unit)"] = f"who is protected: at most {loaded.unit.max_rows} rows each"
    table(f"{schema}: {len(loaded.features)} features", rows)
    typer.echo(f"fingerprint {loaded.fingerprint()}")


@app.command()
@guarded
def validate(schema: SchemaPath, as_json: Json = False) -> None:
    """Say whether a schema file can be used; exit code 2 if not."""
    loaded = _load(schema)
    facts: dict[str, Any] = {
        "valid": True,
        "features": len(loaded.features),
        "label": None if loaded.label is None else loaded.label.column,
        "unit": None if loaded.unit is None else loaded.unit.column,
        "fingerprint": loaded.fingerprint(),
    }
    if as_json:
        print_json(facts)
        return
    label = f"label '{facts['label']}'" if facts["label"] else "no label (give --target to fit)"
    typer.echo(f"{schema} is valid: {facts['features']} features, {label}, fingerprint {facts['fingerprint'][:16]}")


@app.command()
@guarded
def discover(
    data: Annotated[Path, typer.Argument(help="The private rows: CSV (also .gz) or Parquet.")],
    target: Annotated[str, typer.Option("--target", help="Column to predict.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy to spend on finding the schema.")],
    delta: Annotated[
        float, typer.Option("--delta", help="Positive, unless nothing but numbers is to be found.")
    ] = 1e-6,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")] = Path("schema.toml"),
    neighbouring: Annotated[
        str, typer.Option("--neighbouring", help="add_or_remove_one or replace_one.")
    ] = "add_or_remove_one",
    numeric: Annotated[str | None, typer.Option(help="Columns known to hold numbers, comma-separated.")] = None,
    categories: Annotated[str | None, typer.Option(help="Columns known to hold categories, comma-separated.")] = None,
    ignore: Annotated[str | None, typer.Option(help="Columns to leave out, comma-separated.")] = None,
    label_kind: Annotated[str, typer.Option("--label-kind", help="classes or numeric.")] = "classes",
    positive: Annotated[str | None, typer.Option(help="The positive class; by default the last of two.")] = None,
    unit: Annotated[str | None, typer.Option(help="Column whose equal values are one protected person.")] = None,
    max_rows: Annotated[int, typer.Option("--max-rows", help="Rows of one person that count.")] = 1,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="Write the certificate here.")] = None,
    account: Annotated[str | None, typer.Option("--account", help="Spend from this budget account (a URL).")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="Name of the data set in the account.")] = None,
    random_state: Annotated[int | None, typer.Option("--random-state", help="Repeatable, and not releasable.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Find a schema in PRIVATE rows: every bound and category costs budget, and none comes from a single person."""
    from tacit.cli.discover import DiscoverArguments, run

    arguments = DiscoverArguments(
        data=data, target=target, output=output, epsilon=epsilon, delta=delta, neighbouring=neighbouring,
        numeric=numeric, categories=categories, ignore=ignore, label_kind=label_kind, positive=positive, unit=unit,
        max_rows=max_rows, certificate=certificate, account=account, dataset=dataset, random_state=random_state,
        force=force, as_json=as_json,
    )  # fmt: skip
    run(arguments)


def describe(column: Column) -> str:
    """A column in a few words."""
    from tacit.schema import CategoricalColumn, NumericColumn, OrdinalColumn

    words = [column.kind]
    if isinstance(column, NumericColumn):
        words.append(f"from {column.lower:.12g} to {column.upper:.12g}")
        if column.spacing != "linear":
            words.append("log spacing" if column.spacing == "log" else f"cut at {_some(column.spacing)}")
        words += [f"{column.bins} bins"] if column.bins else []
        words += [column.monotone] if column.monotone else []
    if isinstance(column, CategoricalColumn | OrdinalColumn):
        words.append(f"{len(column.categories)} categories: {_some(column.categories)}")
        words += ["missing expected"] if column.missing else []
    return ", ".join(words) + (f". {column.description}" if column.description else "")


def describe_label(label: Label) -> str:
    """A label in a few words."""
    if label.is_numeric:
        return f"numeric, from {label.lower:.12g} to {label.upper:.12g}"
    words = f"{len(label.classes)} classes: {_some(label.classes)}"
    return f"{words}; positive: {_some(label.positive_classes)}" if label.positive_classes else words


def _some(values: Any) -> str:
    shown = ", ".join(str(value) for value in values[:MOST_SHOWN])
    return shown if len(values) <= MOST_SHOWN else f"{shown}, ..."


def _load(path: Path) -> Schema:
    from tacit.schema import Schema

    return Schema.from_toml(path)


def _drafted(data: Path | None, dictionary: Path | None, target: str, positive: str | None) -> Draft:
    from tacit.encoding.read import read_sample
    from tacit.schema.draft import draft_from_dictionary, draft_schema

    if dictionary is not None:
        return draft_from_dictionary(dictionary, target, positive)
    assert data is not None
    return draft_schema(read_sample(data), target, positive, public=True)


def _warn() -> None:
    """The loud part: on stderr, so that it is seen whatever becomes of stdout."""
    from rich.console import Console
    from rich.panel import Panel

    from tacit.schema.draft import PUBLIC_ONLY

    text = PUBLIC_ONLY.replace("\n", " ")
    Console(stderr=True).print(Panel(text, title="public data only", border_style="bold yellow"))
