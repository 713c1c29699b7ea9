"""Passes over rows that have a vector of scores, or a numeric target.

Integers throughout, and row numbers unsigned, as in ``kernels``.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from tacit.engines.kernels import ceil_root
from tacit.queries.rules import LEVEL_SHIFT, LEVELS, MARGIN_BITS, WEIGHT_UNIT
from tacit.queries.score_rules import EXP_BITS, FACTOR_BITS, LARGEST_TARGET, MEAN_BITS, SHARE_BITS, TARGET_BITS

TOP = LEVELS - 1
UNIT = WEIGHT_UNIT
UNIT_BITS = WEIGHT_UNIT.bit_length() - 1
INVERSE_BITS = 61


@nb.njit(nogil=True, cache=True)
def update_scores(codes, steps, scores, start, stop):  # type: ignore[no-untyped-def]
    """Adds a released update, ``steps[code]``, to the scores, shape ``(rows, n_scores)``."""
    for i in range(nb.uintp(start), nb.uintp(stop)):
        code = codes[i]
        for k in range(scores.shape[1]):
            scores[i, k] += steps[code, k]


@nb.njit(nogil=True, cache=True)
def softmax_sum(codes, labels, classes, factors, bits, scores, exps, curvature, norm, cells, start, stop):  # type: ignore[no-untyped-def]
    """Adds what :class:`~tacit.queries.score_rules.SoftmaxRule` says to each row's code; ``cells`` is flat.

    A label stands for a class, and weighs ``factors[label] >> bits``.

    Quotients are products with a reciprocal that was rounded down, so they are never too large: truncation as the rule
    demands.
    """
    n = scores.shape[1]
    channels = n + (1 if curvature > 0 else 0)
    q = np.empty(n, np.int64)
    for i in range(nb.uintp(start), nb.uintp(stop)):
        top = scores[i, 0]
        for k in range(1, n):
            top = max(top, scores[i, k])
        total = nb.int64(0)
        for k in range(n):
            q[k] = exps[min((top - scores[i, k]) >> LEVEL_SHIFT, TOP)]
            total += q[k]
        inverse = (nb.int64(1) << INVERSE_BITS) // total
        square, least, whole = nb.int64(0), nb.int64(UNIT), nb.int64(0)
        for k in range(n):
            q[k] = (q[k] * inverse) >> (INVERSE_BITS - UNIT_BITS)
            square += q[k] * q[k]
            whole += q[k]
            least = min(least, q[k])
        trace = (curvature * max(UNIT - (square >> UNIT_BITS), 0)) >> 8
        if norm == 2:
            longest = ceil_root(UNIT * UNIT - 2 * UNIT * least + square + trace * trace)
        else:
            longest = UNIT - 2 * least + whole + trace
        scale = (nb.int64(UNIT) << EXP_BITS) // longest
        cell, label, factor = nb.int64(codes[i]) * channels, classes[labels[i]], factors[labels[i]]
        for k in range(n):
            if k == label:
                cells[cell + k] += ((((UNIT - q[k]) * scale) >> EXP_BITS) * factor) >> bits
            else:
                cells[cell + k] -= (((q[k] * scale) >> EXP_BITS) * factor) >> bits
        if curvature > 0:
            cells[cell + n] += (((trace * scale) >> EXP_BITS) * factor) >> bits


@nb.njit(nogil=True, cache=True)
def looked_up_sum(codes, labels, classes, factors, bits, scores, table, cells, start, stop):  # type: ignore[no-untyped-def]
    """Adds what :class:`~tacit.queries.score_rules.LevelRule` says to each row's code; ``cells`` is flat.

    A label stands for a class, and weighs ``factors[label] >> bits``.
    """
    channels = table.shape[2]
    for i in range(nb.uintp(start), nb.uintp(stop)):
        level = min(max((nb.int64(scores[i, 0]) >> LEVEL_SHIFT) + LEVELS // 2, 0), TOP)
        cell, factor = nb.int64(codes[i]) * channels, factors[labels[i]]
        for k in range(channels):
            value = nb.int64(table[classes[labels[i]], level, k])
            if value < 0:
                cells[cell + k] -= (-value * factor) >> bits
            else:
                cells[cell + k] += (value * factor) >> bits


@nb.njit(nogil=True, cache=True)
def contribution(residual, factor, bits, low, high, weighted_first):  # type: ignore[no-untyped-def]
    """What a residual adds, and whether it is inside the clip; ``factor >> bits`` is the row's weight."""
    if weighted_first:
        value = -((-residual * factor) >> bits) if residual < 0 else (residual * factor) >> bits
        return min(max(value, low), high), low < value < high
    inside = low < residual < high
    if residual < 0:
        return -((-max(residual, low) * factor) >> bits), inside
    return (min(residual, high) * factor) >> bits, inside


FINER = MEAN_BITS - MARGIN_BITS
LEVEL_MASK = (1 << LEVEL_SHIFT) - 1


@nb.njit(nogil=True, cache=True)
def residual_of(target, score, offset, numerator, link):  # type: ignore[no-untyped-def]
    """The residual of a row, and the level of its score under a log link, else 0.

    ``t - F``; under a link, of which ``link`` holds the tables, ``(t - mu) exp((1 - p) F)``: see
    :class:`~tacit.queries.score_rules.LogLink`. Within a level the mean is followed to first order, which is off by 3
    in 100,000 at most.
    """
    scaled = ((nb.int64(target) - offset) * numerator) >> TARGET_BITS
    if link is None:
        return scaled - score, nb.int64(0)
    means, factors, _ = link
    level, within = (nb.int64(score) >> LEVEL_SHIFT) + LEVELS // 2, nb.int64(score) & LEVEL_MASK
    if level < 0:
        level, within = nb.int64(0), nb.int64(0)
    elif level > TOP:
        level, within = nb.int64(TOP), nb.int64(0)
    mean = means[level] + ((means[level] * within) >> MARGIN_BITS)
    units = min(max(scaled, 0), LARGEST_TARGET)
    return (((units << FINER) - mean) * factors[level]) >> (FACTOR_BITS + FINER), level


@nb.njit(nogil=True, cache=True)
def residual_sum(codes, labels, factors, bits, targets, scores, rule, link, cells, start, stop):  # type: ignore[no-untyped-def]
    """Adds what :class:`~tacit.queries.score_rules.ResidualRule` says to each row's code; ``cells`` is flat.

    ``rule`` holds its numbers: offset and numerator of the scale, shift, low, high, curvature, and whether residuals
    are weighted before they are clipped.
    """
    offset, numerator, shift, low, high, curvature, weighted_first = rule
    channels = 2 if curvature > 0 else 1
    for i in range(nb.uintp(start), nb.uintp(stop)):
        residual, level = residual_of(targets[i], scores[i, 0], offset, numerator, link)
        cell, factor = nb.int64(codes[i]) * channels, factors[labels[i]]
        value, inside = contribution(residual + shift, factor, bits, low, high, weighted_first)
        cells[cell] += value
        if curvature > 0 and inside:
            share = nb.int64(curvature)
            if link is not None:
                share = (share * link[2][level]) >> SHARE_BITS
            cells[cell + 1] += (share * factor) >> bits


@nb.njit(nogil=True, cache=True)
def level_count(residual, factor, bits, weighted_first):  # type: ignore[no-untyped-def]
    """The residual whose interval is meant, and what its row counts there: its weight, or 1 if that is in the residual.

    A row of weight 0 counts nothing.
    """
    if not weighted_first:
        return residual, factor
    weighted = -((-residual * factor) >> bits) if residual < 0 else (residual * factor) >> bits
    return weighted, nb.int64(factor > 0) << bits


@nb.njit(nogil=True, cache=True)
def residual_levels(  # type: ignore[no-untyped-def]
    labels, factors, bits, weighted_first, targets, scores, scale, link, edges, cells, start, stop
):
    """Adds what :func:`level_count` says to the interval each row's residual lies in."""
    offset, numerator = scale
    for i in range(nb.uintp(start), nb.uintp(stop)):
        residual, _ = residual_of(targets[i], scores[i, 0], offset, numerator, link)
        residual, count = level_count(residual, factors[labels[i]], bits, weighted_first)
        cells[np.searchsorted(edges, residual, side="right")] += count
