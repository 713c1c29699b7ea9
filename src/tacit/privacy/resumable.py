"""Whether fits keep their releases, to go on after their process has ended; see :mod:`tacit.privacy.kept_releases`."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Keeping:
    """What was asked for.

    Attributes:
        identifier: of the fit that goes on; None for one that begins.
        command: what the command line asked for, JSON; empty for a fit from Python.
    """

    identifier: int | None = None
    command: str = ""


@dataclass(frozen=True)
class Beginning:
    """What a fit begins with.

    Attributes:
        rows: a fingerprint of its rows.
        learner: a digest of its parameters.
        seed: 32 bytes for public random choices.
        command: as above.
    """

    rows: str
    learner: str
    seed: bytes
    command: str = ""


KEEPING: ContextVar[Keeping | None] = ContextVar("tacit keeping", default=None)
"""What holds here; None where nothing is kept."""
