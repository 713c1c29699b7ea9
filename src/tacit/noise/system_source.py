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
from tacit.noise.exponential import ScoreBlocks, exponential_index, exponential_place, exponential_runs
from tacit.noise.integer_sampler import draw, law_of
from tacit.noise.source import check_runs, check_scale, check_scores, check_size


class SystemSource:
    """Noise that may be released. Holds no state: safe to share between threads and forks, and never the same twice."""

    name = "tacit"
    releasable = True

    def gaussian(self, scale: float, size: int) -> Ints:
        """``size`` draws of the discrete Gaussian, ``P(k) ~ exp(-k**2 / (2 scale**2))``."""
        return draw(law_of(True, check_scale(scale)), check_size(size), self.words)

    def laplace(self, scale: float, size: int) -> Ints:
        """``size`` draws of the discrete Laplace, ``P(k) ~ exp(-|k| / scale)``."""
        return draw(law_of(False, check_scale(scale)), check_size(size), self.words)

    def exponential(self, scores: Ints, scale: float) -> int:
        """Index ``i`` with probability exactly proportional to ``exp(scores[i] / scale)``."""
        return exponential_index(check_scores(scores), check_scale(scale), secrets.randbelow)

    def exponential_place(self, blocks: ScoreBlocks, scale: float) -> tuple[int, int]:
        """The same from scores that are made in blocks: the block, and the index in it."""
        return exponential_place(blocks, check_scale(scale), secrets.randbelow)

    def exponential_runs(self, scores: Ints, lengths: npt.NDArray[np.uint64], scale: float) -> int:
        """The same from runs of candidates that share a score: the number of a candidate, below ``2**65``."""
        return exponential_runs(*check_runs(scores, lengths), check_scale(scale), secrets.randbelow)

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """``size`` uniform 64-bit words."""
        return np.frombuffer(os.urandom(8 * check_size(size)), dtype=np.uint64)
