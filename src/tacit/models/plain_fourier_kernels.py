"""The loops of :mod:`tacit.models.fourier_kernels` in numpy, for machines without a compiler: slower, the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats


def add_phases(
    codes: Bytes, table: npt.NDArray[np.uint16], phases: npt.NDArray[np.uint16], start: int, stop: int
) -> None:
    """Adds the line ``table[code]`` to the phases of rows ``start .. stop - 1``, written from position 0."""
    phases += table[codes[start:stop]]


def look_up(
    phases: npt.NDArray[np.uint16], shift: int, cosines: Any, sines: Any, vectors: Any, start: int, stop: int
) -> None:
    """Cosines, then sines, of the phases of rows ``start .. stop - 1``, whose phases begin at position 0."""
    angles, pairs = phases >> shift, phases.shape[1]
    vectors[start:stop, :pairs] = cosines[angles]
    vectors[start:stop, pairs:] = sines[angles]


def weigh(vectors: npt.NDArray[np.int8], weights: Floats, scores: Floats, start: int) -> None:
    """``scores[start + i] = weights . vectors[i]``, added up in order."""
    total = np.zeros(len(vectors))
    for weight, column in zip(weights, vectors.T, strict=True):
        total += weight * column
    scores[start : start + len(vectors)] = total
