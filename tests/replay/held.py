"""Runs under the witness of the product's audits, whoever makes the private rows or the stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tacit.estimators.batchwise as batchwise
from tacit.audit.recording import Recording, hold
from tacit.audit.watch import Watch
from tacit.curator.rows import PrivateRows
from tacit.curator.streams.open import Gate as StreamGate
from tacit.evaluation import private_selection
from tests.replay.neighbours import Neighbour

Run = Callable[[Any], Any]
"""From rows to all that a run shows."""


def record(run: Run, rows: Any) -> Recording:
    """What passes the curator in a run on ``rows``."""
    return _watched(Recording(), run, rows)


def replay(recorded: Recording, run: Run, neighbour: Neighbour) -> Recording:
    """A run on a neighbour, with the recorded releases forced; the faults are on what is returned."""
    return _watched(recorded.replay(neighbour.name, neighbour.moved), run, neighbour.rows, recorded)


def _watched(recording: Recording, run: Run, rows: Any, recorded: Recording | None = None) -> Recording:
    watch, part = Watch(recording), private_selection.random_part
    with pytest.MonkeyPatch.context() as patch:
        for holder in (PrivateRows, StreamGate):
            patch.setattr(holder, "witness", watch)
        # the holdout of a search is no view: rows that stay keep their coins
        patch.setattr(private_selection, "random_part", lambda *asked: watch.inside("coins", None, None, part(*asked)))
        patch.setattr(batchwise, "new_series", lambda: "series 0")  # a name made of the time
        return hold(recording, lambda: run(rows), recorded)
