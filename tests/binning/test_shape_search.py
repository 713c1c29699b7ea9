"""Searching for a column's shape: what a question costs, and that the answers find where rows lie."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.binning.shape_search import ShapeSearch
from tacit.binning.tuning import SEARCHING
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.rules import COUNT_UNIT, fine_count_rule

CODES = 4097
RULE = fine_count_rule(2)


def gate(codes: np.ndarray, n_codes: int, allowance: Allowance, seed: int = 1) -> Curator:
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([codes.astype(np.uint16)], np.zeros(len(codes), np.uint8), [n_codes], 2)
    return Curator(table, reservation, SeededSource(seed))


def search(codes: np.ndarray, n_codes: int, allowance: Allowance, seed: int = 1) -> ShapeSearch:
    curator, result = gate(codes, n_codes, allowance, seed), ShapeSearch(0, n_codes, float(len(codes)))
    for part in (0.5, 0.5):
        query = result.query(RULE, allowance.sd(part), allowance.is_pure)
        result.observe(curator.measure(query, allowance.charge(part), "shape"))
    return result


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("n_codes", [2, 3, 12, 300, 4097, 9000])
def test_a_row_moves_the_answers_by_at_most_one(n_codes, pure):
    result = ShapeSearch(0, n_codes, 1000.0)
    for sd in (5000.0, 50.0, 1.0):
        query = result.query(RULE, sd, pure)
        moved = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE)
        assert query.cells.size == query.release_map.matrix.shape[1]
        if pure:
            assert moved.l1 <= query.unit
        assert moved.l2_squared <= query.unit**2
        assert query.unit % COUNT_UNIT == 0


def test_a_row_is_seen_whatever_its_value():
    """Every code has an image of a length that noise was measured by: no value costs budget for nothing."""
    matrix = ShapeSearch(0, CODES, 1000.0).query(RULE, 50.0, False).release_map.matrix
    lengths = np.sqrt((matrix.astype(float) ** 2).sum(axis=0)) / 4096
    assert np.median(lengths) > 0.95


@pytest.mark.parametrize("n_codes", [2, 3, 12, 9000])
def test_masses_of_any_encoding(n_codes):
    codes = np.random.default_rng(0).integers(0, n_codes, 3000)
    result = search(codes, n_codes, Allowance.of(0.1, 1e-6))
    masses = result.masses
    assert masses.shape == (len(result.widths) + 1,)
    assert result.widths.sum() == n_codes - 1
    assert len(result.widths) == min(n_codes - 1, SEARCHING.leaves)
    assert (masses >= 0).all()
    assert masses.sum() == pytest.approx(3000)


def test_beliefs_follow_from_releases_alone():
    codes = np.random.default_rng(0).integers(0, 2000, 3000)
    once, again = (search(codes, CODES, Allowance.of(0.1, 1e-6)).masses for _ in range(2))
    assert (once == again).all()


@pytest.mark.parametrize("n_codes", [129, 5000, 65_536])
def test_a_window_is_made_of_whole_parts(n_codes):
    """Else what one search found of a window would not fit into what another found of the rest."""
    codes = np.random.default_rng(0).normal(0.3 * n_codes, 0.004 * n_codes, 20_000).astype(np.int64)
    result = search(np.clip(codes, 0, n_codes - 2), n_codes, Allowance.of(1.0, 1e-6))
    first, stop = result.narrow
    starts = np.append(0, np.cumsum(result.widths))
    assert {first, stop} <= set(starts.tolist())
    assert first <= 0.29 * n_codes < 0.31 * n_codes <= stop
    assert stop - first <= n_codes * 4 / SEARCHING.narrow_parts + 1
