"""An audit in one run: honest learners are shown near their claim, and a learner with half the noise is caught."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator

import tacit
from tacit.audit import audit_in_one_run
from tacit.audit.one_run import epsilon_of_guesses, gaussian_epsilons, gaussian_refuted, independent_chance
from tacit.privacy.charges import Gaussian
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
    result = audit_in_one_run(LaplaceCounts(), canaries=4000, random_state=0)
    assert 0.75 < result.epsilon_lower <= 1.0
    assert (result.canaries, result.guesses) == (4000, 2000)
    assert result.holds
    assert result == audit_in_one_run(LaplaceCounts(), canaries=4000, random_state=0)
    assert json.loads(json.dumps(result.to_dict()))["holds"] is True


def test_half_the_noise_is_caught_by_one_fit():
    result = audit_in_one_run(LaplaceCounts(noise=0.5), canaries=1000, random_state=0)
    assert not result.holds
    assert "VIOLATED" in str(result)


def test_honest_fits_are_not_accused():
    assert all(audit_in_one_run(LaplaceCounts(), confidence=0.999, random_state=seed).holds for seed in range(20))


def test_an_honest_tree_shows_most_of_what_can_be_shown():
    tree = tacit.RandomTreesClassifier(epsilon=4.0, delta=0.0, n_trees=1)
    result = audit_in_one_run(tree, random_state=0)
    assert result.usual / 10 < result.epsilon_lower < 4.0
    assert tree.schema is None


def test_the_bound_by_hand():
    bound = epsilon_of_guesses(80, 100, 0.05)
    chance = math.exp(bound) / (1 + math.exp(bound))
    assert binom.sf(79, 100, chance) == pytest.approx(0.05)
    assert epsilon_of_guesses(50, 100, 0.05) == 0.0
    assert epsilon_of_guesses(0, 100, 0.05) == 0.0
    assert epsilon_of_guesses(100, 100, 0.0) == 0.0


SHIFT, DELTA = 0.8378, 1e-6
"""That of epsilon 4."""


class GaussianCounts(LaplaceCounts):
    """The same with Gaussian noise, and a certificate that says so."""

    delta = DELTA

    def fit(self, X: Any, y: Any) -> GaussianCounts:
        super().fit(X, y)
        counts = np.bincount(np.asarray(X)[:, 0].astype(int)[np.asarray(y) == "yes"])
        self.counts_ = counts + np.random.default_rng(self.random_state).normal(
            scale=self.noise / SHIFT, size=len(counts)
        )
        self.certificate_ = SimpleNamespace(charges=(Gaussian(1 / SHIFT),))
        return self


def test_gaussian_noise_in_cells_of_their_own_shows_nearly_its_claim():
    audit = audit_in_one_run(GaussianCounts(epsilon=4.0), canaries=4000, random_state=0)
    assert audit.gaussian is not None
    assert audit.epsilon_lower < 1.2
    assert 1.4 < audit.gaussian.epsilon_lower < 2.4
    assert 3.0 < audit.gaussian.independent < 4.4
    assert audit.gaussian.usual == pytest.approx(3.6, abs=0.3)
    assert audit.holds
    assert "independent" in str(audit)
    assert json.loads(json.dumps(audit.to_dict()))["gaussian"]["usual"] == audit.gaussian.usual


def test_half_of_gaussian_noise_is_caught_and_honest_noise_is_not():
    half = audit_in_one_run(GaussianCounts(epsilon=4.0, noise=0.4), canaries=4000, confidence=0.999, random_state=0)
    assert not half.holds
    for seed in range(20):
        honest = audit_in_one_run(GaussianCounts(epsilon=4.0), canaries=400, confidence=0.999, random_state=seed)
        assert honest.holds
        assert honest.gaussian is not None
        assert honest.gaussian.independent <= 4.0


def test_the_chance_of_right_guesses_is_that_of_the_most_telling_canaries():
    """Against a simulation; the share of the audits that are wrong is the error."""
    generator, n, r = np.random.default_rng(1), 200, 60
    loss = np.abs(SHIFT * generator.normal(size=(20_000, n)) + SHIFT**2 / 2)
    told = np.sort(loss, axis=1)[:, -r:]
    wrong = (generator.random(told.shape) < 1 / (1 + np.exp(told))).sum(axis=1)
    for right in (36, 43, 48):
        share = float((r - wrong >= right).mean())
        assert independent_chance(SHIFT, right, r, n) == pytest.approx(share, abs=6 * math.sqrt(0.25 / 20_000))


def test_canaries_that_share_their_luck_deceive_the_bound_for_independent_ones_alone():
    """All canaries have one privacy loss: each alone is mu-Gaussian, as the claim says."""
    generator, n, r, times = np.random.default_rng(2), 400, 200, 20_000
    loss = np.abs(SHIFT * generator.normal(size=times) + SHIFT**2 / 2)
    right = r - generator.binomial(r, 1 / (1 + np.exp(loss)))
    whatever = next(k for k in range(r) if gaussian_refuted(SHIFT, k, r, n, 0.05))
    independent = next(k for k in range(140, r) if independent_chance(SHIFT, k, r, n) < 0.05)
    assert (right >= whatever).mean() <= 0.05
    assert (right >= independent).mean() > 0.1


def test_bounds_of_gaussian_noise_rise_with_right_guesses_and_are_0_for_chance():
    bounds = [gaussian_epsilons(right, 100, 400, DELTA, 0.05) for right in (50, 75, 90)]
    assert bounds[0] == (0.0, 0.0)
    for lower, higher in pairwise(bounds):
        assert lower <= higher
    assert all(whatever <= independent for whatever, independent in bounds)


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
