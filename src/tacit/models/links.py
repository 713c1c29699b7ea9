"""From scores to probabilities, with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats


def logistic(score: npt.ArrayLike) -> Floats:
    """``1 / (1 + exp(-score))``."""
    with np.errstate(over="ignore"):  # the exponential of a large score is infinite, and the probability 0
        return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(score, np.float64))))


def softmax(scores: Floats) -> Floats:
    """Numbers in proportion to the exponentials of the scores of a row, adding up to 1; shape ``(rows, classes)``."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_softmax(scores: Floats) -> Floats:
    """Their logarithms, shape ``(rows, classes)``."""
    relative = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(relative - np.log(np.exp(relative).sum(axis=1, keepdims=True)))


LEAST = 1e-300
"""Nothing is divided by less."""


@dataclass(frozen=True, eq=False)
class OrderedChances:
    """Chances of ordered classes: ``P(y <= k) = 1 / (1 + exp(F - c_k))``."""

    below: Floats  # chance of a lower class, `P(y < k)`, shape `(classes, rows)`
    above: Floats  # chance of a higher class, `P(y > k)`, the same shape: small ones are as exact as large ones

    @staticmethod
    def of(cuts: Floats, scores: Floats) -> OrderedChances:
        """Of rows with scores ``F``, shape ``(rows,)``, and cut points in increasing order, ``(classes - 1,)``."""
        gaps, none = cuts[:, None] - scores[None, :], np.zeros((1, len(scores)))
        return OrderedChances(np.vstack([none, logistic(gaps)]), np.vstack([logistic(-gaps), none]))

    @property
    def chances(self) -> Floats:
        """Of every class, shape ``(classes, rows)``; they add up to 1."""
        upto = np.vstack([self.below[1:], np.ones_like(self.below[:1])])
        return np.asarray(upto - self.below)

    @property
    def slopes(self) -> Floats:
        """The derivative of a class's log chance in the score, ``P(y < k) - P(y > k)``; shape ``(classes, rows)``."""
        return np.asarray(self.below - self.above)

    @property
    def information(self) -> Floats:
        """The variance of the slope, and how much its mean falls as the score rises; shape ``(rows,)``."""
        return np.asarray((self.chances * np.square(self.slopes)).sum(axis=0))

    @property
    def log_odds(self) -> Floats:
        """Of every class against all others together, shape ``(classes, rows)``."""
        others = np.maximum(self.below + self.above, LEAST)
        return np.asarray(np.log(np.maximum(self.chances, LEAST)) - np.log(others))

    @property
    def log_odds_slopes(self) -> Floats:
        """Their derivative in the score, shape ``(classes, rows)``: never beyond 1 either way."""
        return np.asarray(self.slopes / np.maximum(self.below + self.above, LEAST))
