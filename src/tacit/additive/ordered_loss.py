"""The loss of ordered classes: proportional odds, one score and a cut point between each class and the next.

A row adds the slope of its class's log chance in the score (:mod:`tacit.additive.ordered_loss`), which
lies between -1 and 1. Cut points are not learned as such: what is learned are the shares of the classes, and cut points
are where simulated rows with the model's scores have these shares.

What rows contribute are tables over class and level of the score, so that their sensitivity is read off the table.
Entries are evaluated at the middle of each level and truncated toward zero, which enlarges no norm.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import expit, logit

from tacit.additive.intercept import Intercept, NewtonIntercept
from tacit.additive.losses import OfScores, Unclipped, count_classes
from tacit.additive.plan import Remainder
from tacit.additive.term import Directions
from tacit.additive.tuning import COUNTING, EFFECTS, Counting
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.measurement import Measurement
from tacit.growing.softmax import SimulatedRows
from tacit.growing.tuning import SOFTMAX, Kernel
from tacit.models.links import OrderedChances
from tacit.queries.margins import Scores
from tacit.queries.rules import LEVEL_BITS, LEVELS, WEIGHT_UNIT
from tacit.queries.score_rules import LevelRule


def ordered_rule(cuts: Floats, curvature: float = 0.0, norm: int = 2) -> LevelRule:
    """A row of class ``y`` and score ``F`` adds ``u_y / max over classes k of |u_k|``, ``u`` the slopes at ``F``.

    The scale does not depend on the class, so contributions vanish on average where the chances are right. With two
    classes this is MadaBoost's ``s min(1, exp(-s F))``.

    Args:
        cuts: cut points in increasing order, shape ``(classes - 1,)``.
        curvature: if positive, one more channel, of ``curvature`` times the variance of the slope, scaled alike.
        norm: of both channels together: 2 bounds the L2 norm by 1, 1 the L1 norm.
    """
    chances = _by_level(cuts)
    channels, longest = chances.slopes[:, :, None], longest_slopes(chances)
    if curvature > 0:
        more = curvature * chances.information
        longest = np.hypot(longest, more) if norm == 2 else longest + more
        channels = np.stack([chances.slopes, np.broadcast_to(more, chances.slopes.shape)], axis=2)
    return _table(channels, longest)


def class_rule(cuts: Floats, norm: int = 2) -> LevelRule:
    """A row of class ``y`` adds ``c(p) (e_y - p)`` with ``p`` the chances at its score, of norm at most 1.

    As :class:`~tacit.queries.score_rules.SoftmaxRule`; sums say which class is more frequent than cut points have it.
    """
    chances = _by_level(cuts)
    vectors = np.eye(len(cuts) + 1)[:, None, :] - chances.chances.T[None, :, :]
    return _table(vectors, longest_vectors(chances, norm))


def longest_slopes(chances: OrderedChances) -> Floats:
    """The largest slope that a row of each score could have, over the classes: the first or last one's; ``(rows,)``."""
    return np.asarray(np.maximum(chances.above[0], chances.below[-1]))


def longest_vectors(chances: OrderedChances, norm: int) -> Floats:
    """The largest norm of a class's unit vector less the chances, over the classes; shape ``(rows,)``."""
    p = chances.chances
    if norm == 1:
        return np.asarray(2.0 - 2.0 * p.min(axis=0))
    return np.asarray(np.sqrt(1.0 - 2.0 * p.min(axis=0) + np.square(p).sum(axis=0)))


def _by_level(cuts: Floats) -> OrderedChances:
    return OrderedChances.of(cuts, (np.arange(LEVELS) - LEVELS // 2 + 0.5) / 2**LEVEL_BITS)


def _table(vectors: Floats, longest: Floats) -> LevelRule:
    scaled = np.clip(vectors / longest[None, :, None], -1.0, 1.0)
    return LevelRule(np.trunc(scaled * WEIGHT_UNIT).astype(np.int32), WEIGHT_UNIT)


STEPS = 8  # not tuned, of the arithmetic: Newton's steps towards cut points, from where these were
FARTHEST = 12.0  # not tuned, of the arithmetic: no cut point lies farther from 0. Scores end at 8.


def fitted_cuts(cuts: Floats, shares: Floats, scores: Floats) -> Floats:
    """Cut points at which rows of these scores belong to the classes in these shares, on average.

    It begins at ``cuts``, shape ``(classes - 1,)``; ``shares`` of the classes are positive and add up to 1; ``scores``
    have shape ``(rows,)``.
    """
    targets = np.cumsum(shares)[:-1]
    for _ in range(STEPS):
        upto = expit(cuts[:, None] - scores[None, :])
        slopes = np.maximum((upto * (1.0 - upto)).mean(axis=1), 1e-9)
        cuts = cuts - np.clip((upto.mean(axis=1) - targets) / slopes, -1.0, 1.0)
    return np.maximum.accumulate(np.clip(cuts, -FARTHEST, FARTHEST))


class ClassShares(Protocol):
    """A loss whose constants are shares of classes."""

    shares: Floats

    def set_shares(self, shares: Floats) -> None:
        """Takes new ones."""

    def class_directions(self) -> Directions:
        """How released sums fall as logarithms of shares rise."""


class SharesIntercept:
    """The constants of ordered classes: Newton's steps of the logarithms of shares; scores have no constant.

    Shares of all rows do not change while effects are learned, as cut points do: released sums can be averaged.

    Args:
        loss: whose shares they are.
        total: released number of rows.
        doubt: how far off logarithms of shares may be to begin with: a variance.
    """

    share = 1.0

    def __init__(self, loss: ClassShares, total: float, doubt: float) -> None:
        logs = np.log(loss.shares)
        self._loss, self._logs = loss, NewtonIntercept(np.asarray(logs - logs.mean()), total, doubt)

    @property
    def value(self) -> Floats:
        """0: cut points say where scores are."""
        return np.zeros(1)

    def set_recency(self, recency: float) -> None:
        """Nothing: later releases count more in proportion to their number, whatever the pace."""
        del recency

    def observe(self, release: Measurement, directions: Directions, spread: float) -> Floats:
        """See :meth:`tacit.additive.intercept.Intercept.observe`; the release has a number for each class."""
        del directions
        self._logs.observe(release, self._loss.class_directions(), spread)
        powers = np.exp(self._logs.value)
        self._loss.set_shares(powers / powers.sum())
        return np.zeros(1)

    def sd(self, directions: Directions) -> Floats:
        """Standard deviation that noise leaves in where all cut points lie together, shape ``(1,)``."""
        del directions
        shares, sds = self._loss.shares, self._logs.sd(self._loss.class_directions())
        upto = np.cumsum(shares)
        slopes = 2.0 * upto - shares - 1.0
        return np.array([np.sqrt(np.square(shares * slopes * sds).sum()) / (shares @ np.square(slopes))])


MOST_ORDERED = 32
"""Not tuned, of the memory: ordered classes at most; the table of what rows add to shares grows with their square."""


class OrderedLoss(Unclipped, OfScores):
    """Proportional odds.

    Args:
        n_classes: at least 3, at most :data:`MOST_ORDERED` (2 work too, but the margin of two classes is cheaper).
        pure: whether noise is Laplace, so that the L1 norm counts.
        numbers: of counting the classes.

    Attributes:
        cuts: the cut points, as scores are now, shape ``(n_classes - 1,)``.
        shares: of the classes, as far as they are known.
        slope: of classes of one size: ``(K + 1) / (3 K)``.
        scatter: ``1`` before scores are known.
    """

    n_scores = 1
    bound = 1.0
    jointly = True
    remainder = Remainder.AVERAGED
    tree_noise = 1.0

    def __init__(self, n_classes: int, pure: bool, numbers: Counting = COUNTING) -> None:
        self.numbers, self.share, self.log = numbers, numbers.most_counted, Scores(1)
        self.slope = (n_classes + 1) / (3 * n_classes)
        self.strength = 2.0 * self.slope
        self.scatter = 1.0
        self._norm = 1 if pure else 2
        self._scores: Floats = np.zeros(1)
        self.shares: Floats = np.full(n_classes, 1.0 / n_classes)
        self.cuts: Floats = logit(np.cumsum(self.shares)[:-1])

    @property
    def tree_curvature(self) -> float:
        return SOFTMAX.tree_curvature / 256

    @property
    def rule(self) -> LevelRule:
        return self._rule

    @cached_property
    def _rule(self) -> LevelRule:
        return ordered_rule(self.cuts)

    @property
    def intercept_rule(self) -> LevelRule:
        return class_rule(self.cuts, self._norm)

    @property
    def tree_rule(self) -> LevelRule:
        return ordered_rule(self.cuts, self.tree_curvature, self._norm)

    def most_variance(self, kernel: Kernel) -> float:
        """That of the tuning: contributions are as long as the gradient of a margin."""
        return kernel.most_variance

    def begin(self, budget: Budget, total: float, intercept_share: float) -> Intercept:
        """Cut points from noisy counts of the classes."""
        del intercept_share
        counts, doubt, self.share = count_classes(budget, total, len(self.shares), self.numbers)
        self.set_shares(counts / counts.sum())
        return SharesIntercept(self, total, doubt)

    def set_shares(self, shares: Floats) -> None:
        """Puts the cut points where simulated rows have these shares."""
        self.shares = shares
        self._set_cuts()

    def _set_cuts(self) -> None:
        self.cuts = fitted_cuts(self.cuts, self.shares, self._scores)
        self.__dict__.pop("_rule", None)

    def directions(self, intercept: Floats, spread: float, rows: SimulatedRows | None) -> Directions:
        """By the chances of simulated rows."""
        del intercept, spread
        assert rows is not None
        return Directions.of(self.curvature(rows), EFFECTS.least_curvature, self.scatter)

    def order(self, effect: Floats, counts: Floats) -> Ints:
        """By effects, rising."""
        del counts
        return np.argsort(np.argsort(effect[:, 0], kind="stable"), kind="stable")

    def curvature(self, rows: SimulatedRows) -> Floats:
        """Mean of the scaled variance of the slope over simulated rows, with cut points where these have the shares."""
        self._scores = rows.scores[:, 0].copy()
        self._set_cuts()
        chances = OrderedChances.of(self.cuts, self._scores)
        curvatures, longest = chances.information / longest_slopes(chances), longest_slopes(chances)
        mean = float(curvatures.mean())
        self.scatter = float((curvatures / longest).mean()) / mean
        return np.array([[mean]])

    def class_directions(self) -> Directions:
        """How sums of :attr:`intercept_rule` fall as logarithms of shares rise, ``c (diag p - p p')``."""
        gain = float((1.0 / longest_vectors(OrderedChances.of(self.cuts, self._scores), self._norm)).mean())
        matrix = gain * (np.diag(self.shares) - np.outer(self.shares, self.shares))
        return Directions.of(matrix, EFFECTS.least_curvature, 1.0)
