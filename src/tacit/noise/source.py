"""What a source of noise must offer. Three exist: our sampler and OpenDP on system entropy, and a seeded one."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tacit.errors import TacitError
from tacit.noise.exponential import Below, ScoreBlocks, exponential_index, exponential_place, exponential_runs


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


class ExactChoices:
    """The exponential mechanism of a source, from uniform integers."""

    def _below(self) -> Below:
        """Uniform integers for one choice."""
        raise NotImplementedError

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        return exponential_index(check_scores(scores), check_scale(scale), self._below())

    def exponential_place(self, blocks: ScoreBlocks, scale: float) -> tuple[int, int]:
        return exponential_place(blocks, check_scale(scale), self._below())

    def exponential_runs(self, scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64], scale: float) -> int:
        return exponential_runs(*check_runs(scores, lengths), check_scale(scale), self._below())


SCALE_LIMIT = 2.0**50
"""Above this scale a draw could leave int64 together with the answer it is added to (a draw of 2**13 scales has
probability below exp(-2**13)): whoever asks for it has units that are too fine."""


def check_scale(scale: float) -> float:
    """The scale as a float."""
    value = float(scale)
    if not math.isfinite(value) or not 0.0 < value <= SCALE_LIMIT:
        limit = "must be finite and in (0, 2**50]"
        raise TacitError(f"the scale of integer noise {limit}, got {scale}: allow a larger epsilon; nothing was drawn")
    return value


def check_size(size: int) -> int:
    """The number of draws as an int; raises ValueError if negative."""
    if size < 0:
        raise ValueError(f"the number of draws must not be negative, got {size}")
    return int(size)


def check_scores(scores: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The scores, a vector of at least one int64: a real score has to be floored by whoever knows its range."""
    if not isinstance(scores, np.ndarray) or scores.dtype != np.int64:
        raise TypeError("scores must be an int64 array; floor real scores first and round their range up")
    if scores.ndim != 1 or len(scores) == 0:
        raise ValueError(f"scores must be a vector of at least one entry, got shape {scores.shape}")
    return scores


def check_runs(
    scores: npt.NDArray[np.int64], lengths: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Scores of runs and their lengths."""
    checked = check_scores(scores)
    if not isinstance(lengths, np.ndarray) or lengths.dtype != np.uint64:
        raise TypeError("lengths of runs must be a uint64 array")
    if lengths.shape != checked.shape:
        raise ValueError(f"there are {checked.shape} scores and {lengths.shape} lengths of runs")
    return checked, lengths
