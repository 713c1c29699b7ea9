"""From training error to error on new rows: margins (PAC-Bayes, Rademacher, fat shattering), or privacy itself.

The proofs of the first two, and which of all is the smallest where, are in docs/theory/generalisation.md.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats
from tacit.theory.checks import check_positive, least_where, require

FAT_SHATTERING_SCALE = 16  # Theorem 23 takes the fat-shattering dimension at the margin divided by this


def fat_shattering_halfspaces(margin: float, length: float = 2.0) -> float:
    """Lemmas 24, 28, 29: dimension, at scale ``margin``, of halfspaces of length at most ``length`` on the unit ball.

    Lemma 28 (Servedio 2000): a shattered set of ``n`` points has ``|sum b_i x_i| >= margin n / length`` for all signs;
    Lemma 29 (Bartlett, Shawe-Taylor 1998): some signs give at most ``sqrt(n)``. So ``n <= length^2 / margin^2``; with
    length 2, ``4 / margin^2``. Raises ``ValueError`` unless the margin is positive.
    """
    check_positive(margin=margin)
    return (length / margin) ** 2


def margin_bound(misfits: float, n_rows: int, margin: float, failure: float, length: float = 2.0) -> float:
    """Theorem 23 (Bartlett, Shawe-Taylor 1998): error on new rows, given the share of rows with too small a margin.

    ``k / n + sqrt(2 / n (d ln(34 e n / d) log2(578 n) + ln(4 / delta)))``, as its source has it. Bun, Carmosino and
    Sorrell print the factor of ``d`` alone divided by ``n``, and do not name the base of the second logarithm.

    ``misfits`` is the share of the training rows with margin below ``margin``, ``length`` a bound on the length of the
    halfspace, ``failure`` the probability that the bound fails (the theorem's delta).
    """
    dimension = fat_shattering_halfspaces(margin / FAT_SHATTERING_SCALE, length)
    if dimension >= n_rows:
        return 1.0
    n = float(n_rows)
    capacity = dimension * math.log(34 * math.e * n / dimension) * math.log2(578 * n)
    return min(1.0, misfits + math.sqrt(2 / n * (capacity + math.log(4 / failure))))


LEAST_PAC_BAYES_ROWS = 8  # Maurer (2004) proves `E exp(n kl(k / n || p)) <= 2 sqrt(n)` from this many rows on


def binary_divergence(p: Floats, q: Floats) -> Floats:
    """``kl(p || q)`` of two coins, in the common shape of both; ``0 log 0 = 0``."""
    from scipy.special import xlogy  # models are read without scipy

    divergence: Floats = xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q))
    return divergence


def largest_within(p: Floats, divergence: Floats) -> Floats:
    """The largest ``q >= p`` with ``kl(p || q) <= divergence``, or less than 2**-49 above it; shapes as given.

    Bisection from above: it is an upper bound of an error, and so is all that rounding may do to the divergence.
    """
    low, high = np.broadcast_arrays(p, divergence)[0].copy(), np.ones(np.broadcast(p, divergence).shape)
    divergence = divergence * (1 + 2.0**-40) + 2.0**-48
    for _ in range(50):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = binary_divergence(p, middle) <= divergence
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def pac_bayes_margin_bound(misfits: float, n_rows: int, margin: float, failure: float, length: float = 2.0) -> float:
    """Error on new rows of every halfspace of length at most ``length`` that has the margin on all but ``misfits``.

    With probability ``1 - delta`` over the rows, for all ``mu`` and ``theta >= 0`` fixed in advance,

        kl(misfits + Phi(theta - mu margin) || Phi(theta) error) <= (mu^2 length^2 / 2 + ln(2 sqrt(n) / delta)) / n,

    by the PAC-Bayes bound (Langford, Shawe-Taylor 2002; Maurer 2004) for normal vectors around ``mu w``, which pass
    ``theta`` with probability at least ``Phi(theta)`` on a row that ``w`` gets wrong. At ``theta = 0`` a halfspace errs
    at most twice as often as a random one. Here the smallest over a grid of both, which depends on the arguments alone.
    Where misfits are in proportion to the error it needs ``~ log(1 / alpha) / (alpha margin^2)`` rows: the order of
    Theorem 1. Rows are in the unit ball; ``misfits``, fixed in advance, bounds the share of them with a smaller margin;
    ``failure`` is ``delta``. Raises ``ValueError`` unless ``misfits`` is a share.
    """
    if n_rows < LEAST_PAC_BAYES_ROWS:
        return 1.0
    passes, risk, budget = _pac_bayes(misfits, n_rows, margin, failure, length)
    return min(1.0, float((largest_within(risk, budget) / passes).min()))


def pac_bayes_margin_proves(
    error: float, misfits: float, n_rows: int, margin: float, failure: float, length: float = 2.0
) -> bool:
    """Whether :func:`pac_bayes_margin_bound` is at most ``error``, which is quick to say."""
    if n_rows < LEAST_PAC_BAYES_ROWS:
        return False
    passes, risk, budget = _pac_bayes(misfits, n_rows, margin, failure, length)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = binary_divergence(risk, error * passes) >= budget * (1 + 2.0**-40) + 2.0**-48
    return bool((far & (risk < error * passes)).any())


def _pac_bayes(misfits: float, n_rows: int, margin: float, failure: float, length: float) -> tuple[Floats, ...]:
    """How often a normal vector errs on a row that the halfspace errs on, and misfits; and the divergence allowed."""
    from scipy.special import ndtr  # models are read without scipy

    require(0 <= misfits <= 1, f"misfits are a share, got {misfits}")
    fat_shattering_halfspaces(margin)  # refuses a margin that is none
    theta, beyond = np.meshgrid(np.linspace(0, 3, 13), np.linspace(0, 6, 25))
    risk = np.minimum(1.0, misfits + ndtr(-beyond))
    scale = (theta + beyond) / margin
    budget = ((scale * length) ** 2 / 2 + math.log(2 * math.sqrt(n_rows) / failure)) / n_rows
    return ndtr(theta), risk, budget


def rademacher_margin_bound(misfits: float, n_rows: int, margin: float, failure: float, length: float = 2.0) -> float:
    """The same by the ramp loss: ``misfits + 2 length / (margin sqrt(n)) + sqrt(ln(1 / delta) / (2 n))``.

    The ramp between 0 and the margin has slope ``1 / margin``, and halfspaces of length ``B`` on the unit ball have
    Rademacher complexity at most ``B / sqrt(n)`` (Bartlett, Mendelson 2002). Arguments as for
    :func:`pac_bayes_margin_bound`.
    """
    fat_shattering_halfspaces(margin)
    deviation = 2 * length / (margin * math.sqrt(n_rows)) + math.sqrt(math.log(1 / failure) / (2 * n_rows))
    return min(1.0, misfits + deviation)


MARGIN_BOUNDS = {"PAC-Bayes": pac_bayes_margin_bound, "ramp loss": rademacher_margin_bound, "Theorem 23": margin_bound}
"""All bounds on new rows that follow from margins; they take the same arguments."""


def new_rows(accuracy: float, misfits: float, margin: float, failure: float, length: float = 2.0) -> dict[str, int]:
    """The least number of rows at which each of :data:`MARGIN_BOUNDS` gives an error of at most ``accuracy``."""
    return {
        name: least_where(lambda n, bound=bound: bound(misfits, n, margin, failure, length) <= accuracy)  # type: ignore[misc]
        for name, bound in MARGIN_BOUNDS.items()
    }


def transfer_rows(epsilon: float, delta: float) -> int:
    """Theorem 31 (Bassily et al. 2016): rows that it needs, ``log(4 epsilon / delta) / epsilon^2``."""
    _check_transfer(epsilon, delta)
    return math.ceil(math.log(4 * epsilon / delta) / epsilon**2)


def transfer_bound(epsilon: float, delta: float) -> tuple[float, float]:
    """Theorem 31: training and true error differ by at most ``18 epsilon``, but for probability ``delta / epsilon``."""
    _check_transfer(epsilon, delta)
    return 18 * epsilon, delta / epsilon


def _check_transfer(epsilon: float, delta: float) -> None:
    require(0 < epsilon < 1 / 3, f"Theorem 31 needs epsilon in (0, 1/3), got {epsilon}")
    require(0 < delta < epsilon / 4, f"Theorem 31 needs delta in (0, epsilon / 4), got {delta}")


def private_boosting_error(training_error: float, failure: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Theorems 32 and 33: error on new rows of any private boosting run, and the probability that this fails.

    The round bound gives its training error (alpha) but for ``failure`` (beta); the table must have
    :func:`transfer_rows` rows at the privacy of the whole run.
    """
    gap, miss = transfer_bound(epsilon, delta)
    return min(1.0, training_error + gap), min(1.0, failure + miss)
