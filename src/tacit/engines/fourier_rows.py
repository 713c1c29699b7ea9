"""The rows of a memory table as vectors that follow from their codes: random Fourier features, and scores."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numba as nb
import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Ints
from tacit.engines.kernels import ceil_root
from tacit.engines.rows import RowRange, Rows
from tacit.models.fourier_features import FourierFeatures
from tacit.queries.fourier import OFF_DIAGONAL, ON_DIAGONAL, ScatterSum, ScoreFourierSum
from tacit.queries.margins import FourierUpdate

BLOCK = 1 << 12
"""Rows whose scores are gathered at a time."""


class FourierRows:
    """Vectors of all rows, kept for as long as their map lives: a byte per row and feature."""

    def __init__(self, rows: Rows) -> None:
        self._rows, self._labels = rows, rows.labels
        self._kept: WeakKeyDictionary[FourierFeatures, npt.NDArray[np.int8]] = WeakKeyDictionary()

    def score_sums(self, query: ScoreFourierSum, contribute: RowRange) -> Ints:
        """The answer to a query about rows with several scores.

        ``contribute`` adds what rows ``start .. stop - 1`` contribute to lines of a block, row ``i`` to line ``i``
        modulo :data:`BLOCK`; lines are joined.
        """
        vectors, channels = self._of(query.features), query.rule.channels

        def run(start: int, stop: int, sums: Ints) -> None:
            contributed = np.zeros((BLOCK, channels), np.int64)
            for low in range(start, stop, BLOCK):
                high = min(low + BLOCK, stop)
                contributed[:] = 0
                contribute(low, high, contributed.reshape(-1))
                sum_products(vectors, contributed, sums, low, high)

        return self._rows.run(run, query.features.size * channels).reshape(query.shape)

    def scatter(self, query: ScatterSum) -> Ints:
        """The answer to a query."""
        codes = [self._codes(column, len(table)) for column, table in zip(query.columns, query.scores, strict=True)]
        labels, rule, width = self._labels, query.rule.table.reshape(-1), len(codes)

        def run(start: int, stop: int, sums: Ints) -> None:
            rows = np.empty((BLOCK, width), np.int64)
            for low in range(start, stop, BLOCK):
                high = min(low + BLOCK, stop)
                for place, (column, table) in enumerate(zip(codes, query.scores, strict=True)):
                    gather_scores(column, table, place, rows, low, high)
                sum_scatter(rows, labels, rule, query.longest, sums, low, high)

        return self._rows.run(run, query.shape[0])

    def update_scores(self, entry: FourierUpdate, scores: npt.NDArray[np.int32]) -> None:
        """Applies an entry of a log to scores, shape ``(rows, n_scores)``."""
        for score, weights in enumerate(entry.weights):
            self._update(entry, weights, scores[:, score])

    def _update(self, entry: FourierUpdate, weights: npt.NDArray[np.int32], scores: npt.NDArray[np.int32]) -> None:
        vectors = self._of(entry.features)
        self._rows.run(lambda start, stop, _: update_scores(vectors, weights, entry.shift, scores, start, stop))

    def _of(self, features: FourierFeatures) -> npt.NDArray[np.int8]:
        kept = self._kept.get(features)
        if kept is None:
            codes = [self._codes(column, len(z)) for column, z in zip(features.columns, features.scores, strict=True)]
            kept = vectors = self._rows.workspace.zeros((len(self._labels), features.size), np.int8)
            self._rows.run(lambda start, stop, _: features.find(codes, vectors, start, stop))
            self._kept[features] = kept
        return kept

    def _codes(self, column: int, known: int) -> Bytes:
        codes, held = self._rows.columns[column], self._rows.layout.n_codes[column]
        if codes.dtype != np.uint8:
            raise TypeError("features look at columns of at most 256 codes; coarsen the others first")
        if known < held:
            raise ValueError(f"column {column} has {held} codes, and {known} of them have a score")
        return codes  # type: ignore[return-value]


def fourier_of(rows: Rows) -> FourierRows:
    """Those of a block."""
    return rows.kept(FourierRows, FourierRows)


@nb.njit(nogil=True, cache=True)
def sum_products(vectors, contributed, sums, start, stop):  # type: ignore[no-untyped-def]
    """``sums[k, c] += vector[k] * contributed[row modulo its length, c]``; ``sums`` is flat.

    In doubles, which are exact here: products are below 2**30 and a block has 2**12 of them.
    """
    size, channels = vectors.shape[1], contributed.shape[1]
    added = np.zeros((channels, size))
    for i in range(start, stop):
        line = vectors[i]
        for c in range(channels):
            weight, total = np.float64(contributed[i % len(contributed), c]), added[c]
            for k in range(size):
                total[k] += weight * line[k]
    for c in range(channels):
        for k in range(size):
            sums[k * channels + c] += np.int64(added[c, k])


@nb.njit(nogil=True, cache=True)
def update_scores(vectors, weights, shift, scores, start, stop):  # type: ignore[no-untyped-def]
    """``scores += (weights . vector) >> shift``; the log has made sure that the product fits an int32."""
    for i in range(start, stop):
        line = vectors[i]
        total = np.int32(0)
        for k in range(len(weights)):
            total += weights[k] * np.int32(line[k])
        scores[i] += total >> shift


@nb.njit(nogil=True, cache=True)
def gather_scores(codes, table, column, rows, start, stop):  # type: ignore[no-untyped-def]
    """``rows[i, column] = table[code]`` for rows ``start .. stop - 1``, written from position 0."""
    for i in range(start, stop):
        rows[i - start, column] = table[codes[i]]


@nb.njit(nogil=True, cache=True)
def sum_scatter(rows, labels, rule, longest, sums, start, stop):  # type: ignore[no-untyped-def]
    """Products of the scores of rows ``start .. stop - 1``, which ``rows`` holds from position 0.

    A row that is longer than ``longest`` is shortened first, each score toward zero.
    """
    count = rows.shape[1]
    for i in range(stop - start):
        line = rows[i]
        square = np.int64(0)
        for j in range(count):
            square += line[j] * line[j]
        if square > longest * longest:
            root = ceil_root(square)
            for j in range(count):
                shorter = abs(line[j]) * longest // root
                line[j] = shorter if line[j] > 0 else -shorter
        weight = np.int64(rule[labels[start + i]])
        place = 0
        for a in range(count):
            sums[place] += ON_DIAGONAL * weight * line[a] * line[a]
            place += 1
            for b in range(a + 1, count):
                sums[place] += OFF_DIAGONAL * weight * line[a] * line[b]
                place += 1
