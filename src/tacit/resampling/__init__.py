"""Boosting any private learner, on samples: the estimator, and adapters for learners of other people."""

from __future__ import annotations

from tacit.resampling.estimator import ResampledBoostClassifier
from tacit.resampling.learner import ClaimedLearner, DiffprivlibLearner

__all__ = ["ClaimedLearner", "DiffprivlibLearner", "ResampledBoostClassifier"]
