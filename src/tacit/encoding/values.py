"""Indexes: from declared values to codes. What a cell means depends on that cell and the declaration alone."""

from __future__ import annotations

import decimal
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes, Floats, Ints
from tacit.display import Brief
from tacit.encoding.arrow import by_value
from tacit.encoding.numbers import number_or_nan
from tacit.encoding.tokens import as_tokens
from tacit.schema import Value
from tacit.schema.cell_format import CellFormat
from tacit.schema.columns import MOST_CATEGORIES
from tacit.schema.label import Label
from tacit.schema.values import Meaning, distinct_values, meaning


def spelled_as_numbers(values: Any, cell_format: CellFormat, name: str = "") -> Floats:
    """A column of texts, numbers or objects as floats, value by value; a text that spells no number is NaN."""

    def number(value: Any) -> float:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if not isinstance(value, str):
            return number_or_nan(value)
        spelled = cell_format.number_of(value)
        return math.nan if spelled is None else spelled

    tokens = as_tokens(values, name)
    if isinstance(tokens, np.ndarray):
        return np.fromiter(map(number, tokens), np.float64, len(tokens))
    return by_value(tokens, number, np.float64)


def without_marks(numbers: npt.NDArray[Any], marks: tuple[float, ...]) -> npt.NDArray[Any]:
    """The numbers, NaN where one is a mark for missing at the precision of its type; the same array without marks."""
    if not marks:
        return numbers
    kind = numbers.dtype if numbers.dtype.kind == "f" else np.dtype(np.float64)
    texts = numbers.astype(kind)
    with np.errstate(over="ignore"):
        declared = np.array(marks, np.float64).astype(kind)
    return np.where(np.isin(texts, declared), np.array(np.nan, kind), texts)


DROPPED = 255
"""The label code of a row that a public rule drops."""

_TRUE = frozenset({"true", "t", "yes", "y", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "0"})


class ValueIndex(ABC):
    """Base of the indexes: a rule for one value, applied to whole columns through their distinct values."""

    @property
    @abstractmethod
    def n_codes(self) -> int:
        """Number of codes."""

    @abstractmethod
    def code_of(self, value: Any) -> int:
        """The code of one Python value (None is missing)."""

    def encode(self, values: Any, name: str = "") -> Codes:
        """Codes of a column (numpy, pandas, polars, pyarrow, sequence), shape ``(n,)``, uint8 if they fit."""
        tokens = as_tokens(values, name)
        kind: Any = np.uint8 if self.n_codes <= 256 else np.uint16
        if isinstance(tokens, np.ndarray):
            return self._encode_objects(tokens).astype(kind)
        return by_value(tokens, self.code_of, kind)

    def _encode_objects(self, values: npt.NDArray[np.object_]) -> Ints:
        codes_of: dict[tuple[type, Any], int] = {}
        out = np.empty(len(values), np.int64)
        for row, value in enumerate(values):
            key = (type(value), value)  # 1, 1.0 and True are equal in Python
            try:
                code = codes_of.get(key)
            except Exception:  # noqa: BLE001 - whatever an object says when it is asked for its hash, no row stops a fit
                out[row] = self.code_of(value)
                continue
            if code is None:
                code = codes_of[key] = self.code_of(value)
            out[row] = code
        return out


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: None, NaN, NA, NaT, or a text that is empty but for blanks."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def plain(value: Any) -> Any:
    """Bytes as text, numpy scalars as Python's; a float of 32 bits or fewer as its shortest decimal."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.floating) and value.itemsize != 8:
        return float(str(value))
    return value.item() if isinstance(value, np.generic) else value


class _Matcher:
    """Position of a value among declared ones, or -1.

    Values match by their :func:`~tacit.schema.values.meaning`, and truth values match 1 and 0 where only those are
    declared. A float of 32 or 16 bits matches the first declared number that is this float in its precision, as the
    0.1 of a 32-bit column is 0.1. ``exact``: texts match declared texts by text alone, and those that match none the
    declared numbers and truth values; what came as a number matches the first declared value that means it.
    """

    def __init__(self, declared: Iterable[Value], exact: bool) -> None:
        self._exact = exact
        self._meant: dict[Meaning, int] = {}
        self._typed: dict[Meaning, int] = {}
        self._texts: dict[str, int] = {}
        self._narrow: dict[tuple[int, float], float] = {}
        for position, value in enumerate(declared):
            meant = meaning(value)
            self._meant.setdefault(meant, position)
            if meant.kind == "number":
                self._narrow = {each: float(meant.value) for each in _narrowed(float(meant.value))} | self._narrow
            if isinstance(value, str):
                self._texts[value.strip()] = position
            else:
                self._typed[meaning(value)] = position

    def plain(self, value: Any) -> Any:
        """The value as :func:`plain` has it, of a narrow float the declared number that it stands for."""
        if isinstance(value, np.float32 | np.float16):
            return self._narrow.get((value.itemsize, float(value)), plain(value))
        return plain(value)

    def __call__(self, value: Any) -> int:
        if not isinstance(value, str | int | float | decimal.Decimal):
            return -1
        if not (self._exact and isinstance(value, str)):
            return _found(self._meant, meaning(value))
        position = self._texts.get(value.strip(), -1)
        return position if position >= 0 else _found(self._typed, meaning(value))


def _narrowed(number: float) -> list[tuple[int, float]]:
    """A number in 32 and in 16 bits, by their bytes, unless it is lost in them."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = [(4, float(np.float32(number))), (2, float(np.float16(number)))]
    return [(size, each) for size, each in narrow if math.isfinite(each) and (each != 0 or number == 0)]


def _found(positions: Mapping[Meaning, int], meaning: Meaning) -> int:
    position, (kind, value) = positions.get(meaning, -1), meaning
    if position < 0 and kind != "text" and value in (0, 1):  # 0 for false and 1 for true, and the other way round
        other = Meaning("truth", bool(value)) if kind == "number" else Meaning("number", float(value))
        position = positions.get(other, -1)
    return position


@final
@dataclass(frozen=True, repr=False)
class CategoryIndex(ValueIndex, Brief):
    """Declared categories to ``0 .. k-1``, anything else to ``other = k``, nothing to ``missing = k + 1``.

    Texts are compared without surrounding blanks and by case. A text that spells a number is that number, and numbers
    are compared by value, to 15 digits: ``"03"``, ``3`` and ``3.0`` are one; ``exact`` tells texts apart by spelling.
    None, NaN and empty texts are missing.
    """

    categories: tuple[Value, ...]
    exact: bool = False

    def __post_init__(self) -> None:
        declared = distinct_values(self.categories, "categories", 1, MOST_CATEGORIES, self.exact)
        object.__setattr__(self, "categories", declared)

    @property
    def n_codes(self) -> int:
        return len(self.categories) + 2

    @property
    def other(self) -> int:
        return len(self.categories)

    @property
    def missing(self) -> int:
        return len(self.categories) + 1

    @cached_property
    def _match(self) -> _Matcher:
        return _Matcher(self.categories, self.exact)

    def code_of(self, value: Any) -> int:
        value = self._match.plain(value)
        if is_missing(value):
            return self.missing
        position = self._match(value)
        return position if position >= 0 else self.other

    def to_dict(self) -> dict[str, Any]:
        data = {"kind": "category_index", "categories": list(self.categories)}
        return data | ({"exact": True} if self.exact else {})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> CategoryIndex:
        return CategoryIndex(tuple(data["categories"]), bool(data.get("exact", False)))


@final
@dataclass(frozen=True)
class BooleanIndex(ValueIndex):
    """False to 0, true to 1, anything else to ``missing = 2``. Reads 0 and 1 and the usual words, in any case."""

    @property
    def n_codes(self) -> int:
        return 3

    @property
    def missing(self) -> int:
        return 2

    def code_of(self, value: Any) -> int:
        value = plain(value)
        if isinstance(value, str):
            text = value.strip().lower()
            if text in _TRUE or text in _FALSE:
                return int(text in _TRUE)
        if isinstance(value, str | int | float | decimal.Decimal) and not is_missing(value):
            kind, content = meaning(value)
            return int(content) if kind != "text" and content in (0, 1) else self.missing
        return self.missing

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "boolean_index"}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> BooleanIndex:
        del data
        return BooleanIndex()


@final
@dataclass(frozen=True)
class LabelIndex(ValueIndex):
    """Labels to classes ``0 .. k-1``; a label that is not declared gives :data:`DROPPED`.

    With two sides (``positive`` given, or two classes) the codes are 0 and 1, and 1 is the positive side. Labels may
    then also be 0 and 1 themselves, unless one of those is a declared class; or false and true, unless one of those is,
    or both 0 and 1: a truth value says which side a row is on even where 1 is the class of the other.
    """

    classes: tuple[Value, ...]
    positive: tuple[Value, ...] = ()  # empty if every class stands for itself
    exact: bool = False  # whether texts that spell numbers are told apart by spelling

    def __post_init__(self) -> None:
        label = Label("label", "classes", self.classes, self.positive, exact=self.exact)  # one place checks them
        object.__setattr__(self, "classes", label.classes)
        object.__setattr__(self, "positive", label.positive_classes)

    @staticmethod
    def of(label: Label) -> LabelIndex:
        return LabelIndex(label.classes, label.positive, label.exact)

    @property
    def n_classes(self) -> int:
        """Number of classes after ``positive`` has made sides of them."""
        return 2 if self.positive else len(self.classes)

    @property
    def n_codes(self) -> int:
        return self.n_classes

    @property
    def names(self) -> tuple[Value, ...]:
        """Per code, the declared value that stands for it: the first of its side."""
        if not self.positive:
            return self.classes
        return (
            next(value for value, side in zip(self.classes, self._sides, strict=True) if side == 0),
            self.positive[0],
        )

    @cached_property
    def _sides(self) -> tuple[int, ...]:
        if not self.positive:
            return tuple(range(len(self.classes)))
        keys = {(type(value), value) for value in self.positive}
        return tuple(int((type(value), value) in keys) for value in self.classes)

    @cached_property
    def _match(self) -> _Matcher:
        return _Matcher(self.classes, self.exact)

    @cached_property
    def _sided(self) -> frozenset[str]:
        """Kinds of values of which 0 and 1, or false and true, stand for the two sides: see above."""
        sides = [self._match(bit) >= 0 for bit in (0, 1)]
        truths = any(meaning(value).kind == "truth" for value in self.classes)
        free = {"number": not any(sides), "truth": not truths and not all(sides)}
        return frozenset(kind for kind in free if self.positive and free[kind])

    def code_of(self, value: Any) -> int:
        value = self._match.plain(value)
        if is_missing(value) or not isinstance(value, str | int | float | decimal.Decimal):
            return DROPPED
        kind, content = meaning(value)
        if kind in self._sided and content in (0, 1):
            return int(content)
        position = self._match(value)
        return self._sides[position] if position >= 0 else DROPPED

    def to_dict(self) -> dict[str, Any]:
        data = {"kind": "label_index", "classes": list(self.classes), "positive": list(self.positive)}
        return data | ({"exact": True} if self.exact else {})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> LabelIndex:
        return LabelIndex(tuple(data["classes"]), tuple(data["positive"]), bool(data.get("exact", False)))
