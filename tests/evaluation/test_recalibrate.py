"""recalibrate: puts probabilities right where the counts say so, leaves them alone where they do not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score

from tacit.additive.estimator import AdditiveBoostClassifier
from tacit.encoding.frames import columns_of
from tacit.evaluation.candidates import combined_certificate
from tacit.evaluation.error_grid import CELLS, ScoreGrid, log_odds
from tacit.evaluation.measure_scores import ScoreCounts
from tacit.evaluation.private_score import private_score
from tacit.evaluation.recalibrate import fitted_curve, recalibrate
from tacit.evaluation.strategy import strategy
from tacit.models.base import ModelError
from tacit.models.files import load_model, model_from_dict, save_model
from tacit.models.recalibrated import RecalibratedModel
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.schema import Schema
from tests.chance import at_most_share
from tests.evaluation.scores import Known, world

SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": {name: {"kind": "numeric", "lower": -4, "upper": 4} for name in ("a", "b")},
    }
)


def released(X, y, sd, seed):
    """Counts as an evaluation would release them."""
    grid, result = ScoreGrid.of(CELLS, 0.5), strategy(CELLS, 2)
    cell = grid.encoder.encode(log_odds(X["p"]))
    counts = np.stack([np.bincount(cell[y == k], minlength=CELLS) for k in (0, 1)], axis=1)
    noise = np.random.default_rng(seed).normal(0, sd, (CELLS, 2))
    return ScoreCounts(grid, result.matrix @ counts + noise, result, (sd,) if sd else (), False)


def corrected(curve, chances):
    knots, values = curve
    odds = log_odds(chances)
    beyond = np.minimum(odds - knots[0], 0) + np.maximum(odds - knots[-1], 0)
    return expit(np.interp(odds, knots, values) + beyond)


@pytest.mark.parametrize(("steep", "shift"), [(1.6, 0.3), (1.0, 0.7), (0.6, -0.5)])
@pytest.mark.parametrize("sd", [0.0, 10.0])
def test_what_is_wrong_is_put_right(steep, shift, sd):
    X, y = world(6000, 1, steep, shift)
    curve = fitted_curve(released(X, y, sd, 0))
    assert curve is not None
    assert np.all(np.diff(curve[0]) > 0)
    assert np.all(np.diff(curve[1]) > 0)
    fresh, labels = world(50_000, 2, steep, shift)
    best, _ = world(50_000, 2)
    before, after, ideal = (log_loss(labels, p) for p in (fresh["p"], corrected(curve, fresh["p"]), best["p"]))
    assert after - ideal < 0.25 * (before - ideal)


def test_the_prior_of_a_correction_by_hand(monkeypatch):
    """A shift, a slope around the mean score, and a remainder of each group by itself."""
    records, module = [], sys.modules["tacit.evaluation.recalibrate"]
    monkeypatch.setattr(module, "SHIFTS", (0.6,))
    monkeypatch.setattr(module, "SLOPES", (0.3,))
    monkeypatch.setattr(module, "BUMPS", (0.2,))
    posterior = module._posterior
    monkeypatch.setattr(module, "_posterior", lambda *a: (records.append(a), posterior(*a))[1])
    counts = released(*world(6000, 1, 1.6, 0.7), 0.0, 0)
    knots, _ = fitted_curve(counts)
    ((_, groups, likely, prior),) = records
    centred = knots - np.average(knots, weights=groups.members @ likely)
    expected = 0.36 + 0.09 * np.multiply.outer(centred, centred) + 0.04 * np.eye(len(knots))
    assert prior == pytest.approx(expected)


def test_a_group_without_rows_has_no_knot():
    """Of exact counts there are empty groups, and a curve with their scores, which are nothing, did not increase."""
    p = np.where(np.arange(400) % 2, 0.39, 0.43)
    knots, values = fitted_curve(released({"p": p}, (np.arange(400) % 3 > 0).astype(int), 0.0, 0))
    assert np.all(np.diff(knots) > 0)
    assert np.all(np.diff(values) > 0)


@pytest.mark.parametrize(("n", "sd"), [(500, 10.0), (1000, 4.0), (5000, 10.0), (5000, 200.0)])
def test_what_is_right_is_left_alone(n, sd):
    """A correction that nothing calls for is rare, in at most one of six, and small."""
    fresh, labels = world(20_000, 3)
    ideal = log_loss(labels, fresh["p"])
    changed, harm, repeats = 0, [], 40
    for seed in range(repeats):
        curve = fitted_curve(released(*world(n, seed), sd, seed))
        changed += curve is not None
        harm.append(0.0 if curve is None else log_loss(labels, corrected(curve, fresh["p"])) - ideal)
    assert at_most_share(changed, repeats, 1 / 6)  # .06 at 1000 rows and sd 4, over six salts
    assert np.mean(harm) < 0.01  # .0003 +- .0002


def table(n, seed):
    generator = np.random.default_rng(seed)
    X = {name: generator.normal(size=n) for name in ("a", "b")}
    return X, (generator.random(n) < expit(2 * X["a"] - X["b"] - 1)).astype(int)


@pytest.fixture(scope="module")
def fitted():
    return AdditiveBoostClassifier(epsilon=4.0, schema=SCHEMA).fit(*table(3000, 0))


def biased_model(model):
    return RecalibratedModel(model, np.array([-1.0, 1.0]), np.array([-0.5, 3.5]))


def test_a_recalibrated_model_predicts_better_and_is_saved_with_both_charges(fitted, tmp_path):
    held_out, labels = table(4000, 1)
    wrong = biased_model(fitted.model_)
    result = recalibrate(wrong, held_out, labels, 1.0, schema=SCHEMA)
    assert result.changed
    assert result.certificate.verify() == []
    frame = columns_of(held_out)
    assert log_loss(labels, result.model.predict_proba(frame)) < log_loss(labels, wrong.predict_proba(frame)) - 0.02
    auc = [roc_auc_score(labels, model.predict_proba(frame)[:, 1]) for model in (wrong, result.model)]
    assert auc[0] == pytest.approx(auc[1], abs=1e-9)
    both = recalibrate(fitted, held_out, labels, 0.5)
    assert both.combined.verify() == []
    assert both.combined.releasable
    assert both.combined.charges == (*fitted.certificate_.charges, *both.certificate.charges)
    assert both.combined.epsilon == pytest.approx(accountants.epsilon(both.combined.charges, 1e-6))
    assert 4.0 < both.combined.epsilon < 4.5 + 1e-6
    save_model(result.model, tmp_path / "m.json", result.combined.to_dict())
    loaded, certificate = load_model(tmp_path / "m.json")
    assert (loaded.predict_proba(frame) == result.model.predict_proba(frame)).all()
    assert certificate == result.combined.to_dict()


def test_a_model_that_is_right_comes_back_as_it_was(fitted):
    X, y = table(300, 2)
    result = recalibrate(fitted, X, y, 0.01, random_state=0)
    assert not result.changed
    assert result.model is fitted.model_
    assert not result.certificate.releasable


def test_public_mistakes_cost_nothing(fitted, tmp_path):
    X, y = table(50, 3)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 5.0, 1e-6, "replace_one")
    with pytest.raises(ValueError, match=r"do not add up. Nothing was spent"):
        recalibrate(fitted, X, y, 1.0, account=account, neighbouring="replace_one")
    with pytest.raises(ValueError, match="no model of this library"):
        recalibrate(Known(), X, y, 1.0)
    with pytest.raises(ValueError, match="missing from the data"):
        recalibrate(fitted.model_, {"a": X["a"]}, y, 1.0, account=account, neighbouring="replace_one")
    assert account.spent == 0


def test_certificates_of_different_units_do_not_combine(fitted):
    from dataclasses import replace

    own = fitted.certificate_
    by_person, by_clinic = (replace(own, rows_per_unit=3, unit=name) for name in ("patient_id", "clinic"))
    single = replace(own, rows_per_unit=1, unit="patient_id")  # a person with one row is no row
    for first, second in (
        (own, by_person), (by_person, own), (by_person, by_clinic), (own, single), (single, own),
        (by_person, replace(by_person, rows_per_unit=4)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"do not add up. Give the schema of the model. Nothing was spent"):
            combined_certificate(first, second, "both")
    both = combined_certificate(replace(by_person, unit_name="patient"), by_person, "both")
    assert (both.unit, both.unit_name) == ("patient_id", "patient")


def test_an_evaluation_protects_the_persons_that_the_model_does():
    X, y = table(200, 3)
    X = {**X, "patient_id": np.arange(200) // 2, "clinic": np.arange(200) // 2}
    columns = {name: {"kind": "numeric", "lower": -3, "upper": 3} for name in ("a", "b")}
    label = {"column": "y", "classes": [0, 1]}

    def by(unit):
        return {"columns": columns, "label": label, "unit": {"column": unit, "max_rows": 2}}

    learned = AdditiveBoostClassifier(schema=by("patient_id"), interactions=False).fit(X, y)
    for work in (private_score, recalibrate):
        with pytest.raises(ValueError, match=r"unit 'patient_id'.*Nothing was spent"):
            work(learned, X, y, 1.0, schema=by("clinic"))
        assert work(learned, X, y, 1.0).certificate.unit == "patient_id"


def test_certificates_whose_noise_has_several_samplers_add_up(fitted):
    from dataclasses import replace

    known = [replace(fitted.certificate_, noise_source=name, reasons=()) for name in ("tacit", "opendp", "opendp")]
    both = combined_certificate(combined_certificate(known[0], known[1], "both"), known[2], "all")
    assert both.noise_source == "opendp and tacit"
    assert both.releasable
    assert both.verify() == []
    seeded = combined_certificate(known[0], replace(known[1], noise_source="seeded"), "both")
    assert seeded.noise_source == "seeded and tacit"
    assert not seeded.releasable


@pytest.mark.parametrize(
    ("knots", "values"),
    [([], []), ([0.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [1.0, 1.0]), ([0.0], [np.nan]), ([0.0], [0, 1])],
)
def test_a_damaged_curve_is_refused(fitted, knots, values):
    with pytest.raises(ValueError, match=r"curve|increase"):
        RecalibratedModel(fitted.model_, np.array(knots, float), np.array(values, float))
    body = biased_model(fitted.model_).body() | {"knots": knots, "values": values}
    with pytest.raises(ModelError, match="damaged"):
        model_from_dict({"kind": "recalibrated", "model": body})
