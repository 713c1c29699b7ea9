"""Learners that are cheap to fit, honest ones and one that is not."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from tacit.schema import Schema

FLAG = Schema.from_dict(
    {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
)
"""One column, so that a whole budget is about it."""


class LaplaceCount(ClassifierMixin, BaseEstimator):
    """Says the share of the last class, from its noisy count: epsilon-private where ``noise`` is 1.

    It takes labels as they come, and rows only to be there: what stands for other people's learners.
    """

    def __init__(self, epsilon: float = 1.0, noise: float = 1.0, random_state: Any = None) -> None:
        self.epsilon = epsilon
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> LaplaceCount:
        draws = np.random.default_rng(self.random_state)
        assert np.asarray(X, float).ndim == 2
        self.classes_ = np.asarray(["no", "yes"])
        self.count_ = (np.asarray(y) == "yes").sum() + draws.laplace(scale=self.noise / self.epsilon)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        share = 1 / (1 + np.exp(-self.count_ / 100))
        return np.tile([1 - share, share], (len(X), 1))
