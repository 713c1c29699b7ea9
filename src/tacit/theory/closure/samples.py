"""Sample sizes of the private closure paper, with constants.

Source: Alon, Beimel, Moran, Stemmer 2020, by number. Every function says whether its constant is the paper's, is
derived here (the docstring has the derivation), or is *O(.) with constant 1*: then it shows how the size grows and no
more. ``vc`` is a VC dimension, ``alpha`` an accuracy, ``beta`` a failure probability; sizes are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.theory.checks import check_positive, least_where, require

PAPER_RELABEL_EPSILON = 1.0  # Algorithm 2 runs the exponential mechanism with this privacy parameter


def _check(alpha: float, beta: float) -> None:
    require(0 < alpha < 1 and 0 < beta < 1, f"alpha and beta must lie in (0, 1), got {alpha} and {beta}")


def realizable_rows(vc: int, alpha: float, beta: float) -> int:
    """Theorem 3.8: ``80/alpha (vc ln(16/alpha) + ln(2/beta))``; the paper's constant.

    From then on, but for probability beta, two functions of the class that agree to within ``alpha / 2`` on the sample
    agree to within alpha on the distribution.
    """
    _check(alpha, beta)
    return math.ceil(80 / alpha * (vc * math.log(16 / alpha) + math.log(2 / beta)))


def agnostic_rows(vc: int, alpha: float, beta: float) -> int:
    """Theorem 3.9 with the constant of Vapnik and Chervonenkis: the least m at which the bound below is at most beta.

    ``P(some |error - empirical error| >= alpha) <= 4 * Pi(2m) * exp(-alpha^2 m / 8)`` (Anthony, Bartlett 2009, Thm
    4.3), with Sauer's ``Pi(2m) <= (2 e m / vc)^vc``. The paper states ``gamma (vc + ln(1/beta)) / alpha^2`` without
    gamma.
    """
    _check(alpha, beta)

    def log_bound(m: int) -> float:
        growth = vc * math.log(2 * math.e * m / vc) if vc else 0.0
        return math.log(4) + growth - alpha * alpha * m / 8

    least = max(1, math.ceil(8 * vc / alpha**2), vc)  # the bound falls from here on
    return least_where(lambda m: log_bound(m) <= math.log(beta), least - 1)


@dataclass(frozen=True)
class PrivateGeneralisation:
    """Theorem 3.14 for a mechanism: ``truth <= factor * (empirical + slack)`` but for probability ``failure``."""

    factor: float
    slack: float
    failure: float


def private_generalisation(epsilon: float, delta: float, rows: int) -> PrivateGeneralisation:
    """Theorem 3.14: ``e^(2 eps) (empirical + 10/(eps n) log(1/(eps delta n)))``; failure is O(.) with constant 1.

    ``epsilon`` and ``delta`` (of a pure algorithm any positive one) are of the algorithm that outputs the predicate.
    Raises ``ValueError`` if ``epsilon * delta * rows`` is not below 1: then the theorem says nothing.
    """
    product = epsilon * delta * rows
    require(0 < product < 1, f"the theorem needs 0 < epsilon * delta * rows < 1, got {product}")
    log = math.log(1 / product)
    return PrivateGeneralisation(math.exp(2 * epsilon), 10 / (epsilon * rows) * log, min(1.0, product / log))


def private_error_in_expectation(empirical: float, epsilon: float, delta: float) -> float:
    """The mean truth of a predicate that a mechanism chooses: ``e^(2 eps) empirical + (1 + e^eps) delta``.

    In place of Theorem 3.14, in expectation and with all its constants, derived here: a fresh row and one of the sample
    may be exchanged, which is removing a row and adding one. Attained up to ``1/N`` by ``N`` predicates that each hold
    of one of ``N`` points, and one that holds of none (docs/theory/agnostic_part.md).

    ``empirical`` is the mean share of the sample of which the predicate holds; privacy is that of the mechanism under
    adding or removing a row.
    """
    return min(1.0, math.exp(2 * epsilon) * empirical + (1 + math.exp(epsilon)) * delta)


def private_error_but_for(
    empirical: float, epsilon: float, delta: float, rows: int, failure: float, spare: float
) -> float:
    """Theorem 3.14 with all its constants, derived here: the truth of the predicate, but for probability ``failure``.

    ``c empirical + e/(e-1) (c ln(K+1)/(spare rows) + K (1 + e^(eps + spare)) delta)`` with ``c = e^(2 (eps + spare))``
    and ``K = ceil(1/failure)``: of K runs on samples of their own the worst is chosen at ``spare``, which the mean over
    all (:func:`private_error_in_expectation`) bounds (docs/theory/agnostic_part.md). ``delta`` has to be far below
    ``failure``; a small ``spare`` makes the factor nearly ``e^(2 eps)``, and large what is added. Raises ``ValueError``
    unless ``spare`` is positive.
    """
    _check(0.5, failure)
    check_positive(spare=spare)
    runs, factor = math.ceil(1 / failure), math.exp(2 * (epsilon + spare))
    added = factor * math.log(runs + 1) / (spare * rows) + runs * (1 + math.exp(epsilon + spare)) * delta
    return min(1.0, factor * empirical + added * math.e / (math.e - 1))


def unseen_disagreement(vc: int, half: int, beta: float) -> float:
    """The share of a second sample on which concepts differ that agree on a first; ``t`` rows each.

    ``(2 VC log2(2 e t / VC) + log2(1 / b)) / t``: no two differ on more but for probability beta. Derived here: of two
    patterns on all ``2 t`` points that differ in ``k``, a random exchange of the i-th of both samples leaves all ``k``
    in the second with probability ``2^-k`` at most, and there are ``(2 e t / VC)^(2 VC)`` pairs at most.
    """
    _check(0.5, beta)
    growth = 2 * vc * math.log2(2 * math.e * half / vc) if vc else 0.0
    return min(1.0, (growth + math.log2(1 / beta)) / half)


def improper_part_error(
    vc: int, half: int, scoring: float, learner: tuple[float, float], error: float, failure: float, beta: float
) -> float:
    """How much more than the best concept an improper learner errs on a part scored on all rows, in expectation.

    Theorem 3 of docs/theory/agnostic_part.md without what choosing costs: ``B^2 (2 error + 1/t + r + failure + beta) +
    (1 + B) delta`` with ``B = (1 + e^a) e^x`` and ``r`` the :func:`unseen_disagreement`; derived here. ``vc`` is of the
    class that labels are taken from (of what the learner outputs nothing is asked), ``half`` is t, half of the part's
    rows, ``scoring`` a, ``learner`` its epsilon x and its delta, ``error`` its share of errors on the part, but for
    probability ``failure``; ``beta`` is of the disagreement.
    """
    epsilon, delta = math.log1p(math.exp(scoring)) + learner[0], learner[1]
    empirical = 2 * error + 1 / half + unseen_disagreement(vc, half, beta) + failure + beta
    return private_error_in_expectation(empirical, epsilon, delta)


def improper_part_error_but_for(
    vc: int, half: int, scoring: float, learner: tuple[float, float], error: float, beta: float, spare: float
) -> float:
    """The same but for probability ``2 beta`` and the learner's own ``failure``: Theorem 4 of that page.

    Arguments are those of :func:`improper_part_error`; ``spare`` is that of :func:`private_error_but_for`.
    """
    epsilon, delta = math.log1p(math.exp(scoring)) + learner[0], learner[1]
    empirical = 2 * error + 1 / half + unseen_disagreement(vc, half, beta)
    return private_error_but_for(empirical, epsilon, delta, half, beta, spare)


def exponential_mechanism_excess(candidates: int, epsilon: float, beta: float) -> float:
    """Proposition 3.13 (ii): the score chosen is this much worse than the best, or less, but for probability beta.

    ``2/eps ln(|H| / beta)`` for scores of sensitivity 1; the paper's constant.
    """
    return 2 / epsilon * math.log(candidates / beta)


def finite_class_rows(size: int, epsilon: float, alpha: float, beta: float) -> int:
    """Section 3.2: rows at which the exponential mechanism on a class of ``size`` has excess empirical error alpha."""
    _check(alpha, beta)
    return math.ceil(exponential_mechanism_excess(size, epsilon, beta) / alpha)


def relabel_rows(vc: int, total: int, alpha: float, beta: float, epsilon: float = PAPER_RELABEL_EPSILON) -> int:
    """Claim 5.4: ``|D| >= 2/(alpha eps) (ln(1/beta) + vc ln(e |S| / vc))``; the paper's constant, at any epsilon.

    The chosen pattern then errs on at most ``alpha |D|`` rows more than the best, but for probability beta.
    """
    _check(alpha, beta)
    growth = vc * math.log(math.e * total / vc) if vc else 0.0
    return math.ceil(2 / (alpha * epsilon) * (math.log(1 / beta) + growth))


def relabel_rows_half(vc: int, alpha: float, beta: float) -> int:
    """Claim 5.4, second form, for ``|D| >= |S| / 2``: ``4/alpha ln(1/beta) + 10 vc/alpha ln(20 e / alpha)``."""
    _check(alpha, beta)
    return math.ceil(4 / alpha * math.log(1 / beta) + 10 * vc / alpha * math.log(20 * math.e / alpha))


@dataclass(frozen=True)
class Parts:
    """Sizes of the parts of a sample, and of the whole."""

    scored: int
    published: int
    total: int


def relabel_and_learn_rows(vc: int, alpha: float, beta: float) -> Parts:
    """Lemma 5.5: sizes of D and V. The paper hides the constants; here each step of the proof has its own.

    V: Theorem 3.8 at alpha. D: Theorem 3.9 at alpha for differences of two functions, whose VC dimension is at most
    ``10 vc`` (Sauer's ``(e n / vc)^(2 vc) < 2^n`` at ``n = 10 vc``).
    """
    published = realizable_rows(vc, alpha, beta)
    scored = agnostic_rows(10 * vc, alpha, beta)
    return Parts(scored, published, scored + published)


def agnostic_learner_rows(vc: int, learner_rows: int, alpha: float, beta: float) -> Parts:
    """Theorem 6.1 for a *proper* learner: rows for excess error alpha, with the constants of the steps.

    Excess error is 3 a for the relabelling (a for the sample's error, a for the mechanism, a for the sample again) and
    2 a for the learner (it errs a on the relabelled sample; Theorem 3.8 doubles that on the distribution): ``a = alpha
    / 5``; four events of probability ``beta / 4``. D has ``9 m`` rows for the empirical learner (Lemma 3.12), and T as
    many. What the mechanism asks for (:func:`relabel_rows_half`) is less than Theorem 3.8's.
    """
    return composed_part_rows(vc, vc, learner_rows, 1, alpha, beta)


def learned_on_part_rows(vc: int, learner_rows: int, alpha: float, beta: float, epsilon: float) -> Parts:
    """Rows for excess error alpha where patterns of a part are scored on all rows, at any epsilon, derived.

    For a proper *empirical* learner, which at epsilon 1 errs at most a on ``learner_rows`` rows of its sample, under
    add/remove. Steps and constants are those of :func:`agnostic_learner_rows`, ``a = alpha / 5``, with five events of
    probability ``b = beta / 5``. All rows have Theorem 3.9's ``agnostic_rows(vc, a, b)``. The part needs t rows: the
    learner's, and Theorem 3.8's at ``2 a``. At a mean of ``2 t``, which is more than ``8 ln(2/b)``, it has them, and no
    more than twice its mean, but for probability b (Chernoff). What the mechanism asks for, ``2/(a eps) (ln(1/b) + vc
    ln(2 e p n / vc))``, is less than that. The coin's rate p spends the half of epsilon that scores leave. In Theorem
    6.1, amplified, the first term is divided by epsilon.

    Returns:
        ``scored``: all rows; ``published``: 0; ``total``: all rows.

    Raises ``ValueError`` unless epsilon lies in (0, 1].
    """
    require(0 < epsilon <= 1, f"epsilon must lie in (0, 1], got {epsilon}")
    a, b = alpha / 5, beta / 5
    part = max(learner_rows, realizable_rows(vc, 2 * a, b))
    rate = math.expm1(epsilon / 2) / ((1 + math.exp(-epsilon / 2)) * math.e - 1)
    total = max(agnostic_rows(vc, a, b), math.ceil(2 * part / rate))
    return Parts(total, 0, total)


def composed_part_rows(vc: int, own_vc: int, learner_rows: int, count: int, alpha: float, beta: float) -> Parts:
    """Lemma 7.3 for a *proper* learner: rows in one of the k parts, with the constants of the steps.

    One part raises the least error of a completion by 3 a for the relabelling (on D, by the mechanism, and back) and by
    2 a for the learner, as in :func:`agnostic_learner_rows`: ``a = alpha / (5 k)``, and four events of probability
    ``beta / (4 k)``. So D has order ``k^2 (vc + ln(k/beta)) / alpha^2``: the paper prints ``k ln(k/beta)``, and ``k^2
    ln(k/beta)`` for ``k^3`` in Theorem 7.1, which is less than its Theorem 3.9 asks for at ``alpha / k``.

    Args:
        vc: VC dimension of the composed class.
        own_vc: of the class that this part learns.
        learner_rows: ``m_i`` at ``alpha / (5 k)`` and ``beta / (4 k)``, epsilon 1.
        count: k, the number of parts.
        alpha: accuracy of the composed learner.
        beta: its failure probability.
    """
    a, b = alpha / (5 * count), beta / (4 * count)
    scored = max(agnostic_rows(vc, a, b), realizable_rows(own_vc, 2 * a, b), 9 * learner_rows)
    return Parts(scored, scored, 2 * scored)


def composed_learner_rows(
    vc: int, own_vcs: Sequence[int], learner_rows: Sequence[int], alpha: float, beta: float
) -> int:
    """Theorems 2.3 and 7.1 for proper learners: :func:`composed_part_rows` of all parts together."""
    parts = zip(own_vcs, learner_rows, strict=True)
    return sum(composed_part_rows(vc, own, rows, len(own_vcs), alpha, beta).total for own, rows in parts)


def improper_composed_error(parts: Sequence[float], excess: float, beta: float) -> float:
    """Theorem 7.1 for improper learners, in expectation: how much more than the best composition theirs errs.

    Theorem 5 of docs/theory/agnostic_part.md: ``sum over i of (4 s + 3 b + E P(f_i != c_i))``, for the
    :func:`improper_part_error` of each part, scored as its class's patterns.
    """
    return math.fsum(4 * excess + 3 * beta + error for error in parts)
