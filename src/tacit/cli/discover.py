"""`tacit schema discover`: a schema found in private rows, and paid for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import account_of, listed
from tacit.cli.console import as_json, features_of, finite, progress, spent
from tacit.cli.failures import Mistake
from tacit.cli.outputs import check_outputs, free_place
from tacit.cli.tables import Tell, rows_of
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.privacy.certificate import Certificate
    from tacit.schema import Schema
    from tacit.schema.csv_format import CsvFormat


@dataclass(frozen=True, kw_only=True)
class DiscoverArguments(shared.CsvArguments, shared.PaidArguments, shared.WritingArguments):
    data: Annotated[
        Path,
        "Private rows: CSV (also .gz) or Parquet; a folder or a glob pattern of such files; - for CSV on standard "
        "input.",
    ]
    target: Annotated[str, typer.Option("--target", help="Column to predict.")]
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget of the search.")]
    delta: Annotated[float, "Delta of the guarantee; 0 is possible if all columns are numeric."] = 1e-6
    output: Annotated[Path, typer.Option("--output", "-o", help="Output file.")] = Path("schema.toml")
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    numeric: Annotated[str | None, "Numeric columns, comma-separated."] = None
    categories: Annotated[str | None, "Categorical columns, comma-separated."] = None
    ignore: Annotated[str | None, "Columns to leave out, comma-separated."] = None
    label_kind: Annotated[str, "Kind of the label: classes or numeric."] = "classes"
    positive: Annotated[str | None, "Positive class. Default: the last of two."] = None
    unit: Annotated[str | None, "Column that identifies the protected person."] = None
    dtypes: Annotated[str | None, "public: the column types of a Parquet file do not depend on its rows."] = None
    max_rows: Annotated[int, "With --unit: maximum number of rows per person."] = 1
    random_state: shared.Seed = None


def run(arguments: DiscoverArguments) -> None:
    """Find a schema in PRIVATE rows. Every bound and category costs budget, and none comes from a single person."""
    outputs = {"--output": arguments.output, "--certificate": arguments.certificate}
    check_outputs(outputs, {"the data": arguments.data}, arguments.account, arguments.force)
    account = account_of(arguments.account, arguments.dataset)
    with (
        rows_of(arguments.data, arguments) as (data, csv),
        progress(arguments.data.name, quiet=arguments.as_json) as tell,
    ):
        schema, certificate = _discovered(arguments, data, csv, account, tell)
    remark = "Like a declared schema it may be used and shown" if certificate.releasable else "NOT for release"
    header = f"Found in private rows at a cost of {spent(certificate)}.\n{remark}; its certificate says how."
    place = free_place(arguments.output, arguments.force)
    schema.to_toml(place, header)
    if arguments.certificate is not None:
        write_text(free_place(arguments.certificate, arguments.force), certificate.to_json())
    if arguments.as_json:
        result = {
            "schema": str(place),
            "fingerprint": schema.fingerprint(),
            "label": schema.label is not None,
        }
        as_json({**result, "epsilon": finite(certificate.epsilon), "releasable": certificate.releasable})
        return
    typer.echo(f"wrote {place}: {features_of(schema)}, at a cost of {spent(certificate)}")
    if schema.label is None:
        typer.echo("no two classes of the label are held by enough rows: add a [label] section")
    if not certificate.releasable:
        typer.echo("NOT for release: " + "; ".join(certificate.reasons))


def _discovered(
    arguments: DiscoverArguments, data: Path, dialect: CsvFormat, account: Any, tell: Tell
) -> tuple[Schema, Certificate]:
    """The schema that a file's rows have, and what finding it cost."""
    from tacit.discovery.discover_schema import discover_schema
    from tacit.encoding.folders import files_of
    from tacit.encoding.read import check_columns, check_decimals, column_names, is_parquet
    from tacit.encoding.sources import read_files
    from tacit.schema import Unit

    first = files_of(data)[0]
    names = column_names(first, dialect)
    kinds = _kinds(arguments)
    unit = [] if arguments.unit is None else [arguments.unit]
    check_columns([*kinds, arguments.target, *unit], names, str(arguments.data))
    if not is_parquet(first):  # texts throughout: whether they are numbers is private
        kinds = {name: kinds.get(name, "ask") for name in names if name != arguments.target}
    as_numbers = [name for name, kind in kinds.items() if kind == "numeric"]
    as_numbers += [arguments.target] if arguments.label_kind == "numeric" else []
    check_decimals(first, [*as_numbers, *(name for name, kind in kinds.items() if kind == "ask")], dialect)
    frame = read_files(data, names, as_numbers, lambda n: tell(f"{n:,} rows read"), dialect)
    frame = replace(frame, untyped=not is_parquet(first))
    tell("looking for bounds and categories")
    return discover_schema(
        frame,
        arguments.target,
        arguments.epsilon,
        arguments.delta,
        kinds=kinds,
        label_kind=arguments.label_kind,
        positive=arguments.positive,
        unit=None if arguments.unit is None else Unit(arguments.unit, arguments.max_rows),
        account=account,
        neighbouring=arguments.neighbouring,
        random_state=arguments.random_state,
        dtypes=arguments.dtypes,
    )


def _kinds(arguments: DiscoverArguments) -> dict[str, str]:
    """The kinds that options state."""
    kinds: dict[str, str] = {}
    for names, kind in (
        (arguments.numeric, "numeric"),
        (arguments.categories, "categories"),
        (arguments.ignore, "ignore"),
    ):
        for name in listed(names) or []:
            if kinds.get(name, kind) != kind:
                raise Mistake(f"column {name!r} is listed twice: as {kinds[name]} and as {kind}")
            kinds[name] = kind
    return kinds
