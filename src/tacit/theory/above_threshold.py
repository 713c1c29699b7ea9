"""Above-threshold (the sparse vector technique): how much noise it needs, and how accurate it then is.

Bun, Fang, Lemma 4.3 (after Dwork, Roth 2014). The mechanism compares ``q_t + v_t`` with ``L + r`` in every round and
stops at the first that is not smaller; ``r`` is drawn once, ``v_t`` in every round, all from the discrete Laplace
distribution. Write ``e1`` for the sensitivity over the scale of ``r`` and ``e2`` for the same of ``v_t``.

* *Any* queries of the stated sensitivity: pure ``e1 + 2 e2`` (Dwork, Roth 2014, Theorem 3.23).
* *One-way* queries, all of which one row moves in the same direction, or not at all: pure ``e1 + e2`` (Lyu, Su, Li
  2017, Theorem 4).
* *Running counts*, to which a row adds from its own round on, the same amount in every round: pure ``max(e1, e2)``.
  Proof: let ``q' = q`` before round ``s`` and ``q' = q + c``, ``c > 0``, from ``s`` on (the other sign swaps the
  tables). A transcript that ends before ``s`` has the same probability under both. Otherwise, from ``q'`` to ``q`` at
  fixed ``r``: staying below only becomes likelier, and being above in the last round falls by at most ``exp(e2)``.
  From ``q`` to ``q'``: shift ``r`` by ``c``, at a price of ``exp(e1)``; then the rounds from ``s`` on, the last one
  included, are unchanged, and staying below becomes likelier in those before. The two prices are never paid together.
  Under both relations a row is one step: its mistake appears, disappears, or stays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from tacit.theory.checks import check_probability, require


class Queries(StrEnum):
    """How one row may move the queries of one above-threshold instance."""

    ANY = "any"
    """Each by at most the sensitivity, in any direction."""

    ONE_WAY = "one_way"
    """Each by at most the sensitivity, all in the same direction."""

    RUNNING_COUNT = "running_count"
    """By one and the same amount, at most the sensitivity, in every round from the row's own on."""


@dataclass(frozen=True)
class Scales:
    """Scales of the discrete Laplace noise: ``threshold`` drawn once, ``query`` in every round."""

    threshold: float
    query: float


def scales(epsilon: float, queries: Queries, sensitivity: int = 1) -> Scales:
    """The noise that makes one above-threshold instance pure ``epsilon``-DP, rounded up.

    The split between threshold and queries is even in noise for running counts and one-way queries, and as in the
    textbook (2 and 4) for any queries. Raises ``ValueError`` if epsilon is not positive and finite, or the sensitivity
    is not positive.
    """
    require(0.0 < epsilon < math.inf, f"epsilon must be positive and finite, got {epsilon}")
    if sensitivity < 1:
        raise ValueError(f"the sensitivity must be a positive integer, got {sensitivity}")
    threshold, query = {Queries.ANY: (2, 4), Queries.ONE_WAY: (2, 2), Queries.RUNNING_COUNT: (1, 1)}[Queries(queries)]
    return Scales(
        math.nextafter(threshold * sensitivity / epsilon, math.inf),
        math.nextafter(query * sensitivity / epsilon, math.inf),
    )


def paper_accuracy(epsilon: float, horizon: int, beta: float) -> float:
    """``alpha = 8 log(2 T / beta) / epsilon`` of Lemma 4.3 (sensitivity 1, any queries)."""
    _check(horizon, beta)
    return 8.0 * math.log(2.0 * horizon / beta) / epsilon


def accuracy(noise: Scales, horizon: int, beta: float) -> int:
    """The least ``alpha`` for which this page can promise Lemma 4.3, in integer units.

    With probability ``1 - beta``: every query before the stop is at most ``L + alpha``, and the one at the stop at
    least ``L - alpha``. Both follow if ``|r| <= a1`` and all ``|v_t| <= a2`` with ``a1 + a2 = alpha``; beta is shared
    in proportion to the scales, which makes the sum least, and the tails are those of the discrete distribution.
    """
    _check(horizon, beta)
    share = noise.threshold / (noise.threshold + noise.query)
    return _quantile(noise.threshold, beta * share) + _quantile(noise.query, beta * (1.0 - share) / horizon)


def _quantile(scale: float, tail: float) -> int:
    """The least ``a >= 0`` with ``P(|X| > a) = 2 exp(-(a + 1) / scale) / (1 + exp(-1 / scale)) <= tail``."""
    excess = math.log(2.0 / (tail * (1.0 + math.exp(-1.0 / scale))))
    return max(0, math.ceil(scale * excess) - 1)


def _check(horizon: int, beta: float) -> None:
    if horizon < 1:
        raise ValueError(f"the horizon must be at least 1, got {horizon}")
    check_probability(beta=beta)
