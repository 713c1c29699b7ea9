"""`tacit report`: the page of a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.failures import CLAIM
from tacit.cli.files import check_outputs
from tacit.whole_files import write_text


@dataclass(frozen=True, kw_only=True)
class ReportArguments:
    """What the command line asked for."""

    model: shared.ModelFile
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Output file. Default: beside the model.")] = (
        None
    )
    meta: Annotated[
        Path | None, typer.Option("--meta", help="What only a person knows: controller, purpose, contact, ... (TOML).")
    ] = None
    evaluation: Annotated[Path | None, typer.Option("--evaluation", help="Output of tacit evaluate --json.")] = None
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None
    as_json: shared.Json = False


def run(arguments: ReportArguments) -> None:
    """Write the report of a model: one page that opens offline. Exits with 4 if the claim does not hold."""
    from tacit.models.base import checked_file
    from tacit.models.claims import claim_of_model
    from tacit.report.filing import filing
    from tacit.report.meta import read_meta
    from tacit.report.page import render_claim
    from tacit.report.paperwork import read_evaluation

    target = arguments.output if arguments.output is not None else arguments.model.with_suffix(".html")
    inputs = {
        "the model": arguments.model,
        "the file of --meta": arguments.meta,
        "the evaluation": arguments.evaluation,
    }
    check_outputs({"--output": target}, inputs)
    score = None if arguments.evaluation is None else read_evaluation(arguments.evaluation)
    claim = claim_of_model(checked_file(arguments.model))
    write_text(target, render_claim(claim, arguments.title, papers=filing(read_meta(arguments.meta), score)))
    if arguments.as_json:
        as_json({"written": str(target), "holds": claim.holds, "findings": list(claim.problems)})
    else:
        rows = {"written": str(target)}
        if not claim.holds:
            rows["verdict"] = "the claim does NOT hold: " + "; ".join(claim.problems)
        table("Report", rows)
    if not claim.holds:
        raise typer.Exit(CLAIM)
