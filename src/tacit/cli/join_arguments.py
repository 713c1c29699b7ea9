"""What `tacit party`, `tacit site` and `tacit join` may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.fit_arguments import FitArguments

Parties = Annotated[
    Path, typer.Option("--parties", help="Folder of the certificates of all who take part, NAME.pem each.")
]
Key = Annotated[Path, typer.Option("--key", help="Private key of this party (see tacit party).")]
Schema = Annotated[Path, typer.Option("--schema", help="What is public about the columns (TOML); the same everywhere.")]


@dataclass(frozen=True, kw_only=True)
class PartyArguments:
    """What the command line asked for."""

    name: Annotated[str, typer.Argument(help="Of the site, or: coordinator.")]
    parties: Parties
    key: Annotated[Path, typer.Option("--key", help="Where to write the private key.")]
    as_json: shared.Json = False


@dataclass(frozen=True, kw_only=True)
class SiteArguments:
    """What the command line asked for."""

    data: shared.Rows
    schema: Schema
    connect: Annotated[str, typer.Option("--connect", help="HOST:PORT where the coordinator listens.")]
    parties: Parties
    key: Key
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that this site lets the fit cost.")] = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = "add_or_remove_one"
    account: shared.AccountUrl = None
    dataset: shared.AccountDataset = None
    record: Annotated[
        Path | None, typer.Option("--record", help="Add a line to this file for every answer: what was asked.")
    ] = None
    certificate: shared.CertificateFile = None
    query: shared.SqlQuery = None
    directory: Annotated[
        Path | None, typer.Option("--directory", help="Where compact files of the rows are made, for this fit.")
    ] = None
    encoding: shared.Encoding = "utf-8"
    delimiter: shared.Delimiter = None
    decimal: shared.Decimal = None
    multiline: shared.Multiline = False
    wait: Annotated[float, typer.Option("--wait", help="Seconds until the coordinator must be there.")] = 600.0
    allow_seeded: Annotated[
        bool, typer.Option("--allow-seeded", help="Agree to noise that can be repeated: for tests on made-up rows.")
    ] = False
    progress: shared.Progress = False
    as_json: shared.Json = False


@dataclass(frozen=True, kw_only=True)
class JoinArguments:
    """What the command line asked for."""

    schema: Schema
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT where sites connect; 0.0.0.0 for all networks.")]
    parties: Parties
    key: Key
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = "add_or_remove_one"
    learner: shared.Learner = "additive"
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    loss: shared.LossOfNumber = None
    quantile: shared.Quantile = None
    model: Annotated[Path, typer.Option("--model", help="Write the model here (JSON).")]
    report: shared.ReportFile = None
    certificate: shared.CertificateFile = None
    sign: shared.SigningKey = None
    name: shared.DataName = None
    account: shared.AccountUrl = None
    dataset: shared.AccountDataset = None
    random_state: shared.Seed = None
    wait: Annotated[float, typer.Option("--wait", help="Seconds until all sites must be there.")] = 600.0
    patience: Annotated[float, typer.Option("--patience", help="Seconds that an answer of a site may take.")] = 600.0
    force: shared.Force = False
    progress: shared.Progress = False
    as_json: shared.Json = False

    def fit_arguments(self) -> FitArguments:
        """The same as a fit, whose rows are elsewhere."""
        taken = ("listen", "parties", "key", "wait", "patience")
        given = {name: value for name, value in vars(self).items() if name not in taken}
        return FitArguments(data="the sites", **given)
