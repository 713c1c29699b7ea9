"""Private decision lists in theory: how many errors a greedy cover makes, and how many rows it needs.

Source of all statements: Bun, Fang, "Privately learning decision lists and a differentially private Winnow", by its
numbers. The cost of EM-cover is in :mod:`tacit.theory.em_cover`. Logarithms are natural.

One difference of convention. The paper writes its exponential mechanism as ``exp(-eps q / 2)`` with ``q = -errors``,
which would prefer bad rules, analyses ``exp(eps q)`` for privacy and ``exp(eps q / 2)`` for accuracy. Here a rule is
drawn with probability proportional to ``exp(score_scale * q)`` everywhere, so every bound names the number that is in
the exponent.
"""

from __future__ import annotations

import math

from tacit.theory.checks import check_positive, check_probability
from tacit.theory.em_cover import paper_score_scale


def exponential_mechanism_loss(n_candidates: int, score_scale: float, beta: float) -> float:
    """Proposition 2.1: with probability ``1 - beta`` the drawn score is at most this far below the best.

    ``(log |H| + log(1 / beta)) / score_scale``; the paper's ``2 / eps`` is ``score_scale = eps / 2``.
    """
    check_positive(score_scale=score_scale)
    check_probability(beta=beta)
    return (math.log(n_candidates) - math.log(beta)) / score_scale


def greedy_cover_errors(n_features: int, score_scale: float, beta: float) -> float:
    """Lemma A.4: with probability ``1 - beta`` the whole list errs on at most so many rows of a realizable sample.

    ``(2 M / score_scale) log(M sqrt(2 / beta))``: Proposition 2.1 for each of the ``M`` steps at ``beta / M``,
    because some rule that is still there makes no error (Proposition 3.3). ``M`` counts the features with the
    constant one.
    """
    check_positive(n_features=n_features, score_scale=score_scale)
    check_probability(beta=beta)
    return 2.0 * n_features / score_scale * math.log(n_features * math.sqrt(2.0 / beta))


def vc_sample_size(vc_dimension: float, alpha: float, beta: float) -> float:
    """Theorem A.6 (Blumer and others 1989): rows from which error ``alpha / 2`` on them means ``alpha``."""
    check_probability(alpha=alpha, beta=beta)
    return 64.0 / alpha * (vc_dimension * math.log(64.0 / alpha) + math.log(16.0 / beta))


def occam_sample_size(log_lists: float, alpha: float, beta: float) -> float:
    """Rows from which every list of a finite class that errs on ``alpha / 2`` of them has error at most ``alpha``.

    ``(ln |H| + ln(1 / beta)) / kl(alpha / 2 || alpha)``: a list of a larger error is seen to err on ``alpha / 2`` or
    less with probability at most ``exp(-n kl)`` (Chernoff), and there are ``|H|`` of them (Blumer and others 1987).
    Theorem A.6, by the VC dimension, needs 70 to 100 times as many.
    """
    check_probability(alpha=alpha, beta=beta)
    half = alpha / 2
    divergence = half * math.log(0.5) + (1 - half) * math.log((1 - half) / (1 - alpha))
    return (log_lists + math.log(1 / beta)) / divergence


def paper_learner_rows(n_features: int, alpha: float, beta: float, score_scale: float) -> float:
    """Rows that make the greedy cover an ``(alpha, beta)``-PAC learner, at a given strength of choices.

    The cover errs on more than ``alpha / 2`` of the rows with probability at most ``beta / 2`` (Lemma A.4), and so few
    errors mean ``alpha`` on new rows but for ``beta / 2`` (Occam). The paper spends ``beta`` on each, which proves
    ``1 - 2 beta``.
    """
    log_lists = math.log(2.0) * list_vc_bound(n_features)
    generalises = occam_sample_size(log_lists, alpha, beta / 2)
    return max(generalises, list_sample_size(n_features, alpha, beta / 2, score_scale))


def list_sample_size(n_features: int, alpha: float, beta: float, score_scale: float) -> float:
    """Rows at which the errors of Lemma A.4 are at most ``alpha / 2`` of the sample, for any accounting."""
    check_probability(alpha=alpha)
    return 2.0 / alpha * greedy_cover_errors(n_features, score_scale, beta)


def theorem_3_5(
    n_features: int, alpha: float, beta: float, epsilon: float, delta: float, vc_dimension: float | None = None
) -> float:
    """Theorem 3.5: rows that make the greedy cover an ``(alpha, beta)``-PAC learner at ``(epsilon, delta)``.

    The larger of the sample size for generalisation and the one for privacy. Two things differ from the print. It has
    ``2 log(1/delta) + 3/2`` where its proof, which divides by ``epsilon / (2 (log(1/delta) + 3/2))``, gives
    ``2 log(1/delta) + 3``: used here. Its factor for accuracy is that of ``exp(eps q / 2)``, twice what the mechanism
    that it proves private makes. ``vc_dimension=None`` takes the paper's remark: at most the log of the number of
    lists.
    """
    vc = list_vc_bound(n_features) if vc_dimension is None else vc_dimension
    privacy = list_sample_size(n_features, alpha, beta, paper_score_scale(epsilon, delta))
    return max(vc_sample_size(vc, alpha, beta), privacy)


def list_vc_bound(n_features: int) -> float:
    """A bound on the VC dimension of lists over ``M`` features: ``log2 (M! 2**M)``, each feature once, with a bit.

    Shorter lists are among them: what follows the constant feature is never reached.
    """
    check_positive(n_features=n_features)
    return math.lgamma(n_features + 1) / math.log(2.0) + n_features


def conjunction_count(n_variables: int, k: int) -> int:
    """Conjunctions of at most ``k`` literals over ``d`` Boolean variables: ``sum_j 2**j C(d, j)``.

    Raises ``ValueError`` for negative numbers.
    """
    if n_variables < 0 or k < 0:
        raise ValueError(f"n_variables and k must not be negative, got {n_variables} and {k}")
    return sum(2**j * math.comb(n_variables, j) for j in range(k + 1))


def conjunction_bound(n_variables: int, k: int) -> float:
    """Proposition A.9: at most ``e**2 d**k`` conjunctions."""
    return math.e**2 * float(n_variables) ** k


def corollary_a_8(n_variables: int, k: int, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """Corollary A.8: Theorem 3.5 for lists of conjunctions of at most ``k`` literals, with their exact number."""
    return theorem_3_5(conjunction_count(n_variables, k), alpha, beta, epsilon, delta)
