"""A dry run names the charges that the fit then reserves, what has to be found included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
import tacit.learning.fit as whole_fit

ROWS = pd.DataFrame({"x": np.linspace(0, 1, 200), "kind": np.array(["a", "b"] * 100, object)})
NUMBERS = ROWS[["x"]]
WITHOUT_LABEL = {"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}}}
WITH_LABEL = {**WITHOUT_LABEL, "label": {"column": "y", "classes": ["no", "yes"]}}
TEXTS = np.array(["no", "yes"] * 100, object)
FLAGS = np.array([False, True] * 100)

CASES: dict[str, tuple[Any, Any, Any]] = {
    "classes and categories to find": (tacit.AdditiveBoostClassifier(), ROWS, TEXTS),
    "classes and bounds to find": (tacit.AdditiveBoostClassifier(), NUMBERS, TEXTS),
    "classes alone to find": (tacit.AdditiveBoostClassifier(schema=WITHOUT_LABEL), NUMBERS, TEXTS),
    "booleans": (tacit.AdditiveBoostClassifier(), NUMBERS, FLAGS),
    "booleans under a schema": (tacit.AdditiveBoostClassifier(schema=WITHOUT_LABEL), NUMBERS, FLAGS),
    "classes named": (tacit.AdditiveBoostClassifier(classes=("no", "yes")), ROWS, TEXTS),
    "all declared": (tacit.AdditiveBoostClassifier(schema=WITH_LABEL), NUMBERS, TEXTS),
    "no delta": (tacit.AdditiveBoostClassifier(delta=0.0, classes=("no", "yes")), NUMBERS, TEXTS),
    "trees, classes to find": (tacit.BoostedTreesClassifier(n_trees=2), NUMBERS, TEXTS),
    "a number": (tacit.AdditiveBoostRegressor(target_bounds=(0, 1)), ROWS, ROWS["x"].to_numpy()),
    "a number without bounds": (tacit.AdditiveBoostRegressor(), NUMBERS, ROWS["x"].to_numpy()),
    "a learner that finds nothing": (tacit.HalfspaceBoostClassifier(classes=("no", "yes")), NUMBERS, TEXTS),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_dry_run_charges_what_the_fit_reserves(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    estimator, X, y = CASES[case]
    reserved: list[Any] = []
    reserve = whole_fit.reserve

    def kept(account: Any, request: Any, charges: Any, *more: Any) -> Any:
        reserved[:] = [charge.to_dict() for charge in charges]
        return reserve(account, request, charges, *more)

    monkeypatch.setattr(whole_fit, "reserve", kept)
    said = estimator.dry_run(X=X, y=y[:0])
    estimator.fit(X, y)
    assert said["charges"] == reserved
    assert reserved


def test_without_labels_classes_that_nobody_named_are_said_to_be_found() -> None:
    found, named = (tacit.AdditiveBoostClassifier(classes=classes) for classes in (None, ("no", "yes")))
    assert found.dry_run(X=NUMBERS)["charges"] == found.dry_run(X=NUMBERS, y=TEXTS)["charges"]
    assert len(found.dry_run(X=NUMBERS)["charges"]) > len(named.dry_run(X=NUMBERS)["charges"])
    assert tacit.AdditiveBoostClassifier(schema=WITHOUT_LABEL).dry_run()["bounds_share"] > 0
