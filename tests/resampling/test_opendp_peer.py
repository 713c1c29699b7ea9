"""Boost-S around a private learner of other people that runs here: stumps that OpenDP chooses."""

from __future__ import annotations

import math

import pytest

dp = pytest.importorskip("opendp.prelude")

from benchmarks.boost_s import SCHEMA, opendp_stump, table  # noqa: E402
from tacit.resampling.estimator import ResampledBoostClassifier  # noqa: E402
from tacit.resampling.learner import ClaimedLearner  # noqa: E402


@pytest.fixture(autouse=True)
def features() -> None:
    dp.enable_features("contrib")


def test_opendp_is_given_what_a_round_leaves_for_it() -> None:
    told: list[tuple[float, float]] = []

    def noting(rows: object, labels: object, epsilon: float, delta: float) -> object:
        told.append((epsilon, delta))
        return opendp_stump(rows, labels, epsilon, delta)  # type: ignore[arg-type]

    model = ResampledBoostClassifier(ClaimedLearner(noting, "noting"), 4.0, schema=SCHEMA, rounds=3)
    model.fit(*table(4000, 0))
    assert told == [(model.plan_.base.epsilon, model.plan_.base.delta)] * 3
    assert math.isfinite(told[0][0])
