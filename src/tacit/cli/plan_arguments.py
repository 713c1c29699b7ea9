"""What `tacit plan` may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import arguments as shared


@dataclass(frozen=True, kw_only=True)
class PlanArguments:
    """What the command line asked for."""

    context: typer.Context
    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = "add_or_remove_one"
    learner: shared.Learner = "additive"
    margin: Annotated[
        float | None,
        typer.Option("--margin", help="Forecast the accuracy of a halfspace with this margin instead."),
    ] = None
    rows: Annotated[
        int | None,
        typer.Option("--rows", help="Forecast what can be learnt from this many rows (the number must be public)."),
    ] = None
    error: Annotated[
        float | None, typer.Option("--error", help="With --margin: forecast the number of rows that reach this error.")
    ] = None
    dimension: Annotated[int, typer.Option("--dimension", help="With --margin: dimension of the rows.")] = 100
    repeats: Annotated[
        int, typer.Option("--repeats", help="With --margin: number of synthetic tables per simulated figure.")
    ] = 3
    plot: Annotated[
        Path | None, typer.Option("--plot", help="With --margin: output file for a plot of error against rows (SVG).")
    ] = None
    as_json: shared.Json = False
