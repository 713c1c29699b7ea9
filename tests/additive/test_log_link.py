"""Counts and costs: what the losses with a log link are for, and what every private estimator promises."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostRegressor, load_model, private_score, save_model
from tacit.additive.log_link_loss import FINEST_TOP, LogLinkLoss
from tacit.additive.sweeps import tempered
from tacit.additive.target_shapes import part_values, target_shares
from tacit.additive.term import Directions, Prior, Term
from tacit.additive.tuning import LOG_LINKED
from tacit.curator.measurement import Measurement
from tacit.encoding.frames import columns_of
from tacit.encoding.labels import NumericLabelIndex
from tacit.evaluation.number_scorer import largest_deviance, unit_deviance
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.privacy.charges import Gaussian
from tacit.privacy.request import RequestError
from tacit.queries.cells import column_cells
from tacit.queries.rules import MARGIN_BITS
from tacit.queries.score_rules import LOWEST_OFFSET, TARGET_BITS
from tacit.report.model_card import model_card
from tacit.report.page import render
from tests.additive.spent import share_spent
from tests.chance import near
from tests.pairwise import in_turn

COLUMNS = {
    "age": {"kind": "numeric", "lower": 0, "upper": 1},
    "size": {"kind": "numeric", "lower": 0, "upper": 1},
    "ward": {"kind": "categorical", "categories": ["a", "b", "c"]},
}
LOSSES = {"poisson": 1.0, "gamma": 2.0, "tweedie": 1.5}


def schema(upper: float = 60.0, lower: float = 0.0) -> dict[str, object]:
    return {"label": {"column": "visits", "kind": "numeric", "lower": lower, "upper": upper}, "columns": COLUMNS}


def people(n: int, loss: str = "poisson", level: float = 0.5, seed: int = 0):
    """Rows, a count or cost, and its mean, whose factors range over 1 to 20."""
    generator = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": generator.random(n), "size": generator.random(n), "ward": generator.choice(["a", "b", "c"], n)}
    )
    mean = np.exp(level + 1.5 * X["age"] - np.sin(4 * X["size"]) + np.where(X["ward"] == "b", 0.8, 0.0)).to_numpy()
    if loss == "poisson":
        return X, generator.poisson(mean).astype(float), mean
    if loss == "gamma":
        return X, generator.gamma(2.0, mean / 2.0), mean
    events = generator.poisson(mean**0.5)
    return X, np.array([generator.gamma(k, m**0.5) if k else 0.0 for k, m in zip(events, mean, strict=True)]), mean


@pytest.mark.parametrize("loss", list(LOSSES))
def test_it_learns_ratios_of_means_and_the_level(loss):
    """Logarithms of means are within a fifth, of .7 that they vary by; totals within a few percent."""
    X, y, _ = people(4000, loss)
    test, _, mean = people(2000, loss, seed=9)
    model = AdditiveBoostRegressor(2.0, schema=schema(), loss=loss, interactions=False, random_state=0).fit(X, y)
    predictions = model.predict(test)
    assert np.std(np.log(predictions / mean)) < 0.2
    assert predictions.sum() / np.minimum(mean, 60).sum() == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize("level", [-3.0, 3.0])
def test_rare_and_frequent_counts(level):
    """Mean counts of .1 and of 40: the unit of residuals follows them."""
    X, y, _ = people(6000, "poisson", level)
    test, _, mean = people(2000, "poisson", level, seed=9)
    model = AdditiveBoostRegressor(4.0, schema=schema(400.0), loss="poisson", interactions=False, random_state=0)
    predictions = model.fit(X, y).predict(test)
    assert np.std(np.log(predictions / mean)) < 0.35
    assert predictions.sum() / mean.sum() == pytest.approx(1.0, abs=0.12)


def test_a_rate_with_exposures_as_weights_is_that_of_counts_with_an_offset():
    """The young were there for a short time: their counts are small, their rate is the largest."""
    generator = np.random.default_rng(6)
    X = pd.DataFrame({"age": generator.random(12_000), "size": generator.random(12_000), "ward": "a"})
    years = np.clip(0.1 + 0.8 * X["age"] + 0.1 * generator.random(12_000), 0.0, 1.0).to_numpy()
    rate = np.exp(0.5 - 1.0 * X["age"]).to_numpy()
    visits = generator.poisson(rate * years).astype(float)
    arguments = {"epsilon": 1.0, "schema": schema(), "loss": "poisson", "random_state": 0}
    model = AdditiveBoostRegressor(**arguments).fit(X, np.minimum(visits / years, 60.0), sample_weight=years)
    result = model.predict(X)
    assert np.abs(np.log(result / rate)).mean() < 0.15
    assert (result * years).sum() == pytest.approx(visits.sum(), rel=0.1)
    counts = AdditiveBoostRegressor(**arguments).fit(X, visits).predict(X)
    assert np.corrcoef(np.log(counts), np.log(rate))[0, 1] < 0 < np.corrcoef(np.log(result), np.log(rate))[0, 1]


@pytest.mark.slow
def test_hazards_of_censored_rows_have_the_right_level():
    """Events per time watched; where the clip came before the weight, half to three quarters of them were predicted."""
    ratios = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        X = pd.DataFrame({"age": generator.random(5000), "size": generator.random(5000), "ward": "a"})
        hazard = np.exp(2.0 * X["age"] - 3.0).to_numpy()
        waiting = generator.exponential(1 / hazard)
        watched = np.minimum(waiting, generator.uniform(0.5, 5.0, 5000))
        event = (waiting <= watched).astype(float)
        weights = np.clip(watched / 5.0, 0.02, 1.0)
        arguments = {"epsilon": 1.0, "schema": schema(), "loss": "poisson", "random_state": seed, "interactions": False}
        model = AdditiveBoostRegressor(**arguments).fit(X, np.minimum(event / watched, 10.0), sample_weight=weights)
        result = model.predict(X)
        ratios.append((result * watched).sum() / event.sum())
        assert np.corrcoef(np.log(result), np.log(hazard))[0, 1] > 0.9
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.12)


def test_a_large_ratio_neither_oscillates_nor_explodes():
    """One row in twenty has a mean twenty times that of the others."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"age": generator.random(4000), "size": generator.random(4000), "ward": "a"})
    mean = np.where(X["age"] > 0.95, 10.0, 0.5)
    model = AdditiveBoostRegressor(math.inf, schema=schema(), loss="poisson", interactions=False, random_state=0)
    predictions = model.fit(X, generator.poisson(mean).astype(float)).predict(X)
    assert predictions[mean > 1].mean() == pytest.approx(10.0, rel=0.3)
    assert np.median(predictions[mean < 1]) == pytest.approx(0.5, rel=0.3)


def test_what_a_fit_leaves_behind(tmp_path):
    X, y, _ = people(3000)
    model = AdditiveBoostRegressor(2.0, schema=schema(), loss="tweedie", power=1.3).fit(X, y)
    assert model.certificate_.verify() == []
    assert any("clipped residuals" in entry.theorem for entry in model.certificate_.entries)
    save_model(model.model_, tmp_path / "model.json", model.certificate_.to_dict())
    again, certificate = load_model(tmp_path / "model.json")
    assert isinstance(again, AdditiveRegressionModel)
    assert (again.loss, again.power, again.upper) == ("tweedie", 1.3, 60)
    assert (again.predict(columns_of(X)) == model.predict(X)).all()
    page = render(again, certificate)
    for words in ("logarithm of the mean of “visits”", "×2 doubles it", "log ratio"):
        assert words in page
    painted = model_card(again)
    assert not any("odds" in drawn.markup + drawn.caption for drawn in painted.drawings)
    age = next(drawn for drawn in painted.drawings if drawn.title == "age")
    assert age.header == ("value", "log ratio", "ratio", "noise (sd)", "rows (noisy)")
    _, effects = again.contributions(columns_of(X))
    total = float(again.scores.intercept[0]) + effects[:, :, 0].sum(axis=1)
    assert np.clip(np.exp(total), 0, 60) == pytest.approx(model.predict(X), rel=1e-6)
    predictions, spread = model.predict(X), model.predict_std(X)
    assert (spread > 0).all()
    assert 0.01 < np.median(spread / predictions) < 0.5


@pytest.mark.parametrize(
    ("loss", "relation", "epsilon", "delta", "interactions"),
    in_turn(
        ["poisson", "squared"],
        [("add_or_remove_one", 0.2, 1e-6, True), ("replace_one", 8.0, 1e-6, False), ("replace_one", 2.0, 0.0, True)],
    ),
)
def test_it_spends_what_was_reserved_and_no_more(loss, relation, epsilon, delta, interactions):
    X, y, _ = people(1500)
    arguments = {"schema": schema(), "loss": loss, "interactions": interactions, "random_state": 0}
    certificate = AdditiveBoostRegressor(epsilon, delta, relation, **arguments).fit(X, y).certificate_
    assert 0.999 < share_spent(certificate) <= 1 + 1e-9
    assert certificate.verify() == []


@pytest.mark.parametrize("loss", list(LOSSES))
def test_what_rows_hold_never_makes_a_fit_fail(loss):
    """Of loss, target and budget every two values meet in some fit."""
    X, _, _ = people(30)
    budgets = {"epsilon": 0.5}, {"epsilon": math.inf}, {"delta": 0.0, "epsilon": 40.0}
    for place, number in enumerate((0.0, 1e300, math.nan, -5.0, 60.0)):
        more = budgets[(place + list(LOSSES).index(loss)) % 3]
        model = AdditiveBoostRegressor(schema=schema(), loss=loss, random_state=0, **more).fit(X, np.full(30, number))
        predictions = model.predict(X)
        assert np.isfinite(predictions).all()
        assert predictions.min() >= 0
        assert predictions.max() <= 60
    assert len(AdditiveBoostRegressor(schema=schema(), loss=loss).fit(X.head(0), []).predict(X)) == 30


def test_bounds_that_are_found_and_bounds_above_zero():
    X, y, mean = people(4000)
    model = AdditiveBoostRegressor(8.0, loss="poisson", random_state=0).fit(X[["age", "size"]], y)
    assert np.corrcoef(np.log(model.predict(X[["age", "size"]])), np.log(mean))[0, 1] > 0.7
    high = AdditiveBoostRegressor(8.0, schema=schema(1060, 1000), loss="gamma", random_state=0).fit(X, 1000 + y)
    assert high.predict(X).mean() == pytest.approx(1000 + y.mean(), abs=1.0)


@pytest.mark.parametrize(
    ("delta", "targets"),
    in_turn(
        [1e-6, 0.0], [(np.zeros(500),), (np.full(500, -5.0),), (np.linspace(-9, 9, 500),), (np.full(500, np.inf),)]
    ),
)
def test_whatever_bounds_are_found_there_is_a_model(delta, targets):
    """Content never refuses: found bounds may reach below 0, and end there."""
    X, _, _ = people(500)
    model = AdditiveBoostRegressor(2.0, delta=delta, loss="poisson", random_state=0)
    result = model.fit(X[["age", "size"]], targets)
    assert np.isfinite(result.predict(X[["age", "size"]])).all()


@pytest.mark.parametrize(
    ("asked", "declared", "words"),
    [
        ({"loss": "poisson"}, schema(lower=-1.0), r"never negative.*not -1\. Nothing was spent\.$"),
        ({"loss": "tweedie", "power": 1.0}, schema(), "power"),
        ({"loss": "tweedie", "power": 2.0}, schema(), "power"),
        ({"loss": "possion"}, schema(), "loss"),
    ],
)
def test_public_mistakes_are_refused(asked, declared, words):
    X, y, _ = people(20)
    with pytest.raises(RequestError, match=words):
        AdditiveBoostRegressor(schema=declared, **asked).fit(X, y)


@pytest.mark.parametrize("wide", [1, 1000])
def test_rates_by_exposure_keep_their_total_however_wide_the_bounds(wide):
    """A row's count is its rate times its exposure, and far below what bounds of rates allow."""
    generator = np.random.default_rng(0)
    X, exposure = pd.DataFrame({"a": generator.random(20_000)}), np.exp(generator.uniform(math.log(0.01), 0, 20_000))
    rates = generator.poisson(0.03 * np.exp(X["a"]) * exposure) / exposure
    label = {"column": "y", "kind": "numeric", "lower": 0, "upper": 100 * wide}
    schema = {"label": label, "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}}}
    model = AdditiveBoostRegressor(8.0, schema=schema, loss="poisson", random_state=0)
    model.fit(X, np.minimum(rates, 100 * wide), sample_weight=exposure)
    assert 0.8 < (model.predict(X) @ exposure) / (rates @ exposure) < 1.25


def test_the_first_histogram_sees_rare_counts_in_wide_bounds():
    """Counts of 0 to 3 under bounds of 0 to 1000: mean and spread are those of the counts, within half a doubling."""
    loss = LogLinkLoss(3, 1.0, NumericLabelIndex(0, 1000, TARGET_BITS))
    edges = loss._edges(1000.0, 20) / 2.0**MARGIN_BITS
    assert edges == pytest.approx(1000 * 2.0 ** np.arange(-20, 0), abs=1e-4)
    counts = np.histogram(
        np.repeat([0.0, 1.0, 2.0, 3.0], [7000, 2000, 700, 300]), np.concatenate([[0], edges, [2000.0]])
    )[0]
    shares, values = target_shares(counts.astype(float), 20.0, 10_000.0), 1000 * part_values(len(edges))
    mean = float(shares @ values)
    assert 1 / math.sqrt(2.0) < mean / 0.43 < math.sqrt(2.0)
    assert 1 / math.sqrt(2.0) < math.sqrt(shares @ (values - mean) ** 2) / 0.77 < math.sqrt(2.0)
    finest = loss._edges(FINEST_TOP, LOG_LINKED.first_octaves)
    assert finest[0] >= 1
    assert (np.diff(finest) > 0).all()
    far = LogLinkLoss(3, 2.0, NumericLabelIndex(1e9, 1e9 + 1, TARGET_BITS))
    assert far.zero == LOWEST_OFFSET
    assert far.scale.numerator >= 1


def rare_costs(n: int, seed: int, exposed: bool):
    """Costs that about 6 % of the rows have, a year where there are exposures: rows, rates and exposures."""
    generator = np.random.default_rng(seed)
    X, _, _ = people(n, seed=seed)
    years = generator.uniform(0.05, 1.0, n) if exposed else np.ones(n)
    claims = generator.poisson((0.12 if exposed else 0.06) * years)
    return X, np.where(claims > 0, generator.gamma(1.5 * np.maximum(claims, 1), 1000 / 1.5), 0.0) / years, years


@pytest.mark.slow
@pytest.mark.parametrize("exposed", [False, True])
def test_the_total_of_costs_that_few_rows_have_is_not_lost(exposed):
    """Where residuals were read through shapes without a rare tail, the clip shrank with the mean: a fiftieth of the
    total was left."""
    totals = []
    for seed in range(3):
        X, y, years = rare_costs(16_000, seed, exposed)
        model = AdditiveBoostRegressor(0.5, schema=schema(50_000.0), loss="tweedie", random_state=seed)
        predictions = model.fit(X, np.minimum(y, 50_000), sample_weight=years if exposed else None).predict(X)
        totals.append((predictions * years).sum() / (y * years).sum())
    assert min(totals) > 0.5
    assert max(totals) < 2.0


def test_a_clip_leaves_half_of_what_lies_above_the_mean_however_large_noise_is():
    X, y, _ = rare_costs(1000, 0, False)
    records = []

    class Watched(LogLinkLoss):
        def begin(self, budget, total, intercept_share):
            result = super().begin(budget, total, intercept_share)
            residuals, weights = self._seen
            above = np.maximum(residuals, 0.0)
            records.append(float(weights @ np.minimum(above, self.bound) / (weights @ above)))
            return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tacit.additive.estimator.LogLinkLoss", Watched)
        AdditiveBoostRegressor(0.3, schema=schema(10_000.0), loss="tweedie", random_state=0).fit(X, y)
    assert records[0] >= 0.5


@pytest.mark.slow
def test_bounds_a_thousand_times_too_wide_do_not_make_a_total():
    totals = []
    for seed in range(3):
        X, y, _ = rare_costs(16_000, seed, False)
        model = AdditiveBoostRegressor(1.0, schema=schema(10_000_000.0), loss="tweedie", random_state=seed)
        totals.append(model.fit(X, y).predict(X).sum() / y.sum())
    assert min(totals) > 0.4
    assert max(totals) < 2.5


def test_a_tail_that_noise_hides_is_not_lost():
    """No cell but that of 0 stands out of the noise by three of its deviations; the mean, all of it in the others, is
    found within a factor of 2."""
    generator, octaves, means = np.random.default_rng(0), 16, []
    targets = np.where(generator.random(3000) < 0.7, 0.0, np.minimum(np.exp(generator.normal(-4.0, 1.2, 3000)), 1.0))
    exact = np.histogram(targets, np.concatenate([[0.0], 2.0 ** np.arange(-octaves, 0), [1.0]]))[0]
    for _ in range(20):
        shares = target_shares(exact + generator.laplace(scale=60.0, size=octaves + 1), 85.0, 3000.0)
        assert shares.sum() == pytest.approx(1.0)
        assert shares.min() >= 0
        means.append(float(shares @ part_values(octaves)))
    assert exact[1:].max() < 3 * 85
    assert 0.5 < np.median(means) / targets.mean() < 2.0
    nothing = target_shares(np.zeros(octaves + 1), 1e6, 30.0) @ part_values(octaves)
    assert 1e-4 < nothing < 0.1  # what is thought beforehand


def test_a_light_tail_is_not_read_as_a_heavy_one():
    """Amounts of a gamma law: what lies beyond three times the mean. Log-normal laws alone made ten times as much."""
    generator, octaves = np.random.default_rng(0), 16
    amounts = np.minimum(generator.gamma(1.5, 0.02 / 1.5, 5000), 1.0)
    exact = np.histogram(amounts, np.concatenate([[0.0], 2.0 ** np.arange(-octaves, 0), [1.0]]))[0]
    beyond = np.maximum(part_values(octaves) - 0.06, 0.0)
    results = [
        float(target_shares(exact + generator.normal(scale=20.0, size=octaves + 1), 20.0, 5000.0) @ beyond)
        for _ in range(20)
    ]
    assert 0.1 < np.median(results) / np.maximum(amounts - 0.06, 0.0).mean() < 10.0


@pytest.mark.parametrize(("epsilon", "delta", "looks"), [(0.5, 0.0, False), (0.5, 1e-6, False), (8.0, 1e-6, True)])
def test_residuals_are_looked_at_where_noise_does_not_hide_them(epsilon, delta, looks):
    """Elsewhere what looks at them would have cost goes to a second look at the targets."""
    X, y, _ = people(2000)
    arguments = {"schema": schema(), "loss": "poisson", "interactions": False, "random_state": 0}
    for weights in (None, np.full(2000, 0.5)):
        model = AdditiveBoostRegressor(epsilon, delta, **arguments).fit(X, y, sample_weight=weights)
        labels = [str(entry.what) for entry in model.certificate_.entries]
        assert any("histogram of residuals" in label for label in labels) == looks
        assert any("histogram of the target, again" in label for label in labels) == (not looks)
        assert 0.85 < share_spent(model.certificate_) <= 1 + 1e-9


def test_bins_of_larger_means_count_for_more():
    counts = np.array([100.0, 200.0, 100.0])
    prior = Prior("categorical", column_cells(0, 3), counts, 0.0, [np.eye(3)], None)
    for growth, weights in ((1.0, np.array([1, 1, 4]) * 400 / 700), (0.0, np.ones(3))):
        term = Term("x", prior, 10.0, growth=growth)
        plain = term._weighted.copy()
        term.effect = np.log([[1.0], [1.0], [4.0]])
        term.observe(Measurement("x", np.zeros((3, 1)), 5.0, Gaussian(1.0), ""))
        term.solve(Directions.alone(1.0, 1.0), None)
        assert term._weighted / plain == pytest.approx(weights)
    assert tempered(np.array([math.e - 1, 0.0, -0.5])) == pytest.approx([1.0, 0.0, -0.5])


@pytest.mark.parametrize("growth", [1.0, 0.5, 0.0])
def test_releases_made_far_off_say_the_same_as_those_made_near(growth):
    """Sums of a bin whose logarithm is 1, seen from 0, from .5 and from 1: where 1 is believed, none is off."""
    counts, truth = np.array([500.0, 500.0]), np.array([[1.0], [0.0]])
    prior = Prior("categorical", column_cells(0, 2), counts, 0.0, [np.eye(2)], None)
    term = Term("x", prior, 10.0, growth=growth)
    for seen_from in (0.0, 0.5, 1.0):
        term.effect = np.array([[seen_from], [0.0]])
        factor = np.exp((growth - 1.0) * term.effect)
        term.observe(
            Measurement("x", counts[:, None] * (np.exp(truth) - np.exp(term.effect)) * factor, 1.0, Gaussian(1.0), "")
        )
    term.effect = truth.copy()
    slope = 1.0 if growth == 0 else float(np.exp(growth * truth).mean())  # bins' curvatures are relative to their mean
    term._bend(term._powers()[:, 1])
    here = term._referred(Directions.alone(slope, 1.0))
    assert here == pytest.approx((slope * term._weighted * truth[:, 0])[:, None])


def test_the_level_is_looked_at_under_a_clip_that_cuts_off_little():
    loss = LogLinkLoss(3, 1.0, NumericLabelIndex(0, 50, TARGET_BITS))
    assert loss._wide_clip(0.001) == pytest.approx(2.0)  # nothing is known to be cut off
    loss._seen = loss._began = np.array([0.0, 12.0, 40.0]), np.array([0.5, 0.4, 0.1])
    assert loss._cut_off(1.0) == pytest.approx(0.4 * 11 + 0.1 * 39)
    assert loss._wide_clip(1e-6) >= 40.0
    assert loss._wide_clip(10.0) == pytest.approx(2.0)


@pytest.mark.parametrize("power", [1.0, 1.4, 2.0])
def test_deviances(power):
    """They are 0 where right, their slope is that of the contribution, and none is larger than is said."""
    t = np.array([0.5, 3.0, 40.0])
    assert unit_deviance(t, t, power, 60.0) == pytest.approx(0.0, abs=1e-9)
    for mu in (1.0, 7.0):
        slope = (
            unit_deviance(t, np.full(3, mu + 1e-5), power, 60.0) - unit_deviance(t, np.full(3, mu), power, 60.0)
        ) / 1e-5
        assert slope == pytest.approx(-2 * (t - mu) * mu**-power, rel=1e-3)
    ends = np.linspace(0, 60, 200)
    every = unit_deviance(np.repeat(ends, 200), np.tile(ends, 200), power, 60.0)
    assert every.max() <= largest_deviance(power, 0.0, 60.0) < 1.1 * every.max()


def test_the_deviance_is_evaluated_privately():
    X, y, _ = people(4000)
    test, held_out, _ = people(4000, seed=5)
    model = AdditiveBoostRegressor(2.0, schema=schema(), loss="poisson", interactions=False, random_state=0).fit(X, y)
    exact = unit_deviance(held_out, model.predict(test), 1.0, 60.0).mean()
    score = private_score(model, test, held_out, epsilon=1.0, metrics=["deviance"], random_state=0)
    assert near(score["deviance"], exact)
    assert score["deviance"].value == pytest.approx(exact, rel=0.2)
    assert score.certificate.verify() == []
    with pytest.raises(RequestError, match="alone"):
        private_score(model, test, held_out, metrics=["deviance", "mae"])
    squared = AdditiveBoostRegressor(2.0, schema=schema(), interactions=False).fit(X, y)
    with pytest.raises(RequestError, match="count or a cost"):
        private_score(squared, test, held_out, metrics=["deviance"])
    assert score.error_clip < 60
