"""An audit in one run: honest learners are shown near their claim, and a learner with half the noise is caught."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator

import tacit
from tacit.audit import audit_in_one_run
from tacit.audit.one_run import epsilon_of_guesses
from tests.audit.learners import FLAG


class LaplaceCounts(BaseEstimator):
    """Says how many rows of a category are of the last class, by a noisy count: epsilon-private where noise is 1."""

    def __init__(self, epsilon: float = 1.0, noise: float = 1.0, random_state: Any = None) -> None:
        self.epsilon = epsilon
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LaplaceCounts:
        places = np.asarray(X)[:, 0].astype(int)
        counts = np.bincount(places[np.asarray(y) == "yes"], minlength=places.max() + 1).astype(float)
        draws = np.random.default_rng(self.random_state).laplace(scale=self.noise / self.epsilon, size=len(counts))
        self.classes_ = np.asarray(["no", "yes"])
        self.counts_ = counts + draws
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        share = 1 / (1 + np.exp(-(self.counts_[np.asarray(X)[:, 0].astype(int)] - 30) / 100))
        return np.stack([1 - share, share], axis=1)


def test_one_fit_of_an_honest_learner_shows_nearly_its_claim_and_not_more():
    found = audit_in_one_run(LaplaceCounts(), canaries=4000, random_state=0)
    assert 0.75 < found.epsilon_lower <= 1.0
    assert (found.canaries, found.guesses) == (4000, 2000)
    assert found.holds
    assert found == audit_in_one_run(LaplaceCounts(), canaries=4000, random_state=0)
    assert json.loads(json.dumps(found.to_dict()))["holds"] is True


def test_half_the_noise_is_caught_by_one_fit():
    found = audit_in_one_run(LaplaceCounts(noise=0.5), canaries=1000, random_state=0)
    assert not found.holds
    assert "VIOLATED" in str(found)


def test_honest_fits_are_not_accused():
    assert all(audit_in_one_run(LaplaceCounts(), confidence=0.999, random_state=seed).holds for seed in range(20))


def test_an_honest_tree_shows_most_of_what_can_be_shown():
    tree = tacit.RandomTreesClassifier(epsilon=4.0, delta=0.0, n_trees=1)
    found = audit_in_one_run(tree, random_state=0)
    assert found.usual / 10 < found.epsilon_lower < 4.0
    assert tree.schema is None


def test_the_bound_by_hand():
    bound = epsilon_of_guesses(80, 100, 0.05)
    chance = math.exp(bound) / (1 + math.exp(bound))
    assert binom.sf(79, 100, chance) == pytest.approx(0.05)
    assert epsilon_of_guesses(50, 100, 0.05) == 0.0
    assert epsilon_of_guesses(0, 100, 0.05) == 0.0
    assert epsilon_of_guesses(100, 100, 0.0) == 0.0


def test_delta_is_paid_for_every_canary():
    class Leaky(LaplaceCounts):
        delta = 0.0001

    few, many = (audit_in_one_run(Leaky(noise=0.5), canaries=canaries, random_state=0) for canaries in (400, 600))
    assert few.epsilon_lower > 1
    assert many.epsilon_lower == 0.0  # 600 times delta is more than all of the error


@pytest.mark.parametrize(
    ("estimator", "more", "words"),
    [
        (LaplaceCounts(), {"canaries": 7}, "at least 8"),
        (tacit.RandomTreesClassifier(schema=FLAG), {}, "leave the schema out"),
        (tacit.RandomTreesClassifier(neighbouring="replace_one"), {}, "add_or_remove_one"),
        (tacit.RandomTreesClassifier(epsilon=math.inf), {}, "nothing to audit"),
        (tacit.RandomTreesClassifier(random_state=1), {}, "same noise"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_words(estimator, more, words):
    with pytest.raises(ValueError, match=words):
        audit_in_one_run(estimator, **more)
