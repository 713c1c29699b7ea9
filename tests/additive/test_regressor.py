"""`AdditiveBoostRegressor`: what every private estimator promises, and what its losses are for."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from tacit import AdditiveBoostRegressor, PrivacyAccount
from tacit.additive.intercept import NewtonIntercept
from tacit.additive.residual_loss import QuantileLoss, SquaredLoss
from tacit.additive.target_shapes import first_belief, residual_edges, residual_shares, spread_out, target_spread
from tacit.additive.term import Directions, Prior, Term
from tacit.additive.tuning import RESIDUAL_SHAPES, RESIDUALS
from tacit.curator.measurement import Measurement
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian
from tacit.privacy.request import RequestError
from tacit.queries.cells import column_cells
from tacit.report.budget import stages
from tacit.schema import Schema
from tests.additive.spent import share_spent

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "cost", "kind": "numeric", "lower": 0, "upper": 50},
        "columns": {
            "age": {"kind": "numeric", "lower": 0, "upper": 100},
            "size": {"kind": "numeric", "lower": 0, "upper": 1},
            "ward": {"kind": "categorical", "categories": ["a", "b", "c"]},
        },
    }
)
NOISE = 1.5


def people(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Rows, a cost, and its mean; the noise is normal with standard deviation :data:`NOISE`."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": generator.uniform(0, 100, n), "size": generator.random(n), "ward": generator.choice(["a", "b", "c"], n)}
    )
    mean = 20 + 0.08 * (frame["age"] - 50) + 3 * np.sin(5 * frame["size"]) + np.where(frame["ward"] == "b", 2.0, -1.0)
    return frame, mean.to_numpy() + NOISE * generator.normal(size=n), mean.to_numpy()


@pytest.mark.slow
def test_it_learns_and_more_budget_learns_better():
    frame, _, mean = people(5000, 9)
    errors = []
    for epsilon in (0.1, 1.0, math.inf):
        squares = []
        # noise in the level alone may be twice as large as all else in one fit of many
        for seed in range(3 if epsilon < 1 else 1):
            model = AdditiveBoostRegressor(epsilon, schema=SCHEMA, random_state=seed).fit(*people(5000)[:2])
            squares.append(np.mean((model.predict(frame) - mean) ** 2))
        errors.append(float(np.sqrt(np.median(squares))))
    assert max(errors[1:]) < errors[0] < 2.8  # the mean alone is 3.2 off
    assert errors[1] < 0.8  # .23 by .07
    assert errors[2] < 0.2


@pytest.mark.slow
@pytest.mark.parametrize("quantile", [0.1, 0.9])
def test_quantiles_are_where_they_should_be(quantile):
    frame, cost, mean = people(8000)
    model = AdditiveBoostRegressor(2.0, schema=SCHEMA, loss="quantile", quantile=quantile, random_state=0)
    predicted = model.fit(frame, cost).predict(frame)
    assert (cost <= predicted).mean() == pytest.approx(quantile, abs=0.05)
    assert np.corrcoef(predicted, mean)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("epsilon", "delta", "relation", "loss"),
    [
        (0.2, 1e-6, "add_or_remove_one", "quantile"),
        (8.0, 1e-6, "replace_one", "squared"),
        (2.0, 0.0, "add_or_remove_one", "squared"),
        (2.0, 0.0, "replace_one", "quantile"),
    ],
)
def test_it_spends_what_was_reserved_and_no_more(epsilon, delta, relation, loss):
    frame, cost, _ = people(2000)
    model = AdditiveBoostRegressor(epsilon, delta, relation, schema=SCHEMA, loss=loss, random_state=0)
    certificate = model.fit(frame, cost).certificate_
    assert 0.85 < share_spent(certificate) <= 1 + 1e-9
    assert certificate.verify() == []


def test_predictions_stay_within_bounds_and_targets_outside_are_clipped():
    frame, cost, _ = people(3000)
    schema = Schema.from_dict(
        SCHEMA.to_dict() | {"label": {"column": "cost", "kind": "numeric", "lower": 19, "upper": 21}}
    )
    wild = np.where(np.arange(3000) % 3 == 0, 1e300, cost)
    wild[::7] = np.inf
    predicted = AdditiveBoostRegressor(5.0, schema=schema, random_state=0).fit(frame, wild).predict(frame)
    assert predicted.min() >= 19
    assert predicted.max() <= 21
    clipped = AdditiveBoostRegressor(5.0, schema=schema, random_state=0).fit(
        frame, np.where(np.isfinite(wild), np.clip(wild, 19, 21), np.nan)
    )
    assert (clipped.predict(frame) == predicted).all()


def test_rows_without_a_target_are_dropped():
    frame, cost, _ = people(1500)
    some = AdditiveBoostRegressor(1.0, schema=SCHEMA, random_state=5).fit(frame, cost)
    doubled, more = pd.concat([frame, frame]), np.concatenate([cost, np.full(1500, np.nan)])
    same = AdditiveBoostRegressor(1.0, schema=SCHEMA, random_state=5).fit(doubled, more)
    assert (some.predict(frame) == same.predict(frame)).all()


def test_bounds_nobody_declared_are_found_and_paid_for():
    frame, cost, _ = people(4000)
    numbers = frame[["age", "size"]]
    model = AdditiveBoostRegressor(2.0, random_state=0).fit(numbers, cost)
    assert (model.model_.lower, model.model_.upper) == (8.0, 32.0)
    assert any("bounds of target" in entry.label for entry in model.certificate_.entries)
    assert share_spent(model.certificate_) <= 1 + 1e-9
    declared = AdditiveBoostRegressor(2.0, target_bounds=(0, 50), random_state=0).fit(numbers, cost)
    assert not any("bounds of target" in entry.label for entry in declared.certificate_.entries)
    assert declared.model_.upper == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "absolute"}, "loss"),
        ({"quantile": 1.0}, "quantile"),
        ({"quantile": "half"}, "quantile"),
        ({"schema": None, "target_bounds": (3, 1)}, "target_bounds"),
        ({"schema": None, "target_bounds": "03"}, "target_bounds"),
        ({"interactions": "yes"}, "interactions"),
        ({"schema": SCHEMA.to_dict() | {"label": {"column": "cost", "classes": [0, 1]}}}, "has classes"),
    ],
)
def test_public_mistakes_are_refused_and_cost_nothing(arguments, message, tmp_path):
    frame, cost, _ = people(50)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6, "add_or_remove_one")
    numbers = frame if arguments.get("schema", SCHEMA) else frame[["age", "size"]]
    with pytest.raises(RequestError, match=message) as caught:
        AdditiveBoostRegressor(**{"schema": SCHEMA, "account": account, **arguments}).fit(numbers, cost)
    assert "othing was spent" in str(caught.value)
    assert account.spent == 0


def test_a_report_counts_the_stages_of_a_fit_to_numbers():
    """Histograms of residuals are taken within sweeps, and are none."""
    generator = np.random.default_rng(5)
    x = pd.DataFrame({"sweep 1": generator.uniform(-1, 1, 3000), "b": generator.uniform(-1, 1, 3000)})
    fitted = AdditiveBoostRegressor(epsilon=4.0, random_state=1).fit(x, 3.0 * x["sweep 1"] - x["b"])
    claim = fitted.certificate_
    shown = {stage.name: stage.releases for stage in stages(claim.entries, claim.charges, claim.delta)}
    histograms = [entry for entry in claim.entries if "residuals" in entry.label or "of the target" in entry.label]
    assert len(histograms) > 2
    assert shown["size of the errors"] == len(histograms)
    assert shown["bounds"] == 3
    ends = [entry.label.split(", ")[-1] for entry in claim.entries if entry not in histograms]
    effects = shown["effects, all columns together"] + shown["effects, column by column"]
    assert effects == sum("sweep " in end and " of " not in end for end in ends)
    assert sum(shown.values()) == claim.releases


def test_a_column_called_target_is_like_any_other():
    """Bounds are found of the column and of the label beside it, and the two are not mixed up."""
    generator = np.random.default_rng(3)
    x = generator.uniform(-1.0, 1.0, 2000)
    y = 1000.0 * x
    ask = {"epsilon": 8.0, "random_state": 1, "interactions": False}
    named = AdditiveBoostRegressor(**ask).fit(pd.DataFrame({"target": x}), y)
    other = AdditiveBoostRegressor(**ask).fit(pd.DataFrame({"x": x}), y)
    assert named.feature_names_in_.tolist() == ["target"]
    assert named.model_.feature_names == ("target",)
    assert np.array_equal(named.predict(pd.DataFrame({"target": x})), other.predict(pd.DataFrame({"x": x})))
    assert (named.model_.lower, named.model_.upper) == (-1024.0, 1024.0)
    labels = [entry.label for entry in named.certificate_.entries]
    assert [label for label in labels if label.startswith("bounds")] == ["bounds of target", "bounds of target (label)"]


def histogram(residuals: np.ndarray) -> np.ndarray:
    places = np.searchsorted(residual_edges(), residuals, side="right")
    return np.bincount(places, minlength=len(residual_edges()) + 1).astype(float)


@pytest.mark.parametrize(("place", "width"), [(0.3, 0.05), (0.7, 0.12)])
def test_targets_that_noise_hides_do_not_seem_to_vary_over_the_whole_range(place, width):
    """No cell stands out by three deviations of its noise; read cell by cell the middle 68 % are .68 of the range."""
    generator, halves, places = np.random.default_rng(0), [], []
    targets = np.clip(place + width * generator.normal(size=3000), 0.0, 1.0)
    exact = np.histogram(targets, np.linspace(0.0, 1.0, 65))[0]
    sd = float(exact.max()) / 2
    for _ in range(30):
        found, half = target_spread(exact + sd * generator.normal(size=64), sd, 3000.0, 0.5)
        halves.append(half)
        places.append(found)
    assert width / 1.5 < np.exp(np.mean(np.log(halves))) < 1.5 * width
    assert np.median(places) == pytest.approx(place, abs=width)


def test_sure_counts_are_believed_whatever_their_shape():
    """Two heaps, of which no shape knows: quantiles and width are those of the targets, within a cell."""
    exact = np.zeros(64)
    exact[8:12], exact[52:54] = 500.0, 4000.0
    found, half = target_spread(exact, 1.0, 10_000.0, 0.9)
    assert found == pytest.approx(54 / 64 - 0.25 / 64 * 1.0, abs=1 / 64)
    assert half == pytest.approx((53.2 - 11.2) / 64 / 2, rel=0.5)
    assert target_spread(exact, 1.0, 10_000.0, 0.1)[0] == pytest.approx(10 / 64, abs=1 / 64)


@pytest.mark.parametrize("scale", [0.05, 1.0])
def test_residuals_are_sized_up_through_noise(scale):
    generator = np.random.default_rng(0)
    residuals = scale * generator.normal(0.3, 1.0, 5000)
    for sd in (0.5, 60.0):
        noisy = histogram(residuals) + generator.normal(0, sd, len(residual_edges()) + 1)
        values, weights = spread_out(residual_shares(noisy, sd, first_belief())[0])
        assert weights.sum() == pytest.approx(1.0)
        spread = float(np.sqrt(weights @ values**2))
        assert spread == pytest.approx(scale * math.sqrt(1.09), rel=0.3)
        assert float(weights @ (values > 0)) == pytest.approx(0.62, abs=0.1)


def only(place: int) -> np.ndarray:
    """The belief in one shape."""
    belief = np.full(len(first_belief()), -1e9)
    belief[place] = 0.0
    return belief


def test_counts_correct_an_outline_by_what_noise_and_chance_do_not_explain():
    """One shape is believed in: cells keep it, but for what lies beyond so many standard errors of a noisy count."""
    total, sd, cell = 1000.0, 4.0, 20
    outline = residual_shares(np.zeros(len(residual_edges()) + 1), 1e9, only(40), total)[0]
    errors = RESIDUAL_SHAPES.sure * np.sqrt(sd**2 + total * outline)
    for off, excess in ((0.9, 0.0), (-0.9, 0.0), (1.5, 0.5), (-1.5, -0.5)):
        counts = total * outline
        counts[cell] += off * errors[cell]
        expected = total * outline
        expected[cell] += excess * errors[cell]
        shares, _ = residual_shares(counts, sd, only(40), total)
        assert shares == pytest.approx(expected / expected.sum(), abs=1e-12)


def test_shapes_are_weighed_by_a_normal_law_of_the_counts():
    """Its variance: the noise, a row in or out, and a tenth of what a shape puts into the cell."""
    counts, total, sd = histogram(np.random.default_rng(2).normal(0, 1.0, 60)), 60.0, 30.0
    _, posterior = residual_shares(counts, sd, np.zeros(len(first_belief())), total)
    logs = []
    for place in (0, 30, 75, 200):
        expected = total * residual_shares(0 * counts, 1e9, only(place), total)[0]
        deviation = np.sqrt(sd**2 + (0.1 * expected) ** 2 + expected)
        logs.append(norm.logpdf(counts, expected, deviation).sum() - posterior[place])
    assert posterior.max() == 0.0
    assert np.ptp(logs) == pytest.approx(0.0, abs=1e-8)


def test_a_clip_shrinks_where_noise_is_large():
    """Through the losses' own choice: with little noise almost nothing is clipped, with much noise a good part is."""
    counts = histogram(np.random.default_rng(0).standard_t(3, 20_000))
    shares, _ = residual_shares(counts, 1.0, first_belief())
    clips = []
    for mu in (50.0, 0.05):
        loss = SquaredLoss(5)
        loss._choose(shares, Allowance(1.0, 1e-6, mu), 5000.0)
        clips.append(loss.bound)
    assert clips[0] > 3 * clips[1]
    loss = QuantileLoss(5, 0.9)
    loss._choose(shares, Allowance(1.0, 1e-6, 5.0), 5000.0)
    assert loss.rule.high == pytest.approx(9 * -loss.rule.low, rel=0.01)
    assert loss.bias > 0  # a tail is not level: what is smoothed lies elsewhere


@pytest.mark.slow
def test_noise_does_not_make_residuals_look_tiny():
    """A histogram that drowns: residuals of size 1 look a tenth as large much less often than without a belief."""
    generator, tiny = np.random.default_rng(1), {True: [], False: []}
    for _ in range(400):
        belief, loss = first_belief(), SquaredLoss(5)
        for _ in range(3):
            noisy = histogram(generator.normal(size=1000)) + generator.normal(0, 300.0, len(residual_edges()) + 1)
            shares, belief = residual_shares(noisy, 300.0, belief)
            alone, _ = residual_shares(noisy, 300.0, np.zeros(len(belief)))
        for believed, found in ((True, shares), (False, alone)):
            values, weights = spread_out(found)
            tiny[believed].append(float(weights @ (np.abs(values) < 0.1)) > 0.25)
        values, weights = spread_out(shares)
        loss._choose(shares, Allowance(1.0, 1e-6, 0.02), 1000.0)
        assert float(weights @ (np.abs(values) < loss.bound)) >= RESIDUALS.least_inside - 1e-9
        assert belief.min() >= -RESIDUAL_SHAPES.belief
    assert np.mean(tiny[True]) < np.mean(tiny[False])  # a third of .32 and .64, each by .024


def test_releases_under_different_clips_agree_in_units_of_their_gain():
    """One effect, seen under a wide clip and under one that lets a tenth as much through: the average finds it."""
    counts = np.full(4, 5000.0)
    truth = np.array([[-0.5], [0.0], [0.2], [0.3]])
    results = []
    for told in (True, False):
        term = Term("a", Prior("numeric", column_cells(0, 4), counts, 0.0, [np.eye(4)], None), 25.0, 1)
        for gain, sd in ((0.9, 50.0), (0.09, 5.0), (0.9, 50.0)):
            term.observe(
                Measurement("x", gain * counts[:, None] * truth, sd, Gaussian(1.0), "none"), gain if told else 1.0
            )
        now = Directions.of(np.array([[0.9]]), 0.01, 1.0, gain=0.9 if told else 1.0)
        results.append(np.abs(term.solve(now, None) - truth).max())
    assert results[0] < 0.05
    assert results[1] > 0.2


def claims(n, seed):
    """Rows and a target that most have none of, and whose sum a few rows bring."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame({"a": generator.random(n), "b": generator.random(n)})
    size = 2 * np.exp(1.5 * X["a"] + X["b"] + 0.9 * generator.normal(size=n)) * (generator.random(n) < 0.15)
    return X, np.clip(size, 0, 300).to_numpy()


@pytest.mark.parametrize(("n", "epsilon"), [(6000, 2.0), pytest.param(40_000, 0.5, marks=pytest.mark.slow)])
def test_the_level_is_right_where_targets_are_skewed(n, epsilon):
    """The mean of predictions over that of targets; without a look at wide residuals .55 and .81."""
    columns = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in "ab"}
    schema = {"label": {"column": "y", "kind": "numeric", "lower": 0, "upper": 300}, "columns": columns}
    levels, (fresh, truth) = [], claims(200_000, 99)
    for seed in range(4):
        model = AdditiveBoostRegressor(epsilon, schema=schema, random_state=seed, interactions=False)
        model.fit(*claims(n, seed))
        levels.append(model.predict(fresh[:20_000]).mean() / truth.mean())  # rows scatter less than targets
    assert 0.88 < np.mean(levels) < 1.1, levels
    assert model.certificate_.entries[-1].label == "mean of the residuals"


@pytest.mark.parametrize("epsilon", [0.02, 4.0])
def test_the_mean_of_residuals_is_looked_at_only_where_noise_leaves_something_to_see(epsilon):
    X, y, _ = people(400)
    entries = AdditiveBoostRegressor(epsilon=epsilon, schema=SCHEMA, random_state=0).fit(X, y).certificate_.entries
    assert any(entry.label == "mean of the residuals" for entry in entries) == (epsilon > 1)


@pytest.mark.parametrize("far", [-9.0, 9.0])
def test_an_intercept_that_begins_far_off_gets_there(far):
    """Residuals of size 1 about ``far`` under a clip of a tenth: a sum says in which direction, and no more."""
    generator, total, noise = np.random.default_rng(0), 2000.0, 50.0
    intercept, residuals = (
        NewtonIntercept(np.zeros(1), total, 6.0, lambda: (-0.1, 0.1)),
        far + generator.normal(size=2000),
    )
    flat = Directions.of(np.array([[0.3]]), 0.02, 1.0, gain=0.3)
    for _ in range(30):
        result = np.clip(residuals - intercept.value, -0.1, 0.1).sum() + noise * generator.normal()
        intercept.observe(Measurement("", np.array([[result]]), noise, Gaussian(1.0), ""), flat, 0.0)
    assert abs(intercept.value.item() - far) < 4.5  # by .6


def test_an_intercept_does_not_stride_for_noise():
    """Noise as large as all contributions together, and residuals around 0: none of 300 intercepts leaves."""
    flat, left = Directions.of(np.array([[0.3]]), 0.02, 1.0, gain=0.3), 0
    for seed in range(300):
        generator, intercept = (
            np.random.default_rng(seed),
            NewtonIntercept(np.zeros(1), 2000.0, 6.0, lambda: (-0.1, 0.1)),
        )
        for _ in range(20):
            result = 200.0 * generator.normal() - 2000.0 * np.clip(intercept.value.item(), -0.1, 0.1)
            intercept.observe(Measurement("", np.array([[result]]), 200.0, Gaussian(1.0), ""), flat, 0.0)
        left += abs(intercept.value.item()) > 1.0
    assert left == 0


def test_the_look_at_the_targets_gets_what_lets_it_see_rows():
    """Rows are twelve standard deviations of its noise, (12 / (n mu))^2, from a 50th to a fifth of the budget."""
    for rows, epsilon, first in ((300.0, 0.1, 0.2), (2000.0, 0.1, 0.0476), (2000.0, 1.0, 0.02)):
        loss = SquaredLoss(5)
        before, (_, each, left) = loss.share, (loss._first, loss._each, loss._left)
        loss._plan_looks(Allowance.of(epsilon, 1e-6), rows)
        assert (loss._first, loss._each, loss._left) == (pytest.approx(first, rel=0.01), each, left)
        assert loss.share == pytest.approx(before + first - 0.02, abs=1e-3)


def test_at_delta_0_a_look_gets_what_lets_it_see_rows():
    """Rows times epsilon times share are 40, from a 50th to a fifth of the budget for the first look."""
    for rows, epsilon, expected in ((2000.0, 0.1, (0.2, 0.1, 2)), (4000.0, 0.25, (0.04, 0.04, 2)), (1e4, 4.0, None)):
        for loss in (SquaredLoss(5), QuantileLoss(5, 0.9)):
            before, usual = loss.share, (loss._first, loss._each, loss._left)
            loss._plan_looks(Allowance.of(epsilon, 0.0), rows)
            assert (loss._first, loss._each, loss._left) == pytest.approx(usual if expected is None else expected)
            assert loss.share - before == pytest.approx(loss._first + loss._left * loss._each - RESIDUALS.looking)


@pytest.mark.parametrize("loss", ["squared", "quantile"])
def test_little_can_be_known_and_nothing_absurd_is_said(loss):
    """At delta 0, epsilon .1 and 3,000 rows of a target that fills a thirtieth of its bounds: near its mean or median.

    Before, the looks drowned in Laplace noise, and predictions were off by up to twenty standard deviations.
    """
    declared = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in "abcdef"}
    errors = []
    for seed in range(8):
        generator = np.random.default_rng(seed)
        frame = pd.DataFrame(generator.random((3000, 6)), columns=list("abcdef"))
        place = generator.uniform(-10, 10)
        target = np.clip(place + generator.standard_t(3, 3000) + frame["a"] - 0.5, -25, 25)
        schema = {"label": {"column": "y", "kind": "numeric", "lower": -25, "upper": 25}, "columns": declared}
        model = AdditiveBoostRegressor(epsilon=0.1, delta=0.0, schema=schema, random_state=seed, loss=loss)
        result = model.fit(frame, target).predict(frame)
        errors.append(float(np.sqrt(np.mean((result - place) ** 2))) / 1.7)
    assert np.median(errors) < 0.6
    assert max(errors) < 2.5


def test_an_offset_is_refused_with_what_to_do_instead() -> None:
    learner = AdditiveBoostRegressor(loss="poisson", target_bounds=(0, 9))
    with pytest.raises(RequestError, match=r"no offset; .*count / exposure, and sample_weight .*Nothing was spent"):
        learner.fit({"x": [1.0, 2.0]}, [1.0, 2.0], offset=[1.0, 1.0])
    assert "unknown" not in learner.get_metadata_routing().fit.requests
