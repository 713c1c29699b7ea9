"""The composition statements the private boosting paper builds on, against exact divergences and the accountants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.privacy.accountants import delta, epsilon
from tacit.privacy.charges import ZCDP, ApproxDP, Gaussian, Pure, Repeated
from tacit.privacy.composition import parts_of
from tacit.privacy.renyi import divergence

ORDERS = np.array([1.05, 1.5, 2.0, 4.0, 10.0])


def adaptive_responses(first: float, after_truth: float, after_lie: float) -> tuple[np.ndarray, np.ndarray]:
    """Losses and masses of a randomised response whose second parameter depends on the first answer."""
    losses, masses = [], []
    for sign, second in ((1, after_truth), (-1, after_lie)):
        reached = 1 / (1 + math.exp(-sign * first))
        for again in (1, -1):
            losses.append(sign * first + again * second)
            masses.append(reached / (1 + math.exp(-again * second)))
    return np.array(losses), np.array(masses)


def exact_divergence(losses: np.ndarray, masses: np.ndarray) -> np.ndarray:
    return np.array([math.log(float(masses @ np.exp((a - 1) * losses))) / (a - 1) for a in ORDERS])


def test_lemma_14_concentrated_privacy_adds_up_also_adaptively() -> None:
    added = divergence(parts_of([ZCDP(0.1), ZCDP(0.25), Gaussian(2.0)]), ORDERS)
    assert added == pytest.approx(ORDERS * (0.1 + 0.25 + 0.125))
    first, second = 0.1, 0.08
    bound = divergence(parts_of([ZCDP(first**2 / 2), ZCDP(second**2 / 2)]), ORDERS)
    low = 0.9 * bound
    result = False
    for after_truth in (0.0, 0.04, second):
        for after_lie in (0.0, 0.04, second):
            exact = exact_divergence(*adaptive_responses(first, after_truth, after_lie))
            assert np.all(exact <= bound * (1 + 1e-12))
            result |= bool(np.any(exact > low))
    assert result, "the search does not find a rho stated 10 % too small"


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.2, 3.0])
def test_lemma_15_is_a_bound_and_the_accountant_is_tighter(rho: float) -> None:
    for d in (1e-12, 1e-6, 1e-2):
        paper = rho + 2 * math.sqrt(rho * math.log(1 / d))
        charged = epsilon([ZCDP(rho)], d)
        assert epsilon([Gaussian(1 / math.sqrt(2 * rho))], d) <= charged < paper
        assert delta([ZCDP(rho)], paper) <= d


@pytest.mark.parametrize(("distance", "scale"), [(1.0, 1.0), (3.0, 2.5), (0.2, 1.7)])
def test_lemma_16_divergence_of_shifted_gaussians(distance: float, scale: float) -> None:
    """By numerical integration along the line between the means; the other directions cancel."""
    x = np.linspace(-60 * scale, 60 * scale, 400_001)
    log_p = -((x - distance) ** 2) / (2 * scale**2)
    log_q = -(x**2) / (2 * scale**2)
    normal = math.log(scale * math.sqrt(2 * math.pi))
    charged = divergence(parts_of([Gaussian(scale / distance)]), ORDERS)
    for order, value in zip(ORDERS, charged, strict=True):
        integral = float(np.trapezoid(np.exp(order * log_p + (1 - order) * log_q - normal), x))
        assert math.log(integral) / (order - 1) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(("each", "times"), [(0.1, 30), (0.3, 12), (0.02, 500)])
def test_theorem_48_is_a_bound_and_the_accountant_is_tighter(each: float, times: int) -> None:
    """The exact curve of k answers is binomial; a failure of probability delta hits any of them."""
    small, extra = 1e-8, 1e-5
    paper = times * each**2 / 2 + each * math.sqrt(2 * times * math.log(1 / extra))
    total = times * small + extra
    charged = epsilon([Repeated(ApproxDP(each, small), times)], total)
    assert charged < paper
    truth = 1 / (1 + math.exp(-each))
    heads = np.arange(times + 1)
    masses = np.array([math.comb(times, h) * truth**h * (1 - truth) ** (times - h) for h in range(times + 1)])
    fails = -math.expm1(times * math.log1p(-small))

    def exact_delta(at: float) -> float:
        losses = each * (2 * heads - times)
        return float(fails + (1 - fails) * np.sum(masses * np.maximum(0.0, -np.expm1(np.minimum(at - losses, 0.0)))))

    assert exact_delta(charged) <= total * (1 + 1e-9)
    assert exact_delta(0.99 * charged) > total
    assert epsilon([Repeated(Pure(each), times)], extra) <= charged * (1 + 1e-3)
