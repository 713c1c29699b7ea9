"""From scores to probabilities, with numpy alone."""

from __future__ import annotations

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
