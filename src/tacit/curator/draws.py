"""Noise drawn while the rows are read, and, where a fit repeats itself, before it is asked for.

Noise does not depend on the rows, so when it is drawn tells nothing. Every draw is used at most once.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Ints
from tacit.noise.source import NoiseSource

Key = tuple[bool, float, int]
ASKED_OFTEN = 3
MOST_AHEAD, MOST_AHEAD_IN_ALL = 8, 512
"""Vectors of one kind, and of all kinds, that are drawn before they are asked for."""

LEAST_PART = 256
"""Draws below which dividing a vector among workers is not worth it."""

LARGE = 4096
"""Draws that are enough work at a time: longer vectors are begun ahead one by one."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """A vector of noise on its way, in parts: each a stretch of what a worker draws."""

    parts: tuple[tuple[Future[Ints], slice], ...]

    def result(self) -> Ints:
        """The vector, when it is there."""
        return np.concatenate([drawn.result()[stretch] for drawn, stretch in self.parts])


class Draws:
    """Workers that draw integer Gaussian and Laplace vectors beside the thread that reads rows.

    A vector of the same kind, scale and size that was asked for a few times will be asked for again in the next sweep:
    the next ones are begun at once, several in one call, which costs the reading thread less than one by one. A seeded
    source is drawn in order of asking only, so that a run can be repeated.

    Args:
        noise: where noise comes from.
        workers: how many; one per core if None, and always one for a seeded source.
    """

    def __init__(self, noise: NoiseSource, workers: int | None = None) -> None:
        self._noise = noise
        self._n_workers = (workers or os.cpu_count() or 1) if noise.releasable else 1
        self._workers = ThreadPoolExecutor(self._n_workers)
        self._ahead: defaultdict[Key, deque[Drawing]] = defaultdict(deque)
        self._n_ahead = 0
        self._asked: Counter[Key] = Counter()

    def start(self, gaussian: bool, scale: float, size: int) -> Drawing:
        """A vector of ``size`` draws on its way; of Gaussian noise, or of Laplace noise."""
        key = (gaussian, scale, size)
        stock = self._ahead[key]
        if stock:
            drawing = stock.popleft()
            self._n_ahead -= 1
        else:
            drawing = self._begin(key)
        self._asked[key] += 1
        if self._noise.releasable and self._asked[key] >= ASKED_OFTEN:
            self._restock(key)
        return drawing

    def _restock(self, key: Key) -> None:
        stock, often = self._ahead[key], self._asked[key] // ASKED_OFTEN
        wanted = min(often, MOST_AHEAD, max(LARGE // key[2], 1), MOST_AHEAD_IN_ALL - self._n_ahead)
        if 2 * len(stock) >= max(wanted, 1):
            return
        begun = [self._begin(key)] if wanted == 1 else self._begin_many(key, wanted)
        stock.extend(begun)
        self._n_ahead += len(begun)

    def _begin(self, key: Key) -> Drawing:
        """One vector, divided among the workers where it is long."""
        size = key[2]
        parts = max(min(self._n_workers, size // LEAST_PART), 1)
        sizes = [size * (part + 1) // parts - size * part // parts for part in range(parts)]
        return Drawing(tuple((self._submit(key, part), slice(None)) for part in sizes))

    def _begin_many(self, key: Key, count: int) -> list[Drawing]:
        """So many vectors from one worker, in one call."""
        size = key[2]
        drawn = self._submit(key, count * size)
        return [Drawing(((drawn, slice(k * size, (k + 1) * size)),)) for k in range(count)]

    def _submit(self, key: Key, size: int) -> Future[Ints]:
        gaussian, scale, _ = key
        return self._workers.submit(self._noise.gaussian if gaussian else self._noise.laplace, scale, size)
