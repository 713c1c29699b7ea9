"""Noise drawn while the rows are read, and, where a fit repeats itself, before it is asked for.

Noise does not depend on the rows, so when it is drawn tells nothing. Every draw is used at most once.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from tacit.noise.source import NoiseSource

Key = tuple[bool, float, int]
MOST_AHEAD = 512


class Draws:
    """A worker that draws integer Gaussian and Laplace vectors beside the thread that reads rows.

    A vector of the same kind, scale and size that was asked for twice will be asked for again in the next sweep: the
    next one is begun at once. A seeded source is drawn in order of asking only, so that a run can be repeated.
    """

    def __init__(self, noise: NoiseSource) -> None:
        self._noise = noise
        self._worker = ThreadPoolExecutor(1)
        self._ahead: dict[Key, Future[npt.NDArray[np.int64]]] = {}
        self._asked: set[Key] = set()

    def start(self, gaussian: bool, scale: float, size: int) -> Future[npt.NDArray[np.int64]]:
        """A vector of ``size`` draws on its way; of Gaussian noise, or of Laplace noise."""
        key = (gaussian, scale, size)
        ready = self._ahead.pop(key, None)
        future = ready if ready is not None else self._begin(key)
        if self._noise.releasable and key in self._asked and len(self._ahead) < MOST_AHEAD:
            self._ahead[key] = self._begin(key)
        self._asked.add(key)
        return future

    def _begin(self, key: Key) -> Future[npt.NDArray[np.int64]]:
        gaussian, scale, size = key
        return self._worker.submit(self._noise.gaussian if gaussian else self._noise.laplace, scale, size)
