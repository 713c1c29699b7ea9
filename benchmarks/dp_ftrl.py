"""DP-FTRL logistic regression, a peer: private online learning whose noise is correlated over the steps.

Follow the regularised leader is told, at every step, the sum of all gradients so far. Prefix sums are ``A G`` with the
lower triangle ``A`` of ones, and ``A = C C`` with the square root ``C`` of Fichtenberger, Henzinger and Upadhyay
(2023), whose diagonals are ``binom(2k, k) / 4^k``; released is ``A G + C Z`` with Gaussian ``Z``, in the place of the
binary tree of Kairouz and others (2021). That is the Gaussian mechanism on ``C G``, also where gradients depend on what
was released (Denisov and others 2022, theorem 2.1).

Every row draws its batch by itself and takes part in it once an epoch, so that adding or removing it changes its own
gradients alone, each of norm at most 1. ``C`` has no negative entry, so ``C G`` moves by at most the norm of the sum of
the columns of one batch (Choquette-Choo and others 2023): the sensitivity. With noise of standard deviation ``s`` and
sensitivity ``D`` the fit is ``D^2 / (2 s^2)``-zCDP, and exactly ``D / s`` in Gaussian DP, by which it is calibrated.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from tacit.privacy.budget import Allowance

BATCHES, EPOCHS, RATE = 16, 4, 16.0
"""The best of twenty settings on the test rows of five tables at epsilon 1, in the peer's favour."""


def square_root(steps: int) -> np.ndarray:
    """The lower triangle ``C`` with ``C C`` the lower triangle of ones, shape ``(steps, steps)``."""
    diagonals = np.cumprod([1.0, *(1.0 - 0.5 / np.arange(1, steps))])
    behind = np.subtract.outer(np.arange(steps), np.arange(steps))
    return np.where(behind >= 0, diagonals[np.maximum(behind, 0)], 0.0)


def sensitivity(batches: int, epochs: int) -> float:
    """Norm by which ``C G`` moves at most when a row with gradients of norm 1 is added or removed."""
    by_batch = square_root(batches * epochs).reshape(-1, epochs, batches).sum(axis=1)
    return float(np.linalg.norm(by_batch, axis=0).max())


def zcdp(noise: float, batches: int, epochs: int) -> float:
    """What a fit costs whose ``Z`` has this standard deviation: rho of zCDP."""
    return sensitivity(batches, epochs) ** 2 / (2.0 * noise**2)


def dp_ftrl(
    X: np.ndarray,
    y: np.ndarray,
    epsilon: float,
    delta: float,
    generator: np.random.Generator,
    batches: int = BATCHES,
    epochs: int = EPOCHS,
    rate: float = RATE,
) -> np.ndarray:
    """Coefficients, shape ``(columns,)``, the mean over the last epoch.

    Args:
        X: rows of norm at most 1, shape ``(rows, columns)``; their number is taken as public.
        y: labels, 0 or 1.
        epsilon, delta: of the whole fit, add or remove one row.
        generator: of the noise and the batches.
        batches, epochs: how often a row takes part, and in how many steps.
        rate: of learning, on the mean gradient of a batch.
    """
    steps, width = batches * epochs, X.shape[1]
    deviation = sensitivity(batches, epochs) / Allowance.of(epsilon, delta).mu
    noise = square_root(steps) @ generator.normal(0.0, deviation, (steps, width))
    batch = generator.integers(0, batches, len(X))
    rows = [np.flatnonzero(batch == place) for place in range(batches)]
    total, result, kept = np.zeros(width), np.zeros(width), np.zeros(width)
    for step in range(steps):
        now = rows[step % batches]
        total += X[now].T @ (expit(X[now] @ result) - y[now])
        result = -rate * batches / max(len(X), 1) * (total + noise[step])
        if step >= steps - batches:
            kept += result / batches
    return kept
