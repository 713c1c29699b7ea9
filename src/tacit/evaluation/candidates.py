"""What the candidates of a search have in common, from their parameters alone: what is public before a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_regressor

from tacit.evaluation.number_scorer import clip_share
from tacit.evaluation.utility import PINBALL, Criterion
from tacit.faces.checks import check_number
from tacit.faces.request import RequestError, declared_schema, two_bounds


def about_numbers(candidates: Sequence[Any]) -> bool:
    """Whether the first candidate, and with it all of them, learns numbers."""
    return len(candidates) > 0 and is_regressor(candidates[0])


def measure_of(candidates: Sequence[Any], asked: Criterion) -> Criterion:
    """By what to judge the fitted candidates: nothing is left to refuse once fits have been paid for.

    Args:
        candidates: private estimators, unfitted.
        asked: as asked for, unchecked; without bounds of the target.

    Raises:
        RequestError: if the candidates cannot be judged by one measure, or nobody declares the bounds of the target.
    """
    numbers = about_numbers(candidates)
    asked.checked(numbers)
    if any(is_regressor(candidate) != numbers for candidate in candidates):
        raise RequestError("some of the candidates are of classes and some of numbers: search among one kind")
    if not numbers:
        return asked
    bounds = [declared_bounds(candidate) for candidate in candidates]
    for pair in bounds:
        if pair != bounds[0]:
            raise RequestError(
                f"the candidates declare different bounds of the target, {bounds[0]} and {pair}: give all the same"
            )
    clip_share(asked.error_clip, bounds[0][1] - bounds[0][0])
    name, quantile = asked.of_quantiles([declared_quantile(candidate) for candidate in candidates])
    return Criterion(name, quantile if name == PINBALL else None, bounds[0], asked.error_clip)


def declared_bounds(candidate: Any) -> tuple[float, float]:
    """The declared bounds of the target of a candidate; raises :class:`RequestError` where there are none."""
    parameters = candidate.get_params(deep=False)
    schema = declared_schema(parameters.get("schema"))
    label = None if schema is None else schema.label
    if label is not None:
        if label.lower is None or label.upper is None:
            raise RequestError(f"the candidates are of numbers, and the schema's label '{label.column}' has classes")
        return float(label.lower), float(label.upper)
    if parameters.get("target_bounds") is None:
        raise RequestError(
            "a search among models of numbers needs bounds of the target, and does not look for them: give every "
            "candidate the same target_bounds=(lower, upper), or a schema with a numeric label"
        )
    return two_bounds(parameters["target_bounds"], "target_bounds")


def declared_quantile(candidate: Any) -> float | None:
    """Which quantile a candidate is about; None for a mean. Raises :class:`RequestError` for one that is none."""
    parameters = candidate.get_params(deep=False)
    if parameters.get("loss") != "quantile":
        return None
    quantile = parameters.get("quantile")
    check_number("a candidate's quantile", quantile, 0.0, 1.0)
    return float(quantile)
