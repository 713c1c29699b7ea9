"""Above-threshold: find the first query that exceeds a threshold, and pay for one release however long it takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tacit.noise.exponential import Ratio, exp_bounds
from tacit.noise.source import NoiseSource, check_scale
from tacit.privacy.charges import Pure
from tacit.theory.above_threshold import Queries, scales

WORD = 64

Words = Callable[[int], npt.NDArray[np.uint64]]  # `words(n)`: `n` uniform 64-bit words


def tail_bounds(gap: int, scale: float, bits: int) -> tuple[int, int]:
    """Integers ``low <= 2**bits P(X >= gap) <= high`` for the discrete Laplace variable ``X``.

    ``P(X >= gap) = q**gap / (1 + q)`` for ``gap >= 1``, and ``1 - q**(1 - gap) / (1 + q)`` for ``gap <= 0``, with ``q =
    exp(-1 / scale)`` and the scale taken as the exact rational number the float stands for.
    """
    numerator, denominator = scale.as_integer_ratio()
    steps = gap if gap >= 1 else 1 - gap
    low, high, shift = exp_bounds(Ratio(steps * denominator, numerator), bits + 32)
    q_low, q_high, q_shift = exp_bounds(Ratio(denominator, numerator), bits + 32)
    one = 1 << q_shift
    least = (low << (bits + q_shift)) // ((one + q_high) << shift)
    most = -((-high << (bits + q_shift)) // ((one + q_low) << shift))
    return (least, most) if gap >= 1 else ((1 << bits) - most, (1 << bits) - least)


class TailCoins:
    """Coins that are true with probability exactly ``P(X >= gap)``; keeps the bounds of the gaps it has seen."""

    def __init__(self, scale: float, words: Words) -> None:
        self._scale = scale
        self._words = words
        self._known: dict[int, tuple[int, int]] = {}

    def bounds(self, gap: int) -> tuple[int, int]:
        """A word below the first number says yes, one from the second number on says no."""
        bounds = self._known.get(gap)
        if bounds is None:
            bounds = self._known[gap] = tail_bounds(gap, self._scale, WORD)
        return bounds

    def toss(self, gap: int, word: int) -> bool:
        """The coin for one gap, from a word that was used for nothing else."""
        yes, no = self.bounds(gap)
        bits = WORD
        while yes <= word < no:
            bits += WORD
            word = (word << WORD) | int(self._words(1)[0])
            yes, no = tail_bounds(gap, self._scale, bits)
        return word < yes

    def first(self, gaps: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> int | None:
        """The index of the first coin that is true, one coin per gap and word; None if there is none."""
        distinct, which = np.unique(gaps, return_inverse=True)
        bounds = [self.bounds(gap) for gap in distinct.tolist()]
        yes = np.array([low for low, _ in bounds], np.uint64)[which]
        last = np.array([high - 1 for _, high in bounds], np.uint64)[which]  # the high bound itself may be 2**64
        for index in np.flatnonzero(words <= last):
            if words[index] < yes[index] or self.toss(int(gaps[index]), int(words[index])):
                return int(index)
        return None


BATCH = 1 << 14  # words of randomness fetched at once, at most


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
        self._restartable = queries is Queries.RUNNING_COUNT
        self.charge = Pure(epsilon)
        self.threshold = int(threshold)
        self._coins = TailCoins(check_scale(self._scales.query), noise.words)
        self._words: npt.NDArray[np.uint64] = np.zeros(0, np.uint64)
        self._used = 0
        self._begin()

    @property
    def stopped(self) -> bool:
        """Whether a test was above; nothing more is answered then."""
        return self._stopped

    def test(self, value: int) -> bool:
        """Whether the next query, of exact value ``value``, is about above the threshold."""
        self._require_running()
        word = int(self._fetch(1)[0])
        self._stopped = self._coins.toss(self._noisy_threshold - int(value), word)
        return self._stopped

    def test_many(self, values: npt.NDArray[np.int64]) -> int | None:
        """Tests a run of queries in order: the index of the first that is above, or None if none is.

        The same as calling :meth:`test` on each until it says True; the queries after that are not looked at.
        """
        self._require_running()
        if values.dtype != np.int64 or values.ndim != 1:
            raise TypeError(f"queries must be an int64 vector, got {values.dtype} of shape {values.shape}")
        for start in range(0, len(values), BATCH):
            gaps = self._noisy_threshold - values[start : start + BATCH]
            first = self._coins.first(gaps, self._fetch(len(gaps)))
            if first is not None:
                self._stopped = True
                return start + first
        return None

    def restart(self) -> None:
        """Begins the next epoch, with a fresh noisy threshold, after this one has stopped; still under the one charge.

        For running counts that start anew: given the answers so far, a row moves the queries of its own epoch and of no
        other, so that all epochs together are as private as one (docs/theory/sensitivities.md, section 4).
        """
        if not self._stopped or not self._restartable:
            raise RuntimeError("only a stopped above-threshold on running counts starts again under the same charge")
        self._begin()

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

    def _begin(self) -> None:
        self._noisy_threshold = self.threshold + int(self._noise.laplace(self._scales.threshold, 1)[0])
        self._stopped = False

    def _fetch(self, size: int) -> npt.NDArray[np.uint64]:
        """Words that no test has used."""
        if size > 64:
            return self._noise.words(size)
        if self._used + size > len(self._words):
            self._words = self._noise.words(BATCH // 16)
            self._used = 0
        self._used += size
        return self._words[self._used - size : self._used]

    def _require_running(self) -> None:
        if self._stopped:
            raise RuntimeError("this above-threshold has answered True; open a new one (running counts: restart)")
