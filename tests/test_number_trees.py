"""Trees alone for a number: what is compared with the additive regressor is what `benchmarks.number_trees` says."""

from __future__ import annotations

import math

import pytest

from benchmarks.number_trees import LOOKS, TREES, TreesAloneRegressor, explained, threes
from benchmarks.score_tables import ScoreTable, split
from tacit import AdditiveBoostRegressor
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.privacy.charges import Repeated
from tacit.privacy.label import Stage

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped


def fitted(train: ScoreTable, epsilon: float) -> TreesAloneRegressor:
    return TreesAloneRegressor(epsilon=epsilon, schema=train.schema, random_state=0).fit(train.X, train.y)


def test_there_is_nothing_but_trees_and_looks_at_residuals() -> None:
    model = fitted(threes(2000), 1.0)
    assert isinstance(model.model_, AdditiveRegressionModel)
    scores = model.model_.scores
    assert (scores.mains, scores.pairs) == ((), ())
    assert len(scores.trees) == TREES // LOOKS * LOOKS
    entries = {entry.what.stage: entry.charge for entry in model.certificate_.entries}
    assert set(entries) == {Stage.COUNTS, Stage.BINNING, Stage.RESIDUALS, Stage.TREE}
    trees = entries[Stage.TREE]
    assert isinstance(trees, Repeated)
    assert trees.times == len(scores.trees)
    assert model.certificate_.epsilon <= 1.0


@pytest.mark.slow
def test_without_privacy_trees_learn_what_three_columns_say_together() -> None:
    train, test = split(threes(20_000), 0)
    curves = AdditiveBoostRegressor(epsilon=math.inf, schema=train.schema, interactions=False).fit(train.X, train.y)
    assert explained(test, curves.predict(test.X))["r2"] < 0.05
    assert explained(test, fitted(train, math.inf).predict(test.X))["r2"] > 0.3
