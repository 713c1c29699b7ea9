"""Sums over dense rows as numbers worked out by hand: sensitivities, levels, integer vectors, capped scaling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.queries.dense.halfspace_log import (
    RADIUS_16,
    RADIUS_32,
    VECTOR_NORM,
    HalfspaceLog,
    Levels,
    MarginCounts,
    MeasureSize,
    quantise,
)
from tacit.queries.dense.moments import MULTIPLIER_BITS, MomentSum, ShortenedSquares
from tacit.queries.dense.vector_sum import TICKS, WEIGHT_LIMIT, CappedSum, VectorSum, capped_scaling, entitlements
from tests.queries.by_hand import ADD, REPLACE, moves


def test_sums_of_dense_rows() -> None:
    levels = Levels(10, 4)
    log = HalfspaceLog(9, 100)
    query = VectorSum(log, levels, np.array([0, -6, 3, 2]), 8)
    assert moves(query, ADD) == (3 * 600 + 1, 600**2)
    assert moves(query, REPLACE) == (3 * 1200 + 1, 1200**2)
    assert (query.unit, query.shape) == (800, (9,))
    VectorSum(log, levels, np.array([0, -WEIGHT_LIMIT, 0, 0]), 8)
    with pytest.raises(ValueError, match="exceed"):
        VectorSum(log, levels, np.array([0, -WEIGHT_LIMIT - 1, 0, 0]), 8)
    capped = CappedSum(log, levels, np.arange(4), 20, 3)
    assert moves(capped, ADD) == moves(capped, REPLACE) == (3 * 1600 + 1, 1600**2)
    assert capped.unit == 800
    for total, bits in ((0, 3), (20, 0), (20, 16)):
        with pytest.raises(ValueError, match=r"total|bits"):
            CappedSum(log, levels, np.arange(4), total, bits)
    for bits in (1, 15):
        CappedSum(log, levels, np.arange(4), 1, bits)
    size = MeasureSize(log, levels, np.array([1, 9, 3, 0]), 10)
    assert moves(size, ADD) == moves(size, REPLACE) == (9, 81)
    counts = MarginCounts(log, levels)
    assert (counts.unit, counts.shape) == (1024, (4, 2))
    assert moves(counts, ADD) == (1024, 1024**2)
    assert moves(counts, REPLACE) == (2048, 2 * 1024**2)


def test_moments_of_dense_rows() -> None:
    plain, squares = MomentSum(1, 9, 100), MomentSum(2, 9, 100)
    assert moves(plain, ADD) == (301, 100**2)
    assert moves(plain, REPLACE) == (601, 200**2)
    assert moves(squares, ADD) == (100**2, 100**4)
    assert moves(squares, REPLACE) == (2 * 100**2, 2 * 100**4)
    assert moves(MomentSum(2, 1, 100), REPLACE) == (100**2, 100**4)
    assert (plain.unit, squares.unit) == (100, 100**2)
    assert [MomentSum(2, 9, radius).square_shift for radius in (RADIUS_16, RADIUS_32)] == [0, 15]
    wide = MomentSum(2, 9, RADIUS_32)
    assert wide.unit == 1 << 29
    assert moves(wide, ADD) == (1 << 29, 1 << 58)


def test_shortened_squares_and_their_lengths() -> None:
    query = ShortenedSquares(9, 100, 3000)
    assert (query.shape, query.unit, query.length_weight) == ((10,), 100**2, 0.15)
    assert moves(query, ADD) == (9001 + 1500, 3000**2 + 1500**2)
    assert moves(query, REPLACE) == (2 * 9001 + 1500, 2 * 3000**2 + 1500**2)
    assert moves(ShortenedSquares(9, 100, 9000), ADD) == (100**2 + 4500, 9000**2 + 4500**2)  # no row has more in all
    assert moves(ShortenedSquares(1, 100, 3000), ADD) == (4500, 3000**2 + 1500**2)
    assert ShortenedSquares(9, RADIUS_32, 1 << 20).unit == 1 << 29
    for longest in (1, 100**2 + 1):
        with pytest.raises(ValueError, match="longest"):
            ShortenedSquares(9, 100, longest)
    one = 1 << MULTIPLIER_BITS
    lengths = np.array([0, 2999**2, 3000**2, 3001**2, 6000**2, 10_000**2])
    result = query.multipliers(lengths)
    assert result[:2].tolist() == [one, one]
    assert (result[2:] < one).all()
    assert all(int(m) ** 2 * int(length) <= (3000 * one) ** 2 for m, length in zip(result, lengths, strict=True))
    np.testing.assert_allclose(result[2:] / one, [1, 3000 / 3001, 0.5, 0.3], rtol=1e-3)


def test_entitlements_fall_from_one_to_nothing() -> None:
    table = entitlements(10)
    assert (table[0], table[-1]) == (1024, 0)
    for ticks in (1, TICKS, 5 * TICKS + 17):
        assert table[ticks] == math.floor(1024 * math.exp(-ticks / TICKS))
    assert len(table) == math.ceil(11 * math.log(2) * TICKS) + 2


def handed_out(rows: list[int], ticks: list[int], total: int, bits: int) -> list[int]:
    """Units of every row: tick by tick, level by level, row by row, until all are gone."""
    left, held = total << bits, [0] * sum(rows)
    owners = np.repeat(np.arange(len(rows)), rows)
    for clock in range(min(ticks) - len(entitlements(bits)), max(ticks) + 1):
        due = [int(entitlements(bits)[min(max(tick - clock, 0), len(entitlements(bits)) - 1)]) for tick in ticks]
        for row, level in enumerate(owners):
            more = min(due[level] - held[row], left)
            held[row], left = held[row] + more, left - more
        if left == 0:
            break
    return held


@pytest.mark.parametrize("total", [1, 3, 4, 8, 9, 20])
def test_capped_scaling_hands_out_units_one_by_one(total: int) -> None:
    rows, ticks = [2, 3, 0, 4], [0, 900, 1000, 2500]
    weights = capped_scaling(np.array(rows), np.array(ticks), total, 3)
    levels = np.repeat(np.arange(4), rows)
    held = weights.per_row(levels)
    assert held.tolist() == handed_out(rows, ticks, total, 3)
    assert held.sum() == min(total, 9) << 3
    assert held.max() <= 8
    for wrong in (np.array(rows[:3]), np.array([rows, rows])):
        with pytest.raises(ValueError, match="one tick per level"):
            capped_scaling(wrong, np.array(ticks), total, 3)
    with pytest.raises(ValueError, match="must not be negative"):
        capped_scaling(np.array(rows), np.array(ticks), -1, 3)


@pytest.mark.parametrize("total", [1, 2, 6, 7])
def test_units_finer_than_a_tick_are_handed_out_to_the_last(total: int) -> None:
    """A tick is worth up to 16 units of 2**-18 then: the row that the line ends in gets a part of them."""
    rows, ticks, one = [2, 3, 0, 4], np.array([0, 900, 1000, 2500]), 1 << 18
    held = capped_scaling(np.array(rows), ticks, total, 18).per_row(np.repeat(np.arange(4), rows))
    assert held.sum() == total << 18
    spread = 0
    for level in np.split(held, [2, 5]):
        assert np.all(np.diff(level) <= 0)
        assert level.max() - level.min() <= 16
        assert len({*level[1:-1].tolist()} - {level[0], level[-1]}) <= 1
        spread += level.max() > level.min()
    assert spread <= 1  # the line ends in one level
    measure = np.minimum(1.0, held[-1] / one * np.exp((2500 - np.repeat(ticks, rows)) / TICKS))
    assert held / one == pytest.approx(measure, abs=1e-3)


def test_levels_of_margins() -> None:
    levels = Levels(13, 8)
    assert levels.middles.tolist() == [(place - 4 + 0.5) / 8 for place in range(8)]
    for limit, shift in ((0.5, 13), (0.51, 14), (4.0, 16), (1e-9, 0)):
        assert Levels.covering(limit, 8).shift == shift
    for shift, count in ((-1, 8), (0, 0), (0, 7), (0, (1 << 16) + 2)):
        with pytest.raises(ValueError, match="levels need"):
            Levels(shift, count)
    Levels(0, 2)
    Levels(0, 1 << 16)


def test_vectors_as_integers_and_the_steps_they_make() -> None:
    integers, unit = quantise(np.array([3.0, -4.0]))
    assert unit == pytest.approx(5 / 32766, rel=1e-12)
    assert integers.tolist() == [19659, -26212]
    assert math.hypot(*integers.astype(float)) <= VECTOR_NORM
    assert quantise(np.zeros(2))[1] == 1.0
    log = HalfspaceLog(2, RADIUS_16)
    log.add([3.0, -4.0], 0.25)
    [step] = log.steps
    assert step.limit == 16384
    assert step.multiplier / 2.0**step.shift == pytest.approx(unit * 0.25 * 65536 / RADIUS_16, rel=1e-6)
    assert 1 << 23 < step.multiplier <= 1 << 24
    log.add_sign(np.array([1, 2]))
    assert (log.steps[1].limit, log.steps[1].multiplier, log.steps[1].shift) == (65536, 1, 0)
    assert log.reach == 1.25
    log.add([3.0, -4.0], 1024.0)
    for step_length in (0.0, 1024.5):
        with pytest.raises(ValueError, match="step must"):
            log.add([3.0, -4.0], step_length)
    for wrong in ([3.0], [3.0, 4.0, 5.0], [[3.0, 4.0]]):
        with pytest.raises(ValueError, match="that many"):
            log.add(wrong)
        with pytest.raises(ValueError, match="that many"):
            log.add_sign(np.array(wrong, np.int64))
    assert (RADIUS_16, RADIUS_32, VECTOR_NORM) == (32767, 4194304, 32767)
    log.add_sign(np.array([VECTOR_NORM, 0]))
    with pytest.raises(ValueError, match="length at most"):
        log.add_sign(np.array([VECTOR_NORM, 1]))


def test_capped_scaling_hands_out_the_last_units_too() -> None:
    """At 15 bits a tick is worth two units of a row: one row may get one of them."""
    parts = []
    for rows in (5, 7, 11):
        for total in range(1, rows):
            weights = capped_scaling(np.array([rows]), np.array([0]), total, 15)
            held = weights.per_row(np.zeros(rows, np.int64))
            assert held.sum() == total << 15
            assert np.ptp(held) <= 2
            assert (np.diff(held) <= 0).all()
            parts.append(weights.partial)
    assert max(parts) == 1
