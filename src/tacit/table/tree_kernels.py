"""Passes over rows for splitting trees: class weights by leaf, column and code. Integers throughout."""

from __future__ import annotations

import numba as nb

from tacit.queries.rules import LEVEL_SHIFT, LEVELS

HALF = LEVELS // 2
TOP = LEVELS - 1


@nb.njit(nogil=True, cache=True)
def place_rows(leaves, labels, classes, margins, rule, levels, stride, places, weights, start, stop):  # type: ignore[no-untyped-def]
    """Per row of a block: the first cell of its leaf and class, and its weight ``rule[label, level]``.

    ``rule`` is flat; ``levels`` is 1 where the margin plays no part; ``classes`` holds the class of every label.
    Written from position 0.
    """
    own_leaves, own_labels, own_margins = leaves[start:stop], labels[start:stop], margins[start:stop]
    for i in range(len(own_leaves)):
        level = 0
        if levels > 1:
            level = max(min((own_margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
        places[i] = 2 * stride * own_leaves[i] + classes[own_labels[i]]
        weights[i] = rule[nb.uintp(own_labels[i] * levels + level)]


@nb.njit(nogil=True, cache=True)
def add_column(codes, offset, places, weights, sums, start, stop):  # type: ignore[no-untyped-def]
    """Adds the block's weights to the cells of one column, whose codes begin at ``offset``."""
    own = codes[start:stop]
    for i in range(len(own)):
        sums[nb.uintp(places[i] + 2 * (offset + own[i]))] += weights[i]


@nb.njit(nogil=True, cache=True)
def place_left_rows(leaves, labels, classes, margins, rule, levels, stride, rows, places, weights, start, stop):  # type: ignore[no-untyped-def]
    """As :func:`place_rows` for the rows of left children alone (even leaves), by parent; returns how many there are.

    ``rows`` receives their numbers.
    """
    count = 0
    for i in range(nb.uintp(start), nb.uintp(stop)):
        leaf = leaves[i]
        level = 0
        if levels > 1:
            level = max(min((margins[i] >> LEVEL_SHIFT) + HALF, TOP), 0)
        rows[count] = i
        places[count] = stride * leaf + classes[labels[i]]  # 2 * stride cells for every parent, leaf // 2
        weights[count] = rule[nb.uintp(labels[i] * levels + level)]
        count += 1 - (leaf & 1)  # the next row takes the place of a right one: no branch to mispredict
    return count


@nb.njit(nogil=True, cache=True)
def add_rows(codes, offset, rows, places, weights, sums, count):  # type: ignore[no-untyped-def]
    """Adds the weights of chosen rows to the cells of one column."""
    for k in range(count):
        sums[nb.uintp(places[k] + 2 * (offset + codes[rows[k]]))] += weights[k]
