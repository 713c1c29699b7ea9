"""The family of shapes, what is asked and what is believed, as numbers: each rule written once more."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tacit.binning.refine import public_shapes
from tacit.binning.release_map import principal_modes, with_missing
from tacit.binning.shape_search import ShapeSearch, _contrasts, _drawn, _family, _first_contrasts, _group_of_leaf
from tacit.binning.tuning import SEARCHING
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.privacy.charges import Gaussian
from tacit.queries.dense.vector_sum import entitlements
from tacit.queries.rules import fine_count_rule

RULE = fine_count_rule(2)
FEW = replace(SEARCHING, leaves=256, widths=(0.1, 0.4), rates=(3.0, 50.0), spikes=(0.0, 0.5), narrow_parts=8)
"""A family of few shapes."""


def shapes_of_few() -> list[tuple[float, np.ndarray]]:
    """Every shape of that family and its weight: flat 1; bells 4 by width; humps and falls 1 each, from either end."""
    x, results = (np.arange(256) + 0.5) / 256, [(0.1, np.ones(256))]
    for width in (0.1, 0.4):
        centres = np.arange(0, 1.0001, 1.25 * width)
        results += [(0.4 / 2 / len(centres), np.exp(-((x - c) ** 2) / (2 * width**2))) for c in centres]
    falls = [np.exp(-3 * x), np.exp(-50 * x)]
    humps = [x * fall for fall in falls]
    spiked = [0.5 * fall / fall.sum() + 0.5 * (np.arange(256) == 0) for fall in falls]
    plain = [fall / fall.sum() for fall in falls]
    for members in (humps, plain, spiked):
        for way in (1, -1):
            results += [(0.1 / 2 / 2, member[::way]) for member in members]
    return results


def test_the_family() -> None:
    logs, table = _family(FEW)
    expected = shapes_of_few()
    assert np.exp(logs) == pytest.approx([weight for weight, _ in expected])
    for line, (_, shape) in zip(table, expected, strict=True):
        assert line == pytest.approx(0.97 * shape / shape.sum() + 0.03 / 256)


def test_what_fits_share_cannot_be_written_to() -> None:
    """Else one fit could leave something of its rows to the next."""
    shared = [_family(FEW)[1], _first_contrasts(300, FEW, 0.01), public_shapes(64), entitlements(10)]
    for array in shared:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_groups_are_narrow_at_either_end() -> None:
    group = _group_of_leaf(256)
    edges = [0, 1, 2, 4, 8, 16, 32, 64, 128, 192, 224, 240, 248, 252, 254, 255, 256]
    assert np.flatnonzero(np.diff(group)).tolist() == [edge - 1 for edge in edges[1:-1]]
    assert (group[0], group[-1]) == (0, len(edges) - 2)


@pytest.mark.parametrize("values", [1, 7, 256, 700])
def test_shapes_on_codes(values: int) -> None:
    drawn = _drawn(values, FEW)
    leaf = [code * 256 // values for code in range(values)]
    starts = sorted(set(leaf))
    assert drawn.widths.tolist() == [leaf.count(start) for start in starts]
    shares = [_family(FEW)[1][:, a:b].sum(axis=1) for a, b in zip(starts, [*starts[1:], 256], strict=True)]
    assert drawn.by_part == pytest.approx(np.stack(shares, axis=1))
    groups = _group_of_leaf(256)[leaf]
    numbered = np.unique(groups, return_inverse=True)[1]
    assert drawn.group.tolist() == numbered.tolist()
    of_part = numbered[np.cumsum(drawn.widths) - 1]
    summed = [drawn.by_part[:, of_part == number].sum(axis=1) for number in range(numbered[-1] + 1)]
    assert drawn.by_group == pytest.approx(np.stack(summed, axis=1))


def test_contrasts_are_the_modes_of_what_is_in_doubt() -> None:
    """Of chi-square: how groups of all shapes differ from the mean shape, relative to it, shape by shape."""
    shapes, weights = _drawn(256, FEW).by_group, np.random.default_rng(0).dirichlet(np.ones(len(_family(FEW)[0])))
    mean, covariance = np.maximum(weights @ shapes, FEW.least_mass), 0.0
    for weight, shape in zip(weights, shapes, strict=True):
        away = (shape - weights @ shapes) / mean
        covariance = covariance + weight * np.outer(away, away)
    expected = with_missing(principal_modes(mean / mean.sum(), covariance, 0.01))
    result = _contrasts(_drawn(256, FEW), weights, FEW, 0.01)
    assert np.abs(result) == pytest.approx(np.abs(expected), abs=1e-6)


def search(window: tuple[int, int] | None = None) -> ShapeSearch:
    return ShapeSearch(2, 301, 1000.0, window, FEW)


def answered(found: ShapeSearch, value: np.ndarray, sd: float) -> None:
    found.observe(Measurement("x", value[:, None], sd, Gaussian(1.0), "x"))


def test_what_is_asked_of_a_window() -> None:
    query = search((50, 250)).query(RULE, 20.0, False)
    (mapping,) = query.cells.maps
    group = _drawn(200, FEW).group
    assert mapping[50:250].tolist() == group.tolist()
    assert set(mapping[:50]) | set(mapping[250:]) == {group[-1] + 1}
    assert query.cells.columns == (2,)
    first = _contrasts(_drawn(200, FEW), np.exp(_family(FEW)[0]) / np.exp(_family(FEW)[0]).sum(), FEW, 0.02**2)
    assert query.release_map.matrix == pytest.approx(np.trunc(first * 4096))
    pure = search((50, 250)).query(RULE, 20.0, True)
    lengths = np.abs(first).sum(axis=0)
    assert pure.release_map.matrix == pytest.approx(np.trunc(first / np.maximum(lengths, 1.0) * 4096))


def test_beliefs_after_two_answers() -> None:
    result, generator = search(), np.random.default_rng(0)
    evidence, missing, precision = np.zeros(len(_family(FEW)[0])), 0.0, 0.0
    drawn = _drawn(300, FEW)
    for sd in (20.0, 35.0):
        query = result.query(RULE, sd, False)
        matrix = query.release_map.matrix / 4096
        value = matrix @ np.append(400.0 * drawn.by_group[4] + 400 * drawn.by_group[9], 200.0)
        value = value + generator.normal(0, sd, len(value))
        answered(result, value, sd)
        missing, precision = missing + value[-1] / sd**2, precision + 1 / sd**2
        believed = min(max(missing / precision - 0.5 / math.sqrt(precision), 0.0), 800.0)
        assert result.missing == pytest.approx(believed)
        rows = 1000.0 - believed
        off = value[:-1] - rows * (drawn.by_group @ matrix[:-1, :-1].T)
        evidence = evidence - 0.5 * (off**2).sum(axis=1) / (sd**2 + (0.05 * rows) ** 2)
        weights = np.exp(_family(FEW)[0] + evidence - (_family(FEW)[0] + evidence).max())
        weights /= weights.sum()
        assert result.masses[:-1] == pytest.approx(rows * (weights @ drawn.by_part), rel=1e-6, abs=1e-6)
        assert result.masses[-1] == result.missing


def test_missing_rows_stay_within_reason() -> None:
    result = search()
    assert result.missing == 0.0
    assert result.masses[-1] == 0.0
    assert result.masses.sum() == pytest.approx(1000.0)
    query = result.query(RULE, 10.0, False)
    nothing = np.zeros(len(query.release_map.matrix))
    for last, believed in ((-50.0, 0.0), (4.0, 0.0), (305.0, 300.0), (5000.0, 800.0)):
        result._missing = result._precision = 0.0
        answered(result, np.append(nothing[:-1], last), 10.0)
        assert result.missing == pytest.approx(believed)
    result._missing = result._precision = 0.0
    answered(result, np.append(nothing[:-1], 7.0), 0.0)
    assert result._precision == LEAST_SD**-2


def believing(shares: dict[int, float], values: int = 300, window: tuple[int, int] | None = None) -> ShapeSearch:
    """A search that believes in these shares of parts, and is sure."""
    result = ShapeSearch(0, values + 1, 1000.0, window, FEW)
    line = np.zeros(result._drawn.by_part.shape[1])
    line[list(shares)] = list(shares.values())
    by_part = result._drawn.by_part.copy()
    by_part[:] = line
    result._drawn = replace(result._drawn, by_part=by_part)
    return result


def test_a_narrow_column_is_searched_again() -> None:
    """256 codes in eighths of 32; two neighbouring ones with .7 of the rows, and one more on either side."""
    assert believing({96: 0.35, 140: 0.35, 10: 0.3}, 256).narrow == (64, 192)
    assert believing({96: 0.345, 140: 0.345, 10: 0.31}, 256).narrow is None
    assert believing({96: 0.35, 170: 0.35, 10: 0.3}, 256).narrow is None  # not neighbours
    assert believing({3: 0.35, 40: 0.35, 200: 0.3}, 256).narrow == (0, 96)
    assert believing({200: 0.36, 250: 0.36, 10: 0.28}, 256).narrow == (160, 256)
    assert believing({96: 0.41, 140: 0.35, 10: 0.24}, 256).narrow is None  # a spike has no inside
    assert believing({96: 0.4, 140: 0.35, 10: 0.25}, 256).narrow == (64, 192)
    assert believing({1: 0.35, 2: 0.35, 10: 0.3}, 15).narrow is None  # too few codes to look closer
    assert believing({1: 0.35, 2: 0.35, 10: 0.3}, 16).narrow == (0, 6)
    # where the window begins later, and its 200 codes are no multiple of eight
    assert believing({80: 0.35, 110: 0.35, 10: 0.3}, 300, (50, 250)).narrow == (50 + 50, 50 + 150)
