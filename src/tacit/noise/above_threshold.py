"""Above-threshold: find the first query that exceeds a threshold, and pay for one release however long it takes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.noise.source import NoiseSource
from tacit.privacy.charges import Pure
from tacit.theory.above_threshold import Queries, scales

FIRST_BATCH, LARGEST_BATCH = 64, 1 << 14
"""Draws are made in batches, as a call costs as much as ten draws: small at first, since an instance may stop early."""


class AboveThreshold:
    """One instance: tests queries until one is above, then is spent.

    Guarantee: the sequence of answers is pure ``epsilon``-DP for queries of the stated kind and sensitivity, under
    whichever relation they have them; noise and proof in :mod:`tacit.theory.above_threshold` (Bun, Fang, Lemma 4.3).

    It must be asked in *every* round, whether or not the query changed: when it is asked is public. It holds secrets
    (the noisy threshold), so it belongs to a curator's sealed stream. Not thread-safe: rounds have an order.

    Args:
        noise: where noise comes from.
        epsilon: the privacy parameter.
        threshold: the public threshold L, in the queries' integer units.
        queries: how one row may move them; this decides how much noise is needed.
        sensitivity: the most one row moves a query, in integer units.
    """

    def __init__(
        self,
        noise: NoiseSource,
        epsilon: float,
        threshold: int,
        queries: Queries = Queries.ANY,
        sensitivity: int = 1,
    ) -> None:
        self._noise = noise
        self._scales = scales(epsilon, queries, sensitivity)
        self.charge = Pure(epsilon)
        self.threshold = int(threshold)
        self._noisy_threshold = self.threshold + int(noise.laplace(self._scales.threshold, 1)[0])
        self._batch = FIRST_BATCH
        self._drawn: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._used = 0
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether a test was above; nothing more is answered then."""
        return self._stopped

    def test(self, value: int) -> bool:
        """Whether the next query, of exact value ``value``, is about above the threshold.

        Raises:
            RuntimeError: after the first answer True: a further answer would need a new instance and a new charge.
        """
        self._require_running()
        if self._used == len(self._drawn):
            self._refill(1)
        self._stopped = int(value) + int(self._drawn[self._used]) >= self._noisy_threshold
        self._used += 1
        return self._stopped

    def test_many(self, values: npt.NDArray[np.int64]) -> int | None:
        """Tests a run of queries in order: the index of the first that is above, or None if none is.

        The same as calling :meth:`test` on each until it says True; the queries after that are not looked at.
        """
        self._require_running()
        if values.dtype != np.int64 or values.ndim != 1:
            raise TypeError(f"queries must be an int64 vector, got {values.dtype} of shape {values.shape}")
        start = 0
        while start < len(values):
            if self._used == len(self._drawn):
                self._refill(len(values) - start)
            fresh = self._drawn[self._used : self._used + len(values) - start]
            above = values[start : start + len(fresh)] + fresh >= self._noisy_threshold
            first = int(above.argmax()) if above.any() else None
            self._used += len(fresh) if first is None else first + 1
            if first is not None:
                self._stopped = True
                return start + first
            start += len(fresh)
        return None

    def secrets(self) -> dict[str, int | bool]:
        """What has to be kept to go on elsewhere.

        Secret, and good for one continuation only: answering the same rounds twice under one noisy threshold costs
        twice.
        """
        return {"noisy_threshold": self._noisy_threshold, "stopped": self._stopped}

    def restore(self, secrets: dict[str, int | bool]) -> None:
        """Goes on from :meth:`secrets` of an instance with the same parameters; query noise is drawn anew."""
        self._noisy_threshold = int(secrets["noisy_threshold"])
        self._stopped = bool(secrets["stopped"])
        self._used = len(self._drawn)

    def _refill(self, wanted: int) -> None:
        size = max(self._batch, min(wanted, LARGEST_BATCH))
        self._drawn = self._noise.laplace(self._scales.query, size)
        self._used = 0
        self._batch = min(2 * self._batch, LARGEST_BATCH)

    def _require_running(self) -> None:
        if self._stopped:
            raise RuntimeError("this above-threshold instance has answered True and is spent; open a new one")
