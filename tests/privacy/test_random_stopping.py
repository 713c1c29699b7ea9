"""Random stopping: the closed form agrees with an independent one, holds on exact mechanisms, and is needed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import rdp_privacy_accountant
from scipy.special import logsumexp

from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, BoundedRange, Gaussian, NonPrivate, Pure, Renyi
from tacit.privacy.random_stopping import LOG_UNIT, ORDERS, SLACK, RandomStopping
from tacit.privacy.renyi import curve_divergence

RULES = [RandomStopping(2.0, 0.0), RandomStopping(12.0, 0.0), RandomStopping(6.0, 1.0), RandomStopping(30.0, 0.5)]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("multiplier", [0.8, 4.0, 30.0])
def test_agrees_with_the_public_accountant(rule, multiplier):
    accountant = rdp_privacy_accountant.RdpAccountant(ORDERS)
    event = dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(multiplier), rule.mean, rule.shape)
    theirs = accountant.compose(event).rdp
    ours = curve_divergence(rule.charge([[Gaussian(multiplier)]], 1e-6), ORDERS)
    # our charge may also use witnesses of higher order, so it is never above theirs but for the slack of the draw
    assert np.all(ours <= theirs * (1 + 1e-6) + 1e-7)
    middle = slice(20, 100)
    assert np.allclose(ours[middle], theirs[middle], rtol=1e-3)


@pytest.mark.parametrize(
    "rule", [*RULES, RandomStopping(1.2, 3.0), RandomStopping(500.0, 1.0), RandomStopping(50.0, 20.0)], ids=str
)
def test_the_drawn_distribution_is_the_stated_one(rule):
    weights = np.exp(rule.scores / LOG_UNIT)
    drawn = weights / weights.sum()
    k = np.arange(1, len(drawn) + 1, dtype=np.float64)
    assert (k * drawn).sum() == pytest.approx(rule.mean, rel=1e-9)
    assert rule.shape != 1.0 or rule.gamma == pytest.approx(1 / rule.mean)
    steps = (k[:-1] + rule.shape) / (k[:-1] + 1) if rule.shape else k[:-1] / (k[:-1] + 1)
    exact = np.concatenate([[0.0], np.cumsum(np.log(steps))]) + (k - 1) * math.log1p(-rule.gamma)
    assert np.abs(rule.scores / LOG_UNIT - exact + exact.max()).max() < SLACK / 4
    beyond = drawn[-1] * len(drawn) ** 2 / rule.gamma**2  # more than all that was cut, weighted by k
    assert beyond < 2.0**-40 * drawn[0]


def search_law(rule: RandomStopping, run: np.ndarray) -> np.ndarray:
    """The law of the best of a random number of independent runs, whose outcomes are ordered worst first."""
    log_weights = rule.log_probabilities
    counts = np.exp(log_weights - log_weights.max())
    counts /= counts.sum()
    cumulative = np.minimum(np.concatenate([[0.0], np.cumsum(run)]), 1.0)
    powers = np.array([float((counts * value ** np.arange(1, len(counts) + 1)).sum()) for value in cumulative])
    return np.diff(powers)


def renyi(p: np.ndarray, q: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The divergence of each order."""
    return logsumexp(np.multiply.outer(orders - 1, np.log(p) - np.log(q)), b=p, axis=1) / (orders - 1)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_holds_on_exact_mechanisms(rule):
    """Random pairs of laws on six outcomes: Renyi divergences of the whole search, both ways, against the charge."""
    generator = np.random.default_rng(0)
    for _ in range(40):
        p = generator.dirichlet(np.ones(6) * 0.5) + 1e-4
        q = p * np.exp(generator.uniform(-0.4, 0.4, 6))
        p, q = p / p.sum(), q / q.sum()
        one = np.maximum(renyi(p, q, ORDERS), renyi(q, p, ORDERS))
        base = Renyi(tuple(ORDERS.tolist()), tuple(np.maximum(one, 0).tolist()))
        bound = curve_divergence(rule.charge([[base]], 1e-6), ORDERS)
        after = [search_law(rule, law) for law in (p, q)]
        tried = [5, 24, 60, 100]
        for a, b in (after, after[::-1]):
            assert (renyi(a, b, ORDERS[tried]) <= bound[tried] + 1e-9).all()


@pytest.mark.parametrize("shape", [0.0, 0.5, 1.0])
def test_the_pure_bound_holds_and_is_needed(shape):
    """The constant ``2 + shape`` cannot be a tenth smaller: many runs, a rare good outcome, and one just below it."""
    epsilon = 0.5
    rule = RandomStopping(1000.0 if shape else 300.0, shape)
    charge = rule.charge([[Pure(epsilon)]], 0.0)
    assert isinstance(charge, Pure)
    assert charge.epsilon == pytest.approx((2 + shape) * epsilon, rel=1e-9)
    worst = 0.0
    for good in (0.003, 0.01, 0.03, 0.1):
        middle = 1e-6
        p = np.array([1 - good - middle, middle, good])
        q = np.array([0.0, middle * math.exp(epsilon), good * math.exp(-epsilon)])
        q[0] = 1 - q[1] - q[2]
        for a, b in ((p, q), (q, p)):
            ratio = np.abs(np.log(search_law(rule, a) / search_law(rule, b))).max()
            assert ratio <= charge.epsilon + 1e-6
            worst = max(worst, ratio)
    assert worst > 0.9 * charge.epsilon


def test_the_largest_of_several_candidates_counts():
    rule = RandomStopping(6.0)
    small, large = [Gaussian(9.0)], [Gaussian(4.0), BoundedRange(0.1)]
    assert rule.charge([small, large], 1e-6) == rule.charge([large], 1e-6)
    assert rule.charge([[Pure(0.1)], [Pure(0.3)]], 0.0) == rule.charge([[Pure(0.3)]], 0.0)
    assert isinstance(rule.charge([[NonPrivate()], small], 1e-6), NonPrivate)


def test_many_runs_cost_little_more_than_few():
    few, many = (accountants.epsilon([RandomStopping(m).charge([[Gaussian(8.0)]], 1e-6)], 1e-6) for m in (4.0, 400.0))
    assert few < many < 1.6 * few


def test_what_has_no_divergence_is_refused():
    with pytest.raises(ValueError, match="Renyi divergence"):
        RandomStopping(5.0).charge([[ApproxDP(0.1, 1e-9)]], 1e-6)
    with pytest.raises(ValueError, match="pure"):
        RandomStopping(5.0).charge([[Gaussian(3.0)]], 0.0)
