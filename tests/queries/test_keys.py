"""Thresholds for unknown keys: the bound on what one unit can show, over every way to spread its rows."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from tacit.privacy.unit import Neighbouring
from tacit.queries.keys import KEY_UNIT, KeyCounts, gaussian_tail, laplace_tail
from tests.noise.exact import gaussian_pmf, laplace_pmf

LAWS = {"gaussian": (gaussian_tail, gaussian_pmf), "laplace": (laplace_tail, laplace_pmf)}


def partitions(total: int, largest: int | None = None):
    """All ways to write a number as a sum of positive ones."""
    if total == 0:
        yield ()
    for part in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def exact_tail(law: str, scale: float):
    pmf = LAWS[law][1](scale)

    def tail(least: int) -> float:
        return float(pmf.p[max(least - pmf.first, 0) :].sum())

    return tail


def worst(threshold: int, tail, rows: int) -> float:
    """The exact probability that some own key is seen, over all ways to spread the rows of a unit."""
    records = []
    for parts in partitions(rows):
        hidden = math.prod(1 - tail(threshold - KEY_UNIT * part) for part in parts)
        records.append(1 - hidden)
    return max(records)


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("delta", [0.2, 0.05, 1e-4])
def test_no_unit_shows_a_key_of_its_own_more_often_than_delta(law, rows, delta):
    scale = 900.0 * rows
    threshold = KeyCounts.threshold(delta, partial(LAWS[law][0], scale), rows)
    tail = exact_tail(law, scale)
    assert worst(threshold, tail, rows) <= delta * (1 + 1e-9)
    # and the search finds the leak when the threshold is a tenth too low
    assert worst(round(0.9 * threshold), tail, rows) > 1.1 * delta


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("scale", [1.5, 40.0, 700.0])
def test_tails_are_bounds_and_tight(law, scale):
    bound, exact = LAWS[law][0], exact_tail(law, scale)
    for least in (-3, 0, 1, 2, round(scale), round(3 * scale), round(6 * scale)):
        assert exact(least) <= bound(scale, least) * (1 + 1e-6)
    assert bound(700.0, 2100) < 1.02 * exact_tail(law, 700.0)(2100)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1])
def test_without_delta_there_is_no_threshold(delta):
    with pytest.raises(ValueError, match="declare them, or allow a positive delta"):
        KeyCounts.threshold(delta, partial(gaussian_tail, 10.0), 1)


def rows_of(unit: tuple[int, ...], keys: int) -> np.ndarray:
    return KEY_UNIT * np.bincount(np.array(unit, np.int64), minlength=keys)


@pytest.mark.sensitivity_of("KeyCounts")
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_sensitivity_holds_and_is_needed(rows):
    """All units of up to three rows over three keys; keys that both tables have are all three of them."""
    units = {()}
    for _ in range(rows):
        units |= {(*unit, key) for unit in units for key in range(3)}
    vectors = [rows_of(unit, 3) for unit in units]
    for relation, moves in (
        (Neighbouring.ADD_OR_REMOVE_ONE, vectors),
        (Neighbouring.REPLACE_ONE, [a - b for a in vectors for b in vectors]),
    ):
        declared = KeyCounts().sensitivity(relation).times(rows)
        assert max(int(np.abs(m).sum()) for m in moves) == declared.l1
        assert max(int((m * m).sum()) for m in moves) == declared.l2_squared
