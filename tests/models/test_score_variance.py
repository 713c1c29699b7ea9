"""The variance of a score is the sum of the variances of its parts, every one of which counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.models.additive import AdditiveScores, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.models.feature import Feature
from tacit.models.tree import ScoreTree, complete_shape, threshold_sets

MAIN, PAIR, TREE, OTHER, INTERCEPT = (3.0, 4.0), (0.3, 0.4), (6.0, 8.0), (0.06, 0.08), (0.5, 0.25)
"""Standard deviations, of two scores each."""


def scores() -> AdditiveScores:
    """Two columns of two bins and "missing"; only the second bins hold noise."""
    mapping = np.array([0, 1, 2])
    features = tuple(Feature(name, NumericGrid(0.0, 2.0, 2), mapping, ordered=True) for name in "ab")

    def noisy(sd: tuple[float, float]) -> np.ndarray:
        return np.array([[0.0, 0.0], sd, [0.0, 0.0]])

    effect, counts = np.zeros((3, 2)), np.ones(3)
    mains = (MainEffect(0, effect, noisy(MAIN), counts),)
    groups = np.array([0, 1, 1])
    table = np.zeros((2, 2, 2))
    table[1, 1] = PAIR
    pair = PairEffect((0, 1), (groups, groups), np.zeros((2, 2, 2)), table, np.ones((2, 2)))

    def tree(column: int, sd: tuple[float, float]) -> ScoreTree:
        shape = complete_shape([column], threshold_sets([0]))
        leaves = np.zeros((2, 2))
        right = int(shape.find([np.array([1], np.uint8)] * 2)[0])
        leaves[right] = sd
        return ScoreTree(shape, np.zeros((2, 2)), np.ones(2), leaves)

    trees = (tree(0, TREE), tree(1, OTHER))
    return AdditiveScores(np.zeros(2), features, mains, (pair,), trees, np.array(INTERCEPT))


def variance(of: AdditiveScores, a: float, b: float) -> np.ndarray:
    model = AdditiveRegressionModel("y", 0.0, 1.0, "squared", 0.5, of)
    return of.variance(model.frame_of(pd.DataFrame({"a": [a], "b": [b]})))[0]


@pytest.mark.parametrize(
    ("a", "b", "parts"),
    [
        (0.5, 0.5, (INTERCEPT,)),
        (0.5, 1.5, (INTERCEPT, OTHER)),
        (1.5, 0.5, (INTERCEPT, MAIN, TREE)),
        (1.5, 1.5, (INTERCEPT, MAIN, PAIR, TREE, OTHER)),
    ],
)
def test_every_part_counts_where_it_holds_noise(a: float, b: float, parts: tuple[tuple[float, float], ...]) -> None:
    expected = np.square(parts).sum(axis=0)
    np.testing.assert_allclose(variance(scores(), a, b), expected)


def test_unknown_deviations_are_not_taken_for_none() -> None:
    plain = scores()
    with pytest.raises(ValueError, match="no standard deviations"):
        variance(replace(plain, intercept_sd=None), 0.5, 0.5)
    unknown = replace(plain.trees[0], sd=None)
    with pytest.raises(ValueError, match="no standard deviations"):
        variance(replace(plain, trees=(unknown,)), 0.5, 0.5)
