"""Random Fourier features of rows that are normally distributed: their moments in closed form.

Of ``x ~ N(0, C)`` the mean of ``exp(i w'x)`` is ``exp(-w'Cw / 2)``. Products of cosines and sines are sums of such
terms: nothing needs to be simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Floats


@dataclass(frozen=True, eq=False)
class NormalRows:
    """Feature vectors ``(cos w_1'x, ..., sin w_1'x, ...) / sqrt(pairs)``, of norm 1, of rows ``x ~ N(0, C)``.

    A cosine and a sine have no product on average, so everything comes in two blocks: cosines, then sines.

    Attributes:
        frequencies: a line ``w`` per pair, shape ``(pairs, columns)``.
        covariance: ``C``, shape ``(columns, columns)``.
    """

    frequencies: Floats
    covariance: Floats

    @cached_property
    def _alike(self) -> Floats:
        """``w_k'C w_l``, shape ``(pairs, pairs)``."""
        return np.asarray(self.frequencies @ self.covariance @ self.frequencies.T)

    @property
    def _damping(self) -> Floats:
        """``exp(-w'Cw / 2)`` of every pair."""
        return np.asarray(np.exp(-0.5 * np.diag(self._alike)))

    @cached_property
    def mean(self) -> Floats:
        """The mean vector, shape ``(2 pairs,)``: sines have none."""
        damping = self._damping
        return np.concatenate([damping, np.zeros(len(damping))]) / math.sqrt(len(damping))

    @cached_property
    def products(self) -> tuple[Floats, Floats]:
        """Mean products of two cosines, and of two sines, shape ``(pairs, pairs)`` each; their traces add up to 1."""
        own = 0.5 * np.diag(self._alike)
        own = own[:, None] + own[None, :]
        differences, sums = np.exp(self._alike - own), np.exp(-self._alike - own)
        half = 0.5 / len(self.frequencies)
        return half * (differences + sums), half * (differences - sums)

    def variance(self, weights: Floats) -> float:
        """Of ``weights'phi(x)`` over the rows, summed over the lines of a matrix ``(2 pairs, n_scores)`` of weights."""
        lines = np.atleast_2d(weights.T)
        pairs = len(self.frequencies)
        cosines, sines = self.products
        squares = ((lines[:, :pairs] @ cosines) * lines[:, :pairs]).sum()
        squares += ((lines[:, pairs:] @ sines) * lines[:, pairs:]).sum()
        return max(float(squares - ((lines @ self.mean) ** 2).sum()), 0.0)
