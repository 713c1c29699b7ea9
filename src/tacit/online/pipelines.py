"""River, where it is installed: its base class, and which steps of a pipeline learn from the rows that pass them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import FrameType
from typing import Any

from tacit.privacy.request import RequestError

CALLS = ("learn_one", "learn_many")


def river_base() -> Any:
    """River's base class of classifiers, where river is installed: it is an extra."""
    try:
        from river.base import Classifier
    except ImportError:
        return object
    return Classifier


def refuse_learning_steps() -> None:
    """Raises where a step before the end of the pipeline that is now learning learns from rows, too."""
    if steps := learning_steps():
        raise RequestError(
            f"{', '.join(steps)} learns from the rows before they come here: what it learned is in every row that "
            "it hands on, so one person's row would move the rows of others, and the weights would release that "
            "unpaid. Leave the step out, and declare a schema, whose bounds are public"
        )


def learning_steps() -> list[str]:
    """Names of the steps that learn, and come before the end of a pipeline that is now learning.

    Read from the stack: a step is handed what comes out of the one before it, and cannot see where it is from. What a
    caller transforms by hand is not found. Without river there are none.
    """
    try:
        from river.compose import Pipeline
    except ImportError:
        return []
    found: list[str] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, Pipeline) and frame.f_code.co_name in CALLS:
            found += _learners(list(owner.steps.values())[:-1])
        frame = frame.f_back
    return found


def _learners(steps: Iterable[Any]) -> list[str]:
    from river.base import Transformer
    from river.compose import Pipeline, TransformerUnion

    found: list[str] = []
    for step in steps:
        if isinstance(step, Pipeline):
            found += _learners(step.steps.values())
        elif isinstance(step, TransformerUnion):
            found += _learners(step.transformers.values())
        elif not isinstance(step, Transformer) or type(step).learn_one is not Transformer.learn_one:
            found.append(type(step).__name__)
    return found
