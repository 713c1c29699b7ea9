"""The bounds of Bun and Fang for decision lists, as numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from tacit.queries.covers.cover import CoverStep
from tacit.theory import decision_lists as theory
from tests.decision_lists import cover_reference as reference


@pytest.mark.parametrize(("d", "k"), [(1, 0), (2, 1), (3, 2), (5, 3), (6, 6)])
def test_conjunctions_are_counted_and_bounded(d: int, k: int) -> None:
    signs = itertools.product((-1, 0, 1), repeat=d)
    listed = sum(1 for pattern in signs if sum(map(abs, pattern)) <= k)
    assert theory.conjunction_count(d, k) == listed
    assert listed <= theory.conjunction_bound(d, k) or k > d
    assert theory.conjunction_bound(d, k) == pytest.approx(math.e**2 * d**k)


def test_the_drawn_score_is_as_good_as_proposition_2_1_says() -> None:
    scores, scale, beta = np.array([0.0, -3, -3, -4, -9, -9, -20]), 0.4, 0.1
    weights = np.exp(scale * scores) / np.exp(scale * scores).sum()
    loss = theory.exponential_mechanism_loss(len(scores), scale, beta)
    assert weights[scores < -loss].sum() <= beta
    assert loss < 20  # it says something about this example
    # nearly attained: one best of 10,000, and the others as far below it as that, or a tenth less
    far = theory.exponential_mechanism_loss(10_000, scale, beta)
    for distance, misses in ((far, False), (0.9 * far, True)):
        others = 9999 * math.exp(-scale * distance)
        assert (others / (1 + others) > beta) == misses


def greedy_errors(rows: list[reference.Row], output: reference.Output) -> int:
    errors, left = 0, rows
    for feature, bit in output:
        errors += sum(row[1] != bit for row in left if reference.covers(feature, row))
        left = [row for row in left if not reference.covers(feature, row)]
    return errors


def test_greedy_cover_errs_as_seldom_as_lemma_a_4_says() -> None:
    """Exact distribution of the errors on realizable samples: "if x0 then 1, else if x1 then 0, else 1"."""
    rows = [(x, 1 if x[0] else 1 - x[1]) for x in itertools.product((0, 1), repeat=2) for _ in range(9)]
    for scale in (0.6, 1.5):
        for beta in (0.05, 0.5):
            bound = theory.greedy_cover_errors(3, scale, beta)
            assert bound == pytest.approx(6 / scale * math.log(3 * math.sqrt(2 / beta)))
            outputs = reference.distribution(rows, 2, [scale] * 3)
            assert math.fsum(p for output, p in outputs.items() if greedy_errors(rows, output) > bound) <= beta
    assert theory.greedy_cover_errors(3, 1.5, 0.5) < len(rows) / 2


def test_a_consistent_rule_is_always_left() -> None:
    """Proposition 3.3: whatever was chosen before, some rule that is left makes no error."""
    for bits in itertools.product((0, 1), repeat=3):
        rows = [(x, bits[0] if x[0] else bits[1] if x[1] else bits[2]) for x in itertools.product((0, 1), repeat=2)]
        for chosen in itertools.permutations((-1, 0, 1), 2):
            left = [row for row in rows if not any(reference.covers(f, row) for f in chosen)]
            free = [f for f in (-1, 0, 1) if f not in chosen]
            said = [[sum(reference.covers(f, row) and row[1] == b for row in left) for b in (0, 1)] for f in free]
            assert CoverStep(1.0, 0, 1).scores(np.array(said), ()).max() == 0


def test_sample_sizes_grow_and_shrink_as_they_should() -> None:
    base = theory.theorem_3_5(50, 0.1, 0.1, 0.01, 1e-6, vc_dimension=5)  # privacy is what costs most here
    strength = 0.01 / (2 * (math.log(1e6) + 1.5))
    assert base == pytest.approx(20 * 2 * 50 / strength * math.log(50 * math.sqrt(20)))
    assert theory.theorem_3_5(100, 0.1, 0.1, 0.01, 1e-6, vc_dimension=5) > 2 * base
    assert theory.theorem_3_5(50, 0.05, 0.1, 0.01, 1e-6, vc_dimension=5) == pytest.approx(2 * base)
    assert theory.theorem_3_5(50, 0.1, 0.1, 0.005, 1e-6, vc_dimension=5) == pytest.approx(2 * base)
    assert theory.corollary_a_8(10, 2, 0.1, 0.1, 1.0, 1e-6) == theory.theorem_3_5(201, 0.1, 0.1, 1.0, 1e-6)
    generalises = 640 * ((math.lgamma(202) / math.log(2) + 201) * math.log(640) + math.log(160))  # costs most here
    assert theory.corollary_a_8(10, 2, 0.1, 0.1, 1.0, 1e-6) == pytest.approx(generalises)
    assert theory.theorem_3_5(1, 0.1, 0.1, 1.0, 1e-6, vc_dimension=1e6) == theory.vc_sample_size(1e6, 0.1, 0.1)


def test_theorem_a_6_by_value() -> None:
    literal = 640 * (200 * math.log(640) + math.log(320))
    assert theory.vc_sample_size(200, 0.1, 0.05) == pytest.approx(literal, rel=1e-12)


@pytest.mark.parametrize(("lists", "alpha", "beta"), [(1, 0.1, 0.05), (50, 0.2, 0.1), (2000, 0.05, 0.01)])
def test_occam_s_bound_holds_and_is_not_loose(lists: int, alpha: float, beta: float) -> None:
    """Of so many independent lists of error just above alpha, one is seen to err on alpha / 2 or less: exactly."""
    rows = math.ceil(theory.occam_sample_size(math.log(lists), alpha, beta))
    assert lists * binom.cdf(math.floor(alpha / 2 * rows), rows, alpha) <= beta
    fewer = int(0.4 * rows)
    assert 1 - (1 - binom.cdf(math.floor(alpha / 2 * fewer), fewer, alpha)) ** lists > beta
    half = alpha / 2
    divergence = half * math.log(1 / 2) + (1 - half) * math.log((1 - half) / (1 - alpha))
    assert theory.occam_sample_size(math.log(lists), alpha, beta) == pytest.approx(math.log(lists / beta) / divergence)


def test_half_of_beta_is_for_each_step_of_the_proof() -> None:
    """M = 41, alpha .1: Theorem A.6 asks for 854,000 rows, Occam's bound for 8,750, and Lemma A.4 for 57,000."""
    log_lists = math.lgamma(42) + 41 * math.log(2)
    assert theory.vc_sample_size(theory.list_vc_bound(41), 0.1, 0.05) == pytest.approx(854_000, rel=0.01)
    assert theory.occam_sample_size(log_lists, 0.1, 0.025) == pytest.approx(8_748, rel=0.001)
    scale = 0.17
    private = theory.list_sample_size(41, 0.1, 0.025, scale)
    assert theory.paper_learner_rows(41, 0.1, 0.05, scale) == private
    literal = 20 * 2 * 41 / scale * math.log(41 * math.sqrt(2 / 0.025))
    assert private == pytest.approx(literal)
    assert theory.paper_learner_rows(41, 0.1, 0.05, 1e9) == pytest.approx(
        theory.occam_sample_size(log_lists, 0.1, 0.025)
    )


@pytest.mark.parametrize(
    "call", [lambda: theory.greedy_cover_errors(3, 0.0, 0.1), lambda: theory.vc_sample_size(3, 0, 1)]
)
def test_impossible_arguments_are_named(call: object) -> None:
    with pytest.raises(ValueError, match="must"):
        call()  # type: ignore[operator]
