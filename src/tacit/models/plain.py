"""Reads the plain data of model files: whatever a model could not predict with is refused, in one sentence.

JSON as Python reads it has NaN and Infinity; numbers may be texts, lists may be ragged, and anybody can write a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding, encoder_from_dict
from tacit.errors import TacitError

LARGEST = 1e150
"""No number of a model is larger: squares and sums of such numbers are finite."""

LONGEST = 1 << 31
"""No whole number of a model is larger."""


class ModelError(TacitError):
    """A model file that cannot be used. Nothing was spent."""


def require(truth: Any, right: str) -> None:
    """Refuses a model for which ``right`` does not hold."""
    if not truth:
        raise ModelError(f"the model is damaged: {right}")


def number(value: Any, what: str, least: float = -LARGEST, most: float = LARGEST) -> float:
    """A finite number of plain data, between bounds."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
    require(good, f"{what} must be a finite number{_between(least, most)}")
    return float(value)


def floats(values: Any, what: str = "numbers", shape: tuple[int, ...] | None = None, least: float = -LARGEST) -> Floats:
    """A float array from plain data: finite numbers, of this shape if one is given, each at least ``least``."""
    array = _array(values, "fiu", what)
    require(shape is None or array.shape == shape, f"{what} must have the shape {shape}, got {array.shape}")
    require(np.all((array >= least) & (array <= LARGEST)), f"{what} must be finite numbers{_between(least, LARGEST)}")
    return np.asarray(array, np.float64)


def whole(value: Any, what: str, least: int = 0, most: int = LONGEST) -> int:
    """A whole number of plain data, between bounds, both allowed."""
    good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    require(good, f"{what} must be a whole number from {least} to {most}")
    return int(value)


def ints(values: Any, what: str = "numbers", least: int = 0, most: int = LONGEST) -> Ints:
    """A vector of whole numbers from plain data, between bounds, both allowed."""
    array = _array(values, "i", what)
    good = array.ndim == 1 and np.all((array >= least) & (array <= most))
    require(good, f"{what} must be a list of whole numbers from {least} to {most}")
    return np.asarray(array, np.int64)


def text(value: Any, what: str) -> str:
    """A text of plain data."""
    require(isinstance(value, str), f"{what} must be a text")
    return str(value)


def items(value: Any, what: str) -> Sequence[Any]:
    """A list of plain data; a text is none."""
    require(isinstance(value, list | tuple), f"{what} must be a list")
    return value  # type: ignore[no-any-return]


def truth(value: Any, what: str) -> bool:
    """A truth value of plain data."""
    require(isinstance(value, bool), f"{what} must be true or false")
    return bool(value)


def names(values: Sequence[Any]) -> tuple[str, ...]:
    """The names of columns: texts, each once."""
    texts = tuple(text(value, "the name of a column") for value in values)
    require(len(set(texts)) == len(texts), "two columns have the same name")
    return texts


def classes_of(body: Mapping[str, Any], count: int | None = None) -> tuple[Any, ...]:
    """The classes of a body: texts, numbers or truth values, each once; ``count`` of them, or any number from 2."""
    classes = tuple(items(body["classes"], "the classes"))
    plain = all(isinstance(value, str | int | float) for value in classes)
    finite = plain and all(isinstance(value, str) or abs(value) <= LARGEST for value in classes)
    require(
        finite and len({(type(value), value) for value in classes}) == len(classes),
        "classes must differ, and be values",
    )
    require(len(classes) == count if count else len(classes) >= 2, f"it needs {count or 'at least 2'} classes")
    return classes


def encoder_of(data: Any) -> Encoder:
    """The encoding of a column."""
    require(isinstance(data, Mapping), "the encoding of a column is missing")
    encoder = encoder_from_dict(data)
    if isinstance(encoder, NumericGrid):
        whole(encoder.cells, "the number of cells", 2)
    else:
        items(data.get("categories", []), "categories")
    return encoder


def table_encoding_of(data: Mapping[str, Any]) -> TableEncoding:
    """The encoding of all columns."""
    columns = items(data["columns"], "columns")
    require(columns, "it has no columns")
    return TableEncoding(names([column["name"] for column in columns]), tuple(map(encoder_of, columns)))


def _array(values: Any, kinds: str, what: str) -> Any:
    """An array of one kind of numbers; nothing is converted that is not one."""
    require(isinstance(values, list | tuple | np.ndarray), f"{what} must be a list of numbers")
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    require(array.dtype.kind in kinds or array.size == 0, f"{what} must be a list of numbers, alike in length")
    return array


def _between(least: float, most: float) -> str:
    """The bounds of a number, in words, where they are its own."""
    low = "" if least == -LARGEST else f", at least {least:g}"
    return low + ("" if most == LARGEST else f", at most {most:g}")
