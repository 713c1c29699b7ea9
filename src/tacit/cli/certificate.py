"""`tacit certificate` and `tacit keys`: papers that follow from the certificate of a model, and keys to sign with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, table
from tacit.cli.failures import Mistake, together
from tacit.cli.outputs import check_outputs
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.report.paperwork import Paperwork


@dataclass(frozen=True, kw_only=True)
class CertificateArguments:
    """What the command line asked for."""

    model: shared.ModelFile
    registry: Annotated[Path | None, "Write an entry of the Differential Privacy Deployments Registry (YAML)."] = None
    ml_bom: Annotated[Path | None, "Write a bill of materials (CycloneDX 1.6, JSON)."] = None
    dossier: Annotated[Path | None, "Write a dossier for authorities: Markdown, or HTML if the file ends in .html."] = (
        None
    )
    model_card: Annotated[Path | None, "Write a model card for Hugging Face (Markdown)."] = None
    erasure: Annotated[Path | None, "Write a signed statement for people who ask to be forgotten (JSON)."] = None
    sign: Annotated[Path | None, "Private key for the erasure statement (see tacit keys new)."] = None
    meta: Annotated[Path | None, "Facts that only a person knows (TOML): controller, purpose, ..."] = None
    evaluation: Annotated[Path | None, "Output of tacit evaluate --json, for dossier, BOM and card."] = None
    audit: Annotated[list[Path] | None, "Output of tacit audit --json, for the dossier (repeatable)."] = None
    force: shared.Force = False
    as_json: shared.Json = False


def run(arguments: CertificateArguments) -> None:
    """Write papers about a model from its certificate, and show what attackers can achieve. Exits with 4 if it fails.

    It needs no data and spends nothing.
    """
    from tacit.privacy.strength import attack_risks
    from tacit.report.paperwork import read_paperwork
    from tacit.report.promise import risk_rows

    if (arguments.erasure is None) != (arguments.sign is None):
        raise Mistake("--erasure and --sign belong together: the statement is signed (see tacit keys new)")
    outputs = {"--registry": arguments.registry, "--ml-bom": arguments.ml_bom, "--dossier": arguments.dossier,
               "--model-card": arguments.model_card, "--erasure": arguments.erasure}  # fmt: skip
    audits = {f"audit {path}": path for path in arguments.audit or []}
    inputs = {"the model": arguments.model, "the key": arguments.sign, "the file of --meta": arguments.meta,
              "the evaluation": arguments.evaluation, **audits}  # fmt: skip
    check_outputs(outputs, inputs, force=arguments.force)
    together(*(partial(_check_ending, path, option) for option, path in outputs.items()))
    papers = read_paperwork(arguments.model, arguments.meta, arguments.evaluation, arguments.audit or ())
    texts = dict(_texts(arguments, papers))
    for path, text in texts.items():
        write_text(path, text)
    paths = [str(path) for path in texts]
    if arguments.as_json:
        risks = [risk.to_dict() for risk in attack_risks(papers.certificate.charges)]
        as_json({"written": paths, "risks": risks, **_left(arguments, papers)})
        return
    rows = {name: f"{one} (ten together {ten}; without the model {none})"
            for name, one, ten, none in risk_rows(papers.certificate.charges)}  # fmt: skip
    open_keys = ", ".join(_left(arguments, papers).get("left_to_a_person", []))
    table(
        f"Upper bounds on attacks against {papers.certificate.protected}",
        rows
        | ({"written": ", ".join(paths)} if paths else {})
        | ({"left to a person": open_keys} if open_keys else {}),
    )


ENDINGS = {"--registry": (".yaml", ".yml"), "--ml-bom": (".json",), "--dossier": (".md", ".html", ".htm"),
           "--model-card": (".md",), "--erasure": (".json",)}  # fmt: skip
"""How the names of papers end, if they have an ending."""


def _check_ending(path: Path | None, option: str) -> None:
    """Raises for a name that says of a paper that it is something else."""
    if path is not None and path.suffix and path.suffix.lower() not in ENDINGS[option]:
        raise Mistake(f"{option}: {path} must end in {' or '.join(ENDINGS[option])}, as what is written there does")


def _texts(arguments: CertificateArguments, papers: Paperwork) -> Iterator[tuple[Path, str]]:
    """The papers that were asked for, all of them made before the first is written."""
    from tacit.report.paperwork import json_text

    if arguments.registry is not None:
        from tacit.report.registry_entry import registry_entry, yaml_text

        yield arguments.registry, yaml_text(registry_entry(papers))
    if arguments.ml_bom is not None:
        from tacit.report.ml_bom import ml_bom

        yield arguments.ml_bom, json_text(ml_bom(papers))
    if arguments.dossier is not None:
        from tacit.report.dossier import dossier, html

        yield arguments.dossier, (html if arguments.dossier.suffix.lower() in (".html", ".htm") else dossier)(papers)
    if arguments.model_card is not None:
        from tacit.report.registry_entry import hub_card

        yield arguments.model_card, hub_card(papers, arguments.model.name)
    if arguments.erasure is not None and arguments.sign is not None:
        from tacit.privacy.signatures import read_private_key
        from tacit.report.erasure import erasure_statement

        yield arguments.erasure, json_text(erasure_statement(papers.certificate, read_private_key(arguments.sign)))


def _left(arguments: CertificateArguments, papers: Paperwork) -> dict[str, list[str]]:
    """Keys of ``--meta`` that nobody filled, where a paper needs them."""
    from tacit.report.dossier import missing
    from tacit.report.registry_entry import registry_entry

    keys: list[str] = missing(papers) if arguments.dossier is not None else []
    if arguments.registry is not None:
        text = json.dumps(registry_entry(papers))
        from tacit.report.meta import KEYS

        keys += [
            key for key, words in KEYS.items() if json.dumps(f"TO FILL: {words}")[1:-1] in text and key not in keys
        ]
    return {"left_to_a_person": keys} if keys else {}


@dataclass(frozen=True, kw_only=True)
class KeyArguments:
    """What the command line asked for."""

    output: Annotated[Path, "Output file for the private key; the public key is written beside it."]
    as_json: shared.Json = False


def new_key_pair(arguments: KeyArguments) -> None:
    """Create an Ed25519 key pair: OUTPUT signs and must stay secret; OUTPUT.pub is for those who verify."""
    from tacit.privacy.signatures import new_key

    outputs = {"OUTPUT": arguments.output, "OUTPUT.pub": Path(f"{arguments.output}.pub")}
    check_outputs(outputs, {}, force=None)
    public = new_key(arguments.output)
    if arguments.as_json:
        as_json({"private": str(arguments.output), "public": str(public)})
        return
    table(
        "A key pair",
        {
            "private": f"{arguments.output} (keep it secret: whoever has it can sign in your name)",
            "public": f"{public} (give it to whoever verifies)",
        },
    )
