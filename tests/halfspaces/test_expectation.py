"""What can be expected: theorems are theorems, simulations are runs, and each figure says which it is."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.halfspaces.expectation import (
    Setting,
    expect_error,
    expect_rows,
    made_rows,
    minority_rows,
    needed,
    proved_error,
)
from tacit.privacy.request import RequestError

SETTING = Setting(20, 0.3, 4.0, 1e-6, repeats=2)


@pytest.mark.parametrize("dimension", [1, 2, 50])
def test_made_rows_have_the_margin(dimension: int) -> None:
    rows, labels = made_rows(500, dimension, 0.3, 0)
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths.max() <= 1 + 1e-9
    assert dimension == 1 or lengths.min() > 1 - 1e-9
    assert 0.4 < labels.mean() < 0.6
    centre = ((2 * labels - 1) @ rows) / 500
    direction = centre / np.linalg.norm(centre)
    assert ((2 * labels - 1) * (rows @ direction)).mean() > 0.3
    again, _ = made_rows(500, dimension, 0.3, 0)
    np.testing.assert_array_equal(rows, again)
    assert (made_rows(500, dimension, 0.3, 1)[0] != rows).any()


def test_a_fifth_of_the_rows_lies_beyond_the_centre() -> None:
    rows, labels = minority_rows(4000, 7, 0.2, 0)
    signs = 2 * labels - 1
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0)
    centre = signs @ rows
    assert (signs * (rows @ centre) <= 0).mean() == pytest.approx(0.2, abs=0.02)
    even = np.array([1, 0, 1, 0, 1, 0, 1]) / 2
    assert signs * (rows @ even) == pytest.approx(0.2)


def test_proved_errors_invert_the_sample_sizes() -> None:
    size = min(size.rows for size in needed(SETTING, 0.2).values())
    found = proved_error(SETTING, size)
    assert found.source == "theorem"
    assert found.error == pytest.approx(0.2, rel=0.02)
    assert "Theorem" in found.basis
    assert proved_error(SETTING, 10).error == 1.0


def test_expected_error_is_told_with_its_source() -> None:
    proved, seen, centre, hard, hard_centre = expect_error(SETTING, 2000)
    assert (proved.source, seen.source) == ("theorem", "simulation")
    assert proved.error == 1.0
    assert seen.error < 0.05
    assert seen.spread is not None
    assert centre.error < 0.05
    assert "one noisy centre, spherical" in centre.basis
    assert "default settings, a fifth" in hard.basis
    assert hard.error < hard_centre.error - 0.1  # only a booster finds the halfspace there
    assert [figure.source for figure in expect_error(Setting(10**7, 0.3, 1.0, 1e-6), 1000)] == ["theorem"]


def test_expected_rows_end_where_the_error_is_reached() -> None:
    told: list[str] = []
    figures = expect_rows(SETTING, 0.05, told.append)
    simulated = [figure for figure in figures if figure.source == "simulation"]
    assert [figure.source for figure in figures[:2]] == ["theorem", "theorem"]
    assert simulated[-1].error <= 0.05
    assert all(figure.error > 0.05 for figure in simulated[:-1])
    assert len(told) == len(simulated)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting(0, 0.1, 1.0, 1e-6), "dimension"),
        (Setting(5, 1.0, 1.0, 1e-6), "margin"),
        (Setting(5, 0.1, 0.0, 1e-6), "epsilon"),
        (Setting(5, 0.1, 1.0, 0.0), "positive delta"),
        (Setting(5, 0.1, 1.0, 1e-6, repeats=0), "repeats"),
        (Setting(5, 0.1, 1.0, 1e-6, failure=0.0), "failure"),
    ],
)
def test_bad_questions_name_what_is_wrong(setting: Setting, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        expect_rows(setting, 0.1)
    with pytest.raises(RequestError, match="error"):
        expect_rows(SETTING, 1.5)
    with pytest.raises(RequestError, match="rows"):
        expect_error(SETTING, 0)
