"""Tables and labels as callers give them, refused in scikit-learn's words where they are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Floats
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, numbered, without_rows
from tacit.encoding.numbers import as_numbers
from tacit.encoding.values import DROPPED, LabelIndex, spelled_as_numbers, without_marks
from tacit.errors import warn
from tacit.privacy.request import RequestError
from tacit.schema import DateColumn, Schema
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat
from tacit.schema.columns import YEAR, is_plain_number


def table_of(X: Any) -> Frame:
    """The columns of ``X``; in scikit-learn's words where it is no table."""
    if hasattr(X, "tocsr"):
        raise FrameError(
            "Sparse data was passed, but this estimator needs dense columns: sparse input is not supported"
        )
    shape = getattr(X, "shape", ())
    if isinstance(shape, tuple) and len(shape) == 1:
        row = " (one row of a data frame is frame.iloc[[0]], not frame.iloc[0])" if hasattr(X, "to_frame") else ""
        raise FrameError(f"Expected a table of rows and columns, got shape {shape}. Reshape your data{row}")
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise FrameError("Complex data not supported")
    return columns_of(X)


def label_vector(y: Any) -> Any:
    """The labels as a vector of any kind; a column vector is flattened with scikit-learn's warning.

    A list becomes objects, label by label, and a list of one label is that label: in an array its values would take one
    another's type and shape, and one row change all.
    """
    if isinstance(y, list | tuple):
        return np.fromiter((_alone(label) for label in y), object, len(y))
    is_series = hasattr(y, "to_numpy") or hasattr(y, "combine_chunks")
    labels = y if is_series else np.asarray(y)
    shape = getattr(labels, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning)
        return np.asarray(labels)[:, 0]
    if shape is not None and len(shape) != 1:
        raise RequestError(f"y must be a vector of labels, got shape {shape}")
    return labels


def _alone(label: Any) -> Any:
    """What a list of one label holds; anything else as it is."""
    if isinstance(label, np.ndarray):
        return label.item() if label.size == 1 else label
    return label[0] if isinstance(label, list | tuple) and len(label) == 1 else label


def numbers_of(targets: Any, name: str = "target", cell_format: CellFormat = PLAIN_CELLS) -> Floats:
    """Targets as numbers; what is none is missing. A dtype of dates and the like raises ``FrameError``.

    Texts are taken value by value: a reader makes them of all targets for a single one's sake.
    """
    plain = cell_format.is_plain
    numbers = as_numbers(targets, name, loose=True) if plain else spelled_as_numbers(targets, cell_format, name)
    return np.asarray(without_marks(numbers, cell_format.missing_values), np.float64)


def warn_of_types(frame: Frame, schema: Schema) -> None:
    """Warns of columns of a type that says little of what is declared: a fit reads them value by value.

    That is no reason to refuse them: a reader may have made the type from the rows, and one row would decide.
    """
    declared = schema.columns.items()
    _warn_of_texts(
        frame,
        [name for name, column in declared if is_plain_number(column)],
        "is declared numeric and came as texts, categories or objects: what spells no number is missing",
    )
    for name, column in declared:
        if (
            isinstance(column, DateColumn)
            and column.granularity != YEAR
            and not column.format
            and _of_numbers(frame, name)
        ):
            warn(
                f"column {name!r} is declared a date and came as numbers: none of them is a date, and all are missing. "
                "Write dates as texts such as 2024-12-31, or give their type"
            )


def warn_of_truths(labels: Any, index: LabelIndex) -> None:
    """Warns of truth values as labels where the declared classes have none for one of them: such rows are dropped."""
    dropped = [value for value in (False, True) if index.code_of(value) == DROPPED]
    if dropped and is_boolean(labels):
        warn(
            f"y holds truth values, and the classes {', '.join(map(repr, index.classes))} have none for "
            f"{' and '.join(map(str, dropped))}: such rows are dropped. Give y the values of the classes"
        )


def warn_of_ignored(names: Sequence[str]) -> None:
    """Warns of columns that a fit without a schema leaves out."""
    if names:
        warn(
            f"without a schema dates and nested values are ignored: {len(names)} columns, of which the first is "
            f"{names[0]!r}. Declare dates in a schema (kind = 'date') to learn from them"
        )


def warn_of_undeclared(frame: Frame, algorithm: str) -> None:
    """Warns of texts where no schema declares anything, and the learner takes every column for numbers."""
    read = f"{algorithm} without a schema takes all for numbers: what spells none is missing"
    what = f"came as texts, categories or objects, and {read}"
    _warn_of_texts(frame, frame.names, what)


def _warn_of_texts(frame: Frame, names: Iterable[str], what: str) -> None:
    for name in names:
        if _of_numbers(frame, name) is False:
            hint = "If they were read from a file, read it with tacit.read_table; numbers have a decimal point"
            warn(f"column {name!r} {what}. {hint}")


def _of_numbers(frame: Frame, name: str) -> bool | None:
    """Whether a column came as numbers, by its dtype; None where it has none."""
    column = frame.column(name)
    if frame.untyped or frame.mixed or isinstance(column, list | tuple):
        return None
    try:
        as_numbers(without_rows(column), name)
    except FrameError:
        return False
    return True


def by_position(frame: Frame, names: npt.NDArray[Any], algorithm: str) -> Frame:
    """A matrix whose columns take the names that a learner was fitted with, with scikit-learn's warning.

    A table that has names of its own is left as it is.
    """
    if frame.names != numbered(len(names)) or frame.names == tuple(names):
        return frame
    warn(f"X does not have valid feature names, but {algorithm} was fitted with feature names")
    return _renamed(frame, names)


def by_number(frame: Frame, width: int, algorithm: str) -> Frame:
    """A table for a learner that was fitted to a matrix of this width: by position, with scikit-learn's warning.

    Left as it is if it has another width, or a name of the matrix's columns.
    """
    names = numbered(width)
    if len(frame.names) != width or set(frame.names) & set(names):
        return frame
    if frame.names != tuple(str(place) for place in range(width)):  # pandas numbers columns that nobody named
        warn(f"X has feature names, but {algorithm} was fitted without feature names")
    return _renamed(frame, names)


def _renamed(frame: Frame, names: Iterable[str]) -> Frame:
    columns = dict(zip(names, frame.columns.values(), strict=True))
    return Frame(columns, frame.n_rows, frame.mixed, frame.untyped)


def is_boolean(values: Any) -> bool:
    """Whether a vector holds truth values, by its dtype or its type of Arrow's."""
    if getattr(values, "type", None) == pa.bool_():
        return True
    return str(getattr(values, "dtype", "")).lower() in ("bool", "boolean", "bool[pyarrow]")


def is_fractional(values: Any) -> bool:
    """Whether a vector holds fractions, by its dtype or its type of Arrow's; a list has no dtype."""
    kind = getattr(values, "type", None)
    if isinstance(kind, pa.DataType):
        return bool(pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and kind.scale > 0))
    return str(getattr(values, "dtype", "")).lower().startswith(("float", "double"))


def plain(value: Any) -> Any:
    """A scalar of numpy as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def no_rows_of(data: Any, frame: Frame) -> Any:
    """A table of the kind of ``data``, whose columns are ``frame``, without rows: what raises on it is public."""
    if isinstance(data, list | tuple):
        return np.empty((0, len(frame.names)))
    if isinstance(data, np.ndarray):
        return data[:0]
    if hasattr(data, "head"):
        return data.head(0)
    return data.slice(0, 0) if hasattr(data, "slice") else frame.without_rows()
