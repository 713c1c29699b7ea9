"""What an audit is about, checked before the first fit: a learner, its claim, and two tables."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.audit.canary import Pair, Target, given_pair, made_pair, target_of
from tacit.estimators.base import Estimator
from tacit.privacy.request import Request, RequestError, declared_schema, is_number
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

LEAST_TRIALS = 10
"""Fewer fits to a table leave nothing to count."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What is audited, checked: the estimator declares what the tables are made from."""

    estimator: Any
    request: Request
    schema: Schema | None
    pair: Pair
    trials: int
    confidence: float

    @property
    def rows_per_unit(self) -> int:
        """Rows of the canary that the claim is about."""
        return 1 if self.schema is None or self.schema.unit is None else self.schema.unit.max_rows


def planned(
    estimator: Any,
    schema: Any,
    rows: tuple[Any, Any, Any],
    trials: int,
    confidence: float,
    neighbouring: str | None,
    random_state: int | None,
) -> Plan:
    """Everything that can be wrong is said here, before the first fit."""
    trials, confidence = check_trials(trials, confidence)
    own, request = isinstance(estimator, Estimator), checked_estimator(estimator, neighbouring, random_state)
    estimator, declared, classes = declaring(estimator, schema)
    if not own and declared is not None and declared.unit is not None and declared.unit.max_rows > 1:
        raise RequestError(
            f"the schema protects units of {declared.unit.max_rows} rows, and what {type(estimator).__name__} claims "
            "is about single rows: leave the unit out"
        )
    bounds = number_bounds(estimator, declared)
    target = target_of(declared, classes, bounds)
    if own and classes is None and bounds is None and (declared is None or declared.label is None):
        estimator = _naming(estimator, request, target)
    X, y, canary = rows
    if (X is None) != (y is None) or (X is None) != (canary is None):
        raise RequestError("X, y and canary belong together: give all three, or none for tables made from the schema")
    if X is not None:
        pair = given_pair(X, y, canary, declared, target, request.neighbouring)
    else:
        pair = made_pair(declared, target, request.neighbouring, not own, _finds(estimator, request))
    return Plan(estimator, request, declared, pair, trials, confidence)


def check_trials(trials: Any, confidence: Any) -> tuple[int, float]:
    """Both as numbers of their kinds; raises :class:`RequestError` for what makes no sense."""
    if not is_number(trials) or not LEAST_TRIALS <= trials < math.inf or trials != int(trials):
        raise RequestError(f"trials must be a whole number of at least {LEAST_TRIALS}, got {trials!r}")
    if not is_number(confidence) or not 0 < confidence < 1:
        raise RequestError(f"confidence must lie between 0 and 1, got {confidence!r}")
    return int(trials), float(confidence)


def _naming(estimator: Estimator, request: Request, target: Target) -> Estimator:
    """An estimator that finds no classes, told of those of the made tables: a fit would refuse them otherwise."""
    if _finds(estimator, request):
        return estimator
    copy: Estimator = copied(estimator).set_params(classes=(target.usual, target.canary))
    return copy


def _finds(estimator: Any, request: Request) -> bool:
    """Whether a fit finds what no schema declares: it takes a learner that does, and a delta."""
    return isinstance(estimator, Estimator) and request.delta > 0 and estimator.make_learner(request).discovers


def checked_estimator(estimator: Any, neighbouring: str | None, random_state: int | None) -> Request:
    """What an estimator claims, if it can be audited.

    Raises ``RequestError`` for what is no estimator, claims nothing, would spend a real budget, or would repeat its
    noise.
    """
    _check_estimator(estimator, random_state)
    return _claim(estimator, neighbouring, random_state)


def _claim(estimator: Any, neighbouring: str | None, random_state: int | None) -> Request:
    relation = getattr(estimator, "neighbouring", None)
    if relation is not None and neighbouring is not None and relation != neighbouring:
        raise RequestError(f"neighbouring is {neighbouring!r}, and {type(estimator).__name__} claims {relation!r}")
    relation_name = relation or neighbouring or str(Neighbouring.ADD_OR_REMOVE_ONE)
    request = Request.of(estimator.epsilon, getattr(estimator, "delta", 0.0), relation_name, random_state)
    if math.isinf(request.epsilon):
        raise RequestError("epsilon is inf: no privacy is claimed, so there is nothing to audit")
    return request


def _check_estimator(estimator: Any, random_state: int | None) -> None:
    """Raises :class:`RequestError` for what is no estimator, would spend a real budget, or would repeat its noise."""
    name = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise RequestError(f"estimator must be an estimator that is not fitted yet, got {estimator!r}")
    if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "predict")):
        raise RequestError(f"{name} predicts nothing that could be looked at")
    if not hasattr(estimator, "epsilon"):
        raise RequestError(
            f"{name} claims nothing: it has no epsilon. Of a learner made of others, audit the one inside"
        )
    if any(_parameters(estimator)[key] is not None for key in named(estimator, "account")):
        raise RequestError(f"{name} has an account, which an audit would spend from: leave it out (account=None)")
    seeded = named(estimator, "random_state")
    if random_state is None:
        bound = [key for key in seeded if _parameters(estimator)[key] is not None]
        if bound:
            raise RequestError(
                f"{bound[0]} of {name} is set, so all fits would have the same noise: leave it out, or give the "
                "audit's own random_state, from which every fit gets another one"
            )
    elif not seeded or not hasattr(estimator, "set_params"):
        raise RequestError(f"{name} takes no random_state, so the audit cannot be repeatable: leave it out")


def _parameters(estimator: Any) -> dict[str, Any]:
    """Its parameters and those of the learners inside it, by their names for ``set_params``."""
    if hasattr(estimator, "get_params"):
        return dict(estimator.get_params(deep=True))
    return dict(vars(estimator))


def named(estimator: Any, name: str) -> list[str]:
    """Its parameters of this name, and those of the learners inside it."""
    return [key for key in _parameters(estimator) if key == name or key.endswith(f"__{name}")]


def declaring(estimator: Any, schema: Any) -> tuple[Any, Schema | None, Sequence[Any] | None]:
    """An estimator that declares the schema, the schema, and the classes it declares."""
    declared_here = declared_schema(schema)
    if not isinstance(estimator, Estimator):
        return estimator, declared_here or declared_schema(getattr(estimator, "schema", None)), None
    declared, classes = estimator.declared()
    if declared_here is None or declared == declared_here:
        return estimator, declared, classes
    if declared is not None:
        raise RequestError(f"the schema given and that of {type(estimator).__name__} differ: declare one")
    estimator = copied(estimator)
    estimator.schema = declared_here
    return estimator, declared_here, classes


def number_bounds(estimator: Any, schema: Schema | None) -> Sequence[float] | None:
    """Bounds of a number that no schema declares; None where classes are learned."""
    label = None if schema is None else schema.label
    if label is not None or (hasattr(estimator, "predict_proba") or not hasattr(estimator, "target_bounds")):
        return None
    bounds: Sequence[float] | None = estimator.target_bounds
    return (0.0, 1.0) if bounds is None else bounds


def copied(estimator: Any) -> Any:
    """An unfitted copy."""
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    from sklearn.base import clone

    return clone(estimator)
