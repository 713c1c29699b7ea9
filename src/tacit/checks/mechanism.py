"""`check_mechanism`: the contract of a mechanism on the integers: its law, and what the law costs.

False alarms: every comparison of draws with a law has a probability of at most :data:`ALPHA` to fail where nothing is
wrong, by inequalities that hold for every number of draws.

* Kolmogorov: Dvoretzky, Kiefer, Wolfowitz with Massart's constant, valid for discrete distributions too.
* Likelihood ratio: under the claimed law the ratio has mean at most 1, so it exceeds ``1 / ALPHA`` with probability at
  most ``ALPHA`` (Markov). The number of draws is such that the alternative is rejected with probability at least
  ``1 - ALPHA`` (Chernoff with exponent 1/2: ``ALPHA**-0.5 * affinity**n <= ALPHA``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import final

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.checks.failures import Failures
from tacit.privacy import accountants
from tacit.privacy.charges import Charge

ALPHA = 1e-11
"""Probability of a false alarm of one comparison."""

DRAWS = 100_000
"""Draws where no wrong law says how many: a distance of .023 between distributions is seen for sure."""

DELTAS = (0.0, 1e-3, 1e-6, 1e-9)
"""At which a charge is compared with its law."""

ROUNDING = 1e-12
"""Granted to sums of probabilities in floating point."""


@final
class Law:
    """A distribution on the integers ``first, first + 1, ...``.

    Args:
        first: the smallest value.
        weights: proportional to the probabilities of the values from there on; shape ``(values,)``.

    Example:
        >>> import numpy as np
        >>> from tacit.checks import Law
        >>> coin = Law(0, np.array([0.5, 0.5]))
        >>> print(coin.p, coin.cdf)
        [0.5 0.5] [0.5 1. ]
    """

    def __init__(self, first: int, weights: Floats) -> None:
        self.first = first
        self.p = weights / weights.sum()
        self.cdf = np.cumsum(self.p)

    def log_p(self, draws: Ints) -> Floats:
        """Logarithms of the probabilities of draws."""
        with np.errstate(divide="ignore"):  # no draw comes from where the mass is 0 in double precision
            logs: Floats = np.log(self.p)[draws - self.first]
        return logs

    def at(self, draws: Ints) -> Floats:
        """The distribution function at the draws."""
        steps = np.concatenate(([0.0], self.cdf))
        values: Floats = steps[np.clip(draws - self.first + 1, 0, len(self.cdf))]
        return values

    def on(self, other: Law) -> Floats:
        """This law's probabilities on the support of another; both are cut where their mass is negligible."""
        k = np.arange(len(other.p)) + other.first - self.first
        return np.where((k >= 0) & (k < len(self.p)), self.p[np.clip(k, 0, len(self.p) - 1)], 0.0)


def check_mechanism(
    draw: Callable[[int], Ints], law: Law, charge: Charge | None = None, *, shift: int = 1, wrong: Sequence[Law] = ()
) -> None:
    """Checks that draws have a law, and that the law costs no more than its charge.

    Draws are int64, differ from call to call, and have the law's distribution function. Those of a law in ``wrong``
    would be refused. Of a mechanism that adds noise, two answers that are ``shift`` apart are as hard to tell apart as
    the charge says, at delta 0 (if it is pure), 1e-3, 1e-6 and 1e-9.

    Args:
        draw: makes so many independent draws.
        law: what they should be distributed like.
        charge: what one release with this noise costs; None for a mechanism that adds none.
        shift: how far one protected unit moves the exact answer, in integer units.
        wrong: laws that the draws must not be taken for, such as that of a scale a tenth off.

    Raises:
        CheckError: with all that failed.

    Example:
        >>> import numpy as np
        >>> from tacit.checks import Law, check_mechanism
        >>> from tacit.noise import make_source
        >>> from tacit.privacy.charges import Laplace
        >>> law = Law(-600, np.exp(-np.abs(np.arange(-600, 601)) / 8.0))
        >>> check_mechanism(lambda n: make_source(None).laplace(8.0, n), law, Laplace(8.0))
    """
    failures = Failures(getattr(draw, "__name__", "the mechanism"))
    with failures.during("a draw"):
        size = max((draws_needed(law, other) for other in wrong), default=DRAWS)
        draws = draw(size)
        failures.expect(draws.dtype == np.int64 and draws.shape == (size,), f"draws must be int64 of shape ({size},)")
        failures.expect(not np.array_equal(draws, draw(size)), "two calls made the same draws")
        inside = (draws >= law.first) & (draws < law.first + len(law.p))
        failures.expect(bool(inside.all()), f"{draws[~inside][:1]} is no value of the law")
        distance, bound = kolmogorov_distance(draws, law), kolmogorov_bound(size)
        failures.expect(
            distance <= bound,
            f"its distribution function is {distance:.4f} away from the law's, and chance explains {bound:.4f}",
        )
        for number, other in enumerate(wrong):
            rejects = likelihood_ratio_rejects(draws, law, other)
            failures.expect(not rejects, f"{size} draws speak for the wrong law {number}")
    charges = [] if charge is None else [charge]
    for delta in DELTAS if charges else ():
        epsilon = accountants.epsilon(charges, delta)
        cost = max(hockey_stick(law, shift, epsilon), hockey_stick(law, -shift, epsilon))
        failures.expect(
            math.isinf(epsilon) or cost <= delta + ROUNDING,
            f"{charge} is ({epsilon:.4g}, {delta:g})-DP, and the law has a delta of {cost:.3g} at a shift of {shift}",
        )
    failures.raise_any()


def hockey_stick(law: Law, shift: int, epsilon: float) -> float:
    """The least delta at which a law and the same law moved by ``shift`` are ``epsilon`` apart, in one direction."""
    if math.isinf(epsilon):
        return 0.0
    moved = Law(law.first + shift, law.p).on(law)
    return float(np.maximum(law.p - math.exp(epsilon) * moved, 0.0)[_inner(law, shift)].sum())


def _inner(law: Law, shift: int) -> slice:
    """Where both the law and the moved one are known: beyond, both were cut."""
    return slice(max(shift, 0), len(law.p) + min(shift, 0))


def draws_needed(claimed: Law, other: Law) -> int:
    """Draws after which the likelihood ratio tells ``other`` with probability at least ``1 - ALPHA``."""
    affinity = float(np.sqrt(claimed.p * other.on(claimed)).sum())
    return math.ceil(1.5 * math.log(1 / ALPHA) / -math.log(affinity))


def likelihood_ratio_rejects(draws: Ints, claimed: Law, other: Law) -> bool:
    """Whether the draws speak for ``other`` against ``claimed``."""
    alternative = Law(claimed.first, other.on(claimed))
    return float((alternative.log_p(draws) - claimed.log_p(draws)).sum()) >= math.log(1 / ALPHA)


def kolmogorov_distance(draws: Ints, claimed: Law) -> float:
    """The largest distance between the empirical and the claimed distribution function."""
    values, counts = np.unique(draws, return_counts=True)
    empirical = np.cumsum(counts) / len(draws)
    below = np.concatenate(([0.0], empirical[:-1]))
    return float(max(np.abs(empirical - claimed.at(values)).max(), np.abs(below - claimed.at(values - 1)).max()))


def kolmogorov_bound(draws: int) -> float:
    """The distance that so many draws from the claimed law exceed with probability at most :data:`ALPHA`."""
    return math.sqrt(math.log(2 / ALPHA) / (2 * draws))
