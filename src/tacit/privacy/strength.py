"""How strong a promise is, in a word: by how often the best guess at one protected unit can be right.

Epsilon alone says little: at a large delta, or from many small releases, the same epsilon means quite different things.
The trade-off curve (Dong, Roth, Su 2022) says all of it, and the best guess at a coin flip between two neighbouring
tables is one point of it, ``(1 + d) / 2`` with ``d`` the delta of the whole composition at epsilon 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.privacy import accountants
from tacit.privacy.charges import Charge

if TYPE_CHECKING:
    from tacit.privacy.certificate import Certificate

LEVELS = ((0.60, "strong"), (0.75, "moderate"), (1.0 - 1e-9, "weak"))
"""Up to which best guess a promise is called what. 60 % is what Gaussian privacy of mu = 0.5 allows, 3 to 2; 75 % is
3 to 1."""

LARGE_DELTA, LARGE_EPSILON = 1e-5, 10.0  # above these a promise deserves a warning, whatever the best guess is


class WeakPromise(UserWarning):
    """A promise that bounds little."""


def best_guess(prior: float, epsilon: float, delta: float) -> float:
    """How often the best guess between two neighbouring tables can be right, given an (epsilon, delta)-private release.

    The errors (false alarm, miss) that such a release allows lie on or above the lines through ``(0, 1 - delta)``,
    ``(c, c)`` and ``(1 - delta, 0)`` with ``c = (1 - delta) / (1 + e^epsilon)`` (Kairouz, Oh, Viswanath 2015); a linear
    function of them is least at a corner.

    Args:
        prior: how likely the guesser thought the first table before, in (0, 1).
        epsilon: at least 0, may be infinite.
        delta: in [0, 1).
    """
    if math.isinf(epsilon):
        return 1.0
    corner = (1.0 - delta) / (1.0 + math.exp(min(epsilon, 700.0)))
    return 1.0 - min(corner, prior * (1.0 - delta), (1.0 - prior) * (1.0 - delta))


def sharp_advantage(charges: Sequence[Charge], epsilon: float) -> float | None:
    """Delta of the whole composition at epsilon 0: how well the two tables can be told apart; None if not known."""
    if not charges or math.isinf(epsilon):
        return None
    return min(1.0, accountants.delta(charges, 0.0))


@dataclass(frozen=True)
class Strength:
    """What a promise is worth."""

    word: str  # `"strong"`, `"moderate"`, `"weak"` or `"none"`
    guess: float  # how often the best guess at a coin flip about one protected unit can be right
    warnings: tuple[str, ...]  # what deserves one, in sentences

    @property
    def guess_words(self) -> str:
        """The guess in words."""
        return (
            f"an attacker's best guess about one of them is right at most {percent(self.guess)} of the time (coin "
            "flip: 50 %)"
        )


def strength(
    epsilon: float, delta: float, advantage: float | None = None, rows: float | None = None, protected: str = "one row"
) -> Strength:
    """The strength of a promise to ``protected``; ``advantage`` is :func:`sharp_advantage`, if known.

    ``rows``: how many there are, as far as that was declared or released.
    """
    guess = best_guess(0.5, epsilon, delta)
    if advantage is not None:
        guess = min(guess, (1.0 + advantage) / 2)
    word = "none" if math.isinf(epsilon) else next((name for most, name in LEVELS if guess <= most), "none")
    return Strength(word, guess, tuple(_warnings(epsilon, delta, rows, protected)))


def strength_of(certificate: Certificate, rows: float | None = None) -> Strength:
    """The strength of what a certificate promises."""
    advantage = sharp_advantage(certificate.charges, certificate.epsilon)
    return strength(certificate.epsilon, certificate.delta, advantage, rows, certificate.protected)


def _warnings(epsilon: float, delta: float, rows: float | None, protected: str) -> list[str]:
    if math.isinf(epsilon):
        return ["epsilon is infinite: nothing is protected"]
    lines = []
    if rows is not None and delta > 1.0 / max(rows, 1.0):
        lines.append(
            f"delta {delta:g} is above 1 in {max(rows, 1.0):,.0f}, the number of rows: such a delta would even allow "
            "publishing a row now and then; choose a delta below one over the number of rows"
        )
    elif delta > LARGE_DELTA:
        lines.append(
            f"delta {delta:g} is above {LARGE_DELTA:g}: with that probability nothing is promised about {protected}; "
            "choose a delta below one over the number of rows"
        )
    if epsilon > LARGE_EPSILON:
        lines.append(
            f"epsilon {epsilon:g} is above {LARGE_EPSILON:g}: it bounds the probability of an outcome only within a "
            f"factor of {math.exp(min(epsilon, 700.0)):.3g}, which promises almost nothing"
        )
    return lines


def percent(share: float) -> str:
    """A share in per cent, never rounded up to a certainty it is not."""
    for digits in (1, 2, 3, 6):
        written = f"{100 * share:.{digits}f}"
        if share >= 1.0 or float(written) < 100.0:
            return f"{written} %"
    return "over 99.9999 %"
