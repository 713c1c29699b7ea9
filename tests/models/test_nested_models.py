"""Models inside others: one of classes holds no model of a number, and one of numbers none of classes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.additive.estimator import AdditiveBoostRegressor
from tacit.encoding.grid import NumericGrid
from tacit.models.base import ClassModel, ModelError, NumberModel, nested
from tacit.models.files import model_from_dict
from tacit.models.mean import MeanModel
from tacit.models.rule import RuleModel
from tacit.schema import Schema

NUMBER = Schema.from_dict(
    {
        "label": {"column": "y", "kind": "numeric", "lower": 0, "upper": 1},
        "columns": {"a": {"kind": "numeric", "lower": 0, "upper": 1}},
    }
)


def of_a_number() -> NumberModel:
    values = np.linspace(0, 1, 60)
    model = AdditiveBoostRegressor(1.0, schema=NUMBER, interactions=False, random_state=0).fit({"a": values}, values)
    assert isinstance(model.model_, NumberModel)
    return model.model_


def of_classes() -> ClassModel:
    return RuleModel(("no", "yes"), ("a",), (NumericGrid(0.0, 1.0, 2),), np.array([False, True, False]), "a >= 0.5")


def bodies(inside: Any) -> dict[str, dict[str, Any]]:
    """Bodies of models of classes around this one."""
    (part,) = nested([inside])
    return {
        "mean": {"members": [part], "weights": [1.0]},
        "vote": {"classes": ["no", "yes"], "members": [part]},
        "composed": {"classes": ["no", "yes"], "function": [0, 1], "members": [part], "text": "x1"},
        "recalibrated": {"base": part, "knots": [0.0], "values": [0.5]},
    }


@pytest.mark.parametrize("kind", ["mean", "vote", "composed", "recalibrated"])
def test_a_model_of_classes_holds_none_of_a_number(kind: str) -> None:
    facts = {"format": "tacit model", "version": 1, "kind": kind, "certificate": None}
    assert isinstance(model_from_dict({**facts, "model": bodies(of_classes())[kind]}), ClassModel)
    with pytest.raises(ModelError, match="damaged: a model of classes holds a model of a number"):
        model_from_dict({**facts, "model": bodies(of_a_number())[kind]})


def test_a_mean_of_numbers_holds_none_of_classes() -> None:
    facts = {"format": "tacit model", "version": 1, "kind": "mean_number", "certificate": None}
    for inside, fine in ((of_a_number(), True), (of_classes(), False)):
        data = {**facts, "model": {"members": nested([inside]), "weights": [1.0]}}
        if fine:
            assert isinstance(model_from_dict(data), NumberModel)
            continue
        with pytest.raises(ModelError, match="a mean of numbers holds a model of classes"):
            model_from_dict(data)


def test_log_odds_are_averaged_row_by_row() -> None:
    """Two members of weights 1 and 3: odds of 4 and 1/4 make 4 ** (1/4 - 3/4), and each row adds up to 1."""
    members = [
        SimpleNamespace(classes=("no", "yes"), predict_proba=lambda _, line=line: np.array([line, [0.5, 0.5]]))
        for line in ([0.2, 0.8], [0.8, 0.2])
    ]
    model = MeanModel(tuple(members), (1.0, 3.0))  # type: ignore[arg-type]
    assert model.predict_proba(None) == pytest.approx(np.array([[2 / 3, 1 / 3], [0.5, 0.5]]))
    assert model.decision_function(None) == pytest.approx([-math.log(2.0), 0.0])
