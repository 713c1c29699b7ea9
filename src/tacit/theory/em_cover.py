"""What EM-cover costs: exponential mechanisms in sequence, where each choice removes the rows it covers.

Bun, Fang, Lemma A.1, and three sharper statements. In step ``i`` a candidate ``h`` is drawn with probability
proportional to ``exp(e_i q(h))``; adding a row ``z`` moves ``q(h)`` by ``s`` in ``[low, high]`` if ``h`` covers ``z``
and not at all otherwise; a chosen candidate removes the rows that it covers. Compare the run on ``P`` with the run on
``Q``, where one of the two has ``z``. Until ``z`` is covered both hold the same other rows, afterwards they are the
same. In one step, with ``u = exp(-+ e s)`` (minus if ``P`` has the row), the likelihood ratio ``P / Q`` is multiplied
by ``E_P[u] / u(h)``. An adversary chooses the distribution of ``u`` anew in every step; how far the ratio can get is
an optimal stopping problem. Write ``A = exp(e) - 1`` and ``B = 1 - exp(-e)``.

* *Moments, any number of steps, any schedule.* ``W_i = sup E_P[(P/Q)**lam]`` of the steps from ``i`` on obeys
  ``W_i = sup E[u]**lam E[u**-lam V(u)]`` with ``V = W_{i+1}`` for candidates that do not cover (``u = 1``) and ``1``
  for those that do (a covering one with ``s = 0`` is worth less than one that does not cover, because ``W >= 1``).
  For a given ``E[u]`` the second factor is linear in the distribution and convex in ``u``, so the supremum is on an
  edge between two of the points ``1, exp(-+e low), exp(-+e high)``; there it is ``(a + b p)**lam (c + d p)``, which
  has one stationary point. :func:`log_moment` therefore is exact, for either kind of score and both relations.
* *Moments, however many steps.* ``W = exp(-lam e) / (1 - lam A)`` solves the recursion from above, for
  ``0 < lam < 1 / A`` and ``|s| <= 1``; the bound is approached by many small hazards.
* *Hockey stick, one-sided scores, however many steps.* The pair ``Exp(mean A) - e`` against its tilt dominates:
  ``delta(eps) = B exp(-(eps + e) / A)``.

Replacing ``z`` by ``z'``: the same recursion with more points. Candidates that cover ``z`` only, ``z'`` only, or both
have ``s`` in ``[-high, -low]``, ``[low, high]`` and ``[low - high, high - low]``; after them the two runs are in the
first problem (``P`` without, or with, a row more) or the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.theory.checks import check_probability

PAPER_LIMIT = 1.2564312086261696
"""``exp(x) - 1 = 2 x`` here. Beyond it the step ``1 + (exp(x) - 1) p <= exp(2 x p)`` of Lemma A.1 is false for small
p.
"""


@dataclass(frozen=True)
class Shifts:
    """How far adding a row can move the score of a candidate that covers it: by something in ``[low, high]``."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (-math.inf < self.low <= 0.0 <= self.high < math.inf):
            raise ValueError(f"shifts must satisfy low <= 0 <= high, got {self.low} and {self.high}")

    @property
    def one_sided(self) -> bool:
        """Whether a row moves all scores in one direction."""
        return self.low == 0.0 or self.high == 0.0

    @property
    def largest(self) -> float:
        """The most a score moves."""
        return max(-self.low, self.high)

    @property
    def span(self) -> float:
        """How much further than another candidate's a score can move."""
        return self.high - self.low


PENALTY = Shifts(-1.0, 0.0)
"""The paper's score, minus the number of errors: a row lowers the scores of those that cover and mislabel it."""


def paper_epsilon(score_scale: float, delta: float) -> float:
    """Lemma A.1: ``2 e (ln(1/delta) + 3/2)``, under add/remove, which is what its proof compares.

    Raises ``ValueError`` if the scale exceeds 1.256, where the proof fails, or delta is not in (0, 1).
    """
    check_probability(delta=delta)
    if not 0.0 < score_scale <= PAPER_LIMIT:
        raise ValueError(
            f"Lemma A.1 holds for a score scale in (0, {PAPER_LIMIT:.4f}], got {score_scale}: above it the step "
            "1 + (exp(x) - 1) p <= exp(2 x p) of its proof is false. Use analysis='sharp', which has no such limit"
        )
    return 2.0 * score_scale * (1.5 - math.log(delta))


def paper_epsilon_twice(score_scale: float, delta: float) -> float:
    """The epsilon of each of two uses of Lemma A.1 that give ``delta`` together, as replacing a row takes.

    Two uses at ``(e, d)`` give ``(2 e, d (1 + exp(e)))``. The largest such ``d`` is looked for by its logarithm, as it
    may lie below all doubles, and ``exp(e)`` above them. Raises ``ValueError`` as :func:`paper_epsilon`; or if the
    scale is 1/2 or more, where ``d exp(e)`` falls with no ``d``.
    """
    once = paper_epsilon(score_scale, delta)
    if score_scale >= 0.5:
        raise ValueError(
            f"Lemma A.1 used twice reaches no delta of {delta} at a score scale of {score_scale}, nor at any from 1/2 "
            "on: use accounting='moments'"
        )

    def log_sum(epsilon: float) -> float:
        """``log(d (1 + exp(e)))``, of an epsilon ``2 s (log(1/d) + 3/2)``."""
        return 1.5 - (1.0 - 2.0 * score_scale) * epsilon / (2.0 * score_scale) + math.log1p(math.exp(-epsilon))

    below, enough = once, 2.0 * once
    while log_sum(enough) > math.log(delta):
        below, enough = enough, 2.0 * enough
    for _ in range(100):
        middle = (below + enough) / 2.0
        below, enough = (below, middle) if log_sum(middle) <= math.log(delta) else (middle, enough)
    return enough


def paper_score_scale(epsilon: float, delta: float) -> float:
    """The score scale that Lemma A.1 gives for a request; the inverse of :func:`paper_epsilon`.

    Raises ``ValueError`` if it comes out above 1.256, where the proof fails.
    """
    scale = epsilon / (2.0 * (1.5 - math.log(delta)))
    paper_epsilon(scale, delta)
    return scale


def adding_delta(score_scale: float, epsilon: float) -> float:
    """``delta(eps) = B exp(-(eps + e) / A)``: one-sided scores, ``eps >= -e``, any number of steps; ``P`` has the row.

    With ``P`` and ``Q`` exchanged it is smaller for every positive epsilon.
    """
    a, b = math.expm1(score_scale), -math.expm1(-score_scale)
    if epsilon < -score_scale:
        return -math.expm1(epsilon)
    return b * math.exp(-(epsilon + score_scale) / a)


def adding_epsilon(score_scale: float, delta: float) -> float:
    """``eps = A ln(B / delta) - e``, at least 0: the inverse of :func:`adding_delta`."""
    a, b = math.expm1(score_scale), -math.expm1(-score_scale)
    return max(0.0, a * math.log(b / delta) - score_scale)


def closed_log_moment(lam: float, score_scale: float) -> float:
    """``log sup E_P[(P/Q)**lam]``, add/remove both ways, scores with ``|s| <= 1``, any number of steps.

    ``-lam e - log(1 - lam A)``; infinite from ``lam = 1 / A`` on.
    """
    room = 1.0 - lam * math.expm1(score_scale)
    return -lam * score_scale - math.log(room) if room > 0 else math.inf


def closed_log_moment_replace(lam: float, score_scale: float) -> float:
    """The same under replace-one, for one-sided scores: ``-log(1 - lam A) - log(1 + lam B)``."""
    a, b = math.expm1(score_scale), -math.expm1(-score_scale)
    return -math.log1p(-lam * a) - math.log1p(lam * b) if lam * a < 1 else math.inf


def log_moment(
    lam: npt.ArrayLike,
    score_scales: Sequence[float],
    shifts: Shifts | Sequence[Shifts] = PENALTY,
    replace: bool = False,
) -> Floats:
    """``log sup E_P[(P/Q)**lam]`` over all pairs of neighbours and all adversaries, exact for the given steps.

    ``lam`` is the Renyi order minus 1, one or many; ``score_scales`` are ``e_i`` of each step, 0 for one that does not
    look at the rows; ``shifts`` in the units that ``e_i`` multiplies, for all steps or one each. ``replace``: the
    relation, or the worse direction of add/remove. One number per order.
    """
    orders = np.atleast_1d(np.asarray(lam, dtype=np.float64))
    return _play(score_scales, shifts, replace, lambda points: _step(orders, points), np.zeros(len(orders)))


def pure_epsilon(
    score_scales: Sequence[float], shifts: Shifts | Sequence[Shifts] = PENALTY, replace: bool = False
) -> float:
    """The supremum of ``log(P/Q)`` over outputs, neighbours and adversaries: pure differential privacy.

    The same recursion: in one step the ratio grows at most by the largest ``u`` over that of the candidate drawn.
    """

    def step(points: list[tuple[float, Floats]]) -> Floats:
        top = max(log_u for log_u, _ in points)
        best: Floats = np.maximum.reduce([value + (top - log_u) for log_u, value in points])
        return best

    return float(_play(score_scales, shifts, replace, step, np.zeros(1))[0])


def _play(
    score_scales: Sequence[float],
    shifts: Shifts | Sequence[Shifts],
    replace: bool,
    step: Callable[[list[tuple[float, Floats]]], Floats],
    end: Floats,
) -> Floats:
    """The value of the game, solved from its last step; ``step`` is the value of one step, by ``(log u, value)``."""
    with_row = without_row = both = end
    each = [shifts] * len(score_scales) if isinstance(shifts, Shifts) else shifts
    for scale, shift in reversed(list(zip(score_scales, each, strict=True))):
        e_low, e_high = scale * shift.low, scale * shift.high
        if replace:
            span = e_high - e_low
            points = [(0.0, both), (-span, end), (span, end)]
            points += [(-e_low, without_row), (-e_high, without_row), (e_low, with_row), (e_high, with_row)]
            both = step(points)
        with_row = step([(0.0, with_row), (-e_low, end), (-e_high, end)])
        without_row = step([(0.0, without_row), (e_low, end), (e_high, end)])
    return both if replace else np.maximum(with_row, without_row)


def _step(lam: Floats, points: list[tuple[float, Floats]]) -> Floats:
    """``log sup E[u]**lam E[u**-lam exp(log_value)]`` over distributions on points ``(log u, log_value)``."""
    heights = [log_value - lam * log_u for log_u, log_value in points]
    best: Floats = np.maximum.reduce([log_value for _, log_value in points])
    for i, (log_u, _) in enumerate(points):
        for j in range(i):
            log_v = points[j][0]
            if log_u != log_v:
                best = np.maximum(best, _edge(lam, math.exp(log_v), math.exp(log_u), heights[j], heights[i]))
    return best


def _edge(lam: Floats, u: float, v: float, log_f: Floats, log_g: Floats) -> Floats:
    """``log max (u + p (v - u))**lam (f + p (g - f))`` at its stationary point, if that lies inside ``0 < p < 1``."""
    top = np.maximum(log_f, log_g)
    f, g = np.exp(log_f - top), np.exp(log_g - top)
    run, rise = v - u, g - f
    with np.errstate(divide="ignore", invalid="ignore"):
        p = -(lam * run * f + u * rise) / (run * rise * (1.0 + lam))
        value = lam * np.log(u + p * run) + np.log(f + p * rise) + top
    return np.where((p > 0.0) & (p < 1.0), value, -np.inf)
