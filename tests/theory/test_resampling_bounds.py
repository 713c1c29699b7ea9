"""What a private learner costs on draws from two close measures: Lemma 55, Theorem 57 as printed, the sharp bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from tacit.theory.checks import Cost
from tacit.theory.resampling import printed_round, sampled_round, sampling_amplification


def geometric_counts(epsilon: float, distance: float, draws: int, reach: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Exact output laws of a count plus geometric noise (epsilon-DP): no draw counts, or each does by a coin."""
    steps = np.arange(-reach, reach + draws + 1)
    decay = math.exp(-epsilon)

    def noisy(count: int) -> np.ndarray:
        return (1 - decay) / (1 + decay) * decay ** np.abs(steps - count)

    law = binom.pmf(np.arange(draws + 1), draws, distance)
    return noisy(0), sum(p * noisy(j) for j, p in enumerate(law))


def divergence(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """The least delta for this epsilon, both ways."""
    one = np.maximum(first - math.exp(epsilon) * second, 0).sum()
    return float(max(one, np.maximum(second - math.exp(epsilon) * first, 0).sum()))


@pytest.mark.parametrize(("epsilon", "distance", "draws"), [(0.3, 0.01, 50), (1.0, 0.005, 40), (0.1, 0.02, 30)])
def test_sharp_bound_holds_and_is_attained(epsilon: float, distance: float, draws: int) -> None:
    first, second = geometric_counts(epsilon, distance, draws)
    bound = sampled_round(Cost(epsilon, 0.0), distance, draws)
    assert bound.epsilon <= epsilon
    assert divergence(first, second, bound.epsilon) <= 1e-12
    assert divergence(first, second, 0.9 * bound.epsilon) > 1e-4
    if epsilon <= 0.5:
        assert bound.epsilon < 0.3 * sampling_amplification(Cost(epsilon, 0.0), distance, draws).epsilon


@settings(max_examples=60, deadline=None)
@given(
    epsilon=st.floats(0.05, 1.5), distance=st.floats(0.001, 0.3), draws=st.integers(1, 12), seed=st.integers(0, 10**6)
)
def test_no_mechanism_found_by_search_beats_it(epsilon: float, distance: float, draws: int, seed: int) -> None:
    """Random pure mechanisms on counts of the differing rows, which is all that two samples differ in."""
    rng = np.random.default_rng(seed)
    # log-probabilities of 5 outputs, moved by at most epsilon / 2 per step: every such mechanism is epsilon-DP
    rows = [rng.normal(size=5)]
    for _ in range(draws):
        rows.append(rows[-1] + rng.choice([-0.5, 0.5], 5) * epsilon)
    # from counts of A to counts of B by way of C: B's mechanisms branch off at the same start
    other = [rows[0]]
    for _ in range(draws):
        other.append(other[-1] + rng.choice([-0.5, 0.5], 5) * epsilon)

    def law(logs: list[np.ndarray]) -> np.ndarray:
        weights = binom.pmf(np.arange(draws + 1), draws, distance)
        return np.asarray(sum(p * np.exp(x) / np.exp(x).sum() for p, x in zip(weights, logs, strict=True)))

    bound = sampled_round(Cost(epsilon, 0.0), distance, draws)
    assert divergence(law(rows), law(other), 2 * bound.epsilon) <= 1e-12  # 2: the two branches are unrelated
    assert divergence(law(rows), np.exp(rows[0]) / np.exp(rows[0]).sum(), bound.epsilon) <= 1e-12


def test_delta_of_theorem_57_is_too_small() -> None:
    """A base learner that fails with delta_b, on m = 500 draws at kappa n = 50: it fails oftener than stated."""
    base = Cost(0.05, 1e-6)
    draws, density, rows = 500, 0.05, 1000
    printed = printed_round(base, density, rows, draws)
    assert (printed.epsilon, printed.delta) == pytest.approx((4 * 0.05 * 10, 1e-6 * (1 + math.exp(2 * 0.05 * 10))))
    # delta alone: a learner that tells with probability delta for each of the changed rows in its sample, up to 1
    changed = binom.pmf(np.arange(draws + 1), draws, 1 / (density * rows))
    fails = float((changed * np.minimum(1.0, base.delta * np.arange(draws + 1))).sum())
    assert fails > 1.1 * printed.delta
    assert fails <= sampled_round(base, 1 / (density * rows), draws).delta
    assert fails <= sampling_amplification(base, 1 / (density * rows), draws).delta
