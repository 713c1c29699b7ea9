"""The certificate: the readable, checkable summary of what a fit released and what that costs.

It can be written on its own or inside a model file, and checked again from its charges alone. Its digest finds
accidents and careless edits; it is not a signature, and says nothing about who made it.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, Self

from tacit.errors import TacitError
from tacit.privacy import accountants
from tacit.privacy.charges import Charge, NonPrivate, Repeated, charge_from_dict
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import COMPLETED, Coverage, Entry, Reservation, uses
from tacit.privacy.neighbouring import Neighbouring

FORMAT = "tacit certificate"
FORMAT_VERSION = 2
"""2 keeps what a release is for as facts beside its label; certificates of format 1 have the labels alone."""

RELEASABLE_SOURCES = ("tacit", "opendp")
"""Sources of noise that nobody can replay, by whose samplers they use."""

BOTH = " and "
"""Between the names of sources, where there are several."""

LIBRARIES = ("tacit", "numpy", "numba", "dp-accounting", "opendp")

MANY = 100
"""So many entries of one pattern, charge and theorem are written as one."""

AGREEMENT = 1e-6
"""Relative difference granted to an accountant on another machine or of another version."""

NO_NOISE = "it was made without noise: epsilon is infinite"
REPLAYABLE = "its noise came from a seed and can be subtracted by whoever knows it"
UNVERIFIED = "it ran a foreign learner on the rows, and what that learner promises was not verified"
UNFINISHED = "the fit did not complete"


class CertificateError(TacitError):
    """Something that is not a certificate this version can read."""


class NamedAccount(Protocol):
    """What a certificate says of an account."""

    @property
    def dataset(self) -> str | None:
        """The name of the data set."""


class FingerprintedSchema(Protocol):
    """What a certificate says of a schema."""

    @property
    def unit(self) -> Any:
        """The protected unit, or None for a row."""

    def fingerprint(self) -> str:
        """A hash of the schema."""


def summarise(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Entries with the large families gathered: a hundred or more whose labels differ in numbers alone become one.

    The label of such an entry has ``#`` for the numbers, its charge is ``Repeated``, its place is that of the first.
    """
    families = [(entry.stage, entry.what.pattern, entry.charge, entry.theorem) for entry in entries]
    sizes = Counter(families)
    kept: list[Entry] = []
    seen: set[tuple[Stage, str, Charge, str]] = set()
    for entry, family in zip(entries, families, strict=True):
        *_, charge, theorem = family
        if sizes[family] < MANY:
            kept.append(Entry(len(kept), entry.what, charge, theorem))
        elif family not in seen:
            seen.add(family)
            kept.append(Entry(len(kept), _gathered(entry.what), Repeated(charge, sizes[family]), theorem))
    return tuple(kept)


def _gathered(first: Label) -> Label:
    """A family in place of its first member."""
    if first.stage is Stage.OTHER:
        return Label.of(first.pattern)
    return Label(first.stage, text=first.pattern)


@dataclass(frozen=True, repr=False)
class Certificate:
    """What was promised, what was reserved for it, what was released, and whether it may leave the room.

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
        created: UTC, ISO format.
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
        schema: FingerprintedSchema | None = None,
        account: NamedAccount | None = None,
        unverified: bool = False,
    ) -> Self:
        """The certificate of a closed reservation.

        Args:
            reservation: what the fit reserved and released.
            epsilon: what was asked for; the certificate promises this, or the cost of the charges if that is more.
            delta: what was asked for.
            noise_source: where the noise came from.
            noise_releasable: whether that source can be replayed by nobody.
            algorithm: what was fitted.
            schema: for its fingerprint and its unit.
            account: for its name.
            unverified: whether a foreign learner with an unverified claim saw rows.
        """
        promised = max(epsilon, accountants.epsilon(reservation.charges, delta))
        evident = _reasons(promised, reservation.charges, reservation.outcome or "open")
        reasons = evident + (REPLAYABLE,) * (not noise_releasable) + (UNVERIFIED,) * unverified
        unit = None if schema is None else schema.unit
        made = cls(
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
            versions=_versions(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return cls(**{**_shallow(made), "digest": made._computed_digest()})

    @property
    def releases(self) -> int:
        """How many releases the entries stand for."""
        return sum(times for _, times in uses([entry.charge for entry in self.entries]))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data without infinities; :meth:`from_dict` is the inverse."""
        return {"format": FORMAT, "version": FORMAT_VERSION, **self._content(), "digest": self.digest}

    def to_json(self) -> str:
        """The certificate as a JSON document."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Reads plain data. What it claims is taken over as it stands: :meth:`verify` judges it.

        Raises:
            CertificateError: if it is no certificate, or of a newer format.
        """
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise CertificateError("this is not a certificate")
        found = data.get("version")
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise CertificateError(f"the certificate's format version is {found!r}, not a number")
        if found > FORMAT_VERSION:
            raise CertificateError(
                f"the certificate has format {found}, and this version of tacit reads up to {FORMAT_VERSION}: "
                "use a newer version"
            )
        try:
            return cls(**_read_fields(data))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CertificateError(f"the certificate is damaged: {type(error).__name__}: {error}") from error

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of :meth:`to_json`.

        Raises:
            CertificateError: if it is no certificate, or of a newer format.
        """
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise CertificateError(f"this is not a certificate: {error}") from None
        return cls.from_dict(data)

    def verify(self) -> list[str]:
        """Accounts for the certificate again, from its own charges and entries; returns what is wrong with it.

        An empty list means: the charges cost at most what is promised, the releases are covered by the charges, what it
        says about itself is consistent, and its text is as it was written.
        """
        problems = [*self._cost_problems(), *self._coverage_problems()]
        if self.n_public != self.neighbouring.n_is_public:
            problems.append(f"it says n_public={self.n_public}, which is not so under {self.neighbouring}")
        if self.rows_per_unit < 1:
            problems.append(f"rows_per_unit is {self.rows_per_unit}, and a person has at least one row")
        if self.releasable and self.reasons:
            problems.append("it says it is releasable, and gives reasons why not")
        if not self.releasable and not self.reasons:
            problems.append("it says it is not releasable, and gives no reason")
        if self.releasable and (evident := _reasons(self.epsilon, self.charges, self.outcome)):
            problems.append(f"it says it is releasable, but {'; '.join(evident)}")
        if self.releasable and not set(self.noise_source.split(BOTH)) <= set(RELEASABLE_SOURCES):
            problems.append(f"it says it is releasable, but noise from {self.noise_source!r} is not")
        if self.digest != self._computed_digest():
            problems.append("its digest does not belong to its text: it was changed after it was made")
        return problems

    def summary(self) -> str:
        """The certificate in plain words."""
        whom = "one row" if self.rows_per_unit == 1 else f"one person with up to {self.rows_per_unit} rows"
        relation = f"{whom} added or removed; the number of rows is private"
        if self.n_public:
            public = "rows" if self.rows_per_unit == 1 else "persons"
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
        if self.dataset is not None:
            lines.append(f"Paid from the account of {self.dataset}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"Certificate(epsilon={self.epsilon:.6g}, delta={self.delta:g}, neighbouring={str(self.neighbouring)!r}, "
            f"releases={self.releases}, releasable={self.releasable})"
        )

    def _cost_problems(self) -> list[str]:
        if not (self.epsilon >= 0 and 0 <= self.delta < 1):
            return [f"epsilon {self.epsilon} and delta {self.delta} are no promise"]
        cost = accountants.epsilon(self.charges, self.delta)
        if cost <= self.epsilon * (1 + AGREEMENT):
            return []
        return [
            f"its charges cost epsilon {cost:.6g} at delta {self.delta:g}, more than the {self.epsilon:.6g} it claims"
        ]

    def _coverage_problems(self) -> list[str]:
        """Gathering changes the order, and pure charges are packed in order: the large ones first is tried as well."""
        missing = _uncovered(self.charges, self.entries)
        if missing:
            by_size = sorted(self.entries, key=lambda entry: -accountants.epsilon([entry.charge], 0.0))
            missing = _uncovered(self.charges, by_size)
        if not missing:
            return []
        return [f"{len(missing)} of its entries are not covered by what was reserved: {', '.join(missing[:3])}"]

    def _content(self) -> dict[str, Any]:
        written = _shallow(self)
        del written["digest"]
        written["neighbouring"] = str(self.neighbouring)
        written["reasons"] = list(self.reasons)
        written["versions"] = dict(self.versions)
        written["charges"] = [charge.to_dict() for charge in self.charges]
        written["entries"] = [
            {"label": entry.label, **entry.what.facts(), "charge": entry.charge.to_dict(), "theorem": entry.theorem}
            for entry in self.entries
        ]
        content: dict[str, Any] = _finite(written)
        return content

    def _computed_digest(self) -> str:
        text = json.dumps(self._content(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


def _uncovered(charges: Sequence[Charge], entries: Sequence[Entry]) -> list[str]:
    """Labels of the entries that the charges do not pay for."""
    coverage = Coverage(charges)
    return [entry.label for entry in entries if not coverage.take(entry.charge)]


def _shallow(certificate: Certificate) -> dict[str, Any]:
    return {field.name: getattr(certificate, field.name) for field in fields(certificate)}


def _reasons(epsilon: float, charges: Sequence[Charge], outcome: str) -> tuple[str, ...]:
    """Why a model may not be released, as far as it shows in the certificate."""
    bare = math.isinf(epsilon) or any(isinstance(charge, NonPrivate) for charge, _ in uses(charges))
    unfinished = outcome != COMPLETED
    return (*((NO_NOISE,) if bare else ()), *((UNFINISHED,) if unfinished else ()))


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def _finite(data: Any) -> Any:
    """Plain data with infinities as words, because JSON has none."""
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def _infinite(data: Any) -> Any:
    """The inverse of :func:`_finite`, for charges, which hold no other words."""
    if data in ("inf", "-inf"):
        return float(data)
    if isinstance(data, Mapping):
        return {key: _infinite(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_infinite(value) for value in data]
    return data


def _read_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    read = {field.name: data[field.name] for field in fields(Certificate)}
    read["epsilon"], read["delta"] = float(data["epsilon"]), float(data["delta"])
    read["neighbouring"] = Neighbouring(data["neighbouring"])
    read["rows_per_unit"] = int(data["rows_per_unit"])
    read["reasons"] = tuple(str(reason) for reason in data["reasons"])
    read["versions"] = {str(name): str(value) for name, value in data["versions"].items()}
    read["charges"] = tuple(charge_from_dict(_infinite(charge)) for charge in data["charges"])
    read["entries"] = tuple(
        Entry(i, Label.from_dict(entry), charge_from_dict(_infinite(entry["charge"])), str(entry["theorem"]))
        for i, entry in enumerate(data["entries"])
    )
    for name in ("n_public", "releasable"):
        if not isinstance(read[name], bool):
            raise TypeError(f"{name} must be true or false")
    return read
