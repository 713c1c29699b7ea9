"""The verb for random stopping: charged before it runs, the right number of runs, and only the best comes out."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import tacit
from tacit.curator.random_stopping import best_of_random_runs
from tacit.privacy.charges import Gaussian, NonPrivate
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.random_stopping import RandomStopping
from tacit.privacy.unit import Neighbouring
from tests.chance import Z, within_law, within_share

RULE = RandomStopping(3.0)
CHARGE = RULE.charge([[Gaussian(5.0)]], 1e-6)


def search(run, candidates=4, seed=None, charge=CHARGE, rule=RULE):
    reservation = Reservation([charge], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    return best_of_random_runs(rule, candidates, run, reservation, charge, seed, "search"), reservation


@pytest.mark.parametrize("shape", [0.0, 1.0])
def test_the_number_of_runs_and_the_lottery_have_the_stated_laws(shape):
    rule = RandomStopping(3.0, shape)
    chosen: list[list[int]] = []

    def run(index, seed):
        chosen[-1].append(index)
        return None, 0.0

    for repeat in range(12_000):
        chosen.append([])
        search(run, seed=repeat, rule=rule)
    counts = np.array([len(indices) for indices in chosen])
    log_weights = rule.log_probabilities
    exact = np.exp(log_weights - log_weights.max())
    exact /= exact.sum()
    for k in (1, 2, 3, 6):
        assert within_share(int((counts == k).sum()), len(counts), float(exact[k - 1]))
    runs = np.arange(1, len(exact) + 1)
    allowed = Z * math.sqrt((exact @ (runs - 3.0) ** 2) / len(counts))
    assert abs(counts.mean() - 3.0) < allowed < 0.2  # a mean that is 10 % off would be 0.3 away
    every = np.concatenate(chosen)
    assert within_law(Counter(every.tolist()), dict.fromkeys(range(4), 0.25))


def test_nobody_watches_the_runs():
    """How many there are is secret, and what a run releases is not paid for but by the best."""
    told = []

    def run(index, seed):
        inner = Reservation([Gaussian(5.0)], Neighbouring.ADD_OR_REMOVE_ONE, "one run")
        inner.record(Gaussian(5.0), "a release", "a theorem")
        return None, 0.0

    with tacit.options(progress=told.append):
        for seed in range(5):
            search(run, seed=seed)
        after = Reservation([Gaussian(5.0)], Neighbouring.ADD_OR_REMOVE_ONE, "after")
        after.record(Gaussian(5.0), "a release", "a theorem")
    assert [(step.work, step.what) for step in told] == [("test", "search")] * 5 + [("after", "a release")]


def test_only_the_best_result_comes_out_and_the_first_of_equals():
    records = []

    def run(index, seed):
        records.append((index, seed))
        return len(records), float(index)

    for repeat in range(50):
        records.clear()
        best, _ = search(run, seed=repeat)
        top = max(index for index, _ in records)
        assert best == 1 + [index for index, _ in records].index(top)
        assert len({seed for _, seed in records}) == len(records)


def test_fresh_entropy_gives_no_seed():
    assert search(lambda index, seed: (seed, 0.0))[0] is None


def test_the_charge_comes_first():
    def run(index, seed):
        raise AssertionError("nothing may run")

    poor = Reservation([Gaussian(5.0)], Neighbouring.ADD_OR_REMOVE_ONE, "poor")
    with pytest.raises(BudgetExceeded):
        best_of_random_runs(RULE, 2, run, poor, CHARGE, None, "search")
    _, reservation = search(lambda index, seed: (index, 0.0))
    assert [entry.charge for entry in reservation.entries] == [CHARGE]
    assert "Theorem 2" in reservation.entries[0].theorem


def test_without_privacy_every_candidate_runs_once():
    records = []

    def run(index, seed):
        records.append(index)
        return index, float(index == 2)

    assert search(run, charge=NonPrivate())[0] == 2
    assert records == [0, 1, 2, 3]
