"""Random stopping: the cost of running a private mechanism a secret, random number of times and keeping the best.

Trying settings one after the other costs their sum. Running randomly chosen ones a random number of times, of which
only the best result is ever seen, costs two to three times one run, however many runs there are (Liu, Talwar 2019;
Papernot, Steinke 2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.privacy import accountants
from tacit.privacy.charges import Charge, NonPrivate, Pure, Renyi
from tacit.privacy.composition import parts_of
from tacit.privacy.renyi import divergence

ORDERS = np.unique(np.concatenate([1.0 + np.geomspace(0.02, 1.0, 24), np.geomspace(2.0, 4096.0, 120)]))
"""Orders that the charge states."""

WITNESSES = np.unique(np.concatenate([ORDERS, np.geomspace(4096.0, 1e6, 24)]))
"""Orders tried for the second divergence of the theorem."""

LOG_UNIT = 2.0**40  # integer units of 1 in the logarithm of a probability, when the number of runs is drawn
SLACK = 2.0**-36  # bound on how far, in logarithm, the drawn probabilities of any outcome lie from those of the rule

MOST_RUNS = 1000.0

THEOREM = "random stopping (Papernot, Steinke 2022, Theorem 2): the best of a random number of runs"


@dataclass(frozen=True)
class RandomStopping:
    """How many runs there are: the truncated negative binomial distribution on 1, 2, 3, ...

    ``P(k) ~ (1 - gamma)**k prod_{l < k} (l + shape) / (l + 1)``, where gamma follows from the mean. Shape 1 is the
    geometric distribution, shape 0 the logarithmic one: the smaller the shape, the less it costs, and the likelier it
    is that there are few runs.
    """

    mean: float  # mean number of runs, above 1 and at most 1,000
    shape: float = 1.0  # 0 or more

    def __post_init__(self) -> None:
        if not 1 < self.mean <= MOST_RUNS:
            raise ValueError(f"the mean number of runs must lie in (1, {MOST_RUNS:g}], got {self.mean}")
        if not 0 <= self.shape <= 100:
            raise ValueError(f"the shape must lie in [0, 100], got {self.shape}")

    @cached_property
    def gamma(self) -> float:
        """The parameter at which the mean is ``mean``, rounded down: a smaller gamma costs more."""
        low, high = 1e-12, 1.0
        for _ in range(200):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self._mean_at(middle) > self.mean else (low, middle)
        return low

    def _mean_at(self, gamma: float) -> float:
        if gamma >= 1:
            return 1.0
        if self.shape == 0:
            return (1 / gamma - 1) / -math.log(gamma)
        return self.shape * (1 - gamma) / (gamma * -math.expm1(self.shape * math.log(gamma)))

    @cached_property
    def log_probabilities(self) -> Floats:
        """``log P(k)`` up to a constant for ``k = 1, 2, ...``, to where the rest hardly matters.

        The rest is cut where ``sum k P(k)`` over it is below ``2**-40 P(1)``: every outcome of the search can be had in
        one run, so that no outcome's probability loses a larger share (see :data:`SLACK`).
        """
        decay = math.log1p(-self.gamma)
        most = math.ceil((60 + 2 * math.log(1 / self.gamma) + 4 * self.shape * math.log(1 / self.gamma)) / self.gamma)
        k = np.arange(1, most + 1, dtype=np.float64)
        if self.shape == 0:
            return np.asarray(k * decay - np.log(k), np.float64)
        steps = np.log(k[:-1] + self.shape) - np.log(k[:-1] + 1.0)
        return np.asarray(k * decay + np.concatenate([[0.0], np.cumsum(steps)]), np.float64)

    @property
    def scores(self) -> Ints:
        """:attr:`log_probabilities` in integers: what an exact sampler of ``exp(score / LOG_UNIT)`` takes."""
        relative = self.log_probabilities - self.log_probabilities.max()
        scores: Ints = np.round(relative * LOG_UNIT).astype(np.int64)
        return scores

    def charge(self, runs: Sequence[Sequence[Charge]], delta: float) -> Charge:
        """What the search costs, when one run picks one of several mechanisms by a public lottery.

        Theorem 2: if a run is ``(a, e)``- and ``(b, f)``-Renyi private, the search is ``(a, e')``-Renyi private with
        ``e' = e + (1 + shape)((1 - 1/b) f + log(1/gamma) / b) + log(mean) / (a - 1)``. With pure runs of ``e`` and ``a,
        b`` to infinity: pure ``(2 + shape) e``, which is the answer at ``delta = 0``. The lottery's outcome is part of
        what a run shows, so a run's divergence is at most the largest among the mechanisms, whose charges ``runs`` are.
        Raises ``ValueError`` for charges that have no Renyi divergence, or at ``delta = 0`` are not pure.
        """
        parts = [parts_of(charges) for charges in runs]
        if any(part.unlimited for part in parts):
            return NonPrivate()
        if delta == 0:
            pure = max(accountants.epsilon(charges, 0.0) for charges in runs)
            if not math.isfinite(pure):
                raise ValueError("at delta=0 every run must be pure")
            return Pure((2.0 + self.shape) * pure * (1 + 1e-12) + 2 * SLACK)
        if any(part.approx for part in parts):
            raise ValueError(
                "random stopping needs runs with a Renyi divergence, and an (epsilon, delta) charge has none"
            )
        first = np.max([divergence(part, ORDERS) for part in parts], axis=0)
        second = np.max([divergence(part, WITNESSES) for part in parts], axis=0)
        beside = (1.0 + self.shape) * float(((1 - 1 / WITNESSES) * second - math.log(self.gamma) / WITNESSES).min())
        total = first + beside + (math.log(self.mean) + (2 * ORDERS - 1) * SLACK) / (ORDERS - 1)
        falling = np.minimum.accumulate(total[::-1])[::-1]  # divergences rise with the order
        curve = falling * (1 + 1e-12)
        finite = np.isfinite(curve)
        return Renyi(tuple(ORDERS[finite].tolist()), tuple(curve[finite].tolist()))
