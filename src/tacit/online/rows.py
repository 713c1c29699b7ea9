"""From rows to points of ``{-1, 1}**d``: a public rule per row, the same for one row and for many."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Floats, Ints
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, rows_of_objects
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.errors import TacitError
from tacit.models.decision_list import AT_LEAST, IS, Condition
from tacit.privacy.assumptions import Assumption, identifiers_assumed
from tacit.privacy.request import RequestError, declared_schema
from tacit.schema import Schema
from tacit.schema.identifiers import refuse_identifiers

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
    names: list[str] = []
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, Pipeline) and frame.f_code.co_name in CALLS:
            names += _learners(list(owner.steps.values())[:-1])
        frame = frame.f_back
    return names


def _learners(steps: Iterable[Any]) -> list[str]:
    from river.base import Transformer
    from river.compose import Pipeline, TransformerUnion

    names: list[str] = []
    for step in steps:
        if isinstance(step, Pipeline):
            names += _learners(step.steps.values())
        elif isinstance(step, TransformerUnion):
            names += _learners(step.transformers.values())
        elif not isinstance(step, Transformer) or type(step).learn_one is not Transformer.learn_one:
            names.append(type(step).__name__)
    return names


class RowError(TacitError):
    """A row that the declaration does not cover. The stream is as it was."""


@dataclass(frozen=True)
class SignRows:
    """Rows that are signs already: -1 and 1, or booleans.

    If names were ``declared``, a row may lack some (they read as -1) and have others; else its keys must be these.
    """

    names: tuple[Any, ...]
    declared: bool

    @property
    def width(self) -> int:
        """Coordinates of a point."""
        return len(self.names)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What each coordinate says, in words."""
        return tuple(str(name) for name in self.names)

    def one(self, x: Mapping[Any, Any]) -> tuple[npt.NDArray[np.int8], bool]:
        """The point of a row, and whether all its values are signs.

        Raises:
            RowError: if the keys are others than before; public.
        """
        if not self.declared and (len(x) != len(self.names) or any(name not in x for name in self.names)):
            raise RowError(
                f"a row has {len(x)} features where the first one had {len(self.names)}, or other names: declare the "
                "columns if features come and go. The stream is as it was."
            )
        return self._signs(np.array([[sign_from(x.get(name, -1)) for name in self.names]]))

    def many(self, table: Any) -> tuple[npt.NDArray[np.int8], Bools]:
        """The points of many rows, shape ``(n, width)``, and per row whether all its values are signs.

        Columns of a data frame are taken in the order of the names.
        """
        if hasattr(table, "columns"):
            table = self._in_order(table)
        matrix: npt.NDArray[Any] = table if isinstance(table, np.ndarray) else matrix_of(table)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.names):
            raise RowError(f"rows must have shape (n, {len(self.names)}), got {matrix.shape}. The stream is as it was.")
        if matrix.dtype.kind in "Oc":
            matrix = np.array([[sign_from(value) for value in row] for row in matrix], np.float64).reshape(matrix.shape)
        if matrix.dtype.kind not in "biuf":
            raise RowError(f"rows must be numbers or booleans, got dtype {matrix.dtype}. The stream is as it was.")
        if matrix.dtype == np.int8:
            return matrix, np.asarray(((matrix == 1) | (matrix == -1)).all(axis=1))
        if matrix.dtype.kind == "b":
            return np.where(matrix, 1, -1).astype(np.int8), np.ones(len(matrix), np.bool_)
        return np.where(matrix > 0, 1, -1).astype(np.int8), np.asarray(np.isin(matrix, (-1, 1)).all(axis=1))

    def _in_order(self, table: Any) -> npt.NDArray[Any]:
        missing = [name for name in self.names if name not in set(table.columns)]
        if missing and not self.declared:
            raise RowError(f"columns are missing: {missing[:5]}. The stream is as it was.")
        return np.column_stack(
            [np.full(len(table), -1) if name in missing else signs_in(table[name]) for name in self.names]
        )

    def _signs(self, row: Floats) -> tuple[npt.NDArray[np.int8], bool]:
        return np.where(row > 0, 1, -1).astype(np.int8), bool(np.isin(row, (-1.0, 1.0)).all())


CUTS = (-10.0, -3.0, -1.0, -0.3, 0.0, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Numbers that values without a schema are compared with: half decades, the same for everybody."""


@dataclass(frozen=True)
class NumberRows:
    """Rows of whatever values, mapped by a rule that asks neither a schema nor the rows.

    A number (or boolean) becomes one coordinate per cut, 1 where it is at least as large. A text is 1 at one coordinate
    of its column, chosen by a public hash, and -1 at the others. Anything else is -1 at all of them, as what is missing
    is, and what a row has beside the names does not count. No row is ever refused.

    Attributes:
        names: the columns, in order.
    """

    names: tuple[Any, ...]

    @property
    def width(self) -> int:
        """Coordinates of a point."""
        return len(self.names) * len(CUTS)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What each coordinate says of numbers, in words."""
        return tuple(f"{name} >= {cut:g}" for name in self.names for cut in CUTS)

    def one(self, x: Mapping[Any, Any]) -> tuple[npt.NDArray[np.int8], bool]:
        """The point of a row; always fine."""
        return np.array([[sign for name in self.names for sign in _compared(x.get(name))]], np.int8), True

    def many(self, table: Any) -> tuple[npt.NDArray[np.int8], Bools]:
        """The points of the rows of a data frame; always fine."""
        frame: Frame = columns_of(table)
        names = set(frame.names)
        parts = [
            np.array([_compared(value) for value in frame.column(name)], np.int8).reshape(frame.n_rows, len(CUTS))
            if name in names
            else np.full((frame.n_rows, len(CUTS)), -1, np.int8)
            for name in self.names
        ]
        return np.concatenate(parts, axis=1), np.ones(frame.n_rows, np.bool_)


def _compared(value: Any) -> list[int]:
    """The signs of one value, one per cut."""
    number = 1.0 * value if isinstance(value, bool | np.bool_) else _float(value) if _is_number(value) else math.nan
    if not math.isnan(number):
        return [1 if number >= cut else -1 for cut in CUTS]
    signs = [-1] * len(CUTS)
    if isinstance(value, str):
        signs[int.from_bytes(hashlib.blake2b(value.encode("utf-8", "replace")).digest()[:8]) % len(CUTS)] = 1
    return signs


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number | Decimal)


def matrix_of(table: Any) -> npt.NDArray[Any]:
    """Rows as a matrix; of objects where no dtype says more: an odd value makes its own round null, and no other."""
    if not isinstance(table, list | tuple):
        matrix = np.asarray(table)
        if matrix.dtype.kind in "biufO":
            return matrix
        table = list(table.to_numpy(dtype=object) if hasattr(table, "to_numpy") else table)
    try:  # in an array values would take one another's type, and one row change all
        return rows_of_objects(table)
    except FrameError:
        raise RowError("all rows must have as many values. The stream is as it was.") from None


def sign_from(value: Any) -> float:
    """A boolean as a sign, a number as it is, NaN for anything else."""
    return (1.0 if value else -1.0) if isinstance(value, bool | np.bool_) else _float(value)


def signs_in(values: Any) -> npt.NDArray[Any]:
    """A column of a data frame, booleans as signs."""
    array = np.asarray(values)
    if array.dtype.kind == "b":
        return np.where(array, 1, -1)
    return array if array.dtype.kind in "iuf" else np.array([sign_from(value) for value in values], np.float64)


def _float(value: Any) -> float:
    try:
        if isinstance(value, complex):  # as which a table reads all values of a column where one is
            return value.real if value.imag == 0 else math.nan
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


@dataclass(frozen=True, eq=False)
class SchemaRows:
    """Rows under a schema: a coordinate per threshold, category and boolean; nothing a row holds is an error.

    A number that is missing is below every threshold. Columns that a row lacks are missing. ``cuts`` are, per numeric
    column, its codes between which it is split; empty for the others.
    """

    encoding: TableEncoding
    cuts: tuple[Ints, ...]

    @staticmethod
    def of(schema: Schema, bins: int) -> SchemaRows:
        """Thresholds at the edges of ``bins`` equal bins, or at the schema's own where it fixes them."""
        encoding = TableEncoding.of(schema)
        cuts = []
        for encoder in encoding.encoders:
            if isinstance(encoder, NumericGrid):
                cuts.append(np.unique(encoder.cells_at(min(bins, encoder.cells))))
            else:
                cuts.append(np.zeros(0, np.int64))
        return SchemaRows(encoding, tuple(cuts))

    @property
    def width(self) -> int:
        """Coordinates of a point."""
        return sum(len(cut) if isinstance(e, NumericGrid) else e.n_codes - 1 for e, cut in self._pairs())

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What each coordinate says, in words: ``"age >= 40"``, ``"sex is Male"``, ``"smokes is true"``."""
        words: list[str] = []
        for column, (name, (encoder, cut)) in enumerate(zip(self.encoding.names, self._pairs(), strict=True)):
            tests = [(AT_LEAST, int(c)) for c in cut] if isinstance(encoder, NumericGrid) else []
            if not isinstance(encoder, NumericGrid):
                tests = [(IS, code) for code in range(encoder.n_codes - 1)]
            words += [Condition(column, test, code).text(name, encoder) for test, code in tests]
        return tuple(words)

    def one(self, x: Mapping[Any, Any]) -> tuple[npt.NDArray[np.int8], bool]:
        """The point of a row; always fine."""
        point: list[int] = []
        for name, encoder, edges in zip(self.encoding.names, self.encoding.encoders, self._edges, strict=True):
            value = x.get(name)
            if isinstance(encoder, NumericGrid):
                number = encoder.number(value)
                finite = math.isfinite(number)
                point += [1 if finite and number >= edge else -1 for edge in edges]
            else:
                code = encoder.code_of(value)
                point += [1 if code == place else -1 for place in range(encoder.n_codes - 1)]
        return np.array([point], np.int8), True

    @cached_property
    def _edges(self) -> tuple[tuple[float, ...], ...]:
        """The numbers at which the cells of the cuts begin: exactly those and larger ones are above the cut."""
        return tuple(
            tuple(float(edge) for edge in encoder.edges(cut)) if isinstance(encoder, NumericGrid) else ()
            for encoder, cut in self._pairs()
        )

    def many(self, table: Any) -> tuple[npt.NDArray[np.int8], Bools]:
        """The points of many rows; always fine."""
        frame: Frame = columns_of(table)
        codes = self.encoding.encode(frame)
        parts = [_points(column, encoder, cut) for column, (encoder, cut) in zip(codes, self._pairs(), strict=True)]
        return np.concatenate(parts, axis=1), np.ones(frame.n_rows, np.bool_)

    def _pairs(self) -> list[tuple[Encoder, Ints]]:
        return list(zip(self.encoding.encoders, self.cuts, strict=True))


def _points(codes: npt.NDArray[Any], encoder: Encoder, cut: Ints) -> npt.NDArray[np.int8]:
    """One column's coordinates: above each cut, or equal to each code but "missing"."""
    if isinstance(encoder, NumericGrid):
        bits = (codes[:, None] >= cut[None, :]) & (codes != encoder.missing)[:, None]
    else:
        bits = codes[:, None] == np.arange(encoder.n_codes - 1)[None, :]
    return np.where(bits, 1, -1).astype(np.int8)


RowReader = SignRows | NumberRows | SchemaRows


def declared_rows(schema: Any, columns: Sequence[Any] | None, bins: int) -> RowReader | None:
    """How rows are read by what was declared, a schema or names of signs; None where nothing was."""
    declared = declared_schema(schema)
    if declared is None:
        return None if columns is None else SignRows(tuple(columns), declared=True)
    if declared.unit is not None:
        raise RequestError("a stream protects single rows, and this schema declares units of several")
    refuse_identifiers(declared)
    return SchemaRows.of(declared, bins)


def undeclared_rows(x: Any, without_errors: bool) -> RowReader:
    """Rows with names are read as numbers, the names being those of the first; all others as signs.

    ``without_errors``: no row may stop the stream, nor say what there is.
    """
    columns = sorted(x, key=repr) if isinstance(x, Mapping) else getattr(x, "columns", None)
    if isinstance(x, Mapping) and without_errors:
        raise RequestError(
            "with invalid='null' no row may decide which features there are: name them in columns, or declare a schema"
        )
    if columns is None:
        shape = matrix_of(x).shape if isinstance(x, list | tuple) else np.shape(x)
        if len(shape) != 2:
            raise RowError(f"rows must have shape (n, d), got {shape}. The stream is as it was.")
        columns = range(shape[1])
    names, signs = tuple(columns), isinstance(columns, range) or without_errors
    if not names:
        raise RowError("a row without features. The stream is as it was.")
    return SignRows(names, declared=False) if signs else NumberRows(names)


def names_assumed(rows: RowReader | None, x: Any) -> tuple[Assumption, ...]:
    """What a stream takes as public: the names in its first row ``x``, unless they were declared.

    A table has names of its own; those of a single row are the first person's, and nobody answers for them.
    """
    if isinstance(rows, SchemaRows) or rows is None:
        return ()
    if isinstance(rows, SignRows) and rows.declared:
        return identifiers_assumed(rows.names)
    whose = "row" if isinstance(x, Mapping) else "table"
    text = f"the names of the features, as the first {whose} had them: name them in columns, or declare a schema"
    return (Assumption("columns", text, accepted=whose == "table"), *identifiers_assumed(rows.names))


def names_of(rows: RowReader | None) -> list[Any] | None:
    """What a suspended stream keeps of how rows are read: names, and as what; None where a schema says it."""
    if rows is None or isinstance(rows, SchemaRows):
        return None
    return [list(rows.names), rows.declared if isinstance(rows, SignRows) else "numbers"]


def named_rows(names: Sequence[Any], kind: bool | str) -> RowReader:
    """The inverse of :func:`names_of`."""
    return NumberRows(tuple(names)) if kind == "numbers" else SignRows(tuple(names), bool(kind))
