"""A prior over halfspaces whose weights are integers of few binary digits. docs/theory/generalisation.md proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from tacit.arrays import Floats, Ints


@dataclass(frozen=True)
class HalfspaceCode:
    """A weight is 0, or has a *shape*, a sign, and the digits between its first 1 and its last one.

    Attributes:
        places: the first 1 has one of so many places.
        digits: a weight has at most so many digits, from its first 1 to its last one.
        concentration: the probabilities of shapes are drawn from a symmetric Dirichlet distribution of this parameter.
    """

    places: int = 15
    digits: int = 5
    concentration: float = 1 / 8

    @property
    def n_shapes(self) -> int:
        """Zero; or the place of the first digit, and how many there are."""
        return 1 + self.places * self.digits

    def shapes(self, integers: Floats | Ints) -> Ints:
        """The shape of each of some integers, in their shape; 0 for 0."""
        sizes = np.abs(integers).astype(np.int64)
        first = np.frexp(sizes.astype(np.float64))[1]
        last = np.frexp((sizes & -sizes).astype(np.float64))[1]
        return np.where(sizes == 0, 0, 1 + (first - 1) * self.digits + (first - last)).astype(np.int64)

    def tail_nats(self, shapes: Ints) -> Floats:
        """Of the sign, and of the digits between the first and the last, which are both 1; shaped as ``shapes``."""
        digits = np.where(shapes == 0, 0, (shapes - 1) % self.digits + 1)
        return math.log(2) * np.where(shapes == 0, 0, 1 + np.maximum(digits - 2, 0))

    def log_halfspaces(self, integers: Ints) -> float:
        """``ln(1 / p)`` of a prior over all vectors of such integers, fixed before any row is read.

        Shapes are drawn independently from probabilities that are themselves drawn from the Dirichlet distribution, so
        that common shapes are cheap whichever they are; signs and digits have equal probability.

        Args:
            integers: shape ``(d,)``.

        Raises:
            ValueError: if an integer is not of the class.
        """
        sizes = np.abs(integers)
        if int(sizes.max(initial=0)) >> self.places:
            raise ValueError(f"weights have at most {self.places} places")
        shapes = self.shapes(integers)
        spans = np.frexp(sizes.astype(np.float64))[1] - np.frexp((sizes & -sizes).astype(np.float64))[1]
        if int(spans.max(initial=0)) >= self.digits:
            raise ValueError(f"weights have at most {self.digits} digits")
        found = np.bincount(shapes, minlength=self.n_shapes)
        each, all_together = self.concentration, self.concentration * self.n_shapes
        log_mixed = gammaln(all_together) - gammaln(all_together + len(shapes))
        log_mixed += float((gammaln(found + each) - gammaln(each)).sum())
        return float(self.tail_nats(shapes).sum() - log_mixed)


CODE = HalfspaceCode()
"""The prior that bounds are proved with."""
