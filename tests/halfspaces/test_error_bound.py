"""What a released halfspace proves about new rows: its code length, its counts, and that the bound holds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tacit import HalfspaceBoostClassifier, load, save
from tacit.halfspaces.learn import rounded
from tacit.queries.dense.halfspace_log import VECTOR_NORM, HalfspaceLog
from tacit.theory.certified_error import CODE, HalfspaceCode
from tests.chance import ALARM
from tests.queries.dense_margins import fixed_margins

WIDTH = 6
NAMES = [f"x{j}" for j in range(WIDTH)]
SCHEMA: dict[str, Any] = {
    "label": {"column": "y", "classes": [0, 1]},
    "columns": {name: {"kind": "numeric", "lower": -1, "upper": 1} for name in NAMES},
}


def table(n: int, seed: int, noise: float = 0.1, width: int = WIDTH) -> tuple[pd.DataFrame, np.ndarray]:
    source = np.random.default_rng(seed)
    X = source.uniform(-1, 1, (n, width))
    y = (X @ np.arange(1, width + 1) > 0.3) ^ (source.random(n) < noise)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(width)]), y.astype(int)


def errors(fitted: HalfspaceBoostClassifier, X: Any, y: np.ndarray) -> int:
    return int((fitted.predict(X) != y).sum())


def test_the_code_by_value() -> None:
    """Weights 0, 0, 5 (101), -5, 16 (1): shapes of counts 2, 2, 1; signs of three, a middle digit of two."""
    dirichlet = (1 / 8) ** 3 * (9 / 8) ** 2 / math.prod(76 / 8 + i for i in range(5))
    expected = -math.log(dirichlet) + (3 + 2) * math.log(2)
    assert CODE.log_halfspaces(np.array([0, 0, 5, -5, 16])) == pytest.approx(expected, rel=1e-12)
    assert CODE.log_halfspaces(np.array([11])) == pytest.approx(math.log(76) + 3 * math.log(2))  # 1011
    for beyond in (1 << 15, 0b100001):
        with pytest.raises(ValueError, match="at most"):
            CODE.log_halfspaces(np.array([1, beyond]))


def test_the_prior_of_all_halfspaces_adds_up() -> None:
    code = HalfspaceCode(places=3)
    # Three places: 0; 1; 2, 3 (10, 11); 4, 5, 6, 7. Shapes of more digits than places have no vector: 7 of 16 are left.
    values = [0, *(sign * size for size in range(1, 8) for sign in (1, -1))]
    one = sum(math.exp(-code.log_halfspaces(np.array([v]))) for v in values)
    assert one == pytest.approx(7 / 16)
    two = sum(math.exp(-code.log_halfspaces(np.array(pair))) for pair in itertools.product(values, repeat=2))
    assert two == pytest.approx(7 / 16 * (1 + 7 / 8) / (1 + 16 / 8))


@pytest.mark.one_draw(reason="one direction, in exact integers")
def test_rounding_keeps_scores_and_more_so_at_a_higher_price() -> None:
    source = np.random.default_rng(0)
    weights, squares, mean = source.normal(size=80), source.uniform(0, 1, 80), source.normal(size=80) / 10
    changes, nats = [], []
    for price in (800.0, 3200.0, 12800.0):
        integers = rounded(weights, squares, mean, 0.5, price)
        assert integers @ integers <= VECTOR_NORM**2
        unit = np.linalg.norm(weights) / (VECTOR_NORM / 2)
        moved = integers * unit - weights
        changes.append(float(squares[:-1] @ moved[:-1] ** 2) / float(squares[:-1] @ weights[:-1] ** 2))
        nats.append(CODE.log_halfspaces(integers))
        assert abs(mean[:-1] @ moved[:-1] + 0.5 * moved[-1]) < 0.05 * abs(weights[-1])
    assert changes[0] > changes[1] > changes[2]
    assert changes[0] < 80 / 800
    assert nats[0] < nats[1] < nats[2]
    assert not rounded(np.zeros(3), np.ones(3), np.zeros(3), 0.0, 9.0).any()
    assert rounded(np.array([1.0, 2.0]), np.ones(2), np.zeros(2), 0.0, 1e-9).any()


def test_signs_are_exact() -> None:
    integers = np.array([3, -1, 0])
    log = HalfspaceLog(3)
    log.add_sign(integers)
    rows = np.array([[1, 3, 7], [1, 2, 0], [1, 4, 0], [30000, -9000, 1]])
    assert np.sign(fixed_margins(log, rows)).tolist() == [0, 1, -1, 1]
    with pytest.raises(ValueError, match="length at most"):
        log.add_sign(np.array([VECTOR_NORM, 1, 0]))
    with pytest.raises(ValueError, match="features"):
        log.add_sign(np.array([1]))


@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_errors_are_counted_exactly(intercept: bool) -> None:
    """Rows that are 0 lie on the boundary of a halfspace through 0: they are told the first class, and counted so."""
    X, y = table(1500, 1)
    X.iloc[:200] = 0.0
    fitted = HalfspaceBoostClassifier(math.inf, schema=SCHEMA, row_norm=2.0, fit_intercept=intercept).fit(X, y)
    result = fitted.model_.evidence
    assert (result.sd, result.wrong, result.right) == (0.0, errors(fitted, X, y), 1500 - errors(fitted, X, y))
    assert fitted.model_.offset == 0.0


def test_noise_in_the_counts_has_the_deviation_that_the_bound_takes() -> None:
    """Over 30 fits noise adds to two counts what Laplace noise of that scale adds: its mean size has a gamma law."""
    ratios = []
    for seed in range(30):
        X, y = table(400, seed)
        fitted = HalfspaceBoostClassifier(epsilon=1.0, schema=SCHEMA, rounds=2, random_state=seed).fit(X, y)
        result, wrong = fitted.model_.evidence, errors(fitted, X, y)
        ratios += [(result.wrong - wrong) / result.sd, (result.right - (400 - wrong)) / result.sd]
    law = stats.gamma(len(ratios), scale=1 / len(ratios))
    assert law.ppf(ALARM / 2) < np.mean(np.abs(ratios)) < law.isf(ALARM / 2)


def test_the_bound_holds_where_labels_are_noise_and_would_not_without_the_code() -> None:
    """Every halfspace errs on half of all new rows. On its own rows the one that was learned looks better."""
    holds = without = 0
    schema = {**SCHEMA, "columns": {f"x{j}": {"kind": "numeric", "lower": -1, "upper": 1} for j in range(30)}}
    for seed in range(20):
        X, _ = table(300, seed, width=30)
        y = (np.random.default_rng(1000 + seed).random(300) < 0.5).astype(int)
        result = HalfspaceBoostClassifier(math.inf, schema=schema).fit(X, y).model_.evidence
        holds += result.bound() >= 0.5
        without += replace(result, log_models=0.0).bound() >= 0.5
    assert holds == 20
    assert without < 15  # 95 % would have to hold


def test_a_bound_is_said_and_survives_a_file(tmp_path: Any) -> None:
    X, y = table(12000, 0)
    fitted = HalfspaceBoostClassifier(epsilon=1.0, schema=SCHEMA, random_state=0).fit(X, y)
    bound = fitted.model_.error_bound()
    assert fitted.summary_.error_bound == bound
    assert fitted.summary_.sentences[-1].startswith(f"on new rows it errs on at most {100 * bound:.1f} %: proved")
    assert fitted.model_.error_bound(1e-6) > bound > fitted.model_.error_bound(0.5)
    save(fitted, tmp_path / "halfspace.json")
    assert load(tmp_path / "halfspace.json").model_.error_bound() == bound
    told = HalfspaceBoostClassifier(epsilon=1.0, schema=SCHEMA, row_norm=1.0, random_state=0).fit(X, y)
    lengths = fitted.model_.evidence.log_models - CODE.log_halfspaces(_integers(fitted))
    assert lengths == pytest.approx(math.log(33))
    assert told.model_.evidence.log_models == pytest.approx(CODE.log_halfspaces(_integers(told)))


def _integers(fitted: HalfspaceBoostClassifier) -> np.ndarray:
    weights = fitted.model_.weights
    return np.rint(weights * 2.0 ** (14 - math.ceil(math.log2(np.abs(weights).max())))).astype(int)


def test_nothing_is_proved_where_the_theorem_does_not_hold() -> None:
    X, y = table(3000, 0)
    model = HalfspaceBoostClassifier(epsilon=1.0, classes=(0, 1), random_state=0).fit(X, y)  # bounds were found
    assert model.model_.error_bound() is None
    persons = {**SCHEMA, "unit": {"column": "who", "max_rows": 2}}
    of_persons = HalfspaceBoostClassifier(epsilon=1.0, schema=persons, random_state=0)
    assert of_persons.fit(X.assign(who=np.arange(3000) // 2), y).model_.error_bound() is None
    uncounted = HalfspaceBoostClassifier(epsilon=1.0, schema=SCHEMA, calibrate=False, random_state=0).fit(X, y)
    assert uncounted.model_.error_bound() is None
    matrix = HalfspaceBoostClassifier(epsilon=1.0, classes=(0, 1), row_norm=1.0, random_state=0)
    assert matrix.fit(X.to_numpy(), y).model_.error_bound() is not None
