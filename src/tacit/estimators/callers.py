"""Who called a fit: what scikit-learn does around a private learner can void its promise, and the certificate says so.

A learner sees only what it is given. Whether a step before it was fitted to the same rows, and whether a search fits it
again and again, shows in the calls that led to it: code alone, no row. What happened before ``fit`` was called does not
show: whoever scales a table first, and then calls ``fit``, answers for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.encoding.frames import Frame
from tacit.privacy.assumptions import Assumption, dtypes_assumed, identifiers_assumed
from tacit.schema import Schema


def assumptions_of(estimator: Any, X: Any, y: Any, weighted: bool = False) -> tuple[Assumption, ...]:
    """What a fit of an estimator to a table takes as public, beside its schema and what called it."""
    schema, classes = estimator.declared()
    labelled = schema is not None and schema.label is not None
    untyped = isinstance(X, Frame) and X.untyped
    number = hasattr(estimator, "target_bounds")
    of_label = not (labelled or number or isinstance(y, list | tuple)) and classes is None
    assumptions = dtypes_assumed(getattr(estimator, "dtypes", None), untyped, schema is None, of_label)
    if isinstance(classes, str):
        text = "the classes of the label: the caller says that they do not come from the rows"
        assumptions += (Assumption("classes", text, accepted=True),)
    if schema is None:
        assumptions += (Assumption("columns", "which columns there are, and their names", accepted=True),)
        assumptions += identifiers_assumed(getattr(estimator.model_, "feature_names", ()))
    if weighted:
        assumptions += (Assumption("weights", "the weight of each row", accepted=True),)
    return assumptions + _rows_assumed(estimator.neighbouring, schema)


def _rows_assumed(neighbouring: str, schema: Schema | None) -> tuple[Assumption, ...]:
    """The number of rows, where the relation makes it public."""
    if neighbouring != "replace_one":
        return ()
    what = "rows" if schema is None or schema.unit is None else f"different {schema.unit.column} values"
    return (Assumption("rows", f"the number of {what}", accepted=True),)


HARMLESS = ("sklearn.base", "sklearn.pipeline", "sklearn.utils", "sklearn._")
"""Modules of scikit-learn that only pass a fit on; the steps of a pipeline are looked at one by one."""

STEPS = ("steps", "transformer_list", "transformers")
"""Attributes that hold the parts of a pipeline, a union and a transformer of columns, as tuples (name, part, ...)."""


class GuaranteeVoidWarning(UserWarning):
    """Something around a fit that the promise does not cover."""


@final
@dataclass(frozen=True)
class Caller:
    """Something around a fit that its promise does not cover.

    Attributes:
        subject: of the assumption: ``"preprocessing"`` or ``"repeated fits"``.
        text: what happens, as a clause.
        advice: what to do instead, in sentences.
        whoever_pays: whether it deserves a warning even if an account counts every fit.
    """

    subject: str
    text: str
    advice: str
    whoever_pays: bool = True

    @property
    def assumption(self) -> Assumption:
        """What the certificate says: nobody answers for it."""
        return Assumption(self.subject, self.text, accepted=False)

    @property
    def warning(self) -> str:
        """What the caller is told."""
        return f"{self.text}. {self.advice}"


def calling_context() -> tuple[Caller, ...]:
    """What is wrong with how a fit came about; empty where it was called by no other estimator."""
    callers: dict[Caller, None] = {}
    for module, owner, names in _callers():
        if hasattr(owner, "steps"):
            callers |= dict.fromkeys(map(_preprocessing, _reading(owner.steps[:-1])))
        if not (module.startswith(HARMLESS) or _changes_values_alone(module, owner)):
            callers[_repetition(module, owner, names)] = None
    return tuple(callers)


def _preprocessing(name: str) -> Caller:
    return Caller(
        "preprocessing",
        f"the step {name} before this learner was fitted to the same rows without privacy: what it learned is in the "
        "model, and the promise does not cover it",
        "Take DeclaredScaler or DeclaredEncoder, or leave it out: learners of this library take columns as they are",
    )


def _repetition(module: str, owner: Any, names: Mapping[str, Any]) -> Caller:
    """What an estimator that calls the fit does: fits more than once, as a rule."""
    subject, name = "repeated fits", "scikit-learn" if owner is None else type(owner).__name__
    if module.startswith("sklearn.model_selection._search"):
        return Caller(
            subject,
            f"the search {name} fits this learner {_times(names, owner)} to the same rows, and chooses by exact scores",
            "Every fit spends its own epsilon. Take PrivateSelection.over_grid, whose promise covers all of it",
        )
    if module.startswith("sklearn.model_selection"):
        return Caller(
            subject,
            "scikit-learn's search or cross-validation fits this learner again and again to parts of the same rows",
            "Each fit spends its own epsilon, and the total is not tracked. Give an account, or take "
            "PrivateSelection.over_grid; the scores are not private either",
            whoever_pays=False,
        )
    if module.startswith("sklearn.calibration"):
        return Caller(
            subject,
            "scikit-learn's calibration fits this learner again and again, and a curve to private rows without noise",
            "The promise does not cover it. Take tacit.recalibrate, which has a charge",
        )
    if module == "sklearn.ensemble._bagging" and getattr(owner, "bootstrap", False):
        return Caller(
            subject,
            f"{name} draws rows with replacement: a row that is drawn k times is protected k times less than stated",
            "Give bootstrap=False",
        )
    if module.startswith("sklearn.compose._target"):
        return Caller(
            "preprocessing",
            f"{name} transforms the target before the fit, and the promise does not cover what that takes from it",
            "Declare target_bounds, and fit the target as it is",
        )
    if module.startswith("sklearn."):
        return Caller(
            subject,
            f"{name} fits several of these learners to the same rows, or changes their rows or labels before",
            "Each fit spends its own epsilon, and the total is not tracked. Give all of them one account",
            whoever_pays=False,
        )
    return Caller(
        subject,
        f"{name} called this fit: what it does with the rows before, and how often it fits, is not known",
        "The promise covers this one fit to the rows as they came",
    )


def _times(names: Mapping[str, Any], owner: Any) -> str:
    """How often a search fits: known once it fits its best candidate again."""
    results, folds = names.get("results"), names.get("n_splits", getattr(owner, "n_splits_", None))
    if isinstance(results, Mapping) and "params" in results and isinstance(folds, int):
        return f"{len(results['params']) * folds + 1} times"
    return "again and again"


def _changes_values_alone(module: str, owner: Any) -> bool:
    """Whether it transforms a target before the fit, each value by itself."""
    if not module.startswith("sklearn.compose._target"):
        return False
    transformer = getattr(owner, "transformer", None)
    return _by_value(getattr(owner, "func", None)) and not _reading([("target", transformer)])


def _callers() -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Module, owner and variables of each call above this library that is scikit-learn's or a method of an estimator.

    An owner is the object whose method it is; None in a function, as processes of a search run it.
    """
    frame = inspect.currentframe()
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        owner = frame.f_locals.get("self", frame.f_locals.get("ensemble"))  # of a process of a bagging's
        if module.startswith("sklearn.") or (_is_estimator(owner) and not module.startswith("tacit.")):
            yield module, owner, frame.f_locals
        frame = frame.f_back


def _is_estimator(owner: Any) -> bool:
    """Whether it follows scikit-learn's conventions, and is neither of this library nor derived from it."""
    kind = type(owner)
    foreign = not any(each.__module__.startswith("tacit.") for each in kind.__mro__)
    return foreign and hasattr(kind, "fit") and hasattr(kind, "get_params")


def _reading(steps: Any) -> list[str]:
    """Names of the steps that may have read more rows than one; each step is a tuple ``(name, step, ...)``."""
    names: list[str] = []
    for _, step, *columns in steps:
        if any(map(callable, columns)):  # by dtypes, say, or by what columns hold
            names.append(f"{type(columns[0]).__name__} for {step if isinstance(step, str) else type(step).__name__}")
        if step is None or isinstance(step, str):  # "passthrough" or "drop"
            continue
        inner = next((getattr(step, each) for each in STEPS if hasattr(step, each)), None)
        if inner is not None and type(step).__module__.startswith("sklearn."):
            names += _reading([*inner, ("remainder", getattr(step, "remainder", None))])
        elif not _row_by_row(step):
            names.append(type(step).__name__)
    return names


def _row_by_row(step: Any) -> bool:
    """Whether a transformer is known to learn nothing from rows, and to change each by itself."""
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils import get_tags

    if isinstance(step, FunctionTransformer):
        return _by_value(step.func)
    trusted = type(step).__module__.startswith(("sklearn.", "tacit."))
    return trusted and not get_tags(step).requires_fit


def _by_value(function: Any) -> bool:
    """Whether a function is known to change each value by itself: numpy's own are, others may look at all of them."""
    return function is None or (isinstance(function, np.ufunc) and function.nin == 1 and function.signature is None)
