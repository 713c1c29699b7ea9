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
        typer.Option("--margin", help="Ask instead what a halfspace of this margin can be expected to do."),
    ] = None
    rows: Annotated[
        int | None,
        typer.Option("--rows", help="What this many rows can be expected to teach; give a public number."),
    ] = None
    error: Annotated[
        float | None, typer.Option("--error", help="With --margin: how many rows does this error take?")
    ] = None
    dimension: Annotated[int, typer.Option("--dimension", help="With --margin: number of coordinates.")] = 100
    repeats: Annotated[int, typer.Option("--repeats", help="With --margin: synthetic tables per simulated figure.")] = 3
    plot: Annotated[Path | None, typer.Option("--plot", help="With --margin: draw error against rows (SVG).")] = None
    as_json: shared.Json = False
