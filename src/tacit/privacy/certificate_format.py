"""How a certificate is written down as plain data, and read again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.errors import TacitError
from tacit.privacy.assumptions import Assumption
from tacit.privacy.canonical import finite, infinite
from tacit.privacy.charges import Charge, charge_from_dict
from tacit.privacy.label import Label
from tacit.privacy.ledger import Entry
from tacit.privacy.unit import Neighbouring

FORMAT = "tacit certificate"
FORMAT_VERSION = 1

TEXTS = ("noise_source", "algorithm", "outcome", "created", "digest", "ledger_digest")
"""Fields that are texts."""

TEXTS_OR_NOTHING = ("schema_fingerprint", "dataset", "unit", "target", "data", "model_digest", "schema_digest")
"""Fields that are texts, or None."""

OUTSIDE = ("digest", "signature")
"""Fields that are no part of what the digest is of."""


class CertificateError(TacitError):
    """Something that is not a certificate this version can read."""


def written_names(names: Iterable[str]) -> list[str]:
    """Those of a certificate's fields that its digest is of."""
    return [name for name in names if name not in OUTSIDE]


def ledger_facts(charges: Sequence[Charge], entries: Sequence[Entry]) -> dict[str, Any]:
    """What was reserved and released as plain data, which nobody may change."""
    known: dict[int, dict[str, Any]] = {}  # many releases share a charge

    def facts(charge: Charge) -> dict[str, Any]:
        if id(charge) not in known:
            known[id(charge)] = finite(charge.to_dict())
        return known[id(charge)]

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
    found = data.get("version")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise CertificateError(f"the certificate's format version is {found!r}, not a number")
    if found > FORMAT_VERSION:
        raise CertificateError(
            f"the certificate has format {found}, and this version of tacit reads up to {FORMAT_VERSION}: "
            "use a newer version"
        )


def read_fields(data: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields of a certificate that plain data hold; what is missing or of another kind raises as Python does."""
    read = {name: data[name] for name in (*written_names(names), "digest")}
    read["signature"] = data.get("signature")
    if isinstance(read["columns"], list):
        read["columns"] = tuple(str(name) for name in read["columns"])
    read["epsilon"], read["delta"] = float(data["epsilon"]), float(data["delta"])
    read["neighbouring"] = Neighbouring(data["neighbouring"])
    read["rows_per_unit"] = int(data["rows_per_unit"])
    read["reasons"] = tuple(str(reason) for reason in data["reasons"])
    read["versions"] = {str(name): str(value) for name, value in data["versions"].items()}
    read["assumptions"] = tuple(Assumption.from_dict(each) for each in data["assumptions"])
    read["charges"] = tuple(charge_from_dict(infinite(charge)) for charge in data["charges"])
    read["entries"] = tuple(
        Entry(i, Label.from_dict(entry), charge_from_dict(infinite(entry["charge"])), str(entry["theorem"]))
        for i, entry in enumerate(data["entries"])
    )
    _check_kinds(read)
    return read


def _check_kinds(read: Mapping[str, Any]) -> None:
    """Raises ``TypeError`` for fields of another kind, which only whoever looks at them would find."""
    for name in ("n_public", "releasable"):
        if not isinstance(read[name], bool):
            raise TypeError(f"{name} must be true or false")
    for name in (*TEXTS, *TEXTS_OR_NOTHING):
        value = read.get(name, "")
        if not isinstance(value, str) and not (value is None and name in TEXTS_OR_NOTHING):
            raise TypeError(f"{name} must be a text")
    columns = read.get("columns")
    if isinstance(columns, bool) or not (columns is None or isinstance(columns, int | tuple)):
        raise TypeError("columns must be names, or their number")
    if not isinstance(read.get("parameters", {}), Mapping):
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
