"""Cut points of ordered classes, from the shares of the classes, which sums over the rows tell."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import expit

from tacit.additive.intercept import NewtonIntercept
from tacit.additive.term import Directions
from tacit.arrays import Floats
from tacit.curator.measurement import Measurement

STEPS = 8
"""Not tuned, of the arithmetic: Newton's steps towards cut points, from where these were."""

FARTHEST = 12.0
"""Not tuned, of the arithmetic: no cut point lies farther from 0. Scores end at 8."""


def fitted_cuts(cuts: Floats, shares: Floats, scores: Floats) -> Floats:
    """Cut points at which rows of these scores belong to the classes in these shares, on average.

    Args:
        cuts: where to begin, shape ``(classes - 1,)``.
        shares: of the classes; positive, and they add up to 1.
        scores: shape ``(rows,)``.
    """
    wanted = np.cumsum(shares)[:-1]
    for _ in range(STEPS):
        upto = expit(cuts[:, None] - scores[None, :])
        slopes = np.maximum((upto * (1.0 - upto)).mean(axis=1), 1e-9)
        cuts = cuts - np.clip((upto.mean(axis=1) - wanted) / slopes, -1.0, 1.0)
    return np.maximum.accumulate(np.clip(cuts, -FARTHEST, FARTHEST))


class HoldsShares(Protocol):
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

    def __init__(self, loss: HoldsShares, total: float, doubt: float) -> None:
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
