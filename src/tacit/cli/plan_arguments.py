"""What `tacit plan` may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from tacit.cli import arguments as shared


@dataclass(frozen=True, kw_only=True)
class PlanArguments:
    """What the command line asked for."""

    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    learner: shared.Learner = "additive"
    unit: shared.UnitColumn = None
    max_rows: shared.MaxRows = None
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    rows: Annotated[
        int | None,
        typer.Option("--rows", help="Forecast what can be learnt from this many rows (the number must be public)."),
    ] = None
    as_json: shared.Json = False
