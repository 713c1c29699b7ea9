"""Standard deviations of scores, from those of the parts a score is a sum of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tacit.encoding.frames import Frame
from tacit.models.tree import Tree
from tacit.models.tree_leaves import add_values

Floats = npt.NDArray[np.float64]


@runtime_checkable
class Uncertain(Protocol):
    """A model that knows how far off its scores may be."""

    def decision_function(self, frame: Frame) -> Floats:
        """The score of every row, shape ``(rows,)``."""

    def score_variance(self, frame: Frame) -> Floats:
        """Variance of the score of every row, shape ``(rows,)``."""


@runtime_checkable
class UncertainClasses(Protocol):
    """A model of several classes that knows how far off its log-odds may be."""

    def log_odds(self, frame: Frame) -> Floats:
        """Log-odds of every class against all others together, shape ``(rows, classes)``."""

    def log_odds_variance(self, frame: Frame) -> Floats:
        """Their variance, shape ``(rows, classes)``."""


def tree_variance(trees: Sequence[Tree], codes: Sequence[npt.NDArray[np.uint8]]) -> Floats:
    """Variance that noise leaves in a sum of trees, per row; leaves' noises are independent.

    Raises:
        ValueError: if a tree does not know its noise.
    """
    variance = np.zeros(len(codes[0]))
    for tree in trees:
        if tree.sd is None:
            raise ValueError("the model holds no standard deviations of its leaves")
        add_values(tree.shape.find(codes), np.square(tree.sd), variance, 0, len(variance))
    return variance
