"""From training error to error on new rows: margins and fat shattering, or privacy itself."""

from __future__ import annotations

import math
from collections.abc import Callable

FAT_SHATTERING_SCALE = 16
"""Theorem 23 takes the fat-shattering dimension at the margin divided by this."""


def fat_shattering_halfspaces(margin: float, length: float = 2.0) -> float:
    """Lemmas 24, 28, 29: dimension, at scale ``margin``, of halfspaces of length at most ``length`` on the unit ball.

    Lemma 28 (Servedio 2000): a shattered set of ``n`` points has ``|sum b_i x_i| >= margin n / length`` for all signs;
    Lemma 29 (Bartlett, Shawe-Taylor 1998): some signs give at most ``sqrt(n)``. So ``n <= length^2 / margin^2``; with
    length 2, ``4 / margin^2``.
    """
    if not margin > 0:
        raise ValueError(f"margin must be positive, got {margin}")
    return (length / margin) ** 2


def margin_bound(misfits: float, n_rows: int, margin: float, failure: float, length: float = 2.0) -> float:
    """Theorem 23 (Bartlett, Shawe-Taylor 1998): error on new rows, given the share of rows with too small a margin.

    ``k / n + sqrt(2 / n (d ln(34 e n / d) log2(578 n) + ln(4 / delta)))``, as its source has it. Bun, Carmosino and
    Sorrell print the factor of ``d`` alone divided by ``n``, and do not name the base of the second logarithm.

    Args:
        misfits: share of the training rows with margin below ``margin``.
        n_rows: number of training rows.
        margin: the margin.
        failure: probability that the bound fails (the theorem's delta).
        length: bound on the length of the halfspace.
    """
    dimension = fat_shattering_halfspaces(margin / FAT_SHATTERING_SCALE, length)
    if dimension >= n_rows:
        return 1.0
    n = float(n_rows)
    capacity = dimension * math.log(34 * math.e * n / dimension) * math.log2(578 * n)
    return min(1.0, misfits + math.sqrt(2 / n * (capacity + math.log(4 / failure))))


def margin_bound_rows(excess: float, margin: float, failure: float, length: float = 2.0) -> int:
    """The least number of rows at which Theorem 23 adds at most ``excess`` to the share of misfits."""
    return _least(lambda n: margin_bound(0.0, n, margin, failure, length) <= excess)


def transfer_rows(epsilon: float, delta: float) -> int:
    """Theorem 31 (Bassily et al. 2016): rows that it needs, ``log(4 epsilon / delta) / epsilon^2``."""
    _check_transfer(epsilon, delta)
    return math.ceil(math.log(4 * epsilon / delta) / epsilon**2)


def transfer_bound(epsilon: float, delta: float) -> tuple[float, float]:
    """Theorem 31: training and true error differ by at most ``18 epsilon``, but for probability ``delta / epsilon``."""
    _check_transfer(epsilon, delta)
    return 18 * epsilon, delta / epsilon


def _check_transfer(epsilon: float, delta: float) -> None:
    if not 0 < epsilon < 1 / 3:
        raise ValueError(f"Theorem 31 needs epsilon in (0, 1/3), got {epsilon}")
    if not 0 < delta < epsilon / 4:
        raise ValueError(f"Theorem 31 needs delta in (0, epsilon / 4), got {delta}")


def private_boosting_error(training_error: float, failure: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Theorems 32 and 33: error on new rows of any private boosting run, and the probability that this fails.

    Args:
        training_error: what the round bound gives (Theorem 32's alpha).
        failure: with what probability the round bound fails (beta).
        epsilon: the privacy of the whole run; the table must have :func:`transfer_rows` rows.
        delta: see ``epsilon``.
    """
    gap, miss = transfer_bound(epsilon, delta)
    return min(1.0, training_error + gap), min(1.0, failure + miss)


def _least(enough: Callable[[int], bool]) -> int:
    """The least positive integer from which a monotone condition holds."""
    high = 1
    while not enough(high):
        high *= 2
        if high > 1 << 80:
            raise ValueError("no number of rows is enough")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
