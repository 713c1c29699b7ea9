"""The public extract of an account: its promise, and what was charged, released and signed under it.

An account's store is for its owner: it tells who fitted when, and holds what rows are known by and what interrupted
fits released. The extract has nothing of that, and no times, which grow with the rows. Whoever has it can add up the
costs, and see whether a signed model is among the lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.privacy.canonical import finite, infinite, read_json
from tacit.privacy.charges import Charge, charge_from_dict
from tacit.privacy.label import Label
from tacit.privacy.ledger import AccountError, Entry
from tacit.privacy.promised_budget import check_promise
from tacit.privacy.verification import cost_problems, coverage_problems

if TYPE_CHECKING:
    from tacit.privacy.account import PrivacyAccount

FORMAT = "tacit account extract"
FORMAT_VERSION = 1

KEYED = re.compile(r"\brows [0-9a-f]{64}\b")
"""What a site's rows were known by: equal digests would tell that rows were equal."""


@dataclass(frozen=True)
class Extract:
    """What an extract says."""

    dataset: str  # the name of the data set
    epsilon: float  # the promise
    delta: float  # the promise
    labels: tuple[str, ...]  # what each line is about, oldest first; among them the digests of signed models
    charges: tuple[tuple[Charge, ...], ...]  # what each line reserved
    entries: tuple[tuple[Entry, ...], ...]  # what was released under each

    @property
    def problems(self) -> list[str]:
        """What does not hold: charges that cost more than the promise, releases that no charge pays for."""
        problems = cost_problems(self.epsilon, self.delta, [charge for line in self.charges for charge in line])
        for label, charges, entries in zip(self.labels, self.charges, self.entries, strict=True):
            problems += [f"{label}: {problem}" for problem in coverage_problems(charges, entries)]
        return [f"the account's extract does not hold: {problem}" for problem in problems]


def extract_of(account: PrivacyAccount) -> dict[str, Any]:
    """The extract of an account, as plain data."""
    unit = account.unit
    lines = [
        {
            "label": without_keyed_digests(line.label),
            "status": line.status,
            "charges": [charge.to_dict() for charge in line.charges],
            "entries": [
                {"label": entry.label, "charge": entry.charge.to_dict(), "theorem": entry.theorem}
                for entry in line.entries
            ],
        }
        for line in account.reservations()
    ]
    extract: dict[str, Any] = finite(
        {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "dataset": account.dataset,
            "epsilon": account.epsilon,
            "delta": account.delta,
            "neighbouring": str(account.neighbouring),
            "unit": unit if unit is None or isinstance(unit, str) else unit.to_dict(),
            "lines": lines,
        }
    )
    return extract


def without_keyed_digests(text: str) -> str:
    """A line's words as an extract has them: digests of rows under the account's key are left out."""
    return KEYED.sub("rows", text)


def read_extract(path: str | os.PathLike[str]) -> Extract:
    """An extract from its file; raises ``AccountError`` if it is none."""
    try:
        data = infinite(read_json(Path(path).read_bytes()))
        if (data["format"], data["version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError(f"it is {data['format']!r:.40} of version {data['version']!r:.10}")
        check_promise(data["epsilon"], data["delta"])
        lines: Sequence[Mapping[str, Any]] = data["lines"]
        return Extract(
            str(data["dataset"]),
            float(data["epsilon"]),
            float(data["delta"]),
            tuple(str(line["label"]) for line in lines),
            tuple(tuple(map(charge_from_dict, line["charges"])) for line in lines),
            tuple(tuple(map(_entry, range(len(line["entries"])), line["entries"])) for line in lines),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise AccountError(f"{path} is no extract of an account that this version reads: {error}") from None


def _entry(place: int, data: Mapping[str, Any]) -> Entry:
    return Entry(place, Label.of(str(data["label"])), charge_from_dict(data["charge"]), str(data["theorem"]))
