"""What a period of a stream begins with: weights released before it, mixed with fresh ones (docs/theory/winnow.md)."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints

MIXED_UNITS = 1 << 20
"""Integer units of weight 1 where released weights are mixed with fresh ones."""


def mixture(released: Ints, signed: bool, carried: float) -> Floats:
    """Weights of sum 1, a share ``carried`` of them released and the rest uniform; uniform if none were released.

    Released ones are in whole units, of any sum, shape ``(n,)``; if signed, those of negations come last, ``(2 n,)``.
    """
    parts = np.concatenate([np.maximum(released, 0), np.maximum(-released, 0)]) if signed else released
    total = int(parts.sum())
    share = carried if total else 0.0
    return (1.0 - share) / len(parts) + share * parts / max(total, 1)


def scores_of(weights: Floats, rate: float) -> Ints:
    """The whole scores, at most 0, whose weights at this learning rate are about these: each within ``exp(rate)``."""
    scores: Ints = np.rint(np.log(weights / weights.max()) / rate).astype(np.int64)
    return scores


def first_weights(released: Ints, signed: bool, carried: float) -> Ints:
    """The weights in use until the first draw: the mixture; signed ones say the same without its fresh share."""
    if signed:
        return released.copy()
    return np.rint(MIXED_UNITS * mixture(released, signed, carried)).astype(np.int64)
