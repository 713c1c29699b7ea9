"""The guess is chosen on some fits and counted on others, and finds what tells two tables apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tacit.audit.bound import chances, epsilon_lower, gaussian_shift, log_evidence, plain
from tacit.audit.guess import choose, scores
from tests.chance import at_most_share


def by_epsilon(counts):
    return log_evidence(counts, plain(0.5, 0.0))


def by_shift(counts):
    return gaussian_shift(*chances(counts, 0.95))


def drawn(trials: int, shift: tuple[float, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    without = draws.normal(size=(trials, len(shift)))
    return draws.normal(size=without.shape) + np.asarray(shift), without


@pytest.mark.parametrize("shift", [(3.0,), (-3.0,), (0.0, 3.0), (2.0, -2.0)])
def test_a_clear_difference_is_found_in_either_direction_and_at_any_probe(shift):
    guess = choose(*drawn(100, shift), by_epsilon)
    counts = guess.count(*drawn(1000, shift, seed=1))
    assert counts.trials == 1000
    assert counts.hits > counts.false_alarms
    assert epsilon_lower(counts, 0.0, 0.95) > 0.7  # about 2.6, by .3: the probe is chosen by 100 draws


def test_numbers_that_hang_together_are_told_apart_by_their_difference():
    draws = np.random.default_rng(0)
    tables = []
    for shift in (1.0, 0.0):
        common = draws.normal(scale=5.0, size=(4000, 1))
        tables.append(common + draws.normal(scale=0.3, size=(4000, 2)) + np.asarray([shift, 0.0]))
    guess = choose(tables[0][:300], tables[1][:300], by_shift)
    counts = guess.count(tables[0][300:], tables[1][300:])
    assert gaussian_shift(*chances(counts, 0.95)) > 1.0  # 0.2 of either number alone


def test_one_fit_that_is_far_out_does_not_spoil_the_sum():
    with_canary, without = drawn(100, (0.0, 2.5))
    without[0] = 1e12
    counts = choose(with_canary, without, by_shift).count(*drawn(1000, (0.0, 2.5), seed=1))
    assert gaussian_shift(*chances(counts, 0.95)) > 1.0


def test_where_nothing_differs_the_bound_keeps_its_confidence():
    """Had thresholds been chosen on what is counted, many a bound would lie above 0."""
    fresh, same = 0, 0
    for seed in range(150):
        with_canary, without = drawn(90, (0.0, 0.0), seed)
        guess = choose(with_canary[:30], without[:30], by_epsilon)
        fresh += epsilon_lower(guess.count(with_canary[30:], without[30:]), 0.0, 0.8) > 0
        guess = choose(with_canary, without, by_epsilon)
        same += epsilon_lower(guess.count(with_canary, without), 0.0, 0.8) > 0
    assert at_most_share(fresh, 150, 0.2)
    assert same > 5 * fresh + 10


def test_models_that_all_say_the_same_are_no_error():
    counts = choose(np.zeros((10, 2)), np.zeros((10, 2)), by_epsilon).count(np.zeros((20, 2)), np.zeros((20, 2)))
    assert (counts.hits, counts.false_alarms) == (0, 0)


def test_what_a_model_says():
    probes = [0, 0]
    numbers = SimpleNamespace(predict=lambda X: [1.5, np.nan])
    assert scores(numbers, probes, None).tolist() == [1.5, 0.0]
    signed = SimpleNamespace(decision_function=lambda X: np.asarray([2.0, -1.0]))
    assert scores(signed, probes, "yes").tolist() == [2.0, -1.0]
    three = SimpleNamespace(
        classes_=["a", "b", "c"],
        decision_function=lambda X: np.zeros((2, 3)),
        predict_proba=lambda X: np.asarray([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]),
    )
    said = scores(three, probes, "b")
    assert said[0] == pytest.approx(0.0)
    assert said[1] < -600
    assert np.isfinite(said).all()
    words = SimpleNamespace(predict=lambda X: ["yes", "no"])
    assert scores(words, probes, "yes").tolist() == [1.0, 0.0]
