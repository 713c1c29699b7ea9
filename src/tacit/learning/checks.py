"""Checks of a learner's own parameters: public facts, so that what is wrong is refused before anything is spent.

Numbers of numpy are taken as Python's own; True and False are no numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from tacit.learning.learner import Task
from tacit.privacy.request import RequestError, is_number


def check_integer(name: str, value: Any, least: int = 1, most: int | None = None, optional: bool = False) -> None:
    """Raises :class:`RequestError` unless ``value`` is an integer between the two, or None where that is allowed."""
    if value is None and optional:
        return
    number = least - 1 if isinstance(value, bool) or not isinstance(value, Integral) else int(value)
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise RequestError(f"{name} must be {'None or ' * optional}an integer {limits}, got {value!r}")


def whole(value: Any) -> int | None:
    """An integer that was checked, as Python's own: numpy's may be too narrow to compute with, and JSON has none."""
    return None if value is None else int(value)


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    with_low: bool = False,
    with_high: bool = False,
    optional: bool = False,
) -> None:
    """Raises :class:`RequestError` unless a parameter is a number between two, one of them where allowed, or None."""
    if value is None and optional:
        return
    number = float(value) if is_number(value) else np.nan
    if low < number < high or (with_low and number == low) or (with_high and number == high):
        return
    interval = f"{'[' if with_low else '('}{low:g}, {high:g}{']' if with_high else ')'}"
    raise RequestError(f"{name} must be {'None or ' * optional}a number in {interval}, got {value!r}")


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """Raises :class:`RequestError` unless ``value`` is one of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise RequestError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def check_truth(name: str, value: Any) -> None:
    """Raises :class:`RequestError` unless ``value`` is a truth value, of Python or numpy."""
    if not isinstance(value, bool | np.bool_):
        raise RequestError(f"{name} must be True or False, got {value!r}")


def check_two_classes(task: Task, learner: str) -> None:
    """Raises :class:`RequestError` for more than two classes, on behalf of a learner that tells two apart."""
    if task.label_index.n_classes != 2:
        raise RequestError(
            f"{learner} handles two classes, but {task.label_index.n_classes} are declared; group them by listing the "
            "positive classes under 'positive' in the schema"
        )
