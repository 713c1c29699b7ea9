"""Margins and new rows: the PAC-Bayes and the ramp-loss bound, by value and step by step."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammaln, ndtr

from tacit.theory import generalisation as theory


def literal(misfits: float, n: int, margin: float, failure: float, length: float, theta: float, scale: float) -> float:
    """The PAC-Bayes margin bound at one theta and one mu, by another way of solving it."""
    seen = misfits + float(ndtr(theta - scale * margin))
    budget = (scale**2 * length**2 / 2 + math.log(2 * math.sqrt(n) / failure)) / n

    def excess(q: float) -> float:
        return seen * math.log(seen / q) + (1 - seen) * math.log((1 - seen) / (1 - q)) - budget

    return float(brentq(excess, seen, 1 - 1e-12)) / float(ndtr(theta))


def test_the_pac_bayes_bound_by_value() -> None:
    problem = (0.025, 300_000, 0.0625, 0.0125, 2.0)
    every = {
        (theta, beyond): literal(*problem, theta, (theta + beyond) / 0.0625)
        for theta in np.linspace(0, 3, 13)
        for beyond in np.linspace(1.5, 4, 11)
    }
    result = theory.pac_bayes_margin_bound(*problem)
    assert result == pytest.approx(min(every.values()), rel=1e-6)
    assert result == pytest.approx(0.09454, abs=1e-5)
    assert theory.pac_bayes_margin_bound(*problem[:4], 1.0) < result
    assert theory.pac_bayes_margin_bound(0.025, 7, 0.5, 0.1) == 1.0


@pytest.mark.parametrize("n", [8, 50, 1000])
def test_the_moment_behind_it(n: int) -> None:
    """Maurer (2004): ``E exp(n kl(k / n || p)) <= 2 sqrt(n)`` for binomial k, all p; exactly, and not by much."""
    k = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    for p in (0.01, 0.1, 0.5, 0.9):
        chance = logs + k * math.log(p) + (n - k) * math.log1p(-p)
        moment = np.exp(chance + n * theory.binary_divergence(k / n, np.full(n + 1, p))).sum()
        assert math.sqrt(n) <= moment <= 2 * math.sqrt(n)


def test_normal_vectors_around_a_halfspace() -> None:
    """Where it errs they pass theta with probability Phi(theta) or more; at the margin with Phi(theta - mu gamma)."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * rng.uniform(1, 3, (50, 1))
    halfspace, scale, theta, margin = np.array([0.8, -0.4, 0.2, 0.1]), 5.0, 0.7, 0.2
    means, lengths = scale * rows @ halfspace, np.linalg.norm(rows, axis=1)
    vectors = scale * halfspace + rng.normal(size=(200_000, 4))
    exact = ndtr((theta - means) / lengths)
    np.testing.assert_allclose((vectors @ rows.T <= theta).mean(axis=0), exact, atol=0.006)
    assert (exact[means <= 0] >= ndtr(theta)).all()
    far = means >= scale * margin
    assert far.sum() > 5
    assert (exact[far] <= ndtr(theta - scale * margin)).all()


@pytest.mark.parametrize(("margin", "most"), [(0.0625, {"PAC-Bayes": 264_875, "ramp loss": 762_251})])
def test_rows_at_alpha_tenth_and_tau_half(margin: float, most: dict[str, int]) -> None:
    """1.75e11 rows by Theorem 23 were asked for here."""
    rows = theory.new_rows(0.1, 0.025, margin, 0.0125)
    assert {name: rows[name] for name in most} == pytest.approx(most, rel=0.002)
    assert rows["Theorem 23"] > 7e10
    for name, bound in theory.MARGIN_BOUNDS.items():
        assert bound(0.025, rows[name], margin, 0.0125, 2.0) <= 0.1 < bound(0.025, rows[name] - 1, margin, 0.0125, 2.0)


def test_bounds_hold_for_halfspaces_that_were_fitted() -> None:
    """Perceptrons on few rows of many dimensions: the share of misfits on the rows, and the error on new ones."""
    rng = np.random.default_rng(0)
    truth = np.eye(40)[0]
    for _ in range(5):
        rows = rng.normal(size=(6000, 40))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        rows += np.outer(0.5 * np.sign(rows[:, 0]), truth)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        labels = np.sign(rows @ truth)
        fitted = (labels[:400, None] * rows[:400]).mean(axis=0)
        fitted /= np.linalg.norm(fitted)
        misfits = float((labels[:400] * (rows[:400] @ fitted) < 0.3).mean())
        error = float((labels[400:] * (rows[400:] @ fitted) <= 0).mean())
        bounds = [bound(misfits, 400, 0.3, 0.05, 1.0) for bound in theory.MARGIN_BOUNDS.values()]
        assert error <= min(bounds) < 1


def test_bounds_are_rounded_upwards() -> None:
    """What is called an upper bound is one: in exact arithmetic the divergence there is at least what is allowed."""

    def divergence(p: float, q: float) -> Decimal:
        p_, q_, one = Decimal(p), Decimal(q), Decimal(1)
        first = p_ * (p_ / q_).ln() if p else Decimal(0)
        return first + ((one - p_) * ((one - p_) / (one - q_)).ln() if p < 1 else Decimal(0))

    rng = np.random.default_rng(0)
    with localcontext() as context:
        context.prec = 60
        for _ in range(200):
            p = float(rng.choice([0.0, rng.random(), 10 ** -rng.uniform(1, 12)]))
            allowed = 10 ** -rng.uniform(0, 9)
            value = float(theory.largest_within(np.array([p]), np.array([allowed]))[0])
            assert value > p
            if value < 1.0:
                assert divergence(p, value) >= Decimal(allowed)
                below = p + (value - p) * (1 - 1e-3)
                assert divergence(p, below) < Decimal(allowed)  # and it is not far from the largest
    assert theory.largest_within(np.array([1.0]), np.array([0.1])) == 1.0


def test_to_prove_an_error_is_to_bound_it() -> None:
    for n in (7, 8, 100, 3000, 100_000):
        for misfits in (0.0, 0.02, 0.2):
            bound = theory.pac_bayes_margin_bound(misfits, n, 0.2, 0.05, 1.0)
            assert not theory.pac_bayes_margin_proves(0.999 * bound, misfits, n, 0.2, 0.05, 1.0)
            assert bound == 1.0 or theory.pac_bayes_margin_proves(1.001 * bound, misfits, n, 0.2, 0.05, 1.0)
    assert not theory.pac_bayes_margin_proves(0.9, 0.95, 10**9, 0.5, 0.05)
