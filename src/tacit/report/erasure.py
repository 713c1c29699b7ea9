"""A signed answer to a person who asks to be forgotten: what a model can still tell about her, and what it cannot.

The answer holds the certificate that it follows from, so that whoever has the public key can check both
(``tacit verify``). The text is computed from the certificate alone; nobody is named in it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.privacy.canonical import read_json, sha256
from tacit.privacy.certificate import Certificate
from tacit.privacy.strength import LEVELS, attack_risks, group_epsilon, percent
from tacit.privacy.verification import CertificateError
from tacit.report.promise import count

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORMAT, VERSION = "tacit erasure statement", 1
GROUPS = (1, 2, 5, 10)
"""How many persons who ask are listed."""

WEAK = LEVELS[1][0]
"""The best guess about a group beyond which its protection is weak, and the model should be made again."""

MOST_PERSONS = 1000
"""More are not counted."""


def guess(certificate: Certificate, persons: int) -> float:
    """How often the best guess is right whether so many persons together were in the table; by chance one half."""
    return (1 + attack_risks(certificate.charges, (persons,))[0].advantage) / 2


def refit_after(certificate: Certificate) -> int:
    """For how many persons together the best guess is right at most 75 % of the time; 0 if for no one."""
    low, high = 0, MOST_PERSONS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if guess(certificate, middle) <= WEAK else (low, middle)
    return low


def letter(certificate: Certificate) -> list[str]:
    """The answer in sentences, by paragraph."""
    signed = certificate
    whom = "row" if signed.unit is None and signed.rows_per_unit == 1 else "person"
    other = "had your data been different" if signed.n_public else "had your data not been in the table"
    factor = math.exp(min(signed.epsilon, 700.0))
    chance = "" if signed.delta == 0 else f", apart from a probability of at most 1 in {count(1 / signed.delta)}"
    protected = (
        "Protected is one row. If you have several rows in the table, the line for as many people applies to you."
        if whom == "row"
        else f"Protected are all of your rows, up to {signed.rows_per_unit}; further rows were not used."
    )
    groups = [_group(signed, persons) for persons in GROUPS]
    return [
        (
            f"This is about a model trained with {signed.algorithm} on {signed.created[:10]} "
            f"(SHA-256 of the model {signed.model_digest})."
        ),
        (
            f"The model was trained with differential privacy: epsilon {signed.epsilon:.6g}, delta {signed.delta:g}. "
            f"Whatever the model shows would have been as likely {other}, up to a factor of {count(factor)}{chance}. "
            "So the model is, within these limits, one that was made without you."
        ),
        (
            f"Somebody who knows all other data and sees the model guesses correctly whether your data were used at "
            f"most {percent(guess(signed, 1))} of the time. A coin flip is right 50 % of the time."
        ),
        protected,
        *groups,
        _when(refit_after(signed)),
        (
            "This statement does not delete anything. Your rows have to be removed from the table itself and from its "
            "copies, and no new model may be trained on them. It says nothing about other releases from the same "
            "table, and nothing about facts that hold for everybody, which the model may show."
        ),
    ]


def _group(certificate: Certificate, persons: int) -> str:
    epsilon = group_epsilon(certificate.charges, certificate.delta, persons)
    asks, them = ("1 person asks", "that person") if persons == 1 else (f"{persons} people ask", "all of them together")
    text = "" if math.isinf(epsilon) else f"epsilon is {count(epsilon)}, and "
    right = percent(guess(certificate, persons))
    return f"If {asks}: {text}a guess about {them} is right at most {right} of the time."


def _when(persons: int) -> str:
    if persons == 0:
        return (
            f"The protection of this model is weak even for one person: a guess about that person may be right more "
            f"than {percent(WEAK)} of the time. The model should be trained again without that person."
        )
    if persons >= MOST_PERSONS:
        return f"The model need not be trained again for up to {MOST_PERSONS:,} people who ask."
    people = "1 person has" if persons == 1 else f"{persons} people have"
    return (
        f"After {people} asked, the model should be trained again without them before the next one is answered: for "
        f"more people together, a guess may be right more than {percent(WEAK)} of the time."
    )


def erasure_statement(certificate: Certificate, key: Ed25519PrivateKey) -> dict[str, Any]:
    """The signed answer as plain data, for a certificate that holds and allows release."""
    from tacit.privacy.signatures import signature  # loads cryptography

    body = {
        "format": FORMAT,
        "version": VERSION,
        "letter": letter(certificate),
        "refit_after": refit_after(certificate),
        "certificate": certificate.to_dict(),
    }
    return {**body, "signature": signature({"erasure": sha256(body)}, key)}


def read_statement(path: str | os.PathLike[str]) -> Mapping[str, Any] | None:
    """The answer in a file; None if the file holds anything else."""
    try:
        data = read_json(Path(path).read_bytes())
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def erasure_problems(data: Mapping[str, Any], key: str | None = None) -> list[str]:
    """What does not hold of an answer: its certificate, its text, or its signature; by ``key``, if it is given."""
    from tacit.privacy.signatures import signature_problems

    body = {name: value for name, value in data.items() if name != "signature"}
    if data.get("version") != VERSION:
        return [f"the erasure statement is of version {data.get('version')!r}, and this library knows {VERSION}"]
    try:
        certificate = Certificate.from_dict(body.get("certificate", {}))
    except CertificateError as error:
        return [str(error)]
    problems = certificate.verify()
    if not certificate.releasable:
        problems.append("its model must not be released")
    if not problems and (
        body.get("letter") != letter(certificate) or body.get("refit_after") != refit_after(certificate)
    ):
        problems.append("its text does not follow from its certificate")
    if data.get("signature") is None:
        return [*problems, "it is not signed"]
    return problems + signature_problems(data["signature"], {"erasure": sha256(body)}, key)
