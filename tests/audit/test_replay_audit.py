"""Replays of learners: planted bugs are found, each by its own words, and honest learners pass."""

from __future__ import annotations

import itertools
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from benchmarks.planted import BUGS, FLAG, LEARNERS, UNIT, WIDE, Bug
from tacit.audit import replay_audit
from tacit.audit.watch import Watch
from tacit.closure import FiniteClassClassifier, Thresholds
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import columns_of
from tacit.noise import SeededSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

FOREST, ADDITIVE = LEARNERS
FEW = {"neighbours": 3}

WORDS = {  # of the first faults; what a fault leads to is different in every learner
    "noise left out": "has no noise",
    "noise of half the scale": "costs more than",
    "the same noise twice": "has the noise of",
    "a sensitivity a fifth too small": "is declared",
    "noise for the other relation": "is declared",
    "a person's rows charged as one": "is declared",
    "eight fits sold as one": "the certificate says epsilon 8",
    "bounds from the rows": "",
    "categories from the rows": "",
    "charges that follow from the number of rows": "rows steer the fit",
    "an uncharged peek, shown": "past the curator",
}


FEW_DRAWS = {(FOREST, "the same noise twice")}
"""One tree draws a dozen numbers in three fits: too few to say so."""


@pytest.mark.parametrize(
    ("learner", "bug"), [pair for pair in itertools.product(LEARNERS, WORDS) if pair not in FEW_DRAWS]
)
def test_a_planted_bug_is_found(learner: str, bug: str) -> None:
    planted = BUGS[bug]
    with planted.planted():
        result = replay_audit(LEARNERS[learner](planted), **FEW)
    assert not result.holds
    assert any(WORDS[bug] in fault for fault in result.faults), result
    assert "VIOLATED" in str(result)
    json.dumps(result.to_dict(), allow_nan=False)


HONEST: dict[str, Any] = {
    "additive": tacit.AdditiveBoostClassifier(schema=FLAG),
    "additive, delta 0": tacit.AdditiveBoostClassifier(schema=WIDE, delta=0.0, interactions=False),
    "additive, replace_one": tacit.AdditiveBoostClassifier(schema=FLAG, neighbouring="replace_one"),
    "additive, persons": tacit.AdditiveBoostClassifier(schema=UNIT, interactions=False),
    "trees": tacit.BoostedTreesClassifier(schema=WIDE, n_trees=2, max_depth=2),
    "forest, persons, replace_one": tacit.RandomTreesClassifier(schema=UNIT, n_trees=2, neighbouring="replace_one"),
    "halfspace": tacit.HalfspaceBoostClassifier(schema=WIDE, rounds=5),
    "decision list": tacit.DecisionListClassifier(schema=WIDE),
    "finite class": FiniteClassClassifier(Thresholds("x"), schema=WIDE),
    "resampled": tacit.ResampledBoostClassifier(
        tacit.RandomTreesClassifier(schema=WIDE, n_trees=2, neighbouring="replace_one"),
        schema=WIDE,
        rounds=2,
        neighbouring="replace_one",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_learner_passes(name: str) -> None:
    before = HONEST[name].get_params()
    result = replay_audit(HONEST[name], **FEW)
    assert result.holds, result
    assert result.releases > 3
    assert 0.3 < result.tightest <= 1  # neighbours are neighbours, and some answers moved
    assert "no proof" in result.meaning
    assert HONEST[name].get_params() == before


class SaysWhatItSaw(tacit.RandomTreesClassifier):
    def fit(self, X: Any, y: Any) -> Any:
        if len(y) != 60:
            raise ValueError("this table is unusual")
        return super().fit(X, y)


def test_an_error_about_rows_is_found() -> None:
    result = replay_audit(SaysWhatItSaw(schema=FLAG, n_trees=1), **FEW)
    assert any("the fit failed on a neighbour: ValueError: this table is unusual" in fault for fault in result.faults)


class StopsEarly(tacit.RandomTreesClassifier):
    """Half of its trees where rows are few."""

    def fit(self, X: Any, y: Any) -> Any:
        self.n_trees = 2 if len(y) >= 60 else 1
        return super().fit(X, y)


def test_rows_that_steer_a_fit_are_found() -> None:
    result = replay_audit(StopsEarly(schema=FLAG), **FEW)
    assert any("rows steer" in fault for fault in result.faults)


def test_given_rows_are_taken_and_the_result_is_not_private() -> None:
    rows = pd.DataFrame({"smokes": [True, False] * 20, "person": np.repeat(np.arange(20), 2).astype(str)})
    labels = np.array(["no", "yes"] * 20, object)
    result = replay_audit(Bug(schema=UNIT).learner(tacit.RandomTreesClassifier, n_trees=1), X=rows, y=labels, **FEW)
    assert result.holds, result
    assert result.from_rows
    assert "without any privacy" in result.meaning


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (tacit.RandomTreesClassifier(classes=(0, 1)), "needs a schema"),
        (tacit.RandomTreesClassifier(schema=FLAG, epsilon=np.inf), "nothing to replay"),
        (object(), "no estimator of this library"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_words(estimator: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replay_audit(estimator, **FEW)


def test_an_account_is_never_spent_from(tmp_path: Any) -> None:
    account = tacit.PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "survey", 1.0, 1e-6)
    with pytest.raises(ValueError, match="account=None"):
        replay_audit(tacit.RandomTreesClassifier(schema=FLAG, account=account))


def test_rows_whose_noise_has_no_seed_are_not_watched() -> None:
    """Exact answers come out only where whoever knows the seed could work them out."""
    paid = Reservation([Gaussian(1.0)], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    rows = PrivateRows(columns_of({"x": np.zeros(3)}), np.zeros(3), paid, None)
    with pytest.raises(TypeError, match="seed"):
        rows.with_witness(Watch())


def test_a_cover_that_no_verb_asked_for_is_told_of() -> None:
    watch = Watch()
    table = watch.table(SimpleNamespace(open_cover=lambda _: None))
    paid = Reservation([], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    assert watch.release(paid, [], lambda: [table.open_cover(None)][:0]) == []
    assert watch.recording.faults == []
    table.open_cover(None)
    assert watch.recording.faults == ["rows were asked past the curator: a cover"]


def test_a_source_whose_noise_is_too_small_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale is right, and what is drawn at it is not."""
    gaussian = SeededSource.gaussian
    monkeypatch.setattr(SeededSource, "gaussian", lambda *asked: gaussian(*asked) // 2)
    result = replay_audit(LEARNERS[ADDITIVE](Bug()), neighbours=1)
    assert any("of the scale that its charges need" in fault for fault in result.faults), result
