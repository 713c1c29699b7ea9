"""`tacit certificate`, `card`, `dossier` and `erasure`: papers that follow from a certificate; and `tacit keys`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import answer
from tacit.cli.failures import Mistake, together
from tacit.cli.outputs import check_outputs
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.report.paperwork import Paperwork


@dataclass(frozen=True, kw_only=True)
class CertificateArguments(shared.WritingArguments):
    model: shared.ModelFile
    registry: Annotated[Path | None, "Write an entry of the Differential Privacy Deployments Registry (YAML)."] = None
    ml_bom: Annotated[Path | None, "Write a bill of materials (CycloneDX 1.6, JSON)."] = None
    meta: shared.Meta = None
    evaluation: shared.Evaluation = None


def run(arguments: CertificateArguments) -> None:
    """Show what attackers can achieve against a model, and write papers about it. Exits with 4 if its claim fails.

    It needs no data and spends nothing. See also tacit card, tacit dossier and tacit erasure.
    """
    from tacit.privacy.strength import attack_risks
    from tacit.report.paperwork import read_paperwork
    from tacit.report.promise import risk_rows

    outputs = {"--registry": arguments.registry, "--ml-bom": arguments.ml_bom}
    endings = {"--registry": (".yaml", ".yml"), "--ml-bom": (".json",)}
    check_outputs(outputs, _inputs(arguments), force=arguments.force)
    together(*(partial(_check_ending, path, option, endings[option]) for option, path in outputs.items()))
    papers = read_paperwork(arguments.model, arguments.meta, arguments.evaluation)
    texts = dict(_texts(arguments, papers))
    for path, text in texts.items():
        write_text(path, text)
    paths = [str(path) for path in texts]
    open_keys = [] if arguments.registry is None else _open_keys(papers)
    risks = [risk.to_dict() for risk in attack_risks(papers.certificate.charges)]
    rows = {name: f"{one} (ten together {ten}; without the model {none})"
            for name, one, ten, none in risk_rows(papers.certificate.charges)}  # fmt: skip
    answer(
        arguments.as_json,
        {"written": paths, "risks": risks, **({"left_to_a_person": open_keys} if open_keys else {})},
        f"Upper bounds on attacks against {papers.certificate.protected}",
        rows
        | ({"written": ", ".join(paths)} if paths else {})
        | ({"left to a person": ", ".join(open_keys)} if open_keys else {}),
    )


def _inputs(arguments: CertificateArguments | CardArguments | ErasureArguments) -> dict[str, Path | None]:
    """The files that a command reads, by what they are."""
    values = vars(arguments)
    return {"the model": arguments.model, "the key": values.get("sign"), "the file of --meta": values.get("meta"),
            "the evaluation": values.get("evaluation"),
            **{f"audit {path}": path for path in values.get("audit") or ()}}  # fmt: skip


def _check_ending(path: Path | None, option: str, endings: Sequence[str]) -> None:
    """Raises for a name that says of a paper that it is something else."""
    if path is not None and path.suffix and path.suffix.lower() not in endings:
        raise Mistake(f"{option}: {path} must end in {' or '.join(endings)}, as what is written there does")


def _texts(arguments: CertificateArguments, papers: Paperwork) -> Iterator[tuple[Path, str]]:
    """The papers that were asked for, all of them made before the first is written."""
    from tacit.report.paperwork import json_text

    if arguments.registry is not None:
        from tacit.report.registry_entry import registry_entry, yaml_text

        yield arguments.registry, yaml_text(registry_entry(papers))
    if arguments.ml_bom is not None:
        from tacit.report.ml_bom import ml_bom

        yield arguments.ml_bom, json_text(ml_bom(papers))


def _open_keys(papers: Paperwork) -> list[str]:
    """Keys of ``--meta`` that nobody filled, where the registry needs them."""
    from tacit.report.meta import KEYS
    from tacit.report.registry_entry import registry_entry

    text = json.dumps(registry_entry(papers))
    return [key for key, words in KEYS.items() if json.dumps(f"TO FILL: {words}")[1:-1] in text]


@dataclass(frozen=True, kw_only=True)
class CardArguments(shared.WritingArguments):
    model: shared.ModelFile
    output: shared.Beside = None
    meta: shared.Meta = None
    evaluation: shared.Evaluation = None


@dataclass(frozen=True, kw_only=True)
class DossierArguments(CardArguments):
    audit: Annotated[list[Path] | None, "Output of tacit audit --json (repeatable)."] = None


@dataclass(frozen=True, kw_only=True)
class ErasureArguments(shared.WritingArguments):
    model: shared.ModelFile
    sign: Annotated[Path, typer.Option("--sign", help="Private key (see tacit keys new).")]
    output: shared.Beside = None


def card(arguments: CardArguments) -> None:
    """Write a model card for Hugging Face (Markdown). Exits with 4 if the claim of the model does not hold."""
    from tacit.report.registry_entry import hub_card

    _write(arguments, "card", (".md",), lambda papers, _: hub_card(papers, arguments.model.name))


def dossier(arguments: DossierArguments) -> None:
    """Write a dossier for authorities (HTML or Markdown). Exits with 4 if the claim of the model does not hold.

    It marks and lists the facts that only a person knows and --meta does not state.
    """
    from tacit.report import dossier as papers_for

    def text(papers: Paperwork, target: Path) -> str:
        return (papers_for.dossier if target.suffix.lower() == ".md" else papers_for.html)(papers)

    _write(arguments, "dossier", (".html", ".htm", ".md"), text)


def erasure(arguments: ErasureArguments) -> None:
    """Write a signed statement for people who ask to be forgotten (JSON). Exits with 4 if the claim does not hold.

    It says what the model can still tell about one of them, or several together; tacit verify checks it.
    """
    from tacit.privacy.signatures import read_private_key
    from tacit.report.erasure import erasure_statement
    from tacit.report.paperwork import json_text

    def text(papers: Paperwork, _: Path) -> str:
        return json_text(erasure_statement(papers.certificate, read_private_key(arguments.sign)))

    _write(arguments, "erasure", (".json",), text)


def _write(
    arguments: CardArguments | ErasureArguments,
    name: str,
    endings: Sequence[str],
    text: Callable[[Paperwork, Path], str],
) -> None:
    """Writes one paper: what it is called, how files of it may end (the first is the default), and what is in it."""
    from tacit.report.dossier import missing
    from tacit.report.paperwork import read_paperwork

    target = arguments.output or arguments.model.with_suffix(f".{name}{endings[0]}")
    check_outputs({"--output": target}, _inputs(arguments), force=arguments.force)
    _check_ending(target, "--output", endings)
    meta, score = (arguments.meta, arguments.evaluation) if isinstance(arguments, CardArguments) else (None, None)
    audits = (arguments.audit or ()) if isinstance(arguments, DossierArguments) else ()
    papers = read_paperwork(arguments.model, meta, score, audits)
    write_text(target, text(papers, target))
    open_keys = missing(papers) if isinstance(arguments, DossierArguments) else []
    facts = {"written": str(target), **({"left_to_a_person": open_keys} if open_keys else {})}
    rows = {"written": str(target)} | ({"left to a person": ", ".join(open_keys)} if open_keys else {})
    answer(arguments.as_json, facts, name.capitalize(), rows)


@dataclass(frozen=True, kw_only=True)
class KeyArguments(shared.JsonArguments):
    output: Annotated[Path, "Output file for the private key; the public key is written beside it."]


def new_key_pair(arguments: KeyArguments) -> None:
    """Create an Ed25519 key pair: OUTPUT signs and must stay secret; OUTPUT.pub is for those who verify."""
    from tacit.privacy.signatures import new_key

    outputs = {"OUTPUT": arguments.output, "OUTPUT.pub": Path(f"{arguments.output}.pub")}
    check_outputs(outputs, {}, force=None)
    public = new_key(arguments.output)
    answer(
        arguments.as_json,
        {"private": str(arguments.output), "public": str(public)},
        "A key pair",
        {
            "private": f"{arguments.output} (keep it secret: whoever has it can sign in your name)",
            "public": f"{public} (give it to whoever verifies)",
        },
    )
