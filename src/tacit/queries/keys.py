"""Counts of keys nobody declared: a histogram over whatever values occur, of which only large counts may be seen.

The set of values that occur is private: whether a key is there at all can give a person away. So a key comes out only
if its noisy count reaches a threshold that the rows of one unit alone hardly ever reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity, of_one_cell

KEY_UNIT = 64  # integer units of one row: noise is drawn finer than rows, so that its integer form costs nothing

THEOREM = "counts of keys above a threshold (stability-based histogram): one row, one key"


def gaussian_tail(scale: float, least: int) -> float:
    """An upper bound on ``P(X >= least)`` for the discrete Gaussian (Canonne, Kamath, Steinke 2020, Proposition 25)."""
    if least < 1:
        return 1.0
    return 0.5 * math.erfc((least - 1) / (scale * math.sqrt(2.0))) * (1 + 1e-12)


def laplace_tail(scale: float, least: int) -> float:
    """An upper bound on ``P(X >= least)`` for the discrete Laplace: ``q**least / (1 + q)``, ``q = exp(-1 / scale)``."""
    if least < 1:
        return 1.0
    return math.exp(-least / scale) / (1 + math.exp(-1 / scale)) * (1 + 1e-12)


@dataclass(frozen=True)
class KeyCounts:
    """A query for the number of rows per key, over the keys that occur; in units of ``1 / KEY_UNIT`` row.

    Guarantee. Let ``D'`` have the rows of one unit more than ``D``, at most ``m`` of them. Call a key *own* if only
    that unit holds it. The release is made of two independent parts: the noisy counts of the other keys, which are
    those of an additive mechanism over a fixed set of keys with the sensitivity below; and the own keys, of which
    nothing is seen but with probability ``leak``. The second part shows nothing on ``D`` and, with probability at least
    ``1 - leak``, nothing on ``D'``: it is ``(0, leak)``-DP both ways. So the whole is the composition of the additive
    noise and of ``ApproxDP(0, leak)``. Replacing a unit by another makes own keys on both sides: the two second parts
    agree with probability at least ``1 - leak``, and the claim is the same.

    Several columns are several releases and compose. A unit of ``m`` rows may hold one key ``m`` times, ``m`` keys once
    or anything between: with ``c_i`` rows under its ``i``-th own key, ``leak <= sum_i tail(T - c_i)``, and since
    ``sum_i c_i <= m`` this is at most ``m max_k tail(T - k) / k``.

    Sources: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016 (stability-based histograms).
    """

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the counts of keys that both tables have, in integer units."""
        return of_one_cell(KEY_UNIT, THEOREM, neighbouring)

    @staticmethod
    def leak(threshold: int, tail: Callable[[int], float], rows_per_unit: int) -> float:
        """A bound on the probability that any key of one unit alone is seen."""
        each = max(tail(threshold - KEY_UNIT * rows) / rows for rows in range(1, rows_per_unit + 1))
        return rows_per_unit * each

    @staticmethod
    def threshold(delta: float, tail: Callable[[int], float], rows_per_unit: int) -> int:
        """The least threshold, in integer units, at which :meth:`leak` is at most ``delta``.

        Raises:
            ValueError: unless ``0 < delta < 1``: at 0 no threshold would do.
        """
        if not 0 < delta < 1:
            raise ValueError(
                f"unknown keys cannot be released at delta={delta}: declare them, or allow a positive delta"
            )
        high = KEY_UNIT * rows_per_unit + 1
        while KeyCounts.leak(high, tail, rows_per_unit) > delta:
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if KeyCounts.leak(middle, tail, rows_per_unit) <= delta:
                high = middle
            else:
                low = middle
        return high
