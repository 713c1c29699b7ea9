"""Noise from the source underneath, and public random choices from a seed that is kept: for fits that go on later."""

from __future__ import annotations

from itertools import count

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import ScoreBlocks
from tacit.noise.source import NoiseSource


class PubliclySeeded:
    """Public choices can be made again, by a seed that is no secret; noise cannot."""

    def __init__(self, source: NoiseSource, seed: bytes) -> None:
        self._source, self._seed, self._asked = source, int.from_bytes(seed, "big"), count()
        self.name, self.releasable = source.name, source.releasable

    def gaussian(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """Of the source."""
        return self._source.gaussian(scale, size)

    def laplace(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """Of the source."""
        return self._source.laplace(scale, size)

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        """Of the source."""
        return self._source.exponential(scores, scale)

    def exponential_place(self, blocks: ScoreBlocks, scale: float) -> tuple[int, int]:
        """Of the source."""
        return self._source.exponential_place(blocks, scale)

    def exponential_runs(self, scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64], scale: float) -> int:
        """Of the source."""
        return self._source.exponential_runs(scores, lengths, scale)

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Of the source."""
        return self._source.words(size)

    def public_generator(self) -> np.random.Generator:
        """The next generator: never for noise."""
        return np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(next(self._asked),)))
