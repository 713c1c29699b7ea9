"""Merged models: what they predict, what their certificate promises and takes on trust."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.examples import hospital
from tacit.models.binding import ClaimError
from tacit.models.claims import read_claim
from tacit.privacy.request import RequestError


def part(start: int, stop: int, **more: Any) -> Any:
    """Random trees of some of the stays; a patient's stays are neighbours, and no part cuts a patient."""
    X, y, schema = hospital(6000)
    patients = X["patient_id"]
    inside = (patients >= f"P{start:05d}") & (patients < f"P{stop:05d}")
    columns = {name: column[inside] for name, column in X.items()}
    settings = {"epsilon": 1.0, "schema": schema, "n_trees": 5} | more
    return tacit.RandomTreesClassifier(**settings).fit(columns, y[inside])


@pytest.fixture(scope="module")
def parts() -> list[Any]:
    return [part(0, 1500), part(1500, 3000), part(3000, 9000)]


def test_the_promise_of_many_is_that_of_one(parts: list[Any], tmp_path: Path) -> None:
    merged = tacit.merge(parts)
    own = merged.certificate_
    assert own.verify() == []
    assert (own.epsilon, own.delta, own.releasable) == (1.0, parts[0].certificate_.delta, True)
    assert own.charges == parts[0].certificate_.charges
    assert own.protected == "one patient, at most 3 rows"
    [trusted] = [each for each in own.assumptions if each.subject == "merge"]
    assert all(each.certificate_.model_digest in trusted.text for each in parts)
    path = tmp_path / "merged.json"
    tacit.save_model(merged.model_, path, own, schema=merged.schema_)
    claim = read_claim(path)
    assert claim.holds
    assert "no person is in two of the models" in claim.certificate.summary()  # type: ignore[union-attr]
    assert "No person is in two of the models" in merged.report()


def test_log_odds_are_the_mean_by_released_rows(parts: list[Any]) -> None:
    X = {name: column[:50] for name, column in hospital(50)[0].items()}
    merged = tacit.merge(parts)
    rows = np.array([each.model_.trees[0].support.sum() for each in parts])
    np.testing.assert_allclose(merged.model_.shares, rows / rows.sum())

    def log_odds(each: Any) -> Any:
        chance = np.clip(each.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
        return np.log(chance / (1 - chance))

    expected = sum(share * log_odds(each) for share, each in zip(rows / rows.sum(), parts, strict=True))
    np.testing.assert_allclose(merged.decision_function(X), expected, atol=1e-9)
    np.testing.assert_allclose(np.log(merged.predict_proba(X)[:, 1] / merged.predict_proba(X)[:, 0]), expected)
    assert not hasattr(parts[0].model_, "members")


def test_what_does_not_belong_together_is_refused(parts: list[Any]) -> None:
    other = hospital(10)[2].to_dict()
    other["columns"]["age"]["upper"] = 120
    boosted = tacit.BoostedTreesClassifier(schema=parts[0].schema_, epsilon=1.0, n_trees=2).fit(*hospital(99)[:2])
    narrow = part(0, 100, schema=tacit.Schema.from_dict(other))
    for given, words in (
        (parts[:1], "at least two"),
        ([parts[0], deepcopy(parts[0])], "2 of 2 was learned from rows of one before it"),
        ([tacit.merge(parts[:2]), tacit.merge(parts[1:])], "learned from rows of one before it"),
        (parts[0], "at least two fitted estimators"),
        ([parts[0].model_, parts[1].model_], "a list of fitted estimators"),
        ([tacit.merge(parts[:2]), parts[2]], "of kind tree_ensemble, the first one of kind mean: merge all parts"),
        ([parts[0], part(1500, 1600, epsilon=2.0)], "epsilon 2"),
        ([parts[0], part(1500, 1600, neighbouring="replace_one")], "replace_one"),
        ([parts[0], narrow], "another schema"),
        ([parts[0], boosted], "of kind"),
    ):  # fmt: skip
        with pytest.raises(RequestError, match=words):
            tacit.merge(given)


def test_a_seeded_or_changed_model_is_told(parts: list[Any]) -> None:
    seeded = tacit.merge([parts[0], part(1500, 3000, random_state=3)])
    assert not seeded.certificate_.releasable
    assert seeded.certificate_.verify() == []
    forged = part(1500, 1600)
    forged.model_ = parts[2].model_
    with pytest.raises(ClaimError, match="estimator 2 of 2: its certificate is that of another model"):
        tacit.merge([parts[0], forged])


def test_numbers_are_merged_too() -> None:
    schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
    ages = np.arange(400) % 100
    fits = [
        tacit.AdditiveBoostRegressor(epsilon=2.0, schema=schema, target_bounds=(0, 10), interactions=False).fit(
            {"age": ages}, ages / 10
        )
        for _ in range(2)
    ]
    merged = tacit.merge(fits)
    said = sum(s * fit.predict({"age": ages}) for s, fit in zip(merged.model_.shares, fits, strict=True))
    np.testing.assert_allclose(merged.predict({"age": ages}), said)
    assert merged.certificate_.verify() == []
