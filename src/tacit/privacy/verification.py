"""The plain data of certificates, and checks of what they say alone: charges composed again, releases covered."""

from __future__ import annotations

import math
import platform
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from tacit.errors import TacitError
from tacit.privacy import accountants
from tacit.privacy.assumptions import Assumption
from tacit.privacy.canonical import finite, infinite
from tacit.privacy.charges import Charge, NonPrivate, Repeated, charge_from_dict, uses
from tacit.privacy.coverage import Coverage
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import COMPLETED, Entry
from tacit.privacy.unit import Neighbouring

FORMAT = "tacit certificate"
FORMAT_VERSION = 1

TEXTS = ("noise_source", "algorithm", "outcome", "created", "digest", "ledger_digest")  # fields that are texts

TEXTS_OR_NOTHING = (
    "schema_fingerprint", "dataset", "unit", "unit_name", "target", "data", "model_digest", "schema_digest", "tape",
)  # fmt: skip
"""Fields that are texts, or None."""

OPTIONAL = ("tape", "unit_name")
"""Fields that are left out where there is none: many certificates have none, and those of earlier versions."""

OUTSIDE = ("digest", "signature")  # fields that are no part of what the digest is of


class CertificateError(TacitError):
    """Something that is not a certificate this version can read."""


def written_names(names: Iterable[str]) -> list[str]:
    """Those of a certificate's fields that its digest is of."""
    return [name for name in names if name not in OUTSIDE]


def ledger_facts(charges: Sequence[Charge], entries: Sequence[Entry]) -> dict[str, Any]:
    """What was reserved and released as plain data, which nobody may change."""
    numbers: dict[int, dict[str, Any]] = {}  # many releases share a charge

    def facts(charge: Charge) -> dict[str, Any]:
        if id(charge) not in numbers:
            numbers[id(charge)] = finite(charge.to_dict())
        return numbers[id(charge)]

    return {
        "charges": [facts(charge) for charge in charges],
        "entries": [
            {"label": entry.label, **entry.what.facts(), "charge": facts(entry.charge), "theorem": entry.theorem}
            for entry in entries
        ],
    }


def check_format(data: Any) -> None:
    """Raises :class:`CertificateError` if plain data are no certificate, or one of a newer format."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise CertificateError("this is not a certificate")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise CertificateError(f"the certificate's format version is {version!r}, not a number")
    if version > FORMAT_VERSION:
        raise CertificateError(
            f"the certificate has format {version}, and this version of tacit reads up to {FORMAT_VERSION}: "
            "use a newer version"
        )


def read_fields(data: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields of a certificate that plain data hold; what is missing or of another kind raises as Python does."""
    present = [name for name in written_names(names) if name in data or name not in OPTIONAL]
    values = {name: data[name] for name in (*present, "digest")}
    values["signature"] = data.get("signature")
    if isinstance(values["columns"], list):
        values["columns"] = tuple(str(name) for name in values["columns"])
    values["epsilon"], values["delta"] = float(data["epsilon"]), float(data["delta"])
    values["neighbouring"] = Neighbouring(data["neighbouring"])
    values["rows_per_unit"] = int(data["rows_per_unit"])
    values["reasons"] = tuple(str(reason) for reason in data["reasons"])
    values["versions"] = {str(name): str(value) for name, value in data["versions"].items()}
    values["assumptions"] = tuple(Assumption.from_dict(each) for each in data["assumptions"])
    values["charges"] = tuple(charge_from_dict(infinite(charge)) for charge in data["charges"])
    values["entries"] = tuple(
        Entry(i, Label.from_dict(entry), charge_from_dict(infinite(entry["charge"])), str(entry["theorem"]))
        for i, entry in enumerate(data["entries"])
    )
    _check_kinds(values)
    return values


def _check_kinds(values: Mapping[str, Any]) -> None:
    """Raises ``TypeError`` for fields of another kind, which only whoever looks at them would find."""
    for name in ("n_public", "releasable"):
        if not isinstance(values[name], bool):
            raise TypeError(f"{name} must be true or false")
    for name in (*TEXTS, *TEXTS_OR_NOTHING):
        value = values.get(name, "")
        if not isinstance(value, str) and not (value is None and name in TEXTS_OR_NOTHING):
            raise TypeError(f"{name} must be a text")
    columns = values.get("columns")
    if isinstance(columns, bool) or not (columns is None or isinstance(columns, int | tuple)):
        raise TypeError("columns must be names, or their number")
    if not isinstance(values.get("parameters", {}), Mapping):
        raise TypeError("parameters must be a table")


def said_of_error(promise: Any) -> list[str]:
    """A line about the error that a fit was made to keep below, from the parameter of the learner that says so."""
    if promise is None:
        return []
    facts = dict(promise["mapping"])
    return [
        (
            f"Error: at most {facts['error']:g} on {facts['errors_on'].replace('_', ' ')} with probability "
            f"{1 - facts['failure']:.4g}, if there are at least {facts['rows']:,} rows and a halfspace has margin "
            f"{facts['margin']:g} on all but {int(facts['violating'] * facts['rows']):,} of them"
        )
    ]


LIBRARIES = ("tacit", "numpy", "scipy", "numba", "dp-accounting", "opendp")

MANY = 100  # so many entries of one pattern, charge and theorem are written as one


def summarise(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Entries with the large families gathered: a hundred or more whose labels differ in numbers alone become one.

    The label of such an entry has ``#`` for the numbers, its charge is ``Repeated``, its place is that of the first.
    """
    families = [(entry.stage, entry.what.pattern, entry.charge, entry.theorem) for entry in entries]
    sizes = Counter(families)
    distinct: list[Entry] = []
    seen: set[tuple[Stage, str, Charge, str]] = set()
    for entry, family in zip(entries, families, strict=True):
        *_, charge, theorem = family
        if sizes[family] < MANY:
            distinct.append(Entry(len(distinct), entry.what, charge, theorem))
        elif family not in seen:
            seen.add(family)
            distinct.append(Entry(len(distinct), _gathered(entry.what), Repeated(charge, sizes[family]), theorem))
    return tuple(distinct)


def _gathered(first: Label) -> Label:
    """A family in place of its first member."""
    if first.stage is Stage.OTHER:
        return Label.of(first.pattern)
    return Label(first.stage, text=first.pattern)


def uncovered(charges: Sequence[Charge], entries: Sequence[Entry]) -> list[str]:
    """Labels of the entries that the charges do not pay for."""
    coverage = Coverage(charges)
    return [entry.label for entry in entries if not coverage.take(entry.charge)]


def versions() -> dict[str, str]:
    """Of Python and of the libraries that a fit depends on."""
    return {"python": platform.python_version(), **{name: _installed(name) for name in LIBRARIES}}


@cache
def _installed(name: str) -> str:
    """Read once: looking up what is installed takes longer than a small fit."""
    from importlib.metadata import PackageNotFoundError, version  # loads email and socket, which predictors need not

    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"


MOST_DELTA = 0.01  # from this delta on nothing is promised: one row in a hundred might be published as it stands
RELEASABLE_SOURCES = ("tacit", "opendp")  # sources of noise that nobody can replay, by whose samplers they use
BOTH = " and "  # between the names of sources, where there are several
AGREEMENT = 1e-6  # relative difference granted to an accountant on another machine or of another version

NO_NOISE = "it was made without noise: epsilon is infinite"
REPLAYABLE = "its noise came from a seed and can be subtracted by whoever knows it"
UNVERIFIED = "it ran a foreign learner on the rows, and what that learner promises was not verified"
UNFINISHED = "the fit did not complete"
NO_PROMISE = f"a delta above {MOST_DELTA:g} promises nothing: rows might be published as they stand"


def unreleasable_reasons(epsilon: float, delta: float, charges: Sequence[Charge], outcome: str) -> tuple[str, ...]:
    """Why a model may not be released, as far as it shows in the certificate."""
    bare = math.isinf(epsilon) or any(isinstance(charge, NonPrivate) for charge, _ in uses(charges))
    reasons = ((NO_NOISE, bare), (NO_PROMISE, delta > MOST_DELTA and not bare), (UNFINISHED, outcome != COMPLETED))
    return tuple(reason for reason, holds in reasons if holds)


def cost_problems(epsilon: float, delta: float, charges: Sequence[Charge]) -> list[str]:
    """Whether the charges cost more than a promise."""
    if not (epsilon >= 0 and 0 <= delta < 1):
        return [f"epsilon {epsilon} and delta {delta} are no promise"]
    cost = accountants.epsilon(charges, delta)
    if cost <= epsilon * (1 + AGREEMENT):
        return []
    return [f"its charges cost epsilon {cost:.6g} at delta {delta:g}, more than the {epsilon:.6g} it claims"]


def coverage_problems(charges: Sequence[Charge], entries: Sequence[Entry]) -> list[str]:
    """Whether the charges leave a release unpaid.

    Gathering changes the order, and pure charges are packed in order: the large ones first is tried as well.
    """
    missing = uncovered(charges, entries)
    if missing:
        by_size = sorted(entries, key=lambda entry: -accountants.epsilon([entry.charge], 0.0))
        missing = uncovered(charges, by_size)
    if not missing:
        return []
    return [f"{len(missing)} of its entries are not covered by what was reserved: {', '.join(missing[:3])}"]


def claim_errors(releasable: bool, reasons: Sequence[str], evident: Sequence[str], noise_source: str) -> list[str]:
    """Whether what is said of releasing, and why, agrees with itself and with :func:`unreleasable_reasons`."""
    if not releasable:
        return [] if reasons else ["it says it is not releasable, and gives no reason"]
    problems = ["it says it is releasable, and gives reasons why not"] if reasons else []
    if evident:
        problems.append(f"it says it is releasable, but {'; '.join(evident)}")
    if not set(noise_source.split(BOTH)) <= set(RELEASABLE_SOURCES):
        problems.append(f"it says it is releasable, but noise from {noise_source!r} is not")
    return problems


def signature_problems_of(signature: Mapping[str, Any], signable: Mapping[str, str | None]) -> list[str]:
    """What is wrong with a signature; nothing is known, and a warning says so, without the package that checks it."""
    try:
        from tacit.privacy.signatures import signature_problems  # loads cryptography, for signed ones alone
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "cryptography":
            raise
        warnings.warn("the signature was not checked: cryptography is not installed", stacklevel=2)
        return []
    return signature_problems(signature, signable)
