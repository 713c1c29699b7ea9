"""Passes over rows for sums of vectors that follow from codes. Integers throughout."""

from __future__ import annotations

import numba as nb
import numpy as np

from tacit.queries.fourier import OFF_DIAGONAL, ON_DIAGONAL
from tacit.queries.rules import LEVEL_SHIFT, LEVELS

HALF = LEVELS // 2
TOP = LEVELS - 1

SHORT = 256
"""Rows whose weighted features (at most ``2**15 * 127`` each) surely fit an int32 together."""


@nb.njit(nogil=True, cache=True)
def sum_features(vectors, labels, rule, margins, sums, start, stop):  # type: ignore[no-untyped-def]
    """``sums += rule[label, level] * vector``; ``rule`` is flat, ``label * LEVELS + level``."""
    size = vectors.shape[1]
    short = np.zeros(size, np.int32)
    for low in range(start, stop, SHORT):
        short[:] = 0
        for i in range(low, min(low + SHORT, stop)):
            level = max(min((margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
            weight = np.int32(rule[nb.uintp(labels[i] * LEVELS + level)])
            line = vectors[i]
            for k in range(size):
                short[k] += weight * np.int32(line[k])
        for k in range(size):
            sums[k] += short[k]


@nb.njit(nogil=True, cache=True)
def update_margins(vectors, weights, shift, margins, start, stop):  # type: ignore[no-untyped-def]
    """``margins += (weights . vector) >> shift``; the log has made sure that the product fits an int32."""
    for i in range(start, stop):
        line = vectors[i]
        total = np.int32(0)
        for k in range(len(weights)):
            total += weights[k] * np.int32(line[k])
        margins[i] += total >> shift


@nb.njit(nogil=True, cache=True)
def gather_scores(codes, table, column, rows, start, stop):  # type: ignore[no-untyped-def]
    """``rows[i, column] = table[code]`` for rows ``start .. stop - 1``, written from position 0."""
    for i in range(start, stop):
        rows[i - start, column] = table[codes[i]]


@nb.njit(nogil=True, cache=True)
def whole_root(square):  # type: ignore[no-untyped-def]
    """The least integer whose square is at least ``square``."""
    root = np.int64(np.sqrt(np.float64(square)))
    while root * root < square:
        root += 1
    while root > 0 and (root - 1) * (root - 1) >= square:
        root -= 1
    return root


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
            root = whole_root(square)
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
