"""Intercepts as numbers, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.additive.intercept import NewtonIntercept, PosteriorIntercept
from tacit.additive.term import Directions
from tacit.additive.tuning import INTERCEPTS
from tacit.curator.measurement import Measurement
from tacit.privacy.charges import Gaussian

ONE = Directions.alone(0.5, 0.5)


def released(value: float, sd: float) -> Measurement:
    return Measurement("sum", np.array([[value]]), sd, Gaussian(1.0), "by hand")


@pytest.mark.parametrize(
    ("recency", "lost"), [(-1.0, math.sqrt(3) / 3), (0.0, math.sqrt(14) / 6), (1.0, math.sqrt(14) / 6)]
)
def test_later_releases_of_the_intercept_count_by_their_number_or_all_alike(recency: float, lost: float) -> None:
    intercept = PosteriorIntercept(1000.0)
    intercept.set_recency(recency)
    for _ in range(4):  # the first does not count: it was made at a score of 0
        intercept.observe(released(0.0, 2.0), ONE, 0.5)
    assert intercept.sd(ONE) == pytest.approx([2.0 * lost / (1000.0 * 0.5)])


def test_a_bracket_doubles_as_far_as_it_may_and_starts_anew_on_the_other_side() -> None:
    intercept = NewtonIntercept(np.array([0.0]), 100.0, 1.0, lambda: (-0.5, 0.5))
    sums = [50.0, 50.0, 50.0, 50.0, 50.0, -50.0, -50.0]
    steps = [float(intercept.observe(released(value, 0.1), ONE, 0.0)[0]) for value in sums]
    assert steps == [0.5, 1.0, 2.0, 4.0, INTERCEPTS.longest_bracket, -0.5, -1.0]
    assert INTERCEPTS.longest_bracket == 4.0
