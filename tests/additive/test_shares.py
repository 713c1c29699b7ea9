"""Later sweeps spend most where most is to be learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit.additive.sweeps as sweeps
from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.additive.joint_clipping import JointSweeps
from tacit.additive.plan import Pace
from tacit.additive.sweeps import GRID, equal_sweeps, shares_of_rest, water_filled
from tacit.additive.term import Directions, Term
from tacit.additive.tuning import CLIPPING, SWEEPING
from tacit.curator.budget import Budget
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Stage
from tacit.queries.cells import column_cells
from tacit.queries.histogram import ReleaseMap
from tests.additive.spent import share_spent

POSITIVE = st.floats(1e-8, 1e2)


@given(st.lists(st.tuples(POSITIVE, st.floats(1e-3, 1.0)), min_size=1, max_size=40), st.floats(0.2, 9.0))
def test_shares_never_exceed_the_budget_nor_fall_below_the_least(terms, more):
    result = water_filled(np.array([v for v, _ in terms]), np.array([a for _, a in terms]), more, 0.25)
    assert result.mean() <= 1.0
    assert result.min() >= 0.25
    assert result.mean() > 1.0 - 2.0 / GRID


def left(variances: np.ndarray, slopes: np.ndarray, more: float, shares: np.ndarray) -> float:
    return float((variances / (1 + slopes * more * shares)).sum())


def test_no_other_shares_leave_less_variance():
    generator = np.random.default_rng(0)
    for _ in range(20):
        count = int(generator.integers(2, 12))
        variances, slopes = 10.0 ** generator.uniform(-4, 0, count), generator.uniform(0.05, 1.0, count)
        more = generator.uniform(0.5, 4.0)
        result = water_filled(variances, slopes, more, 0.0)
        best = left(variances, slopes, more, result)
        assert best < left(variances, slopes, more, np.ones(count))
        for _ in range(50):
            other = result + 0.1 * generator.normal(size=count)
            other = np.maximum(other, 0.0)
            assert left(variances, slopes, more, other * count / other.sum()) > best * (1 - 2e-3)


def test_shares_by_hand():
    """Slopes 1: ``x = sqrt(V / level) - 1``, so 1.5 each of two like variances, or 2 and 1 of roots as 3 to 2."""
    np.testing.assert_allclose(water_filled(np.full(2, 0.3), np.ones(2), 1.5, 0.0), 1.0, atol=2 / GRID)
    np.testing.assert_allclose(water_filled(np.array([9.0, 4.0]), np.ones(2), 1.5, 0.0), [4 / 3, 2 / 3], atol=2 / GRID)
    np.testing.assert_allclose(water_filled(np.array([1.0, 1e-6]), np.ones(2), 1.5, 0.25), [1.75, 0.25], atol=2 / GRID)


@dataclass(frozen=True)
class Doubtful:
    """What stands for a term whose posterior variance goes with a power of the noise."""

    variance: float
    power: float
    noise_variance: float = 1.0

    def doubt(self, _: Directions, noise: float) -> float:
        return self.variance * noise**self.power


@pytest.mark.parametrize(
    ("terms", "told", "expected"),
    [
        ([(9.0, 1.0), (4.0, 1.0)], 1.5, [4 / 3, 2 / 3]),
        ([(9e-6, 1.0), (4e-6, 1.0)], 1.5, [4 / 3, 2 / 3]),  # variances are small numbers
        ([(9.0, 2.0), (4.0, 1.0)], 1.5, [4 / 3, 2 / 3]),  # no slope is above 1
        ([(9.0, 1.0, 3.0), (4.0, 1.0, 1.0)], 0.5, [8 / 9, 10 / 9]),  # x of equal shares: 3/2 and 1/2; root of level 9/7
        ([(9.0, 1.0), (16.0, 0.25)], 1.5, [26 / 33, 40 / 33]),  # root of level 11/8
        ([(9.0, 1.0), (9.0, 0.0)], 1.5, [1.75, 0.25]),  # noise says nothing about the second, which has the least
        ([(0.0, 1.0), (0.0, 1.0)], 1.5, [1.0, 1.0]),
    ],
)
def test_shares_of_the_rest_by_hand(terms, told, expected):
    """``x = (sqrt(V a / level) - 1) / a``, and the share is ``x`` over what was told times the noise of the term."""
    known = [Doubtful(*term) for term in terms]
    result = shares_of_rest(known, Directions.alone(1.0, 1.0), told)  # type: ignore[arg-type]
    np.testing.assert_allclose(result, expected, atol=3 / GRID)


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


def fitted(n: int = 3000, d: int = 8, width: float = 1.0, **asked: Any) -> Certificate:
    X, y = one_of_many(0, n, d)
    columns = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in X}
    schema = {"label": {"column": "y", "classes": [False, True]}, "columns": columns}
    model = AdditiveBoostClassifier(epsilon=1.0, schema=schema, random_state=0, interactions=False, **asked)
    return model.fit(width * X, y).certificate_


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
    assert 0.999 < share_spent(certificate) <= 1 + 1e-9  # with what binning leaves, as no cell is heavy


def test_further_looks_at_narrow_columns_are_paid_from_the_rest():
    certificate = fitted(d=4, width=0.002)
    looks = [entry.round for entry in certificate.entries if entry.stage is Stage.BINNING]
    assert max(looks) > 2
    assert 0.999 < share_spent(certificate) <= 1 + 1e-9


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
        assert 0.8 < term._expected / term._average.noise_variance < 1.6, term.name


@pytest.mark.parametrize(
    ("delta", "longest"), [(1e-6, math.sqrt(CLIPPING.tightness * 9)), (0.0, CLIPPING.tightness * 3)]
)
def test_noise_is_foreseen_from_lengths(delta, longest):
    """Images are 3 long, so the limit is .6 of 9, squared, or of 3; the rule's longest vector is 2 long."""
    matrix = ReleaseMap.from_floats(3.0 * np.eye(2))
    term: Any = SimpleNamespace(counts=np.ones(2), map_values=matrix.matrix / matrix.unit)
    budget = Budget(cast(Any, SimpleNamespace(public_generator=np.random.default_rng(0))), Allowance.of(1.0, delta))
    assert math.isclose(JointSweeps(budget, 2.0, [term]).precision, budget.sd(1.0, 2.0 * longest) ** -2, rel_tol=1e-6)


def test_shares_follow_from_what_is_to_come_and_from_noise(monkeypatch):
    """What 14 sweeps tell at equal shares; and more noise leaves more in doubt, at most as much more."""
    measured, of, sds, records = JointSweeps.measure, sweeps.shares_of_rest, [], []

    def and_keep(self: JointSweeps, *how: Any) -> Any:
        release = measured(self, *how)
        sds.append(release.sd)
        return release

    def and_look(terms: Sequence[Term], directions: Directions, told: float, *numbers: Any) -> np.ndarray:
        doubts = np.array([[term.doubt(directions, noise) for noise in (1.0, 1.2, 4.0)] for term in terms])
        records.append((told * sds[-1] ** 2, doubts[:, 1:] / doubts[:, :1]))
        return of(terms, directions, told, *numbers)

    monkeypatch.setattr(JointSweeps, "measure", and_keep)
    monkeypatch.setattr(sweeps, "shares_of_rest", and_look)
    fitted()
    [(to_come, more)] = records
    assert to_come == pytest.approx(24 - round(24 * SWEEPING.equal_part), rel=2e-3)
    assert ((more > 1.001) & (more <= [1.2, 4.0])).all()


def test_a_limit_follows_the_shares():
    """Images 1 and 3 long at 7/8 and 1/8 of the precision: the limit is .6 of 7/8 + 9/8."""
    opened: list[Any] = []
    curator = SimpleNamespace(
        public_generator=np.random.default_rng(0), open_jointly=lambda *asked: opened.append(asked)
    )
    budget = Budget(cast(Any, curator), Allowance.of(1.0, 1e-6), 0.1)
    terms: list[Any] = []
    for place, length in enumerate((1.0, 3.0)):
        matrix = ReleaseMap.from_floats(length * np.eye(2))
        facts = {"name": str(place), "cells": column_cells(place, 2), "counts": np.ones(2), "release_map": matrix}
        terms.append(SimpleNamespace(**facts, map_values=matrix.matrix / matrix.unit, expect=lambda *_: None))
    joint = JointSweeps(budget, 2.0, terms, "third ")
    assert joint.precision == pytest.approx(budget.sd(1.0, 2.0 * math.sqrt(CLIPPING.tightness * 5)) ** -2)
    joint.open(3, 7, np.array([1.75, 0.25]))
    joint.open(4, 4, np.array([1.75, 0.25]))
    assert joint.precision == pytest.approx(budget.sd(1.0, 2.0 * math.sqrt(CLIPPING.tightness * 2)) ** -2)
    assert [asked[1:] for asked in opened] == [(3, "third ", 0), (4, "third ", 3)]
    for bound, *_ in opened:
        assert bound.limit == pytest.approx(CLIPPING.tightness * 2 * matrix.unit**2)
        spent = [part.precision / budget.allowance.mu**2 for part in bound.parts]
        assert spent == pytest.approx([0.175, 0.025])


@pytest.mark.parametrize("asked", [{}, {"delta": 0.0}, {"neighbouring": "replace_one"}])
def test_releases_have_the_noise_that_was_foreseen(asked, monkeypatch):
    """As precise as their share, of Gaussian noise, of what was planned; there are shares of both kinds."""
    opened, measured, now, records = JointSweeps.open, JointSweeps.measure, [], []

    def and_look(self: JointSweeps, sweeps: int, left: int, shares: np.ndarray | None) -> None:
        opened(self, sweeps, left, shares)
        now[:] = np.ones(4) if shares is None else shares

    def and_compare(self: JointSweeps, term: int, *how: Any) -> Any:
        release = measured(self, term, *how)
        records.append((now[term], release.sd**-2 / self.precision))
        return release

    monkeypatch.setattr(JointSweeps, "open", and_look)
    monkeypatch.setattr(JointSweeps, "measure", and_compare)
    fitted(1000, 4, **asked)
    shares, precisions = zip(*records, strict=True)
    np.testing.assert_allclose(precisions, shares, rtol=2e-3)
    assert (len(set(shares)) > 1) is ("delta" not in asked)
