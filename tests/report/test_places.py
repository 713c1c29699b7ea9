"""What bins are called: by a value if that is all they are there for, by their ends otherwise."""

from __future__ import annotations

import datetime as dt
import math
from itertools import pairwise

import numpy as np
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.models.feature import Feature
from tacit.report.places import dates_of, interval, intervals, nicest_number, single_values
from tacit.schema import DateColumn


def test_ends_that_look_the_same_are_one_number() -> None:
    assert interval(5.0, 5.0001) == "about 5"
    assert interval(0.0, 0.00018) == "0 to 1.8e-04"  # alone, nobody knows whether that is narrow


@pytest.mark.parametrize(
    ("edges", "names"),
    [
        ((0.0, 0.00018, 0.375, 6.0), ["0", "just over 0 to 0.375", "0.375 to 6"]),
        ((0.0, 0.5, 0.99976, 1.00012, 1.9, 12.0), ["0 to 0.5", "0.5 to 1", "1", "just over 1 to 1.9", "1.9 to 12"]),
        ((4.01, 4.99219, 5.01562, 5.81, 12.0), ["4.01 to 4.99", "5", "just over 5 to 5.81", "5.81 to 12"]),
        ((0.0, 87_500.0, 99_900.0, 100_000.0), ["0 to 87.5k", "87.5k to 99.9k", "100k"]),
        ((0.0, 40_002.3, 40_004.9, 100_000.0), ["0 to 40k", "40003", "just over 40003 to 100k"]),
        ((-5.0, -1.0002, -0.9997, 0.0, 2.0), ["-5 to -1", "-1", "just over -1 to 0", "0 to 2"]),
    ],
)
def test_a_bin_of_almost_no_width_is_called_by_its_value(edges: tuple[float, ...], names: list[str]) -> None:
    assert intervals(edges) == names


@pytest.mark.parametrize(
    "edges",
    [
        (0.0, 1.0, 10.0, 100.0, 1000.0, 100_000.0),
        (1.0, 5.0, 100.0, 100_000.0),
        (-900_000.0, *(4200.0 + 5 * k for k in range(20)), 700_000.0),
        tuple(range(49)),
        (0.0, 1.0),
        (1e16, 1e16, 1e16, 1e16 + 2, 1e16 + 2),
    ],
    ids=["powers", "a narrow bin of a logarithm", "outliers", "even", "one bin", "bins of no width"],
)
def test_bins_that_stand_for_intervals_keep_their_ends(edges: tuple[float, ...]) -> None:
    assert intervals(edges) == [interval(low, high) for low, high in pairwise(edges)]


def test_no_bins_have_no_names() -> None:
    assert intervals([]) == intervals([1.0]) == single_values([]) == []


@pytest.mark.parametrize(
    ("low", "high", "value"),
    [(0.0, 1e-4, 0.0), (-1e-4, 1e-4, 0.0), (0.977, 1.01, 1.0), (-5.02, -4.99, -5.0), (1234.2, 1235.9, 1235.0),
     (5.0, 5.0001, 5.0), (4.9, 5.0, 4.9), (5e-324, 1e-323, 5e-324), (1e300, math.nextafter(1e300, 2e300), 1e300)],
)  # fmt: skip
def test_the_roundest_number_of_a_bin_lies_in_it(low: float, high: float, value: float) -> None:
    assert nicest_number(low, high) == value


@pytest.mark.parametrize(
    ("column", "mapping", "names", "ticks"),
    [
        (
            DateColumn("month", dt.date(2020, 11, 3), dt.date(2021, 3, 1)),
            [0, 0, 1, 2, 2, 3],
            ["2020-11 to 2020-12", "2021-01", "2021-02 to 2021-03"],
            ["2020-11", "2020-12", "2021-01", "2021-02", "2021-03"],
        ),
        (
            DateColumn("month", dt.date(2018, 11, 3), dt.date(2021, 3, 1)),
            [*[0] * 29, 1],
            ["2018-11 to 2021-03"],
            ["2019-01", "2019-07", "2020-01", "2020-07", "2021-01"],
        ),
        (DateColumn("year", dt.date(1990, 1, 1), dt.date(1992, 1, 1)), [0, 1, 1, 2], ["1990", "1991 to 1992"], None),
        (DateColumn("weekday"), [0, 0, 0, 0, 0, 1, 1, 2], ["Monday to Friday", "Saturday to Sunday"], None),
    ],
)
def test_bins_of_dates_are_called_by_the_dates_in_them(
    column: DateColumn, mapping: list[int], names: list[str], ticks: list[str] | None
) -> None:
    """Months are no fractions of a year, and the month after the last one is in no name."""
    grid = NumericGrid.of_dates(column)
    dates = dates_of(Feature("d", grid, np.array(mapping), ordered=True))
    assert dates is not None
    assert list(dates.names) == names
    assert [words for _, words in dates.ticks] == (ticks or [grid.text(edge) for edge in grid.edges()])
    assert all(grid.lower <= at <= grid.upper for at, _ in dates.ticks)


def test_numbers_are_no_dates() -> None:
    assert dates_of(Feature("x", NumericGrid(0.0, 2.0, 2), np.array([0, 1, 2]), ordered=True)) is None
