"""Edits of released models: what they change, how far from what was measured, and what certificates say."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import CategoryIndex
from tacit.models.additive import TREES, AdditiveModel, MainEffect
from tacit.models.binding import ClaimError, model_digest
from tacit.models.claims import claim_of_model
from tacit.models.edit import Edit
from tacit.models.feature import Feature
from tacit.models.files import kinds
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import RequestError
from tacit.report.page import render
from tests.models.test_mutated_files import ROWS, models, rows, schema
from tests.models.test_terms import check_sum, with_pair

EDITABLE = {"additive", "additive_classes", "additive_ordered", "additive_regression"}


def model(monotone: str | None = None) -> AdditiveModel:
    """Five bins of a number of which one falls, and four of a text; every deviation is 0.1."""
    age = Feature("age", NumericGrid(0.0, 100.0, 5), np.arange(6), ordered=True, monotone=monotone)
    ward = Feature("ward", CategoryIndex(("n", "s")), np.arange(4), ordered=False)
    mains = (
        MainEffect(0, np.array([-1.0, 0.0, 0.5, 0.3, 1.0, 0.2]), np.full(6, 0.1), np.array([10.0, 30, 20, 20, 10, 1])),
        MainEffect(1, np.array([0.4, -0.4, 0.0, 0.1]), np.full(4, 0.1), np.array([30.0, 10, 0, 0])),
    )
    return AdditiveModel(("no", "yes"), -0.5, (age, ward), mains, ())


def effect(edited: Edit, place: int = 0) -> list[float]:
    """The effects of a column now."""
    return [round(float(value), 6) for value in edited.model.mains[place].effect]  # type: ignore[attr-defined]


def test_a_stretch_becomes_flat_at_its_mean_over_rows() -> None:
    edited = model().edit("age").flatten(20, 60)
    assert effect(edited) == [-1.0, 0.2, 0.2, 0.3, 1.0, 0.2]
    sd = edited.model.mains[0].sd
    np.testing.assert_allclose(sd, [0.1, 0.1 * math.hypot(0.6, 0.4), 0.1 * math.hypot(0.6, 0.4), 0.1, 0.1, 0.1])
    [change] = edited.history
    assert change.deviations == pytest.approx(3.0)
    assert change.place == "[40, 60)"
    assert effect(model().edit("age").flatten(30, 70)) == [-1.0, *[round(16 / 70, 6)] * 3, 1.0, 0.2]
    assert effect(model().edit("age").flatten("missing")) == effect(model().edit("age"))
    assert effect(model().edit("ward").flatten("n", "s"), 1) == [0.2, 0.2, 0.0, 0.1]


def test_a_curve_that_must_rise_is_the_nearest_that_does() -> None:
    rising = model().edit("age").monotone("increasing")
    assert effect(rising) == [-1.0, 0.0, 0.4, 0.4, 1.0, 0.2]
    assert not rising.history[0].contradicts
    falling = model().edit("age").monotone("decreasing")
    assert effect(falling) == [0.16] * 5 + [0.2]
    assert falling.history[0].deviations == pytest.approx(11.6)
    assert falling.history[0].place == "[0, 20)"
    assert str(falling.history[0]).endswith("contradicts what was measured at 11.6 standard deviations (at [0, 20))")


def test_categories_rise_in_the_order_in_which_they_are_named() -> None:
    """Of an ordinal column, say: the model does not know that its categories have an order."""
    edited = model().edit("ward").monotone("increasing", "n", "s")
    assert effect(edited, 1) == [0.0, 0.0, 0.0, 0.1]
    assert str(edited.history[0]).startswith("ward made increasing over n, s, which contradicts")
    for direction, names in (("increasing", "sn"), ("decreasing", "ns")):
        assert effect(model().edit("ward").monotone(direction, *names), 1) == effect(model().edit("ward"), 1)
    for term, names in (("ward", ["n"]), ("ward", ["n", "n"]), ("ward", ["n", "x"]), ("age", ["0", "20"])):
        with pytest.raises(RequestError, match="in their order" if term == "ward" else "takes no categories"):
            model().edit(term).monotone("increasing", *names)


def test_a_smooth_curve_averages_neighbours() -> None:
    edited = model().edit("age").smooth()
    assert effect(edited) == [-0.75, -0.125, 0.325, 0.525, 0.825, 0.2]
    np.testing.assert_allclose(edited.model.mains[0].sd[2], 0.1 * math.sqrt(0.375))


def test_effects_are_set_and_terms_removed() -> None:
    edited = model().edit("age").set(0.6, 40, 80).edit("ward").set(-1.0, "s")
    assert effect(edited) == [-1.0, 0.0, 0.6, 0.6, 1.0, 0.2]
    assert effect(edited, 1) == [0.4, -1.0, 0.0, 0.1]
    assert [change.contradicts for change in edited.history] == [False, True]
    assert edited.model.mains[0].sd[2] == 0.0
    for value, place in ((0, 0), (19.9, 0), (30, 1), (100, 4)):
        assert effect(model().edit("age").set(7.0, value, value)).index(7.0) == place
    removed = model().edit("age").remove()
    assert effect(removed) == [0.0] * 6
    assert removed.history[0].deviations == pytest.approx(10.0)
    assert removed.model.importance()["age"] == 0.0


def test_changes_are_undone_one_by_one_and_models_stay_frozen() -> None:
    original = model()
    digest = model_digest(original)
    first = original.edit("age").flatten(20, 60)
    second = first.edit("ward").remove()
    assert second.undo().undo().model is original or effect(second.undo().undo()) == effect(original.edit("age"))
    assert effect(second.undo()) == effect(first)
    assert [change.term for change in second.history] == ["age", "ward"]
    assert model_digest(original) == digest
    with pytest.raises(RequestError, match="no change to undo"):
        original.edit("age").undo()
    assert len(repr(second)) <= 300


def test_a_second_change_is_compared_with_what_was_released() -> None:
    """Not with the first, which was nobody's measurement."""
    twice = model().edit("age").set(0.25, 20, 40).set(0.5, 20, 40)
    assert [round(change.deviations, 6) for change in twice.history] == [2.5, 5.0]
    assert model().edit("age").set(0.25, 20, 40).set(0.0, 20, 40).history[1].deviations == 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: model().edit("agee"), "no term 'agee'; it has 'age', 'ward'"),
        (lambda: model().edit("age").flatten(200, 300), "goes from 0 to 100"),
        (lambda: model().edit("ward").flatten("west"), "has no 'west'; it has n, s"),
        (lambda: model().edit("ward").flatten(), "has categories: name some of n, s"),
        (lambda: model().edit("ward").smooth(), "categories"),
        (lambda: model().edit("ward").monotone("increasing"), "in their order"),
        (lambda: model().edit("age").monotone("up"), "'increasing' or 'decreasing'"),
        (lambda: model("increasing").edit("age").set(-5.0, 80, 100), "declared to be increasing"),
        (lambda: models()["tree_ensemble"].edit("age"), "no terms to edit"),
        (lambda: models()["additive_classes"].edit("age").monotone("increasing"), "several classes"),
        (lambda: with_pair(model()).edit("age x ward").smooth(), "can only be removed"),
    ],
)
def test_what_cannot_be_edited_is_said(change: Callable[[], Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        change()


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_edited_models_of_every_kind_predict_add_up_and_are_files(kind: str) -> None:
    released = models()[kind]
    if kind not in EDITABLE:
        with pytest.raises(RequestError, match="no terms to edit"):
            released.edit("age")
        return
    edited = released.edit("age").flatten(20, 80).smooth().edit("city").remove().model
    check_sum(edited)
    again = claim_of_model(edited.to_dict()).model
    assert again is not None
    assert model_digest(again) == model_digest(edited) != model_digest(released)
    assert type(edited) is type(released)
    np.testing.assert_array_equal(edited.predict(ROWS), again.predict(ROWS))


def test_pairs_and_trees_are_removed() -> None:
    without = with_pair(model()).edit("age x ward").remove()
    assert not without.model.pairs[0].effect.any()
    assert without.history[0].deviations == pytest.approx(3.5)
    trees: Any = models()["tree_ensemble"]
    base = replace(model(), features=trees.features, mains=(), trees=trees.trees)
    bare = base.edit(TREES).remove()
    assert bare.model.trees == ()
    sizes = [np.abs(tree.values / np.maximum(tree.sd, 1e-300)).max() for tree in trees.trees]
    assert bare.history[0].deviations == pytest.approx(max(sizes))


@pytest.fixture(scope="module")
def fitted() -> Any:
    """A small fit with its certificate; no seed, so that it is releasable."""
    X = rows()
    label = (X["age"] > 50).astype(int)
    return tacit.AdditiveBoostClassifier(schema=schema({"classes": [0, 1]}), epsilon=5.0, interactions=False).fit(
        X, label
    )


def test_the_certificate_of_an_edit_says_so_and_verifies(fitted: Any, tmp_path: Path, capsys: Any) -> None:
    edited = fitted.model_.edit("age").set(9.0, 0, 50)
    certificate = edited.certificate(fitted.certificate_)
    digest = model_digest(fitted.model_)
    assert certificate.verify() == []
    assert certificate.releasable
    assert certificate.epsilon == fitted.certificate_.epsilon
    [remark] = certificate.remarks
    assert remark.startswith(f"edited by hand from the model {digest}: age set to +9 from 0 to 50, which contradicts")
    path = tmp_path / "edited.json"
    tacit.save_model(edited.model, path, certificate, schema=fitted.schema_)
    from typer.testing import CliRunner

    from tacit.cli.main import app

    said = CliRunner().invoke(app, ["verify", str(path)])
    assert said.exit_code == 0
    assert "the claim holds" in said.output
    assert "edited by hand" in said.output
    assert "taken as public" not in said.output
    page = render(edited.model, certificate.to_dict(), schema=fitted.schema_)
    assert "Internally consistent" in page
    assert f"It is {remark}." in page
    with pytest.warns(UserWarning, match="edited by hand"):
        assert tacit.load(path).predict(ROWS).shape == (6,)


def test_another_models_certificate_is_refused(fitted: Any) -> None:
    with pytest.raises(ClaimError, match="not that of the model that was edited"):
        model().edit("age").smooth().certificate(fitted.certificate_)
    assert fitted.model_.edit("age").certificate(fitted.certificate_) is fitted.certificate_


def test_a_model_that_was_edited_unsaid_does_not_verify(fitted: Any) -> None:
    edited = fitted.model_.edit("age").smooth().model
    assert not claim_of_model(edited.to_dict(fitted.certificate_.to_dict())).holds
    stated = Certificate.from_dict(fitted.certificate_.to_dict())
    assert stated.remarks == ()


def test_an_estimator_goes_on_with_the_edited_model(fitted: Any) -> None:
    edited = fitted.edited(fitted.model_.edit("age").remove().edit("city").remove().edit("old").remove())
    assert edited is not fitted
    chances = edited.predict_proba(ROWS)
    np.testing.assert_allclose(chances, np.repeat(chances[:1], 6, axis=0))
    assert not np.allclose(fitted.predict_proba(ROWS), chances)
    assert "edited by hand" in edited.report()
    assert edited.certificate_.model_digest == model_digest(edited.model_)


def test_places_and_effects_may_be_numbers_of_any_kind_and_dates() -> None:
    by_hand = model().edit("age").set(0.6, 40, 80)
    for value in (np.float32(0.6), np.float64(0.6)):
        assert effect(model().edit("age").set(value, np.int64(40), np.float32(80))) == effect(by_hand)
    for wrong in (True, 10**400, np.nan, "1", None):
        with pytest.raises(RequestError, match="an effect is a finite number"):
            model().edit("age").set(wrong, 40, 80)  # type: ignore[arg-type]
    for places in ((), (40,), (True, 80), (80, 40), (np.nan, 80), (10**400, 80)):
        with pytest.raises(RequestError, match=r"give the two ends of a stretch, as in flatten\(60, 90\)"):
            model().edit("age").flatten(*places)
    far = model().edit("age").set(1e300, 40, 80).history[0]
    assert str(far).endswith("contradicts what was measured at 1e+09 standard deviations (at [40, 60))")
    seen = Feature("seen", NumericGrid(2020.0, 2022.0, 24, "linear", "month"), np.arange(25), ordered=True)
    curve = MainEffect(0, np.arange(25.0), np.ones(25), np.ones(25))
    dated = AdditiveModel(("no", "yes"), 0.0, (seen,), (curve,), ())
    for first, last in (
        ("2020-03", "2020-06"),
        (dt.date(2020, 3, 1), dt.date(2020, 6, 1)),
        (2020 + 2 / 12, 2020 + 5 / 12),
    ):
        flat = dated.edit("seen").flatten(first, last)
        assert effect(flat)[:7] == [0, 1, 3, 3, 3, 5, 6]
    with pytest.raises(RequestError, match=r"from 2020-01 to 2022-01: not 2031 to 2032"):
        dated.edit("seen").flatten(2031, 2032)
    with pytest.raises(RequestError, match=r'holds dates: .* flatten\("2023-01", "2023-06"\)'):
        dated.edit("seen").flatten("2020-03")
    with pytest.raises(RequestError, match="holds dates"):
        dated.edit("seen").flatten("2020-13", "2021-01")
