"""`tacit explain`: what moved one prediction."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs
from tacit.cli.predict import is_elsewhere, read
from tacit.cli.tables import columns_for

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame
    from tacit.models.base import Model
    from tacit.report.explanation import Explanation


@dataclass(frozen=True, kw_only=True)
class ExplainArguments:
    """What the command line asked for."""

    model: shared.ModelFile
    data: shared.Rows
    row: Annotated[int, typer.Option("--row", min=1, help="Number of the row; the first one of the data is 1.")] = 1
    html: Annotated[Path | None, typer.Option("--html", help="Output file: a page that only its owner can read.")] = (
        None
    )
    query: shared.SqlQuery = None
    encoding: shared.Encoding = "utf-8"
    delimiter: shared.Delimiter = None
    decimal: shared.Decimal = None
    multiline: shared.Multiline = False
    as_json: shared.Json = False


def run(arguments: ExplainArguments) -> None:
    """Explain one prediction: what moved it, by how much, and what the noise leaves open."""
    from tacit.models.files import load_model

    inputs = {"the data": None if is_elsewhere(arguments) else Path(arguments.data), "the model": arguments.model}
    check_outputs({"--html": arguments.html}, inputs)
    model, _ = load_model(arguments.model)
    explained: Explanation = replace(model.explain(_row(arguments, model)), first=arguments.row)
    if arguments.html is not None:
        explained.save(arguments.html)
    if arguments.as_json:
        as_json(_plain(explained, arguments))
    elif arguments.html is not None:
        table("Explanation", {"written": str(arguments.html), f"row {arguments.row}": explained.says(0)})
    else:
        typer.echo(str(explained))


def _row(arguments: ExplainArguments, model: Model) -> Frame:
    """The row asked for, alone.

    Raises:
        Mistake: if there are fewer rows.
    """
    from tacit.encoding.frames import Frame

    before = arguments.row - 1
    with read(arguments) as reader:
        names, numeric = columns_for(model)
        for chunk in reader.chunks(names, numeric):
            if before < chunk.n_rows:
                alone = {name: chunk.column(name)[before : before + 1] for name in chunk.names}
                return Frame(alone, 1, chunk.mixed, chunk.untyped)
            before -= chunk.n_rows
    raise Mistake(f"--row {arguments.row}: the data have {arguments.row - 1 - before} rows")


def _plain(explained: Explanation, arguments: ExplainArguments) -> dict[str, Any]:
    lines = [asdict(each) for each in explained.rows()]
    contributions = [{**line, "sd": None if math.isnan(line["sd"]) else line["sd"]} for line in lines]
    written = {} if arguments.html is None else {"written": str(arguments.html)}
    return {**written, "prediction": explained.says(0), "unit": explained.unit, "contributions": contributions}
