"""Noise that is enumerated instead of drawn: the exact distribution of what a fit releases, on tiny tables."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

Rows = Sequence[tuple[int, int]]


class ScriptedNoise:
    """Follows a script of choices; what the script does not say is the first choice, and is written down.

    Args:
        script: the choices to make.
        scale_factor: multiplies the scale of every exponential mechanism (to see a test fail).
        words: what uniform words are used for: ``"coins"`` (with ``rate``), ``"index"`` (with ``bound``), ``"order"``.
        rate: probability of a coin.
        bound: number of indices.
    """

    name, releasable = "scripted", False

    def __init__(
        self, script: list[int], scale_factor: float = 1.0, words: str = "", rate: float = 1.0, bound: int = 1
    ) -> None:
        self.script, self.scale_factor, self.mode, self.rate, self.bound = script, scale_factor, words, rate, bound
        self.options: list[npt.NDArray[np.float64]] = []
        self.scales: list[float] = []

    @property
    def probability(self) -> float:
        return math.prod(float(o[c]) for o, c in zip(self.options, self._made(), strict=True))

    def _made(self) -> list[int]:
        return [self.script[i] if i < len(self.script) else 0 for i in range(len(self.options))]

    def _choose(self, probabilities: npt.NDArray[np.float64]) -> int:
        self.options.append(probabilities)
        at = len(self.options) - 1
        return self.script[at] if at < len(self.script) else 0

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        self.scales.append(scale)
        weights = np.exp((scores - scores.max()) / (scale * self.scale_factor))
        return self._choose(weights / weights.sum())

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        if self.mode == "coins":
            taken = [self._choose(np.array([self.rate, 1 - self.rate])) for _ in range(size)]
            return np.array([0 if t == 0 else 2**64 - 1 for t in taken], np.uint64)
        if self.mode == "index":
            return np.array([self._choose(np.full(self.bound, 1 / self.bound)) for _ in range(size)], np.uint64)
        orders = list(permutations(range(size)))
        return np.array(orders[self._choose(np.full(len(orders), 1 / len(orders)))], np.uint64)

    def next_script(self) -> list[int] | None:
        """The script after this one in depth-first order; None after the last."""
        made = self._made()
        for at in range(len(made) - 1, -1, -1):
            if made[at] + 1 < len(self.options[at]):
                return [*made[:at], made[at] + 1]
        return None


def private_rows_of(rows: Rows, charges: Sequence[Charge], neighbouring: Neighbouring) -> PrivateRows:
    """Rows ``(x, label)`` with one numeric column ``x``."""
    frame = Frame({"x": np.array([x for x, _ in rows], np.float64)}, len(rows))
    labels = np.array([y for _, y in rows], np.int64)
    return PrivateRows(frame, labels, Reservation(charges, neighbouring), 0)


def distribution(
    rows: Rows,
    charges: Sequence[Charge],
    neighbouring: Neighbouring,
    release: Callable[[PrivateRows], Hashable],
    noise: Callable[[list[int]], ScriptedNoise] = ScriptedNoise,
) -> dict[Hashable, float]:
    """The exact distribution of what ``release`` returns, over all choices of the noise."""
    out: dict[Hashable, float] = {}
    script: list[int] | None = []
    while script is not None:
        scripted = noise(script)
        private_rows = copy.copy(private_rows_of(rows, charges, neighbouring))
        private_rows._noise = scripted  # type: ignore[assignment]
        value = release(private_rows)
        out[value] = out.get(value, 0.0) + scripted.probability
        script = scripted.next_script()
    assert math.isclose(sum(out.values()), 1.0, rel_tol=1e-9)
    return out


def hockey_stick(p: dict[Hashable, float], q: dict[Hashable, float], epsilon: float) -> float:
    """The least delta for which ``p`` is within (epsilon, delta) of ``q``, one way."""
    return sum(max(0.0, mass - math.exp(epsilon) * q.get(value, 0.0)) for value, mass in p.items())


def largest_ratio(p: dict[Hashable, float], q: dict[Hashable, float]) -> float:
    """The largest log-ratio, both ways."""
    values = set(p) | set(q)
    return max(abs(math.log(p[v] / q[v])) if p.get(v) and q.get(v) else math.inf for v in values)
