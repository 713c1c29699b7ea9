"""Whom an evaluation protects, and which models it takes at their word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, ResampledBoostClassifier, Schema
from tacit.closure import AgnosticClassifier
from tacit.estimators.batchwise import BatchwiseClassifier
from tacit.evaluation.private_score import private_score
from tacit.evaluation.private_selection import PrivateSelection
from tacit.evaluation.recalibrate import recalibrate
from tacit.evaluation.select_model import select_model
from tacit.models.mean import MeanModel
from tacit.privacy.request import RequestError
from tacit.privacy.verification import UNVERIFIED
from tacit.resampling.learner import ClaimedLearner

COLUMNS = {name: {"kind": "numeric", "lower": -4.0, "upper": 4.0} for name in ("a", "b")}
ROWS = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": COLUMNS})
PERSONS = Schema.from_dict(
    {
        "label": {"column": "y", "classes": [0, 1]},
        "columns": COLUMNS,
        "unit": {"column": "person", "max_rows": 5},
    }
)


def table(rows: int = 600) -> tuple[pd.DataFrame, Any]:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(rows, 2)), columns=["a", "b"]).assign(person=np.arange(rows) // 3)
    return frame, (frame["a"] + generator.normal(size=rows) > 0).astype(int).to_numpy()


def learners(schema: Schema) -> dict[str, Any]:
    one = AdditiveBoostClassifier(epsilon=2.0, schema=schema, interactions=False)
    return {
        "estimator": one,
        "batches": BatchwiseClassifier(one),
        "search": PrivateSelection([one, AdditiveBoostClassifier(schema=schema)], epsilon=2.0),
    }


@pytest.mark.parametrize("kind", ["estimator", "batches", "search"])
def test_an_evaluation_protects_whom_the_model_protects(kind: str) -> None:
    frame, labels = table()
    model = learners(PERSONS)[kind].fit(frame, labels)
    assert model.certificate_.rows_per_unit == 5
    assert private_score(model, frame, labels, epsilon=2.0).certificate.rows_per_unit == 5
    assert select_model([model, model], frame, labels, epsilon=2.0).certificate.rows_per_unit == 5
    assert recalibrate(model, frame, labels, epsilon=2.0).certificate.rows_per_unit == 5
    for ask in (private_score, recalibrate, lambda m, *rest, **more: select_model([m, m], *rest, **more)):
        with pytest.raises(
            RequestError, match="all 5 rows that a person may have, and this evaluation would protect 1"
        ):
            ask(model, frame, labels, epsilon=2.0, schema=ROWS)


class LastRow:
    """A foreign predictor whose answers depend on the other rows that it is asked about."""

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), float(len(rows) % 2))


def foreign(**more: Any) -> Any:
    learner = ClaimedLearner(lambda rows, labels, epsilon, delta: LastRow(), "theirs")
    return ResampledBoostClassifier(learner, epsilon=4.0, schema=ROWS, rounds=3, **more)


def test_a_foreign_learner_is_marked_wherever_it_is_inside() -> None:
    """In boosting, in a learner made of that, in a search and in evaluations: what it promises nobody verified."""
    frame, labels = table()
    boosted = foreign().fit(frame, labels)
    inside = AgnosticClassifier(
        learner=foreign(), epsilon=4.0, delta=1e-6, neighbouring="replace_one", schema=ROWS, relabel_share=0.5
    ).fit(frame, labels)
    search = PrivateSelection([foreign(), foreign()], epsilon=8.0, neighbouring="replace_one").fit(frame, labels)
    for model in (boosted, inside, search):
        assert UNVERIFIED in model.certificate_.reasons
        assert UNVERIFIED in private_score(model, frame, labels, epsilon=2.0).certificate.reasons
    chosen = select_model([boosted.model_, boosted.model_], frame, labels, epsilon=2.0)
    assert UNVERIFIED in chosen.certificate.reasons
    own = AdditiveBoostClassifier(epsilon=2.0, schema=ROWS).fit(frame, labels)
    assert private_score(own, frame, labels, epsilon=2.0).certificate.releasable


def test_a_mean_of_models_says_of_a_row_what_it_says_of_it_alone() -> None:
    """An evaluation's sensitivity rests on it; a product of matrices rounds a row by how many there are."""
    frame, labels = table(1500)
    members = [
        AdditiveBoostClassifier(epsilon=1.0, schema=ROWS, interactions=False, random_state=seed)
        .fit(frame, labels)
        .model_
        for seed in range(5)
    ]
    mean = MeanModel(tuple(members), (1.1, 0.3, 2.7, 1.9, 0.7))
    whole = mean.decision_function(frame)
    for rows in (1, 2, 3, 7, 67, 1039, 1499):
        assert np.array_equal(mean.decision_function(frame.iloc[:rows]), whole[:rows])
        assert np.array_equal(mean.predict_proba(frame.iloc[-rows:]), mean.predict_proba(frame)[-rows:])
