"""The loops of random Fourier features: see :mod:`tacit.models.fourier_features`."""

from __future__ import annotations

import numba as nb


@nb.njit(nogil=True, cache=True)
def add_phases(codes, table, phases, start, stop):  # type: ignore[no-untyped-def]
    """Adds the line ``table[code]`` to the phases of rows ``start .. stop - 1``, written from position 0."""
    own = codes[start:stop]
    for i in range(len(own)):
        line = table[own[i]]
        for k in range(len(line)):
            phases[i, k] += line[k]


@nb.njit(nogil=True, cache=True)
def look_up(phases, shift, cosines, sines, vectors, start, stop):  # type: ignore[no-untyped-def]
    """Cosines, then sines, of the phases of rows ``start .. stop - 1``, whose phases begin at position 0."""
    pairs = phases.shape[1]
    for i in range(stop - start):
        for k in range(pairs):
            angle = phases[i, k] >> shift
            vectors[start + i, k] = cosines[angle]
            vectors[start + i, pairs + k] = sines[angle]


@nb.njit(nogil=True, cache=True)
def weigh(vectors, weights, scores, start):  # type: ignore[no-untyped-def]
    """``scores[start + i] = weights . vectors[i]``, added up in order: a row's last bits depend on that row alone."""
    for i in range(len(vectors)):
        total = 0.0
        for k in range(len(weights)):
            total += weights[k] * vectors[i, k]
        scores[start + i] = total
