"""The passes over the rows. Everything is integer: the result does not depend on order, blocks or threads.

Each kernel works on rows ``start .. stop - 1`` and releases the interpreter lock, so a thread pool runs several at
once. Sums are by code; codes are folded into cells afterwards, which spares a look-up per row. Row numbers are
unsigned: numba tests signed ones for counting from the end, which nearly doubles the time of a pass.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from tacit.queries.rules import LEVEL_SHIFT, LEVELS

HALF = LEVELS // 2
TOP = LEVELS - 1


@nb.njit(nogil=True, cache=True)
def map_codes(codes, mapping, out, start, stop):  # type: ignore[no-untyped-def]
    """``out = mapping[codes]``."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        out[i] = mapping[codes[i]]


@nb.njit(nogil=True, cache=True)
def add_mapped_codes(codes, offsets, out, start, stop):  # type: ignore[no-untyped-def]
    """``out += offsets[codes]``: one factor of a product of columns, or a released update of the margins."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        out[i] += offsets[codes[i]]


@nb.njit(nogil=True, cache=True)
def map_two(first, first_offsets, second, second_offsets, out, start, stop):  # type: ignore[no-untyped-def]
    """``out = first_offsets[first] + second_offsets[second]``: a product of two columns."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        out[i] = first_offsets[first[i]] + second_offsets[second[i]]


@nb.njit(nogil=True, cache=True)
def count(codes, labels, rule, channels, cells, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``rule[label]`` to each row's code; margins play no part. ``rule`` is flat: label, then channel."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        cell = nb.uintp(codes[i] * channels)
        entry = nb.uintp(labels[i] * channels)
        for c in range(channels):
            cells[cell + c] += rule[entry + c]


@nb.njit(nogil=True, cache=True)
def update_and_sum(old_codes, steps, codes, labels, rule, margins, cells, start, stop):  # type: ignore[no-untyped-def]
    """One boosting step in one pass: apply the last released update, look up each row's weight, scatter it.

    ``steps[code]`` is the update by old code; ``rule`` is flat, ``label * LEVELS + level``, one channel. The log
    bounds what margins can reach (``queries.margins``), so 32 bits do not overflow.
    """
    for i in range(nb.uintp(start), nb.uintp(stop)):
        margin = margins[i] + steps[old_codes[i]]
        margins[i] = margin
        level = max(min((margin >> LEVEL_SHIFT) + HALF, TOP), 0)
        cells[codes[i]] += rule[nb.uintp(labels[i] * LEVELS + level)]


@nb.njit(nogil=True, cache=True)
def update_and_sum_two(old_codes, steps, codes, labels, rule, margins, cells, start, stop):  # type: ignore[no-untyped-def]
    """:func:`update_and_sum` with two channels: ``rule`` is flat, ``(label * LEVELS + level) * 2 + channel``."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        margin = margins[i] + steps[old_codes[i]]
        margins[i] = margin
        level = max(min((margin >> LEVEL_SHIFT) + HALF, TOP), 0)
        entry = nb.uintp((labels[i] * LEVELS + level) * 2)
        cell = nb.uintp(codes[i] * 2)
        cells[cell] += rule[entry]
        cells[cell + 1] += rule[entry + 1]


@nb.njit(nogil=True, cache=True)
def weighted_sum(codes, labels, rule, channels, margins, cells, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``rule[label, level]`` (``channels`` of them) to each row's code."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        level = max(min((margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
        entry = nb.uintp((labels[i] * LEVELS + level) * channels)
        cell = nb.uintp(codes[i] * channels)
        for c in range(channels):
            cells[cell + c] += rule[entry + c]


@nb.njit(nogil=True, cache=True)
def add_costs(codes, costs, lengths, start, stop):  # type: ignore[no-untyped-def]
    """Adds ``costs[codes]`` of rows ``start .. stop - 1`` to ``lengths``, written from position 0."""
    own = codes[start:stop]
    for i in range(len(own)):
        lengths[i] += costs[own[i]]


@nb.njit(nogil=True, cache=True)
def fold(by_code, lookup, by_cell):  # type: ignore[no-untyped-def]
    """``by_cell[lookup] += by_code``, line by line: codes that fall into one cell add up.

    Neighbouring codes mostly share a cell, so their sum is kept in a register.
    """
    for channel in range(by_code.shape[1]):
        cell, total = lookup[0], np.int64(0)
        for code in range(nb.uintp(len(lookup))):
            if lookup[code] != cell:
                by_cell[cell, channel] += total
                cell, total = lookup[code], np.int64(0)
            total += by_code[code, channel]
        by_cell[cell, channel] += total


@nb.njit(nogil=True, cache=True)
def ceil_root(square):  # type: ignore[no-untyped-def]
    """The least integer whose square is at least ``square``."""
    root = np.int64(math.sqrt(square))
    while root * root < square:
        root += 1
    while root > 0 and (root - 1) * (root - 1) >= square:
        root -= 1
    return root
