"""Audits of learners: who lies is caught, who does not is not, and everybody can be audited."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import tacit
from tacit.audit import audit_estimator, plan
from tacit.audit.guess import Guess, choose, scores
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Stumps
from tacit.noise.seeded_source import SeededSource
from tacit.schema import Schema
from tests.audit.learners import FLAG, LaplaceCount
from tests.chance import SURE, at_most_share

NUMBER = Schema.from_dict(
    {
        "label": {"column": "cost", "kind": "numeric", "lower": 0, "upper": 10},
        "columns": {"smokes": {"kind": "boolean"}},
    }
)
AGE = Schema.from_dict(
    {
        "label": {"column": "sick", "classes": ["no", "yes"]},
        "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 90, "bins": 4}},
    }
)


def forest(**parameters):
    return tacit.RandomTreesClassifier(**{"schema": FLAG, "n_trees": 1, "epsilon": 4.0, **parameters})


@pytest.mark.one_draw(reason="how near a bound comes depends on the guess, which the first trials choose")
def test_an_honest_mechanism_is_nearly_attained_and_not_exceeded():
    result = audit_estimator(LaplaceCount(epsilon=1.0), FLAG, trials=3000, random_state=0)
    assert 0.6 < result.epsilon_lower <= 1.0
    assert result.holds
    assert result.counts.trials == 2988  # the first 12 choose
    assert not result.refuted
    assert result.gaussian is None
    assert result.provable > 5


def test_noise_of_half_the_scale_is_caught():
    result = audit_estimator(LaplaceCount(epsilon=1.0, noise=0.5), FLAG, trials=4000, random_state=0)
    assert not result.holds
    assert result.trials < 4000  # 37 to 257 over eight salts
    assert "VIOLATED" in str(result)


def test_bounds_keep_their_confidence_through_the_whole_audit():
    repeats = 20
    beyond = sum(
        not audit_estimator(LaplaceCount(epsilon=0.7), FLAG, trials=90, confidence=0.8, random_state=seed).holds
        for seed in range(repeats)
    )
    assert at_most_share(beyond, repeats, 0.2)


def test_a_learner_that_lies_is_caught_and_an_honest_one_is_not():
    class RandomForest(tacit.RandomTreesClassifier):
        """Claims a hundredth of what it spends."""

        def fit(self, X, y):
            claimed = self.epsilon
            self.epsilon = 100 * claimed
            super().fit(X, y)
            self.epsilon = claimed
            return self

    parameters = {"schema": FLAG, "n_trees": 1, "epsilon": 0.5, "delta": 0.0}
    lie = audit_estimator(RandomForest(**parameters), trials=36, random_state=0)
    assert not lie.holds
    assert lie.trials < 36
    truth = audit_estimator(forest(epsilon=0.5, delta=0.0), trials=36, confidence=SURE, random_state=0)
    assert truth.holds
    assert "no proof" in truth.meaning


def test_noise_that_is_too_soft_is_caught_by_the_gaussian_bound(monkeypatch):
    drawn = SeededSource.gaussian
    # a forest draws its leaves to the base rate, which hides one row from this attack
    learner = tacit.AdditiveBoostClassifier(epsilon=4.0, schema=FLAG, interactions=False)
    honest = audit_estimator(learner, trials=15, confidence=SURE, random_state=0)
    assert honest.gaussian is not None
    assert honest.holds
    monkeypatch.setattr(SeededSource, "gaussian", lambda self, scale, size: drawn(self, scale / 4, size))
    result = audit_estimator(learner, trials=60, random_state=0)
    assert result.gaussian.epsilon_lower > 4 > result.epsilon_lower
    assert not result.holds
    assert "Gaussian charges" in result.meaning


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize(
    "estimator",
    [
        tacit.AdditiveBoostClassifier(schema=FLAG, interactions=False),
        tacit.AdditiveBoostClassifier(interactions=False),
        tacit.AdditiveBoostClassifier(schema=FLAG, neighbouring="replace_one", interactions=False),
        tacit.AdditiveBoostRegressor(schema=NUMBER, interactions=False),
        tacit.AdditiveBoostRegressor(target_bounds=(0, 1), interactions=False),
        tacit.BoostedTreesClassifier(schema=AGE, n_trees=2, max_depth=2),
        tacit.RandomTreesClassifier(schema=FLAG, n_trees=3, delta=0.0),
        tacit.RandomTreesClassifier(n_trees=3),
        tacit.HalfspaceBoostClassifier(schema=AGE, rounds=3),
        tacit.DecisionListClassifier(schema=AGE),
        tacit.ResampledBoostClassifier(tacit.RandomTreesClassifier(schema=FLAG, n_trees=1), rounds=1),
        FiniteClassClassifier(Stumps(("age",)), schema=AGE),
        AgnosticClassifier(FiniteClassClassifier(Stumps(("age",)), schema=AGE), Stumps(("age",))),
        ComposedClassifier([Stumps(("age",)), Stumps(("age",))], schema=AGE),
    ],
    ids=lambda estimator: f"{type(estimator).__name__}-{estimator.neighbouring}-{estimator.schema is not None}",
)
def test_every_estimator_can_be_audited(estimator):
    before = estimator.get_params()
    result = audit_estimator(estimator, trials=plan.LEAST_TRIALS, confidence=SURE, random_state=1)
    assert result.holds
    assert result.neighbouring == estimator.neighbouring
    assert result.estimator == type(estimator).__name__
    assert estimator.get_params() == before
    assert not hasattr(estimator, "model_")
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.usefixtures("few_rounds")
def test_units_and_more_classes():
    schema = Schema.from_dict(
        {
            "label": {"column": "ward", "classes": ["a", "b", "c"]},
            "columns": {"smokes": {"kind": "boolean"}, "note": {"kind": "ignore"}, "row": {"kind": "id"}},
            "unit": {"column": "person", "max_rows": 3},
        }
    )
    result = audit_estimator(
        tacit.AdditiveBoostClassifier(schema=schema, interactions=False), trials=10, random_state=0
    )
    assert result.rows_per_unit == 3
    assert "1 unit of 3 rows" in str(result)
    with pytest.raises(ValueError, match="single rows"):
        audit_estimator(LaplaceCount(), schema, trials=20)


def test_a_schema_that_is_given_is_what_the_estimator_declares():
    estimator = forest(schema=None)
    result = audit_estimator(estimator, FLAG.to_dict(), trials=20, random_state=0)
    assert result.gaussian is not None  # no bounds were looked for
    assert estimator.schema is None


def test_given_rows_are_not_private_and_the_result_says_so():
    X = pd.DataFrame({"smokes": [False] * 30})
    y = ["no"] * 20 + ["yes"] * 10
    canary = (pd.DataFrame({"smokes": [True]}), ["yes"])
    result = audit_estimator(forest(), X=X, y=y, canary=canary, trials=20, random_state=0)
    assert result.from_rows
    assert result.to_dict()["from_rows"]
    assert "without any privacy" in str(result)
    with pytest.raises(ValueError, match="belong together"):
        audit_estimator(forest(), X=X, y=y)


def test_a_seed_makes_an_audit_repeatable_and_every_fit_different(monkeypatch):
    seeds = []
    made = LaplaceCount.fit

    def fit(self, X, y):
        seeds.append(self.random_state)
        return made(self, X, y)

    monkeypatch.setattr(LaplaceCount, "fit", fit)
    first = audit_estimator(LaplaceCount(), FLAG, trials=30, random_state=5)
    assert len(set(seeds)) == 60
    assert audit_estimator(LaplaceCount(), FLAG, trials=30, random_state=5) == first
    assert seeds[:60] == seeds[60:]
    audit_estimator(LaplaceCount(random_state=3), FLAG, trials=30, random_state=6)
    assert not set(seeds[120:]) & set(seeds[:120])
    audit_estimator(LaplaceCount(), FLAG, trials=30)
    assert set(seeds[180:]) == {None}


def test_every_guess_is_chosen_on_fits_before_those_that_it_is_counted_on(monkeypatch):
    said, chosen, counted = [], [], []
    audits, judge = sys.modules["tacit.audit.audit_estimator"], sys.modules["tacit.audit.judge"]
    monkeypatch.setattr(audits, "scores", lambda model, *more: said.append(scores(model, *more)) or said[-1])

    def choose_on(with_canary, without, *more, **named):
        chosen.append((len(said), with_canary, without))
        return choose(with_canary, without, *more, **named)

    sums = Guess.sums
    monkeypatch.setattr(judge, "choose", choose_on)
    monkeypatch.setattr(Guess, "sums", lambda self, rows: counted.append(len(said)) or sums(self, rows))
    audit_estimator(LaplaceCount(), FLAG, trials=60)
    assert [after // 2 for after, *_ in chosen] == [12, 24, 48]
    for after, first, other in chosen:
        assert np.array_equal(first, said[1:after:2])  # fits without the canary come first
        assert np.array_equal(other, said[0:after:2])
    pairs = [place // 2 for place in counted if place not in [after for after, *_ in chosen]]
    assert min(pairs) == 13


def test_progress_is_told_and_may_end_the_audit():
    reported = []
    audit_estimator(LaplaceCount(), FLAG, trials=20, progress=lambda done, total: reported.append((done, total)))
    assert reported == [(done, 40) for done in range(1, 41)]

    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    estimator = LaplaceCount()
    with pytest.raises(KeyboardInterrupt):
        audit_estimator(estimator, FLAG, trials=20, progress=stop)
    assert not hasattr(estimator, "count_")


class Mute(BaseEstimator):
    epsilon = 1.0

    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("estimator", "more", "words"),
    [
        (forest(epsilon=math.inf), {}, "nothing to audit"),
        (forest(epsilon=-1), {}, "positive"),
        (forest(random_state=3), {}, "same noise"),
        (tacit.ResampledBoostClassifier(forest(random_state=3)), {}, "base__random_state"),
        (forest(), {"trials": 9}, "at least 10"),
        (forest(), {"trials": 30.5}, "whole number"),
        (forest(), {"trials": math.nan}, "whole number"),
        (forest(), {"trials": math.inf}, "whole number"),
        (forest(), {"confidence": 1}, "between 0 and 1"),
        (forest(), {"schema": AGE}, "differ"),
        (forest(), {"neighbouring": "replace_one"}, "claims 'add_or_remove_one'"),
        (forest(), {"random_state": -1}, "non-negative"),
        (LaplaceCount(), {"neighbouring": "both"}, "neighbouring must be"),
        (tacit.RandomTreesClassifier, {}, "not fitted yet"),
        (tacit.BatchwiseClassifier(forest()), {}, "audit the one inside"),
        (Mute(), {}, "predicts nothing"),
        (None, {}, "not fitted yet"),
    ],
    ids=str,
)
def test_what_cannot_be_audited_is_refused_in_words(estimator, more, words):
    with pytest.raises(ValueError, match=words) as error:
        audit_estimator(estimator, **more)
    assert "Nothing was spent" in str(error.value)


def test_an_account_is_never_spent_from(tmp_path):
    url = f"sqlite:///{tmp_path}/budget.db"
    account = tacit.PrivacyAccount.create(url, "survey", 1.0, 1e-6)
    for estimator in (forest(account=account), tacit.ResampledBoostClassifier(forest(account=account))):
        with pytest.raises(ValueError, match="account=None"):
            audit_estimator(estimator)


def test_labels_alone_are_enough_of_an_answer():
    class Said(LaplaceCount):
        predict_proba = property()

        def predict(self, X):
            return np.where(np.arange(len(X)) >= 0, "yes" if self.count_ > 20.5 else "no", "")

    result = audit_estimator(Said(epsilon=20.0), FLAG, trials=60, random_state=0)
    assert result.epsilon_lower > 1
