"""What scores leave open of the labels: what is released, what is believed, and what it is for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.memory import MemoryTable
from tacit.growing.fourier import fourier_rule
from tacit.growing.tuning import REMAINING, SMOOTH
from tacit.growing.unexplained import (
    Unexplained,
    released_unexplained,
    unexplained_rule,
)
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.cells import OneCell, ProductCells
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import WEIGHT_UNIT
from tacit.queries.tree_cells import middle_margins


def chance(score):
    return 1.0 / (1.0 + math.exp(-score))


def found(scores, codes, allowance, share=0.2, seed=0):
    """What rows of these scores by code are found to leave open."""
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([codes.astype(np.uint8)], np.zeros(len(codes), np.uint8), [len(scores)], 2)
    margins = Margins()
    margins.add(ProductCells((0,), (np.arange(len(scores)),), (len(scores),)), scores)
    curator = Curator(table, reservation, SeededSource(seed))
    answer = released_unexplained(Budget(curator, allowance, share), float(len(codes)), SMOOTH.clip, margins)
    (entry,) = reservation.entries
    assert entry.charge.noise_multiplier**-2.0 == pytest.approx(share * allowance.mu**2), "all of the share and no more"
    assert entry.theorem.startswith("weighted histogram")
    return answer


def test_curvature_is_the_variance_of_weights():
    gradients, curvatures = fourier_rule().table[:, :, 0] / WEIGHT_UNIT, unexplained_rule(SMOOTH.clip).table[1, :, 0]
    p = 1 / (1 + np.exp(-middle_margins()))
    expected = p * gradients[1] ** 2 + (1 - p) * gradients[0] ** 2
    np.testing.assert_allclose(expected, curvatures / WEIGHT_UNIT, atol=1e-3)


def test_a_row_says_the_same_whatever_its_label():
    table = unexplained_rule(SMOOTH.clip).table
    assert np.array_equal(table[0], table[1])


@pytest.mark.parametrize("score", [0.0, 3.0, -2.0])
def test_scores_that_are_all_alike_leave_everything_open(score):
    answer = found([score], np.zeros(20_000), Allowance.of(2.0, 1e-6))
    p = chance(score)
    assert answer.share == pytest.approx(1.0, abs=0.03)
    assert answer.curvature == pytest.approx((0.5 / max(p, 1 - p)) ** 2 * p * (1 - p), abs=0.005)


def test_scores_that_tell_labels_apart_leave_little_open():
    answer = found([-4.0, 4.0], np.arange(20_000) % 2, Allowance.of(2.0, 1e-6))
    assert answer.share == pytest.approx(4 * chance(4.0) * chance(-4.0), abs=0.02)
    assert answer.noise_factor > 1.9


def test_a_rare_class_does_not_look_as_if_nothing_were_left_unexplained():
    """Two codes of chances .5 and 3 percent: little variance, and most of what there is."""
    rates = np.array([0.005, 0.03])
    answer = found(list(np.log(rates / (1 - rates))), np.arange(60_000) % 2, Allowance.of(4.0, 1e-6), share=0.5)
    whole = rates.mean() * (1 - rates.mean())
    assert answer.share == pytest.approx(float((rates * (1 - rates)).mean()) / whole, abs=0.05)
    assert answer.noise_factor == 1.0


def test_in_large_noise_what_is_typical_is_believed():
    for seed in range(5):
        answer = found([5.0], np.zeros(30), Allowance.of(0.3, 1e-6), 1e-3, seed)
        assert answer.curvature == pytest.approx(REMAINING.typical_curvature, abs=0.02)
        assert answer.share == pytest.approx(REMAINING.typical_share, abs=0.05)


def test_noise_may_be_larger_where_little_is_left_unexplained():
    shares = [0.9, REMAINING.typical_share, REMAINING.typical_share / 2, 1e-3]
    assert [Unexplained(share=share).noise_factor for share in shares] == pytest.approx(
        [1, 1, math.sqrt(2), REMAINING.largest_noise_factor]
    )


@pytest.mark.parametrize("relation", list(Neighbouring))
def test_no_row_says_more_than_is_declared(relation):
    rule = unexplained_rule(SMOOTH.clip)
    vectors = np.concatenate([rule.table.reshape(-1, 3).astype(np.int64), np.zeros((1, 3), np.int64)])
    declared = Histogram(OneCell(), rule, Margins()).sensitivity(relation).l2_squared
    largest = int((vectors**2).sum(axis=1).max())
    if relation is Neighbouring.ADD_OR_REMOVE_ONE:
        assert largest == declared
    else:
        some = np.unique(vectors, axis=0)
        apart = ((some[:, None, :] - some[None, :, :]) ** 2).sum(axis=2).max()
        assert largest <= apart <= declared
        assert declared == int((np.ptp(vectors, axis=0) ** 2).sum()), "the range of each number, beyond 512 vectors"


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_noise_of_the_sum_has_the_declared_scale(factor):
    """Of an empty table the sum is noise alone; half or twice its scale is rejected."""
    allowance, draws = Allowance.of(1.0, 1e-6), []
    query = Histogram(OneCell(), unexplained_rule(SMOOTH.clip), Margins())
    for seed in range(300):
        reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
        table = MemoryTable([np.zeros(0, np.uint8)], np.zeros(0, np.uint8), [1], 2)
        draws.append(
            Curator(table, reservation, SeededSource(seed)).measure(query, allowance.charge(1.0), "noise").value
        )
    declared = math.sqrt(query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2_squared) / query.unit / allowance.mu
    ratio = float((np.stack(draws) ** 2).mean()) / (factor * declared) ** 2
    assert (abs(ratio - 1.0) < 4.5 * math.sqrt(2.0 / (3 * len(draws)))) == (factor == 1.0)
