"""Dense rows: the engine's answers are the definition's, bit for bit, and no row moves them by more than stated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tacit.encoding.values import DROPPED
from tacit.engines.blocks import MemoryTable
from tacit.engines.dense import DenseRows
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.halfspace_log import (
    DENSE_COUNT_UNIT,
    RADIUS_16,
    RADIUS_32,
    HalfspaceLog,
    Levels,
    MarginCounts,
    MeasureSize,
)
from tacit.queries.dense.moments import MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import TICKS, CappedSum, VectorSum
from tests.queries.dense_margins import fixed_margins

LEVELS = Levels.covering(8.0, 256)


def integer_rows(rng: np.random.Generator, n: int, d: int, radius: int) -> np.ndarray:
    rows = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0], (n, d))
    rows /= np.maximum(1e-9, np.linalg.norm(rows, axis=1, keepdims=True))
    return np.trunc(rows * (radius - 1)).astype(np.int64)


def storage(rows: np.ndarray, kind: str) -> DenseRows:
    d = rows.shape[1]
    if kind == "sparse":
        matrix = sparse.csr_matrix(rows)
        return DenseRows(
            matrix.data.astype(np.int32), RADIUS_32, d, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64)
        )
    return DenseRows(rows.astype(kind), RADIUS_16 if kind == "int16" else RADIUS_32, d)


def radius_of(kind: str) -> int:
    return RADIUS_16 if kind == "int16" else RADIUS_32


def table(rows: DenseRows, labels: np.ndarray, threads: int = 1) -> MemoryTable:
    return MemoryTable([], labels.astype(np.uint8), (), 2, threads=threads, dense=rows)


def log_of(rng: np.random.Generator, d: int, radius: int, steps: int = 3) -> HalfspaceLog:
    log = HalfspaceLog(d, radius)
    for _ in range(steps):
        log.add(rng.normal(size=d) * rng.choice([0.2, 3.0]), step=float(rng.choice([0.3, 1.0, 2.0])))
    return log


def levels_by_definition(log: HalfspaceLog, rows: np.ndarray, signs: np.ndarray) -> np.ndarray:
    half = LEVELS.count // 2
    return np.clip(((signs * fixed_margins(log, rows)) >> LEVELS.shift) + half, 0, LEVELS.count - 1)


def stateless(log: HalfspaceLog) -> VectorSum:
    weights = np.floor(1024 / (1 + np.exp(np.clip(LEVELS.middles, -30, 30)))).astype(np.int64)
    return VectorSum(log, LEVELS, weights, 1024)


def capped(log: HalfspaceLog, total: int) -> CappedSum:
    return CappedSum(log, LEVELS, np.rint(LEVELS.middles * 6 * TICKS).astype(np.int64), total)


@pytest.mark.parametrize("kind", ["int16", "int32", "sparse"])
@pytest.mark.parametrize("threads", [1, 3])
def test_answers_are_the_definition(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tacit.engines.dense.THREAD_CELLS", 64)
    rng = np.random.default_rng(5)
    rows = integer_rows(rng, 300, 7, radius_of(kind))
    labels = rng.integers(0, 2, 300)
    signs = 2 * labels - 1
    engine = table(storage(rows, kind), labels, threads)
    log = HalfspaceLog(7, radius_of(kind))
    for _ in range(4):  # the log grows between queries, as in boosting; the cache must follow
        levels = levels_by_definition(log, rows, signs)
        query = stateless(log)
        np.testing.assert_array_equal(engine.answer(query), (signs * query.table[levels]) @ rows)
        bounded = capped(log, 40)
        weights = bounded.weights(np.bincount(levels, minlength=256).astype(np.int64)).per_row(levels)
        np.testing.assert_array_equal(engine.answer(bounded), (signs * weights) @ rows)
        size = MeasureSize(log, LEVELS, query.table, 1024)
        np.testing.assert_array_equal(engine.answer(size), [query.table[levels].sum()])
        counts = np.zeros((256, 2), np.int64)
        np.add.at(counts, (levels_by_definition(log, rows, np.ones(300, np.int64)), labels), 1)
        np.testing.assert_array_equal(engine.answer(MarginCounts(log, LEVELS)), counts * DENSE_COUNT_UNIT)
        log.add(rng.normal(size=7), step=1.5)
        log.add(rng.normal(size=7) * 0.1)


@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 32, 33, 128, 150])
@pytest.mark.parametrize("n", [1, 3, 6, 41])
def test_short_rows_are_read_with_what_lies_behind_them_and_answers_do_not_show_it(width: int, n: int) -> None:
    rng = np.random.default_rng(width)
    rows = integer_rows(rng, n, width, RADIUS_16)
    rows[0] = 0
    rows[0, -1] = RADIUS_16  # the longest row there can be, beside the longest vector
    labels = rng.integers(0, 2, n)
    signs, log = 2 * labels - 1, HalfspaceLog(width)
    log.add(np.eye(width)[-1] * 0.7)
    log.add(rng.normal(size=width), 2.0)
    levels = levels_by_definition(log, rows, signs)
    engine, query = table(storage(rows, "int16"), labels), stateless(log)
    np.testing.assert_array_equal(engine.answer(query), (signs * query.table[levels]) @ rows)
    bounded = capped(log, max(1, n // 2))
    weights = bounded.weights(np.bincount(levels, minlength=256).astype(np.int64)).per_row(levels)
    np.testing.assert_array_equal(engine.answer(bounded), (signs * weights) @ rows)


@pytest.mark.parametrize("kind", ["int16", "int32", "sparse"])
def test_margins_beyond_32_bits(kind: str) -> None:
    rng = np.random.default_rng(4)
    rows, labels = integer_rows(rng, 50, 3, radius_of(kind)), rng.integers(0, 2, 50)
    engine, log = table(storage(rows, kind), labels), HalfspaceLog(3, radius_of(kind))
    levels = Levels(20, 1 << 16)
    for _ in range(45):  # 1024 units of margin a step
        log.add(np.array([50.0, 1.0, 0.0]), 1024.0)
        counts = engine.answer(MarginCounts(log, levels)).sum(axis=1) // DENSE_COUNT_UNIT
    margins = fixed_margins(log, rows)
    assert np.abs(margins).max() > 1 << 31
    expected = np.bincount((margins >> 20) + (1 << 15), minlength=1 << 16)
    np.testing.assert_array_equal(counts, expected)


def test_integer_margins_agree_with_real_ones() -> None:
    rng = np.random.default_rng(2)
    rows = integer_rows(rng, 50, 30, RADIUS_16)
    log, exact = HalfspaceLog(30), np.zeros(50)
    for step in (0.5, 1.0, 2.0):
        direction = rng.normal(size=30)
        log.add(direction, step)
        exact += step * np.clip(rows @ direction / RADIUS_16, -1, 1)
    np.testing.assert_allclose(fixed_margins(log, rows) / 2**16, exact, atol=2e-3)
    assert log.reach == pytest.approx(3.5)


@pytest.mark.parametrize("width", [3, 127, 128, 4100])
@pytest.mark.parametrize("weight", [1 << 10, 1 << 15])
def test_partial_sums_do_not_overflow(width: int, weight: int) -> None:
    """All mass on one coordinate at full weight, many rows: the worst case of the 32-bit sums, wide and narrow."""
    rows = np.zeros((1003, width), np.int64)
    rows[:, -1] = RADIUS_16
    log = HalfspaceLog(width)
    log.add(np.eye(width)[-1])
    query = VectorSum(log, LEVELS, np.full(256, weight, np.int64), weight)
    answer = table(storage(rows, "int16"), np.ones(1003)).answer(query)
    assert answer[-1] == 1003 * RADIUS_16 * weight
    assert not answer[:-1].any()
    wide = integer_rows(np.random.default_rng(0), 70, width, RADIUS_16)
    signs = np.where(np.arange(70) % 3, 1, -1)
    mixed = table(storage(wide, "int16"), (signs > 0).astype(int)).answer(
        VectorSum(HalfspaceLog(width), LEVELS, np.full(256, weight, np.int64), weight)
    )
    np.testing.assert_array_equal(mixed, weight * (signs @ wide))


def test_dropped_rows_are_left_out() -> None:
    rng = np.random.default_rng(8)
    rows = integer_rows(rng, 60, 5, RADIUS_32)
    labels = rng.integers(0, 2, 60).astype(np.uint8)
    keep = rng.random(60) < 0.5
    log = log_of(rng, 5, RADIUS_32)
    for kind in ("int32", "sparse"):
        all_rows = table(storage(rows, kind), np.where(keep, labels, DROPPED))
        some = table(storage(rows[keep], kind), labels[keep])
        np.testing.assert_array_equal(all_rows.answer(stateless(log)), some.answer(stateless(log)))


def test_rows_that_are_too_long_cannot_be_sealed() -> None:
    with pytest.raises(ValueError, match="longer than the radius"):
        DenseRows(np.full((2, 2), RADIUS_16, np.int16), RADIUS_16, 2)
    with pytest.raises(ValueError, match="longer than the radius"):
        storage(np.full((1, 2), RADIUS_32), "sparse")
    rows = storage(np.full((2, 2), 5), "int16")
    with pytest.raises(ValueError, match="over 3 features"):
        table(rows, np.ones(2)).answer(stateless(HalfspaceLog(3)))


def movement(query_of: object, kind: str, seed: int, relation: Neighbouring) -> float:
    """The largest movement found between neighbours, as a share of the declared L2 sensitivity."""
    rng = np.random.default_rng(seed)
    radius, worst = radius_of(kind), 0.0
    for _ in range(60):
        n, d = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        poles = np.zeros((n, d), np.int64)
        poles[:, 0] = rng.choice([-radius, radius], n)
        if d > 1 and rng.random() < 0.5:
            poles[-1] = np.roll(poles[-1], 1)
        rows = poles if rng.random() < 0.8 else integer_rows(rng, n, d, radius)
        labels = rng.integers(0, 2, n)
        log = log_of(rng, d, radius, int(rng.integers(0, 3)))
        query = query_of(log, int(rng.integers(1, 4)))  # type: ignore[operator]
        whole = table(storage(rows, kind), labels).answer(query)
        other = rows.copy()
        if relation is Neighbouring.REPLACE_ONE:
            other[-1] = -other[-1] if rng.random() < 0.5 else np.roll(other[-1], 1)
            if rng.random() < 0.5:
                other[-1], labels = rows[-1], np.append(labels[:-1], 1 - labels[-1])
        else:
            other, labels = other[:-1], labels[:-1]
        moved = (whole - table(storage(other, kind), labels).answer(query)).astype(float)
        bound = query.sensitivity(relation)
        assert np.abs(moved).sum() <= bound.l1
        worst = max(worst, float(np.linalg.norm(moved)) / bound.l2)
    return worst


def size_of_measure(log: HalfspaceLog, total: int) -> MeasureSize:
    del total
    return MeasureSize(log, LEVELS, np.where(LEVELS.middles < 0.2, 1024, 0).astype(np.int64), 1024)


def counts_by_margin(log: HalfspaceLog, total: int) -> MarginCounts:
    del total
    return MarginCounts(log, LEVELS)


def first_moment(log: HalfspaceLog, total: int) -> MomentSum:
    del total
    return MomentSum(1, log.n_features, log.radius)


def second_moment(log: HalfspaceLog, total: int) -> MomentSum:
    del total
    return MomentSum(2, log.n_features, log.radius)


def shortened(log: HalfspaceLog, total: int) -> ShortenedSquares:
    unit = MomentSum(2, log.n_features, log.radius).unit
    return ShortenedSquares(log.n_features, log.radius, unit // (total + 1))


def half_weight(log: HalfspaceLog, total: int) -> VectorSum:
    del total
    return VectorSum(log, LEVELS, np.where(LEVELS.middles < 1.0, 1024, 300).astype(np.int64), 1024)


@pytest.mark.sensitivity_of("VectorSum", "CappedSum", "MeasureSize", "MarginCounts", "MomentSum", "ShortenedSquares")
@pytest.mark.parametrize("kind", ["int16", "sparse"])
@pytest.mark.parametrize("relation", list(Neighbouring))
@pytest.mark.parametrize(
    "query_of", [half_weight, capped, size_of_measure, counts_by_margin, first_moment, second_moment, shortened]
)
def test_sensitivity_holds_and_is_attained(kind: str, relation: Neighbouring, query_of: object) -> None:
    worst = movement(query_of, kind, 11, relation)
    assert worst <= 1.0
    assert worst > 0.9  # a constant 10 % smaller would be refuted


@pytest.mark.parametrize("kind", ["int16", "int32", "sparse"])
def test_moments_are_the_definition(kind: str) -> None:
    rng = np.random.default_rng(9)
    rows = integer_rows(rng, 200, 6, radius_of(kind))
    engine = table(storage(rows, kind), rng.integers(0, 2, 200), threads=2)
    np.testing.assert_array_equal(engine.answer(MomentSum(1, 6, radius_of(kind))), rows.sum(axis=0))
    squares = MomentSum(2, 6, radius_of(kind))
    np.testing.assert_array_equal(engine.answer(squares), ((rows * rows) >> squares.square_shift).sum(axis=0))
    assert squares.unit < 1 << 30
    with pytest.raises(ValueError, match="radius"):
        engine.answer(MomentSum(1, 6, 99))


@pytest.mark.parametrize("kind", ["int16", "int32", "sparse"])
def test_squares_are_shortened_to_the_length_that_was_asked_for(kind: str) -> None:
    rng = np.random.default_rng(10)
    radius = radius_of(kind)
    rows = integer_rows(rng, 200, 6, radius)
    rows[:20] = np.trunc(rows[:20] / 3)
    rows[20:30, 1:] = 0
    rows[30] = 0
    unit = MomentSum(2, 6, radius).unit
    query = ShortenedSquares(6, radius, unit // 3)
    squares = (rows * rows) >> query.square_shift
    norms = np.linalg.norm(squares.astype(float), axis=1)
    factors = np.minimum(1.0, query.longest / np.maximum(norms, 1.0))
    assert 20 < (factors < 1).sum() < 180
    answer = table(storage(rows, kind), rng.integers(0, 2, 200), threads=2).answer(query)
    np.testing.assert_allclose(answer[:-1], (squares * factors[:, None]).sum(axis=0), atol=2 * len(rows))
    np.testing.assert_allclose(answer[-1], squares.sum() * query.length_weight, rtol=1e-6, atol=2 * len(rows))
    assert query.length_weight == pytest.approx(1 / 6)
    for row in rows[:40]:
        (*alone, length) = table(storage(row[None], kind), np.ones(1, np.int64)).answer(query).tolist()
        assert sum(value * value for value in alone) <= query.longest**2
        assert 0 <= length <= query.longest // 2
    with pytest.raises(ValueError, match="radius"):
        table(storage(rows, kind), np.ones(200)).answer(ShortenedSquares(6, 99, 50))
