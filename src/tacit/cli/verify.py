"""`tacit verify`: whether a claim holds, as far as that can be checked without the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import account_of, check_account, is_extract
from tacit.cli.console import as_json, finite, releasable, table
from tacit.cli.failures import CLAIM, Mistake

if TYPE_CHECKING:
    from tacit.audit.verify_tape import TapeVerdict
    from tacit.models.claims import Claim
    from tacit.privacy.certificate import Certificate
    from tacit.privacy.charges import Charge


@dataclass(frozen=True, kw_only=True)
class VerifyArguments:
    """What the command line asked for."""

    file: Annotated[Path, typer.Argument(help="Model file, a certificate, or an erasure statement.")]
    model: Annotated[
        Path | None, typer.Option("--model", help="Model that a separate certificate should belong to.")
    ] = None
    key: Annotated[Path | None, typer.Option("--key", help="Public key of the signer (OUTPUT.pub).")] = None
    account: Annotated[
        str | None,
        typer.Option("--account", help="Account (URL), or its extract, that must hold a line about this signature."),
    ] = None
    dataset: shared.AccountDataset = None
    tape: Annotated[
        Path | None,
        typer.Option("--tape", help="Tape of the fit: the model is learned again from it, without rows, and compared."),
    ] = None
    as_json: shared.Json = False


def run(asked: VerifyArguments) -> None:
    """Verify a claim: certificate, model, schema and ledger belong together, and the charges add up to what is stated.

    Only a signature (--key) shows who made one.
    """
    from tacit.models.claims import read_claim
    from tacit.report.erasure import read_statement

    if (statement := read_statement(asked.file)) is not None:
        _print_statement(asked, statement)
        return
    claim = read_claim(asked.file, asked.model)
    problems = [*claim.problems, *_of_signature(asked, claim.certificate)]
    played = None if asked.tape is None or claim.certificate is None else _of_tape(asked, asked.tape)
    problems += [] if played is None else played.problems
    if claim.certificate is None and not problems:
        raise Mistake(f"{asked.file} is a model without a certificate")
    _print(asked, claim, problems, played)
    if problems:
        raise typer.Exit(CLAIM)


def _print_statement(asked: VerifyArguments, statement: Mapping[str, Any]) -> None:
    """An answer to a person who asked to be forgotten."""
    from tacit.privacy.signatures import read_public_key
    from tacit.report.erasure import erasure_problems

    if any(given is not None for given in (asked.model, asked.account, asked.tape)):
        raise Mistake("an erasure statement holds its certificate: verify it with --key alone")
    problems = erasure_problems(statement, None if asked.key is None else read_public_key(asked.key))
    if asked.as_json:
        as_json({"holds": not problems, "findings": problems})
    else:
        said = "the claim does NOT hold: " + "; ".join(problems) if problems else "the statement holds"
        signed = (
            f"that of {asked.key}" if asked.key is not None else "valid; --key tells whether it is of somebody you know"
        )
        table("Erasure statement", {"verdict": said, **({} if problems else {"signature": signed})})
    if problems:
        raise typer.Exit(CLAIM)


def _of_tape(asked: VerifyArguments, tape: Path) -> TapeVerdict:
    """What comes of learning the model again from its tape."""
    from tacit.audit.verify_tape import verify_tape

    return verify_tape(asked.model or asked.file, tape)


def _of_signature(asked: VerifyArguments, certificate: Certificate | None) -> list[str]:
    """What the options ask for, and does not hold."""
    if asked.account is None or not is_extract(asked.account):
        check_account(asked.account, asked.dataset)
    if certificate is None or (asked.key is None and asked.account is None):
        return []
    from tacit.privacy.signatures import read_public_key, signature_problems

    problems = []
    if asked.key is not None:
        problems += signature_problems(certificate.signature, certificate.signable, read_public_key(asked.key))
    if asked.account is not None:
        if certificate.signature is None:
            return [*problems, "it is not signed, so that the account has no line about it"]
        labels, charges, others = _lines_of(asked.account, asked.dataset)
        if certificate.transparency_line not in labels:
            problems.append("the account has no line about what was signed")
        if Counter(map(str, certificate.charges)) - Counter(map(str, charges)):
            problems.append("the account has no line that paid for what was signed: its charges are missing")
        problems += others
    return problems


def _lines_of(account: str, dataset: str | None) -> tuple[Sequence[str], list[Charge], list[str]]:
    """The labels and the charges of the lines of an account or its extract, and what of the extract does not hold."""
    if not is_extract(account):
        opened = account_of(account, dataset)
        assert opened is not None  # checked before
        lines = opened.reservations()
        return [line.label for line in lines], [charge for line in lines for charge in line.charges], []
    from tacit.privacy.extract import read_extract

    extract = read_extract(account)
    if dataset not in (None, extract.dataset):
        raise Mistake(f"--dataset is {dataset!r}, and {account} is the extract of an account of {extract.dataset!r}")
    return extract.labels, [charge for line in extract.charges for charge in line], extract.problems


def _print_json(
    asked: VerifyArguments, claim: Claim, problems: list[str], open_ones: Sequence[str], played: TapeVerdict | None
) -> None:
    from tacit.privacy.lemmas import used_files
    from tacit.privacy.strength import strength_of

    certificate = claim.certificate
    said: dict[str, Any] = {"holds": not problems, "findings": problems, "remarks": list(claim.remarks)}
    if certificate is not None:
        strength = strength_of(certificate)
        said |= {
            "epsilon": finite(certificate.epsilon),
            "delta": certificate.delta,
            "releasable": certificate.releasable and not problems,
            "reasons": list(certificate.reasons),
            "assumptions": [each.to_dict() for each in certificate.assumptions],
            "protected": certificate.protected,
            "lemmas": used_files([entry.theorem for entry in certificate.entries]),
            "schema_fingerprint": certificate.schema_fingerprint,
            "strength": None if problems or open_ones else strength.word,
            "warnings": [*strength.warnings, *_questions(claim)],
            "signed_by": None if certificate.signature is None else certificate.signature.get("key"),
            "account": None if problems else _account_words(asked) or None,
        }
    if played is not None:
        said["tape"] = {
            "follows": not played.problems, "findings": list(played.problems), "remarks": list(played.remarks),
            "releases": played.releases, "integers": played.integers,
        }  # fmt: skip
    as_json(said)


def _print(asked: VerifyArguments, claim: Claim, problems: list[str], played: TapeVerdict | None) -> None:
    from tacit.privacy.assumptions import objections
    from tacit.privacy.strength import strength_of
    from tacit.report.budget import checked_share

    certificate = claim.certificate
    open_ones = () if certificate is None else objections(certificate.assumptions)
    if asked.as_json:
        _print_json(asked, claim, problems, open_ones, played)
        return
    verdict = "the charges add up, but NOT the promise: nobody answers for what it assumes"
    if problems or not open_ones:
        verdict = "the claim does NOT hold: " + "; ".join(problems) if problems else "the claim holds"
    rows: dict[str, str] = {"verdict": verdict}
    if certificate is not None and problems:  # what does not hold is not praised
        rows["it says"] = f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}, {certificate.neighbouring}"
        rows["releasable"] = "NO: nothing is known of what this file protects"
        rows["signature"] = _signature_words(asked, certificate, problems)
    elif certificate is not None:
        strength = strength_of(certificate)
        rows["claim"] = f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}, {certificate.neighbouring}"
        rows["protects"] = certificate.protected
        rows["strength"] = "not known" if open_ones else f"{strength.word}: {strength.guess_words}"
        rows |= {f"warning {i}": words for i, words in enumerate([*strength.warnings, *_questions(claim)], start=1)}
        rows["releases"] = str(certificate.releases)
        checked = checked_share(certificate.entries, certificate.charges, certificate.delta)
        rows["checked lemmas"] = f"behind {checked:.0%} of the charges"
        if said := _coordinator_words(certificate):
            rows["the coordinator"] = said
        if certificate.schema_fingerprint is not None:  # as tacit schema show prints it of a file
            rows["schema"] = f"fingerprint {certificate.schema_fingerprint}"
        rows["releasable"] = releasable(certificate)
        rows |= {"taken as public": "; ".join(public)} if (public := certificate.taken_as_public) else {}
        rows["signature"] = _signature_words(asked, certificate, problems)
        rows |= {"account": said} if (said := _account_words(asked)) else {}
    if played is not None:
        follows = "does NOT follow from it: see the verdict" if played.problems else "follows from it, without a row"
        rows["tape"] = f"{played.releases} releases, {played.integers} integers; the model {follows}"
    notes = [*claim.remarks, *(() if played is None else played.remarks)]
    table("Certificate", rows | ({"note": "; ".join(notes)} if notes else {}))


def _coordinator_words(certificate: Certificate) -> str:
    """What the coordinator of sites that draw the noise can learn, alone and with some of them; empty without sites."""
    from tacit.privacy.noise_shares import towards_coordinator

    known = towards_coordinator(certificate.entries, certificate.charges, certificate.delta)
    return ", ".join(f"{'alone' if k == 0 else f'with {k}'}: epsilon {epsilon:.3g}" for k, epsilon in known)


def _account_words(asked: VerifyArguments) -> str:
    """What was found in an account, where nothing is wrong; empty if none was named."""
    if asked.account is None:
        return ""
    what = "the extract of the account" if is_extract(asked.account) else "the account"
    return f"{what} holds the line about this signature"


def _questions(claim: Claim) -> list[str]:
    """What the schema leaves open about who is protected."""
    from tacit.privacy.unit import unit_question

    question = "" if claim.schema is None else unit_question(claim.schema)
    return [question] if question else []


def _signature_words(asked: VerifyArguments, certificate: Certificate, problems: list[str]) -> str:
    if certificate.signature is None:
        return "none (origin not proven)"
    if asked.key is None:
        return "present, not checked: give --key with the public key of the signer"
    return f"checked with {asked.key}: see the verdict" if problems else f"that of {asked.key}"
