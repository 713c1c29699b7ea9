"""Samples that are kept from epoch to epoch: every step of the proof by value, and a run that the theorem covers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tacit.theory import dartboard


def staying(sums: np.ndarray, rate: float, batch: float, decay: float = dartboard.DECAY) -> np.ndarray:
    return np.exp(rate / batch * np.minimum(sums, batch) - decay * rate)


def test_what_comes_back_by_value() -> None:
    """Lemma 5, exactly: the mean over decisions and draws, and the series, on random shares, weights and sums."""
    source = np.random.default_rng(0)
    for _ in range(20):
        shares, weights = source.dirichlet(np.ones(7)), source.dirichlet(np.ones(7))
        rows = source.choice([-1.0, 1.0], (5, 7))
        sums, f, rate, batch = rows[:3].sum(axis=0), rows[3] * rows[4], 0.3, 4.0
        stays = staying(sums, rate, batch)
        new = weights * stays / (weights @ stays)
        after = shares @ (stays * f + (1 - stays) * (new @ f)) - new @ f

        def deviation(g: np.ndarray, shares: np.ndarray = shares, weights: np.ndarray = weights) -> float:
            return float((shares - weights) @ g)

        terms = [
            (rate / batch) ** power / math.factorial(power)
            * (deviation(sums**power * f) - (new @ f) * deviation(sums**power))
            for power in range(1, 40)
        ]  # fmt: skip
        assert after == pytest.approx(math.exp(-5 * rate) * (deviation(f) + math.fsum(terms)), abs=1e-12)


def test_deviations_are_forgotten_faster_than_they_come_back() -> None:
    rates = np.geomspace(1e-6, 2 / 3, 60)
    found = [dartboard.contraction(rate) for rate in rates]
    assert max(found) <= (1 + math.sqrt(2)) / 5 + 1e-9
    assert found[0] == pytest.approx((1 + math.sqrt(2)) / 5, rel=1e-4)
    assert dartboard.contraction(1e-6, decay=1.0) > 2  # the bare dartboard
    for rate in (0.01, 0.2, 2 / 3):  # longer products come back less, in proportion to their bound
        ratios = [
            sum(rate**p / math.factorial(p) * (math.sqrt(k + p) + math.sqrt(p)) for p in range(1, 40)) / math.sqrt(k)
            for k in range(1, 30)
        ]
        assert ratios == sorted(ratios, reverse=True)
        assert dartboard.contraction(rate) == pytest.approx(ratios[0] / math.expm1(5 * rate))


def test_the_constant_is_the_smallest_that_the_induction_allows() -> None:
    def holds(constant: float) -> bool:
        return math.sqrt(8) + 8 / (3 * constant) + (1 + math.sqrt(2)) / 5 * constant <= constant

    assert holds(dartboard.DEVIATION)
    assert not holds(0.98 * dartboard.DEVIATION)


def test_noise_of_all_epochs_has_a_variance_of_at_most_four_over_the_samples() -> None:
    """A decision: kept (its value, -1 or 1) or a new draw. Exactly, over probabilities; then summed over epochs."""
    for stay, mean, value in itertools.product(np.linspace(0, 1, 21), np.linspace(-1, 1, 21), (-1, 1)):
        expected = stay * value + (1 - stay) * mean
        assert 1 - expected**2 <= min(1.0, 4 * (1 - stay)) + 1e-12
    rates = np.geomspace(1e-5, 2 / 3, 400)
    whole = 1 + np.minimum(1, 4 * 6 * rates) / -np.expm1(-10 * rates)
    assert 3.9 < whole.max() <= 4


def test_samples_by_value() -> None:
    found = dartboard.samples(1 / 3, 244, 40_000, 0.05)
    assert found == math.ceil((6.3 * 9) ** 2 * math.log(4 * 245 * 40_001 / 0.05))
    logarithm, n = math.log(4 * 245 * 40_001 / 0.05), found
    assert 6.3 * math.sqrt(logarithm / n) <= 1 / 9 < 6.3 * math.sqrt(logarithm / (0.99 * n))
    whole = sum(2 * 245 * 40_001**k * math.exp(-k * logarithm) for k in range(1, 30))
    assert whole <= 0.05  # all sets of all sizes in all epochs


def test_the_cap_on_draws_holds() -> None:
    source = np.random.default_rng(1)
    n, epochs, rate = 300, 40, 0.05
    share = -math.expm1(-6 * rate)
    draws = n + source.binomial(n * epochs, share, 200_000)
    cap = dartboard.fresh_draws(n, epochs, rate, 0.01)
    assert (draws > cap).mean() <= 0.01
    assert cap < 1.1 * (n + n * epochs * share)


@pytest.mark.parametrize("shift", [1.0, 2.0])
@pytest.mark.parametrize(("rate", "batch"), [(0.02, 40.0), (0.2, 60.0), (0.6, 500.0)])
def test_what_a_decision_costs_holds_and_is_not_loose(rate: float, batch: float, shift: float) -> None:
    """The Renyi divergence of the two coins, at every exponent that sums can make and every order that is claimed."""
    each, largest = dartboard.keep_loss(rate / batch, rate, shift)
    worst = 0.0
    for score in np.linspace(-batch, batch, 201):
        for moved in (score + shift, score - shift):
            p, q = (float(staying(np.array([s]), rate, batch)[0]) for s in (score, moved))
            for order in np.linspace(1.01, largest, 40):
                stay = order * math.log(p) + (1 - order) * math.log(q)
                go = order * math.log1p(-p) + (1 - order) * math.log1p(-q)
                worst = max(worst, float(np.logaddexp(stay, go)) / (order - 1) / order / each)
    assert worst <= 1
    assert worst > 0.3 / math.e  # the factor e is for the largest orders


def run(keep_forever: bool, seed: int = 0) -> float:
    """The largest deviation on any round, for an adversary whose sums are the rounds that the indices lag behind on."""
    source = np.random.default_rng(seed)
    rounds, dimension, n, epochs, rate, batch = 40, 30, 20_000, 60, 0.1, 6
    rows = source.choice([-1.0, 1.0], (rounds, dimension))
    exponents, indices, worst = np.zeros(dimension), source.integers(0, dimension, n), 0.0
    for _ in range(epochs):
        lagging = np.argsort(rows[:, indices].mean(axis=1))[:batch]
        sums = rows[lagging].sum(axis=0)
        exponents += rate / batch * sums
        weights = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        stays = source.random(n) < staying(sums, rate, batch)[indices]
        if not keep_forever:
            indices = np.where(stays, indices, source.choice(dimension, n, p=weights))
        worst = max(worst, float(np.abs(rows[:, indices].mean(axis=1) - rows @ weights).max()))
    return worst


def test_kept_samples_follow_the_weights_although_mistakes_are_theirs() -> None:
    bound = dartboard.DEVIATION * math.sqrt(math.log(4 * 61 * 41 / 0.05) / 20_000)
    assert run(keep_forever=False) <= bound
    assert run(keep_forever=True) > bound


def test_the_order_of_the_promise() -> None:
    """A tenth of the margin: 10^2.5 times the mistakes with kept samples, 10^3 with fresh ones, but for logarithms."""

    def growth(kept: bool) -> float:
        small, large = (dartboard.promised(402, margin, 0.01, 1, 10**6, 0.05, kept).mistakes for margin in (1e-5, 1e-4))
        return math.log10(small / large)

    assert 2.5 < growth(kept=True) < 2.56
    assert 3.0 < growth(kept=False) < 3.06
    at_a_third = [dartboard.promised(402, 1 / 3, 0.01, 100, 40_000, 0.05, kept).mistakes for kept in (True, False)]
    assert at_a_third[0] > at_a_third[1]  # constants eat it there
