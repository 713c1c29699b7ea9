"""How strong a promise is, in a word: by how often the best guess at one protected unit can be right.

Epsilon alone says little: at a large delta, or from many small releases, the same epsilon means quite different things.
The trade-off curve (Dong, Roth, Su 2022) says all of it, and the best guess at a coin flip between two neighbouring
tables is one point of it, ``(1 + d) / 2`` with ``d`` the delta of the whole composition at epsilon 0.

What an attacker can achieve at most are others. All of them are points of one curve: the largest rate of true positives
at every rate of false positives, for an attacker who knows everything but whether one person, or a group, is in the
table. Of Gaussian charges the curve is known exactly; of others it is the lower envelope of the lines that the privacy
profile (delta at every epsilon) allows.

Source: Dong, Roth, Su 2022, section 2 (trade-off functions, Proposition 2.13 for profiles, Theorem 2.14 for groups);
Yeom and others 2018 (advantage); Carlini and others 2022 (true positives at few false ones); Balle, Cherubin, Hayes
2022 and Hayes, Mahloujifar, Balle 2023 (reconstruction).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from tacit.privacy import accountants
from tacit.privacy.charges import Charge
from tacit.privacy.composition import parts_of
from tacit.privacy.gaussian import gaussian_epsilon

if TYPE_CHECKING:
    from tacit.privacy.certificate import Certificate


LEVELS = ((0.60, "strong"), (0.75, "moderate"), (1.0 - 1e-9, "weak"))
"""Up to which best guess a promise is called what. 60 % is what Gaussian privacy of mu = 0.5 allows, 3 to 2; 75 % is
3 to 1."""

LARGE_DELTA, LARGE_EPSILON = 1e-5, 10.0  # above these a promise deserves a warning, whatever the best guess is


class WeakPromise(UserWarning):
    """A promise that bounds little."""


def best_guess(prior: float, epsilon: float, delta: float) -> float:
    """How often the best guess between two neighbouring tables can be right, after an (epsilon, delta)-private release.

    The errors (false alarm, miss) that such a release allows lie on or above the lines through ``(0, 1 - delta)``,
    ``(c, c)`` and ``(1 - delta, 0)`` with ``c = (1 - delta) / (1 + e^epsilon)`` (Kairouz, Oh, Viswanath 2015); a linear
    function of them is least at a corner. ``prior`` in (0, 1): how likely the guesser thought the first table before.
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
        text = f"{100 * share:.{digits}f}"
        if share >= 1.0 or float(text) < 100.0:
            return f"{text} %"
    return "over 99.9999 %"


FEW, FEWER, ONE_IN_TEN = 0.01, 0.001, 0.1
"""Rates of false positives that membership inference is reported at; the chance of a guess without the model."""

PROFILE = 33
"""Deltas, from that at epsilon 0 down, at which epsilon is evaluated. Fewer give a larger bound, never a wrong one."""

SMALLEST, LARGEST = 1e-9, 30.0
"""A smaller delta hardly moves a rate of 0.001, and an epsilon beyond this does not bound it."""

GROUP_DELTAS = 25  # deltas for one person that are tried for a group, by half orders of magnitude
Curve = Callable[[float], float]  # from a rate of false positives to the largest rate of true positives


@dataclass(frozen=True)
class AttackRisk:
    """Upper bounds on what an attacker achieves against a group of persons (or rows, where rows are protected)."""

    persons: int  # how many persons the group has, all present or all absent; 1 is one person
    advantage: float  # true minus false positives of the best membership inference, from 0 to 1
    true_positives_at_1_percent: float  # its rate of true positives where 1 % of the absent are accused
    true_positives_at_01_percent: float  # the same where 0.1 % are accused
    reconstruction: float  # the chance to guess a secret of theirs that is guessed 1 time in 10 without the model

    def to_dict(self) -> dict[str, float]:
        """Plain JSON data."""
        return asdict(self)


def attack_risks(charges: Sequence[Charge], groups: Sequence[int] = (1, 10)) -> tuple[AttackRisk, ...]:
    """The bounds for a release with these charges; exact for Gaussian ones, above the truth for others.

    Under either neighbouring relation: groups are of so many persons who come and go, or who are replaced. Raises
    ``ValueError`` if a group is empty, or a charge is of no known kind.
    """
    single = trade_off(charges)
    return tuple(_risk(single(persons), persons) for persons in groups)


def _risk(curve: Curve, persons: int) -> AttackRisk:
    return AttackRisk(persons, _advantage(curve), curve(FEW), curve(FEWER), curve(ONE_IN_TEN))


def group_epsilon(charges: Sequence[Charge], delta: float, persons: int) -> float:
    """An epsilon that holds at ``delta`` for a group of persons: exact for Gaussian charges, an upper bound else.

    What is (e, d)-private for one person is ``(k e, d (exp(k e) - 1) / (exp(e) - 1))``-private for k (Vadhan 2017,
    Lemma 2.2); the best of several d counts.
    """
    parts = parts_of(charges)
    if parts.unlimited:
        return math.inf
    if parts.only_gaussian:
        return gaussian_epsilon(_checked(persons) * parts.mu, delta)
    if _checked(persons) == 1:
        return accountants.epsilon(charges, delta)
    best = persons * accountants.epsilon(charges, 0.0)
    for place in range(GROUP_DELTAS if delta > 0 else 0):
        smaller = delta * 10.0 ** (-place / 2)
        one = accountants.epsilon(charges, smaller)
        if persons * one < min(best, 700.0) and smaller * _grown(one, persons) <= delta:
            best = persons * one
    return best


def _grown(epsilon: float, persons: int) -> float:
    """``1 + e^epsilon + ... + e^((k - 1) epsilon)``, rounded up."""
    return math.fsum(math.exp(place * epsilon) for place in range(persons)) * (1 + 1e-12)


def trade_off(charges: Sequence[Charge]) -> Callable[[int], Curve]:
    """The largest rate of true positives at a rate of false positives in [0, 1], for a group of so many persons."""
    parts = parts_of(charges)
    if parts.unlimited:
        return lambda _: lambda _: 1.0
    if parts.only_gaussian:
        return lambda persons: _gaussian(_checked(persons) * parts.mu)
    lines = _lines(charges)

    def single(false: float) -> float:
        most = 1.0
        for factor, delta in lines:
            most = min(most, factor * false + delta, 1.0 - (1.0 - false - delta) / factor)
        return most

    def repeated(persons: int, false: float) -> float:
        for _ in range(persons):
            false = single(false)
        return false

    return lambda persons: partial(repeated, _checked(persons))


def _checked(persons: int) -> int:
    if persons < 1:
        raise ValueError(f"a group has at least 1 person, got {persons}")
    return persons


def _gaussian(mu: float) -> Curve:
    from scipy.special import ndtr, ndtri  # loading it takes as long as all of ``import tacit`` may

    return lambda false: float(ndtr(ndtri(false) + mu)) if mu else false


def _lines(charges: Sequence[Charge]) -> list[tuple[float, float]]:
    """Pairs of ``e^epsilon`` and delta that hold: true positives <= e^epsilon x false positives + delta."""
    total = accountants.delta(charges, 0.0)
    ratio = (SMALLEST / total) ** (1 / PROFILE) if total > SMALLEST else 1.0
    deltas = [total * ratio**place for place in range(1, PROFILE + 1)]
    pairs = [(accountants.epsilon(charges, delta), delta) for delta in (*deltas, 0.0) if delta < 1]
    return [(1.0, total), *((math.exp(epsilon), delta) for epsilon, delta in pairs if epsilon < LARGEST)]


def _advantage(curve: Curve) -> float:
    """The largest difference of true and false positives, rounded up.

    A trade-off that holds in both orders of the neighbours is symmetric, and its difference is largest where false
    positives are as frequent as misses.
    """
    low, high = 0.0, 0.5
    while high - low > 1e-12:
        middle = (low + high) / 2
        if curve(middle) + middle > 1.0:
            high = middle
        else:
            low = middle
    return 1.0 - 2.0 * low
