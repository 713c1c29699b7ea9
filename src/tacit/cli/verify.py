"""`tacit verify`: whether a claim holds, as far as that can be checked without the data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import account_of, is_extract
from tacit.cli.console import as_json, finite, releasable, table
from tacit.cli.failures import CLAIM, Mistake

if TYPE_CHECKING:
    from tacit.audit.verify_tape import TapeVerdict
    from tacit.models.claims import Claim
    from tacit.privacy.certificate import Certificate
    from tacit.privacy.charges import Charge


@dataclass(frozen=True, kw_only=True)
class VerifyArguments(shared.JsonArguments):
    file: Annotated[Path, "Model file, a certificate, or an erasure statement."]
    model: Annotated[Path | None, "Model that a separate certificate should belong to."] = None
    key: Annotated[Path | None, "Public key of the signer (OUTPUT.pub)."] = None
    account: Annotated[str | None, "Account (URL), or its extract, that must hold a line about this signature."] = None
    dataset: shared.AccountDataset = None
    tape: Annotated[Path | None, "Tape of the fit: the model is learned again from it, without rows, and compared."] = (
        None
    )


def run(arguments: VerifyArguments) -> None:
    """Verify a claim: certificate, model, schema and ledger belong together, and the charges add up to what is stated.

    Only a signature (--key) shows who made it.
    """
    from tacit.models.claims import read_claim
    from tacit.report.erasure import read_statement

    if (statement := read_statement(arguments.file)) is not None:
        _print_statement(arguments, statement)
        return
    claim = read_claim(arguments.file, arguments.model)
    problems = [*claim.problems, *_of_signature(arguments, claim.certificate)]
    played = None
    if arguments.tape is not None and claim.certificate is not None:
        from tacit.audit.verify_tape import verify_tape

        played = verify_tape(arguments.model or arguments.file, arguments.tape)
        problems += played.problems
    if claim.certificate is None and not problems:
        raise Mistake(f"{arguments.file} is a model without a certificate")
    _print(arguments, claim, problems, played)
    if problems or _unmatched(arguments, claim.certificate):
        raise typer.Exit(CLAIM)


def _print_statement(arguments: VerifyArguments, statement: Mapping[str, Any]) -> None:
    """An answer to a person who asked to be forgotten."""
    from tacit.privacy.signatures import read_public_key
    from tacit.report.erasure import erasure_problems

    if any(place is not None for place in (arguments.model, arguments.account, arguments.tape)):
        raise Mistake("an erasure statement holds its certificate: verify it with --key alone")
    problems = erasure_problems(statement, None if arguments.key is None else read_public_key(arguments.key))
    if arguments.as_json:
        as_json({"holds": not problems, "findings": problems})
    else:
        verdict = "the claim does NOT hold: " + "; ".join(problems) if problems else "the statement holds"
        signed = (
            f"that of {arguments.key}"
            if arguments.key is not None
            else "valid; --key tells whether it is of somebody you know"
        )
        table("Erasure statement", {"verdict": verdict, **({} if problems else {"signature": signed})})
    if problems:
        raise typer.Exit(CLAIM)


def _of_signature(arguments: VerifyArguments, certificate: Certificate | None) -> list[str]:
    """What the options ask for, and does not hold."""
    _check_account(arguments)
    lines = None if arguments.account is None else _lines_of(arguments.account, arguments.dataset)
    if certificate is None or (arguments.key is None and lines is None):
        return []
    from tacit.privacy.signatures import read_public_key, signature_problems

    problems = []
    if arguments.key is not None:
        problems += signature_problems(certificate.signature, certificate.signable, read_public_key(arguments.key))
    if lines is not None:
        labels, charges, others = lines
        if certificate.signature is not None and certificate.transparency_line not in labels:
            problems.append("the account has no line about what was signed")
        if Counter(map(str, certificate.charges)) - Counter(map(str, charges)):
            problems.append("the account has no line that paid for it: its charges are missing")
        problems += others
    return problems


def _check_account(arguments: VerifyArguments) -> None:
    """Raises unless the two options name an account, or its extract."""
    account, dataset = arguments.account, arguments.dataset
    if account is None and dataset is not None:
        raise Mistake("--dataset names a data set of an account: give --account, too")
    if account is None or is_extract(account):
        return
    if "://" not in account and not Path(account).exists():
        raise Mistake(f"--account: {account} does not exist; give the URL of an account, or its extract")
    if dataset is None:
        raise Mistake(
            "--dataset is missing: name the data set whose account it is (tacit budget list shows those of a store)"
        )


def _unmatched(arguments: VerifyArguments, certificate: Certificate | None) -> str:
    """Why nobody can tell which line of the account is about a file; empty if that is not so, or not asked."""
    if arguments.account is None or certificate is None or certificate.signature is not None:
        return ""
    return "cannot be matched to the account: it is not signed, and lines name signatures (tacit fit --sign)"


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
    arguments: VerifyArguments, claim: Claim, problems: list[str], open_ones: Sequence[str], played: TapeVerdict | None
) -> None:
    from tacit.privacy.lemmas import used_files
    from tacit.privacy.strength import strength_of

    certificate = claim.certificate
    unmatched = _unmatched(arguments, certificate)
    holds = None if unmatched and not problems else not problems
    report: dict[str, Any] = {"holds": holds, "findings": problems, "remarks": list(claim.remarks)}
    if certificate is not None:
        strength = strength_of(certificate)
        report |= {
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
            "account": unmatched or (None if problems else _account_words(arguments) or None),
        }
    if played is not None:
        report["tape"] = {
            "follows": not played.problems, "findings": list(played.problems), "remarks": list(played.remarks),
            "releases": played.releases, "integers": played.integers,
        }  # fmt: skip
    as_json(report)


def _print(arguments: VerifyArguments, claim: Claim, problems: list[str], played: TapeVerdict | None) -> None:
    from tacit.privacy.assumptions import objections
    from tacit.privacy.strength import strength_of
    from tacit.report.budget import checked_share

    certificate = claim.certificate
    unmatched = _unmatched(arguments, certificate)
    open_ones = () if certificate is None else objections(certificate.assumptions)
    if arguments.as_json:
        _print_json(arguments, claim, problems, open_ones, played)
        return
    verdict = "the charges add up, but NOT the promise: nobody answers for what it assumes"
    if problems or not open_ones:
        verdict = (
            f"the charges add up, but NOT known to be paid for: it {unmatched}" if unmatched else "the claim holds"
        )
        verdict = "the claim does NOT hold: " + "; ".join(problems) if problems else verdict
    rows: dict[str, str] = {"verdict": verdict}
    if certificate is not None and problems:  # what does not hold is not praised
        rows["states"] = f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}, {certificate.neighbouring}"
        rows["protects"] = _protection_words(claim)
        rows["releasable"] = "NO: see the verdict"
        rows["signature"] = _signature_words(arguments, certificate, problems)
    elif certificate is not None:
        strength = strength_of(certificate)
        rows["claim"] = f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}, {certificate.neighbouring}"
        rows["protects"] = certificate.protected
        rows["strength"] = "not known" if open_ones else f"{strength.word}: {strength.guess_words}"
        rows |= {f"warning {i}": words for i, words in enumerate([*strength.warnings, *_questions(claim)], start=1)}
        rows["releases"] = str(certificate.releases)
        checked = checked_share(certificate.entries, certificate.charges, certificate.delta)
        others = "" if checked == 1 else "; the others rest on proofs in words, which the entries name"
        rows["checked lemmas"] = f"behind {checked:.0%} of the charges{others}"
        if coordinator_words := _coordinator_words(certificate):
            rows["the coordinator"] = coordinator_words
        if certificate.schema_fingerprint is not None:  # as tacit schema validate prints it of a file
            rows["schema"] = f"fingerprint {certificate.schema_fingerprint}"
        rows["releasable"] = releasable(certificate)
        rows |= {"taken as public": "; ".join(public)} if (public := certificate.taken_as_public) else {}
        rows["signature"] = _signature_words(arguments, certificate, problems)
        account_words = unmatched or _account_words(arguments)
        rows |= {"account": account_words} if account_words else {}
    if played is not None:
        follows = "does NOT follow from it: see the verdict" if played.problems else "follows from it, without a row"
        rows["tape"] = f"{played.releases} releases, {played.integers} integers; the model {follows}"
    notes = [*claim.remarks, *(() if played is None else played.remarks)]
    table("Certificate", rows | ({"note": "; ".join(notes)} if notes else {}))


def _protection_words(claim: Claim) -> str:
    """What is known of whom a file protects whose verdict is bad."""
    if claim.problems or claim.certificate is None:
        return "nobody, as far as this file proves: its statements contradict each other"
    return f"{claim.certificate.protected}, by charges that add up; who made the file is not proven"


def _coordinator_words(certificate: Certificate) -> str:
    """What the coordinator of sites that draw the noise can learn, alone and with some of them; empty without sites."""
    from tacit.privacy.noise_shares import towards_coordinator

    epsilons = towards_coordinator(certificate.entries, certificate.charges, certificate.delta)
    return ", ".join(f"{'alone' if k == 0 else f'with {k}'}: epsilon {epsilon:.3g}" for k, epsilon in epsilons)


def _account_words(arguments: VerifyArguments) -> str:
    """What was found in an account, where nothing is wrong; empty if none was named."""
    if arguments.account is None:
        return ""
    what = "the extract of the account" if is_extract(arguments.account) else "the account"
    return f"{what} holds the line about this signature"


def _questions(claim: Claim) -> list[str]:
    """What the schema leaves open about who is protected."""
    from tacit.privacy.unit import unit_question

    question = "" if claim.schema is None else unit_question(claim.schema)
    return [question] if question else []


def _signature_words(arguments: VerifyArguments, certificate: Certificate, problems: list[str]) -> str:
    if certificate.signature is None:
        return "none (origin not proven)"
    if arguments.key is None:
        return "present, not checked: give --key with the public key of the signer"
    return f"checked with {arguments.key}: see the verdict" if problems else f"that of {arguments.key}"
