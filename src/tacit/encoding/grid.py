"""The public grid over a numeric column: floats to fine codes, and codes back to thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.encoding.dates import bounds_of, dates_as_numbers, text_of
from tacit.encoding.frames import Frame
from tacit.encoding.numbers import as_numbers
from tacit.encoding.order import floats_of, key_of
from tacit.encoding.values import spelled_as_numbers, without_marks
from tacit.packages import loops
from tacit.schema import DateColumn, NumericColumn
from tacit.schema.cell_format import PLAIN_CELLS, CellFormat
from tacit.schema.columns import GRANULARITIES, MOST_BINS
from tacit.schema.values import short_number

kernels = loops("tacit.encoding.kernels")

BLOCK = 1 << 13
"""Rows converted at a time when the input is not contiguous float64: the buffer stays in the cache."""


@final
@dataclass(frozen=True)
class NumericGrid:
    """Sends a float to one of ``cells`` public cells, values outside the bounds to the first or last one.

    The finest grid has its edges at 65,536ths of the span, so that halves, quarters and so on are among them, and its
    last two cells are one: a code is 16 bits, and "missing" needs one.

    NaN and both infinities go to the code ``missing == cells``. Codes rise with the value, and a code depends on its
    own value only. With cuts as ``spacing``, cell ``k`` holds ``cut[k-1] <= x < cut[k]``. Log spacing follows the
    floating-point representation: cells are equal within an octave (from a power of two to the next) and as many in
    each octave. That is a logarithm up to 9 % of an octave, and unlike one it is the same on every machine.

    Raises:
        SchemaError: for bounds or cuts that no grid can be laid over.
    """

    lower: float
    upper: float
    cells: int = MOST_BINS  # fixed by the cuts if there are any
    spacing: str | tuple[float, ...] = "linear"  # or `"log"`, or increasing cuts strictly between the bounds
    dates: str = ""  # what counts where values are dates: `"year"`, `"month"` or `"weekday"`; empty for numbers
    format: CellFormat = PLAIN_CELLS  # how cells are written

    def __post_init__(self) -> None:
        if self.dates not in ("", *GRANULARITIES):
            raise ValueError(f"of dates count {', '.join(GRANULARITIES)}, and no {self.dates!r}")
        column = NumericColumn(self.lower, self.upper, spacing=self.spacing)
        cells = self.cells if isinstance(column.spacing, str) else len(column.spacing) + 1
        if not 2 <= cells <= MOST_BINS:
            raise ValueError(f"a grid has 2 to {MOST_BINS} cells, got {cells}")
        for name, value in (
            ("lower", column.lower),
            ("upper", column.upper),
            ("cells", cells),
            ("spacing", column.spacing),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def of(column: NumericColumn, cells: int = MOST_BINS) -> NumericGrid:
        """The grid of a declared column: its own bins if it fixes them, ``cells`` otherwise."""
        return NumericGrid(column.lower, column.upper, column.bins or cells, column.spacing, format=column.cell_format)

    @staticmethod
    def of_dates(column: DateColumn) -> NumericGrid:
        """The grid of a column of dates: a cell for each year, month or day of the week."""
        lower, upper, cells = bounds_of(column)
        return NumericGrid(lower, upper, cells, dates=column.granularity, format=CellFormat(date=column.format))

    @property
    def n_codes(self) -> int:
        """Number of codes, missing included."""
        return self.cells + 1

    @property
    def missing(self) -> int:
        """The code of NaN and infinity."""
        return self.cells

    def encode(self, values: Any, name: str = "") -> npt.NDArray[np.uint16]:
        """Codes of a vector of numbers (numpy, pandas, polars, pyarrow, sequence), shape ``(n,)``."""
        return self._codes(self._read(values, name, as_numbers))

    def numbers(self, frame: Frame, name: str) -> npt.NDArray[Any]:
        """A column of a table as :meth:`encode_into` takes it."""
        return self._read(frame.column(name), name, lambda _, name: frame.numbers(name))

    def number(self, value: Any) -> float:
        """What a single value counts as; NaN where it is missing."""
        return float(self._read([value], "", as_numbers)[0])

    def _read(self, values: Any, name: str, plainly: Callable[[Any, str], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        if self.dates:
            return dates_as_numbers(values, self.dates, self.format.date, name)
        numbers = plainly(values, name) if self.format.is_plain else spelled_as_numbers(values, self.format, name)
        return without_marks(numbers, self.format.missing_values)

    @property
    def reads_numbers(self) -> bool:
        """Whether a file's cells are read as plain numbers, and not as texts."""
        return not self.dates and self.format.is_plain

    def codes(self, frame: Frame, name: str) -> npt.NDArray[np.uint16]:
        """The codes of a column of a table, texts among its numbers as missing."""
        return self._codes(self.numbers(frame, name))

    def _codes(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint16]:
        out = np.empty(len(numbers), np.uint16)
        self.encode_into(numbers, out, 0, len(out))
        return out

    def text(self, edge: float) -> str:
        """An edge for people where values are dates."""
        return text_of(self.dates, edge)

    def encode_into(self, numbers: npt.NDArray[Any], out: npt.NDArray[np.uint16], start: int, stop: int) -> None:
        """Writes the codes of rows ``start .. stop - 1``; threads may take a range each."""
        if numbers.dtype == np.float64 and numbers.flags.c_contiguous:
            self._encode(numbers[start:stop], out[start:stop])
            return
        buffer = np.empty(min(BLOCK, stop - start), np.float64)
        for at in range(start, stop, BLOCK):
            end = min(at + BLOCK, stop)
            block = buffer[: end - at]
            with np.errstate(over="ignore", invalid="ignore"):  # a long double may be beyond all doubles
                np.copyto(block, numbers[at:end], casting="unsafe")
            self._encode(block, out[at:end])

    def _encode(self, block: Floats, out: npt.NDArray[np.uint16]) -> None:
        if not isinstance(self.spacing, str):
            codes = np.searchsorted(self._cuts, block, side="right").astype(np.uint16)
            codes[~np.isfinite(block)] = self.missing
            out[:] = codes
            return
        block = block[:]
        block.flags.writeable = False  # one compiled version serves writable and read-only arrays
        top, missing = float(self.cells - 1), np.int32(self.missing)
        if self.spacing == "linear":
            kernels.encode_linear(block, self.lower, self._parts / (self.upper - self.lower), top, missing, out)
        else:
            base, end = (int(np.float64(bound).view(np.int64)) for bound in (self.lower, self.upper))
            kernels.encode_bits(block.view(np.int64), np.int64(base), self._parts / (end - base), top, missing, out)

    @property
    def _parts(self) -> int:
        """How many equal parts the span has."""
        return self.cells + (self.cells == MOST_BINS)

    def cells_at(self, n: int) -> Ints:
        """The cells that hold the ``n - 1`` numbers between ``n`` equal parts of the span, shape ``(n - 1,)``."""
        return np.arange(1, n, dtype=np.int64) * self._parts // n

    @cached_property
    def _cuts(self) -> Floats:
        return np.asarray(self.spacing, np.float64)

    def edge(self, code: int) -> float:
        """The smallest number of cell ``code`` (of cell 0: ``lower``).

        For ``code > 0``, a finite ``x`` has ``encode(x) >= code`` exactly when ``x >= edge(code)``.
        """
        return float(self.edges(np.array([code]))[0])

    def edges(self, codes: npt.ArrayLike | None = None) -> Floats:
        """:meth:`edge` for many codes at once, by default for all cells; shape ``(len(codes),)``."""
        cells = np.arange(self.cells) if codes is None else np.asarray(codes, np.int64)
        if cells.size and (cells.min() < 0 or cells.max() >= self.cells):
            raise ValueError(f"cells are numbered 0 to {self.cells - 1}")
        if not isinstance(self.spacing, str):
            return np.concatenate(([self.lower], self._cuts))[cells]
        low, high = np.full(cells.shape, key_of(self.lower)), np.full(cells.shape, key_of(self.upper))
        codes_there = np.empty(cells.shape, np.uint16)
        while np.any(low < high):  # bisection over the floats themselves, with the encoder as the judge
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            self.encode_into(floats_of(middle), codes_there, 0, len(middle))
            reached = codes_there >= cells
            low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
        return floats_of(low)

    def to_dict(self) -> dict[str, Any]:
        spacing = self.spacing if isinstance(self.spacing, str) else [short_number(cut) for cut in self.spacing]
        return {
            "kind": "numeric_grid",
            "lower": short_number(self.lower),
            "upper": short_number(self.upper),
            "cells": self.cells,
            "spacing": spacing,
            **({"dates": self.dates} if self.dates else {}),
            **({} if self.format == PLAIN_CELLS else {"format": self.format.to_dict()}),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> NumericGrid:
        spacing = data["spacing"]
        cuts = spacing if isinstance(spacing, str) else tuple(spacing)
        cell_format = CellFormat.from_dict(data.get("format", {}))
        return NumericGrid(data["lower"], data["upper"], data["cells"], cuts, data.get("dates", ""), cell_format)
