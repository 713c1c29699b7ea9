"""What a source of noise must offer. Three exist: our sampler and OpenDP on system entropy, and a seeded one."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import ScoreBlocks


class NoiseSource(Protocol):
    """Exact noise on the integers; its name goes into the certificate.

    What it touches is ``releasable`` unless it can be replayed.
    """

    name: str
    releasable: bool

    def gaussian(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """``size`` draws of the discrete Gaussian, ``P(k) ~ exp(-k**2 / (2 scale**2))``."""

    def laplace(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """``size`` draws of the discrete Laplace, ``P(k) ~ exp(-|k| / scale)``."""

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        """The exponential mechanism: index ``i`` with probability proportional to ``exp(scores[i] / scale)``."""

    def exponential_place(self, blocks: ScoreBlocks, scale: float) -> tuple[int, int]:
        """The same from scores that are made in blocks: the block, and the index in it."""

    def exponential_runs(self, scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64], scale: float) -> int:
        """The same from runs of candidates that share a score: the number of a candidate, below ``2**65``."""

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """``size`` uniform 64-bit words: what exact coins are made of."""
