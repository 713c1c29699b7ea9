"""Labels that nobody declared are refused before anything is spent, whatever they hold.

Three learners once took any labels for 0 and 1: of -1 and +1, or 1 and 2, the rows of one class did not count, and the
whole budget went into a model that said one class. That labels are 0 and 1 cannot be seen without reading them, so that
what decides is their dtype, and whether classes are declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit import registry
from tacit.estimators.base import request_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.privacy.request import RequestError
from tests.pairwise import in_turn

N = 60
HALF = np.arange(N) % 2
MATRIX = np.random.default_rng(0).uniform(size=(N, 2))
UNIT = {"columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in ("x0", "x1")}}

CLASSIFIERS = sorted(
    (kind for kind in registry.of_the_library(registry.estimators()).values() if issubclass(kind, PrivateClassifier)),
    key=lambda kind: kind.__name__,
)

LABELS: dict[str, Any] = {
    "0 and 1": HALF,
    "-1 and +1": 2 * HALF - 1,
    "1 and 2": HALF + 1,
    "floats": HALF.astype(float),
    "floats between": HALF + 0.5,
    "strings": np.where(HALF, "yes", "no"),
    "objects": np.where(HALF, "yes", "no").astype(object),
    "objects of booleans": HALF.astype(bool).astype(object),
    "a list": HALF.tolist(),
    "a list of booleans": HALF.astype(bool).tolist(),
    "a series": pd.Series(HALF),
    "categories": pd.Series(np.where(HALF, "a", "b")).astype("category"),
    "polars": pl.Series("y", HALF),
    "arrow": pa.array(HALF),
    "three classes": np.arange(N) % 3,
    "one class": np.zeros(N, int),
    "nothing": np.zeros(0, int),
}


def made(kind: type[Any], **asked: Any) -> Any:
    small = {"n_trees": 2, "rounds": 2}
    own: dict[str, Any] = {name: value for name, value in small.items() if name in kind().get_params(deep=False)}
    if kind is tacit.ResampledBoostClassifier:
        own["base"] = tacit.RandomTreesClassifier(n_trees=1)
    return kind(**own, **asked)


def finds(kind: type[Any]) -> bool:
    learner = made(kind, schema=UNIT)
    return bool(learner.make_learner(request_of(learner)).discovers)


def test_there_are_learners_that_find_classes_and_learners_that_do_not() -> None:
    assert len([kind for kind in CLASSIFIERS if finds(kind)]) >= 2
    assert len([kind for kind in CLASSIFIERS if not finds(kind)]) >= 6


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_labels_that_nobody_declared_are_refused_and_nothing_is_spent(kind: type[Any], tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 8.0, 1e-5)
    unasked = ({"delta": 0.0},) if finds(kind) else ({"delta": 0.0}, {}, {"epsilon": math.inf, "account": None})
    said: dict[bool, set[str]] = {True: set(), False: set()}
    for asked in unasked:
        for schema in (None, UNIT):
            for name, labels in LABELS.items():
                n = len(labels)
                rows = MATRIX[:n] if schema is None else {"x0": MATRIX[:n, 0], "x1": MATRIX[:n, 1]}
                learner = made(kind, **{"account": account, "schema": schema, **asked})
                with pytest.raises(RequestError, match=r"classes=\(0, 1\)") as caught:
                    learner.fit(rows, labels)
                assert not caught.value.spent
                said[name.startswith("floats")].add(str(caught.value))
    for messages in said.values():  # a dtype of fractions, which is public, has words of its own
        assert len(messages) == 1, "what labels hold is no part of what is said"
        assert messages.pop().endswith("Nothing was spent.")
    assert not account.reservations()


@pytest.mark.parametrize(
    ("kind", "of"),
    in_turn(CLASSIFIERS, [(np.asarray,), (pd.Series,), (pa.array,), (lambda y: pd.array(y, dtype="boolean"),)]),
)
def test_booleans_say_themselves_which_classes_there_are(kind: type[Any], of: Callable[[Any], Any]) -> None:
    fitted = made(kind, schema=UNIT, delta=1e-6).fit({"x0": MATRIX[:, 0], "x1": MATRIX[:, 1]}, of(HALF.astype(bool)))
    assert fitted.classes_.tolist() == [False, True]


@pytest.mark.parametrize(("kind", "named"), in_turn(CLASSIFIERS, [((-1, 1),), (("no", "yes"),)]))
def test_classes_that_are_declared_are_told_apart(kind: type[Any], named: tuple[Any, Any]) -> None:
    rows = np.random.default_rng(1).uniform(size=(400, 2))
    labels = np.asarray(named)[(rows[:, 0] > 0.5).astype(int)]
    fitted = made(kind, schema=UNIT, classes=named, epsilon=math.inf, random_state=3).fit(
        {"x0": rows[:, 0], "x1": rows[:, 1]}, labels
    )
    assert set(fitted.predict({"x0": rows[:, 0], "x1": rows[:, 1]})) == set(named)


def test_matrices_of_rows_are_no_exception() -> None:
    for labels in (HALF, LABELS["strings"]):
        with pytest.raises(RequestError, match=r"classes=\(0, 1\)"):
            tacit.HalfspaceBoostClassifier(row_norm=1.0).fit(MATRIX, labels)
    learner = tacit.HalfspaceBoostClassifier(row_norm=1.0, rounds=2).fit(MATRIX, HALF.astype(bool))
    assert learner.classes_.tolist() == [False, True]


@pytest.mark.parametrize("labels", [HALF, HALF.tolist(), LABELS["strings"]], ids=["numbers", "a list", "strings"])
def test_searches_are_no_exception(labels: Any, tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 8.0, 1e-5)
    one = tacit.AdditiveBoostClassifier(schema=UNIT, interactions=False)
    rows = {"x0": MATRIX[:, 0], "x1": MATRIX[:, 1]}
    for search in (
        tacit.PrivateSelection([one, one], account=account),
        tacit.PrivateSelection.over_grid(one, {"interactions": [True, False]}, account=account),
    ):
        with pytest.raises(RequestError, match=r"classes=\(0, 1\)"):
            search.fit(rows, labels)
    assert not account.reservations()
    model = tacit.PrivateSelection([one, one], epsilon=8.0).fit(rows, HALF.astype(bool))
    assert model.classes_.tolist() == [False, True]


SEVERAL = (tacit.AdditiveBoostClassifier, tacit.BoostedTreesClassifier, tacit.DecisionListClassifier)
TWO = [kind for kind in CLASSIFIERS if kind not in SEVERAL]


@pytest.mark.parametrize(("kind", "declared"), in_turn(TWO, [("classes",), ("schema",)]))
def test_a_third_class_is_refused_by_learners_of_two(kind: type[Any], declared: str, tmp_path: Path) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 8.0, 1e-5)
    label = {"label": {"column": "y", "classes": [0, 1, 2]}}
    told = {"schema": UNIT, "classes": (0, 1, 2)} if declared == "classes" else {"schema": {**UNIT, **label}}
    with pytest.raises(RequestError, match=r"two classes.*Nothing was spent"):
        made(kind, account=account, **told).fit({"x0": MATRIX[:, 0], "x1": MATRIX[:, 1]}, np.arange(N) % 3)
    assert not account.reservations()
