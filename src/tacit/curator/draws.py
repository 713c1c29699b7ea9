"""Noise drawn while the rows are read, and, where a fit repeats itself, before it is asked for.

Noise does not depend on the rows, so when it is drawn tells nothing. Every draw is used at most once.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.noise.source import NoiseSource

Key = tuple[bool, float, int]
MOST_AHEAD = 512
ASKED_OFTEN = 4
LEAST_PART = 256
"""Draws below which dividing a vector among workers is not worth it."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A vector of noise on its way, in parts."""

    parts: tuple[Future[npt.NDArray[np.int64]], ...]

    def result(self) -> npt.NDArray[np.int64]:
        """The vector, when it is there."""
        return np.concatenate([part.result() for part in self.parts])


class Draws:
    """Workers that draw integer Gaussian and Laplace vectors beside the thread that reads rows.

    A vector of the same kind, scale and size that was asked for a few times will be asked for again in the next sweep:
    the next one is begun at once. A seeded source is drawn in order of asking only, so that a run can be repeated.

    Args:
        noise: where noise comes from.
        workers: how many; one per core if None, and always one for a seeded source.
    """

    def __init__(self, noise: NoiseSource, workers: int | None = None) -> None:
        self._noise = noise
        self._n_workers = (workers or os.cpu_count() or 1) if noise.releasable else 1
        self._workers = ThreadPoolExecutor(self._n_workers)
        self._ahead: dict[Key, Drawing] = {}
        self._asked: Counter[Key] = Counter()

    def start(self, gaussian: bool, scale: float, size: int) -> Drawing:
        """A vector of ``size`` draws on its way; of Gaussian noise, or of Laplace noise."""
        key = (gaussian, scale, size)
        ready = self._ahead.pop(key, None)
        drawing = ready if ready is not None else self._begin(key)
        self._asked[key] += 1
        if self._noise.releasable and self._asked[key] >= ASKED_OFTEN and len(self._ahead) < MOST_AHEAD:
            self._ahead[key] = self._begin(key)
        return drawing

    def _begin(self, key: Key) -> Drawing:
        gaussian, scale, size = key
        draw = self._noise.gaussian if gaussian else self._noise.laplace
        parts = max(min(self._n_workers, size // LEAST_PART), 1)
        sizes = [size * (part + 1) // parts - size * part // parts for part in range(parts)]
        return Drawing(tuple(self._workers.submit(draw, scale, part) for part in sizes))
