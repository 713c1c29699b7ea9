"""Weights, tables and games of boosting as numbers, each rule written once more."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.additive.ordered_loss import class_rule, ordered_rule
from tacit.boosting.game import (
    capped_scaling,
    diagnose,
    divergence,
    iterated_play,
    lazy_dense_updates,
    pythia,
    soft_punishments,
)
from tacit.boosting.mada_boost import mada_boost, mada_boost_rule
from tacit.boosting.measures import DENSE_WEIGHT_UNIT, REACH, LazyBregman, LogisticMeasure, SmoothMeasure, stateless_sum
from tacit.queries.dense.halfspace_log import HalfspaceLog, Levels
from tacit.queries.dense.vector_sum import TICKS
from tacit.queries.rules import WEIGHT_UNIT
from tests.boosting.common import bregman_measures, lazy_measures, project

LOG = HalfspaceLog(3, 100)


def test_lazy_bregman_by_hand() -> None:
    measure = LazyBregman(0.2, 0.3, 1234.0)
    assert (measure.step, measure.rows_at_cap, measure.total(5.0)) == (1.0, 247, 247.0)
    assert LazyBregman(0.2, 0.3, 1.0).rows_at_cap == 1
    query = measure.weighted_sum(LOG, 4, 12.0)
    levels = Levels.covering(12.0)
    assert query.ticks.tolist() == [round(0.15 * TICKS * middle) for middle in levels.middles]
    assert (query.total, query.levels) == (247, levels)


def test_smooth_boost_by_hand() -> None:
    measure = SmoothMeasure(0.2)
    assert measure.theta == pytest.approx(0.2 / 2.2)
    assert SmoothMeasure(0.2, 0.0).theta == 0.0
    assert (measure.step, measure.total(7.0), measure.total(-3.0)) == (1.0, 7.0, 1.0)
    lead = 3.0 - 5 * 0.2 / 2.2
    assert measure.weights(np.array([3.0, 0.1, -3.0, 0.0]), 5) == pytest.approx([0.8 ** (lead / 2), 1.0, 1.0, 1.0])
    assert measure.weights(np.array([0.0, 1.0]), 0).tolist() == [1.0, 0.8**0.5]
    assert DENSE_WEIGHT_UNIT == 1024
    for query, unit in ((measure.weighted_sum(LOG, 5, 12.0), 1024 * LOG.radius), (measure.size(LOG, 5, 12.0), 1024)):
        expected = [math.floor(1024 * w) for w in measure.weights(Levels.covering(12.0).middles, 5)]
        assert query.table.tolist() == expected
        assert query.unit == unit


def test_logistic_weights_by_hand() -> None:
    measure = LogisticMeasure(0.5)
    assert (measure.step, measure.total(7.0), measure.total(-3.0), REACH) == (0.5, 7.0, 1.0, 16.0)
    assert measure.weights(np.array([1.5])) == pytest.approx([1 / (1 + math.exp(1.5))])
    for reach in (3.0, 99.0):
        for query in (measure.weighted_sum(LOG, 5, reach), measure.size(LOG, 5, reach)):
            levels = Levels.covering(min(reach, 16.0))
            assert query.levels == levels
            assert query.table.tolist() == [math.floor(1024 / (1 + math.exp(m))) for m in levels.middles]


def test_measures_of_ones_own_by_hand() -> None:
    def weight(margins: np.ndarray) -> np.ndarray:
        return 1 / (2 + np.maximum(margins, 0))

    query = stateless_sum(LOG, weight, 12.0)
    assert query.table.tolist() == [math.floor(1024 * w) for w in weight(Levels.covering(12.0).middles)]
    assert query.unit == 1024 * 100
    stateless_sum(LOG, np.zeros_like, 12.0)
    stateless_sum(LOG, np.ones_like, 12.0)
    low, high = -5e-324, math.nextafter(1.0, 2.0)
    for wrong in (
        lambda m: np.full_like(m, low),
        lambda m: np.full_like(m, high),
        lambda m: m[:-1] * 0,
        lambda m: m * np.nan,
    ):
        with pytest.raises(ValueError, match="weight in"):
            stateless_sum(LOG, wrong, 12.0)


def test_mada_boost_by_hand() -> None:
    assert mada_boost(np.array([-2.0, 0.0, 1.5])) == pytest.approx([1.0, 1.0, math.exp(-1.5)])
    table = mada_boost_rule().table
    middle = (1300 - 1024 + 0.5) / 128
    assert table[1, 1300, 0] == math.floor(WEIGHT_UNIT * math.exp(-middle))
    assert table[0, 1300, 0] == -WEIGHT_UNIT


def chances_at(cuts: list[float], score: float) -> np.ndarray:
    upto = [1 / (1 + math.exp(score - cut)) for cut in cuts]
    return np.diff([0.0, *upto, 1.0])


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("cuts", [[0.3], [-0.5, 1.0], [-2.0, 0.1, 0.7]])
def test_proportional_odds_by_differences(cuts: list[float], norm: int) -> None:
    """Slopes of log chances by finite differences, scaled by the longest over the classes."""
    plain, curved = ordered_rule(np.array(cuts)), ordered_rule(np.array(cuts), 0.7, norm)
    classes = class_rule(np.array(cuts), norm)
    if norm == 2:  # what is meant where nothing is said
        assert np.array_equal(ordered_rule(np.array(cuts), 0.7).table, curved.table)
        assert np.array_equal(class_rule(np.array(cuts)).table, classes.table)
    for level in (600, 1020, 1100, 1500):
        score, h = (level - 1024 + 0.5) / 128, 1e-5
        p = chances_at(cuts, score)
        slopes = (np.log(chances_at(cuts, score + h)) - np.log(chances_at(cuts, score - h))) / (2 * h)
        assert plain.table[:, level, 0] == pytest.approx(WEIGHT_UNIT * slopes / np.abs(slopes).max(), abs=1.5)
        more = 0.7 * float(p @ slopes**2)
        longest = max(float(np.linalg.norm([s, more], norm)) for s in slopes)
        assert curved.table[:, level, 0] == pytest.approx(WEIGHT_UNIT * slopes / longest, abs=1.5)
        assert curved.table[:, level, 1] == pytest.approx(WEIGHT_UNIT * more / longest, abs=1.5)
        vectors = np.eye(len(p)) - p
        longest = max(float(np.linalg.norm(v, norm)) for v in vectors)
        assert classes.table[:, level] == pytest.approx(WEIGHT_UNIT * vectors / longest, abs=1.5)


def test_projections_by_hand() -> None:
    """Of .5, .4, .1 to a total of 2: the first is capped, then the second; the third keeps what is left."""
    logs = np.log(np.array([0.5, 0.4, 0.1]))
    assert capped_scaling(logs, 1.0) == pytest.approx([0.5, 0.4, 0.1])
    assert capped_scaling(logs, 1.8) == pytest.approx([0.9, 0.72, 0.18])
    assert capped_scaling(logs, 2.0) == pytest.approx([1.0, 0.8, 0.2])
    assert capped_scaling(logs, 2.5) == pytest.approx([1.0, 1.0, 0.5])
    assert capped_scaling(logs, 3.0) == pytest.approx([1.0, 1.0, 1.0])
    assert project(np.array([0.5, 0.4, 0.1]), 0.9).tolist() == [0.5, 0.4, 0.1]
    assert project(np.array([0.5, 0.4, 0.1]), 2.0) == pytest.approx([1.0, 0.8, 0.2])
    assert project(np.array([0.5, 0.4, 0.1]), 2.5) == pytest.approx([1.0, 1.0, 0.5])
    losses = np.array([[0.0, 1.0, 1.0], [1.0, 0.5, 0.0]])
    lazy = lazy_measures(losses, 0.4, 0.6)
    for played in (0, 1, 2):
        past = losses[:played].sum(axis=0)
        assert lazy[played] == pytest.approx(capped_scaling(-0.6 * past, 1.2))
    eager = bregman_measures(losses, 0.4, 0.6)
    assert eager[0] == pytest.approx([0.4, 0.4, 0.4])
    assert eager[1] == pytest.approx(project(0.4 * np.exp(-0.6 * losses[0]), 1.2))
    assert eager[2] == pytest.approx(project(eager[1] * np.exp(-0.6 * losses[1]), 1.2))


def test_games_by_hand() -> None:
    assert soft_punishments([-1.0, 0.0, 0.5]).tolist() == [0.0, 0.5, 0.75]
    assert soft_punishments([]).tolist() == []
    assert divergence(np.array([0.0, 0.5]), np.array([0.2, 0.25])) == pytest.approx(0.5 * math.log(2) + 0.45 - 0.5)
    bad = np.repeat([1.0, 0.0], [10, 30])  # kappa n log(1 / kappa)
    assert divergence(bad, np.full(40, 0.25)) == pytest.approx(10 * math.log(4))
    margins = np.array([0.3, -0.1, 0.2, 0.05, 0.9])
    assert (pythia(margins, 0.6).bad.tolist(), pythia(margins, 0.6).theta) == ([1, 3, 2], 0.2)
    assert (pythia(margins, 0.2).bad.tolist(), pythia(margins, 0.2).theta) == ([1], 0.0)
    assert pythia(margins, 0.41).bad.tolist() == [1, 3, 2]
    result = pythia(np.array([-0.5, -0.1, 0.2, 0.3]), 0.25)  # stops at mistakes, which fill the set
    assert (result.bad.tolist(), result.theta) == ([0, 1], 0.0)
    assert pythia(np.array([0.0, 0.0, 0.1, 0.2]), 0.25).bad.tolist() == [0]  # a margin of 0 is no mistake
    assert [pythia(np.array([0.0, 0.5, -0.1, 0.0]), k).bad.tolist() for k in (0.25, 0.5)] == [[2], [2, 0]]
    assert len(pythia(np.arange(100.0), 0.07).bad) == 7  # and 0.07 * 100 is a little more
    assert len(pythia(np.arange(100.0), 0.0701).bad) == 8
    play = iterated_play(lazy_dense_updates(0.5, 0.4), lambda measure: 1.0 - measure, 4, 3)
    assert play.measures[0] == pytest.approx(np.full(4, 0.5))
    assert play.average_loss == pytest.approx(0.5)
    assert play.average_loss_of(np.array([1.0, 0, 0, 1.0])) == pytest.approx(0.5)
    heavy = np.array([1.0, 0.5, 0.0, 0.25])
    play = iterated_play(lazy_dense_updates(0.5, 0.4), lambda measure: heavy * measure, 4, 3)
    first, second = np.full(4, 0.5), capped_scaling(-0.4 * heavy * 0.5, 2.0)
    third = capped_scaling(-0.4 * heavy * (first + second), 2.0)
    assert play.measures == pytest.approx(np.array([first, second, third]))
    assert play.losses == pytest.approx(heavy * play.measures)
    assert play.average_loss == pytest.approx(sum(m @ (heavy * m) for m in (first, second, third)) / 6)
    result = diagnose([[0.5, -0.6, 1.0, 0.2], [0.5, 0.2, 0.0, 0.4]], 0.5)
    assert (result.bad_share, result.theta, result.mistakes) == (0.5, pytest.approx(0.3), 0.25)
    assert result.pythia_loss == pytest.approx(((1 - 0.2) / 2 + (1 + 0.3) / 2) / 2)
    assert diagnose([[0.0, -0.1, 0.5]], 0.5).mistakes == pytest.approx(1 / 3)
    assert "NOT PRIVATE" in str(result)
    assert f"loss is {result.pythia_loss:.4f} (bound {(1 + result.theta) / 2:.4f})" in str(result)
    assert not result.releasable
    assert not pythia(margins, 0.5).releasable
