"""Sums that round the same on every Python."""

from __future__ import annotations

import pytest

from tacit.arrays import added


@pytest.mark.parametrize(("numbers", "total"), [([0.1] * 10, 0.9999999999999999), ([1e16, 1.0, -1e16], 0.0), ([], 0.0)])
def test_numbers_are_added_from_left_to_right(numbers: list[float], total: float) -> None:
    """`sum` gives 1.0 and 1.0 for the first two from Python 3.12 on."""
    assert added(iter(numbers)) == total
