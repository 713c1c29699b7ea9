"""`tacit party`, `tacit site` and `tacit join`: one model from sites that keep their rows."""

from __future__ import annotations

from tacit.cli import fit
from tacit.cli.console import as_json, progress, table, watching
from tacit.cli.files import check_outputs, write_text
from tacit.cli.join_arguments import JoinArguments, PartyArguments, SiteArguments
from tacit.cli.options import account_of
from tacit.cli.tables import csv_options


def party(asked: PartyArguments) -> None:
    """Create a key and a TLS certificate for one participant in a multi-site fit."""
    from tacit.curator.sites.parties import fingerprint_of, new_party

    check_outputs({"--key": asked.key}, {})
    public = new_party(asked.name, asked.key, asked.parties)
    fingerprint = fingerprint_of(public)
    if asked.as_json:
        as_json({"key": str(asked.key), "certificate": str(public), "fingerprint": fingerprint})
        return
    table(
        f"A party: {asked.name}",
        {
            "key": f"{asked.key} (keep it secret, and here: whoever has it can answer in this name)",
            "certificate": f"{public} (give it to all others)",
            "fingerprint": f"{fingerprint} (read it to them over the telephone)",
        },
    )


def site(asked: SiteArguments) -> None:
    """Take part in a multi-site fit: the rows stay here, and masked sums are sent and charged."""
    from tacit.curator.options import options
    from tacit.encoding.source import read_source
    from tacit.learning.sites import serve_site
    from tacit.schema import Schema

    check_outputs({"--certificate": asked.certificate}, {"the schema": asked.schema, "the key": asked.key})
    with progress("site", quiet=asked.as_json) as tell, options(progress=watching(tell, asked.progress)):
        tell("reading rows, and waiting")
        visit = serve_site(
            read_source(asked.data, query=asked.query, directory=asked.directory, **csv_options(asked)),
            Schema.from_toml(asked.schema),
            connect=asked.connect,
            parties=asked.parties,
            key=asked.key,
            epsilon=asked.epsilon,
            delta=asked.delta,
            neighbouring=asked.neighbouring,
            account=account_of(asked.account, asked.dataset),
            record=asked.record,
            allow_seeded=asked.allow_seeded,
            allow_changed_parties=asked.allow_changed_parties,
            allow_changed_rows=asked.allow_changed_rows,
            wait=asked.wait,
        )
    if asked.certificate is not None:
        write_text(asked.certificate, visit.certificate)
    facts = {"algorithm": visit.algorithm, "answers": visit.answers, "releases": visit.releases}
    if asked.as_json:
        as_json({**facts, "certificate": str(asked.certificate) if asked.certificate else None})
        return
    table("A fit has ended well", {name: str(value) for name, value in facts.items()})


def join(asked: JoinArguments) -> None:
    """Train one private model on the rows of several sites, which stay where they are."""
    from tacit.learning.sites import join_sites

    sites = join_sites(asked.listen, parties=asked.parties, key=asked.key, wait=asked.wait, patience=asked.patience)
    fit.run(asked.fit_arguments(), sites)
