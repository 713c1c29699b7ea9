"""A fork of the process that reserved a budget releases nothing under it, and ends nothing."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

from tacit.curator.curator import Curator
from tacit.noise import SystemSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.joint_bound import JointBound, JointPart
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule, signed_margin_rule
from tests.curator.spy import Spy

CHARGE = Gaussian(2.0)
QUERY = Histogram(column_cells(0, 8), RowRule(np.full((2, 1, 1), 64, np.int32), 64))
RULE = signed_margin_rule(lambda margin: np.minimum(1.0, np.exp(-margin)))


def gate(charges):
    closed = []
    reservation = Reservation(
        charges, Neighbouring.ADD_OR_REMOVE_ONE, "test", lambda _, outcome: closed.append(outcome)
    )
    codes = np.arange(200, dtype=np.uint8) % 8
    table = Spy([codes], (codes > 3).astype(np.uint8), [8], 2, threads=1)
    return Curator(table, reservation, SystemSource()), reservation, table, closed


def forked(ask):
    """What ``ask`` returns in a fork of this process."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(ask()))
    child.start()
    said = queue.get(timeout=60)
    child.join()
    return said


def refusal(ask):
    try:
        ask()
    except BudgetExceeded as error:
        return str(error)
    return "it answered"


def test_a_fork_measures_nothing_and_its_parent_goes_on():
    curator, reservation, table, _ = gate([CHARGE] * 5)
    for number in range(4):
        curator.measure(QUERY, CHARGE, f"before {number}")

    def ask():
        said = refusal(lambda: curator.measure(QUERY, CHARGE, "again"))
        return said, table.reads, len(reservation.entries)

    said, reads, entries = forked(ask)
    assert "'again' was asked for by a fork" in said
    assert "nothing was read" in said
    assert (reads, entries) == (4, 4)
    curator.measure(QUERY, CHARGE, "again")


def test_a_fork_makes_no_release_that_was_paid_for_at_once():
    part = JointPart("c0", column_cells(0, 8), ReleaseMap.from_floats(np.eye(8), 1 << 10), CHARGE)
    curator, _, table, _ = gate([CHARGE] * 3)
    releases = curator.open_jointly(JointBound((part,), (1 << 20) // 2), 3)
    margins = Margins()
    releases.measure(0, RULE, margins)
    reads = table.reads

    def ask():
        return refusal(lambda: releases.measure(0, RULE, margins)), table.reads

    said, read = forked(ask)
    assert "fork" in said
    assert read == reads
    releases.measure(0, RULE, margins)


def test_a_fork_ends_nothing():
    _, reservation, _, closed = gate([CHARGE])

    def ask():
        with pytest.raises(KeyError), reservation:
            raise KeyError
        return closed, reservation.outcome

    assert forked(ask) == ([], None)
    reservation.close()
    assert closed == ["completed"]


def test_forks_of_a_curator_share_no_noise():
    """Even with the ledger's refusal out of the way: nothing is drawn before it is asked for."""
    curator, reservation, _, _ = gate([CHARGE] * 40)
    for number in range(12):
        curator.measure(QUERY, CHARGE, f"before {number}")
    reservation.require_own_process = lambda label: None

    def ask():
        return [tuple(curator.measure(QUERY, CHARGE, "next").value.ravel()) for _ in range(8)]

    theirs = forked(ask)
    assert not set(theirs) & set(ask())
