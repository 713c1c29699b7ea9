"""The learner of compositions: its guarantee by value, against every sequence of tiny classes, and on long ones."""

from __future__ import annotations

import math
from copy import copy
from itertools import product

import numpy as np
import pytest

from tacit.arrays import Ints
from tacit.closure.online import FiniteDomain
from tacit.closure.online_composition import OnlineComposition
from tacit.theory.closure.formula import TruthTable, named_function
from tacit.theory.dimensions import littlestone_dimension


def composed(table: TruthTable, classes: list[Ints]) -> Ints:
    rows = [[table(bits) for bits in zip(*chosen, strict=True)] for chosen in product(*classes)]
    return np.unique(np.array(rows), axis=0)


def most_mistakes(learner: OnlineComposition, whole: Ints) -> int:
    """What the best adversary makes of it; labels of one hypothesis of the composition throughout.

    Rounds in which nothing changes are left out, so that the search ends.
    """
    best = learner.mistakes
    for x, label in product(range(whole.shape[1]), (0, 1)):
        agreeing = whole[whole[:, x] == label]
        if len(agreeing) == 0:
            continue
        after = copy(learner).learn_one(x, label)
        if after.mistakes == learner.mistakes and after._left == learner._left and len(agreeing) == len(whole):
            continue
        best = max(best, most_mistakes(after, agreeing))
    return best


@pytest.mark.parametrize(("name", "arity"), [("or", 2), ("xor", 2), ("majority", 3)])
def test_no_sequence_forces_more_mistakes_than_promised(name: str, arity: int) -> None:
    rng = np.random.default_rng(0)
    table, forced = named_function(name, arity), []
    for _ in range(4):
        classes = [np.unique(rng.integers(0, 2, (3, 4 if arity == 2 else 3)), axis=0) for _ in range(arity)]
        whole = composed(table, classes)
        learner = OnlineComposition(table, classes)
        most = most_mistakes(learner, whole)
        assert littlestone_dimension(whole).value <= most <= learner.mistake_bound
        forced.append(most)
    assert max(forced) >= 2


@pytest.mark.parametrize("name", ["or", "xor"])
def test_a_mistake_halves_the_number_of_experts(name: str) -> None:
    """The step of the proof, with weights written out here: R is one less after a mistake; no round adds to them."""
    rng = np.random.default_rng(2)
    table, halved = named_function(name, 2), 0
    for _ in range(30):
        classes = [rng.integers(0, 2, (rows, 6)) for rows in (10, 3)]
        dimensions = [FiniteDomain(c).dimension for c in classes]

        def weight(left: frozenset[tuple[int, ...]], rounds: int, dimensions=dimensions) -> int:
            return sum(
                math.prod(
                    sum(math.comb(rounds, i) for i in range(f(v) + 1)) for f, v in zip(dimensions, t, strict=True)
                )
                for t in left
            )

        learner, alive = OnlineComposition(table, classes), composed(table, classes)
        rounds = learner.mistake_bound + 1
        for x in rng.integers(0, 6, 25):
            label = 1 - learner.predict_one(int(x)) if rng.random() < 0.7 else int(rng.integers(2))
            if not (alive[:, x] == label).any():
                label = 1 - label
            alive = alive[alive[:, x] == label]
            before, mistakes = weight(learner._left, rounds), learner.mistakes
            learner.learn_one(int(x), label)
            wrong = learner.mistakes - mistakes
            rounds -= wrong
            assert 1 <= weight(learner._left, rounds) <= before / 2**wrong
            halved += wrong
    assert halved > 50


def test_predictions_weigh_tuples_by_the_mistakes_that_are_left() -> None:
    """Labels that nothing explains use up mistakes and leave all else: the vote turns where the formula says.

    Where both classes say 1 of the point, dimension 2 is left of either, else 1: (1 + R + R(R - 1)/2)^2 for label 1.
    """
    one = np.array([[1, 1, a, b] for a in (0, 1) for b in (0, 1)] + [[1, 0, 0, b] for b in (0, 1)])
    learner = OnlineComposition(named_function("and", 2), [one, one])
    assert learner.mistake_bound == 13
    said = []
    for left in [*range(13, -1, -1), 0, 0]:
        two, less = 1 + left + math.comb(left, 2), 1 + left
        said.append(learner.predict_one(1))
        assert said[-1] == (two**2 >= 2 * two * less + less**2)
        learner.learn_one(0, 0)  # of the first point all say 1
    assert said == [1] * 9 + [0] * 7
    assert learner.mistakes == 16
    negated = OnlineComposition(TruthTable((1, 0)), [np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]])])
    for left in range(negated.mistake_bound, -1, -1):
        assert negated.predict_one(1) == (left == 0)  # dimension 1 for label 0, one hypothesis for label 1
        negated.learn_one(0, 1)


def test_points_may_be_rows_and_unexplained_labels_change_nothing() -> None:
    points = [{"age": a} for a in range(3)]
    learner = OnlineComposition(TruthTable((1, 0)), [np.eye(3, dtype=int)], points)
    for x in points:
        learner.learn_one(x, x["age"] != 1)
    assert [learner.predict_one(x) for x in points] == [1, 0, 1]
    learner.learn_one(points[0], 0)
    assert [learner.predict_one(x) for x in points] == [1, 0, 1]
    right = OnlineComposition(TruthTable((0, 1)), [np.array([[0, 1], [1, 0]])])  # a right prediction narrows, too
    assert [right.predict_one(0), right.learn_one(0, 1).mistakes, right.predict_one(1)] == [1, 0, 0]
    with pytest.raises(ValueError, match="the same points"):
        OnlineComposition(named_function("or", 2), [np.eye(3, dtype=int), np.eye(4, dtype=int)])
    with pytest.raises(ValueError, match="2 inputs, and there are 1"):
        OnlineComposition(named_function("or", 2), [np.eye(2, dtype=int)])
    with pytest.raises(ValueError, match="at least one hypothesis"):
        OnlineComposition(named_function("or", 1), [np.zeros((0, 2), dtype=int)])
