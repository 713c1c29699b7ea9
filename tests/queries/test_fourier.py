"""Random Fourier features and scatter: no row is longer than declared, no neighbour moves an answer by more."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.additive.ordered_loss import ordered_rule
from tacit.encoding.values import DROPPED
from tacit.engines.memory import MemoryTable
from tacit.models.fourier_features import COSINES, LENGTH, SINES, FourierFeatures, FourierTerm
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.fourier import ScatterSum, ScoreFourierSum
from tacit.queries.histogram import ScoreHistogram
from tacit.queries.margins import SCORE_LIMIT, Scores
from tacit.queries.row_weights import LabelWeights
from tacit.queries.rules import MARGIN_BITS, count_rule, signed_margin_rule
from tacit.queries.score_rules import ResidualRule, ScoreRule, SoftmaxRule, TargetScale

CODES = (5, 3, 4)
ROW = st.tuples(*(st.integers(0, codes - 1) for codes in CODES), st.sampled_from([0, 1, DROPPED]))


def features_of(seed: int, pairs: int = 6) -> FourierFeatures:
    generator = np.random.default_rng(seed)
    scores = tuple(generator.normal(size=codes) for codes in CODES)
    return FourierFeatures((0, 1, 2), scores, generator.normal(size=(pairs, 3)))


def table_of(rows: list[tuple[int, ...]], threads: int = 1) -> MemoryTable:
    data = np.array(rows, dtype=np.int64).reshape(-1, 4)
    columns = [data[:, j].astype(np.uint8) for j in range(3)]
    return MemoryTable(columns, data[:, 3].astype(np.uint8), CODES, 2, threads)


def scatter_of(seed: int, longest: int = 200) -> ScatterSum:
    generator = np.random.default_rng(seed)
    scores = tuple(generator.integers(-150, 150, codes) for codes in CODES)
    return ScatterSum((0, 1, 2), scores, longest, count_rule(2))


def test_no_pair_of_cosine_and_sine_is_too_long():
    lengths = COSINES.astype(int) ** 2 + SINES.astype(int) ** 2
    assert lengths.max() <= LENGTH**2
    assert lengths.min() > (LENGTH - 2) ** 2


def test_features_are_cosines_and_sines_of_sums_over_columns():
    features = features_of(1, 40)
    generator = np.random.default_rng(2)
    codes = [generator.integers(0, size, 300).astype(np.uint8) for size in CODES]
    numbers = np.stack([z[c] for z, c in zip(features.scores, codes, strict=True)], axis=1)
    angles = numbers @ features.frequencies.T
    expected = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    np.testing.assert_allclose(features.of(codes) / LENGTH, expected, atol=0.015)


def test_a_row_s_vector_does_not_depend_on_other_rows():
    features, generator = features_of(3), np.random.default_rng(4)
    codes = [generator.integers(0, size, 9000).astype(np.uint8) for size in CODES]
    whole, rest = features.of(codes), features.of([column[17:] for column in codes])
    assert np.array_equal(whole[17:], rest)


@pytest.mark.sensitivity_of("ScatterSum")
@settings(max_examples=100, deadline=None)
@given(st.lists(ROW, max_size=6), ROW, ROW, st.integers(0, 30))
def test_no_neighbour_moves_scatter_by_more(rows, one, other, seed):
    query = scatter_of(seed)
    base, first, second = (table_of(each).answer(query) for each in (rows, [*rows, one], [*rows, other]))
    for relation, gap in ((Neighbouring.ADD_OR_REMOVE_ONE, first - base), (Neighbouring.REPLACE_ONE, first - second)):
        bound = query.sensitivity(relation)
        assert int((gap * gap).sum()) <= bound.l2_squared
        assert int(np.abs(gap).sum()) <= bound.l1


def test_the_bounds_of_scatter_are_needed():
    """One row along a column, another along another one."""
    scores = (np.array([0, 100]), np.array([0, 100]))
    query = ScatterSum((0, 1), scores, 100, count_rule(2))

    def answer(first: int, second: int) -> np.ndarray:
        codes = [np.array([first], np.uint8), np.array([second], np.uint8)]
        return MemoryTable(codes, np.zeros(1, np.uint8), (2, 2), 2).answer(query)

    alone, other = answer(1, 0), answer(0, 1)
    assert (alone**2).sum() == query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2_squared
    assert ((alone - other) ** 2).sum() == query.sensitivity(Neighbouring.REPLACE_ONE).l2_squared


RULES: dict[str, tuple[ScoreRule, int]] = {
    "classes": (SoftmaxRule(2), 2),
    "classes, L1": (SoftmaxRule(2, 1), 2),
    "ordered": (ordered_rule(np.zeros(1)), 1),
    "numbers": (ResidualRule(TargetScale(1 << 23, 1 << 20), 0, -3000, 4000), 1),
}
"""Rules of a row's scores, and how many scores it has."""

HALVES = LabelWeights(np.arange(2, dtype=np.uint8), np.array([1 << 14, 1 << 15], np.int64))


def scores_of(features: FourierFeatures, seed: int, n_scores: int) -> Scores:
    generator, scores = np.random.default_rng(seed), Scores(n_scores)
    scores.add(column_cells(0, CODES[0]), generator.normal(0, 2, (CODES[0], n_scores)))
    scores.add_features(features, generator.normal(0, 2, (features.size, n_scores)))
    return scores


def numbered(rows: list[tuple[int, ...]], seed: int, threads: int = 1) -> MemoryTable:
    """A table whose rows have a class and a target that follows from their codes and the seed."""
    data = np.array(rows, dtype=np.int64).reshape(-1, 4)
    targets = ((data @ np.array([3_000_017, 1_700_003, 5_000_011, 900_001]) + seed * 777_777) % (1 << 24)).astype(
        np.int32
    )
    columns = [data[:, j].astype(np.uint8) for j in range(3)]
    return MemoryTable(columns, data[:, 3].astype(np.uint8), CODES, 2, threads, targets=targets)


@pytest.mark.sensitivity_of("ScoreFourierSum")
@pytest.mark.parametrize("weights", [None, HALVES], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("kind", list(RULES))
@settings(max_examples=40, deadline=None)
@given(rows=st.lists(ROW, max_size=6), one=ROW, other=ROW, seed=st.integers(0, 30))
def test_no_neighbour_moves_features_of_scores_by_more(kind, weights, rows, one, other, seed):
    (rule, n_scores), features = RULES[kind], features_of(seed)
    query = ScoreFourierSum(features, rule, scores_of(features, seed, n_scores), weights)
    lists = (rows, [*rows, one], [*rows, other])
    present = [[row for row in each if row[3] != DROPPED] for each in lists]
    base, first, second = (numbered(each, seed).answer(query) for each in present)
    for relation, gap in ((Neighbouring.ADD_OR_REMOVE_ONE, first - base), (Neighbouring.REPLACE_ONE, first - second)):
        bound = query.sensitivity(relation)
        assert int((gap * gap).sum()) <= bound.l2_squared
        assert int(np.abs(gap).sum()) <= bound.l1


def test_the_bounds_of_features_of_scores_are_needed():
    """Residuals that are clipped, at scores where every phase is 0 or half a turn."""
    whole = FourierFeatures((0,), (np.array([0.0, np.pi]),), np.ones((5, 1)))
    query = ScoreFourierSum(whole, ResidualRule(TargetScale(0, 1 << 20), 0, -3000, 3000), Scores(1))
    far, label = np.array([1 << 23], np.int32), np.zeros(1, np.uint8)
    first, second = (
        MemoryTable([np.array([code], np.uint8)], label, (2,), 1, targets=far).answer(query).astype(float)
        for code in (0, 1)
    )
    adding, replacing = (query.sensitivity(relation).l2_squared for relation in Neighbouring)
    assert 0.97 * adding < (first**2).sum() <= adding
    assert 0.97 * replacing < ((first - second) ** 2).sum() <= replacing


@pytest.mark.parametrize("weights", [None, HALVES], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("threads", [1, 3])
def test_features_times_residuals_are_those_of_the_definition(threads, weights, monkeypatch):
    monkeypatch.setattr("tacit.engines.rows.BLOCK", 100)
    monkeypatch.setattr("tacit.engines.fourier_rows.BLOCK", 64)
    monkeypatch.setattr("tacit.engines.score_rows.BLOCK", 64)
    generator, (rule, _) = np.random.default_rng(7), RULES["numbers"]
    rows = [(*(int(generator.integers(codes)) for codes in CODES), int(generator.integers(2))) for _ in range(3000)]
    features, scores, data = features_of(8, 20), Scores(1), np.array(rows)
    table = numbered(rows, 3, threads)
    targets = (data @ np.array([3_000_017, 1_700_003, 5_000_011, 900_001]) + 3 * 777_777) % (1 << 24)
    vectors = features.of([data[:, j].astype(np.uint8) for j in range(3)]).astype(np.int64)
    exact = np.zeros(len(rows), np.int64)
    for _ in range(3):
        residuals = (((targets - rule.scale.offset) * rule.scale.numerator) >> 24) - exact
        contributed = np.clip(residuals, rule.low, rule.high)
        if weights is not None:
            lighter = (np.abs(contributed) * weights.factors[data[:, 3]]) >> 15
            contributed = np.sign(contributed) * lighter
        query = ScoreFourierSum(features, rule, scores, weights)
        assert np.array_equal(table.answer(query), (contributed @ vectors)[:, None])
        given_back = scores.add_features(features, generator.normal(size=(features.size, 1)))
        entry = scores.updates[-1]
        exact += (vectors @ entry.weights[0].astype(np.int64)) >> entry.shift
        term = FourierTerm(features, given_back, 0.0, 0.0)
        said = term.score([data[:, j].astype(np.uint8) for j in range(3)])
        np.testing.assert_allclose(
            said[:, 0], (vectors @ entry.weights[0]) / 2.0 ** (MARGIN_BITS + entry.shift), atol=1e-9
        )
    assert scores.reach >= np.abs(exact).max()


def test_features_times_softmax_residuals_are_those_of_a_histogram_of_rows():
    """A cell for every row: what the histogram says of it, times its vector."""
    generator = np.random.default_rng(12)
    codes = np.arange(200, dtype=np.uint8)
    labels = generator.integers(0, 3, 200).astype(np.uint8)
    table = MemoryTable([codes], labels, (200,), 3)
    features = FourierFeatures((0,), (generator.normal(size=200),), generator.normal(size=(7, 1)))
    scores, rule = Scores(3), SoftmaxRule(3)
    scores.add(column_cells(0, 200), generator.normal(0, 2, (200, 3)))
    scores.add_features(features, generator.normal(0, 2, (features.size, 3)))
    alone = table.answer(ScoreHistogram(column_cells(0, 200), rule, scores))
    expected = features.of([codes]).astype(np.int64).T @ alone
    assert np.array_equal(table.answer(ScoreFourierSum(features, rule, scores)), expected)


def test_scores_never_leave_their_bits():
    features, scores = features_of(9), Scores(2)
    for _ in range(5):
        scores.add_features(features, np.full((features.size, 2), 1e4))
    assert scores.reach <= SCORE_LIMIT + 10
    for entry in scores.updates:
        assert LENGTH * int(np.abs(entry.weights.astype(np.int64)).sum(axis=1).max()) < 1 << 31


@pytest.mark.parametrize("threads", [1, 3])
def test_scatter_is_that_of_shortened_rows(threads, monkeypatch):
    monkeypatch.setattr("tacit.engines.rows.BLOCK", 100)
    generator = np.random.default_rng(5)
    rows = [(*(int(generator.integers(codes)) for codes in CODES), int(generator.integers(2))) for _ in range(5000)]
    query = scatter_of(6, longest=160)
    expected = np.zeros((3, 3), np.int64)
    for row in rows:
        z = [int(query.scores[j][row[j]]) for j in range(3)]
        square = sum(value * value for value in z)
        if square > 160**2:
            root = int(np.ceil(np.sqrt(square)))
            z = [int(np.sign(value)) * (abs(value) * 160 // root) for value in z]
        expected += np.outer(z, z)
    answer = table_of(rows, threads).answer(query)
    np.testing.assert_allclose(query.matrix(answer.astype(float)) / 5, expected, rtol=1e-12)


def test_what_is_not_a_map_is_refused():
    features = features_of(10)
    with pytest.raises(ValueError, match="frequency and scores"):
        FourierFeatures((0, 1), (np.zeros(2),), np.ones((3, 2)))
    with pytest.raises(ValueError, match="at least"):
        FourierFeatures((), (), np.ones((3, 0)))
    with pytest.raises(ValueError, match="finite weights"):
        Scores(1).add_features(features, np.full((features.size, 1), np.nan))
    with pytest.raises(ValueError, match="finite weights"):
        Scores(2).add_features(features, np.zeros((features.size, 3)))
    with pytest.raises(ValueError, match="looks at 2 scores"):
        ScoreFourierSum(features, SoftmaxRule(2), Scores(3))
    with pytest.raises(ValueError, match="without margins"):
        ScatterSum((0,), (np.arange(5),), 10, signed_margin_rule(lambda margin: np.ones_like(margin)))
    short = FourierFeatures((0,), (np.zeros(2),), np.ones((3, 1)))
    with pytest.raises(ValueError, match="5 codes, and 2 of them"):
        table_of([]).answer(ScoreFourierSum(short, SoftmaxRule(2), Scores(2)))
