"""Predictions made before rows are learned from, and the model of released weights, by value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.online import DecisionListWinnow, Winnow
from tacit.privacy.request import RequestError

SCHEMA = {
    "label": {"column": "y", "kind": "classes", "classes": ["no", "yes"], "positive": "yes"},
    "columns": {
        "age": {"kind": "numeric", "lower": 0, "upper": 8},
        "ward": {"kind": "categorical", "categories": ["a", "b"]},
        "smokes": {"kind": "boolean"},
    },
}
ROWS = pd.DataFrame(
    {
        "age": [np.nan, 0.0, 1.9, 2.0, 3.9, 4.0, 6.0, 8.0, 99.0, 5.0],
        "ward": ["a", "b", "c", None, "a", "b", "a", "b", "c", "a"],
        "smokes": [True, False, None, True, False, True, False, None, True, False],
    }
)
"""Coordinates: age >= 2, 4, 6; ward is a, b, other; smokes is false, true; the constant."""


def learner(**parameters: Any) -> Winnow:
    return Winnow(**{"epsilon": 20.0, "schema": SCHEMA, "bins": 4, "horizon": 150, "seed": 1, **parameters})


def test_a_model_says_what_its_stream_says_ties_included() -> None:
    """By hand: 3 on age >= 4, -2 on ward a, 1 on smokes true, -1 on the constant, of 7 units."""
    stream = learner()
    stream.learn_many(ROWS, ["no", "yes"] * 5)
    assert stream.log_ is not None
    stream.log_.vectors[stream.log_.current] = np.array([0, 3, 0, -2, 0, 0, 0, 1, -1], np.int64)
    stream.log_.known, stream.log_.decay = None, None
    scores = np.array([-5, -3, -3, -1, -7, 5, -1, 3, 5, -1])
    model, certificate = stream.to_model()
    assert stream.predict_many(ROWS).tolist() == np.where(scores > 0, "yes", "no").tolist()
    np.testing.assert_allclose(model.decision_function(ROWS), scores / 7, atol=1e-6)
    assert model.predict(ROWS).tolist() == stream.predict_many(ROWS).tolist()
    shares = [stream.predict_proba_one(row)["yes"] for row in ROWS.to_dict("records")]
    np.testing.assert_allclose(model.predict_proba(ROWS)[:, 1], shares, atol=1e-6)
    assert (certificate.target, certificate.columns) == ("y", ("age", "ward", "smokes"))
    assert certificate.parameters["horizon"] == 150
    assert model.to_text(0).splitlines()[1].startswith("if age >= 4: add +0.429")

    stream.log_.vectors[stream.log_.current] = np.array([0, 3, 0, -2, 0, 0, 0, 0, -1], np.int64)
    tied = stream.to_model()[0]
    assert [float(share) for share in tied.predict_proba(ROWS[6:7])[0]] == pytest.approx([0.5, 0.5], abs=1e-6)
    assert tied.predict(ROWS[6:7]).tolist() == stream.predict_many(ROWS[6:7]).tolist() == ["no"]


@pytest.mark.parametrize(
    "parameters",
    [{"period": 50}, {"update": "batch", "epsilon": math.inf}, {"signed": False}, {"labels": ("no", "yes", "both")}],
)
def test_rows_are_predicted_by_the_weights_before_them(parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"age": rng.uniform(0, 8, 150), "ward": rng.choice(["a", "b"], 150), "smokes": False})
    labels = np.where(rows["age"] > 4, "yes", "no")
    by_one, at_once = learner(**parameters), learner(**parameters)
    said = []
    for row, label in zip(rows.to_dict("records"), labels, strict=True):
        said.append(by_one.predict_one(row))
        by_one.learn_one(row, label)
    assert at_once.predict_then_learn(rows, labels).tolist() == said
    assert len(set(said)) > 1  # weights have changed on the way
    assert at_once.log_ is not None
    assert by_one.log_ is not None
    assert at_once.log_.to_dict() == by_one.log_.to_dict()


def test_what_no_model_holds_is_refused() -> None:
    with pytest.raises(RequestError, match="nothing was released yet"):
        learner().to_model()
    with pytest.raises(RequestError, match="needs a schema"):
        Winnow(columns=("a", "b")).to_model()
    with pytest.raises(RequestError, match="two classes"):
        learner(labels=("no", "yes", "both")).to_model()
    with pytest.raises(RequestError, match="conjunctions"):
        DecisionListWinnow(schema=SCHEMA, k=2, horizon=150).to_model()
