"""Proper losses for class probabilities, in the forms that trees and boosting need.

Every loss is symmetric, fair and normalised: its Bayes risk ``L`` is concave, ``L(0) = L(1) = 0`` and ``L(1/2) = 1``.
From it follow (Nock, Henecka 2020, section 2):

* the canonical link ``psi = -L'``, what a leaf of positive proportion ``u`` predicts;
* its inverse, which turns a score into a proportion and, at minus the margin, into a boosting weight.

All functions are vectorised over float arrays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.theory.trees import m_alpha_inverse_link


def _proportions(u: npt.ArrayLike) -> Floats:
    values = np.asarray(u, dtype=np.float64)
    if np.any((values < 0) | (values > 1)):
        raise ValueError("a proportion must lie in [0, 1]")
    return values


class Loss(ABC):
    """A symmetric, fair, normalised proper loss."""

    @abstractmethod
    def bayes_risk(self, u: npt.ArrayLike) -> Floats:
        """``L(u)``: the least expected loss when the positive class has probability ``u``."""

    @abstractmethod
    def link(self, u: npt.ArrayLike) -> Floats:
        """``psi(u) = -L'(u)``; 0 at 1/2 where it is set-valued."""

    @abstractmethod
    def inverse_link(self, z: npt.ArrayLike) -> Floats:
        """The proportion whose (set-valued) link holds ``z``."""

    def boosting_weight(self, margin: npt.ArrayLike) -> Floats:
        """``inverse_link(-margin)``: the weight in [0, 1] of a row whose label times score is ``margin``; 1/2 at 0."""
        return self.inverse_link(-np.asarray(margin, dtype=np.float64))

    def node_risk(self, positives: npt.ArrayLike, total: npt.ArrayLike) -> Floats:
        """``w L(w1 / w)``: the unnormalised risk of a node of weight ``total`` of which ``positives`` is positive.

        It is the perspective of ``L``: concave, homogeneous of degree 1, hence superadditive; 0 for an empty node.
        """
        w1, w = np.asarray(positives, np.float64), np.asarray(total, np.float64)
        share = np.divide(w1, w, out=np.zeros(np.broadcast(w1, w).shape), where=w > 0)
        return w * self.bayes_risk(np.clip(share, 0.0, 1.0))


@final
@dataclass(frozen=True)
class MAlphaLoss(Loss):
    """The M-alpha loss: ``alpha`` times Matsushita's loss plus ``1 - alpha`` times the 0/1 loss.

    ``alpha = 1`` boosts at the best rate and pays the most for privacy; ``alpha = 0`` is the 0/1 loss, good for split
    scores alone. Source: Nock, Henecka 2020, Definition 6, Fig. 1 and Theorem 8. Two printed slips are put right here:
    Definition 6 gives Matsushita's part twice (its Bayes risk would be 2 at 1/2), and it charges *both* classes in full
    at a tie, which is not proper; a tie costs one half.
    """

    alpha: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], got {self.alpha}")

    def bayes_risk(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        return 2.0 * (self.alpha * np.sqrt(p * (1.0 - p)) + (1.0 - self.alpha) * np.minimum(p, 1.0 - p))

    def link(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        smooth = np.zeros_like(p)
        if self.alpha > 0:
            with np.errstate(divide="ignore"):
                smooth = (2.0 * p - 1.0) / np.sqrt(p * (1.0 - p))
        return self.alpha * smooth + 2.0 * (1.0 - self.alpha) * np.sign(p - 0.5)

    def inverse_link(self, z: npt.ArrayLike) -> Floats:
        return m_alpha_inverse_link(self.alpha, z)


@final
@dataclass(frozen=True)
class SquareLoss(Loss):
    """The square loss, whose Bayes risk is Gini's criterion ``4 u (1 - u)`` (CART)."""

    def bayes_risk(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        return 4.0 * p * (1.0 - p)

    def link(self, u: npt.ArrayLike) -> Floats:
        return 8.0 * _proportions(u) - 4.0

    def inverse_link(self, z: npt.ArrayLike) -> Floats:
        return np.clip(0.5 + np.asarray(z, np.float64) / 8.0, 0.0, 1.0)


@final
@dataclass(frozen=True)
class LogLoss(Loss):
    """The logarithmic loss in bits, whose Bayes risk is the entropy (C4.5) and whose surrogate is the logistic loss."""

    def bayes_risk(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        out = np.zeros_like(p)
        for share in (p, 1.0 - p):
            out -= share * np.log2(share, out=np.zeros_like(p), where=share > 0)
        return out

    def link(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        with np.errstate(divide="ignore"):
            return np.log2(p) - np.log2(1.0 - p)

    def inverse_link(self, z: npt.ArrayLike) -> Floats:
        return 0.5 * (1.0 + np.tanh(0.5 * math.log(2.0) * np.asarray(z, np.float64)))


@final
@dataclass(frozen=True)
class SmoothedLoss(Loss):
    """Matsushita's loss smoothed: every node is taken to hold ``smoothing`` times its weight more of either class.

    Its node risk is ``2 sqrt((w1 + s) (w0 + s))`` with ``s = smoothing (w0 + w1)``, but for a linear part and a factor
    that make pure nodes 0 and even ones 1. The slope is bounded, so a row moves a score by less than a number that does
    not grow with the rows; small smoothing is Matsushita's loss, large smoothing Gini's (``docs/theory/tree_rows.md``).
    """

    smoothing: float

    def __post_init__(self) -> None:
        if not 0.0 < self.smoothing < math.inf:
            raise ValueError(f"smoothing must be positive and finite, got {self.smoothing}")

    @property
    def _factor(self) -> float:
        """One over the smoothed risk of an even node less that of a pure one."""
        return (math.sqrt(1.0 + self.smoothing) + math.sqrt(self.smoothing)) ** 2

    def _product(self, p: Floats) -> Floats:
        return (p + self.smoothing) * (1.0 - p + self.smoothing)

    def bayes_risk(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        pure = math.sqrt(self.smoothing * (1.0 + self.smoothing))
        return 2.0 * self._factor * p * (1.0 - p) / (np.sqrt(self._product(p)) + pure)

    def link(self, u: npt.ArrayLike) -> Floats:
        p = _proportions(u)
        return self._factor * (2.0 * p - 1.0) / np.sqrt(self._product(p))

    def inverse_link(self, z: npt.ArrayLike) -> Floats:
        tangent = np.asarray(z, np.float64) / (2.0 * self._factor)
        cosine = (1.0 + 2.0 * self.smoothing) * tangent / np.hypot(1.0, tangent)
        return 0.5 * (1.0 + np.clip(cosine, -1.0, 1.0))


ZERO_ONE = MAlphaLoss(0.0)  # the 0/1 loss: the cheapest to make private, and the slowest to boost

MATSUSHITA = MAlphaLoss(1.0)
"""Matsushita's loss: the best boosting rate (Kearns, Mansour 1996), and the dearest to make private."""


SMOOTHED: Final = "smoothed"  # the criterion of `SmoothedLoss`, whose smoothing follows from noise and released support
CRITERIA = ("gini", "entropy", "error", SMOOTHED)  # what may score splits instead of the M-alpha loss


def loss_of(criterion: str | float) -> Loss:
    """The loss a criterion stands for: a number in [0, 1] is M-alpha's; else ``"gini"``, ``"entropy"``, ``"error"``."""
    if isinstance(criterion, str):
        losses: dict[str, Loss] = {"gini": SquareLoss(), "entropy": LogLoss(), "error": ZERO_ONE}
        if criterion not in losses:
            raise ValueError(f"criterion must be a number in [0, 1] or one of {', '.join(losses)}, got {criterion!r}")
        return losses[criterion]
    return MAlphaLoss(float(criterion))
