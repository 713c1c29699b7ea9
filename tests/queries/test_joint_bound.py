"""Rows that are bounded together: nobody moves all sums by more than the limit, and the limit is needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.additive.ordered_loss import ordered_rule
from tacit.curator.joint_clipping import JointWeights
from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells, ProductCells, column_cells
from tacit.queries.histogram import Histogram, ReleaseMap, ScoreHistogram
from tacit.queries.joint_bound import FINE, JointBound, JointHistogram, JointPart, joint_sensitivity
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import N_LEVELS, LabelWeights, level_weights, signed_margin_rule, weighted_rule
from tacit.queries.score_rules import ResidualRule, ScoreRule, SoftmaxRule, TargetScale

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
CODES = (5, 3, 4)
UNIT = 1 << 8
RULE = weighted_rule(signed_margin_rule(lambda m: np.minimum(1.0, np.exp(-m))), (1.0, 1.0), level_weights())


def bound_of(seed: int, tightness: float = 0.7, laplace: bool = False) -> JointBound:
    """Two columns and a pair, with maps, charges and a limit drawn from a seed."""
    kind = Laplace if laplace else Gaussian
    generator = np.random.default_rng(seed)
    pair = ProductCells((0, 2), (np.array([0, 0, 1, 1, 2]), np.arange(4)), (3, 4))
    parts, lengths = [], 0.0
    for name, cells, outputs in (("a", column_cells(0, 5), 3), ("b", column_cells(1, 3), 1), ("ac", pair, 2)):
        matrix = generator.normal(size=(outputs, cells.size)) * generator.exponential(size=cells.size)
        parts.append(JointPart(name, cells, ReleaseMap.from_floats(matrix, UNIT), kind(generator.uniform(0.5, 5))))
    total = sum(part.precision for part in parts)
    for part in parts:
        lengths += part.precision / total * norms_of(part).mean()
    return JointBound(tuple(parts), max(int(tightness * lengths), 1))


def norms_of(part: JointPart) -> np.ndarray:
    """What a row contributes by cell: squared L2 norms, or L1 norms where noise is Laplace."""
    matrix = part.release_map.matrix
    return (np.abs(matrix) if isinstance(part.charge, Laplace) else matrix**2).sum(axis=0)


def margins_of(seed: int) -> Margins:
    margins = Margins()
    for column in range(3):
        values = np.random.default_rng(seed + column).normal(0, 2, CODES[column])
        margins.add(column_cells(column, CODES[column]), values)
    return margins


def table_of(rows: list[tuple[int, int, int, int]]) -> MemoryTable:
    data = np.array(rows, np.int64).reshape(-1, 4)
    return MemoryTable([data[:, j].astype(np.uint8) for j in range(3)], data[:, 3].astype(np.uint8), CODES, 2)


def answers(rows: list[tuple[int, int, int, int]], bound: JointBound, margins: Margins) -> list[np.ndarray]:
    """The exact answers of all parts over a table of such rows."""
    table = table_of(rows)
    table.bind(bound, 1)
    histograms = [Histogram(part.cells, RULE, margins, part.release_map) for part in bound.parts]
    return [table.answer(JointHistogram(histogram, bound)) for histogram in histograms]


def shift(part: JointPart, change: np.ndarray) -> float:
    """How far an answer moved, in the units in which lengths add up."""
    return float(np.abs(change).sum() if isinstance(part.charge, Laplace) else (change**2).sum())


def moved(bound: JointBound, one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """How far answers are apart, each in its noise: what releasing all of them costs (squared, if Gaussian)."""
    pairs = zip(bound.parts, one, other, strict=True)
    return sum(part.precision * shift(part, a - b) for part, a, b in pairs)


def allowed(bound: JointBound, relation: Neighbouring, longest: tuple[int, int] = RULE.longest) -> float:
    """The same if every release cost its charge and no more."""
    stated = joint_sensitivity(bound, longest, relation)
    return sum(part.precision for part in bound.parts) * (stated.l1 if bound.is_laplace else stated.l2_squared)


row = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3), st.sampled_from([0, 1, DROPPED]))


@settings(max_examples=60, deadline=None)
@given(st.lists(row, max_size=6), row, row, st.integers(0, 60), st.booleans())
def test_no_row_moves_all_sums_by_more_than_is_charged(rows, one, other, seed, laplace):
    bound, margins = bound_of(seed, laplace=laplace), margins_of(seed)
    without, with_one, with_other = (answers(r, bound, margins) for r in (rows, [*rows, one], [*rows, other]))
    assert moved(bound, with_one, without) <= allowed(bound, ADD) * (1 + 1e-12)
    assert moved(bound, with_one, with_other) <= allowed(bound, REPLACE) * (1 + 1e-12)


def score_answers(rows: list[tuple[int, int, int, int]], bound: JointBound, seed: int, labelled: str):
    """The exact answers of all parts about rows with scores, and the norms of the longest vector of their rule."""
    data = np.array(rows, np.int64).reshape(-1, 4)
    labels, scores = data[:, 3].astype(np.uint8), Scores(3 if labelled == "classes" else 1)
    for column in range(3):
        values = np.random.default_rng(seed + column).normal(0, 2, (CODES[column], scores.n_scores))
        scores.add(column_cells(column, CODES[column]), values)
    rule: ScoreRule = SoftmaxRule(3)
    classes, targets = 3, None
    if labelled == "ordered":
        rule = ordered_rule(np.array([-0.5, 1.0]))
    if labelled == "numbers":
        targets = (np.arange(len(labels)) * 7919 + 13 * data[:, 0]).astype(np.int32) << 6
        labels, classes = np.where(labels == DROPPED, DROPPED, 0).astype(np.uint8), 1
        rule = ResidualRule(TargetScale(1 << 23, 1 << 18), 0, -(1 << 16), 1 << 16)
    table = MemoryTable([data[:, j].astype(np.uint8) for j in range(3)], labels, CODES, classes, targets=targets)
    table.bind(bound, 1)
    weights = LabelWeights.of((1.0,) * classes, level_weights())
    queries = [ScoreHistogram(part.cells, rule, scores, part.release_map, weights) for part in bound.parts]
    return [table.answer(JointHistogram(histogram, bound)) for histogram in queries], queries[0].longest


three = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3), st.sampled_from([0, 1, 2, DROPPED]))


@pytest.mark.sensitivity_of("JointHistogram")
@settings(max_examples=80, deadline=None)
@given(
    st.lists(three, max_size=4), three, three, st.integers(0, 60), st.sampled_from(["classes", "numbers", "ordered"]),
    st.booleans(),
)  # fmt: skip
def test_the_same_holds_for_rows_with_scores(rows, one, other, seed, labelled, laplace):
    bound = bound_of(seed, laplace=laplace)
    (without, longest), (with_one, _), (with_other, _) = (
        score_answers(r, bound, seed, labelled) for r in (rows, [*rows, one], [*rows, other])
    )
    for relation, pair in ((ADD, (with_one, without)), (REPLACE, (with_one, with_other))):
        assert moved(bound, *pair) <= allowed(bound, relation, longest) * (1 + 1e-12)


def test_what_weighs_rows_down_comes_last() -> None:
    """A residual clipped behind its weight could be as long as the clip in every part, however light the row."""
    bound = bound_of(0)
    rule = ResidualRule(TargetScale(1 << 23, 1 << 18), 0, -(1 << 16), 1 << 16, weighted_first=True)
    query = ScoreHistogram(bound.parts[0].cells, rule, Scores(1), bound.parts[0].release_map)
    with pytest.raises(ValueError, match="weighed down last"):
        JointHistogram(query, bound)
    made = JointWeights((1.0,)).histogram(bound.parts[0], rule, Scores(1))
    assert isinstance(made, ScoreHistogram)
    assert made.rule == replace(rule, weighted_first=False)


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
def test_a_limit_ten_percent_smaller_is_refuted(kind):
    """A row that is exactly as long as the limit weighs 1, and moves the sums by all that is charged for."""
    matrix = ReleaseMap.from_floats(np.array([[1.0, 0.0, 0.0, 0.0, 0.5]]), UNIT)
    flat = ReleaseMap.from_floats(np.array([[1.0, -1.0, 1.0]]), UNIT)
    parts = (JointPart("a", column_cells(0, 5), matrix, kind(1.0)), JointPart("b", column_cells(1, 3), flat, kind(1.0)))
    bound = JointBound(parts, UNIT + 1 if kind is Laplace else UNIT**2 + 1)
    margins = Margins()
    longest = answers([(0, 0, 0, 1)], bound, margins)
    nothing = [0 * answer for answer in longest]
    assert moved(bound, longest, nothing) > 0.99 * allowed(bound, ADD)
    opposite = answers([(0, 0, 0, 0)], bound, margins)  # the same places, the other label
    assert moved(bound, longest, opposite) > 0.99 * allowed(bound, REPLACE)


def test_what_noise_is_measured_by_to_the_last_unit() -> None:
    """The rule's longest vector times the limit, or its root: 3 of L1, 5 of squared L2; twice that where replaced."""
    gaussian, laplace = bound_of(3), bound_of(3, laplace=True)
    for relation, times in ((ADD, 1), (REPLACE, 2)):
        assert joint_sensitivity(gaussian, (3, 5), relation).l2_squared == times**2 * 5 * gaussian.limit
        assert joint_sensitivity(laplace, (3, 5), relation).l1 == times * 3 * laplace.limit


@pytest.mark.parametrize("laplace", [False, True])
def test_without_weighing_down_the_limit_does_not_hold(monkeypatch, laplace):
    """The search finds rows that are too long when all of them weigh 1: the property above can fail."""
    monkeypatch.setattr(JointBound, "levels", lambda self, lengths: np.full(len(lengths), N_LEVELS - 1))
    worst = 0.0
    for seed in range(10):
        bound = bound_of(seed, laplace=laplace)
        for a in range(5):
            longest = answers([(a, 0, 0, 1)], bound, Margins())
            worst = max(worst, moved(bound, longest, [0 * one for one in longest]) / allowed(bound, ADD))
    assert worst > 1.2


@settings(max_examples=40, deadline=None)
@given(row, st.integers(0, 60), st.sampled_from([1.0, 0.3, 1e-2, 1e-4]), st.integers(1, 4), st.booleans())
def test_many_rounds_at_changing_margins_and_light_classes_cost_no_more(one, seed, weight, rounds, laplace):
    """Shifts add up over rounds, and the longest vector is that of the weighted rule, truncated."""
    bound, rule = bound_of(seed, laplace=laplace), signed_margin_rule(lambda m: np.minimum(1.0, np.exp(-m)))
    weights, margins, total, most = JointWeights((weight, weight)), margins_of(seed), 0.0, 0.0
    table = table_of([one])
    table.bind(bound, 1)
    for number in range(rounds):
        for part in bound.parts:
            query = JointHistogram(weights.histogram(part, rule, margins), bound)
            answer = table.answer(query)
            total += part.precision * shift(part, answer)
            stated = query.joint_sensitivity(ADD)
            most += part.precision * (stated.l1 if laplace else stated.l2_squared)
            margins.add(column_cells(0, CODES[0]), np.random.default_rng(number).normal(0, 1, CODES[0]))
    assert total <= most * (1 + 1e-12)


def test_two_bounds_at_a_time_keep_to_their_own():
    tight, loose = bound_of(3, tightness=0.2), bound_of(3, tightness=5.0)
    table = table_of([(0, 0, 0, 1), (4, 2, 3, 0)])
    table.bind(loose, 1)
    before = table.answer(JointHistogram(Histogram(loose.parts[0].cells, RULE, Margins()), loose))
    table.bind(tight, 1)
    after = table.answer(JointHistogram(Histogram(loose.parts[0].cells, RULE, Margins()), loose))
    np.testing.assert_array_equal(before, after)
    shorter = table.answer(JointHistogram(Histogram(tight.parts[0].cells, RULE, Margins()), tight))
    assert np.abs(shorter).sum() < np.abs(after).sum()


@given(st.integers(1, 1 << 40) | st.integers(1 << 40, 1 << 60), st.integers(0, 60), st.booleans())
def test_the_level_is_the_highest_that_keeps_the_limit(length, seed, laplace):
    bound, weights = bound_of(seed, laplace=laplace), level_weights() ** (1 if laplace else 2)
    level = int(bound.levels(np.array([length]))[0])
    most = bound.limit * FINE
    assert weights[level] * length <= most
    if 0 < level < N_LEVELS - 1:
        assert weights[level + 1] * length > most * (1 - 1e-9)
    if level == N_LEVELS - 1:
        assert length <= most


@pytest.mark.parametrize("laplace", [False, True])
def test_lengths_are_rounded_up(laplace):
    bound = bound_of(5, laplace=laplace)
    total = sum(part.precision for part in bound.parts)
    for part, costs in zip(bound.parts, bound.costs, strict=True):
        exact = norms_of(part) * (part.precision / total * FINE)
        assert (costs >= exact).all()
        assert (costs <= exact + 1.001).all()


@pytest.mark.parametrize(
    ("kind", "entry", "limit"), [(Gaussian, 1 << 28, (1 << 34) - 1), (Laplace, 1 << 57, (1 << 46) - 1)]
)
def test_no_bit_of_a_length_is_lost_where_floats_hold_no_more(kind, entry, limit):
    """In rationals: costs are no smaller than shares of the norms, and no weighted length exceeds the limit."""
    generator, power = np.random.default_rng(0), 1 if kind is Laplace else 2
    images = [ReleaseMap(generator.integers(entry // 2, entry, (1, 50)), UNIT) for _ in range(12)]
    parts = tuple(
        JointPart(str(j), column_cells(j, 50), image, kind(generator.uniform(0.5, 5))) for j, image in enumerate(images)
    )
    bound = JointBound(parts, limit)
    total = sum(Fraction(part.precision) for part in parts)
    for part, costs in zip(parts, bound.costs, strict=True):
        for value, cost in zip(part.release_map.matrix[0].tolist(), costs.tolist(), strict=True):
            assert cost >= value**power * FINE * Fraction(part.precision) / total
    weights = level_weights()[:0:-1]
    for weight, length in zip(weights.tolist(), bound.lengths.tolist(), strict=True):
        assert Fraction(weight) ** power * length <= limit * FINE
    np.testing.assert_array_equal(bound.levels(bound.lengths), np.arange(N_LEVELS - 1, 0, -1))
    np.testing.assert_array_equal(bound.levels(bound.lengths + 1), np.arange(N_LEVELS - 2, -1, -1))


def test_rows_with_weights_of_their_own_weigh_the_product():
    bound = bound_of(7, tightness=0.2)
    own = np.array([N_LEVELS - 1, N_LEVELS - 11, 0, 5])
    labels = np.array([1, 0, 1, 0]) * N_LEVELS + own
    columns = [np.full(4, 2, np.uint8), np.full(4, 1, np.uint8), np.full(4, 3, np.uint8)]
    weighted = MemoryTable(columns, labels.astype(np.uint8), CODES, 2 * N_LEVELS)
    plain = MemoryTable(columns, np.array([1, 0, 1, 0], np.uint8), CODES, 2)
    weighted.bind(bound, N_LEVELS)
    plain.bind(bound, 1)
    together, joint = (table._blocks[0].bounded_labels(bound).astype(int) for table in (weighted, plain))
    lost = N_LEVELS - 1 - joint % N_LEVELS
    assert lost.min() > 0
    np.testing.assert_array_equal(together // N_LEVELS, [1, 0, 1, 0])
    np.testing.assert_array_equal(together % N_LEVELS, np.maximum(own - lost, 0))


def test_only_noise_that_is_added_and_cells_of_columns_are_taken():
    with pytest.raises(TypeError, match="NonPrivate"):
        JointPart("a", column_cells(0, 5), ReleaseMap.from_floats(np.eye(5)), NonPrivate())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="other cells may change"):
        JointPart("a", Cells(), ReleaseMap.from_floats(np.eye(5)), Gaussian(1.0))
    with pytest.raises(TypeError, match="one kind"):
        JointBound((bound_of(0).parts[0], bound_of(0, laplace=True).parts[1]), 5)


@pytest.mark.parametrize(
    ("kind", "entry", "limit"),
    [(Gaussian, 4_000_000_000, 1000), (Gaussian, 1, 1 << 40), (Laplace, 1 << 60, 1000), (Laplace, 1, 1 << 60)],
)
def test_lengths_that_do_not_fit_64_bits_are_refused(kind, entry, limit):
    """The square of 4e9 came out negative, so that the longest rows had their full weight."""
    matrix = ReleaseMap(np.array([[entry, 1], [0, 1]], np.int64), UNIT)
    with pytest.raises(ValueError, match="too long for lengths of 64 bits"):
        JointBound((JointPart("a", column_cells(0, 2), matrix, kind(1.0)),), limit)


@pytest.mark.parametrize(("kind", "entry"), [(Gaussian, 1 << 28), (Laplace, 1 << 57)])
def test_the_longest_images_that_fit_have_no_weight(kind, entry):
    matrix = ReleaseMap(np.array([[entry, 1], [0, 1]], np.int64), UNIT)
    bound = JointBound((JointPart("a", column_cells(0, 2), matrix, kind(1.0)),), 1000)
    assert bound.levels(bound.costs[0]).tolist() == [0, N_LEVELS - 1]


def test_a_digest_tells_bounds_apart():
    bound = bound_of(3)
    first, *others = bound.parts
    doubled = ReleaseMap(first.release_map.matrix * 2, UNIT)
    turned = ProductCells((0,), (np.arange(5)[::-1].copy(),), (5,))
    variants = [
        replace(bound, limit=bound.limit + 1),
        replace(bound, parts=(replace(first, release_map=doubled), *others)),
        replace(bound, parts=(replace(first, cells=turned), *others)),
        replace(bound, parts=(replace(first, charge=Gaussian(1.25)), *others)),
        replace(bound, parts=tuple(replace(p, charge=Gaussian(2 * p.charge.noise_multiplier)) for p in bound.parts)),
        replace(bound, parts=(*others, first)),
        bound_of(3, laplace=True),
    ]
    assert bound_of(3).digest == bound.digest
    assert len({bound.digest, *(variant.digest for variant in variants)}) == 1 + len(variants)
