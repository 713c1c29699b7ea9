"""From labels to what a stream takes: signs for two classes, places for more."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.encoding.values import LabelIndex
from tacit.online.rows import RowError
from tacit.privacy.request import RequestError, declared_schema

MOST_CLASSES = 1000
"""That labels may name: each has weights of its own."""


def classes_of(schema: Any) -> tuple[Any, ...]:
    """The classes that a schema's label declares, of two the positive one last; False and True where none does.

    Raises:
        RequestError: if the label is a number, or its classes are grouped into two sides.
    """
    declared = declared_schema(schema)
    label = None if declared is None else declared.label
    if label is None:
        return (False, True)
    if label.is_numeric:
        raise RequestError(f"label '{label.column}' is numeric, and a stream learns classes: give labels")
    index = LabelIndex.of(label)
    if index.n_classes != len(label.classes):
        raise RequestError(f"label '{label.column}' groups its classes into two sides: give the two labels of a stream")
    return index.names


def check_labels(labels: tuple[Any, ...]) -> None:
    """Raises unless labels name classes: two, or more of which each is named once."""
    if not 2 <= len(labels) <= MOST_CLASSES:
        raise RequestError(f"labels must name two to {MOST_CLASSES:,} classes, got {labels!r}")
    if len(labels) > 2 and any(place_of(name, labels) != place for place, name in enumerate(labels, 1)):
        raise RequestError(f"labels must name each class once, got {labels!r}")


def sign_of(label: Any, classes: tuple[Any, ...]) -> int:
    """1, -1, or 0 for what is neither class; the positive one of two is last. 1 against -1 or 0 are known, too."""
    if label is None:
        return 0
    value = label.item() if isinstance(label, np.generic) else label
    if _is(value, classes[1]):
        return 1
    if _is(value, classes[0]):
        return -1
    return (1 if value == 1 else -1 if value in (0, -1) else 0) if isinstance(value, int | float) else 0


def _is(value: Any, declared: Any) -> bool:
    """Whether a label is this class. What cannot be compared is not: what rows hold never raises."""
    try:
        return bool(value == declared)
    except (TypeError, ValueError, ArithmeticError):
        return False


def signs_of(labels: Any, classes: tuple[Any, ...], n: int) -> npt.NDArray[np.int8]:
    """:func:`sign_of` every label, shape ``(n,)``; raises :class:`RowError` if there are not ``n`` of them."""
    values = np.asarray(labels, object if isinstance(labels, list | tuple) else None)  # in texts 1 would not be 1
    if values.shape != (n,):
        raise RowError(f"there must be a label per row, got shape {values.shape} for {n} rows")
    if values.dtype.kind == "b":
        return np.where(values, sign_of(True, classes), sign_of(False, classes)).astype(np.int8)
    if values.dtype == np.int8:
        table = np.array([sign_of(value, classes) for value in range(-128, 128)], np.int8)
        return table[values.astype(np.int16) + 128]
    if values.dtype.kind == "O":  # cannot be sorted
        return np.fromiter((sign_of(value, classes) for value in values), np.int8, n)
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([sign_of(value, classes) for value in distinct], np.int8)[place.reshape(-1)]


def place_of(label: Any, classes: tuple[Any, ...]) -> int:
    """The place of a label among more than two classes, counted from 1; 0 for what is none of them."""
    value = label.item() if isinstance(label, np.generic) else label
    return next((place for place, name in enumerate(classes, 1) if _is(value, name)), 0)


def codes_of(labels: Any, classes: tuple[Any, ...], n: int) -> npt.NDArray[np.int8] | npt.NDArray[np.int16]:
    """Every label as a stream takes it: :func:`signs_of` two classes, :func:`place_of` more, as int16."""
    if len(classes) == 2:
        return signs_of(labels, classes, n)
    values = np.asarray(labels, object)
    if values.shape != (n,):
        raise RowError(f"there must be a label per row, got shape {values.shape} for {n} rows")
    return np.fromiter((place_of(value, classes) for value in values), np.int16, n)


def code_of(label: Any, classes: tuple[Any, ...]) -> npt.NDArray[np.int8] | npt.NDArray[np.int16]:
    """One label as a stream takes it, shape ``(1,)``."""
    if len(classes) == 2:
        return np.array([sign_of(label, classes)], np.int8)
    return np.array([place_of(label, classes)], np.int16)


def as_labels(labels: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Labels as an array, each of its own type: together with texts numpy would make numbers texts."""
    array = np.asarray(labels)
    if len({type(label) for label in labels}) == 1 and array.ndim == 1:
        return array
    objects = np.empty(len(labels), object)
    objects[:] = labels
    return objects


def shares_of(scores: npt.NDArray[np.float64], labels: tuple[Any, ...]) -> dict[Any, float]:
    """The share of weights of sum 1 that vote for each class, for one row.

    ``scores`` is one number for two classes, of the positive one; of ``C`` classes, shape ``(C,)``, shares are ``1/C +
    (s - mean(s)) / (C - 1)``.
    """
    if len(labels) == 2:
        positive = 0.5 + 0.5 * float(scores)
        return {labels[0]: 1.0 - positive, labels[1]: positive}
    shares = np.clip(1.0 / len(labels) + (scores - scores.mean()) / (len(labels) - 1), 0.0, 1.0)
    return dict(zip(labels, shares.tolist(), strict=True))
