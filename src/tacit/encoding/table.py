"""All columns of a table at once: the public encoding that a model carries with it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes
from tacit.display import Brief
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, mapping
from tacit.encoding.grid import BLOCK, NumericGrid
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.schema import BooleanColumn, CategoricalColumn, Column, DateColumn, NumericColumn, OrdinalColumn, Schema
from tacit.schema.columns import MOST_BINS


def fingerprint(columns: Sequence[npt.NDArray[np.integer]], key: bytes) -> str:
    """64 hexadecimal digits; equal for equal rows in any order, and of no use to anybody without the key.

    Every row becomes one 64-bit word, a sum of its integer codes, label included, by secret odd factors; the sorted
    words are authenticated (HMAC with SHA-256). Two different batches agree with a chance of about ``rows * 2**-48``.
    """
    words = np.zeros(len(columns[0]) if columns else 0, np.uint64)
    for place, codes in enumerate(columns):
        factor = hmac.digest(key, f"column {place}".encode(), "sha256")
        words += codes.astype(np.int64).view(np.uint64) * (np.frombuffer(factor[:8], np.uint64)[0] | np.uint64(1))
    return hmac.new(key, np.sort(words).tobytes(), hashlib.sha256).hexdigest()


Encoder = NumericGrid | CategoryIndex | BooleanIndex
"""How one column becomes codes."""

STRETCH = 1 << 16
"""Rows a thread takes at a time."""

_KINDS: Mapping[str, Any] = {
    "numeric_grid": NumericGrid,
    "category_index": CategoryIndex,
    "boolean_index": BooleanIndex,
}


def encoder_of(column: Column, cells: int = MOST_BINS) -> Encoder:
    """The encoder of a declared feature; ``cells`` is the size of numeric grids that the schema leaves open."""
    if isinstance(column, NumericColumn):
        return NumericGrid.of(column, cells)
    if isinstance(column, DateColumn):
        return NumericGrid.of_dates(column)
    if isinstance(column, CategoricalColumn | OrdinalColumn):
        return CategoryIndex(column.categories, column.exact)
    if isinstance(column, BooleanColumn):
        return BooleanIndex()
    raise ValueError(f"a column of kind '{column.kind}' is not a feature")


def encoder_from_dict(data: Mapping[str, Any]) -> Encoder:
    """The inverse of an encoder's ``to_dict``."""
    kind = data.get("kind")
    if kind not in _KINDS:
        raise ValueError(f"unknown encoder kind {kind!r}; known kinds: {', '.join(_KINDS)}")
    encoder: Encoder = _KINDS[str(kind)].from_dict(data)
    return encoder


@final
@dataclass(frozen=True, repr=False)
class TableEncoding(Brief):
    """Per feature, its name and encoder. Public, made from a schema; fit and predict use the same object."""

    names: tuple[str, ...]
    encoders: tuple[Encoder, ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.encoders):
            raise ValueError(f"{len(self.names)} names for {len(self.encoders)} encoders")

    @staticmethod
    def of(schema: Schema, cells: int = MOST_BINS) -> TableEncoding:
        return TableEncoding(
            schema.features, tuple(encoder_of(schema.columns[name], cells) for name in schema.features)
        )

    @property
    def n_codes(self) -> tuple[int, ...]:
        return tuple(encoder.n_codes for encoder in self.encoders)

    def encode(self, data: Any, threads: int | None = None) -> list[Codes]:
        """One vector of codes per feature, uint16 for numbers and uint8 or uint16 for the rest.

        It takes anything that :func:`~tacit.encoding.frames.columns_of` reads; extra columns do not matter.

        Raises:
            FrameError: names the column that is missing or has the wrong dtype. Values never raise.
        """
        frame = columns_of(data, self.names)
        numbers = self._numbers(frame)
        fine = {name: np.empty(frame.n_rows, np.uint16) for name in numbers}
        grids = {name: encoder for name, encoder in self._pairs() if isinstance(encoder, NumericGrid)}

        def stretch(start: int) -> None:
            stop = min(start + STRETCH, frame.n_rows)
            straight = [name for name in numbers if numbers[name].flags.c_contiguous]
            for name in straight:
                grids[name].encode_into(numbers[name], fine[name], start, stop)
            for at in range(start, stop, BLOCK):  # columns of one matrix share cache lines: take a block of all of them
                for name in numbers.keys() - set(straight):
                    grids[name].encode_into(numbers[name], fine[name], at, min(at + BLOCK, stop))

        def whole(pair: tuple[str, Encoder]) -> tuple[str, Codes]:
            name, encoder = pair
            return name, encoder.encode(frame.column(name), name)

        others = [pair for pair in self._pairs() if pair[0] not in numbers]
        with mapping(frame.n_rows * len(self.names), threads) as run:
            coded = run(whole, others)
            list(run(stretch, range(0, frame.n_rows, STRETCH) if numbers else ()))
            codes: dict[str, Codes] = {**fine, **dict(coded)}
        return [codes[name] for name in self.names]

    def check(self, data: Any) -> Frame:
        """The features of a table, after checking all public facts that :meth:`encode` would raise on. Reads no row."""
        frame = columns_of(data, self.names)
        self.encode(frame.without_rows(), threads=1)
        return frame

    def _numbers(self, frame: Frame) -> dict[str, npt.NDArray[Any]]:
        return {
            name: encoder.numbers(frame, name) for name, encoder in self._pairs() if isinstance(encoder, NumericGrid)
        }

    def _pairs(self) -> Iterator[tuple[str, Encoder]]:
        return zip(self.names, self.encoders, strict=True)

    def to_dict(self) -> dict[str, Any]:
        return {"columns": [{"name": name, **encoder.to_dict()} for name, encoder in self._pairs()]}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> TableEncoding:
        columns = data["columns"]
        return TableEncoding(
            tuple(column["name"] for column in columns), tuple(encoder_from_dict(column) for column in columns)
        )


__all__ = ["Encoder", "FrameError", "TableEncoding", "encoder_from_dict", "encoder_of"]
