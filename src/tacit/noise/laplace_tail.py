"""Exact coins with the tail probabilities of the discrete Laplace distribution.

Above-threshold asks only whether fresh noise reaches a gap. A coin of that probability answers in the same law as
drawing the noise would, at a fiftieth of the cost: one 64-bit word against a bound on the probability, refined with
further words in the rare case (one in 2**62) that a word does not decide.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import Ratio, exp_bounds

WORD = 64

Words = Callable[[int], npt.NDArray[np.uint64]]
"""``words(n)``: ``n`` uniform 64-bit words."""


def tail_bounds(gap: int, scale: float, bits: int) -> tuple[int, int]:
    """Integers ``low <= 2**bits P(X >= gap) <= high`` for the discrete Laplace variable ``X``.

    ``P(X >= gap) = q**gap / (1 + q)`` for ``gap >= 1``, and ``1 - q**(1 - gap) / (1 + q)`` for ``gap <= 0``, with ``q =
    exp(-1 / scale)`` and the scale taken as the exact rational number the float stands for.
    """
    numerator, denominator = scale.as_integer_ratio()
    steps = gap if gap >= 1 else 1 - gap
    low, high, shift = exp_bounds(Ratio(steps * denominator, numerator), bits + 32)
    q_low, q_high, q_shift = exp_bounds(Ratio(denominator, numerator), bits + 32)
    one = 1 << q_shift
    least = (low << (bits + q_shift)) // ((one + q_high) << shift)
    most = -((-high << (bits + q_shift)) // ((one + q_low) << shift))
    return (least, most) if gap >= 1 else ((1 << bits) - most, (1 << bits) - least)


class TailCoins:
    """Coins that are true with probability exactly ``P(X >= gap)``; keeps the bounds of the gaps it has seen."""

    def __init__(self, scale: float, words: Words) -> None:
        self._scale = scale
        self._words = words
        self._known: dict[int, tuple[int, int]] = {}

    def bounds(self, gap: int) -> tuple[int, int]:
        """A word below the first number says yes, one from the second number on says no."""
        found = self._known.get(gap)
        if found is None:
            found = self._known[gap] = tail_bounds(gap, self._scale, WORD)
        return found

    def toss(self, gap: int, word: int) -> bool:
        """The coin for one gap, from a word that was used for nothing else."""
        yes, no = self.bounds(gap)
        bits = WORD
        while yes <= word < no:
            bits += WORD
            word = (word << WORD) | int(self._words(1)[0])
            yes, no = tail_bounds(gap, self._scale, bits)
        return word < yes

    def first(self, gaps: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> int | None:
        """The index of the first coin that is true, one coin per gap and word; None if there is none."""
        distinct, which = np.unique(gaps, return_inverse=True)
        bounds = [self.bounds(gap) for gap in distinct.tolist()]
        yes = np.array([low for low, _ in bounds], np.uint64)[which]
        last = np.array([high - 1 for _, high in bounds], np.uint64)[which]  # the high bound itself may be 2**64
        for index in np.flatnonzero(words <= last):
            if words[index] < yes[index] or self.toss(int(gaps[index]), int(words[index])):
                return int(index)
        return None
