"""Synthetic rows with a margin, an easy kind and a hard one, made of a hash: the same on every machine."""

from __future__ import annotations

import hashlib
import math

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Floats, Ints


def made_rows(n: int, dimension: int, margin: float, seed: int) -> tuple[Floats, Ints]:
    """Rows on the unit sphere and 0/1 labels of a halfspace through the origin, all at distance ``margin`` or more.

    Distances are uniform between the margin and its double; otherwise rows are spherical. Made of a hash, so that they
    are the same everywhere; they protect nobody.
    """
    name = f"rows {n} {dimension} {seed}".encode()
    words = np.frombuffer(hashlib.shake_256(name).digest(4 * n * (dimension + 2)), "<u4")
    uniform = (words.reshape(n, dimension + 2) + 0.5) / 2.0**32
    rows = ndtri(uniform[:, :dimension])
    labels = (uniform[:, dimension] < 0.5).astype(np.int64)
    distance = margin + uniform[:, dimension + 1] * (min(1.0, 2 * margin) - margin)
    direction = ndtri((np.arange(dimension) + 0.5) / dimension) if dimension > 1 else np.ones(1)
    direction = direction / np.linalg.norm(direction)
    rows -= np.outer(rows @ direction, direction)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    rows *= np.sqrt(1 - distance**2)[:, None] if dimension > 1 else 0.0
    rows += np.outer((2 * labels - 1) * distance, direction)
    return rows, labels


def minority_rows(n: int, dimension: int, margin: float, seed: int) -> tuple[Floats, Ints]:
    """Rows of margin exactly ``margin``, of which a fifth lies beyond the centre: the hard case, 2 dimensions or more.

    ``y x = margin u + sqrt(1 - margin^2) w`` with ``-w`` for the fifth, in two fixed orthogonal directions. The average
    of ``y x`` errs on all of the fifth.
    """
    name = f"minority {n} {dimension} {seed}".encode()
    words = np.frombuffer(hashlib.shake_256(name).digest(8 * n), "<u4").reshape(n, 2)
    labels = (words[:, 0] >> 31).astype(np.int64)
    side = np.where(words[:, 1] < 0.2 * 2.0**32, -1.0, 1.0)
    even = np.arange(dimension) % 2 == 0
    u, w = even / math.sqrt(even.sum()), ~even / math.sqrt((~even).sum())
    towards = margin * u + math.sqrt(1 - margin**2) * side[:, None] * w
    return (2 * labels - 1)[:, None] * towards, labels
