"""Models with a score per class, of which probabilities are the softmax: what follows from scores alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.models.base import ClassModel
from tacit.models.links import softmax


class SoftmaxModel(ClassModel):
    """Base of the models of several classes that give each a score: log-odds up to a constant per row."""

    def decision_function(self, frame: Any) -> Floats:
        """The scores, shape ``(rows, classes)``."""
        raise NotImplementedError

    def scores_variance(self, frame: Any) -> Floats:
        """Variance of the scores given what was released, shape ``(rows, classes)``.

        Raises ``ValueError`` if the model does not know it.
        """
        raise NotImplementedError

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, classes)``; every row sums to 1."""
        return softmax(self.decision_function(frame))

    def log_odds(self, frame: Any) -> Floats:
        """Log-odds of every class against all others together, shape ``(rows, classes)``."""
        powers, others = _against_others(self.decision_function(frame))
        return np.asarray(np.log(np.maximum(powers, 1e-300)) - np.log(np.maximum(others, 1e-300)))

    def log_odds_variance(self, frame: Any) -> Floats:
        """Variance of :meth:`log_odds` given what was released, shape ``(rows, classes)``; to first order.

        The releases say nothing of the mean of the scores, so that errors of the scores are those of independent ones
        with their mean taken off. Log-odds do not change with the mean: they add the independent ones up, every other
        class with its share in the others.
        """
        frame = self.frame_of(frame)
        variance = _without_mean(self.scores_variance(frame))
        powers, others = _against_others(self.decision_function(frame))
        of_others = np.square(powers) * variance
        rest = np.maximum(of_others.sum(axis=1, keepdims=True) - of_others, 0.0)
        return np.asarray(variance + rest / np.square(np.maximum(others, 1e-150)))


def _against_others(scores: Floats) -> tuple[Floats, Floats]:
    """Unnormalised probabilities of every class, and of all others together."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    others = powers.sum(axis=1, keepdims=True) - powers
    likeliest, every = scores.argmax(axis=1), np.arange(len(scores))
    rest = powers.copy()
    rest[every, likeliest] = 0.0
    others[every, likeliest] = rest.sum(axis=1)  # a difference would cancel
    return powers, others


def _without_mean(variance: Floats) -> Floats:
    """Variances of independent numbers that have these variances once their mean is taken off; at least 3 classes."""
    classes = variance.shape[1]
    total = variance.sum(axis=1, keepdims=True) * classes / (classes - 1)
    return np.asarray(np.maximum(variance - total / classes**2, 0.0) / (1 - 2 / classes))
