"""First and second moments of dense rows, coordinate by coordinate: what a learner needs to know to scale them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.dense.vector_sum import norm_ball
from tacit.queries.sensitivity import Sensitivity

SQUARE_BITS = 30
"""Squares are kept in this many bits: with 16-bit rows they are exact, and 2**32 rows fit an int64."""


@dataclass(frozen=True)
class MomentSum:
    """A query for ``sum over rows of row**order``, coordinate by coordinate; integers of shape ``(n_features,)``.

    Sensitivity: a row of norm at most ``radius`` has squares that are not negative and add up to at most
    ``radius**2``, so their own norm is at most that too (one-hot rows attain both). Replacing a row moves a sum of
    squares by at most ``sqrt(2)`` times as much, because two vectors without negative entries are at most orthogonal;
    and the plain sum by at most twice as much.

    Args:
        order: 1 or 2.
        n_features: width of the rows.
        radius: integer length of a row of norm 1.
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
        """``(n_features,)``."""
        return (self.n_features,)

    @property
    def unit(self) -> int:
        """Integer units of a row (or squared row) of norm 1."""
        return self.radius if self.order == 1 else self.radius**2 >> self.square_shift

    def sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """How far one row moves the sum, in integer units."""
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
