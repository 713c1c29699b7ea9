"""Ordered classes: proportional odds, on small synthetic tables."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from tacit import AdditiveBoostClassifier, load_model, save_model
from tacit.additive.ordered_loss import (
    MOST_ORDERED,
    OrderedLoss,
    SharesIntercept,
    class_rule,
    fitted_cuts,
    ordered_rule,
)
from tacit.additive.tuning import SWEEPING
from tacit.boosting.mada_boost import mada_boost_rule
from tacit.curator.measurement import Measurement
from tacit.encoding.frames import columns_of
from tacit.growing.softmax import SimulatedRows
from tacit.models.additive_scores import AdditiveOrderedModel
from tacit.models.base import ModelError
from tacit.models.files import model_from_dict
from tacit.models.links import OrderedChances
from tacit.privacy.charges import Gaussian
from tacit.privacy.request import RequestError
from tacit.queries.rules import LEVEL_BITS, LEVELS, WEIGHT_UNIT
from tacit.report.page import render
from tacit.schema import Schema

NAMES = ["never", "seldom", "often", "always"]
CUTS = np.array([-1.5, 0.5, 2.0])
COLUMNS = {f"x{j}": {"kind": "numeric", "lower": 0, "upper": 1} for j in range(4)}
COLUMNS["kind"] = {"kind": "categorical", "categories": ["a", "b", "c"]}


def schema_of(classes=NAMES, **columns) -> Schema:
    label = {"column": "y", "classes": list(classes)}
    return Schema.from_dict({"label": label, "columns": COLUMNS | columns})


def synthetic(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Places in the order, drawn with proportional odds of a smooth score; the true chances beside."""
    generator = np.random.default_rng(seed)
    x, kind = generator.random((n, 4)), generator.integers(0, 3, n)
    score = 3.0 * (x[:, 0] - 0.5) + 1.2 * np.sin(6 * x[:, 1]) + 1.0 * (kind == 1)
    chances = OrderedChances.of(CUTS, score).chances.T
    labels = (chances.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(4)]).assign(kind=np.array(["a", "b", "c"])[kind])
    return frame, labels, chances


def fitted(n: int = 3000, seed: int = 0, **asked) -> AdditiveBoostClassifier:
    frame, labels, _ = synthetic(n, seed)
    asked = {"epsilon": 1.0, "schema": schema_of(), "random_state": seed, "ordered": True} | asked
    return AdditiveBoostClassifier(**asked).fit(frame, np.array(NAMES)[labels])


def log_loss(model, frame: pd.DataFrame, labels: np.ndarray) -> float:
    chances = model.model_.predict_proba(frame)
    return float(-np.log(np.clip(chances[np.arange(len(labels)), labels], 1e-4, 1)).mean())


@pytest.mark.parametrize("epsilon", [0.2, pytest.param(1.0, marks=pytest.mark.slow)])
def test_where_odds_are_proportional_the_order_helps(epsilon):
    frame, labels, truth = synthetic(10_000, 99)
    best = float(-np.log(truth[np.arange(len(labels)), labels]).mean())
    excess = {
        ordered: np.mean(
            [log_loss(fitted(seed=seed, epsilon=epsilon, ordered=ordered), frame, labels) - best for seed in range(2)]
        )
        for ordered in (True, False)
    }
    assert excess[True] < 0.8 * excess[False]


def test_what_a_fit_leaves_behind(tmp_path):
    frame, labels, _ = synthetic(3000, 0)
    model = fitted()
    own = model.model_
    assert isinstance(own, AdditiveOrderedModel)
    assert own.classes == tuple(NAMES)
    assert (np.diff(own.cuts) >= 0).all()
    chances = own.predict_proba(frame)
    assert chances.shape == (3000, 4)
    assert (chances >= 0).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(3000))
    upto = chances.cumsum(axis=1)[:, :-1]
    assert upto == pytest.approx(expit(own.cuts[None, :] - own.order_score(frame)[:, None]))
    by_score = np.argsort(own.order_score(frame))
    assert (np.diff(upto[by_score], axis=0) <= 1e-12).all()  # a higher score never makes a lower class likelier
    assert np.exp(own.decision_function(frame)) == pytest.approx(chances)
    places = [NAMES.index(name) for name in model.classes_]
    assert (model.predict_proba(frame) == chances[:, places]).all()
    assert np.exp(model.decision_function(frame)) == pytest.approx(chances[:, places])
    assert model.score(frame, np.array(NAMES)[labels]) > np.bincount(labels).max() / 3000 + 0.05
    assert model.certificate_.verify() == []
    path = tmp_path / "model.json"
    save_model(own, path, model.certificate_.to_dict())
    again, certificate = load_model(path)
    assert json.loads(path.read_text())["kind"] == "additive_ordered"
    assert (again.predict_proba(columns_of(frame)) == chances).all()
    names, parts = again.contributions(columns_of(frame))
    assert again.scores.intercept + parts.sum(axis=1) == pytest.approx(own.order_score(frame)[:, None])
    assert set(names) >= set(frame.columns)
    page = render(again, certificate)
    assert "ordered classes" in page
    assert "never &lt; seldom &lt; often &lt; always" in page


def test_a_damaged_model_is_refused():
    written = fitted(500, epsilon=0.5, interactions=False).model_.to_dict()
    for cuts in ([1.0, 0.0, 2.0], [0.0, 1.0]):
        with pytest.raises(ModelError, match="rising cut points"):
            model_from_dict(written | {"model": written["model"] | {"cuts": cuts}})


def test_the_cuts_say_how_often_classes_occur():
    frame, labels, _ = synthetic(8000, 3)
    model = fitted(8000, 3, epsilon=4.0)
    shares = np.bincount(labels, minlength=4) / len(labels)
    assert model.model_.predict_proba(frame).mean(axis=0) == pytest.approx(shares, abs=0.02)


def test_uncertainty_is_that_of_the_score():
    """The deviation of log-odds by differences of the score is what the model says to first order."""
    model = fitted(epsilon=0.5, interactions=False)
    frame, _, _ = synthetic(50, 7)
    own, columns = model.model_, columns_of(frame)
    score, sd = own.order_score(frame), np.sqrt(own.scores.variance(columns)[:, 0])
    step = 1e-4
    raised = OrderedChances.of(own.cuts, score + step).log_odds - OrderedChances.of(own.cuts, score - step).log_odds
    assert np.sqrt(own.log_odds_variance(frame)) == pytest.approx(np.abs(raised.T) / (2 * step) * sd[:, None], rel=1e-3)
    assert own.log_odds(frame) == pytest.approx(logit(own.predict_proba(frame)))
    low, high = np.moveaxis(model.predict_interval(frame), -1, 0)
    chances = model.predict_proba(frame)
    assert ((low <= chances) & (chances <= high)).all()
    assert own.scores.intercept_sd[0] > 0.01


def test_monotone_columns_raise_the_class():
    rising = {"x0": {"kind": "numeric", "lower": 0, "upper": 1, "monotone": "increasing"}}
    model = fitted(schema=schema_of(**rising))
    grid = pd.DataFrame({name: [0.5] * 50 for name in COLUMNS} | {"x0": np.linspace(0, 1, 50), "kind": ["a"] * 50})
    assert (np.diff(model.model_.order_score(grid)) >= -1e-12).all()


def test_two_classes_need_no_order():
    frame, labels, _ = synthetic(1000, 0)
    said = [
        AdditiveBoostClassifier(schema=schema_of([False, True]), random_state=1, ordered=ordered)
        .fit(frame, labels > 1)
        .predict_proba(frame)
        for ordered in (True, False)
    ]
    assert (said[0] == said[1]).all()


def test_what_cannot_be_asked():
    frame, labels, _ = synthetic(50, 0)
    with pytest.raises(RequestError, match="classes in their order"):
        AdditiveBoostClassifier(ordered=True).fit(frame, np.array(NAMES)[labels])
    with pytest.raises(RequestError, match=f"up to {MOST_ORDERED} classes"):
        AdditiveBoostClassifier(ordered=True, schema=schema_of(range(MOST_ORDERED + 1))).fit(frame, labels)
    with pytest.raises(RequestError, match="ordered must be True or False"):
        AdditiveBoostClassifier(ordered="yes", schema=schema_of()).fit(frame, labels)


def test_two_classes_contribute_as_mada_boost_has_it():
    assert np.abs(ordered_rule(np.zeros(1)).table - mada_boost_rule().table).max() <= 1


@pytest.mark.parametrize("norm", [1, 2])
def test_contributions_vanish_on_average_at_the_true_chances(norm):
    cuts = np.array([-2.0, -0.3, 0.1, 1.7])
    chances = OrderedChances.of(cuts, (np.arange(LEVELS) - LEVELS // 2 + 0.5) / 2**LEVEL_BITS).chances
    for rule, channels in ((ordered_rule(cuts), 1), (ordered_rule(cuts, 0.3, norm), 1), (class_rule(cuts, norm), 5)):
        mean = (chances[:, :, None] * rule.table[:, :, :channels]).sum(axis=0)
        assert np.abs(mean).max() <= 2
        assert rule.table.any()


@pytest.mark.parametrize("norm", [1, 2])
def test_contributions_are_as_long_as_they_may_be(norm):
    cuts = np.array([-2.0, -0.3, 0.1, 1.7])
    for rule in (ordered_rule(cuts), ordered_rule(cuts, 0.3, norm), class_rule(cuts, norm)):
        l1, l2_squared = rule.longest
        length = l1 if norm == 1 else math.sqrt(l2_squared)
        assert 0.998 * WEIGHT_UNIT < length <= WEIGHT_UNIT


def test_slopes_are_those_of_the_log_chance():
    cuts, scores, step = np.array([-2.0, 0.5, 0.6]), np.linspace(-9, 9, 19), 1e-5
    known = OrderedChances.of(cuts, scores)
    higher, lower = (np.log(OrderedChances.of(cuts, scores + s).chances) for s in (step, -step))
    assert known.slopes == pytest.approx((higher - lower) / (2 * step), abs=1e-4)
    falls = [(OrderedChances.of(cuts, scores + s).slopes * known.chances).sum(axis=0) for s in (step, -step)]
    assert known.information == pytest.approx((falls[1] - falls[0]) / (2 * step), abs=1e-4)


def test_cuts_are_where_rows_have_the_shares():
    scores = np.random.default_rng(0).normal(0.3, 2.0, 2000)
    shares = np.array([0.02, 0.4, 0.08, 0.5])
    cuts = fitted_cuts(np.zeros(3), shares, scores)
    assert OrderedChances.of(cuts, scores).chances.mean(axis=1) == pytest.approx(shares, abs=1e-6)


def levels_of(scores: np.ndarray) -> np.ndarray:
    return np.clip(np.floor(scores * 2**LEVEL_BITS).astype(int) + LEVELS // 2, 0, LEVELS - 1)


def test_shares_are_found_from_sums():
    """Rows whose scores the loss takes to be other than they are: sums say how far shares are off."""
    total, generator = 4000.0, np.random.default_rng(1)
    loss = OrderedLoss(3, pure=False)
    rows = SimulatedRows([np.ones(4)], 1, generator, SWEEPING.simulated_rows)
    rows.scores[:, 0] = generator.normal(0, 1.5, len(rows.scores))
    loss.curvature(rows)
    truth, true_cuts = generator.normal(0, 1.5, 4000), np.array([-0.5, 2.5])
    chances = OrderedChances.of(true_cuts, truth).chances
    intercept = SharesIntercept(loss, total, 1.0)
    levels = levels_of(truth)
    for _ in range(12):
        exact = np.einsum("kr,krc->c", chances, loss.intercept_rule.table[:, levels] / WEIGHT_UNIT)
        intercept.observe(Measurement("test", exact[None, :], 1.0, Gaussian(1.0), "test"), loss.class_directions(), 1.5)
    assert loss.shares == pytest.approx(chances.mean(axis=1), abs=0.01)
    assert loss.cuts == pytest.approx(true_cuts, abs=0.15)


def test_the_curvature_is_how_much_contributions_fall():
    loss, generator = OrderedLoss(4, pure=False), np.random.default_rng(2)
    rows = SimulatedRows([np.ones(4)], 1, generator, SWEEPING.simulated_rows)
    rows.scores[:, 0] = generator.normal(0, 2.0, len(rows.scores))
    value = float(loss.curvature(rows).item())
    scores = rows.scores[:, 0]
    chances, step = OrderedChances.of(loss.cuts, scores).chances, 0.25
    assert chances.mean(axis=1) == pytest.approx(loss.shares)  # cuts follow the scores
    table = loss.rule.table[:, :, 0] / WEIGHT_UNIT
    at = [
        np.clip(np.floor((scores + s) * 2**LEVEL_BITS).astype(int) + LEVELS // 2, 0, LEVELS - 1) for s in (step, -step)
    ]
    higher, lower = ((chances * table[:, levels]).sum(axis=0).mean() for levels in at)
    assert value == pytest.approx((lower - higher) / (2 * step), rel=0.05)
    longest = np.abs(table).max()
    assert 0.99 < longest <= 1.0
    assert 1.0 <= loss.scatter <= 2.0


def test_steps_towards_cut_points_are_newtons() -> None:
    """Eight of them are enough where nine of ten rows lie below: steps by another slope would still be on the way."""
    scores, shares = np.linspace(-1.0, 1.0, 21), np.array([0.05, 0.85, 0.1])
    upto = expit(fitted_cuts(np.zeros(2), shares, scores)[:, None] - scores)
    assert upto.mean(axis=1) == pytest.approx([0.05, 0.9], abs=1e-9)
