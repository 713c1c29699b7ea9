"""Noise from the operating system's entropy: what may be released.

Every word comes from the operating system when it is needed, and is used once. No state is kept: there is nothing that
threads would have to share in turn, that a fork or the copy of a virtual machine would double, or that would have to be
erased. A keystream of our own takes half off the time of a draw, which few fits would notice beside all else they do
(``python -m benchmarks.noise``, docs/theory/exact_noise.md).
"""

from __future__ import annotations

import os
import secrets

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.noise.exponential import Below
from tacit.noise.integer_sampler import draw, law_of
from tacit.noise.source import ExactChoices, check_scale, check_size


class SystemSource(ExactChoices):
    """Noise that may be released. Holds no state: safe to share between threads and forks, and never the same twice."""

    name = "tacit"
    releasable = True

    def gaussian(self, scale: float, size: int) -> Ints:
        return draw(law_of(True, check_scale(scale)), check_size(size), self.words)

    def laplace(self, scale: float, size: int) -> Ints:
        return draw(law_of(False, check_scale(scale)), check_size(size), self.words)

    def _below(self) -> Below:
        return secrets.randbelow

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(os.urandom(8 * check_size(size)), dtype=np.uint64)
