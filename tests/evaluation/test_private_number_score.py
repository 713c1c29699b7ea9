"""private_score of models of a number: right without noise, honest with it, charged once, finite whatever rows hold."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, mean_squared_error, r2_score

from tacit.additive.estimator import AdditiveBoostRegressor
from tacit.encoding.values import CategoryIndex
from tacit.engines.blocks import MemoryTable
from tacit.evaluation.error_grid import (
    COARSE_CELLS,
    REACHES,
    TARGET_CELLS,
    TARGET_WEIGHTS,
    WEIGHTS,
    ErrorGrid,
    target_moments,
)
from tacit.evaluation.measure_errors import ErrorSums, SumRelease, find_clip, find_reach
from tacit.evaluation.measure_scores import ScoreGroups
from tacit.evaluation.number_performance import LEAST_R2, NUMBER_METRICS, NumberQuestion, perform_numbers
from tacit.evaluation.private_score import private_score
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Gaussian, Laplace, Pure
from tacit.privacy.ledger import BudgetExceeded
from tests.chance import Z, at_least_share
from tests.evaluation.scores import Recorder, check_sensitivity, refused

ANY_MODEL = tuple(name for name in NUMBER_METRICS if name != "deviance")
"""Figures of every model of a number: the deviance is of counts and costs alone."""

BOUNDS = (-20, 20)


class Said:
    """A regressor whose predictions stand in the data."""

    def predict(self, rows):
        return np.asarray(rows["f"], np.float64)


def world(n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Predictions with normal errors of size 1; R2 is .8."""
    generator = np.random.default_rng(seed)
    said = generator.normal(0, 2, n)
    return {"f": said, "g": generator.choice(["a", "b"], n)}, said + generator.normal(0, 1, n)


TRUTH = {"mae": math.sqrt(2 / math.pi), "mse": 1.0, "rmse": 1.0, "r2": 0.8, "bias": 0.0, "below": 0.5}


def test_where_noise_could_hide_most_rows_intervals_are_wide_and_not_wrong():
    """A clip below all errors would give a small error, for certain: noise hid that they are beyond it."""
    held = []
    for seed in range(25):
        X, y = world(500, seed)
        score = private_score(Said(), X, y, 0.1, metrics=("mae",), target_bounds=BOUNDS, random_state=seed)
        mae = score.overall.metrics["mae"]
        held.append(mae.low <= TRUTH["mae"] <= mae.high)
    assert at_least_share(sum(held), len(held), 0.9)
    assert f"errors clipped at {score.error_clip:.3g}, " in repr(score)
    assert re.search(r"about [\d,]+ ± [\d,]+ rows beyond", repr(score))


def test_without_noise_the_figures_are_those_of_scikit_learn():
    X, y = world(20_000, 0)
    y = np.clip(y + 0.3, *BOUNDS)
    score = private_score(Said(), X, y, math.inf, metrics=ANY_MODEL, target_bounds=BOUNDS, quantile=0.8)
    assert score["mae"].value == pytest.approx(mean_absolute_error(y, X["f"]), rel=1e-3)
    assert score["mse"].value == pytest.approx(mean_squared_error(y, X["f"]), rel=2e-3)
    assert score["rmse"].value == pytest.approx(math.sqrt(mean_squared_error(y, X["f"])), rel=1e-3)
    assert score["r2"].value == pytest.approx(r2_score(y, X["f"]), abs=1e-3)
    assert score["bias"].value == pytest.approx(-0.3, abs=0.03)
    assert score["pinball"].value == pytest.approx(mean_pinball_loss(y, X["f"], alpha=0.8), rel=1e-3)
    assert score["below"].value == pytest.approx((y < X["f"]).mean(), abs=1e-9)
    assert score.overall.pinball(0.3) == pytest.approx(mean_pinball_loss(y, X["f"], alpha=0.3), rel=1e-3)
    assert score.overall.rows.value == pytest.approx(20_000)
    assert not score.certificate.releasable


@pytest.mark.parametrize("noise", [(), (3.0, 4.0)])
def test_the_interval_of_the_rows_is_that_of_two_noisy_sums(noise):
    """Rows above and rows below are released in halves, each with noise of deviation 5: 90 % lie within 1.645."""
    sums = ErrorSums(np.array([300.0, 700.0, 9.0, 9.0, 9.0, 9.0, 9.0]), None, (noise, ()), False)
    question = NumberQuestion((), 0.5, 0.9, 0.0, 1.0, 0.1)
    rows = perform_numbers(sums, question, np.random.default_rng(0)).rows
    assert rows.value == pytest.approx(1000.0)
    reach = 1.6448536 * math.sqrt(2.0) * 5.0 / 0.5 if noise else 0.0
    assert (rows.low, rows.high) == pytest.approx((1000.0 - reach, 1000.0 + reach))


@pytest.mark.parametrize("metric", sorted(TRUTH))
def test_exact_intervals_are_those_of_chance_alone(metric):
    X, y = world(10_000, 1)
    result = private_score(Said(), X, y, math.inf, metrics=[metric], target_bounds=BOUNDS)[metric]
    assert result.low < result.value < result.high
    assert result.high - result.low < 0.1
    assert result.low - 0.02 < TRUTH[metric] < result.high + 0.02


def test_errors_beyond_the_clip_count_as_the_clip():
    X, y = world(20_000, 2)
    score = private_score(Said(), X, y, math.inf, metrics=["mae", "mse"], target_bounds=BOUNDS, error_clip=1.5)
    one = private_score(Said(), X, y, math.inf, metrics="mae", target_bounds=BOUNDS, error_clip=1.5)  # not its letters
    assert list(one.overall.metrics) == ["mae"]
    clipped = np.minimum(np.abs(y - X["f"]), 1.5)
    assert score["mae"].value == pytest.approx(clipped.mean(), rel=2e-3)
    assert score["mse"].value == pytest.approx((clipped**2).mean(), rel=2e-3)
    assert score.error_clip == pytest.approx(1.5)
    assert score.beyond is None


def test_the_clip_that_is_found_holds_nearly_all_errors():
    X, y = world(5000, 3)
    for seed in range(10):
        score = private_score(Said(), X, y, 1.0, target_bounds=BOUNDS, random_state=seed)
        assert (np.abs(y - X["f"]) > score.error_clip).mean() < 0.02
        rows, sd = score.beyond
        assert abs(rows - (np.abs(y - X["f"]) > score.error_clip).sum()) < Z * sd + 1


@pytest.mark.parametrize("centre", [-19.0, 0.0, 12.0])
def test_targets_are_found_where_they_are(centre):
    """R2 does not suffer where bounds are far wider than the targets' spread."""
    X, y = world(4000, 3)
    X["f"], y = X["f"] / 2 + centre, y / 2 + centre
    exact = r2_score(np.clip(y, *BOUNDS), np.clip(X["f"], *BOUNDS))
    for seed in range(5):
        result = private_score(Said(), X, y, 1.0, metrics=["r2"], target_bounds=BOUNDS, random_state=seed)["r2"]
        assert result.value == pytest.approx(exact, abs=0.12)
        assert result.high - result.low < 0.4


def test_one_account_pays_once(tmp_path):
    X, y = world(2000, 2)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.2, 1e-6)
    arguments = {"subgroups": "g", "categories": ["a", "b"], "target_bounds": BOUNDS}
    score = private_score(Said(), X, y, 1.0, account=account, **arguments)
    assert score.certificate.verify() == []
    assert [type(entry.charge) for entry in score.certificate.entries] == [Gaussian] * 4
    assert accountants.epsilon(score.certificate.charges, 1e-6) == pytest.approx(1.0, rel=1e-6)
    assert "was not verified" in score.certificate.reasons[0]
    with pytest.raises(BudgetExceeded):
        private_score(Said(), X, y, 1.0, account=account, **arguments)
    alone = private_score(Said(), X, y, 1.0, 0.0, **arguments)
    assert all(isinstance(charge, Pure) for charge in alone.certificate.charges)
    assert sum(charge.epsilon for charge in alone.certificate.charges) == pytest.approx(1.0)
    assert {type(entry.charge) for entry in alone.certificate.entries} == {Laplace}
    assert alone.certificate.verify() == []


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("clip", [0.1, 1.0])
def test_no_row_moves_the_sums_by_more_than_is_charged(norm, groups, clip):
    """All rows over a coarse grid."""
    grid, recorder = ErrorGrid(1), Recorder()
    named = ScoreGroups("g", (CategoryIndex(("a",)),), tuple("abc")[:groups] if groups > 1 else ())
    SumRelease.of(recorder, 0, grid.moments(clip), named, norm, Gaussian(1.0))
    rows = [[cell, 0, group] for cell in range(grid.cells) for group in range(groups)]
    check_sensitivity(recorder.query, rows, [grid.cells + 1, 2, groups], (0, 255))


def test_a_target_is_in_one_cell():
    recorder = Recorder()
    assert find_reach(recorder, Gaussian(1.0)) == (0.0, REACHES[-1])  # nothing seen: everything is possible
    columns = [np.zeros(TARGET_CELLS, np.uint16), np.arange(TARGET_CELLS, dtype=np.uint16)]
    table = MemoryTable(columns, np.zeros(TARGET_CELLS, np.uint8), [2, TARGET_CELLS + 1], 2)
    assert (table.answer(recorder.query) == TARGET_CELLS // COARSE_CELLS * recorder.query.unit).all()
    moments = target_moments(0.3, 0.25)
    assert np.abs(moments / TARGET_WEIGHTS[:, None]).max() == 1.0


def test_a_row_is_in_one_step_of_the_clip():
    grid, recorder = ErrorGrid.of(1), Recorder()
    find_clip(recorder, grid, Gaussian(1.0))
    assert recorder.query.cells.size == len(grid.clips)
    sizes, steps = np.abs(grid.values), grid.steps
    for index, clip in enumerate(grid.clips):
        assert (sizes[steps > index] > clip * (1 - 1e-9)).all()
        assert (sizes[steps <= index] < clip * (1 + 1e-9)).all()
    columns = [np.arange(grid.cells, dtype=np.uint16)]
    table = MemoryTable(columns, np.zeros(grid.cells, np.uint8), [grid.cells + 1], 2)
    assert table.answer(recorder.query).sum() == grid.cells * recorder.query.unit


@pytest.mark.parametrize("groups", [1, 2, 7, 64])
def test_grids_stay_small_and_know_their_cells(groups):
    grid = ErrorGrid.of(groups)
    assert len(WEIGHTS) * (groups + 1) * groups * grid.cells <= 1 << 22
    errors = np.concatenate([np.linspace(-1, 1, 4001), [0.0, 1e-9, -1e-9]])
    codes = grid.encoder.encode(errors)
    assert codes.max() < grid.cells
    assert np.abs(grid.values[codes] - errors).max() <= 2 ** (1 / grid.per_octave) - 1
    assert ((codes >= grid.cells // 2) == (errors >= 0)).all()


def held(n: int, epsilon: float, delta: float, runs: int) -> dict[str, int]:
    """How often intervals hold the truth of the population."""
    names = ("mae", "mse", "r2", "bias", "below")
    hits = dict.fromkeys(names, 0)
    for run in range(runs):
        X, y = world(n, 100 + run)
        score = private_score(Said(), X, y, epsilon, delta, names, target_bounds=BOUNDS, random_state=run)
        for name in names:
            hits[name] += score[name].low <= TRUTH[name] <= score[name].high
    return hits


@pytest.mark.slow
def test_intervals_hold_the_truth():
    assert at_least_share(min(held(3000, 2.0, 1e-3, 60).values()), 60, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "epsilon", "delta"), [(500, 1.0, 1e-6), (3000, 1.0, 0.0), (20_000, 0.5, 1e-6)])
def test_intervals_hold_the_truth_often_enough(n, epsilon, delta):
    assert at_least_share(min(held(n, epsilon, delta, 400).values()), 400, 0.94)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, math.inf])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_few_rows_or_none_give_finite_figures(epsilon, rows):
    X, y = world(rows, 0)
    score = private_score(Said(), X, y, epsilon, metrics=ANY_MODEL, target_bounds=BOUNDS)
    written = json.dumps(score.to_dict(), allow_nan=False)
    assert "null" in written or score.beyond is not None
    for name in ANY_MODEL:
        result = score[name]
        assert result.low <= result.value <= result.high
    if epsilon == 0.01:
        assert (score["r2"].low, score["r2"].high) == (LEAST_R2, 1.0)


def test_what_rows_hold_never_raises():
    said = np.array([0.0, math.nan, math.inf, -math.inf, 1e300, 5.0])
    for y in (np.full(6, math.nan), np.full(6, math.inf), np.full(6, 1e300), np.zeros(6), [None] * 6, ["x"] * 6):
        score = private_score(Said(), {"f": said}, np.array(y, dtype=object), 1.0, target_bounds=BOUNDS)
        json.dumps(score.to_dict(), allow_nan=False)
    constant = private_score(Said(), {"f": np.zeros(500)}, np.zeros(500), math.inf, target_bounds=BOUNDS)
    assert constant["mae"].value == 0
    assert (constant["r2"].low, constant["r2"].high) == (LEAST_R2, 1.0)


def test_subgroups_have_their_own_figures():
    X, y = world(20_000, 4)
    y = np.where(X["g"] == "a", X["f"] + 3 * (y - X["f"]), y)
    score = private_score(
        Said(), X, y, 4.0, metrics=["mae", "r2"], target_bounds=BOUNDS, subgroups="g", categories=["a", "b"]
    )
    assert set(score.subgroups) == {"a", "b", "(other)", "(missing)"}
    assert score.subgroups["a"]["mae"].low > score.subgroups["b"]["mae"].high
    assert score.subgroups["(other)"].rows.value < 200


def test_models_bring_their_bounds_loss_and_quantile():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"a": generator.random(3000)})
    y = 10 * X["a"] + generator.normal(size=3000)
    schema = {
        "label": {"column": "y", "kind": "numeric", "lower": -5, "upper": 15},
        "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
    mean = AdditiveBoostRegressor(epsilon=4.0, schema=schema).fit(X, y)
    high = AdditiveBoostRegressor(epsilon=4.0, schema=schema, loss="quantile", quantile=0.9).fit(X, y)
    score = private_score(mean, X, y, 4.0)
    assert set(score.overall.metrics) == {"mae", "rmse", "r2", "bias"}
    assert score["r2"].value == pytest.approx(0.88, abs=0.1)
    assert "was not verified" not in " ".join(score.certificate.reasons)
    same = private_score(mean.model_, X, y, math.inf, metrics=["mae"])
    assert same["mae"].value == pytest.approx(mean_absolute_error(y, mean.predict(X)), rel=2e-3)
    score = private_score(high, X, y, 4.0)
    assert set(score.overall.metrics) == {"pinball", "below", "mae"}
    assert score.quantile == 0.9
    assert score["below"].value == pytest.approx(0.9, abs=0.08)
    foreign = LinearRegression().fit(X, y)
    assert private_score(foreign, X, y, math.inf, target_bounds=(-5, 15))["r2"].value == pytest.approx(
        foreign.score(X, y), abs=2e-3
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target_bounds": None}, "bounds of the target"),
        ({"target_bounds": (3, 1)}, "target_bounds"),
        ({"target_bounds": (0, math.inf)}, "target_bounds"),
        ({"metrics": ["auc"]}, "metrics are among mae"),
        ({"quantile": 1.0}, "quantile"),
        ({"confidence": 0}, "confidence"),
        ({"error_clip": 0}, "error_clip"),
        ({"error_clip": 41}, "error_clip"),
        ({"cost": (1, 2)}, "about classes"),
        ({"threshold": 0.3}, "about classes"),
        ({"subgroups": "g"}, "must be declared"),
        ({"epsilon": 0}, "epsilon"),
        ({"schema": {"columns": {"f": {"kind": "numeric", "lower": 0, "upper": 1}},
                     "label": {"column": "y", "classes": [0, 1]}}}, "has classes"),
    ],
)  # fmt: skip
def test_public_mistakes_are_refused(asked, message, tmp_path):
    refused(message, tmp_path, private_score, Said(), *world(50, 0), **{"target_bounds": BOUNDS} | asked)
