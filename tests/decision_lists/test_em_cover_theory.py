"""What EM-cover is said to cost, against exact output distributions over all neighbours of tiny tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.theory import em_cover as theory
from tests.decision_lists import cover_reference as reference

ORDERS = [0.3, 1.0, 3.0, 8.0]


def worst_moments(n_features: int, most_rows: int, scales: list[float], reward: float, replace: bool) -> np.ndarray:
    """The largest log-moments over all pairs of neighbours, by enumeration of all outputs."""
    known: dict[tuple[reference.Row, ...], dict[reference.Output, float]] = {}

    def distribution(rows: list[reference.Row]) -> dict[reference.Output, float]:
        key = tuple(sorted(rows))
        if key not in known:
            known[key] = reference.distribution(rows, n_features, scales, reward)
        return known[key]

    worst = np.full(len(ORDERS), -math.inf)
    for first, second in reference.neighbours(n_features, most_rows, replace):
        p, q = distribution(first), distribution(second)
        worst = np.maximum(worst, [reference.log_moment(p, q, lam) for lam in ORDERS])
    return worst


# (features, rows in common, scales, reward, replace, share of the claim that is reached at some order)
CASES = [
    (1, 2, [0.7], 0.0, False, 0.999),
    (2, 2, [1.0], 1.0, False, 0.95),
    (1, 1, [0.7], 0.0, True, 0.999),
    (2, 2, [1.0, 1.0], 1.0, False, 0.95),
    (2, 2, [1.0, 1.0], 0.5, False, 0.9),
    (2, 1, [1.0, 1.0], 1.0, True, 0.85),
    (2, 2, [1.0, 1.0, 1.0], 0.0, False, 0.75),
    (2, 2, [0.6, 0.3, 0.15], 1.0, False, 0.9),
]


@pytest.mark.parametrize(("n_features", "most_rows", "scales", "reward", "replace", "share"), CASES)
def test_no_pair_of_neighbours_exceeds_the_moments(
    n_features: int, most_rows: int, scales: list[float], reward: float, replace: bool, share: float
) -> None:
    claimed = theory.log_moment(ORDERS, scales, theory.Shifts(-1.0, reward), replace)
    result = worst_moments(n_features, most_rows, scales, reward, replace)
    assert (result <= claimed * (1 + 1e-9)).all()
    assert (result / claimed).max() > share


@pytest.mark.parametrize("case", [CASES[i] for i in (0, 1, 2, 3, 4, 5, 7)])
def test_the_search_finds_a_scale_that_is_charged_too_small(
    case: tuple[int, int, list[float], float, bool, float],
) -> None:
    n_features, most_rows, scales, reward, replace, _ = case
    too_small = theory.log_moment(ORDERS, [0.9 * s for s in scales], theory.Shifts(-1.0, reward), replace)
    assert (worst_moments(n_features, most_rows, scales, reward, replace) > too_small).any()


def test_no_pair_of_neighbours_exceeds_the_closed_hockey_stick() -> None:
    for scale in (0.2, 0.8):
        for first, second in reference.neighbours(2, 2, replace=False):
            p = reference.distribution(first, 2, [scale] * 3)
            q = reference.distribution(second, 2, [scale] * 3)
            for epsilon in (0.0, 0.1, 0.3, 0.9):
                claimed = theory.adding_delta(scale, epsilon)
                assert reference.hockey_stick(p, q, epsilon) <= claimed + 1e-12


def repeated_game(scale: float, hazard: float, steps: int, epsilon: float, lam: float) -> tuple[float, float]:
    """Candidates that stay: in each step one of ``1 / hazard`` equal candidates would cover the added row wrongly.

    Returns the exact hockey stick and log-moment of the run with the row against the run without. (Lemma A.1 does not
    ask that chosen candidates leave.)
    """
    n = round(1 / hazard)
    weight = math.exp(-scale)
    hit_p, hit_q = weight / (n - 1 + weight), 1 / n
    t = np.arange(steps)
    log_p = np.append(t * math.log1p(-hit_p) + math.log(hit_p), steps * math.log1p(-hit_p))
    log_q = np.append(t * math.log1p(-hit_q) + math.log(hit_q), steps * math.log1p(-hit_q))
    p = np.exp(log_p)
    stick = float(np.maximum(0.0, p - math.exp(epsilon) * np.exp(log_q)).sum())
    return stick, math.log(float((p * np.exp(lam * (log_p - log_q))).sum()))


def test_many_small_hazards_reach_the_closed_forms() -> None:
    scale = 0.05
    for delta in (1e-3, 1e-6):
        epsilon = theory.adding_epsilon(scale, delta)
        assert theory.adding_delta(scale, epsilon) == pytest.approx(delta)
        reached, _ = repeated_game(scale, 1 / 2000, 60_000, epsilon, 1.0)
        assert 0.97 * delta < reached <= delta
        assert repeated_game(scale, 1 / 2000, 60_000, 0.97 * epsilon, 1.0)[0] > delta
    for lam in (1.0, 5.0):
        claimed = theory.closed_log_moment(lam, scale)
        reached = repeated_game(scale, 1 / 2000, 60_000, 0.0, lam)[1]
        assert 0.97 * claimed < reached <= claimed


def test_the_recursion_tends_to_the_closed_forms_and_never_exceeds_them() -> None:
    lam = np.array([0.5, 2.0, 6.0])
    for scale in (0.1,):
        closed = np.array([theory.closed_log_moment(x, scale) for x in lam])
        closed_replace = np.array([theory.closed_log_moment_replace(x, scale) for x in lam])
        for shifts in (theory.PENALTY, theory.Shifts(-1.0, 1.0), theory.Shifts(-0.5, 1.0)):
            few, many = (theory.log_moment(lam, [scale] * n, shifts) for n in (10, 1500))
            assert (few <= many).all()
            assert (many <= closed * (1 + 1e-9)).all()
        many = theory.log_moment(lam, [scale] * 1500)
        assert (many > 0.98 * closed).all()
        many = theory.log_moment(lam, [scale] * 1500, replace=True)
        assert (many <= closed_replace * (1 + 1e-9)).all()
        assert (many > 0.98 * closed_replace).all()


def test_a_step_is_maximised_exactly() -> None:
    """The closed form of one step against a search over distributions on four values of ``u``."""
    generator = np.random.default_rng(3)
    weights = generator.dirichlet(np.full(4, 0.5), size=20_000)
    lam, scale, shifts = 2.5, 0.8, theory.Shifts(-1.0, 0.7)
    later = theory.log_moment(lam, [scale], shifts)[0]
    u = np.exp(-scale * np.array([0.0, -1.0, 0.7, -0.4]))
    values = np.exp(np.array([later, 0.0, 0.0, 0.0]))
    value = np.log((weights @ u) ** lam * (weights @ (u**-lam * values))).max()
    first = theory.log_moment(lam, [scale, scale], shifts)[0]
    assert value <= first + 1e-12
    assert value > 0.98 * first


def test_pure_epsilon_bounds_every_output() -> None:
    for scales, reward, replace in (([0.5, 0.5], 0.0, False), ([0.6, 0.2], 1.0, False), ([1.0, 0.2], 0.0, True)):
        claimed = theory.pure_epsilon(scales, theory.Shifts(-1.0, reward), replace)
        worst = 0.0
        for first, second in reference.neighbours(2, 1, replace):
            p = reference.distribution(first, 2, scales, reward)
            q = reference.distribution(second, 2, scales, reward)
            worst = max(worst, *(math.log(mass / q[output]) for output, mass in p.items()))
        assert 0.4 * claimed < worst <= claimed + 1e-12


def test_paper_mode_is_refused_where_its_proof_fails() -> None:
    with pytest.raises(ValueError, match=r"1\.2564"):
        theory.paper_epsilon(1.3, 1e-6)
    assert theory.paper_epsilon(1.25, 1e-6) == pytest.approx(2.5 * (math.log(1e6) + 1.5))
    # the false step: 1 + (e^x - 1) p <= e^(2 x p) at a small p
    x, p = 1.3, 0.01
    assert 1 + math.expm1(x) * p > math.exp(2 * x * p)
    x = 1.25
    assert all(1 + math.expm1(x) * p <= math.exp(2 * x * p) for p in np.linspace(0, 1, 1001))


def test_removal_is_the_tilt_of_adding() -> None:
    """``P`` and ``Q`` exchanged: delta'(eps) = 1 - e^eps + e^eps delta(-eps), smaller for every positive epsilon."""
    for scale in (0.03, 0.3, 1.0):
        for epsilon in np.linspace(0, scale, 9):
            removal = -math.expm1(epsilon) + math.exp(epsilon) * theory.adding_delta(scale, -epsilon)
            assert removal <= theory.adding_delta(scale, epsilon) + 1e-15
