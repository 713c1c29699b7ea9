"""Differentially private learning on tables, with a privacy claim that can be checked.

Public names are imported when they are first used, so that ``import tacit`` takes no time.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tacit import compilation

if TYPE_CHECKING:
    from tacit.additive.estimator import AdditiveBoostClassifier as AdditiveBoostClassifier
    from tacit.additive.estimator import AdditiveBoostRegressor as AdditiveBoostRegressor
    from tacit.citation import cite as cite
    from tacit.curator.options import options as options
    from tacit.decision_lists.estimator import DecisionListClassifier as DecisionListClassifier
    from tacit.discovery.discover_schema import discover_schema as discover_schema
    from tacit.encoding.read_table import read_table as read_table
    from tacit.encoding.source import read_source as read_source
    from tacit.estimators.batchwise import BatchwiseClassifier as BatchwiseClassifier
    from tacit.estimators.batchwise import BatchwiseRegressor as BatchwiseRegressor
    from tacit.estimators.declared import EXPECTED_FAILED_CHECKS as EXPECTED_FAILED_CHECKS
    from tacit.estimators.declared import DeclaredEncoder as DeclaredEncoder
    from tacit.estimators.declared import DeclaredScaler as DeclaredScaler
    from tacit.estimators.files import load as load
    from tacit.estimators.files import save as save
    from tacit.estimators.merging import merge as merge
    from tacit.evaluation.private_score import private_score as private_score
    from tacit.evaluation.private_selection import PrivateSelection as PrivateSelection
    from tacit.evaluation.ranked import ranked_probability_score as ranked_probability_score
    from tacit.evaluation.recalibrate import recalibrate as recalibrate
    from tacit.evaluation.select_model import select_model as select_model
    from tacit.halfspaces.estimator import HalfspaceBoostClassifier as HalfspaceBoostClassifier
    from tacit.learning.sites import join_sites as join_sites
    from tacit.learning.sites import serve_site as serve_site
    from tacit.models.files import load_model as load_model
    from tacit.models.files import save_model as save_model
    from tacit.privacy.account import PrivacyAccount as PrivacyAccount
    from tacit.privacy.certificate import Certificate as Certificate
    from tacit.privacy.ledger import BudgetExceeded as BudgetExceeded
    from tacit.privacy.unit import Neighbouring as Neighbouring
    from tacit.resampling.estimator import ResampledBoostClassifier as ResampledBoostClassifier
    from tacit.schema import Schema as Schema
    from tacit.schema import SchemaError as SchemaError
    from tacit.trees.estimator import BoostedTreesClassifier as BoostedTreesClassifier
    from tacit.trees.estimator import MAlphaBoostClassifier as MAlphaBoostClassifier
    from tacit.trees.estimator import RandomTreesClassifier as RandomTreesClassifier

compilation.settle()

PUBLIC = {
    "AdditiveBoostClassifier": "tacit.additive.estimator",
    "AdditiveBoostRegressor": "tacit.additive.estimator",
    "BatchwiseClassifier": "tacit.estimators.batchwise",
    "BatchwiseRegressor": "tacit.estimators.batchwise",
    "BoostedTreesClassifier": "tacit.trees.estimator",
    "BudgetExceeded": "tacit.privacy.ledger",
    "Certificate": "tacit.privacy.certificate",
    "DecisionListClassifier": "tacit.decision_lists.estimator",
    "DeclaredEncoder": "tacit.estimators.declared",
    "DeclaredScaler": "tacit.estimators.declared",
    "EXPECTED_FAILED_CHECKS": "tacit.estimators.declared",
    "HalfspaceBoostClassifier": "tacit.halfspaces.estimator",
    "MAlphaBoostClassifier": "tacit.trees.estimator",
    "Neighbouring": "tacit.privacy.unit",
    "PrivacyAccount": "tacit.privacy.account",
    "PrivateSelection": "tacit.evaluation.private_selection",
    "RandomTreesClassifier": "tacit.trees.estimator",
    "ResampledBoostClassifier": "tacit.resampling.estimator",
    "Schema": "tacit.schema",
    "SchemaError": "tacit.schema",
    "cite": "tacit.citation",
    "discover_schema": "tacit.discovery.discover_schema",
    "join_sites": "tacit.learning.sites",
    "load": "tacit.estimators.files",
    "load_model": "tacit.models.files",
    "merge": "tacit.estimators.merging",
    "options": "tacit.curator.options",
    "private_score": "tacit.evaluation.private_score",
    "ranked_probability_score": "tacit.evaluation.ranked",
    "read_source": "tacit.encoding.source",
    "read_table": "tacit.encoding.read_table",
    "recalibrate": "tacit.evaluation.recalibrate",
    "save": "tacit.estimators.files",
    "save_model": "tacit.models.files",
    "select_model": "tacit.evaluation.select_model",
    "serve_site": "tacit.learning.sites",
}
"""Public name -> the module that defines it. A new family adds its line here and above."""

ROOMS = (
    "audit",
    "boosting",
    "checks",
    "closure",
    "decision_lists",
    "examples",
    "export",
    "halfspaces",
    "learning",
    "models",
    "online",
    "privacy",
    "resampling",
    "theory",
    "trees",
)
"""Rooms whose modules are public by their own names."""

__all__ = ["__version__", *PUBLIC]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("tacit")
        except PackageNotFoundError:
            return version("tacit-predict")
    if name in ROOMS:
        room = import_module(f"tacit.{name}")
        vars(room).setdefault("__getattr__", partial(_module_of, room.__name__))
        return room
    if name not in PUBLIC:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    value = getattr(import_module(PUBLIC[name]), name)
    globals()[name] = value
    return value


def _module_of(room: str, name: str) -> Any:
    """A module of a room, which needs no import of its own."""
    full = f"{room}.{name}"
    try:
        return import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        raise AttributeError(f"module {room!r} has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted(__all__)
