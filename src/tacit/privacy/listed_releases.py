"""What a certificate lists: releases, the large families of them gathered, and what made them."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tacit.privacy.charges import Charge, Repeated
from tacit.privacy.coverage import Coverage
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Entry

LIBRARIES = ("tacit", "numpy", "numba", "dp-accounting", "opendp")

MANY = 100
"""So many entries of one pattern, charge and theorem are written as one."""


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
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
