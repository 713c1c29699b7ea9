"""The rule of a halfspace's fit: measures by signal, rounds, and gradient steps that stay stable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from tacit.boosting.measures import LazyBregman, LogisticMeasure, SmoothMeasure
from tacit.halfspaces.centering import Centering, Centre, pace_of
from tacit.halfspaces.plan import PROMISED, Descent, Options
from tacit.halfspaces.tuning import TUNING


def test_measure_rounds_and_density_follow_public_numbers() -> None:
    options = Options()
    assert options.measure_for(TUNING.logistic_signal) == options.measure_for(math.inf) == "logistic"
    assert options.measure_for(TUNING.logistic_signal - 1) == "smooth"
    assert Options("lazy_bregman").measure_for(math.inf) == "lazy_bregman"
    rounds = [options.rounds_for(name, width, False) for name in ("smooth", "logistic") for width in (10, 100)]
    assert rounds == [40, 80, 40, 40]
    assert options.rounds_for("lazy_bregman", 10, False) == 200
    assert options.rounds_for("smooth", 100, True) == 8
    assert Options(rounds=3).rounds_for("smooth", 100, True) == 3
    measure = options.make_measure("lazy_bregman", 100.0)
    assert measure == LazyBregman(TUNING.lazy_density, TUNING.lazy_rate, 100.0)
    assert TUNING.lazy_density < 0.3  # half of the rows may be the easy ones
    asked = Options("lazy_bregman", density=0.3, learning_rate=0.7, divisor=0.1).make_measure("lazy_bregman", 100.0)
    assert asked == LazyBregman(0.3, 0.7, 100.0, fine=True)
    promise = dict.fromkeys(PROMISED, 0) | {"rows": 70}
    assert Options(promise=promise).make_measure("lazy_bregman", 100.0) == LazyBregman(
        TUNING.lazy_density, TUNING.lazy_rate, 70.0
    )
    assert options.descent(1000, 40) == Descent(TUNING.stable_rate / 1000, 0.9)
    assert options.descent(3, 8) == Descent(TUNING.most_rate, 0.5)
    assert Options(scaling=False).descent(1000, 2) == Descent(TUNING.stable_rate, 0.0)
    assert options.descent(3, 200).momentum == 0.9  # no more, however many rounds


def test_little_signal_goes_to_the_rounds() -> None:
    """Where noise covers much, the scaling gets less; rows with a constant coordinate are scaled for a fixed share."""
    low, middle, high = (Options().shares_for(signal, 9) for signal in (0.0, 0.5 * TUNING.scaling_signal, math.inf))
    assert low["scaling"] == pytest.approx(TUNING.least_scaling * TUNING.scaling_share)
    assert high["scaling"] == pytest.approx(TUNING.scaling_share)
    assert low["scaling"] < middle["scaling"] < high["scaling"]
    assert all(math.fsum(shares.values()) == pytest.approx(1.0) for shares in (low, middle, high))
    assert Options(constant=0.5).shares_for(0.0, 9) == Options(constant=0.5).shares


def test_nothing_is_spent_on_counts_that_noise_would_hide() -> None:
    """Rows per unit of noise decide, whatever the dimension; a constant coordinate needs its offset in any case."""
    least = TUNING.least_counted
    for width in (4, 400):
        below, enough = (Options().shares_for(rows / math.sqrt(width), width) for rows in (0.99 * least, 1.01 * least))
        assert {"calibration", "errors"} & set(below) == set()
        assert (enough["calibration"], enough["errors"]) == (TUNING.slope_share, TUNING.errors_share)
        assert below["rounds"] == pytest.approx(enough["rounds"] + TUNING.slope_share + TUNING.errors_share, abs=1e-2)
        assert math.fsum(below.values()) == math.fsum(enough.values()) == pytest.approx(1.0)
    assert "calibration" in Options(constant=0.5).shares_for(0.0, 4)


def test_squares_are_shortened_where_there_is_little_signal() -> None:
    typical = math.sqrt(TUNING.typical_kurtosis / 300)
    assert Options().longest_squares(300, 0.0) == typical
    assert Options().longest_squares(300, 2 * TUNING.shortening_signal) == pytest.approx(2 * typical)
    assert Options().longest_squares(300, math.inf) == Options().longest_squares(2, 0.0) == 1.0
    assert Options(constant=0.5).longest_squares(300, 0.0) is None


def along_one_line(descent: Descent, curvature: float, rounds: int) -> float:
    """How far from the minimum 0 of a parabola steps from 1 end, as a share of how far off they ever were."""
    hypotheses: list[Centre] = []
    at = 1.0
    for _ in range(rounds):
        centre = Centering._step(descent, np.array([-curvature * at]), 0.0, 1.0, hypotheses)
        at += float(centre.direction[0])
        hypotheses.append(centre)
    return abs(at)


@pytest.mark.parametrize("width", [40, 1000])
def test_steps_are_stable_on_the_worst_rows_and_not_much_shorter_than_need_be(width: int) -> None:
    """All rows on one line: the scaled second moment is the dimension, a quarter of it the curvature at score 0."""
    descent = Options().descent(width, 40)
    assert along_one_line(descent, width / 4, 300) < 1e-3
    assert along_one_line(Descent(1.1 * descent.rate, descent.momentum), width / 4, 300) > 1e3


@pytest.mark.parametrize(
    ("signal", "pace"), [(0.0, 0.0), (0.25, 0.5), (4.0, 2.0), (16.0, TUNING.most_pace), (math.inf, TUNING.most_pace)]
)
def test_the_first_step_is_long_where_there_is_little_noise(signal: float, pace: float) -> None:
    assert pace_of(signal, 10, None) == pace


def test_steps_are_short_where_coordinates_may_all_be_alike() -> None:
    alike, apart, between = (pace_of(2.0, 100, told) for told in (0.0, 1.0, 0.25))
    assert alike == pytest.approx(2.0 * (TUNING.alike_pace + TUNING.narrow_pace / 100))
    assert apart == pytest.approx(math.sqrt(2.0) * TUNING.apart_pace)
    assert between == pytest.approx((alike + apart) / 2)
    assert pace_of(2.0, 5, 0.0) > 1.5 * alike
    for told in (0.0, 0.5, 1.0):
        assert pace_of(math.inf, 100, told) == TUNING.most_pace
        assert pace_of(0.0, 100, told) == 0.0


RARE = math.log(0.08 / 0.92)


@pytest.mark.parametrize("log_odds", [RARE, 0.0, 1.0])
def test_from_the_start_on_the_classes_weigh_the_same(log_odds: float) -> None:
    rate = float(expit(log_odds))
    smooth, logistic = SmoothMeasure(0.2), LogisticMeasure(16.0)
    for weigh, start in (
        (lambda margin: smooth.weights(margin, 0), Options().start(smooth, log_odds)),
        (logistic.weights, Options().start(logistic, log_odds)),
    ):
        negative, positive = weigh(np.array([-start, start]))
        assert positive * rate == pytest.approx(negative * (1 - rate))
    assert Options().start(LazyBregman(0.5, 0.2, 100.0), log_odds) == 0.0
