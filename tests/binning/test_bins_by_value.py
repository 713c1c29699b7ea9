"""Numbers of rows, and bins of categories, as numbers: by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.binning.measure import Column, _Categories, release_total
from tacit.binning.release_map import with_missing
from tacit.binning.tree_bins import _by_rate


@dataclass(frozen=True)
class Told:
    """A budget whose answers are known; noise goes with the root of a share."""

    answers: list[float]
    sd_of_all: float
    share: float
    layout: Any = field(default_factory=lambda: SimpleNamespace(n_labels=2))

    def sd(self) -> float:
        return self.sd_of_all / math.sqrt(self.share)

    def measure(self, *_: Any) -> Any:
        return SimpleNamespace(value=np.array([[self.answers.pop(0)]]))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (Told([1000.0], 2.0, 0.01), (1000.0, 0.01)),  # its noise of 20 is below a tenth
        (Told([100.0, 140.0], 2.0, 0.01), (132.0, 0.05)),  # a second look of four times the share
        (Told([100.0, -900.0], 4.0, 0.01), (30.0, 0.09)),  # of at most .08
        (Told([-500.0], 50.0, 0.1), (0.5 * 50.0 / math.sqrt(0.1), 0.1)),  # never far below the noise
        (Told([-500.0, -500.0], 50.0, 0.01), (50.0 / 0.3, 0.09)),
        (Told([3.0], 0.0, 0.01), (30.0, 0.01)),
    ],
)
def test_the_number_of_rows(told: Told, found: tuple[float, float]) -> None:
    assert release_total(told) == pytest.approx(found)  # type: ignore[arg-type]
    assert told.answers == []


def categories(counts: list[float], sd: float, total: float) -> Any:
    looks = _Categories(Column(0, "c", ordered=False), len(counts), SimpleNamespace(total=total))  # type: ignore[arg-type]
    looks.take(SimpleNamespace(value=np.array(counts)[:, None], sd=sd))  # type: ignore[arg-type]
    return looks.bins()


def test_counts_of_categories_are_drawn_to_equal_ones_and_kept_above_part_of_the_noise() -> None:
    trust = 100**2 / (100**2 + 10**2)
    likely = np.array([300 * trust + 100 * (1 - trust), 0.3 * 10, 5 * trust + 100 * (1 - trust)])
    assert categories([300.0, -5.0, 5.0], 10.0, 300.0).counts == pytest.approx(likely * 300 / likely.sum())
    assert categories([300.0, -5.0, 5.0], 1e9, 300.0).counts == pytest.approx([100.0] * 3)


def test_the_rarest_of_very_many_categories_share_the_last_bin() -> None:
    result = categories([*range(300)], 1e-6, 50_000.0)
    assert result.mapping.tolist() == [255] * 45 + [*range(255)]
    assert result.counts[:255].argmin() == 0
    assert result.counts[255] == pytest.approx(50_000 - sum(range(45, 300)), rel=1e-3)


def test_categories_in_the_order_of_their_rates() -> None:
    """Noise in a count of both classes is ``sqrt(2)`` of one's: 17 rows are above it, 14 are lost in it."""
    bins = _by_rate(np.arange(3), np.array([20.0, 80.0, 17.0]), np.array([100.0, 100.0, 17.0]), 10.0, 0.5, 100)
    assert bins.mapping.tolist() == [0, 2, 1]
    assert bins.mass == pytest.approx([100.0, 17.0, 100.0])
    lost = _by_rate(np.arange(3), np.array([20.0, 80.0, 14.0]), np.array([100.0, 100.0, 14.0]), 10.0, 0.6, 100)
    assert lost.mapping.tolist() == [0, 2, 1]  # as the average of .6
    assert lost.mass == pytest.approx([100.0, 0.0, 100.0], abs=1e-5)


def test_images_are_no_longer_than_allowed() -> None:
    assert with_missing(np.array([[3.0, 1.0]]), 2.0).tolist() == [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert with_missing(np.array([[3.0, 1.0]])).tolist() == [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
