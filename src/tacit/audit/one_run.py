"""`audit_in_one_run`: a lower bound on epsilon from a single fit with many canaries.

Every canary is a row with a category of its own, and a coin decides whether it is in the table. After one fit, the
canaries whose rows raise the model's score most are said to be in, those that raise it least to be out, and nothing is
said of the others. With the model and all other coins known, a coin is guessed right with a chance of at most
``e^epsilon / (1 + e^epsilon)``; so the number of right guesses is at most binomial, however they hang together.

Delta is paid as the chance that it may add to any guess: an (epsilon, delta)-private mechanism is randomised response
that with a chance of delta gives all away (Kairouz, Oh, Viswanath 2015), for each canary.

Of Gaussian noise more is shown. *Whatever hangs together*: if each canary alone is mu-Gaussian private given all
others, right guesses obey a recursion over their number (:func:`gaussian_refuted`). *Independent canaries*: if they are
told apart by noise of their own, the privacy losses ``|L|`` of ``n`` canaries are independent, and given them a guess
is wrong with a chance of ``1 / (1 + e^|L|)``. Of the ``r`` canaries with the largest losses nothing is surer than that:
given the quantile ``t`` of the next one, which is Beta(n - r, r + 1), errors are Binomial(r, m(t)) with ``m(t)`` the
mean chance of an error above ``t``. This is tight for noise in disjoint cells, and no bound for mechanisms whose
canaries share their luck, which no privacy claim forbids.

Source: Steinke, Nasr, Jagielski 2023, "Privacy auditing with one (1) training run", section 5; Mahloujifar, Melis,
Chaudhuri 2025, "Auditing f-differential privacy in one run" (arXiv:2410.22235); Xiang and others 2025, "Tight privacy
audit in one run" (arXiv:2509.08704), whose tail over ranks is exact here.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
from scipy.special import betainc, expit, ndtr, ndtri
from scipy.stats import binom

from tacit.arrays import Floats
from tacit.audit.audit_estimator import seed_of
from tacit.audit.bound import best_guess_of_pure, epsilon_of_shift, largest_where, least_chance
from tacit.audit.guess import scores
from tacit.audit.judge import gaussian_claim
from tacit.audit.plan import checked_estimator, copied, named
from tacit.encoding.frames import Frame
from tacit.estimators.base import Estimator
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

CLASSES = ("no", "yes")
CROWD = 30
"""Rows of either class in every category beside the canary, so that no count comes near 0, below which little shows."""

FEWEST = 8
"""Fewer canaries show nothing."""


@final
@dataclass(frozen=True)
class GaussianOneRun:
    """What one fit with many canaries shows if its noise is Gaussian.

    Attributes:
        epsilon_lower: the lower bound, however canaries hang together.
        independent: the bound if each canary is told apart by noise of its own. It is no part of the verdict.
        usual: what ``independent`` is on average, of such noise that uses up the claim for every canary.
    """

    epsilon_lower: float
    independent: float
    usual: float


@final
@dataclass(frozen=True)
class OneRun:
    """What one fit with many canaries shows.

    Attributes:
        estimator: its class.
        epsilon, delta: what it claims, of adding or removing one row.
        canaries: rows whose coin was to be guessed.
        guesses: how many of them a guess was made of.
        right: how many guesses were right.
        confidence: of the bound.
        epsilon_lower: the lower bound.
        usual: what would be shown on average had every guess the largest chance that the claim allows.
        gaussian: bounds for Gaussian noise, where the certificate names nothing else.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import audit_in_one_run
        >>> print(type(audit_in_one_run(RandomTreesClassifier(n_trees=1), random_state=0)).__name__)
        OneRun
    """

    estimator: str
    epsilon: float
    delta: float
    canaries: int
    guesses: int
    right: int
    confidence: float
    epsilon_lower: float
    usual: float
    gaussian: GaussianOneRun | None = None

    @property
    def holds(self) -> bool:
        """Whether no bound that assumes nothing of the canaries contradicts the claim. True is no proof."""
        gaussian = 0.0 if self.gaussian is None else self.gaussian.epsilon_lower
        return max(self.epsilon_lower, gaussian) <= self.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {**asdict(self), "holds": self.holds}

    def __str__(self) -> str:
        gaussian = ""
        if self.gaussian is not None:
            gaussian = (
                f"  if Gaussian     epsilon {self.gaussian.epsilon_lower:.3g} at least; "
                f"{self.gaussian.independent:.3g} if the canaries' noise is independent, too "
                f"({self.gaussian.usual:.3g} is usual)\n"
            )
        verdict = "nothing found that contradicts the claim" if self.holds else "the claim is VIOLATED"
        return (
            f"{self.estimator}: one fit with {self.canaries} canaries, {100 * self.confidence:g} % confidence\n"
            f"  claimed         epsilon {self.epsilon:g}, delta {self.delta:g}\n"
            f"  at least        epsilon {self.epsilon_lower:.3g} ({self.right} of {self.guesses} guesses right)\n"
            f"  usual           epsilon {self.usual:.3g}, of a learner that uses up its claim for every canary\n"
            f"{gaussian}"
            f"  verdict         {verdict}"
        )


def audit_in_one_run(
    estimator: Any, *, canaries: int = 100, confidence: float = 0.95, random_state: int | None = None
) -> OneRun:
    """A lower bound on the epsilon of a classifier from one fit to a made-up table with many canaries.

    The table has one column of categories, one for every canary. That suits learners that release something about
    every category; what a learner merges cannot be told apart, and the bound is 0.

    Args:
        estimator: as for :func:`tacit.audit.audit_estimator`, without a schema of its own.
        canaries: rows whose presence is guessed. More show more, until the learner merges their categories.
        confidence: of the bound.
        random_state: None for fresh noise and coins; an integer makes the audit repeatable.

    Returns:
        The bound and the claim; ``print`` it.

    Raises:
        ValueError: for what cannot be audited, or for fewer than 8 canaries.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import audit_in_one_run
        >>> found = audit_in_one_run(RandomTreesClassifier(epsilon=4.0, delta=0.0, n_trees=1), random_state=0)
        >>> print(found.canaries, found.epsilon_lower <= found.epsilon)
        100 True
    """
    if canaries < FEWEST:
        raise RequestError(f"canaries must be at least {FEWEST}, got {canaries}")
    request = checked_estimator(estimator, None, random_state)
    if request.neighbouring is not Neighbouring.ADD_OR_REMOVE_ONE:
        raise RequestError("canaries come and go: an audit in one run is of add_or_remove_one")
    if getattr(estimator, "schema", None) is not None:
        raise RequestError("an audit in one run makes its own table of categories: leave the schema out")
    seed = None if random_state is None else seed_of(random_state, 0, 0)
    tossed = time.time_ns() if random_state is None else random_state  # nobody who guesses looks at the clock
    coins = np.asarray([seed_of(tossed, place, 1) % 2 == 1 for place in range(canaries)])
    model = copied(estimator)
    if seed is not None:
        model.set_params(**dict.fromkeys(named(model, "random_state"), seed))
    X, y, probes = _table(model, coins)
    model.tells = False  # synthetic rows are nothing to warn of
    model = model.fit(X, y) or model
    right, guesses = _guessed(scores(model, probes, CLASSES[1]), coins)
    certificate = getattr(model, "certificate_", None)
    charges = () if certificate is None else certificate.charges
    mu = gaussian_claim(charges, request.epsilon, request.delta)
    share = (1 - confidence) / (1 if mu is None else 3)  # all bounds hold together
    gaussian = None
    if mu is not None:
        often = usually_right(mu, guesses, canaries)
        lower, usual = (gaussian_epsilons(number, guesses, canaries, request.delta, share) for number in (right, often))
        gaussian = GaussianOneRun(*lower, usual[1])
    error = share - canaries * request.delta
    lower_bound = epsilon_of_guesses(right, guesses, error)
    often = round(guesses * best_guess_of_pure(request.epsilon))
    return OneRun(type(estimator).__name__, request.epsilon, request.delta, canaries, guesses, right, confidence,
                  lower_bound, epsilon_of_guesses(often, guesses, error), gaussian)  # fmt: skip


def epsilon_of_guesses(right: int, guesses: int, error: float) -> float:
    """The least epsilon at which so many right guesses have a chance of at least ``error``; 0 if any has."""
    if error <= 0:
        return 0.0
    chance = least_chance(right, guesses, error)
    return max(0.0, math.log(chance / (1 - chance))) if chance > 0 else 0.0


def _guessed(scores: Floats, coins: Any) -> tuple[int, int]:
    """Right guesses, and guesses, about the quarters of the canaries with the highest and the lowest scores."""
    order, each = np.argsort(scores, kind="stable"), len(coins) // 4
    return int(coins[order[-each:]].sum() + (~coins[order[:each]]).sum()), 2 * each


def _table(model: Any, coins: Any) -> tuple[Any, Any, Any]:
    """A table, its labels, and one row of every category to ask a model about."""
    places = np.arange(len(coins))
    cells = np.concatenate([np.repeat(places, 2 * CROWD), places[coins]])
    labels = np.asarray([*(CLASSES * CROWD) * len(coins), *[CLASSES[1]] * int(coins.sum())], object)
    if not isinstance(model, Estimator):
        return cells[:, None].astype(float), labels, places[:, None].astype(float)
    names = np.asarray([f"c{place}" for place in places], object)
    model.schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": list(CLASSES)},
            "columns": {"kind": {"kind": "categorical", "categories": names.tolist(), "allow": "identifier"}},
        }
    )
    return Frame({"kind": names[cells]}, len(cells)), labels, Frame({"kind": names}, len(names))


QUANTILES = 20_000
"""Cells of equal chance into which losses are divided."""

FAR = 9.0
"""Standard deviations beyond which Gaussian noise does not fall."""


def gaussian_refuted(mu: float, right: int, guesses: int, canaries: int, error: float) -> bool:
    """Whether so many right guesses, or more, have a chance of less than ``error`` where all canaries are mu-Gaussian.

    Source: Mahloujifar, Melis, Chaudhuri 2025, Algorithm 2 with abstentions.
    """
    bar, most = error * (guesses - right) / canaries, guesses / canaries
    total = error * right / canaries
    for wrong in range(right - 1, -1, -1):
        higher = max(bar, float(ndtr(ndtri(min(total, 1.0)) - mu)))
        total += wrong / (guesses - wrong) * (higher - bar)
        bar = higher
        if total + bar > most:
            return True
    return total + bar > most


def errors_above(mu: float) -> Floats:
    """The mean chance of an error where the loss is above a quantile, by quantile; shape ``(QUANTILES,)``."""
    losses = np.linspace(0.0, mu * (mu / 2 + FAR), 2 * QUANTILES)
    below = ndtr(losses / mu - mu / 2) - ndtr(-losses / mu - mu / 2)
    middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
    chances = expit(-np.interp(middles, below, losses))
    means: Floats = np.cumsum(chances[::-1])[::-1] / np.arange(QUANTILES, 0, -1)
    return means


def independent_chance(mu: float, right: int, guesses: int, canaries: int) -> float:
    """The chance of so many right guesses, or more, about the most telling of independent mu-Gaussian canaries."""
    means = errors_above(mu)
    if guesses == canaries:
        return float(binom.cdf(guesses - right, guesses, means[0]))
    edges = betainc(canaries - guesses, guesses + 1, np.arange(QUANTILES + 1) / QUANTILES)
    return float(np.diff(edges) @ binom.cdf(guesses - right, guesses, means))


def gaussian_epsilons(right: int, guesses: int, canaries: int, delta: float, error: float) -> tuple[float, float]:
    """Lower bounds on epsilon, each but for a chance of ``error``: for any canaries, and for independent ones."""
    shifts = (
        largest_where(lambda mu: gaussian_refuted(mu, right, guesses, canaries, error)),
        largest_where(lambda mu: independent_chance(mu, right, guesses, canaries) < error),
    )
    whatever, independent = (epsilon_of_shift(mu, delta) if mu > 0 else 0.0 for mu in shifts)
    return whatever, independent


def usually_right(mu: float, guesses: int, canaries: int) -> int:
    """Right guesses about the most telling of independent canaries, on average."""
    wrong = float(errors_above(mu)[round(QUANTILES * (1 - guesses / canaries))])
    return round(guesses * (1 - wrong))
