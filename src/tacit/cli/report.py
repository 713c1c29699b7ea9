"""`tacit report` and `tacit explain`: the page of a model, and what moved one prediction."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table, visible
from tacit.cli.failures import CLAIM, Mistake
from tacit.cli.outputs import check_outputs
from tacit.cli.predict import read
from tacit.cli.tables import columns_for
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame
    from tacit.models.base import Model
    from tacit.report.explanation import Explanation


@dataclass(frozen=True, kw_only=True)
class ReportArguments(shared.WritingArguments):
    model: shared.ModelFile
    output: shared.Beside = None
    meta: shared.Meta = None
    evaluation: shared.Evaluation = None


def run(arguments: ReportArguments) -> None:
    """Write the report of a model: one page that opens offline. Exits with 4 if the claim does not hold."""
    from tacit.models.base import checked_file
    from tacit.models.claims import claim_of_model
    from tacit.report.meta import filing, read_meta
    from tacit.report.page import render_claim
    from tacit.report.paperwork import read_evaluation

    target = arguments.output if arguments.output is not None else arguments.model.with_suffix(".html")
    inputs = {
        "the model": arguments.model,
        "the file of --meta": arguments.meta,
        "the evaluation": arguments.evaluation,
    }
    check_outputs({"--output": target}, inputs, force=arguments.force)
    score = None if arguments.evaluation is None else read_evaluation(arguments.evaluation)
    claim = claim_of_model(checked_file(arguments.model))
    write_text(target, render_claim(claim, papers=filing(read_meta(arguments.meta), score)))
    if arguments.as_json:
        as_json({"written": str(target), "holds": claim.holds, "findings": list(claim.problems)})
    else:
        rows = {"written": str(target)}
        if not claim.holds:
            rows["verdict"] = "the claim does NOT hold: " + "; ".join(claim.problems)
        table("Report", rows)
    if not claim.holds:
        raise typer.Exit(CLAIM)


@dataclass(frozen=True, kw_only=True)
class ExplainArguments(shared.RowArguments, shared.WritingArguments):
    model: shared.ModelFile
    row: Annotated[int, typer.Option("--row", min=1, help="Number of the row; the first one of the data is 1.")] = 1
    html: Annotated[Path | None, "Output file: a page that only its owner can read."] = None


def explain(arguments: ExplainArguments) -> None:
    """Explain one prediction: the contribution of each column, with its uncertainty due to noise."""
    from tacit.models.files import load_model

    inputs: dict[str, str | Path | None] = {"the data": arguments.data, "the model": arguments.model}
    check_outputs({"--html": arguments.html}, inputs, force=arguments.force)
    model, certificate = load_model(arguments.model)
    target = (certificate or {}).get("target")
    title = "A prediction explained" if target is None else f"A prediction of {target} explained"
    explained: Explanation = replace(model.explain(_row(arguments, model)), first=arguments.row, title=title)
    if arguments.html is not None:
        explained.save(arguments.html)
    if arguments.as_json:
        as_json(_plain(explained, arguments))
    elif arguments.html is not None:
        table("Explanation", {"written": str(arguments.html), f"row {arguments.row}": explained.says(0)})
    else:
        typer.echo(visible(str(explained)))


def _row(arguments: ExplainArguments, model: Model) -> Frame:
    """The row asked for, alone."""
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
    files = {} if arguments.html is None else {"written": str(arguments.html)}
    return {**files, "prediction": explained.says(0), "unit": explained.unit, "contributions": contributions}
