"""What relabelling, sampling and splitting cost: the constants that are charged, and the paper's beside them.

Source: Alon, Beimel, Moran, Stemmer 2020. Relabelling chooses a pattern h with probability in proportion to
``exp(-eps_r q(h) / 2)`` among the patterns of a class on the points of the sample, which depend on the sample. Let K be
the points that two neighbouring samples share; patterns fall into groups that agree on K, a group has at most two
patterns on either sample, and within corresponding groups the relabelled samples are neighbours. So what a relabelling
followed by a learner A tells is a function of (the group, then A's output): an *adaptive composition* of the choice of
a group with A. Its cost is the group's plus A's, on any accountant, and A's delta is not multiplied by anything (the
paper's proof has ``4 e delta``).

The log-ratio of a group's probabilities lies in an interval whose length is :func:`relabel_range`, the same for all
groups: the choice of a group is a mechanism of that bounded range.

``replace`` says which neighbours are compared: tables that differ in one row (the paper's), or by one row more or less.
"""

from __future__ import annotations

import math
from typing import Literal

from tacit.theory.checks import Cost, require

Score = Literal["errors", "completion", "matched"]
"""How a score moves when a row is added: ``errors`` counts the pattern's own errors; ``completion`` grows by 0 or 1
whichever label the pattern gives it (equation 17: a minimum of error counts); ``matched`` has matched sensitivity 1
(Definition 5.1) and may move either way."""

PAPER_RELABEL = 3.0  # Lemma 5.3 adds this to epsilon: `ln(4 e) = 1 + ln 4 = 2.386` rounded up


def relabel_range(epsilon: float, replace: bool, score: Score = "completion") -> float:
    """The bounded range of Relabel's choice at privacy parameter ``epsilon``.

    Adding a row multiplies a group's weight by ``e^(-a)`` or 1, or replaces it by two weights, ``a = epsilon / 2``:

    * ``errors``: one of the two labels is an error. The factor is ``e^(-a)``, 1 or ``1 + e^(-a)``: ``ln(1 + e^a)``.
    * ``completion``: each of the two is worth ``e^(-a)`` to 1. Between ``e^(-a)`` and 2: ``a + ln 2``.

    Replacing removes a row and adds one: twice that. For ``matched``, any score of matched sensitivity 1 (Definition
    5.1), the two samples are compared directly: between ``e^(-a) / 2`` and ``2 e^a``, ``2 a + ln 4``. Of adding a row
    that sensitivity says nothing: it compares samples of one size. At ``epsilon = 1`` and completion scores replacing
    costs ``1 + ln 4``, the constant inside Lemma 5.3. Raises ``ValueError`` for ``matched`` without ``replace``, where
    there is no bound.
    """
    require(epsilon >= 0, f"epsilon must not be negative, got {epsilon}")
    a = epsilon / 2
    if score == "matched":
        require(replace, "a matched sensitivity bounds what replacing a row does, and not what adding one does")
        return 2 * a + math.log(4)
    one = math.log1p(math.exp(a)) if score == "errors" else a + math.log(2)
    return 2 * one if replace else one


def public_range(epsilon: float, replace: bool) -> float:
    """The range when candidates are listed in public: nothing is added for patterns. Both one-sided kinds of score."""
    return epsilon if replace else epsilon / 2


def relabel_epsilon(span: float, replace: bool, score: Score = "completion", public: bool = False) -> float:
    """The largest privacy parameter of Relabel whose range is at most ``span``.

    Raises ``ValueError`` if even epsilon = 0 costs more: the patterns themselves depend on the data.
    """
    if public:
        return span if replace else 2 * span
    floor = relabel_range(0.0, replace, score)
    if span < floor:
        raise ValueError(f"relabelling with patterns of the sample costs at least {floor:.3f}, got {span}")
    if score == "matched":
        return span - floor
    one = span / 2 if replace else span
    return 2 * (math.log(math.expm1(one)) if score == "errors" else one - math.log(2))


def relabel_and_learn_paper(learner: Cost) -> Cost:
    """Lemma 5.3 as stated, for Relabel at epsilon 1: ``(eps + 3, 4 e delta)``, under replace."""
    return Cost(learner.epsilon + PAPER_RELABEL, 4 * math.e * learner.delta)


def learned_on_part(scoring: float, learner: Cost, rate: float) -> Cost:
    """Patterns of a random part of the rows, scored on all of them; the learner gets the part. Under add/remove.

    Every row is in the part T by a coin of probability ``rate``. Patterns of the class on T are scored by the fewest
    errors on *all* rows of a concept that says so, chosen with weight ``exp(-a q)``, and the learner runs on T
    relabelled. A row outside of T moves scores by 0 or 1 and nothing else: within ``e^a``. A row of T splits groups of
    patterns as in :func:`relabel_range`, where one of two labels is an error: within ``1 + e^a`` times the learner.
    Over the coin the two are mixed: ``ln((1 - rate) e^a + rate (1 + e^a) e^eps)`` and ``rate delta``, attained
    (docs/theory/agnostic_part.md).

    Args:
        scoring: a.
        learner: what the learner costs.
        rate: of the coin, in (0, 1].

    Raises ``ValueError`` for a rate out of range.
    """
    require(0 < rate <= 1, f"rate must lie in (0, 1], got {rate}")
    within = (1 + math.exp(-scoring)) * math.exp(learner.epsilon)
    return Cost(scoring + math.log1p(rate * (within - 1)), rate * learner.delta)


def best_part_epsilon(scoring: float) -> float:
    """The learner's epsilon x that maximises ``x / ((1 + e^-a) e^x - 1)``, the worth of the part's rows: about .77."""
    low, high = 0.0, 1.0
    for _ in range(60):  # the derivative vanishes where (1 + e^-a) e^x (1 - x) = 1
        middle = (low + high) / 2
        rising = (1 + math.exp(-scoring)) * math.exp(middle) * (1 - middle) > 1
        low, high = (middle, high) if rising else (low, middle)
    return low


def drawn_with_replacement(learner: Cost, rows: int, draws: int) -> Cost:
    """Lemma 3.12 sharpened: ``draws`` rows drawn with replacement from ``rows``, under replace.

    The changed row is drawn j ~ Bin(draws, 1/rows) times. Write R for the mean of ``e^(j eps)``. Given j >= 1 the
    output is within ``e^(j eps)`` both of the output without the row and of the output with its replacement; mixing the
    two comparisons so that the second gets the factor R gives ``P <= R P' + sum_j p_j delta_j`` with group privacy's
    ``delta_j``: ``(ln R, delta (R - 1) / (e^eps - 1))``. It needs ``R <= e^eps``, that is, not too many draws.

    The paper keeps (eps, delta) for draws = rows / 9 and eps = 1, where this gives (0.19, 0.12 delta). Raises
    ``ValueError`` where the argument fails: then the sample would cost more than the learner alone.
    """
    growth = math.expm1(learner.epsilon)
    log_mean = draws * math.log1p(growth / rows)
    if log_mean > learner.epsilon:
        raise ValueError(
            f"{draws} draws from {rows} rows at epsilon {learner.epsilon:.3g} would cost {log_mean:.3g}: "
            "draw fewer, or lower epsilon"
        )
    factor = math.expm1(log_mean) / growth if growth else 0.0
    return Cost(log_mean, learner.delta * factor)


def drawn_share_with_replacement(learner: Cost, share: float) -> Cost:
    """:func:`drawn_with_replacement` for ``share * rows`` draws, whatever the number of rows (its limit from above)."""
    growth = math.expm1(learner.epsilon)
    log_mean = share * growth
    if log_mean > learner.epsilon:
        raise ValueError(
            f"a share {share:.3g} drawn with replacement at epsilon {learner.epsilon:.3g} would cost {log_mean:.3g}: "
            "draw fewer, or lower epsilon"
        )
    return Cost(log_mean, learner.delta * (math.expm1(log_mean) / growth if growth else 0.0))


def with_replacement_worst(epsilon: float, rows: int, draws: int) -> float:
    """What a pure learner can cost on draws with replacement, exactly: the search behind the refusal above.

    The largest ratio of ``sum p_j a_j`` to ``sum p_j b_j`` over ``e^(-j eps) <= b_j <= 1`` and ``a_j = e^(j eps) b_j``:
    the optimum has ``b_j = 1`` from some j on.
    """
    log_p = [
        math.lgamma(draws + 1) - math.lgamma(j + 1) - math.lgamma(draws - j + 1)
        - j * math.log(rows) + (draws - j) * math.log1p(-1 / rows)
        for j in range(draws + 1)
    ]  # fmt: skip
    p = [math.exp(v) for v in log_p]
    best = 0.0
    for first in range(1, draws + 1):
        top = sum(p[:first]) + sum(q * math.exp(min(j * epsilon, 700)) for j, q in enumerate(p) if j >= first)
        bottom = sum(q * math.exp(-j * epsilon) for j, q in enumerate(p) if j < first) + sum(p[first:])
        best = max(best, math.log(top / bottom))
    return best


def amplified(inner: Cost, rate: float) -> Cost:
    """A random sample in which a row takes part with probability ``rate``: ``(ln(1 + q (e^eps - 1)), q delta)``.

    Under add/remove every row by a coin of its own; under replace a fixed number of rows without replacement (Balle,
    Barthe, Gaboardi 2018, Theorems 8 and 9). Raises ``ValueError`` unless ``rate`` lies in (0, 1].
    """
    require(0 < rate <= 1, f"rate must lie in (0, 1], got {rate}")
    return Cost(math.log1p(rate * math.expm1(inner.epsilon)), rate * inner.delta)


def amplification_rate(inner: float, target: float) -> float:
    """The largest rate at which ``inner`` epsilon costs ``target``; 1 if it costs no more anyway."""
    return min(1.0, math.expm1(target) / math.expm1(inner))
