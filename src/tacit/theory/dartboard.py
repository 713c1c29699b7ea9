"""Samples of Winnow's weights that are kept from epoch to epoch (a shrinking dartboard): how many, and what they cost.

After Geulen, Vöcking, Winkler (2010). *Ours*: the theorems and proofs are in docs/theory/winnow.md. At the end of an
epoch with sums ``S`` every drawn index ``j`` is kept with probability ``exp(gamma min(S_j, B) - decay eta)`` and drawn
anew from the new weights otherwise, ``eta = gamma B``. No learner of this library does so: the order of the mistakes is
lower than that of fresh draws, ``1 / (eps rho^2.5)`` for ``1 / (eps rho^3)``, and the constants are larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.theory.winnow import batch_samples, batch_updates

DECAY = 5.0
"""``theta``: indices are drawn anew more often than need be, so that what mistakes tell of them is forgotten."""

TERMS = 60
"""Terms of the series in :func:`contraction`; at rates up to 2/3 the rest is below 1e-80."""

DEVIATION = 6.3
"""``C``: samples deviate from the weights by ``C sqrt(k lambda / m)`` on products of ``k`` rounds."""


def contraction(rate: float, decay: float = DECAY) -> float:
    """What of the deviations comes back through the sums, which follow from them: below 1, or nothing is proved.

    ``sum_l rate^l / l! (sqrt(1 + l) + sqrt(l)) / (exp(decay rate) - 1)``, at most ``(1 + sqrt 2) / decay``.
    """
    series, term = 0.0, 1.0
    for power in range(1, TERMS):
        term *= rate / power
        series += term * (math.sqrt(1 + power) + math.sqrt(power))
    return series / math.expm1(decay * rate)


def samples(margin: float, epochs: int, horizon: int, beta: float) -> int:
    """Indices with which, but for ``beta``, no mistake in any epoch has ``y <w, x> > c rho``, ``c = 1/3``.

    ``m = (C / (c rho))^2 lambda`` with ``lambda = ln(4 (K + 1) (T + 1) / beta)``.
    """
    logarithm = math.log(4.0 * (epochs + 1.0) * (horizon + 1.0) / beta)
    return math.ceil((DEVIATION / (1.0 / 3.0 * margin)) ** 2 * logarithm)


def fresh_draws(n_samples: int, epochs: int, rate: float, beta: float) -> int:
    """A cap on the draws that only a share ``beta`` of the runs would exceed (Bernstein, over independent coins)."""
    mean = n_samples * epochs * -math.expm1(-(DECAY + 1.0) * rate)
    logarithm = math.log(1.0 / beta)
    return math.ceil(n_samples + mean + math.sqrt(2.0 * mean * logarithm) + 2.0 / 3.0 * logarithm)


def keep_loss(per_mistake: float, rate: float, shift: float = 1.0) -> tuple[float, float]:
    """What one decision to keep costs, for the one epoch that a row is in: ``(zCDP, largest order)``.

    Under a row that moves a score by ``shift`` the Renyi divergence of order ``a`` is at most ``a`` times the first,
    for orders up to the second.
    """
    room = math.expm1((DECAY - 1.0) * rate)
    largest = per_mistake * shift * max(1.0, 1.0 / room)
    zcdp = math.exp(1.0 + 2.0 * per_mistake * shift) / 2.0 * (per_mistake * shift) ** 2 / room
    return zcdp, 2.0 + 1.0 / largest


@dataclass(frozen=True)
class Promise:
    """What a way to sample promises.

    Attributes:
        epochs: updates at most, ``K``.
        n_samples: indices in a predictor, ``m``.
        draws: exponential mechanisms that are paid for.
        batch: mistakes in an epoch at most, ``B``.
        mistakes: in the whole stream at most, ``(K + 1) B``.
    """

    epochs: int
    n_samples: int
    draws: int
    batch: float
    mistakes: float


def promised(
    n_weights: int, margin: float, zcdp: float, slack: int, horizon: int, beta: float, kept: bool,
    delta: float = 1e-6,
) -> Promise:  # fmt: skip
    """Mistakes under add/remove with fresh samples in every epoch (Theorem 4), or with samples that are kept.

    Args:
        n_weights: number of weights.
        margin: of the target.
        zcdp: what the draws (and the decisions to keep) may cost.
        slack: above-threshold errs by at most so many mistakes.
        horizon: rounds.
        beta: probability that samples fail, and that the cap on draws is too small.
        kept: whether indices are kept.
        delta: at which zCDP becomes approximate; the divergence of order ``1 + sqrt(ln(1 / delta) / zcdp)`` decides.
    """
    needed = 1.0 + math.sqrt(math.log(1.0 / delta) / zcdp)
    epochs, rate = batch_updates(n_weights, margin), 2.0 / 3.0 * margin  # c = 1/3
    n_samples = (samples if kept else batch_samples)(margin, epochs, horizon, beta)
    draws = fresh_draws(n_samples, epochs, rate, beta) if kept else n_samples * epochs
    batch = max(4.0 * slack, rate * math.sqrt(draws / (2.0 * zcdp)))
    while kept:  # what keeping costs falls with the batch
        each, order = keep_loss(rate / batch, rate)
        whole = draws * (rate / batch) ** 2 / 2.0 + n_samples * each
        if whole <= zcdp and order >= needed:
            break
        batch *= 1.001
    return Promise(epochs, n_samples, draws, batch, (epochs + 1.0) * batch)
