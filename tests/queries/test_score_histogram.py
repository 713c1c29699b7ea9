"""Sums over rows with scores: no neighbour moves an answer by more than is declared, and what is declared is needed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.additive.ordered_loss import class_rule, ordered_rule
from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells, mapped_cells
from tacit.queries.histogram import ReleaseMap, ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import WEIGHT_UNIT, LabelWeights
from tacit.queries.score_rules import (
    LARGEST_BOUND,
    LevelRule,
    LogLink,
    ResidualRule,
    SoftmaxRule,
    TargetScale,
)

CODES = 6
SCALE = TargetScale(1 << 23, 1 << 18)
"""The middle of the bounds is 0, and the bounds are 2 units of the score away."""

COUNTS = TargetScale(0, 1 << 18)
"""From 0 to 4 units."""


def table_of(rows: list[tuple[int, int, int]], n_labels: int) -> MemoryTable:
    """Rows of (code, label or DROPPED, target)."""
    data = np.array(rows, np.int64).reshape(-1, 3)
    columns = [data[:, 0].astype(np.uint8)]
    targets = data[:, 2].astype(np.int32)
    return MemoryTable(columns, data[:, 1].astype(np.uint8), [CODES], n_labels, targets=targets)


def random_scores(n_scores: int, seed: int, spread: float = 4.0) -> Scores:
    """Scores that depend on the code."""
    scores = Scores(n_scores)
    scores.add(column_cells(0, CODES), np.random.default_rng(seed).normal(0, spread, (CODES, n_scores)))
    return scores


def queries(seed: int, n_labels: int) -> list[ScoreHistogram | ResidualLevels]:
    cells = column_cells(0, CODES)
    generator = np.random.default_rng(seed)
    release_map = ReleaseMap.from_floats(generator.normal(size=(3, CODES)), 1 << 6)
    classes, one, spread = random_scores(n_labels, seed), random_scores(1, seed, 1.0), random_scores(1, seed)
    levels = level_rules(seed, n_labels)
    mean = ResidualRule(SCALE, 0, -40_000, 40_000)
    quantile = ResidualRule(SCALE, 9000, -2000, 20_000)
    return [
        ScoreHistogram(cells, SoftmaxRule(n_labels), classes),
        ScoreHistogram(OneCell(), SoftmaxRule(n_labels), classes),
        ScoreHistogram(cells, SoftmaxRule(n_labels, norm=1), classes),
        ScoreHistogram(cells, SoftmaxRule(n_labels, curvature=200), classes),
        ScoreHistogram(cells, SoftmaxRule(n_labels, norm=1, curvature=200), classes),
        ScoreHistogram(cells, SoftmaxRule(n_labels), classes, release_map),
        ScoreHistogram(cells, mean, one),
        ScoreHistogram(OneCell(), mean, one),
        ScoreHistogram(cells, quantile, one),
        ScoreHistogram(OneCell(), quantile, one),
        ScoreHistogram(cells, ResidualRule(SCALE, 0, -40_000, 40_000, curvature=15_000), one, release_map),
        ScoreHistogram(OneCell(), ResidualRule(SCALE, 0, -40_000, 40_000, curvature=15_000), one),
        ResidualLevels(SCALE, np.array([-30_000, 0, 500, 60_000]), one),
        *(
            ScoreHistogram(cells, replace(mean, scale=COUNTS, curvature=channel, link=LogLink(power, 1 << 15)), one)
            for power, channel in ((1.0, 0), (1.5, 15_000), (2.0, 0))
        ),
        ResidualLevels(COUNTS, np.array([-30_000, 0, 500, 60_000]), one, link=LogLink(1.0, 1 << 15)),
        *(ScoreHistogram(cells, rule, spread) for rule in levels),
        ScoreHistogram(OneCell(), levels[0], spread),
        ScoreHistogram(cells, levels[0], spread, release_map),
        *(
            ScoreHistogram(cells, replace(mean, scale=scale, curvature=15_000, link=link, weighted_first=True), one)
            for scale, link in ((SCALE, None), (COUNTS, LogLink(1.0, 1 << 15)))
        ),
        *(
            ResidualLevels(scale, np.array([-30_000, 0, 500, 60_000]), one, link=link, weighted_first=True)
            for scale, link in ((SCALE, None), (COUNTS, LogLink(1.0, 1 << 15)))
        ),
    ]


def is_weighted_first(query) -> bool:
    return getattr(getattr(query, "rule", query), "weighted_first", False)


def level_rules(seed: int, n_labels: int) -> list[LevelRule]:
    """Of ordered classes: what they add to effects, to trees in both norms, and to their shares in both norms."""
    cuts = np.sort(np.random.default_rng(seed).normal(0, 2, n_labels - 1))
    trees = [ordered_rule(cuts, 0.3, norm) for norm in (2, 1)]
    return [ordered_rule(cuts), *trees, *(class_rule(cuts, norm) for norm in (2, 1))]


def row(n_labels: int) -> st.SearchStrategy[tuple[int, int, int]]:
    label = st.sampled_from([*range(n_labels), DROPPED])
    return st.tuples(st.integers(0, CODES - 1), label, st.integers(0, 1 << 24))


@pytest.mark.sensitivity_of("ScoreHistogram", "ResidualLevels")
@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(0, 1000))
def test_neighbours_never_move_an_answer_by_more_than_declared(data, n_labels, seed):
    rows = data.draw(st.lists(row(n_labels), max_size=6))
    one, other = data.draw(row(n_labels)), data.draw(row(n_labels))
    tables = [table_of(r, n_labels) for r in ([*rows, one], [*rows, other], rows)]
    for query in queries(seed, n_labels):
        with_one, with_other, without = (table.answer(query) for table in tables)
        for relation, moved in (
            (Neighbouring.ADD_OR_REMOVE_ONE, with_one - without),
            (Neighbouring.REPLACE_ONE, with_one - with_other),
        ):
            declared = query.sensitivity(relation)
            assert np.abs(moved).sum() <= declared.l1
            assert (moved * moved).sum() <= declared.l2_squared


LEVELS = np.array([0.0, 0.37, 1.0])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 5), st.integers(0, 1000))
def test_weights_move_no_answer_farther_than_declared(data, n_classes, seed):
    """Neighbours may differ in code, class, weight and target; a query declares no more than without weights."""
    light = data.draw(st.floats(0.01, 1.0))
    weights = LabelWeights.of([light] + [1.0] * (n_classes - 1), LEVELS)
    n_labels = n_classes * len(LEVELS)
    rows = data.draw(st.lists(row(n_labels), max_size=4))
    one, other = data.draw(row(n_labels)), data.draw(row(n_labels))
    tables = [table_of(r, n_labels) for r in ([*rows, one], [*rows, other], rows)]
    for plain in queries(seed, n_classes):
        query = replace(plain, weights=weights)
        with_one, with_other, without = (table.answer(query) for table in tables)
        for relation, moved in (
            (Neighbouring.ADD_OR_REMOVE_ONE, with_one - without),
            (Neighbouring.REPLACE_ONE, with_one - with_other),
        ):
            declared, unweighted = query.sensitivity(relation), plain.sensitivity(relation)
            assert np.abs(moved).sum() <= declared.l1
            assert (moved * moved).sum() <= declared.l2_squared
            assert declared.l1 / query.unit == pytest.approx(unweighted.l1 / plain.unit)
            assert declared.l2 / query.unit == pytest.approx(unweighted.l2 / plain.unit)


def test_a_weighted_row_counts_as_much_as_it_weighs():
    """Sums over weighted rows are the weighted sums of single rows, up to truncation toward zero."""
    for plain in queries(3, 3):
        if getattr(plain, "release_map", None) is not None or is_weighted_first(plain):
            continue
        weights = LabelWeights.of([0.5, 1.0, 1.0], LEVELS)
        query = replace(plain, weights=weights)
        for label in range(9):
            for code, target in ((0, 0), (3, 1 << 23), (5, 1 << 24)):
                expected = table_of([(code, label // 3, target)], 3).answer(plain) / plain.unit
                expected = expected * weights.factors[label] / WEIGHT_UNIT
                answer = table_of([(code, label, target)], 9).answer(query) / query.unit
                assert answer == pytest.approx(expected, abs=2 / plain.unit)
                assert (np.abs(answer) <= np.abs(expected) + 1e-12).all()


def test_a_residual_that_is_weighted_first_is_clipped_afterwards():
    """The clip of the weighted residual, and not the weighted clip; inside it a row's curvature has its weight."""
    weights = LabelWeights.of([0.25, 1.0], np.array([1.0]))
    rule = ResidualRule(SCALE, 0, -40_000, 50_000, curvature=8000, weighted_first=True)
    for target in (0, (1 << 23) - 3000, 1 << 23, (1 << 23) + 9000, 1 << 24):
        plain = ((target - SCALE.offset) * SCALE.numerator) >> 24
        for label, factor in ((0, 0.25), (1, 1.0)):
            query = ScoreHistogram(OneCell(), rule, Scores(1), weights=weights)
            answer = table_of([(0, label, target)], 2).answer(query)[0]
            wanted = min(max(plain * factor, -40_000), 50_000)
            assert answer[0] == pytest.approx(wanted, abs=1)
            assert abs(answer[0]) <= abs(wanted)  # truncated toward zero
            assert answer[1] == (8000 * factor if -40_000 < plain * factor < 50_000 else 0)


def test_a_row_whose_residual_is_weighted_first_counts_once_where_that_lies():
    """Its interval is that of the weighted residual, truncated toward 0; a row of weight 0 is in none."""
    factors = np.array([0.0, 0.25, 1.0])
    weights, edges = LabelWeights.of([1.0], factors), np.array([-30_000, -10_000, 0, 500, 40_000])
    for link in (None, LogLink(1.0, 1 << 15)):
        plain = ResidualLevels(COUNTS, edges, Scores(1), link=link, weighted_first=True)
        for target in (0, 1 << 20, (1 << 23) + 9000, 1 << 24):
            residual = (target * COUNTS.numerator >> 24) - (0 if link is None else 1 << 15)
            for label, factor in enumerate(factors):
                answer = table_of([(0, label, target)], 3).answer(replace(plain, weights=weights))[:, 0]
                expected = np.zeros(len(edges) + 1)
                expected[np.searchsorted(edges, math.trunc(residual * factor), side="right")] = factor > 0
                assert (answer / WEIGHT_UNIT).tolist() == expected.tolist()
            unweighted = table_of([(0, 0, target)], 1).answer(plain)
            assert (unweighted == table_of([(0, 0, target)], 1).answer(replace(plain, weighted_first=False))).all()


@pytest.mark.parametrize("index", [0, 2, 6, 9, 12, 24, 25, 26, 27])
@pytest.mark.parametrize("relation", list(Neighbouring))
def test_the_declared_sensitivity_of_weighted_rows_is_needed(index, relation):
    plain = queries(5, 3)[index]
    norm = 1 if index == 2 else 2
    if index < 6:
        scores = Scores(3)
        values = np.zeros((CODES, 3))
        values[0, 0] = values[1, 1] = 16.0
        scores.add(column_cells(0, CODES), values)
        plain = ScoreHistogram(mapped_cells(0, [0, 0, 1, 1, 1, 1]), plain.rule, scores)
    query = replace(plain, weights=LabelWeights.of([1.0] * 3, np.array([0.2, 1.0])))
    declared = query.sensitivity(relation)
    result = worst(query, 6, relation, norm)
    assert result > (0.9 * declared.l1 if norm == 1 else 0.81 * declared.l2_squared)


def worst(query, n_labels, relation, norm):
    """The largest movement over pairs of single rows, L1 or squared L2."""
    targets = (0, (1 << 23) - 1000, 1 << 23, (1 << 23) + 3000, 1 << 24)
    rows = [(c, label, t) for c in range(CODES) for label in (*range(n_labels), DROPPED) for t in targets]
    answers = [table_of([r], n_labels).answer(query) for r in rows]
    size = (lambda a: int(np.abs(a).sum())) if norm == 1 else (lambda a: int((a * a).sum()))
    if relation is Neighbouring.ADD_OR_REMOVE_ONE:
        return max(size(a) for a in answers)
    return max(size(a - b) for a in answers for b in answers)


@pytest.mark.parametrize("relation", list(Neighbouring))
@pytest.mark.parametrize(
    ("index", "norm"),
    [
        *((index, 2) for index in (0, 1, 6, 7, 8, 9, 12, 13, 15, 16, 17, 18, 20, 22)),
        *((index, 1) for index in (2, 12, 13, 17, 19, 21)),
    ],
)
def test_the_declared_sensitivity_is_needed(relation, index, norm):
    """A constant 10 % smaller is refuted by the search; scores far apart make rows of full weight."""
    query = queries(5, 3)[index]
    declared = query.sensitivity(relation)
    if index < 6:  # one code sure of the first class, another of the second: opposite rows
        scores = Scores(3)
        values = np.zeros((CODES, 3))
        values[0, 0] = values[1, 1] = 16.0
        scores.add(column_cells(0, CODES), values)
        cells = query.cells if index else mapped_cells(0, [0, 0, 1, 1, 1, 1])
        query = ScoreHistogram(cells, query.rule, scores)
    if isinstance(getattr(query, "rule", None), LevelRule):  # far below all cut points, and far above
        scores = Scores(1)
        scores.add(column_cells(0, CODES), np.array([[-12.0], [12.0], [-12.0], [12.0], [0.0], [1.0]]))
        cells = query.cells if isinstance(query.cells, OneCell) else mapped_cells(0, [0, 0, 1, 1, 1, 1])
        query = ScoreHistogram(cells, query.rule, scores)
    result = worst(query, 3, relation, norm)
    assert result > (0.9 * declared.l1 if norm == 1 else 0.81 * declared.l2_squared)


def test_two_classes_are_mada_boost():
    """The vector's positive part is s min(1, exp(-s F)) over the square root of 2: a vector of norm at most 1."""
    scores = Scores(2)
    difference = np.array([-3.0, -1.0, -0.2, 0.2, 1.0, 3.0])
    scores.add(column_cells(0, CODES), np.stack([np.zeros(CODES), difference], axis=1))
    query = ScoreHistogram(column_cells(0, CODES), SoftmaxRule(2), scores)
    for label, sign in ((0, -1.0), (1, 1.0)):
        answer = table_of([(c, label, 0) for c in range(CODES)], 2).answer(query)[:, 1] / query.unit
        expected = sign * np.minimum(1.0, np.exp(-sign * difference)) / math.sqrt(2)
        assert answer == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("norm", [1, 2])
def test_contributions_vanish_on_average_at_the_true_probabilities(norm):
    """The scale does not depend on the label, so the optimum of the sum is the log-odds."""
    chances = np.array([0.6, 0.25, 0.1, 0.05])
    scores = Scores(4)
    scores.add(OneCell(), np.log(chances)[None, :])
    query = ScoreHistogram(OneCell(), SoftmaxRule(4, norm), scores)
    rows = [(0, label, 0) for label in range(4) for _ in range(round(100 * chances[label]))]
    answer = table_of(rows, 4).answer(query)[0] / query.unit / len(rows)
    assert np.abs(answer).max() < 0.006


def test_quantile_gradients_vanish_at_the_quantile():
    targets = np.linspace(0, 1 << 24, 1001).astype(int)
    scores = Scores(1)
    scores.add(OneCell(), [[0.8 * 4 - 2]])  # the bounds are -2 and 2
    window = 6000
    rule = ResidualRule(SCALE, round(0.6 * window), round(-0.4 * window), round(1.6 * window))
    query = ScoreHistogram(OneCell(), rule, scores)
    answer = table_of([(0, 0, t) for t in targets], 1).answer(query).item()
    assert abs(answer) < 0.01 * window * len(targets)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("mean", [0.37, 1.0, 2.3])
def test_linked_contributions_vanish_at_the_mean(power, mean):
    """Whatever law targets follow: here a quarter of them are four times the mean, and the others are 0."""
    scores, link = Scores(1), LogLink(power, 1 << 14)  # a quarter of a unit where the score is 0
    scores.add(OneCell(), [[math.log(mean / 0.25)]])
    rule = ResidualRule(TargetScale(0, 1 << 20), 0, -LARGEST_BOUND, LARGEST_BOUND, link=link)  # 16 units at most
    target = round(4 * mean * 2**20)
    rows = [(0, 0, target if i % 4 == 0 else 0) for i in range(400)]
    answer = table_of(rows, 1).answer(ScoreHistogram(OneCell(), rule, scores)).item() / (1 << 16)
    assert abs(answer) < 400 * mean ** (2 - power) * 2e-4 * 4 ** (power - 1)
    off = Scores(1)
    off.add(OneCell(), [[math.log(mean / 0.25) + 0.01]])
    slope = table_of(rows, 1).answer(ScoreHistogram(OneCell(), rule, off)).item() / (1 << 16) - answer
    assert slope == pytest.approx(-4.0 * 0.25 ** (power - 1) * mean ** (2 - power), rel=0.02)
