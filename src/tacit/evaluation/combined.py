"""The certificate of two pieces of work on the same people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.privacy.certificate import RELEASABLE_SOURCES, UNVERIFIED, Certificate
from tacit.privacy.ledger import Reservation


def check_combinable(first: Certificate, neighbouring: str, rows_per_unit: int) -> None:
    """Raises ``ValueError`` unless a certificate speaks of the same relation and the same protected unit."""
    if first.neighbouring != neighbouring:
        raise ValueError(
            f"the model's certificate is about {first.neighbouring}, and the request about {neighbouring}: the two do "
            "not add up. Nothing was spent."
        )
    if first.rows_per_unit != rows_per_unit:
        raise ValueError(
            f"the model's certificate protects units of {first.rows_per_unit} row(s), and the request units of "
            f"{rows_per_unit}: give the schema of the model. Nothing was spent."
        )


def combined_certificate(first: Certificate, second: Certificate, algorithm: str) -> Certificate:
    """What two certificates say together: charges and entries of both, accounted for as one composition.

    Where the two are about different people it claims more than was spent, which is safe.

    Raises:
        ValueError: if they are about different relations or units.
    """
    check_combinable(first, second.neighbouring, second.rows_per_unit)
    reservation = Reservation((*first.charges, *second.charges), first.neighbouring, algorithm)
    for entry in (*first.entries, *second.entries):
        reservation.record(entry.charge, entry.label, entry.theorem)
    reservation.close()
    sources = sorted({first.noise_source, second.noise_source})
    facts = _Facts(_Unit(first.rows_per_unit), first.schema_fingerprint or "", first.dataset or second.dataset)
    return Certificate.of(
        reservation,
        epsilon=0.0,
        delta=max(first.delta, second.delta),
        noise_source=" and ".join(sources),
        noise_releasable=all(source in RELEASABLE_SOURCES for source in sources),
        algorithm=algorithm,
        schema=None if first.schema_fingerprint is None else facts,
        account=None if facts.dataset is None else facts,
        unverified=any(UNVERIFIED in part.reasons for part in (first, second)),
    )


@dataclass(frozen=True)
class _Unit:
    max_rows: int


@dataclass(frozen=True)
class _Facts:
    """What a certificate says of a schema and of an account."""

    unit: Any
    schema_fingerprint: str
    dataset: str | None

    def fingerprint(self) -> str:
        return self.schema_fingerprint
