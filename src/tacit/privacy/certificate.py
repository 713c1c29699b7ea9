"""The certificate: the readable, checkable summary of what a fit released and what that costs.

It can be written on its own or inside a model file, and checked again from its charges alone. It names its model, its
schema and its ledger by their SHA-256, so that it fits no other model. Its own digest finds accidents and edits; who
edits everything and computes every digest anew is found by a signature alone (:mod:`tacit.privacy.signatures`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from tacit.display import Shown
from tacit.privacy import accountants
from tacit.privacy.assumptions import EDIT, Assumption, objections, united
from tacit.privacy.canonical import Written, canonical_json, finite, read_json, sha256
from tacit.privacy.charges import Charge, uses
from tacit.privacy.ledger import COMPLETED, Entry, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.privacy.verification import (
    FORMAT,
    FORMAT_VERSION,
    OPTIONAL,
    REPLAYABLE,
    UNVERIFIED,
    CertificateError,
    check_format,
    claim_errors,
    cost_problems,
    coverage_problems,
    ledger_facts,
    read_fields,
    said_of_error,
    signature_problems_of,
    summarise,
    unreleasable_reasons,
    versions,
    written_names,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from tacit.privacy.account import PrivacyAccount
    from tacit.schema import Schema

OF_NO_MODEL = "of no model: it certifies a score, a choice, a discovered schema or a stream"
"""What is said of a certificate that names no model. A score's is not bound to the model that was judged, on purpose:
beside that model it would promise the score's epsilon for a model that cost more."""


@dataclass(frozen=True, repr=False)
class Certificate(Shown):
    """What was promised, what was reserved for it, what was released, and whether it may be released.

    Attributes:
        epsilon: the promise at ``delta``: at least what the reserved charges cost together; may be infinite.
        delta: the promise.
        neighbouring: the relation of the promise.
        n_public: whether the number of rows is public under that relation; of persons, where they are protected.
        rows_per_unit: how many rows one protected person may have.
        charges: what was reserved.
        entries: what was released under it; large families gathered (:func:`summarise`).
        noise_source: whose sampler drew the noise; several with ``" and "`` between them.
        releasable: whether the model may be released.
        reasons: why not; empty if it may.
        algorithm: what was fitted.
        outcome: how the reservation was closed.
        schema_fingerprint: hash of the schema, None if there was none.
        dataset: name of the account's data set, None if there was no account.
        versions: of the libraries.
        created: when the budget was reserved: UTC, ISO format. How long the work took is not told.
        digest: of everything above and below but the signature.
        unit: the column whose equal values are one protected person, None where a row is protected.
        target: name of what was learned to predict, None if nobody gave it a name.
        columns: names of the columns a fit was given, or their number where they had no names; None if it was no fit.
        parameters: of the learner, as plain data.
        model_digest: SHA-256 of the model, None if this is the certificate of no model.
        schema_digest: SHA-256 of the schema beside the model: the one declared, or the one found.
        ledger_digest: SHA-256 of the charges and the entries.
        signature: who stands for it, None if nobody signed.
        data: what people call the data, None if nobody gave them a name.
        assumptions: what was taken as public, or not covered: no charge is about it.
        tape: SHA-256 of the tape of the fit, None if there is none.
        unit_name: what one protected unit is called, such as ``"patient"``; None if the schema does not say.

    Example:
        >>> from tacit import AdditiveBoostClassifier, Certificate
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> model = AdditiveBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(X, y)
        >>> certificate = Certificate.from_dict(model.certificate_.to_dict())
        >>> certificate.verify()
        []
        >>> print(certificate.releasable, certificate.delta)
        True 1e-06
    """

    epsilon: float
    delta: float
    neighbouring: Neighbouring
    n_public: bool
    rows_per_unit: int
    charges: tuple[Charge, ...]
    entries: tuple[Entry, ...]
    noise_source: str
    releasable: bool
    reasons: tuple[str, ...]
    algorithm: str
    outcome: str
    schema_fingerprint: str | None
    dataset: str | None
    versions: Mapping[str, str]
    created: str
    digest: str = ""
    unit: str | None = None
    target: str | None = None
    columns: tuple[str, ...] | int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model_digest: str | None = None
    schema_digest: str | None = None
    ledger_digest: str = ""
    signature: Mapping[str, Any] | None = None
    data: str | None = None
    assumptions: tuple[Assumption, ...] = ()
    tape: str | None = None
    unit_name: str | None = None

    @classmethod
    def of(
        cls,
        reservation: Reservation,
        *,
        epsilon: float,
        delta: float,
        noise_source: str,
        noise_releasable: bool,
        algorithm: str,
        schema: Schema | None = None,
        account: PrivacyAccount | None = None,
        unverified: bool = False,
    ) -> Self:
        """The certificate of a closed reservation.

        It promises the ``epsilon`` that was asked for, or the cost of the charges if that is more.
        ``noise_releasable``: whether the source of noise can be replayed by nobody; ``unverified``: whether a foreign
        learner with an unverified claim saw rows.
        """
        promised = max(epsilon, accountants.epsilon(reservation.charges, delta))
        evident = unreleasable_reasons(promised, delta, reservation.charges, reservation.outcome or "open")
        reasons = evident + (REPLAYABLE,) * (not noise_releasable) + (UNVERIFIED,) * unverified
        unit = None if schema is None else schema.unit
        certificate = cls(
            epsilon=promised,
            delta=delta,
            neighbouring=reservation.neighbouring,
            n_public=reservation.neighbouring.n_is_public,
            rows_per_unit=1 if unit is None else int(unit.max_rows),
            charges=reservation.charges,
            entries=summarise(reservation.entries),
            noise_source=noise_source,
            releasable=not reasons,
            reasons=reasons,
            algorithm=algorithm,
            outcome=reservation.outcome or "open",
            schema_fingerprint=None if schema is None else schema.fingerprint(),
            dataset=None if account is None else account.dataset,
            versions=versions(),
            created=reservation.begun,  # not when it ended: how long a search took tells how many runs it made
            unit=None if unit is None else str(unit.column) or None,
            unit_name=None if unit is None else unit.name or None,
        )
        return certificate._with(ledger_digest=certificate._computed_ledger_digest())._sealed()

    def bound(
        self,
        model_digest: str,
        schema_digest: str | None = None,
        *,
        target: str | None = None,
        columns: tuple[str, ...] | int | None = None,
        parameters: Mapping[str, Any] | None = None,
        tape: str | None = None,
    ) -> Self:
        """The same certificate as that of one model and no other, by the digests of the model and its schema.

        ``target`` names what the model predicts; ``columns`` are what the fit was given; ``tape`` is
        the digest of its tape.
        """
        return self._with(
            model_digest=model_digest, schema_digest=schema_digest, target=target, columns=columns,
            parameters=dict(parameters or {}), tape=tape, signature=None,
        )._sealed()  # fmt: skip

    def assuming(self, *assumptions: Assumption) -> Self:
        """The same certificate with more assumptions; not releasable if nobody answers for one of them."""
        if not (added := united(self.assumptions, assumptions)[len(self.assumptions) :]):
            return self
        reasons = tuple(dict.fromkeys((*self.reasons, *objections(added))))
        return self._with(
            assumptions=(*self.assumptions, *added), releasable=not reasons, reasons=reasons, signature=None
        )._sealed()

    def about_people_of(self, other: Certificate, dataset: str | None) -> Self:
        """The same certificate with the unit and the schema of another one, paid from an account of this name."""
        return self._with(
            unit=other.unit, unit_name=other.unit_name, rows_per_unit=other.rows_per_unit,
            schema_fingerprint=other.schema_fingerprint, dataset=dataset,
        )._sealed()  # fmt: skip

    def named(self, target: str | None, data: str | None = None) -> Self:
        """The same certificate with the names of what is predicted, and of the data, for people."""
        return self._with(target=target, data=data, signature=None)._sealed()

    @property
    def signable(self) -> dict[str, str | None]:
        """What a signature is about."""
        return {
            "model": self.model_digest,
            "schema": self.schema_digest,
            "ledger": self.ledger_digest,
            "certificate": self.digest,
        }

    def signed(self, key: Ed25519PrivateKey) -> Self:
        """With a signature under a private key (:func:`tacit.privacy.signatures.read_private_key`)."""
        from tacit.privacy.signatures import signature  # loads cryptography

        return replace(self, signature=signature(self.signable, key))

    @property
    def transparency_line(self) -> str:
        """What an account keeps of a signed certificate: one line that cannot be taken back."""
        digests = ", ".join(f"{name} {digest}" for name, digest in self.signable.items() if digest is not None)
        return f"signed: {digests}, by key {None if self.signature is None else self.signature['key']}"

    @property
    def protected(self) -> str:
        """What is protected, in words: ``"one row"`` or ``"one patient, at most 3 rows"``."""
        if self.unit is None and self.rows_per_unit == 1:
            return "one row"
        rows = "one row" if self.rows_per_unit == 1 else f"{self.rows_per_unit} rows"
        return f"one {self.unit_name or self.unit or 'person'}, at most {rows}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know, and is no fault."""
        edits = tuple(each.text for each in self.assumptions if each.subject == EDIT)
        return (OF_NO_MODEL, *edits) if self.model_digest is None else edits

    @property
    def taken_as_public(self) -> tuple[str, ...]:
        """What was taken as public, in clauses."""
        return tuple(each.text for each in self.assumptions if each.accepted and each.subject != EDIT)

    @property
    def releases(self) -> int:
        """How many releases the entries stand for."""
        return sum(times for _, times in uses([entry.charge for entry in self.entries]))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data without infinities; :meth:`from_dict` is the inverse."""
        signed = {} if self.signature is None else {"signature": dict(self.signature)}
        return {"format": FORMAT, "version": FORMAT_VERSION, **finite(self._content()), "digest": self.digest, **signed}

    def to_json(self) -> str:
        """The certificate as a JSON document."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads plain data. What it claims is taken over as it stands: :meth:`verify` judges it.

        Raises:
            CertificateError: if it is no certificate, or of a newer format.
        """
        check_format(data)
        try:
            certificate = cls(**read_fields(data, [item.name for item in fields(cls)]))
            same = canonical_json(certificate.to_dict()) == canonical_json(data)
        except KeyError as error:
            raise CertificateError(f"the certificate is damaged: it lacks {error}") from error
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError):
            same = False
        if not same:
            raise CertificateError("the certificate is damaged: it holds what no certificate of its format does")
        return certificate

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of :meth:`to_json`.

        Raises:
            CertificateError: if it is no certificate, or of a newer format.
        """
        try:
            data = read_json(text)
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"this is not a certificate: {error}") from None
        return cls.from_dict(data)

    def verify(self) -> list[str]:
        """Accounts for the certificate again, from its own charges and entries; returns what is wrong with it.

        An empty list means: the charges cost at most what is promised, the releases are covered by the charges, what it
        says about itself is consistent, and its text is as it was written.
        """
        problems = cost_problems(self.epsilon, self.delta, self.charges) + coverage_problems(self.charges, self.entries)
        if self.n_public != self.neighbouring.n_is_public:
            problems.append(f"it says n_public={self.n_public}, which is not so under {self.neighbouring}")
        if self.rows_per_unit < 1:
            problems.append(f"rows_per_unit is {self.rows_per_unit}, and a person has at least one row")
        evident = unreleasable_reasons(self.epsilon, self.delta, self.charges, self.outcome)
        evident += objections(self.assumptions)
        problems += claim_errors(self.releasable, self.reasons, evident, self.noise_source)
        if self.model_digest is not None and self.outcome == COMPLETED and not self.entries:
            problems.append("it is of a model, and lists no release that the model could be made from")
        return [*problems, *self.integrity()]

    def integrity(self) -> list[str]:
        """What of its digests and its signature does not fit; quick, as nothing is accounted for."""
        problems = []
        if self.digest != self._computed_digest():
            problems.append("its digest does not match its content: it was changed after it was made")
        if self.ledger_digest != self._computed_ledger_digest():
            problems.append("its ledger is not the one it was made with")
        if self.signature is not None:
            problems += signature_problems_of(self.signature, self.signable)
        return problems

    def summary(self) -> str:
        """The certificate in plain words."""
        whom = self.protected
        relation = f"{whom} added or removed; the number of rows is private"
        if self.n_public:
            public = "rows" if self.unit is None and self.rows_per_unit == 1 else "persons"
            relation = f"{whom} replaced; the number of {public} is public"
        promise = f"epsilon {self.epsilon:.6g} at delta {self.delta:g}"
        if math.isinf(self.epsilon):
            promise = "none: it was made without noise"
        lines = [
            f"{self.algorithm}, {self.created}",
            f"Promise: {promise}",
            f"Compared tables: {relation} ({self.neighbouring})",
            f"Reserved: {len(self.charges)} charge(s); released: {self.releases} measurement(s)",
            f"Noise: {self.noise_source}",
            "May be released: " + ("yes" if self.releasable else "NO, " + "; ".join(self.reasons)),
        ]
        lines += [f"Taken as public: {text}" for text in self.taken_as_public] + [
            f"Note: {remark}" for remark in self.remarks
        ]
        lines += said_of_error(self.parameters.get("promise"))
        if self.dataset is not None:
            lines.append(f"Paid from the account of {self.dataset}")
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        return {"json": self.to_json()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(vars(type(self).from_json(state["json"])))

    def __repr__(self) -> str:
        return (
            f"Certificate(epsilon={self.epsilon:.6g}, delta={self.delta:g}, neighbouring={str(self.neighbouring)!r}, "
            f"releases={self.releases}, releasable={self.releasable})"
        )

    def _sealed(self) -> Self:
        """With the digest of what it says now."""
        return self._with(digest=self._computed_digest())

    def _with(self, **changes: Any) -> Self:
        """With other attributes and the same releases, which are long to write down."""
        changed = replace(self, **changes)
        vars(changed).update(_ledger=self._ledger, _written_ledger=self._written_ledger)
        return changed

    def _content(self) -> dict[str, Any]:
        names = written_names([item.name for item in fields(self)])
        data = {name: value for name in names if (value := getattr(self, name)) is not None or name not in OPTIONAL}
        data["neighbouring"] = str(self.neighbouring)
        data["reasons"] = list(self.reasons)
        data["assumptions"] = [each.to_dict() for each in self.assumptions]
        data["versions"] = dict(self.versions)
        content: dict[str, Any] = finite(data)
        return content | self._ledger

    @cached_property
    def _ledger(self) -> dict[str, Any]:
        return ledger_facts(self.charges, self.entries)

    @cached_property
    def _written_ledger(self) -> dict[str, Written]:
        return {name: Written(canonical_json(part).decode()) for name, part in self._ledger.items()}

    def _computed_ledger_digest(self) -> str:
        return sha256(self._written_ledger)

    def _computed_digest(self) -> str:
        return sha256({**self._content(), **self._written_ledger, "version": FORMAT_VERSION})
