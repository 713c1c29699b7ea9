"""Sample sizes: that they are enough where a simulation can tell, and that they grow as the theorems say."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tacit.arrays import Floats
from tacit.theory.checks import Cost
from tacit.theory.closure import samples
from tacit.theory.closure.bounds import littlestone_of_tuples, patterns_at_most
from tacit.theory.closure.privacy import learned_on_part


def test_agnostic_rows_are_the_least_that_meet_the_stated_bound() -> None:
    for vc, alpha, beta in ((1, 0.1, 0.05), (3, 0.2, 0.01), (0, 0.1, 0.1)):
        m = samples.agnostic_rows(vc, alpha, beta)

        def bound(rows: int, vc: int = vc, alpha: float = alpha) -> float:
            growth = (2 * math.e * rows / vc) ** vc if vc else 1.0
            return 4 * growth * math.exp(-(alpha**2) * rows / 8)

        assert bound(m) <= beta
        assert bound(m - 1) > beta
        assert m > (vc + math.log(1 / beta)) / alpha**2


def test_uniform_convergence_holds_at_the_stated_size() -> None:
    """Thresholds on [0, 1] with random labels: the largest gap is the Kolmogorov distance of signed measures."""
    rng = np.random.default_rng(0)
    alpha, beta = 0.2, 0.1
    m = samples.agnostic_rows(1, alpha, beta)
    failures = 0
    for _ in range(200):
        y = rng.integers(0, 2, m)  # in the order of the points, which are uniform
        wrong_left = np.concatenate([[0], np.cumsum(y)])  # labels 1 left of the threshold are errors
        wrong_right = np.concatenate([np.cumsum((1 - y)[::-1])[::-1], [0]])
        failures += np.abs((wrong_left + wrong_right) / m - 0.5).max() >= alpha
    assert failures <= 200 * beta


def test_claim_5_4_and_its_second_form() -> None:
    for vc in (1, 5):
        for alpha in (0.05, 0.3):
            d = samples.relabel_rows_half(vc, alpha, 0.05)
            assert d >= samples.relabel_rows(vc, 2 * d, alpha, 0.05)
    assert samples.relabel_rows(2, 10_000, 0.1, 0.05) == math.ceil(20 * (math.log(20) + 2 * math.log(5000 * math.e)))
    assert samples.relabel_rows_half(2, 0.1, 0.05) == math.ceil(40 * math.log(20) + 200 * math.log(200 * math.e))
    assert samples.relabel_rows(2, 10_000, 0.1, 0.05, epsilon=0.5) >= 2 * samples.relabel_rows(2, 10_000, 0.1, 0.05) - 2


def test_the_exponential_mechanism_keeps_its_promise() -> None:
    rng = np.random.default_rng(5)
    errors = rng.integers(0, 400, 300)
    epsilon, beta = 0.4, 0.1
    excess = samples.exponential_mechanism_excess(300, epsilon, beta)
    assert excess == pytest.approx(5 * math.log(3000))
    weights = np.exp(-epsilon * (errors - errors.min()) / 2)
    assert weights[errors >= errors.min() + excess].sum() / weights.sum() <= beta
    assert samples.finite_class_rows(300, epsilon, 0.1, beta) == math.ceil(excess / 0.1)


def test_private_generalisation() -> None:
    result = samples.private_generalisation(1.0, 1e-9, 10_000)
    assert result.factor == pytest.approx(math.e**2)
    assert result.slack == pytest.approx(1e-3 * math.log(1e5))
    assert result.failure == pytest.approx(1e-5 / math.log(1e5))
    with pytest.raises(ValueError, match="rows < 1"):
        samples.private_generalisation(1.0, 0.1, 100)


def avoiding(points: int, epsilon: float) -> tuple[Floats, Floats]:
    """A mechanism that avoids the predicate of its row: probabilities of N predicates of a point each, and of none.

    Returns: what it chooses with without rows, and with one row at the first point.
    """
    each = 1 / (points * (1 + math.exp(epsilon)))
    without, row = np.full(points + 1, each), np.full(points + 1, each * math.exp(epsilon))
    row[0] = each * math.exp(-epsilon)
    for law in (without, row):
        law[-1] = 1 - law[:-1].sum()
    return without, row


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5])
def test_what_privacy_says_of_fresh_rows_is_attained(epsilon: float) -> None:
    """By a mechanism that is private when a row is added or removed, and no more than that."""
    points = 4000
    without, row = avoiding(points, epsilon)
    assert epsilon * (1 - 1e-3) < np.abs(np.log(row / without)).max() <= epsilon * (1 + 1e-9)
    fresh = row[:-1].mean()  # any point, and the predicate that holds of it
    claimed = samples.private_error_in_expectation(row[0], epsilon, 0.0)
    assert fresh <= claimed < 1.01 * fresh
    assert fresh > samples.private_error_in_expectation(row[0], 0.9 * epsilon, 0.0)


def test_what_privacy_says_of_fresh_rows_by_hand() -> None:
    assert samples.private_error_in_expectation(0.01, 0.5, 0.001) == pytest.approx(
        0.01 * math.e + 0.001 * 2.6487, abs=1e-6
    )
    assert samples.private_error_in_expectation(0.9, 1.0, 0.0) == 1.0


def test_what_is_likely_of_fresh_rows_by_hand() -> None:
    factor = math.exp(2 * 0.7)
    wanted = factor * 0.01 + math.e / (math.e - 1) * (
        factor * math.log(21) / (0.2 * 5000) + 20 * (1 + math.exp(0.7)) * 1e-6
    )
    assert samples.private_error_but_for(0.01, 0.5, 1e-6, 5000, 0.05, 0.2) == pytest.approx(wanted)
    assert samples.private_error_but_for(0.01, 0.5, 1e-6, 10**12, 0.05, 1e-4) == pytest.approx(
        samples.private_error_in_expectation(0.01, 0.5, 0.0), rel=0.02
    )
    assert samples.private_error_but_for(0.9, 1.0, 0.0, 100, 0.1, 0.1) == 1.0


@pytest.mark.parametrize(("epsilon", "spare"), [(0.3, 0.4), (1.0, 2.0), (2.0, 8.0)])
def test_the_worst_of_several_runs_is_bounded_by_the_mean(epsilon: float, spare: float) -> None:
    """Both inequalities of the proof of Lemma 2, exactly: runs on samples of one row, all outcomes of all of them.

    What is chosen has a mean excess of at most 0, as delta is 0; and at least the largest, less the entropy.
    """
    points, runs = 3, 2
    _, law = avoiding(points, epsilon)  # by whether the predicate is the row's own, another one or none
    factor, rows = math.exp(2 * (epsilon + spare)), 1
    rate = spare * rows / factor
    kinds = {1 / points - factor: law[0], 1 / points: (points - 1) * law[1], 0.0: law[-1]}
    mean, largest = 0.0, 0.0
    for outcome in product(kinds, repeat=runs):
        chance = math.prod(kinds[g] for g in outcome)
        excess = np.array([0.0, *outcome])
        weights = np.exp(rate * excess)
        mean += chance * float(weights @ excess / weights.sum())
        largest += chance * excess.max()
    assert mean <= 1e-12
    assert largest - math.log(runs + 1) / rate <= mean
    assert largest > 0


def test_what_two_concepts_that_agree_may_differ_by() -> None:
    """By hand; and thresholds, of which the two farthest that agree on a sample differ between neighbours of it."""
    assert samples.unseen_disagreement(2, 1000, 0.05) == pytest.approx(
        (4 * math.log2(math.e * 1000) + math.log2(20)) / 1000
    )
    assert samples.unseen_disagreement(0, 64, 2.0**-8) == 1 / 8
    generator, half, records = np.random.default_rng(0), 200, []
    for _ in range(2000):
        known, fresh = np.sort(generator.random(half)), generator.random(half)
        records.append(np.bincount(np.searchsorted(known, fresh), minlength=half + 1).max() / half)
    for beta in (0.3, 0.05):
        assert np.mean(np.array(records) > samples.unseen_disagreement(1, half, beta)) <= beta


def test_an_improper_learner_on_a_part() -> None:
    result = samples.improper_part_error(2, 10**7, 0.0, (0.5, 1e-9), 1e-4, 1e-3, 1e-3)
    apart = (4 * math.log2(math.e * 1e7) + math.log2(1000)) / 1e7
    factor = 2 * math.exp(0.5)
    assert result == pytest.approx(factor**2 * (2e-4 + 1e-7 + apart + 2e-3) + (1 + factor) * 1e-9, rel=1e-9)
    assert samples.improper_part_error(2, 10**7, 1.0, (0.5, 1e-9), 1e-4, 1e-3, 1e-3) == pytest.approx(
        result * ((1 + math.e) / 2) ** 2, rel=1e-4
    )


def test_an_improper_learner_on_a_part_but_for_a_small_probability() -> None:
    result = samples.improper_part_error_but_for(2, 10**7, 0.0, (0.5, 1e-9), 1e-4, 1e-3, 0.25)
    apart = (4 * math.log2(math.e * 1e7) + math.log2(1000)) / 1e7
    wanted = samples.private_error_but_for(2e-4 + 1e-7 + apart, math.log(2) + 0.5, 1e-9, 10**7, 1e-3, 0.25)
    assert result == pytest.approx(wanted, rel=1e-9)
    on_average = samples.improper_part_error(2, 10**7, 0.0, (0.5, 1e-9), 1e-4, 0.0, 1e-9)
    assert on_average < result < 3 * on_average


def test_sizes_grow_with_dimension_accuracy_and_parts_at_the_stated_rate() -> None:
    """Twice the dimension, half of alpha, twice the parts: by which factor sizes grow."""

    def grows(size: Callable[..., float], **changed: float) -> float:
        usual = {"vc": 50, "alpha": 0.01, "beta": 0.05}
        return size(**{**usual, **changed}) / size(**usual)

    def scored(**asked: Any) -> float:
        return samples.relabel_and_learn_rows(**asked).scored

    def agnostic(**asked: Any) -> float:
        return samples.agnostic_learner_rows(learner_rows=1, **asked).scored

    def composed(parts: int = 4, **asked: Any) -> float:
        return samples.composed_learner_rows(own_vcs=[1] * parts, learner_rows=[0] * parts, **asked)

    assert 1.9 < grows(samples.realizable_rows, vc=100) < 2.0  # vc / alpha, but for logarithms
    assert 2.0 < grows(samples.realizable_rows, alpha=0.005) < 2.3
    for size in (scored, agnostic, composed):  # vc / alpha^2, but for logarithms
        assert 1.8 < grows(size, vc=100) < 2.3
        assert 4.0 <= grows(size, alpha=0.005) < 5.0
    assert 8.0 < grows(composed, parts=8) < 10.0  # k^3


def test_the_difference_of_two_functions_has_ten_times_the_dimension_at_most() -> None:
    for vc in range(1, 60):
        assert patterns_at_most(10 * vc + 1, vc) ** 2 < 2 ** (10 * vc + 1)
        assert littlestone_of_tuples([vc, vc]) <= 10 * vc


def test_extra_rows_of_a_part_do_not_grow_as_epsilon_falls() -> None:
    """Where the statistical term is the largest, a hundredth of the epsilon needs no row more; amplified, a hundred
    times as many. The other terms grow with 1 / epsilon, and with 1 / alpha, as a private learner's rows do."""
    for vc in (1, 4):
        rows = {e: samples.learned_on_part_rows(vc, 1000, 0.0005, 0.05, e).total for e in (1.0, 0.1, 0.01)}
        assert rows[1.0] == rows[0.1] == rows[0.01] == samples.agnostic_rows(vc, 0.0005 / 5, 0.05 / 5)
    few = samples.learned_on_part_rows(1, 10**9, 0.1, 0.05, 0.01).total
    part = learned_on_part(0.005, Cost(1.0, 0.0), 2 * 10**9 / few)
    assert part.epsilon == pytest.approx(0.01, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.9, 0.1, 0.001])
@pytest.mark.parametrize("beta", [0.9, 1e-6])
@pytest.mark.parametrize("vc", [0, 1, 100])
def test_rows_of_a_part_are_enough_for_the_choice_among_its_patterns(vc: int, beta: float, alpha: float) -> None:
    """Claim 5.4 for the patterns of as many rows as the part may have, twice its mean; also where rows are more."""
    a, b = alpha / 5, beta / 5
    for epsilon in (1.0, 0.1, 1e-3):
        rate = math.expm1(epsilon / 2) / ((1 + math.exp(-epsilon / 2)) * math.e - 1)
        least = samples.learned_on_part_rows(vc, 1, alpha, beta, epsilon).total
        assert rate * least >= 8 * math.log(2 / b)
        for rows in (least, 10 * least, 1000 * least):
            assert rows >= samples.relabel_rows(vc, math.ceil(2 * rate * rows), a, b, epsilon)


def test_a_part_scored_on_all_rows_keeps_its_promise() -> None:
    """Thresholds, 40 % of the labels flipped: far fewer rows do than the constants ask for, at every epsilon."""
    g, alpha = np.random.default_rng(0), 0.1
    for epsilon in (0.1, 1.0):
        n = samples.learned_on_part_rows(1, 200, alpha, 0.1, epsilon).total // 10
        wrong = 0
        for _ in range(20):
            x = np.sort(g.random(n))
            y = (x >= 0.4) ^ (g.random(n) < 0.4)
            errors = np.concatenate([[0], np.cumsum(np.where(y, 1, -1))])  # of the cut before each row, but a constant
            part = g.random(n) < math.expm1(epsilon / 2) / ((1 + math.exp(-epsilon / 2)) * math.e - 1)
            group = np.concatenate([[0], np.cumsum(part)])
            least = np.full(group[-1] + 1, n)
            np.minimum.at(least, group, errors)
            chosen = int((-epsilon / 2 * least + g.gumbel(size=len(least))).argmax())
            held = x[part]
            cut = held[chosen] if chosen < len(held) else 1.0
            wrong += 0.2 * abs(cut - 0.4) > alpha * 3 / 5
        assert wrong <= 2
