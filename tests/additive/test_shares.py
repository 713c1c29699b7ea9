"""Later sweeps spend most where most is to be learned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.joint_clipping import JointSweeps
from tacit.additive.plan import Pace
from tacit.additive.shares import GRID, water_filled
from tacit.additive.sweeps import equal_sweeps
from tacit.additive.term import Term
from tacit.additive.tuning import SWEEPING
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Stage
from tests.additive.spent import share_spent

POSITIVE = st.floats(1e-8, 1e2)


@given(st.lists(st.tuples(POSITIVE, st.floats(1e-3, 1.0)), min_size=1, max_size=40), st.floats(0.2, 9.0))
def test_shares_never_exceed_the_budget_nor_fall_below_the_least(terms, more):
    found = water_filled(np.array([v for v, _ in terms]), np.array([a for _, a in terms]), more, 0.25)
    assert found.mean() <= 1.0
    assert found.min() >= 0.25
    assert found.mean() > 1.0 - 2.0 / GRID


def left(variances: np.ndarray, slopes: np.ndarray, more: float, shares: np.ndarray) -> float:
    return float((variances / (1 + slopes * more * shares)).sum())


def test_no_other_shares_leave_less_variance():
    generator = np.random.default_rng(0)
    for _ in range(20):
        count = int(generator.integers(2, 12))
        variances, slopes = 10.0 ** generator.uniform(-4, 0, count), generator.uniform(0.05, 1.0, count)
        more = generator.uniform(0.5, 4.0)
        found = water_filled(variances, slopes, more, 0.0)
        best = left(variances, slopes, more, found)
        assert best < left(variances, slopes, more, np.ones(count))
        for _ in range(50):
            other = found + 0.1 * generator.normal(size=count)
            other = np.maximum(other, 0.0)
            assert left(variances, slopes, more, other * count / other.sum()) > best * (1 - 2e-3)


def test_shares_by_hand():
    """Slopes 1: ``x = sqrt(V / level) - 1``, so 1.5 each of two like variances, or 2 and 1 of roots as 3 to 2."""
    np.testing.assert_allclose(water_filled(np.full(2, 0.3), np.ones(2), 1.5, 0.0), 1.0, atol=2 / GRID)
    np.testing.assert_allclose(water_filled(np.array([9.0, 4.0]), np.ones(2), 1.5, 0.0), [4 / 3, 2 / 3], atol=2 / GRID)
    np.testing.assert_allclose(water_filled(np.array([1.0, 1e-6]), np.ones(2), 1.5, 0.25), [1.75, 0.25], atol=2 / GRID)


@pytest.mark.parametrize(
    ("pace", "pure", "known", "expected"),
    [
        (Pace(24), False, False, round(24 * SWEEPING.equal_part)),
        (Pace(24), False, True, 0),
        (Pace(24), True, False, 24),
        (Pace(24), True, True, 24),
        (Pace(24, converges=True), False, True, 24),
        (Pace(2), False, True, 2),
    ],
)
def test_shares_are_equal_until_something_is_known(pace, pure, known, expected):
    assert equal_sweeps(pace, pure, known) == expected


def one_of_many(seed: int, n: int = 3000, d: int = 8) -> tuple[pd.DataFrame, np.ndarray]:
    """One column says everything, the others nothing."""
    generator = np.random.default_rng(seed)
    X = generator.random((n, d))
    names = [f"x{j}" for j in range(d)]
    return pd.DataFrame(X, columns=names), generator.random(n) < 1 / (1 + np.exp(-6 * np.sin(6 * X[:, 0])))


def fitted(epsilon: float = 1.0) -> Certificate:
    X, y = one_of_many(0)
    columns = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in X}
    schema = {"label": {"column": "y", "classes": [False, True]}, "columns": columns}
    model = AdditiveBoostClassifier(epsilon=epsilon, schema=schema, random_state=0, interactions=False)
    return model.fit(X, y).certificate_


def test_the_column_that_matters_has_most_of_the_later_sweeps():
    certificate = fitted()
    equal, spent = round(24 * SWEEPING.equal_part), {}
    for entry in certificate.entries:
        if entry.stage is Stage.JOINT_SWEEP:
            spent[entry.subject, entry.round] = entry.charge.precision
    assert len(spent) == 24 * 8  # no sweep is named twice
    first, last = spent["x0", 1], spent["x0", 24]
    assert {spent[f"x{j}", t] for j in range(8) for t in range(1, equal + 1)} == {first}
    assert last > 2 * first
    assert all(spent[f"x{j}", 24] < last / 2 for j in range(1, 8))
    assert 0.999 < sum(spent.values()) / (24 * 8 * first) <= 1 + 1e-9
    assert share_spent(certificate) <= 1 + 1e-9


def test_what_terms_expect_is_the_noise_of_the_end(monkeypatch):
    """The variance that a term was told beforehand is that of the average of all its releases."""
    opened, terms = JointSweeps.open, {}

    def and_look(self: JointSweeps, *asked: Any) -> None:
        opened(self, *asked)
        terms.update((term.name, term) for term in self._terms)

    monkeypatch.setattr(JointSweeps, "open", and_look)
    fitted()
    assert len(terms) == 8
    for term in terms.values():
        assert isinstance(term, Term)
        assert math.isclose(term._expected, term._average.noise_variance, rel_tol=0.25), term.name
