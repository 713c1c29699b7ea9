"""The boosting schema of Bun, Carmosino and Sorrell (2020), for measures and weak learners of one's own.

    with private_rows(X, y, row_norm=1.0, epsilon=1.0) as rows:
        ensemble = boost(rows.budget.curator, embedding, measure, weak_learner, rounds=20)

docs/boosting.md has a worked example. A :class:`Measure` says how a row weighs, given the released hypotheses;
a :class:`WeakLearner` asks for one noisy answer under it; an :class:`Embedding` keeps the hypotheses.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.boosting.game import Diagnosis, Play, Pythia, diagnose, iterated_play, lazy_dense_updates, pythia
    from tacit.boosting.measures import LazyBregman, LogisticMeasure, Measure, SmoothMeasure, stateless_sum
    from tacit.boosting.schema import Embedding, Ensemble, WeakLearner, WeakLearnerError, boost
    from tacit.boosting.sealed import SealedCells, SealedRows, private_rows, private_table
    from tacit.boosting.stopping import EndTest
    from tacit.boosting.tables import CellEmbedding, CellLearner, CellMeasure, CellRule
    from tacit.queries.dense.halfspace_log import HalfspaceLog

MODULES = {
    "tacit.boosting.game": "Diagnosis Play Pythia diagnose iterated_play lazy_dense_updates pythia",
    "tacit.boosting.measures": "LazyBregman LogisticMeasure Measure SmoothMeasure stateless_sum",
    "tacit.boosting.schema": "Embedding Ensemble WeakLearner WeakLearnerError boost",
    "tacit.boosting.sealed": "SealedCells SealedRows private_rows private_table",
    "tacit.boosting.stopping": "EndTest",
    "tacit.boosting.tables": "CellEmbedding CellLearner CellMeasure CellRule",
    "tacit.queries.dense.halfspace_log": "HalfspaceLog",
}

PUBLIC = {name: module for module, names in MODULES.items() for name in names.split()}
"""Public name -> the module that defines it. Learners of other rooms use a measure alone, and load no more."""

__all__ = [
    "CellEmbedding",
    "CellLearner",
    "CellMeasure",
    "CellRule",
    "Diagnosis",
    "Embedding",
    "EndTest",
    "Ensemble",
    "HalfspaceLog",
    "LazyBregman",
    "LogisticMeasure",
    "Measure",
    "Play",
    "Pythia",
    "SealedCells",
    "SealedRows",
    "SmoothMeasure",
    "WeakLearner",
    "WeakLearnerError",
    "boost",
    "diagnose",
    "iterated_play",
    "lazy_dense_updates",
    "private_rows",
    "private_table",
    "pythia",
    "stateless_sum",
]


def __getattr__(name: str) -> Any:
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    module = f"{__name__}.{name}"
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
