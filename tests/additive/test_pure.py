"""At delta 0 two classes are learned by trees alone where noise is large, and everything else by sweeps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, BoostedTreesClassifier, Schema
from tacit.additive.tuning import PLANNING
from tacit.models.additive import AdditiveModel
from tacit.models.additive_scores import AdditiveClassesModel
from tacit.models.tree_ensemble import TreeEnsembleModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Laplace
from tacit.privacy.label import Stage
from tacit.privacy.request import RequestError

COLUMNS = 12


def declared(classes: int = 2, **first: Any) -> Schema:
    columns = {f"x{j}": {"kind": "numeric", "lower": -3.0, "upper": 3.0} for j in range(COLUMNS)}
    columns["x0"] |= first
    return Schema.from_dict({"label": {"column": "y", "classes": list(range(classes))}, "columns": columns})


def table(rows: int, classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.uniform(-3, 3, (rows, COLUMNS)), columns=[f"x{j}" for j in range(COLUMNS)])
    score = frame["x0"] + frame["x1"] + np.sin(frame["x2"]) + generator.logistic(size=rows)
    return frame, np.digitize(score, [0.0] if classes == 2 else [-1.0, 1.0])


def learner(**given: Any) -> AdditiveBoostClassifier:
    return AdditiveBoostClassifier(**{"schema": declared(), "delta": 0.0, "epsilon": 1.0, "random_state": 0, **given})


@pytest.mark.parametrize("given", [{}, {"class_weight": {0: 1.0, 1: 3.0}}])
def test_few_rows_are_learned_from_by_trees(given: dict[str, Any]) -> None:
    fitted = learner(**given).fit(*table(400))
    assert isinstance(fitted.model_, TreeEnsembleModel)
    entries = fitted.certificate_.entries
    assert all(isinstance(entry.charge, Laplace) for entry in entries)
    first, rest = entries[0], entries[1:]
    assert str(first.label) == "number of rows, to choose what is learned"
    assert first.charge.epsilon == pytest.approx(PLANNING.pure_counting)
    assert sum(entry.charge.epsilon for entry in rest) == pytest.approx(1.0 - PLANNING.pure_counting)
    assert fitted.certificate_.epsilon <= 1.0
    assert fitted.certificate_.delta == 0.0
    assert learner(**given).dry_run(n=400)["forecast"]["learns"] == ["trees"]


def test_a_public_number_of_rows_is_not_counted() -> None:
    frame, labels = table(400)
    ours = learner(neighbouring="replace_one").fit(frame, labels)
    trees = BoostedTreesClassifier(
        schema=declared(), delta=0.0, epsilon=1.0, random_state=0, neighbouring="replace_one"
    ).fit(frame, labels)
    assert ours.model_.to_dict() == trees.model_.to_dict()
    assert ours.certificate_.entries == trees.certificate_.entries


def test_many_rows_are_learned_from_column_by_column() -> None:
    frame, labels = table(3000)
    enough = learner(epsilon=4.0)
    assert isinstance(enough.fit(frame, labels).model_, AdditiveModel)
    assert enough.dry_run(n=3000)["forecast"]["learns"] == ["columns"]
    assert learner(epsilon=4.0).dry_run(n=20_000)["forecast"]["learns"] == ["columns", "pairs"]
    assert learner(epsilon=4.0).dry_run(n=140)["forecast"]["learns"] == ["trees"]
    assert learner(epsilon=4.0).dry_run(n=160)["forecast"]["learns"] == ["columns"]


@pytest.mark.parametrize(
    "given",
    [
        {"interactions": "pairs"},
        {"interactions": False},
        {"schema": declared(monotone="increasing")},
        {"epsilon": math.inf},
    ],
)
def test_whoever_wants_curves_has_them(given: dict[str, Any]) -> None:
    frame, labels = table(400)
    model = learner(**given).fit(frame, labels).model_
    assert isinstance(model, AdditiveModel)
    assert len(model.mains) == COLUMNS


def test_more_classes_are_learned_in_sweeps() -> None:
    fitted = learner(schema=declared(3)).fit(*table(400, 3))
    assert isinstance(fitted.model_, AdditiveClassesModel)
    assert any(entry.stage is Stage.SWEEP for entry in fitted.certificate_.entries)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-9, 0.0), (1e-7, 0.0), (1e-5, 1e-300)])
def test_noise_that_no_integer_holds_is_refused_before_the_charge(epsilon: float, delta: float, tmp_path: Path) -> None:
    account = PrivacyAccount.create(str(tmp_path / "budget.db"), "d", 1.0, 1e-6)
    with pytest.raises(RequestError, match=r"too small: its noise is larger than the integers.*Nothing was spent"):
        learner(epsilon=epsilon, delta=delta, account=account).fit(*table(60))
    assert account.reservations() == ()
