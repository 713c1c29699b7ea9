"""From noisy counts of what a model gets wrong on its own rows to a proved bound of its error on new ones.

The proofs are in docs/theory/generalisation.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.theory.generalisation import largest_within


@dataclass(frozen=True)
class HalfspaceCode:
    """A weight is 0, or has a *shape*, a sign, and the digits between its first 1 and its last one."""

    places: int = 15  # the first 1 has one of so many places
    digits: int = 5  # a weight has at most so many digits, from its first 1 to its last one
    # the probabilities of shapes are drawn from a symmetric Dirichlet distribution of this parameter
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
        """``ln(1 / p)`` of a prior over all vectors of such integers, shape ``(d,)``, fixed before any row is read.

        Shapes are drawn independently from probabilities that are themselves drawn from the Dirichlet distribution, so
        that common shapes are cheap whichever they are; signs and digits have equal probability. Raises ``ValueError``
        if an integer is not of the class.
        """
        from scipy.special import gammaln  # models are read without scipy

        sizes = np.abs(integers)
        if int(sizes.max(initial=0)) >> self.places:
            raise ValueError(f"weights have at most {self.places} places")
        shapes = self.shapes(integers)
        spans = np.frexp(sizes.astype(np.float64))[1] - np.frexp((sizes & -sizes).astype(np.float64))[1]
        if int(spans.max(initial=0)) >= self.digits:
            raise ValueError(f"weights have at most {self.digits} digits")
        counts = np.bincount(shapes, minlength=self.n_shapes)
        each, all_together = self.concentration, self.concentration * self.n_shapes
        log_mixed = gammaln(all_together) - gammaln(all_together + len(shapes))
        log_mixed += float((gammaln(counts + each) - gammaln(each)).sum())
        return float(self.tail_nats(shapes).sum() - log_mixed)


CODE = HalfspaceCode()  # the prior that bounds are proved with


def noise_of_counts(sd: float, cells: float, failure: float) -> float:
    """What the noise in a sum of ``cells`` counts exceeds with probability at most ``failure``; 0 without noise.

    A Laplace variable of scale ``b`` has ``E e^(s b Z) <= 1 / (1 - s^2)`` for ``|s| < 1``, on the integers too
    (``(cosh x - 1) / x^2`` grows), and ``1 / (1 - s^2) >= e^(s^2)``, the bound of a Gaussian of the same variance. So

        P(sum > t) <= exp(-s t / b) / (1 - s^2)^cells,    t = b min_s (ln(1 / failure) - cells ln(1 - s^2)) / s,

    holds for both (Chernoff).

    ``sd`` is that of the noise in one count, ``b sqrt(2)`` of a Laplace variable; for a weighted sum of weights in [0,
    1], ``cells`` is the sum of their squares.
    """
    if sd == 0 or cells == 0:
        return 0.0
    s = np.linspace(0.005, 0.995, 199)
    bounds = (math.log(1 / failure) - cells * np.log1p(-s * s)) / s
    return sd / math.sqrt(2) * float(bounds.min())


def occam_bound(wrong: float, right: float, log_models: float, failure: float) -> float:
    """The error on new rows of the model that was chosen, by Occam's bound for a prior of its own.

    With probability ``1 - failure`` every model ``h`` of a countable class with prior ``p(h)``, fixed in advance, has

        kl(error on the rows || error) <= (ln(1 / p(h)) + ln(1 / failure)) / n

    where its error is the larger of the two (Chernoff for one model, and a union over all of them).

    It gets ``wrong`` rows wrong and ``right`` rows right (no row at all proves nothing); ``log_models`` is ``ln(1 /
    p(h))``.
    """
    n = wrong + right
    if right <= 0:
        return 1.0
    budget = (log_models + math.log(1 / failure)) / n
    return float(largest_within(np.array([wrong / n]), np.array([budget]))[0])


def certified_error(
    wrong: float, right: float, cells: tuple[int, int], sd: float, log_models: float, failure: float
) -> float:
    """:func:`occam_bound` from noisy counts of the rows that the model gets wrong, and of those it gets right.

    A quarter of ``failure`` is for the noise in each, half of it for new rows. The bound grows with the rows that are
    wrong and falls with those that are right, so the most of the former that noise may hide and the fewest of the
    latter give the largest.

    ``wrong`` and ``right`` are sums of so many noisy counts each; ``failure`` is the probability that the bound fails,
    over the rows and the noise.
    """
    most = max(0.0, wrong + noise_of_counts(sd, cells[0], failure / 4))
    fewest = right - noise_of_counts(sd, cells[1], failure / 4)
    return occam_bound(most, fewest, log_models, failure / 2)
