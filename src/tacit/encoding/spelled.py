"""Columns of numbers whose cells have symbols, thousands or marks for missing, by the public rule of their schema."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.arrow import dictionary_of, listed, positions
from tacit.encoding.numbers import number_or_nan
from tacit.encoding.tokens import as_tokens
from tacit.packages import LazyModule
from tacit.schema.cell_format import CellFormat

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = LazyModule("pyarrow")


def spelled_as_numbers(values: Any, written: CellFormat, name: str = "") -> Floats:
    """A column of texts, numbers or objects as floats, value by value; a text that spells no number is NaN.

    Raises:
        FrameError: for a dtype of dates, lists or structs; ``name`` says which column that was.
    """

    def number(value: Any) -> float:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            return number_or_nan(value)
        spelled = written.number_of(value)
        return math.nan if spelled is None else spelled

    tokens = as_tokens(values, name)
    if isinstance(tokens, np.ndarray):
        return np.fromiter(map(number, tokens), np.float64, len(tokens))
    parts: list[Floats] = [np.empty(0)]
    for chunk in tokens.chunks:
        if pa.types.is_null(chunk.type):
            parts.append(np.full(len(chunk), np.nan))
            continue
        coded = dictionary_of(chunk)
        table = np.array([*map(number, listed(coded.dictionary)), math.nan])
        parts.append(table[positions(coded, len(table) - 1)])
    return np.concatenate(parts)


def without_marks(numbers: npt.NDArray[Any], marks: tuple[float, ...]) -> npt.NDArray[Any]:
    """The numbers, NaN where one is a mark for missing at the precision of its type; the same array without marks."""
    if not marks:
        return numbers
    kind = numbers.dtype if numbers.dtype.kind == "f" else np.dtype(np.float64)
    texts = numbers.astype(kind)
    with np.errstate(over="ignore"):
        declared = np.array(marks, np.float64).astype(kind)
    return np.where(np.isin(texts, declared), np.array(np.nan, kind), texts)
