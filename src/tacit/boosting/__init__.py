"""The boosting schema of Bun, Carmosino and Sorrell (2020), for measures and weak learners of one's own.

    with private_rows(X, y, row_norm=1.0, epsilon=1.0) as rows:
        ensemble = boost(rows.budget.curator, embedding, measure, weak_learner, rounds=20)

docs/boosting.md has a worked example. A :class:`Measure` says how a row weighs, given the released hypotheses;
a :class:`WeakLearner` asks for one noisy answer under it; an :class:`Embedding` keeps the hypotheses.
"""

from __future__ import annotations

from tacit.boosting.measures.lazy_bregman import LazyBregman
from tacit.boosting.measures.logistic import LogisticMeasure
from tacit.boosting.measures.measure import Measure, stateless_sum
from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.boosting.private_rows import SealedRows, private_rows
from tacit.boosting.schema import Embedding, Ensemble, WeakLearner, WeakLearnerError, boost
from tacit.boosting.stopping import EndTest
from tacit.queries.dense.halfspace_log import HalfspaceLog

PrivateRows = SealedRows
"""The name that it had before 0.1, until 0.2: a :class:`tacit.curator.rows.PrivateRows` is another thing."""

__all__ = [
    "Embedding",
    "EndTest",
    "Ensemble",
    "HalfspaceLog",
    "LazyBregman",
    "LogisticMeasure",
    "Measure",
    "SealedRows",
    "SmoothMeasure",
    "WeakLearner",
    "WeakLearnerError",
    "boost",
    "private_rows",
    "stateless_sum",
]
