"""The learners the command line offers, by short name. Classes are imported when they are used."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal

from tacit.cli.failures import Mistake, together

LearnerName = Literal["additive", "decision-list", "forest", "halfspace", "m-alpha", "resampled", "trees"]

LEARNERS: dict[str, tuple[str, str]] = {
    "additive": ("tacit.additive.boost", "AdditiveBoost"),
    "decision-list": ("tacit.decision_lists.estimator", "DecisionListClassifier"),
    "forest": ("tacit.trees.estimator", "RandomTreesClassifier"),
    "halfspace": ("tacit.halfspaces.estimator", "HalfspaceBoostClassifier"),
    "m-alpha": ("tacit.trees.estimator", "MAlphaBoostClassifier"),
    "resampled": ("tacit.resampling.estimator", "ResampledBoostClassifier"),
    "trees": ("tacit.trees.estimator", "BoostedTreesClassifier"),
}
"""Short name -> module and class. A new family adds its name above and its line here."""

REGRESSORS = {"additive": ("tacit.additive.estimator", "AdditiveBoostRegressor")}
"""The same for labels that are numbers."""


IN_BATCHES = {"additive": ("tacit.additive.estimator", "AdditiveBoostClassifier"), "trees": LEARNERS["trees"]}
"""Learners of classes that may learn in batches: scikit-learn's estimators, which can be cloned."""


def batchwise_class(name: str, numbers: bool) -> tuple[Any, Any]:
    """What learns in batches, and the estimator class inside it."""
    from tacit.estimators.batchwise import BatchwiseClassifier, BatchwiseRegressor

    learner_class(name, numbers)  # what it says of unknown names holds here, too
    classes = REGRESSORS if numbers else IN_BATCHES
    if name not in classes:
        raise Mistake(f"--batches: {name!r} does not learn in batches; these do: {', '.join(classes)}")
    module, cls = classes[name]
    return BatchwiseRegressor if numbers else BatchwiseClassifier, getattr(import_module(module), cls)


def copyable_class(name: str, numbers: bool) -> Any:
    """The same as :func:`learner_class` as an estimator of scikit-learn, of which a copy is made for every fit."""
    cls = learner_class(name, numbers)
    if numbers or name not in IN_BATCHES:
        return cls
    module, own = IN_BATCHES[name]
    return getattr(import_module(module), own)


def learner_class(name: str, numbers: bool = False) -> Any:
    """The estimator class of a short name, for classes or for numbers."""
    if numbers and name not in REGRESSORS:
        raise Mistake(f"--learner: {name!r} learns classes, and the label is a number: use {', '.join(REGRESSORS)}")
    module, cls = (REGRESSORS if numbers else LEARNERS)[name]
    return getattr(import_module(module), cls)


OWN_OPTIONS = (
    "epsilon", "delta", "neighbouring", "schema", "account", "random_state", "classes", "loss", "quantile",
    "target_bounds", "horizon",
)  # fmt: skip
"""Parameters that have options of their own."""


BASE = "base"
"""The parameter of a learner that boosts another one: its short name; ``base__NAME`` is a parameter of that one."""


def set_parameters(
    cls: Any, settings: Sequence[str] | None, interactions: str | None, fixed: Sequence[str] = ()
) -> dict[str, Any]:
    """Parameters of a learner from ``--set NAME=VALUE`` and ``--interactions``; values are JSON, or else texts.

    ``fixed`` are parameters that a command settles itself.
    """
    lines = [*(settings or []), *([] if interactions is None else [f"interactions={interactions}"])]
    names = [name for name in inspect.signature(cls.__init__).parameters if name not in ("self", *OWN_OPTIONS, *fixed)]
    of_base = [line for line in lines if BASE in names and line.startswith(f"{BASE}__")]
    values: dict[str, Any] = {}
    for setting in lines:
        if setting in of_base:
            continue
        name, equals, text = setting.partition("=")
        if not equals:
            raise Mistake(f"--set: give NAME=VALUE, got {setting!r}")
        if name in OWN_OPTIONS:
            raise Mistake(f"--set: {name} has an option of its own: --{name.replace('_', '-')}")
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise Mistake(f"--set: this learner has no parameter {name!r}; {hint}it has: {', '.join(names) or 'none'}")
        if name in values:
            raise Mistake(f"--set: {name} is given twice")
        values[name] = _value(text)
    if BASE in names:
        values[BASE] = _base(values.get(BASE, "halfspace"), [line.removeprefix(f"{BASE}__") for line in of_base])
    return values


def check_request(arguments: Any, schema: Callable[[], Any], numbers: Callable[[Any], bool]) -> Any:
    """Makes the checks of options that a fit and its plan share; reads the schema and returns it.

    ``numbers`` says if a number is learned under a schema.
    """
    from tacit.privacy.request import Request

    schemas: list[Any] = []
    together(
        lambda: schemas.append(schema()),
        lambda: Request.of(arguments.epsilon, arguments.delta, arguments.neighbouring, None),
        lambda: set_parameters(
            learner_class(arguments.learner, numbers(schemas[0] if schemas else None)), arguments.settings,
            arguments.interactions,
        ),
    )  # fmt: skip
    return schemas[0]


def _base(name: Any, settings: Sequence[str]) -> Any:
    """The learner of a short name, to be boosted."""
    names = [each for each in LEARNERS if each != "resampled"]
    if name not in names:
        raise Mistake(f"--set: base={name} is no learner that can be boosted; these are: {', '.join(names)}")
    cls = copyable_class(name, numbers=False)
    return cls(**set_parameters(cls, settings, None))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"True": True, "False": False, "None": None}.get(text, text)
