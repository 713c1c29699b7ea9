"""Boosting over encoded tables: one booster step by value, what a row can move, and whole runs."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.boosting import (
    CellEmbedding,
    CellLearner,
    CellMeasure,
    CellRule,
    LogisticMeasure,
    SmoothMeasure,
    boost,
    private_table,
)
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import ProductCells
from tacit.queries.rules import WEIGHT_UNIT

NUMBER = {"kind": "numeric", "lower": -1, "upper": 1}
SCHEMA = {"columns": {"a": NUMBER, "b": NUMBER, "c": {"kind": "categorical", "categories": ["x", "y", "z"]}}}


def made(n: int, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Two numbers and a category that decide together, none alone."""
    rng = np.random.default_rng(seed)
    table = {"a": rng.uniform(-1, 1, n), "b": rng.uniform(-1, 1, n), "c": rng.choice(list("xyz"), n)}
    return table, ((table["a"] + table["b"] + 0.8 * (table["c"] == "x")) > 0.3).astype(int)


def run(table: Any, labels: Any, rounds: int, epsilon: float, columns: int = 1, parts: int = 2, **more: Any) -> Any:
    with private_table(table, labels, schema=SCHEMA, epsilon=epsilon, random_state=0, **more) as rows:
        embedding = CellEmbedding(rows.encoding)
        learner = CellLearner(embedding, rows.charge(1 / rounds), columns, parts, rows.orders)
        boost(rows.budget.curator, embedding, CellMeasure(SmoothMeasure(0.2), rounds), learner, rounds)
    return embedding, rows


@pytest.mark.parametrize(("columns", "parts", "rounds"), [(1, 2, 6), (1, 5, 6), (3, 2, 30)])
def test_every_step_of_the_booster_by_value(columns: int, parts: int, rounds: int) -> None:
    """Without noise: weights by SmoothBoost's rule over the released rules alone, cells by their weighted signs.

    Of 30 rounds each moves the kept margins by a quarter of its value.
    """
    table, labels = made(1500, 0)
    embedding, rows = run(table, labels, rounds, math.inf, columns, parts)
    codes, signs = rows.encoding.encode(table), 2 * labels - 1
    margins = np.zeros(len(labels))
    assert len(embedding.rules) == rounds
    for t, rule in enumerate(embedding.rules):
        theta = 0.2 / 2.2
        weights = 0.8 ** (np.maximum(signs * margins - t * theta, 0) / 2)
        cells = np.zeros(len(labels), np.int64)
        for column, mapping, size in zip(rule.cells.columns, rule.cells.maps, rule.cells.sizes, strict=True):
            assert size <= parts
            cells = cells * size + mapping[codes[column]]
        signed, total = (np.bincount(cells, each, rule.cells.size) for each in (signs * weights, weights))
        np.testing.assert_allclose(rule.values, signed / np.maximum(total, 1e-9), atol=0.01)
        np.testing.assert_array_equal(rule.scores(codes), rule.values[cells])
        margins += rule.values[cells]
    np.testing.assert_allclose(embedding.scores(table), margins / rounds)


def test_cuts_keep_the_order_of_numbers_and_none_of_categories() -> None:
    table, labels = made(50, 0)
    rng = np.random.default_rng(0)
    with private_table(table, labels, schema=SCHEMA, epsilon=math.inf, random_state=0) as rows:
        embedding = CellEmbedding(rows.encoding)
    assert rows.orders == (True, True, False)
    learner = CellLearner(embedding, rows.charge(1.0), 3, 2, rows.orders)
    unordered = 0
    for _ in range(40):
        cells = learner.draw(rng)
        assert sorted(cells.columns) == [0, 1, 2]
        for column, mapping in zip(cells.columns, cells.maps, strict=True):
            rises = bool((np.diff(mapping) >= 0).all())
            assert rises or column == 2
            unordered += not rises
    assert unordered > 5
    finest = CellLearner(embedding, rows.charge(1.0), 3, 1000).draw(rng)  # as many parts as codes
    assert [mapping.tolist() for mapping in finest.maps] == [list(range(size)) for size in finest.sizes]


@pytest.mark.parametrize("rounds", [1, 5, 400])
def test_a_row_moves_its_cell_by_its_weight(rounds: int) -> None:
    measure = CellMeasure(SmoothMeasure(0.2), rounds)
    rule = measure.rule(0)
    length = math.sqrt(rule.longest[1]) / WEIGHT_UNIT
    assert 0.999 < length <= 1.0  # attained, by rows whose margin lags behind
    embedding = CellEmbedding(run(*made(20, 0), 1, math.inf)[1].encoding)
    query = measure.sums(embedding, 0, ProductCells((0,), (np.zeros(64, np.int64),), (1,)))
    assert query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2_squared == rule.longest[1]
    assert measure.step * rounds <= 7.5  # within the levels of a rule
    late = measure.rule(rounds).table
    assert late.min() < 0 < late.max()
    lag, lead = late[1, 1024 - 100, 1], late[1, 1024 + round(128 * measure.step * rounds) - 1, 1]
    assert lag == rule.table[1, 1024 - 100, 1] > lead  # rows that are ahead weigh less


def test_a_private_run_learns_what_no_column_tells_alone_and_pays_no_more() -> None:
    table, labels = made(9000, 1)
    train, test = ({name: values[part] for name, values in table.items()} for part in (slice(6000), slice(6000, None)))
    errors = {}
    for name, shape in {"stumps": (1, 2), "1-rules": (1, 6), "trees": (3, 2)}.items():
        embedding, rows = run(train, labels[:6000], 40, 1.0, *shape)
        errors[name] = float(((embedding.scores(test) > 0) != labels[6000:]).mean())
        assert rows.certificate.verify() == []
        assert rows.certificate.epsilon == 1.0
        assert len(rows.certificate.entries) <= 40
    # .109 +- .037, .062 +- .025 and .043 +- .009 over 16 salts; the rarer class has 48 %
    assert errors["stumps"] < 0.4
    assert errors["1-rules"] < 0.3
    assert errors["trees"] < 0.12


def test_persons_of_several_rows_are_paid_for() -> None:
    table, labels = made(300, 0)
    schema = {**SCHEMA, "unit": {"column": "who", "max_rows": 3}}
    with private_table(
        table | {"who": np.arange(300) // 3}, labels, schema=schema, epsilon=1.0, random_state=0
    ) as rows:
        embedding = CellEmbedding(rows.encoding)
        learner = CellLearner(embedding, rows.charge(0.5))
        rule = learner.learn(rows.budget.curator, CellMeasure(SmoothMeasure(0.2), 2), [])
    assert (rows.certificate.rows_per_unit, rows.certificate.unit) == (3, "who")
    assert np.abs(rule.values).max() <= 1


def test_mistakes_are_refused() -> None:
    table, labels = made(30, 0)
    with (
        pytest.raises(RequestError, match="same number of rows"),
        private_table(table, labels[:-1], schema=SCHEMA, epsilon=1.0),
    ):
        pass
    with pytest.raises(RequestError, match="under a schema"), private_table(table, labels, schema=None, epsilon=1.0):
        pass
    embedding, rows = run(table, labels, 1, math.inf)
    cells = embedding.rules[0].cells
    for values in (np.full(cells.size, 1.01), np.full(cells.size, math.nan)):
        with pytest.raises(ValueError, match=r"\[-1, 1\]"):
            embedding.append(CellRule(cells, values), 1.0)
    with pytest.raises(TypeError, match="CellMeasure"):
        CellLearner(embedding, rows.charge(1.0)).learn(rows.budget.curator, LogisticMeasure(), [])


def test_a_cell_is_drawn_to_0_by_its_noise() -> None:
    """``s / (w + sd)``: sums of 3 of 5 at a deviation of 1; beyond what a mean may be it is clipped."""
    embedding, rows = run(*made(20, 0), 1, math.inf)
    released = SimpleNamespace(value=np.array([[3.0, 5.0], [-9.0, 2.0]]), sd=1.0)
    curator: Any = SimpleNamespace(
        public_generator=np.random.default_rng(0), measure=lambda query, charge, label: released
    )
    learner = CellLearner(embedding, rows.charge(1.0))
    assert learner.learn(curator, CellMeasure(SmoothMeasure(0.2), 4), []).values.tolist() == [0.5, -1.0]
