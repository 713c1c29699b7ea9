"""All that the net knows of the library, in one place: files may move and be renamed at the price of a line here.

Public names only, so that digests say nothing of how the code is laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BatchwiseClassifier,
    BatchwiseRegressor,
    BoostedTreesClassifier,
    DecisionListClassifier,
    HalfspaceBoostClassifier,
    MAlphaBoostClassifier,
    PrivacyAccount,
    PrivateSelection,
    RandomTreesClassifier,
    ResampledBoostClassifier,
    Schema,
    discover_schema,
    load_model,
    private_score,
    read_source,
    recalibrate,
    save_model,
    select_model,
)
from tacit.audit import audit_estimator
from tacit.closure import (
    AgnosticClassifier,
    ComposedClassifier,
    Conjunctions,
    DecisionLists,
    FiniteClassClassifier,
    Halfspaces,
    Intervals,
    RawThresholds,
    Rectangles,
    RuleClass,
    Stumps,
    Thresholds,
    Union,
)
from tacit.online import ConfidentWinnow, DecisionListWinnow, Winnow
from tacit.resampling import ClaimedLearner

__all__ = [
    "AdditiveBoostClassifier",
    "AdditiveBoostRegressor",
    "AgnosticClassifier",
    "BatchwiseClassifier",
    "BatchwiseRegressor",
    "BoostedTreesClassifier",
    "ClaimedLearner",
    "ComposedClassifier",
    "ConfidentWinnow",
    "Conjunctions",
    "DecisionListClassifier",
    "DecisionListWinnow",
    "DecisionLists",
    "FiniteClassClassifier",
    "HalfspaceBoostClassifier",
    "Halfspaces",
    "Intervals",
    "MAlphaBoostClassifier",
    "PrivacyAccount",
    "PrivateSelection",
    "RandomTreesClassifier",
    "RawThresholds",
    "Rectangles",
    "ResampledBoostClassifier",
    "RuleClass",
    "Schema",
    "Stumps",
    "Thresholds",
    "Union",
    "Winnow",
    "account_rows",
    "audit_estimator",
    "certificate_facts",
    "charges_of",
    "discover_schema",
    "entries_of",
    "load_model",
    "private_score",
    "read_source",
    "recalibrate",
    "save_model",
    "select_model",
]


def charges_of(charges: Sequence[Any]) -> list[Any]:
    """Charges as plain data."""
    return [charge.to_dict() for charge in charges]


def entries_of(entries: Sequence[Any]) -> list[Any]:
    """Releases as the ledger has them: label, charge and theorem."""
    return [[entry.label, entry.charge.to_dict(), entry.theorem] for entry in entries]


def certificate_facts(certificate: Any) -> dict[str, Any]:
    """What a certificate says, without times and versions."""
    return {
        "promise": [certificate.epsilon, certificate.delta, str(certificate.neighbouring), certificate.rows_per_unit],
        "algorithm": certificate.algorithm,
        "outcome": certificate.outcome,
        "noise": certificate.noise_source,
        "releasable": [certificate.releasable, list(certificate.reasons)],
        "schema": certificate.schema_fingerprint,
        "charges": charges_of(certificate.charges),
        "entries": entries_of(certificate.entries),
        "problems": certificate.verify(),
    }


def account_rows(account: Any) -> list[Any]:
    """What an account stores of its reservations, without times, holders and identifiers."""
    return [
        [line.label, line.status, charges_of(line.charges), entries_of(line.entries)] for line in account.reservations()
    ]
