"""First and second moments of dense rows, coordinate by coordinate: what a learner needs to know to scale them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Ints
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.vector_sum import norm_ball
from tacit.queries.query import Sensitivity

SQUARE_BITS = 30  # squares are kept in this many bits: with 16-bit rows they are exact, and 2**32 rows fit an int64
MULTIPLIER_BITS = 30  # of what shortens a vector of squares: its product with a square fits an int64


@dataclass(frozen=True)
class MomentSum:
    """A query for ``sum over rows of row**order``, coordinate by coordinate; integers of shape ``(n_features,)``.

    Sensitivity: a row of norm at most ``radius`` has squares that are not negative and add up to at most ``radius**2``,
    so their own norm is at most that too (one-hot rows attain both). Replacing a row moves a sum of squares by at most
    ``sqrt(2)`` times as much, because two vectors without negative entries are at most orthogonal; and the plain sum by
    at most twice as much. The order is 1 or 2.
    """

    order: Literal[1, 2]
    n_features: int
    radius: int

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"order is 1 or 2, got {self.order}")

    @property
    def square_shift(self) -> int:
        """How many bits of a square are cut off; truncation never enlarges it."""
        return max(0, 2 * (self.radius.bit_length() - 1) + 1 - SQUARE_BITS)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_features,)

    @property
    def unit(self) -> int:
        """Integer units of a row (or squared row) of norm 1."""
        return self.radius if self.order == 1 else self.radius**2 >> self.square_shift

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        replaces = neighbouring is Neighbouring.REPLACE_ONE
        if self.order == 1:
            name = "sum of rows: row norm" + ("; replace = remove + add" if replaces else "")
            return norm_ball(self.radius * (2 if replaces else 1), self.n_features, name)
        largest = self.radius**2 >> self.square_shift
        if not replaces:
            return Sensitivity(largest, largest * largest, "sum of squared rows: squared row norm")
        apart = 2 if self.n_features > 1 else 1
        return Sensitivity(
            apart * largest, apart * largest * largest, "sum of squared rows; replace: orthogonal at most"
        )


@dataclass(frozen=True)
class ShortenedSquares:
    """A query for ``sum over rows of row**2``, squares that are longer than ``longest`` shortened to it, and a length.

    The last of its ``n_features + 1`` integers is the sum of the squared lengths of the rows themselves, in units of
    which a row of norm 1 has ``longest / 2``: what all that was cut off adds up to.

    Sensitivity: the vector of a row's squares is at most ``longest`` long, and the last number at most half of that, so
    both together ``sqrt(5/4) longest``. Nothing is negative, so that replacing a row moves the former by at most
    ``sqrt(2) longest`` and the latter by no more than before: ``3/2 longest``.

    A row of norm 1 that is spread over ``d`` coordinates has squares of length about ``sqrt(3 / d)``, a one-hot row of
    length 1: with a ``longest`` for the former the noise is smaller by that, and the latter are shortened.
    """

    n_features: int  # width of the rows, d
    radius: int  # integer length of a row of norm 1
    longest: int  # in units of `unit`; from 2 to that of a squared row of norm 1

    def __post_init__(self) -> None:
        if not 2 <= self.longest <= self.unit:
            raise ValueError(f"longest must lie in 2..{self.unit}, got {self.longest}")

    @property
    def square_shift(self) -> int:
        """How many bits of a square are cut off; truncation never enlarges it."""
        return MomentSum(2, self.n_features, self.radius).square_shift

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n_features + 1,)

    @property
    def unit(self) -> int:
        """Integer units of a squared row of norm 1."""
        return self.radius**2 >> self.square_shift

    @property
    def length_weight(self) -> float:
        """What the last number is of the rows' squared lengths."""
        return self.longest // 2 / self.unit

    def multipliers(self, lengths: Ints) -> Ints:
        """What vectors of these squared lengths, at most ``unit**2``, are multiplied by to be no longer than allowed.

        In :data:`MULTIPLIER_BITS` bits.
        """
        above = np.floor(np.sqrt(lengths.astype(np.float64))).astype(np.int64) + 1
        above += above * above < lengths  # never below the root, however floating point rounds
        whole = 1 << MULTIPLIER_BITS
        return np.minimum((self.longest << MULTIPLIER_BITS) // above, whole)

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        replaces = neighbouring is Neighbouring.REPLACE_ONE
        last = self.longest // 2
        shortened = min(self.unit, math.isqrt(self.longest**2 * self.n_features) + (self.n_features > 1))
        l1 = shortened + last
        l2_squared = self.longest**2 + last**2
        name = "sum of shortened squared rows and of squared lengths"
        if not replaces:
            return Sensitivity(l1, l2_squared, name)
        return Sensitivity(l1 + shortened, l2_squared + self.longest**2, f"{name}; replace: orthogonal at most")
