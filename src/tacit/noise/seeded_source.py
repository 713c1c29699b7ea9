"""Noise that can be replayed: for experiments and tests, never for release."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import Below
from tacit.noise.source import ExactChoices, check_scale, check_size

_DOMAIN = 0x7461636974  # keeps these streams apart from any other use of the same seed

_GAUSSIAN, _LAPLACE, _EXPONENTIAL, _WORDS = 0, 1, 2, 4


class SeededSource(ExactChoices):
    """Noise that follows from a seed: whoever knows the seed can subtract it, so what it touches is not releasable.

    Every call draws from a stream of its own, derived from (seed, purpose, number of the call), so that no two draws
    share randomness and no purpose sees another's. The same calls in the same order give the same noise. Safe to share
    between threads; the order of concurrent calls, and with it the noise, is then up to the scheduler.
    """

    name = "seeded"
    releasable = False

    def __init__(self, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"a seed must not be negative, got {seed}")
        self._seed = int(seed)
        self._calls = 0
        self._lock = threading.Lock()

    def gaussian(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """``size`` draws of the discrete Gaussian, ``P(k) ~ exp(-k**2 / (2 scale**2))``.

        By rejection from the discrete Laplace of scale ``floor(scale) + 1`` (Canonne, Kamath, Steinke 2020, Alg. 3).
        """
        sigma, count = check_scale(scale), check_size(size)
        generator = self._generator(_GAUSSIAN)
        out = np.empty(count, np.int64)
        width = np.floor(sigma) + 1.0
        filled = 0
        while filled < count:
            proposal = _discrete_laplace(generator, width, int(1.8 * (count - filled)) + 16)
            offset = (np.abs(proposal) - sigma * (sigma / width)) / sigma
            accepted = proposal[generator.random(len(proposal)) < np.exp(-0.5 * offset * offset)][: count - filled]
            out[filled : filled + len(accepted)] = accepted
            filled += len(accepted)
        return out

    def laplace(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        return _discrete_laplace(self._generator(_LAPLACE), check_scale(scale), check_size(size))

    def _below(self) -> Below:
        generator = self._generator(_EXPONENTIAL)

        def below(bound: int) -> int:
            if bound <= 1 << 64:
                return int(generator.integers(0, bound, dtype=np.uint64, endpoint=False))
            while True:  # 128 bits, and again if they are beyond
                high, low = (int(word) for word in generator.integers(0, 1 << 64, 2, dtype=np.uint64))
                candidate = ((high << 64) | low) >> (128 - bound.bit_length())
                if candidate < bound:
                    return candidate

        return below

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        return self._generator(_WORDS).integers(0, 1 << 64, check_size(size), dtype=np.uint64)

    def _generator(self, purpose: int) -> np.random.Generator:
        with self._lock:
            self._calls += 1
            call = self._calls
        sequence = np.random.SeedSequence(self._seed, spawn_key=(_DOMAIN, purpose, call))
        return np.random.Generator(np.random.PCG64DXSM(sequence))


def _discrete_laplace(generator: np.random.Generator, scale: float, size: int) -> npt.NDArray[np.int64]:
    """The difference of two geometric variables, each the integer part of an exponential one of mean ``scale``."""
    up = np.floor(generator.standard_exponential(size) * scale)
    down = np.floor(generator.standard_exponential(size) * scale)
    return (up - down).astype(np.int64)
