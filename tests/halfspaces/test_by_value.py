"""Plans, scalings, steps and counts of halfspaces as numbers, each rule written once more."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.halfspace_rows import made_rows
from tacit.boosting.schema import Ensemble
from tacit.halfspaces import learn
from tacit.halfspaces.calibration import (
    BaseRate,
    Calibration,
    Prior,
    Spread,
    count_rows,
    fit_curve,
    prior_of,
    spread_of,
)
from tacit.halfspaces.centering import Centering, Centre
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.halfspaces.learn import average, constant_direction, plain_halfspace, round_charge, sum_of_steps
from tacit.halfspaces.learner import length_grid, quantile_cell
from tacit.halfspaces.plan import Descent, Options
from tacit.halfspaces.scaling import Scaling, make_scaling
from tacit.halfspaces.tuning import TUNING
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.request import RequestError

SCALING = Scaling(np.array([0.3, 0.2, 0.05]), np.array([0.4, -0.1, 0.2]))
SECOND = np.diag(SCALING.variances) + np.outer(SCALING.mean, SCALING.mean)
INVERSE = np.linalg.inv(SECOND)


def test_shares_by_hand() -> None:
    whole = Options(constant=0.5, stop_density=0.2).shares
    assert whole == pytest.approx(
        {"count": 0.04, "scaling": 0.1, "calibration": 0.05, "errors": 0.01, "stopping": 0.1, "rounds": 0.7}
    )
    assert Options(scaling=False, calibrate=False).shares == {"count": 0.01, "rounds": 0.99}
    assert Options(calibrate=False).shares == pytest.approx(
        {"count": 0.01, "scaling": 0.1, "far": 0.002, "rounds": 0.888}
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"measure": "steep"}, {"rounds": 0}, {"density": 0.0}, {"density": 1.0}, {"advantage": 0.0},
        {"advantage": 0.5}, {"stop_density": 0.0}, {"stop_density": 1.0}, {"learning_rate": 0.0},
        {"learning_rate": 1.01}, {"divisor": -0.01}, {"divisor": 1.01}, {"analysis": "loose"},
        {"divisor": 0.1}, {"promise": {"error": 0.1}},
        {"scaling": 2}, {"calibrate": "no"}, {"analysis": "paper"}, {"analysis": "paper", "measure": "smooth"},
        {"measure": "lazy_bregman", "stop_density": 0.5},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        Options(**wrong).checked()


def test_options_at_their_limits_are_taken() -> None:
    given = Options("lazy_bregman", np.int64(1), 0.01, 1, 0.49, analysis="paper", divisor=1)  # type: ignore[arg-type]
    assert given.checked() == Options("lazy_bregman", 1, 0.01, 1.0, 0.49, analysis="paper", divisor=1.0)
    assert Options(stop_density=0.99, divisor=0.0).checked().stop_density == 0.99


def test_the_inverse_of_a_scaling_and_its_traces() -> None:
    vector = np.array([0.3, -1.0, 2.0])
    assert SCALING.solve(vector) == pytest.approx(INVERSE @ vector)
    assert SCALING.trace == pytest.approx(np.trace(INVERSE))
    assert SCALING.trace_of_square == pytest.approx(np.trace(INVERSE @ INVERSE))
    rows = np.sum(INVERSE**2, axis=1)
    assert SCALING.noise_profile == pytest.approx(np.sqrt(rows / rows.mean()))
    # of rows with A as their second moment, and of their distance from the mean
    mean = SCALING.mean
    size = np.trace(INVERSE @ INVERSE) / 3
    assert SCALING.noise_spread(False) == pytest.approx(math.sqrt(np.trace(INVERSE) / size))
    around = np.trace(INVERSE @ (SECOND - np.outer(mean, mean)) @ INVERSE)
    assert SCALING.noise_spread(True) == pytest.approx(math.sqrt(around / size))
    assert Scaling.none(4).solve(np.arange(4.0)).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_scaling_from_noisy_moments_by_hand() -> None:
    """Shrunk by one less the share of noise in the squared length; floors by tuning."""
    mean, squares, mean_sd, square_sd = np.array([0.3, -0.1]), np.array([0.5, 0.1]), 0.1, 0.05
    drawn = mean * (1 - 2 * 0.1**2 / (0.3**2 + 0.1**2))
    kept = 1 - 2 * 0.05**2 / (2 * 0.2**2)
    common = 0.3 + 0.05 / math.sqrt(2)
    variances = common + kept * np.array([0.2, -0.2]) - drawn**2
    result = make_scaling(mean, squares, mean_sd, square_sd)
    assert result.mean == pytest.approx(drawn)
    assert result.variances == pytest.approx(np.maximum(variances, kept * 0.05) + kept * 0.05)
    # all of it noise: what is left is what the coordinates have in common
    alike = make_scaling(mean, squares, 1.0, 1.0)
    assert alike.mean.tolist() == [0.0, 0.0]
    assert alike.variances == pytest.approx(0.3 + 1 / math.sqrt(2))
    assert (result.told_apart, alike.told_apart) == (pytest.approx(max(kept, drawn[0] / mean[0])), 0.0)
    # a coordinate that never varies keeps a millionth of the mean squared length of a row
    flat = make_scaling(np.array([0.5, 0.5]), np.array([0.25, 0.5]), 0.0, 0.0)
    assert flat.variances == pytest.approx([0.75e-6, 0.25])
    long = make_scaling(np.array([math.sqrt(0.8), 0.0]), np.array([0.8, 0.7]), 0.0, 0.0)  # no row is longer than 1
    assert long.variances == pytest.approx([1e-6, 0.7])
    below = make_scaling(np.array([0.5, 0.0]), np.array([0.1, 0.1]), 0.0, 0.2, tuning=replace(TUNING, shared_floor=0.3))
    assert below.variances[0] == pytest.approx(0.3 * (0.1 + 0.2 / math.sqrt(2)))
    # one wide coordinate among four that noise hides together: what it has above the largest noise is sure
    sure = 1.0 - 0.4 - 0.2 * math.sqrt(2 * math.log(2 * 4))
    wide = make_scaling(np.zeros(4), np.array([1.0, 0.2, 0.2, 0.2]), 1e-9, 0.2, (0.0, 3.0))
    assert wide.variances == pytest.approx([0.5 + sure, 0.5, 0.5, 0.5])
    assert wide.told_apart == pytest.approx(sure**2 / (sure**2 + 4 * 0.5**2))


def test_averages_and_sums_of_hypotheses() -> None:
    ensemble = Ensemble((Centre(np.array([1.0, 2.0]), 0.3), Centre(np.array([3.0, 0.0]), 0.4)))
    weights, noise = average(ensemble, 2)
    assert (weights.tolist(), noise) == ([2.0, 1.0], pytest.approx(0.25))
    weights, noise = sum_of_steps(ensemble, 2, 10.0, 0.5)
    # the first gradient moves the second step by half of itself, and the look ahead by a quarter
    assert weights.tolist() == [40.0, 20.0]
    assert noise == pytest.approx(10 * math.hypot(0.3 * 1.75, 0.4 * 1.5))
    for empty in (average(Ensemble(()), 2), sum_of_steps(Ensemble(()), 2, 1.0, 0.5)):
        assert (empty[0].tolist(), empty[1]) == ([0.0, 0.0], 0.0)
    assert constant_direction(3, 0.5).tolist() == [0.0, 0.0, 0.5]


def test_rounds_of_the_paper_have_twice_the_noise() -> None:
    for charge in (Gaussian(3.0), Laplace(3.0), NonPrivate()):
        budget: Any = SimpleNamespace(charge=lambda share, charge=charge: charge)
        assert round_charge(budget, 0.1, Options()) is charge
        doubled = round_charge(budget, 0.1, Options("lazy_bregman", analysis="paper"))
        assert doubled == (charge if isinstance(charge, NonPrivate) else type(charge)(6.0))


def centering(**more: Any) -> Centering:
    nothing: Any = None
    return Centering(nothing, NonPrivate(), 100.0, 1.0, SCALING, **more)


def test_lengths_of_centres_by_hand() -> None:
    """``z^T A^-1 z`` less what noise adds to it, and no less than a floor."""
    centre = np.array([1.0, 2.0, -1.0])
    direction = INVERSE @ centre
    noise = np.trace(INVERSE) * 0.01
    length = math.sqrt(centre @ direction - noise)
    assert centering()._length(centre, direction, 0.1) == pytest.approx(length)
    assert centering()._length(centre, direction, 10.0) == pytest.approx(0.5 * math.sqrt(np.trace(INVERSE) * 100))
    for others in ([], [Centre(centre, 0.0, 7.0)]):
        assert centering(divisor=0.3)._divisor(centre, direction, 10.0, others) == 0.3
    even = centering(even_steps=True)
    assert centering()._divisor(centre, direction, 0.1, []) == pytest.approx(length)
    assert even._divisor(centre, direction, 0.1, []) == pytest.approx(length / math.sqrt(10 / math.sqrt(3)))
    assert even._divisor(centre, direction, 0.0, []) == pytest.approx(math.sqrt(centre @ direction) / 4)
    assert even._divisor(centre, direction, 0.1, [Centre(centre, 0.0, 7.0), Centre(centre, 0.0, 8.0)]) == 7.0


def test_a_centre_is_the_noisy_average_divided_by_its_length() -> None:
    """Theorem 22's hypothesis and the noise in it: a sum of (3, 4, 0) with noise of .5, of 50 rows' weight."""
    curator: Any = SimpleNamespace(
        measure=lambda query, charge, label: SimpleNamespace(value=np.array([3.0, 4.0, 0.0]), sd=0.5)
    )
    measure: Any = SimpleNamespace(weighted_sum=lambda log, rounds, reach: None, total=lambda rows: rows / 2, step=1.0)
    embedding: Any = SimpleNamespace(log=None)
    result = Centering(embedding, NonPrivate(), 100.0, 1.0, Scaling.none(3)).learn(curator, measure, [])
    length = math.sqrt(25 - 3 * 0.25) / 50
    assert result.direction == pytest.approx(np.array([0.06, 0.08, 0.0]) / length)
    assert (result.noise_sd, result.divisor) == pytest.approx((0.01 / length, length))


def test_a_step_with_momentum_by_hand() -> None:
    descent, gradient = Descent(0.5, 0.8), np.array([2.0])
    first = Centering._step(descent, gradient, 0.3, 4.0, [])
    assert first.velocity is not None
    assert (first.velocity.tolist(), first.direction.tolist()) == ([1.0], [(1.0 + 0.8 * 1.0) / 4])
    assert first.noise_sd == 0.3 * 0.5 / 4
    second = Centering._step(descent, gradient, 0.3, 4.0, [first])
    assert second.velocity is not None
    assert second.velocity.tolist() == [1.8]
    assert second.direction == pytest.approx([(1.8 + 0.8 * 0.8) / 4])


def test_spreads_and_priors_by_hand() -> None:
    weights = np.array([1.0, -2.0, 0.5])
    width, centre = math.sqrt(0.3 + 0.8 + 0.0125), 0.4 + 0.2 + 0.1
    assert spread_of(weights, SCALING, 0.5) == Spread(pytest.approx(centre), pytest.approx(width))
    assert spread_of(weights, SCALING, 0.0) == Spread(0.0, pytest.approx(math.hypot(width, centre)))
    assert spread_of(0 * weights, SCALING, 0.5) == spread_of(0 * weights, SCALING, 0.0) == Spread(0.0, 1.0)
    prior = prior_of(Spread(3.0, 2.0), 1.2, BaseRate(100.0, -2.0, 0.3))
    offset = -2.0 * math.sqrt(1 + math.pi / 8 * 1.6**2)
    assert (prior.slope, prior.offset) == (pytest.approx(1.6), pytest.approx(offset))
    assert prior.offset_sd == pytest.approx(math.hypot(0.3, 0.1 * (1 - offset)))
    assert prior_of(Spread(3.0, 2.0), 2.1, BaseRate(100.0, -2.0, 3.0)) == Prior(0.0, -2.0, 1.0)


def test_no_direction_stays_none_and_offsets_go_into_the_constant() -> None:
    nothing = plain_halfspace(np.zeros(3), Calibration(2.5, 0.0), SCALING, Options())
    assert (nothing.integers.tolist(), nothing.unit, nothing.calibration) == ([0, 0, 0], 1.0, Calibration(2.5, 0.0))
    weights = np.array([0.3, -0.2, 0.1])
    plain = plain_halfspace(weights, Calibration(2.0, 0.5), SCALING, Options(constant=0.5))
    aim = weights + np.array([0.0, 0.0, 0.5 / (2.0 * 0.5)])
    assert math.frexp(plain.unit)[0] == 0.5
    scores, slope = plain.weights * plain.calibration.slope, float(np.linalg.norm(plain.weights) / np.linalg.norm(aim))
    assert scores == pytest.approx(2.0 * aim, abs=0.1)
    assert plain.calibration == Calibration(pytest.approx(2.0 / slope), 0.0)


@pytest.mark.parametrize("with_offset", [True, False])
def test_a_fitted_curve_is_where_likelihood_and_prior_pull_alike(with_offset: bool) -> None:
    scores, counts = np.array([-1.5, -0.2, 0.7, 1.0]), np.array([[9.0, 2.0], [-1.0, 5.0], [4.0, 6.0], [1.0, 7.0]])
    prior, sd = Prior(1.0, -0.5, 0.4), 2.0
    result = fit_curve(scores, counts, sd, with_offset, prior)
    share = float(expit(-0.5))
    noise = sd**2 * (share**2 + (1 - share) ** 2) / max(1.0, 33 * share * (1 - share))
    pull_slope, pull_offset = 1 + noise * scores @ scores, (1 + 4 * noise) / 0.4**2
    slack = counts[:, 1] - counts.sum(axis=1) * expit(result.slope * scores + result.offset)
    assert slack @ scores == pytest.approx(pull_slope * (result.slope - 1.0), abs=1e-3)
    if with_offset:
        assert slack.sum() == pytest.approx(pull_offset * (result.offset + 0.5), abs=1e-3)
    else:
        assert result.offset == 0.0


def test_slopes_and_offsets_have_bounds() -> None:
    scores = np.array([-1.0, 1.0])
    steep = fit_curve(scores, np.array([[1e9, 0.0], [0.0, 1e9]]), 0.0, True, Prior(2.0, 0.0))
    flat = fit_curve(scores, np.array([[0.0, 1e9], [1e9, 0.0]]), 0.0, True, Prior(2.0, 0.0))
    assert steep.slope <= 50.0
    assert flat == Calibration(0.02, pytest.approx(0.0, abs=1e-6))


@pytest.mark.parametrize(
    ("counts", "sd", "rows", "share"),
    [
        ([900.0, 100.0], 0.0, 1000.0, 0.1),
        ([999.0, 1.0], 0.0, 1000.0, 0.01),
        ([-50.0, 20.0], 9.0, 1.0, None),
        ([60.0, 40.0], 10.0, 100.0, 0.5 - 0.1 * 0.08 / 0.09),
        ([100.0, 0.0], 40.0, 100.0, 0.5 - 0.5 * 0.08 / 0.24),
    ],
)
def test_the_base_rate_by_hand(counts: list[float], sd: float, rows: float, share: float | None) -> None:
    queries: list[float] = []

    def measure(query: Any, share: float, label: Any) -> Any:
        queries.append(share)
        return SimpleNamespace(value=np.array([counts]), sd=sd)

    budget: Any = SimpleNamespace(layout=SimpleNamespace(n_labels=2), measure=measure)
    assert count_rows(budget, Options()) == BaseRate(rows)
    result = count_rows(budget, Options(constant=0.5))
    assert queries == [0.01, 0.04]
    assert result.rows == rows
    if share is None:  # noise is far more than there are rows: nobody knows
        assert result.log_odds == 0.0
    else:
        assert result.log_odds == pytest.approx(math.log(share / (1 - share)))
        assert result.sd == pytest.approx(sd / rows / (share * (1 - share)))


def test_cells_of_lengths() -> None:
    """Four cells per factor of 2, eight such factors below the longest."""
    edges = length_grid(3.0).edges()
    assert len(edges) == 33
    assert edges[1:] == pytest.approx([3.0 * 2.0 ** (-k / 4) for k in range(32, 0, -1)])


def test_the_length_beyond_which_few_rows_lie() -> None:
    assert quantile_cell(np.array([50.0, 45.0, 4.0, 1.0]), 0.0) == 1  # 5 of 100 may be beyond
    assert quantile_cell(np.array([50.0, 44.0, 5.0, 1.0]), 0.0) == 2
    assert quantile_cell(np.array([100.0, 0.0, 0.0, 0.0]), 0.0) == 0
    assert quantile_cell(np.array([60.0, 28.0, 11.0, 1.0]), 5.0) == 1  # 12 beyond, and noise hides 5 sqrt(2)
    assert quantile_cell(np.array([60.0, 27.0, 12.0, 1.0]), 5.0) == 2
    assert quantile_cell(np.array([50.0, 5.0, 4.0, 1.0]), 10.0) == 3  # 60 rows are three deviations: nothing is sure
    assert quantile_cell(np.array([50.0, 6.0, 4.0, 1.0]), 10.0) < 3


@pytest.mark.parametrize(("margin", "most"), [(0.3, 0.6), (0.7, 1.0)])
def test_distances_of_made_rows(margin: float, most: float) -> None:
    rows, labels = made_rows(2000, 4, margin, 0)
    direction = np.array([-1.1503494, -0.3186394, 0.3186394, 1.1503494])
    distances = (2 * labels - 1) * (rows @ (direction / np.linalg.norm(direction)))
    assert margin <= distances.min() < margin + 0.02 * (most - margin)
    assert most - 0.02 * (most - margin) < distances.max() <= most
    assert distances.mean() == pytest.approx((margin + most) / 2, abs=0.05 * (most - margin))


def test_the_first_centre_is_from_one_class_to_the_other() -> None:
    """Scores start from the base rate, so both classes weigh the same, and the start stays in the halfspace."""
    rows = np.array([[0.6, 0.0]] * 10 + [[-0.2, 0.4]] * 30)
    model = HalfspaceBoostClassifier(
        math.inf, row_norm=1.0, measure="smooth", rounds=1, scaling=False, calibrate=False, classes=(0, 1)
    ).fit(rows, np.array([1] * 10 + [0] * 30))
    (centre,) = model.ensemble_.hypotheses
    assert centre.direction == pytest.approx(4 * np.array([0.8, -0.4, 0.0]) / math.sqrt(0.8), abs=0.01)
    start = 2 * math.log(1 / 3) / -math.log(0.8)
    assert model.decision_function(np.zeros((1, 2))) == pytest.approx(2 * start, abs=0.02)


def test_the_noise_of_weights_is_said_coordinate_by_coordinate_and_in_their_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: dict[str, Any] = {}

    def spied(name: str) -> None:
        real = getattr(learn, name)

        def spy(*arguments: Any, **more: Any) -> Any:
            seen[name] = (real(*arguments, **more), arguments[0])
            return seen[name][0]

        monkeypatch.setattr(learn, name, spy)

    spied("chosen")
    spied("plain_halfspace")
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 2)) * [1.0, 0.1]
    columns = {f"x{k}": {"kind": "numeric", "lower": -1, "upper": 1} for k in range(2)}
    learner = HalfspaceBoostClassifier(
        epsilon=5.0, schema={"columns": columns}, classes=(0, 1), random_state=2, rounds=5, fit_intercept=False
    )
    model = learner.fit(x, (x[:, 0] + 5 * x[:, 1] > 0).astype(int)).model_
    run, (plain, before) = seen["chosen"][0], seen["plain_halfspace"]
    shorter = np.linalg.norm(plain.weights) / np.linalg.norm(before)
    assert model.noise_sd == pytest.approx(run.noise_sd * run.scaling.noise_profile * shorter, rel=1e-9)
    assert model.noise_sd[1] > 2 * model.noise_sd[0]
    assert not 0.98 < shorter < 1.02
