"""`tacit party`, `tacit site` and `tacit join`: one model from sites that keep their rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from tacit.cli import arguments as shared
from tacit.cli import fit
from tacit.cli.arguments import account_of
from tacit.cli.console import answer, progress, watching
from tacit.cli.failures import Mistake
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.outputs import check_outputs, free_place
from tacit.whole_files import write_text

Parties = Annotated[
    Path, typer.Option("--parties", help="Folder with the TLS certificates of all participants, one NAME.pem each.")
]
Key = Annotated[Path, typer.Option("--key", help="Private key of this participant (see tacit party).")]
Schema = Annotated[
    Path,
    typer.Option(
        "--schema", help="Schema file (TOML): the public facts about each column; the same for all participants."
    ),
]
Trust = Annotated[
    Literal["coordinator", "none"], "Noise drawn by the coordinator, or (none) by the sites; the same for all."
]
Honest = Annotated[int | None, "With --trust none: number of sites whose shares of the noise must suffice."]


def honest_of(trust: str, honest: int | None) -> int | None:
    """How many honest sites must suffice; None where the coordinator is trusted."""
    if (trust == "none") != (honest is not None):
        raise Mistake(
            "--trust none needs --honest N: how many of the sites draw their noise as agreed"
            if honest is None
            else "--honest is for --trust none: a trusted coordinator draws the noise"
        )
    return honest


@dataclass(frozen=True, kw_only=True)
class PartyArguments(shared.JsonArguments):
    name: Annotated[str, "Name of the site, or coordinator."]
    parties: Parties
    key: Annotated[Path, typer.Option("--key", help="Output file for the private key.")]


@dataclass(frozen=True, kw_only=True)
class SiteArguments(shared.CsvArguments, shared.PaidArguments, shared.WritingArguments):
    data: shared.Rows
    schema: Schema
    connect: Annotated[str, typer.Option("--connect", help="Address of the coordinator (HOST:PORT).")]
    parties: Parties
    key: Key
    epsilon: Annotated[float, "Largest epsilon that this site agrees to."] = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    trust: Trust = "coordinator"
    honest: Honest = None
    record: Annotated[Path | None, "Log file: one line for every answer, with the question."] = None
    query: shared.SqlQuery = None
    directory: Annotated[Path | None, "Folder for compact files of the rows during this fit."] = None
    proxy: Annotated[str | None, "HTTP proxy to connect through (http://HOST:PORT)."] = None
    wait: Annotated[float, "Timeout in seconds for reaching the coordinator."] = 600.0
    allow_seeded: Annotated[bool, "Accept a seeded, reproducible fit; only for tests on made-up rows."] = False
    allow_changed_parties: Annotated[bool, "Take part although other sites do than in an earlier fit."] = False
    allow_changed_rows: Annotated[bool, "Take part although the rows are not those of an earlier fit."] = False
    progress: shared.Progress = False


@dataclass(frozen=True, kw_only=True)
class JoinArguments(shared.PaidArguments, shared.WritingArguments):
    schema: Schema
    listen: Annotated[str, typer.Option("--listen", help="Address to listen on (HOST:PORT); 0.0.0.0 for all networks.")]
    parties: Parties
    key: Key
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    neighbouring: shared.Relation = shared.ADD_OR_REMOVE_ONE
    trust: Trust = "coordinator"
    honest: Honest = None
    learner: shared.Learner = "additive"
    settings: shared.Settings = None
    interactions: shared.Interactions = None
    loss: shared.LossOfNumber = None
    quantile: shared.Quantile = None
    model: Annotated[Path, typer.Option("--model", help="Write the model here (JSON).")]
    report: shared.ReportFile = None
    tape: shared.TapeFile = None
    sign: shared.SigningKey = None
    name: shared.DataName = None
    random_state: shared.Seed = None
    wait: Annotated[float, "Timeout in seconds until all sites have connected."] = 600.0
    patience: Annotated[float, "Timeout in seconds for each answer from a site."] = 600.0
    progress: shared.Progress = False

    def fit_arguments(self) -> FitArguments:
        """The same as a fit, whose rows are elsewhere."""
        own = ("listen", "parties", "key", "trust", "honest", "wait", "patience")
        options = {name: value for name, value in vars(self).items() if name not in own}
        return FitArguments(data="the sites", **options)


def party(arguments: PartyArguments) -> None:
    """Create a key and a TLS certificate for one participant in a multi-site fit."""
    from tacit.curator.sites.parties import fingerprint_of, new_party

    certificate = arguments.parties / f"{arguments.name}.pem"
    check_outputs({"--key": arguments.key}, {"the certificate": certificate}, force=None)
    public = new_party(arguments.name, arguments.key, arguments.parties)
    fingerprint = fingerprint_of(public)
    answer(
        arguments.as_json,
        {"key": str(arguments.key), "certificate": str(public), "fingerprint": fingerprint},
        f"A party: {arguments.name}",
        {
            "key": f"{arguments.key} (keep it secret, and here: whoever has it can answer in this name)",
            "certificate": f"{public} (give it to all others)",
            "fingerprint": f"{fingerprint} (read it to them over the telephone)",
        },
    )


def site(arguments: SiteArguments) -> None:
    """Take part in a multi-site fit: the rows stay here, and masked sums are sent and charged."""
    from tacit.curator.options import options
    from tacit.encoding.source import read_source
    from tacit.learning.sites import serve_site
    from tacit.schema import Schema

    inputs: dict[str, str | Path | None] = {
        "the data": arguments.data,
        "the schema": arguments.schema,
        "the key": arguments.key,
        "the certificates": arguments.parties,
    }
    outputs = {"--certificate": arguments.certificate}
    check_outputs(outputs, inputs, arguments.account, arguments.force)
    check_outputs({**outputs, "--record": arguments.record}, inputs, arguments.account, force=True)  # which grows
    with progress("site", quiet=arguments.as_json) as tell, options(progress=watching(tell, arguments.progress)):
        tell("reading rows, and waiting")
        visit = serve_site(
            read_source(arguments.data, query=arguments.query, directory=arguments.directory, **arguments.csv()),
            Schema.from_toml(arguments.schema),
            connect=arguments.connect,
            parties=arguments.parties,
            key=arguments.key,
            epsilon=arguments.epsilon,
            delta=arguments.delta,
            neighbouring=arguments.neighbouring,
            honest=honest_of(arguments.trust, arguments.honest),
            account=account_of(arguments.account, arguments.dataset),
            record=arguments.record,
            allow_seeded=arguments.allow_seeded,
            allow_changed_parties=arguments.allow_changed_parties,
            allow_changed_rows=arguments.allow_changed_rows,
            proxy=arguments.proxy,
            wait=arguments.wait,
        )
    if arguments.certificate is not None:
        write_text(free_place(arguments.certificate, arguments.force), visit.certificate)
    facts = {"algorithm": visit.algorithm, "answers": visit.answers, "releases": visit.releases}
    written = {"certificate": str(arguments.certificate) if arguments.certificate else None}
    rows = {name: str(value) for name, value in facts.items()}
    answer(arguments.as_json, facts | written, "A fit has ended well", rows)


def join(arguments: JoinArguments) -> None:
    """Train one private model on the rows of several sites, which stay where they are."""
    from tacit.learning.sites import join_sites

    joined = arguments.fit_arguments()
    inputs = {**joined.inputs, "the certificates": arguments.parties, "the private key": arguments.key}
    check_outputs(joined.outputs, inputs, arguments.account, arguments.force)
    sites = join_sites(
        arguments.listen,
        parties=arguments.parties,
        key=arguments.key,
        honest=honest_of(arguments.trust, arguments.honest),
        wait=arguments.wait,
        patience=arguments.patience,
    )
    fit.run(joined, sites)
