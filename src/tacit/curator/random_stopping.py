"""The verb for random stopping: a secret number of runs, of which only the best comes out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from tacit.curator.options import chosen_source
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.label import Label
from tacit.privacy.ledger import Reservation
from tacit.privacy.progress import unwatched
from tacit.privacy.random_stopping import LOG_UNIT, THEOREM, RandomStopping

T = TypeVar("T")

Run = Callable[[int, int | None], tuple[T, float]]
"""One run: from the number of a candidate and a seed (None for fresh entropy) to a result and its score, both private
as the charge says."""


def best_of_random_runs(
    rule: RandomStopping,
    candidates: int,
    run: Run[T],
    reservation: Reservation,
    charge: Charge,
    random_state: int | None,
    label: Label | str,
) -> T:
    """Runs randomly chosen candidates a random number of times and returns the result with the highest score.

    Guarantee: ``charge``, if it is what ``rule`` charges for runs of these candidates. It covers the returned result
    and nothing else: neither the number of runs, nor how long they took, nor any other result may be seen, so that
    nobody watches the runs. Both draws are exact up to :data:`tacit.privacy.random_stopping.SLACK`, which the charge
    includes. Of results with the same score the first counts, which is a random one.

    Each run takes one of the candidates, all with the same probability. What the whole search costs is recorded before
    the first run.

    Raises:
        ValueError: without candidates.
        BudgetExceeded: if the reservation does not cover it; nothing is run then.
    """
    if candidates < 1:
        raise ValueError("there is no candidate")
    source = chosen_source(random_state)
    reservation.record(charge, label, THEOREM)
    if isinstance(charge, NonPrivate):
        rounds = [(index, None if random_state is None else random_state + index) for index in range(candidates)]
    else:
        count = 1 + source.exponential(rule.scores, LOG_UNIT)
        alike = np.zeros(candidates, np.int64)
        rounds = []
        for _ in range(count):
            seed = None if random_state is None else _seed_of(random_state, len(rounds))
            rounds.append((source.exponential(alike, 1.0), seed))
    with unwatched():
        best, best_score = run(*rounds[0])
        for index, seed in rounds[1:]:
            result, score = run(index, seed)
            if score > best_score:
                best, best_score = result, score
    return best


def _seed_of(random_state: int, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"run {number} of {random_state}".encode()).digest()[:4], "big")
