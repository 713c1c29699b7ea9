"""What `tacit fit` may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import arguments as shared


@dataclass(frozen=True, kw_only=True)
class FitArguments:
    """What the command line asked for."""

    data: shared.Rows
    target: Annotated[
        str | None, typer.Option("--target", help="Column to predict; by default the schema's label.")
    ] = None
    schema: shared.SchemaFile = None
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = "add_or_remove_one"
    unit: Annotated[
        str | None, typer.Option("--unit", help="Column whose equal values are one protected person; else it is a row.")
    ] = None
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="With --unit: rows of one person that count; the rest is dropped.")
    ] = None
    learner: shared.Learner = "additive"
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    model: Annotated[Path | None, typer.Option("--model", help="Write the model here (JSON).")] = None
    report: shared.ReportFile = None
    certificate: shared.CertificateFile = None
    sign: shared.SigningKey = None
    name: shared.DataName = None
    account: shared.AccountUrl = None
    dataset: shared.AccountDataset = None
    random_state: shared.Seed = None
    classes: Annotated[
        str | None, typer.Option("--classes", help="Without a schema: the classes, comma-separated, positive one last.")
    ] = None
    loss: shared.LossOfNumber = None
    quantile: shared.Quantile = None
    target_bounds: Annotated[
        str | None, typer.Option("--target-bounds", help="Bounds of such a target, such as 0,100, without a schema.")
    ] = None
    batches: Annotated[
        bool, typer.Option("--batches", help="The first batch of several, of other persons each: one charge for all.")
    ] = False
    adds_to: Annotated[
        Path | None,
        typer.Option("--adds-to", help="A model begun with --batches: learn from new persons too, at no new charge."),
    ] = None
    query: shared.SqlQuery = None
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="streamed: keep rows in compact files, not in memory; memory; dask; or ray."),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Of dask or Ray: the address; else processes on this machine."),
    ] = None
    directory: Annotated[
        Path | None, typer.Option("--directory", help="Where these files are made; readable by their owner alone.")
    ] = None
    keep: Annotated[bool, typer.Option("--keep", help="Leave them there for the next fit under this schema.")] = False
    encoding: shared.Encoding = "utf-8"
    delimiter: shared.Delimiter = None
    decimal: shared.Decimal = None
    multiline: shared.Multiline = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite a model that is there.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be charged; read no row.")] = False
    resumable: Annotated[
        bool,
        typer.Option("--resumable", help="Keep releases in the account, so that tacit resume can go on after a crash."),
    ] = False
    progress: shared.Progress = False
    as_json: shared.Json = False

    @property
    def path(self) -> Path:
        """The file or folder of the rows, where they are in one."""
        return Path(self.data)
