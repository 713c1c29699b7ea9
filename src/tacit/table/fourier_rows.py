"""The rows of a memory table as vectors that follow from their codes: random Fourier features, and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.models.fourier_features import FourierFeatures
from tacit.queries.fourier import FourierSum, ScatterSum
from tacit.queries.margins import FourierUpdate
from tacit.table import fourier_kernels

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Pass = Callable[[int, int, npt.NDArray[np.int64]], Any]
Parallel = Callable[[Pass, int], npt.NDArray[np.int64]]

BLOCK = 1 << 12
"""Rows whose scores are gathered at a time."""


class FourierRows:
    """Vectors of all rows, kept for as long as their map lives: a byte per row and feature.

    Args:
        columns: the table's live list of columns (``coarsen`` replaces its entries).
        n_codes: how many codes each has now; public.
        labels: label codes.
        in_parallel: the engine's runner of passes over row ranges.
    """

    def __init__(
        self, columns: list[Codes], n_codes: Callable[[], tuple[int, ...]], labels: Codes, in_parallel: Parallel
    ) -> None:
        self._columns, self._n_codes, self._labels, self._in_parallel = columns, n_codes, labels, in_parallel
        self._kept: WeakKeyDictionary[FourierFeatures, npt.NDArray[np.int8]] = WeakKeyDictionary()

    def sums(self, query: FourierSum, margins: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """The answer to a query, under the margins of its log."""
        vectors, labels, rule = self._of(query.features), self._labels, query.rule.table.reshape(-1)
        return self._in_parallel(
            lambda start, stop, sums: fourier_kernels.sum_features(vectors, labels, rule, margins, sums, start, stop),
            query.features.size,
        )

    def scatter(self, query: ScatterSum) -> npt.NDArray[np.int64]:
        """The answer to a query."""
        codes = [self._codes(column, len(table)) for column, table in zip(query.columns, query.scores, strict=True)]
        labels, rule, width = self._labels, query.rule.table.reshape(-1), len(codes)

        def run(start: int, stop: int, sums: npt.NDArray[np.int64]) -> None:
            rows = np.empty((BLOCK, width), np.int64)
            for low in range(start, stop, BLOCK):
                high = min(low + BLOCK, stop)
                for place, (column, table) in enumerate(zip(codes, query.scores, strict=True)):
                    fourier_kernels.gather_scores(column, table, place, rows, low, high)
                fourier_kernels.sum_scatter(rows, labels, rule, query.longest, sums, low, high)

        return self._in_parallel(run, query.shape[0])

    def update(self, entry: FourierUpdate, margins: npt.NDArray[np.int32]) -> None:
        """Applies an entry of a log to margins."""
        vectors = self._of(entry.features)
        self._in_parallel(
            lambda start, stop, _: fourier_kernels.update_margins(
                vectors, entry.weights, entry.shift, margins, start, stop
            ),
            0,
        )

    def _of(self, features: FourierFeatures) -> npt.NDArray[np.int8]:
        kept = self._kept.get(features)
        if kept is None:
            codes = [self._codes(column, len(z)) for column, z in zip(features.columns, features.scores, strict=True)]
            kept = vectors = np.empty((len(self._labels), features.size), np.int8)
            self._in_parallel(lambda start, stop, _: features.find(codes, vectors, start, stop), 0)
            self._kept[features] = kept
        return kept

    def _codes(self, column: int, known: int) -> npt.NDArray[np.uint8]:
        codes = self._columns[column]
        if codes.dtype != np.uint8:
            raise TypeError("features look at columns of at most 256 codes; coarsen the others first")
        if known < self._n_codes()[column]:
            raise ValueError(f"column {column} has {self._n_codes()[column]} codes, and {known} of them have a score")
        return codes  # type: ignore[return-value]
