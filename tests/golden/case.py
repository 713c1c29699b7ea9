"""A case of the net: a seeded run, and two digests of what came out of it."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.golden.names import certificate_facts

SERIES = re.compile("series [0-9a-f]{32}")
"""Batches of rows are named by the time at which their series began."""


@dataclass(frozen=True)
class Seen:
    """What came out of a run, as plain data.

    Attributes:
        model: what was learned, as its file has it.
        ledger: what was charged and released for it.
    """

    model: Any
    ledger: Any

    @classmethod
    def of(cls, fitted: Any) -> Seen:
        """Of an estimator after ``fit``."""
        return cls(fitted.model_.to_dict(), cls.ledger_of(fitted))

    @staticmethod
    def ledger_of(made: Any) -> Any:
        """Of whatever has a certificate."""
        return certificate_facts(made.certificate_ if hasattr(made, "certificate_") else made.certificate)

    def digests(self) -> dict[str, str]:
        """A digest each, of the canonical texts."""
        return {part: digest(getattr(self, part)) for part in PARTS}


PARTS = ("model", "ledger")

Run = Callable[[], Seen]
Cases = dict[str, Run]


def canonical(data: Any, indent: int | None = None) -> str:
    """One text per value: keys sorted, floats to the last bit. Refuses what is not plain data."""
    return SERIES.sub("series #", json.dumps(data, sort_keys=True, indent=indent, ensure_ascii=False))


def digest(data: Any) -> str:
    """64 bits of SHA-256: enough for accidents, short enough for a line."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:16]


def run(case: Run) -> Seen:
    """Runs a case; what it warns of is no part of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case()
