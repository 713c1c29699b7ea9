"""Boosting any private learner, on samples: the estimator, and adapters for learners of other people."""

from __future__ import annotations

from tacit.resampling.adapters import ClaimedLearner, DiffprivlibLearner
from tacit.resampling.estimator import ResampledBoostClassifier

__all__ = ["ClaimedLearner", "DiffprivlibLearner", "ResampledBoostClassifier"]
