"""Rows with scores: exact, row by row as the rules say, and the same however the rows are cut up."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.engines import rows
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import complete_shape, threshold_sets
from tacit.queries.cells import ProductCells, column_cells
from tacit.queries.histogram import ResidualLevels, ScoreHistogram
from tacit.queries.margins import Scores
from tacit.queries.rules import COUNT_UNIT, LEVEL_SHIFT, LEVELS, WEIGHT_UNIT, LabelWeights
from tacit.queries.score_rules import (
    LARGEST_BOUND,
    LARGEST_MEAN,
    LevelRule,
    LogLink,
    ResidualRule,
    SoftmaxRule,
    TargetScale,
    exponentials,
)
from tacit.queries.tree_cells import TreeCells

SCALE = TargetScale(5_000_000, 1 << 19)


def make(n: int, n_labels: int, threads: int = 1) -> tuple[MemoryTable, np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n_labels)
    codes = generator.integers(0, 7, (2, n)).astype(np.uint8)
    labels = generator.integers(0, n_labels, n).astype(np.uint8)
    targets = generator.integers(0, (1 << 24) + 1, n).astype(np.int32)
    return MemoryTable(list(codes), labels, [7] * 2, n_labels, threads, targets=targets), codes, labels, targets


def softmax_by_hand(label: int, scores: list[int], norm: int, curvature: int) -> list[int]:
    """The rule with exact fractions of integers, up to the reciprocals' last unit."""
    exps = [int(exponentials()[min((max(scores) - s) >> LEVEL_SHIFT, LEVELS - 1)]) for s in scores]
    q = [e * WEIGHT_UNIT // sum(exps) for e in exps]
    vectors = [[(WEIGHT_UNIT if k == y else 0) - q[k] for k in range(len(q))] for y in range(len(q))]
    trace = curvature * (WEIGHT_UNIT - sum(v * v for v in q) // WEIGHT_UNIT) // 256 if curvature else 0
    if norm == 2:
        longest = math.sqrt(max(sum(v * v for v in vector) for vector in vectors) + trace**2)
    else:
        longest = max(sum(map(abs, vector)) for vector in vectors) + trace
    values = [*vectors[label], trace] if curvature else vectors[label]
    return [math.trunc(v * WEIGHT_UNIT / longest) for v in values]


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("curvature", [0, 180])
@pytest.mark.parametrize("n_labels", [2, 3, 11])
def test_softmax_sums_equal_a_row_by_row_sum(n_labels, norm, curvature):
    table, codes, labels, _ = make(80, n_labels)
    scores, running = Scores(n_labels), np.zeros((80, n_labels), np.int64)
    generator = np.random.default_rng(1)
    rule = SoftmaxRule(n_labels, norm, curvature)
    for step in range(3):
        scores.add(column_cells(step % 2, 7), generator.normal(0, 2.5, (7, n_labels)))
        running += scores.updates[-1].values[codes[step % 2]]
        expected = np.zeros((7, rule.channels), np.int64)
        for i in range(80):
            expected[codes[1, i]] += softmax_by_hand(int(labels[i]), running[i].tolist(), norm, curvature)
        answer = table.answer(ScoreHistogram(column_cells(1, 7), rule, scores))
        assert np.abs(answer - expected).max() <= 2 * 80  # reciprocals cost a unit or two per row


@pytest.mark.parametrize("n_labels", [2, 3, 11])
def test_looked_up_sums_equal_a_row_by_row_sum(n_labels):
    """Also where scores lie beyond all levels."""
    table, codes, labels, _ = make(80, n_labels)
    scores = Scores(1)
    scores.add(column_cells(0, 7), np.array([-12.0, -4.003, -0.5, 0.0, 1.2345, 3.0, 11.0])[:, None])
    looked_up = np.random.default_rng(1).integers(-WEIGHT_UNIT, WEIGHT_UNIT, (n_labels, LEVELS, 2)).astype(np.int32)
    weights = LabelWeights(np.arange(n_labels, dtype=np.uint8), np.arange(n_labels, dtype=np.int64) * 999)
    plain, weighed = np.zeros((7, 2), np.int64), np.zeros((7, 2), np.int64)
    for i, label in enumerate(labels.tolist()):
        level = (int(scores.updates[0].values[codes[0, i], 0]) >> LEVEL_SHIFT) + LEVELS // 2
        result = looked_up[label, min(max(level, 0), LEVELS - 1)].astype(np.int64)
        plain[codes[1, i]] += result
        weighed[codes[1, i]] += np.sign(result) * (np.abs(result) * label * 999 * 64 // WEIGHT_UNIT)
    rule = LevelRule(looked_up, WEIGHT_UNIT)
    assert (table.answer(ScoreHistogram(column_cells(1, 7), rule, scores)) == plain).all()
    assert (table.answer(ScoreHistogram(column_cells(1, 7), rule, scores, weights=weights)) == weighed).all()


def test_residual_sums_equal_a_row_by_row_sum():
    table, codes, _, targets = make(200, 1)
    scores = Scores(1)
    scores.add(column_cells(0, 7), np.linspace(-3, 3, 7)[:, None])
    pair = ProductCells((0, 1), (np.array([0, 0, 1, 1, 2, 2, 2]), np.arange(7)), (3, 7))
    rule = ResidualRule(SCALE, 3000, -70_000, 90_000, 500)
    expected = np.zeros((21, 2), np.int64)
    edges = np.array([-200_000, -1000, 0, 44_000])
    levels = np.zeros((5, 1), np.int64)
    for i, target in enumerate(targets.tolist()):
        plain = ((target - SCALE.offset) * SCALE.numerator >> 24) - int(scores.updates[0].values[codes[0, i], 0])
        cell = [0, 0, 1, 1, 2, 2, 2][codes[0, i]] * 7 + codes[1, i]
        expected[cell] += [min(max(plain + 3000, -70_000), 90_000), 500 * (-70_000 < plain + 3000 < 90_000)]
        levels[int((edges <= plain).sum())] += COUNT_UNIT
    assert (table.answer(ScoreHistogram(pair, rule, scores)) == expected).all()
    assert (table.answer(ResidualLevels(SCALE, edges, scores)) == levels).all()


@pytest.mark.parametrize("power", [1.0, 1.3, 2.0])
def test_linked_sums_equal_a_row_by_row_sum(power):
    """Also where scores lie beyond all levels, and where the target of 0 lies within the bounds or below them."""
    table, codes, _, targets = make(200, 1)
    scores = Scores(1)
    scores.add(column_cells(0, 7), np.array([-12.0, -4.003, -0.5, 0.0, 1.2345, 3.0, 11.0])[:, None])
    link = LogLink(power, 40_000)
    for scale in (SCALE, TargetScale(-3_000_000, 1 << 19)):
        rule = ResidualRule(scale, 100, -70_000, 90_000, 5000, link)
        edges = np.array([-200_000, -1000, 0, 44_000])
        expected, levels = np.zeros((7, 2), np.int64), np.zeros((5, 1), np.int64)
        for i, target in enumerate(targets.tolist()):
            score = int(scores.updates[0].values[codes[0, i], 0])
            level = min(max((score >> LEVEL_SHIFT) + LEVELS // 2, 0), LEVELS - 1)
            within = score % (1 << LEVEL_SHIFT) if 0 <= (score >> LEVEL_SHIFT) + LEVELS // 2 < LEVELS else 0
            mean = int(link.means[level]) * (65536 + within) // 65536
            units = max((target - scale.offset) * scale.numerator >> 24, 0)
            plain = (units * 16 - mean) * int(link.factors[level]) >> 20
            inside = -70_000 < plain + 100 < 90_000
            share = 5000 * int(link.shares[level]) >> 15
            expected[codes[1, i]] += [min(max(plain + 100, -70_000), 90_000), share * inside]
            levels[int((edges <= plain).sum())] += COUNT_UNIT
        assert (table.answer(ScoreHistogram(column_cells(1, 7), rule, scores)) == expected).all()
        assert (table.answer(ResidualLevels(scale, edges, scores, link=link)) == levels).all()


def test_no_linked_residual_overflows():
    """The farthest targets, scores, means and powers that are allowed leave the sign of a residual what it is."""
    top = [0, 1 << 24]
    for power in (1.0, 2.0):
        for mean in (1, LARGEST_MEAN):
            for score, offset in ((-16_000.0, -(1 << 32)), (16_000.0, 0)):
                scores = Scores(1)
                scores.add(column_cells(0, 7), np.full((7, 1), score))
                rule = ResidualRule(
                    TargetScale(offset, 1 << 26), 0, -LARGEST_BOUND, LARGEST_BOUND, 0, LogLink(power, mean)
                )
                codes, labels = [np.zeros(2, np.uint8)], np.zeros(2, np.uint8)
                table = MemoryTable(codes, labels, [7], 1, targets=np.array(top, np.int32))
                answer = table.answer(ScoreHistogram(column_cells(0, 7), rule, scores))[0, 0]
                far = 2 * LARGEST_BOUND
                assert answer == far if score < 0 and power == 2 else abs(answer) <= far
                if score < 0:
                    assert answer > 0


def test_one_thread_or_several_give_the_same_integers(monkeypatch):
    monkeypatch.setattr(rows, "BLOCK", 100)
    answers = []
    for threads in (1, 2, 13):
        table, *_ = make(1501, 4, threads)
        scores, records = Scores(4), []
        for step in range(4):
            records.append(table.answer(ScoreHistogram(column_cells(step % 2, 7), SoftmaxRule(4), scores)))
            scores.add(column_cells(step % 2, 7), np.random.default_rng(step).normal(0, 1, (7, 4)))
        answers.append(np.stack(records))
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == answers[2]).all()


def test_coarsening_keeps_the_scores_of_old_codes():
    table, *_ = make(300, 3)
    scores = Scores(3)
    scores.add(column_cells(0, 7), np.random.default_rng(0).normal(0, 2, (7, 3)))
    before = table.answer(ScoreHistogram(column_cells(1, 7), SoftmaxRule(3), scores))
    table.coarsen(0, np.array([0, 0, 0, 1, 1, 1, 1]))
    assert (table.answer(ScoreHistogram(column_cells(1, 7), SoftmaxRule(3), scores)) == before).all()


def test_residuals_need_a_target():
    table = MemoryTable([np.zeros(3, np.uint8)], np.zeros(3, np.uint8), [7], 2)
    with pytest.raises(TypeError, match="numeric target"):
        table.answer(ScoreHistogram(column_cells(0, 7), ResidualRule(SCALE, 0, -5, 5), Scores(1)))


@pytest.mark.parametrize("pending", [1, 2, 3, 5])
def test_leaves_are_those_of_the_tree_asked_about_however_many_updates_wait(pending: int) -> None:
    """A table that is asked late catches up with all trees, which share memory with the one asked about."""
    generator = np.random.default_rng(pending)

    def tree() -> TreeCells:
        return TreeCells(complete_shape(generator.integers(0, 2, 3), threshold_sets(generator.integers(1, 7, 3))))

    (late, *_), (asked_always, *_) = make(400, 3), make(400, 3)
    scores, rule, asked = Scores(3), SoftmaxRule(3, 2, 0), tree()
    for _ in range(pending):
        scores.add(tree(), generator.normal(0, 1, (4, 3)))
        asked_always.answer(ScoreHistogram(column_cells(0, 7), rule, scores))
    query = ScoreHistogram(asked, rule, scores)
    np.testing.assert_array_equal(late.answer(query), asked_always.answer(query))
