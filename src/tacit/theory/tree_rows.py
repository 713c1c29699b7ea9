"""How many rows private splits need to boost: Theorem 13 of Nock, Henecka 2020, with constants that real tables meet.

The setting: a complete tree is grown level by level from rows of equal weight, as in the first round of M-alpha-boost.
In every leaf that holds both classes one of ``candidates`` public splits has edge ``gamma`` or more; a split is chosen
by the exponential mechanism on minus the risk of the children, once for all leaves of a level. Neighbours differ in one
row that is added or removed. Proofs: docs/theory/tree_rows.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from scipy.optimize import brentq
from scipy.special import gammainccinv

from tacit.theory.checks import least_where, require
from tacit.theory.trees import paper_m_alpha_sensitivity, risk_factor

LARGEST_DEPTH = 64  # not tuned: beyond, a tree has more leaves than any table has rows


@dataclass(frozen=True)
class SplitRisk:
    """What a proof knows about the risk that scores splits."""

    # from the number of rows to what the mechanism divides by, `P(g) ~ exp(epsilon score / movement)`
    movement: Callable[[int], float]
    # from the tree's risk, in parts of the rows, and `gamma` to a bound on it once every leaf is split by a candidate
    # of edge `gamma`; not falling in the risk. The training error is at most half of the risk.
    descent: Callable[[float, float], float]
    charged_by_node: bool = False  # every leaf of a level pays by itself, as in the paper, and not the level once


def gini_descent(risk: float, gamma: float) -> float:
    """``G - gamma**2 G**2``: Gini's risk after every leaf took a split of edge ``gamma``; attained at proportions 1/2.

    Proof: a split takes down ``4 w_r w_l (p_r - p_l)**2``, where ``w_r w_l (p_r - p_l)`` is the covariance of class and
    side, ``p (1 - p)`` times the edge; ``w_r w_l <= 1/4``. Over leaves by Jensen. Where the parabola falls, its top.
    """
    share = min(risk, 0.5 / gamma**2)
    return share - gamma**2 * share**2


GINI = SplitRisk(lambda rows: 4.0 * (rows - 1) / rows, gini_descent)
"""Bounded slope: a row moves it by less than 4, however many rows there are."""

MATSUSHITA = SplitRisk(lambda rows: 2.0 * math.sqrt(rows - 1), lambda risk, gamma: risk * risk_factor(gamma))
"""The best rate where errors are small; its slope grows with the root of the rows."""

MATSUSHITA_BY_NODE = SplitRisk(MATSUSHITA.movement, MATSUSHITA.descent, charged_by_node=True)
"""The same where every leaf of a level pays by itself."""

PAPER = SplitRisk(
    lambda rows: 2.0 * paper_m_alpha_sensitivity(1.0, rows),
    lambda risk, gamma: risk * (1.0 - gamma**2 / 16.0),
    charged_by_node=True,
)
"""The paper's sensitivity, rate and division of the budget (its neighbours replace a row), at alpha = 1."""


@dataclass(frozen=True)
class SmoothedDescent:
    """The risk of the smoothed loss after every leaf took a split of edge ``gamma``.

    With ``k`` the smoothing, ``z = 2 sqrt(k (1 + k))`` the smoothed risk of a pure leaf and ``x = z + r / F`` that of
    a leaf of risk ``r``, a split takes down ``r`` by at least ``F (gamma (1 + 2 k))**2 / 2`` times ``h(x) =
    (x**2 - z**2)**2 / x**3``. Over leaves by Jensen: ``h`` bends up to ``sqrt(3) z`` and down from there, so beyond
    the point whose tangent leads to the end ``1 + 2 k`` that tangent stands for it. Where the descent falls in the
    risk, its top.
    """

    smoothing: float

    @cached_property
    def pure(self) -> float:
        """``z``."""
        return 2.0 * math.sqrt(self.smoothing * (1.0 + self.smoothing))

    @cached_property
    def factor(self) -> float:
        """``F``, one over what an even leaf is above a pure one."""
        return (math.sqrt(1.0 + self.smoothing) + math.sqrt(self.smoothing)) ** 2

    @cached_property
    def bent(self) -> float:
        """From where ``h`` is a straight line."""
        end, turn = 1.0 + 2.0 * self.smoothing, math.sqrt(3.0) * self.pure
        if end <= turn:
            return end

        def short(x: float) -> float:
            return self._height(end) - self._height(x) - self._slope(x) * (end - x)

        return float(brentq(short, self.pure, turn))

    def _height(self, x: float) -> float:
        return (x**2 - self.pure**2) ** 2 / x**3

    def _slope(self, x: float) -> float:
        part = (self.pure / x) ** 2
        return 1.0 + 2.0 * part - 3.0 * part**2

    def __call__(self, risk: float, gamma: float) -> float:
        rate = 0.5 * (gamma * (1.0 + 2.0 * self.smoothing)) ** 2
        x = self.pure + risk / self.factor
        if rate * self._slope(self.bent) > 1.0:
            x = min(x, self.pure * math.sqrt(3.0 / (1.0 + math.sqrt(4.0 - 3.0 / rate))))
        near = min(x, self.bent)
        height = self._height(near) + self._slope(near) * (x - near)
        return self.factor * (x - self.pure - rate * height)


def smoothed(smoothing: float) -> SplitRisk:
    """The smoothed loss (:class:`~tacit.trees.losses.SmoothedLoss`): bounded slope, a better rate than Gini's.

    Raises ``ValueError`` if ``smoothing`` is not positive and finite.
    """
    require(0.0 < smoothing < math.inf, f"smoothing must be positive and finite, got {smoothing}")
    descent = SmoothedDescent(smoothing)

    def movement(rows: int) -> float:
        one = 1.0 / rows
        value = 2.0 * math.sqrt((one + smoothing) * (1.0 - one + smoothing))
        return 4.0 * descent.factor * (1.0 - one) / (value + descent.pure)

    return SplitRisk(movement, descent)


def level_shares(depth: int) -> tuple[float, ...]:
    """Shares of the budget by level, ``2**(l / 2)`` over their sum: deeper levels have more leaves to lose in."""
    parts = [math.sqrt(2.0) ** level for level in range(depth)]
    return tuple(part / math.fsum(parts) for part in parts)


def largest_loss(leaves: int, candidates: int, failure: float) -> float:
    """What all choices of a level together fall short of the best ones by, but for a chance of ``failure``.

    In parts of ``movement / epsilon``: ``k log(N - 1)`` plus the quantile of a sum of ``k`` standard exponentials. A
    choice falls short by ``log(N - 1) + x`` with probability at most ``exp(-x)``, and leaves choose independently.
    """
    return leaves * math.log(max(candidates - 1, 1)) + float(gammainccinv(leaves, failure))


def private_error_bound(
    risk: SplitRisk, rows: int, epsilon: float, gamma: float, candidates: int, failure: float, shares: Sequence[float]
) -> float:
    """A bound on the training error of the private tree, which holds but for a chance of ``failure`` in (0, 1).

    ``risk`` scores splits, ``epsilon`` is of all of them together (leaves, if they are released, are paid for apart),
    ``gamma`` in (0, 1] the edge of the weak learning assumption, ``candidates`` the public splits per leaf, ``shares``
    those of epsilon by level. Raises ``ValueError`` for fewer than 2 rows, or an edge or a chance out of range.
    """
    if rows < 2 or not 0.0 < gamma <= 1.0 or not 0.0 < failure < 1.0:
        raise ValueError(f"at least 2 rows, gamma in (0, 1], failure in (0, 1): got {rows}, {gamma}, {failure}")
    reached = 1.0
    for level, share in enumerate(shares):
        leaves = 2**level
        budget = epsilon * share / (leaves if risk.charged_by_node else 1)
        lost = risk.movement(rows) * largest_loss(leaves, candidates, failure / len(shares)) / (budget * rows)
        reached = min(reached, risk.descent(reached, gamma) + lost)
    return 0.5 * reached


def rows_for_error(
    error: float, risk: SplitRisk, epsilon: float, gamma: float, candidates: int, failure: float
) -> tuple[int, int]:
    """The fewest rows from which the training error is at most ``error`` but for ``failure``, and the depth it takes.

    Over all depths, with :func:`level_shares`. Levels that noise outweighs do not count in the bound, so that more rows
    never make it worse. Raises ``ValueError`` if ``error`` is not in (0, 1/2), or no depth up to 64 reaches it.
    """
    require(0.0 < error < 0.5, f"the error must lie in (0, 1/2), got {error}")
    best: tuple[int, int] | None = None
    reached = 1.0
    for depth in range(1, LARGEST_DEPTH + 1):
        reached = risk.descent(reached, gamma)
        if 0.5 * reached >= error:
            continue
        shares = level_shares(depth)

        def enough(rows: int, shares: Sequence[float] = shares) -> bool:
            return private_error_bound(risk, rows, epsilon, gamma, candidates, failure, shares) <= error

        if best is None or enough(best[0]):
            best = (least_where(enough, 1), depth)
    if best is None:
        raise ValueError(f"no tree of depth {LARGEST_DEPTH} or less is known to reach an error of {error}")
    return best
