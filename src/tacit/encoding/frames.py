"""One thin way from anything tabular to named columns. Nothing is copied and no value is looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.encoding.arrow import is_arrow
from tacit.encoding.errors import FrameError
from tacit.encoding.numbers import WITHOUT, as_numbers, is_plain, series_of, texts_as_numbers
from tacit.packages import is_installed, nw, pa, pc
from tacit.schema.errors import nearest

FEW_CELLS = 1 << 16
"""Not tuned, of the arithmetic: so few cells are encoded sooner than threads start."""


@contextmanager
def mapping(cells: int, threads: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    """``map``: by a pool of threads, or as it is where there is little to do. Use it up before the context ends."""
    if threads == 1 or cells <= FEW_CELLS:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor  # loads logging, which predictions need not

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        yield pool.map


UNTYPED: Mapping[bytes, bytes] = {b"tacit": b"texts of a file without types"}
"""Metadata of an Arrow table whose texts may stand for anything, as :func:`tacit.read_table` reads them."""


def without_rows(values: Any) -> Any:
    """A vector like this one, of the same kind and dtype, with no rows: what raises on it is public.

    A Python list has no dtype, so nothing about one raises here; it is read value by value.
    """
    if is_arrow(values):
        return values.slice(0, 0)
    if is_plain(values):
        return values.head(0) if hasattr(values, "head") else values[:0]
    series = series_of(values)
    if series is not None:
        return series.head(0).to_native()
    if isinstance(values, list | tuple):
        return []
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    return array[:0] if array.ndim else array


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """Named columns of one length, as they came.

    A pandas or polars categorical among them is read like the texts it stands for: what it lists was made from data and
    declares nothing.
    """

    columns: Mapping[str, Any]  # per name, the native vector (numpy, pandas, polars or pyarrow)
    n_rows: int  # private under add/remove, so it stays inside
    mixed: bool = False  # whether columns come from one matrix of objects or texts, whose dtype says nothing of them
    untyped: bool = False  # whether texts may stand for anything: they were read from a file that has no dtypes

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def column(self, name: str) -> Any:
        if name not in self.columns:
            hint = nearest(name, self.columns)
            if self.names == numbered(len(self.names)):
                hint = (
                    "an array has no names, and its columns are called x0, x1, ...: give a data frame, or, where "
                    "another estimator passes on arrays (BaggingClassifier), call the columns of the schema so"
                )
            raise FrameError(f"column '{name}' is missing from the data; {hint}")
        return self.columns[name]

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """A column as a numpy vector of numbers, nulls and texts that are no number as NaN."""
        column = self.column(name)
        if self.untyped and is_arrow(column):
            return texts_as_numbers(column, name)
        return as_numbers(column, name, loose=True)

    def without_rows(self) -> Frame:
        """The same columns with no rows, for checks of what is public."""
        return Frame({name: without_rows(column) for name, column in self.columns.items()}, 0, self.mixed, self.untyped)

    def select(self, names: Iterable[str]) -> Frame:
        return Frame({name: self.column(name) for name in names}, self.n_rows, self.mixed, self.untyped)


def numbered(width: int) -> tuple[str, ...]:
    """What the columns of a matrix are called: ``x0, x1, ...``."""
    return tuple(f"x{j}" for j in range(width))


def columns_of(data: Any, names: Sequence[str] | None = None) -> Frame:
    """Named columns of a table.

    Args:
        data: a pandas, polars or pyarrow table, a mapping from names to vectors, a numpy matrix, a list of rows, or a
            :class:`Frame`. Matrices have columns ``x0, x1, ...``, or ``names`` if given, in that order.
        names: the columns wanted; others are left out.

    Raises:
        FrameError: names the column that is missing or has the wrong shape.
    """
    frame = _frame_of(data, names)
    return frame if names is None or frame.names == tuple(names) else frame.select(names)


def _frame_of(data: Any, names: Sequence[str] | None) -> Frame:
    if isinstance(data, Frame):
        return data
    if isinstance(data, Mapping):
        return _from_mapping(data)
    if isinstance(data, str | os.PathLike):
        raise FrameError("expected a table, and got a text or a path; tacit.read_table reads a file")
    if isinstance(data, np.ndarray | list | tuple):
        return _from_matrix(data, names)
    if not is_installed("narwhals"):
        raise FrameError(f"a {type(data).__name__} is read with narwhals, which is not installed: {WITHOUT}")
    return _from_table(data, names)


def _from_table(data: Any, names: Sequence[str] | None) -> Frame:
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    untyped = isinstance(data, pa.Table) and UNTYPED.items() <= (data.schema.metadata or {}).items()
    try:
        table = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        twice = _twice(getattr(data, "column_names", ()) or getattr(data, "columns", ()))
        raise FrameError(f"two columns have the same name{twice}; rename one") from None
    if isinstance(table, nw.LazyFrame):
        raise FrameError("the table is lazy; collect it first")
    if isinstance(table, nw.DataFrame):
        if not all(isinstance(name, str | int) for name in table.columns):
            raise FrameError("columns must be named by texts or integers; flatten their names first")
        native = table.to_native()
        columns = {str(name): native[name] for name in table.columns}
        if len(columns) != len(table.columns):
            raise FrameError("two columns have the same name when written as text; rename one")
        return Frame(columns, len(table), untyped=untyped)
    if hasattr(data, "tocsr"):
        raise FrameError("sparse matrices are read by the learners that take fixed-point rows only; give a table")
    return _from_matrix(data, names)


def _twice(names: Iterable[Any]) -> str:
    """The first name that is there twice, as it is said."""
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            return f", '{name}'"
        seen.add(name)
    return ""


def _from_mapping(data: Mapping[Any, Any]) -> Frame:
    columns: dict[str, Any] = {}
    for name, values in data.items():
        if not isinstance(values, Iterable) or isinstance(values, str | bytes):
            raise FrameError(
                f"column '{name}' is a single {type(values).__name__}; a column is a vector, and a table of one row is "
                f"written {{'{name}': [value], ...}}"
            )
        columns[str(name)] = values if hasattr(values, "__len__") else list(values)
    if len(columns) != len(data):
        raise FrameError("two columns have the same name when written as text; rename one")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths))
        other = next(name for name in lengths if lengths[name] != lengths[first])
        raise FrameError(f"columns '{first}' and '{other}' have different lengths")
    return Frame(columns, next(iter(lengths.values()), 0))


def rows_of_objects(rows: Sequence[Any]) -> npt.NDArray[np.object_]:
    """A matrix of what stands in a list of rows, whatever it is."""
    lengths = {
        len(row) if isinstance(row, Sequence | np.ndarray) and not isinstance(row, str | bytes) else -1 for row in rows
    }
    if len(lengths) > 1:
        raise FrameError("the rows have different lengths")
    width = lengths.pop() if lengths else -1
    if width < 0:
        return np.empty(len(rows), object)
    matrix = np.empty((len(rows), width), object)
    for place, row in enumerate(rows):
        for column, value in enumerate(row):
            matrix[place, column] = value
    return matrix


def _from_matrix(data: Any, names: Sequence[str] | None) -> Frame:
    # in a list a value must not depend on its neighbours, nor what a column is on one value
    matrix = rows_of_objects(data) if isinstance(data, list | tuple) else np.asarray(data)
    if matrix.ndim != 2:
        hint = "; reshape one column with X.reshape(-1, 1), one row with X.reshape(1, -1)" if matrix.ndim == 1 else ""
        if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
            hint = "; of rows that are mappings, pandas.DataFrame(rows) makes a table"
        what = f"shape {matrix.shape}" if matrix.ndim else f"a {type(data).__name__}"
        raise FrameError(f"expected a table with rows and columns, got {what}{hint}")
    if matrix.dtype.kind not in "fiubOUST":
        raise FrameError(f"a matrix of dtype {matrix.dtype} holds no numbers or texts")
    width = matrix.shape[1]
    labels = tuple(names) if names is not None else numbered(width)
    if len(labels) != width:
        raise FrameError(f"the matrix has {width} columns, but {len(labels)} were expected: {', '.join(labels[:8])}")
    return Frame({name: matrix[:, j] for j, name in enumerate(labels)}, len(matrix), matrix.dtype.kind in "OUST")


def take_rows(frame: Frame, index: Ints) -> Frame:
    """Rows of a frame by position; a row may come more than once, and every column keeps its kind."""
    columns = {name: take(frame.column(name), index) for name in frame.names}
    return Frame(columns, len(index), frame.mixed, frame.untyped)


def _plain_layout(values: Any) -> Any:
    """Arrow's data without views and runs, from which Arrow takes no rows."""
    kind = values.type
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_decode(values)
    if pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    return values.cast(pa.large_binary()) if pa.types.is_binary_view(kind) else values


def take(values: Any, index: Ints) -> Any:
    """Entries of a vector, or rows of a matrix, by position."""
    if is_plain(values) and not values.dtype.isnative:  # pandas refuses to take such numbers
        return values.to_numpy()[index]
    if str(getattr(values, "dtype", "")).startswith(("string_view[", "binary_view[", "run_end_")):  # pandas, by Arrow
        values = values.array.__arrow_array__()
    if is_arrow(values):
        return _plain_layout(values).take(index)
    if hasattr(values, "gather"):  # polars
        return values.gather(index)
    if hasattr(values, "take") and not isinstance(values, np.ndarray):  # pandas
        return values.take(index)
    return [values[place] for place in index.tolist()] if isinstance(values, list | tuple) else values[index]
