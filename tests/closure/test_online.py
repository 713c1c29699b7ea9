"""Online learners against their mistake bounds, on adversarial, random and noisy sequences."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from tacit.arrays import Ints
from tacit.closure.online import (
    AgnosticOnlineLearner,
    FiniteDomain,
    MajorityState,
    OnlineLearner,
    OptimalState,
    StandardOptimal,
    UnionLearner,
)
from tacit.closure.online_composition import BoostedComposition, OnlineBoosting, potentials
from tacit.theory.closure.formula import TruthTable, named_function
from tacit.theory.closure.witnesses import MistakeTree
from tacit.theory.dimensions import littlestone_dimension


def random_class(rng: np.random.Generator, hypotheses: int, points: int) -> Ints:
    return np.unique((rng.random((hypotheses, points)) < 0.5).astype(int), axis=0)


def run(learner: OnlineLearner, points: list[int], labels: list[int]) -> int:
    wrong = 0
    for x, y in zip(points, labels, strict=True):
        wrong += learner.predict_one(x) != y
        learner.learn_one(x, y)
    assert wrong == learner.mistakes
    return wrong


def test_the_optimal_learner_errs_at_most_the_littlestone_dimension_and_an_adversary_reaches_it() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        matrix = random_class(rng, 12, 6)
        dimension = littlestone_dimension(matrix)
        for hypothesis in matrix:
            points = [int(x) for x in rng.permutation(np.repeat(np.arange(6), 2))]
            assert run(StandardOptimal(matrix), points, [int(hypothesis[x]) for x in points]) <= dimension.value
        learner, node = StandardOptimal(matrix), dimension.witness
        assert learner.mistake_bound == dimension.value
        assert isinstance(node, MistakeTree)
        while node is not None and node.point is not None:
            label = 1 - learner.predict_one(node.point)
            learner.learn_one(node.point, label)
            node = node.one if label else node.zero
        assert learner.mistakes == dimension.value


def test_the_optimal_learner_follows_dimensions_and_not_numbers_of_hypotheses() -> None:
    """A cube of dimension 3 against 40 singletons: who follows the majority (Halving) errs once more than need be."""
    cube = np.array(list(product((0, 1), repeat=3)))
    many = np.eye(40, dtype=int)
    matrix = np.block(
        [[np.zeros((8, 1), int), cube, np.zeros((8, 40), int)], [np.ones((40, 1), int), np.zeros((40, 3), int), many]]
    )
    assert littlestone_dimension(matrix).value == 3
    learner = StandardOptimal(matrix)
    assert learner.mistake_bound == 3
    assert learner.predict_one(0) == 0
    for labels in product((0, 1), repeat=3):
        assert run(StandardOptimal(matrix), [0, 1, 2, 3], [0, *labels]) <= 3
    # An adversary that always says the other thing stays within a class of the dimension that is left.
    learner.learn_one(0, 0)
    for x in (1, 2, 3):
        learner.learn_one(x, 1 - learner.predict_one(x))
    assert learner.mistakes == 3


def test_mistakes_of_a_union_stay_below_3d_plus_3_log_k() -> None:
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(15):
        k = int(rng.integers(2, 9))
        classes = [random_class(rng, 6, 7) for _ in range(k)]
        learner_bound = UnionLearner(classes).mistake_bound
        for r in range(k):
            for hypothesis in classes[r][:3]:
                learner = UnionLearner(classes)
                points = [int(x) for x in rng.permutation(np.repeat(np.arange(7), 3))]
                wrong = run(learner, points, [int(hypothesis[x]) for x in points])
                assert wrong <= learner_bound
                worst = max(worst, wrong / learner_bound)
    assert worst > 0.1
    square = np.array(list(product((0, 1), repeat=2)))  # of dimension 2
    assert UnionLearner([square] * 8).mistake_bound == 3 * 2 + 3 * 3


@dataclass(frozen=True)
class LastLabel:
    """Expects the label it saw last."""

    label: int

    def predict(self, x: Hashable) -> int:
        del x
        return self.label

    def update(self, x: Hashable, label: int) -> LastLabel:
        del x
        return LastLabel(label)


def test_agnostic_regret_stays_below_its_bound_in_expectation() -> None:
    rng = np.random.default_rng(3)
    # by hand: a correction in two of 40 rounds, weights by exp(-rate) per error, rate = sqrt(8 d ln(e T / d) / T)
    small = AgnosticOnlineLearner(LastLabel(1), 2, 40, rng)
    bits = 2 * (1 + math.log(20))
    assert small.regret_bound == pytest.approx(math.sqrt(20 * bits))
    assert small.probability_one(0) == pytest.approx(0.95)
    wrong = 0.05 * math.exp(-math.sqrt(8 * bits / 40))
    assert small.learn_one(0, 1).probability_one(0) == pytest.approx((0.95**2 + wrong * 0.05) / (0.95 + wrong))
    rounds = 120
    for noise in (0.0, 0.2, 0.5):
        matrix = random_class(rng, 8, 5)
        domain = FiniteDomain(matrix)
        d = domain.dimension(domain.family.everything)
        points = rng.integers(0, 5, rounds)
        labels = matrix[0][points] ^ (rng.random(rounds) < noise)
        learner = AgnosticOnlineLearner(OptimalState(domain, domain.family.everything), d, rounds, rng)
        loss = 0.0
        for x, y in zip(points, labels, strict=True):
            p = learner.probability_one(int(x))
            loss += p if y == 0 else 1 - p
            learner.learn_one(int(x), int(y))
        best = min((h[points] != labels).sum() for h in matrix)
        assert loss - best <= learner.regret_bound
    assert AgnosticOnlineLearner(LastLabel(1), 0, 1, rng).regret_bound == 0.0
    for mistakes, rounds in ((1, 0), (-1, 1)):
        with pytest.raises(ValueError, match="rounds must be positive"):
            AgnosticOnlineLearner(LastLabel(1), mistakes, rounds, rng)


def test_merging_experts_gives_what_all_experts_give() -> None:
    """Exponential weights over every choice of corrected rounds, written out, for a few rounds."""
    rng = np.random.default_rng(4)
    matrix = random_class(rng, 5, 4)
    domain = FiniteDomain(matrix)
    start = OptimalState(domain, domain.family.everything)
    rounds, d = 7, 2
    learner = AgnosticOnlineLearner(start, d, rounds, rng)
    rate, flip = learner._rate, learner._flip
    points, labels = rng.integers(0, 4, rounds), rng.integers(0, 2, rounds)
    for t in range(rounds):
        one = total = 0.0
        for choice in product((0, 1), repeat=t + 1):
            state, weight = start, 1.0
            for s in range(t + 1):
                said = state.predict(int(points[s])) ^ choice[s]
                weight *= flip if choice[s] else 1 - flip
                if s < t:
                    weight *= np.exp(-rate * (said != labels[s]))
                    state = state.update(int(points[s]), said)
            one, total = one + weight * said, total + weight
        assert learner.probability_one(int(points[t])) == pytest.approx(one / total)
        learner.learn_one(int(points[t]), int(labels[t]))


class Coin:
    """A weak learner that is right with a given probability."""

    def __init__(self, rng: np.random.Generator, right: float) -> None:
        self.rng, self.right, self.heaviest = rng, right, 0.0

    def predict_one(self, x: int) -> int:
        return int(self.rng.random() < self.right) if x else int(self.rng.random() >= self.right)

    def learn_one(self, x: int, y: int, weight: float = 1.0) -> None:
        assert 0 <= weight <= 1
        self.heaviest = max(self.heaviest, weight)


class Scripted:
    """A weak learner that says the same of every point, and remembers what it was taught."""

    def __init__(self, label: int) -> None:
        self.label = label
        self.taught: list[tuple[int, float]] = []

    def predict_one(self, x: int) -> int:
        del x
        return self.label

    def learn_one(self, x: int, y: int, weight: float = 1.0) -> None:
        del x
        self.taught.append((y, weight))


def scripted(*labels: int) -> tuple[OnlineBoosting, list[Scripted]]:
    learners = [Scripted(label) for label in labels]
    order = iter(learners)
    return OnlineBoosting(lambda: next(order), 0.2, len(labels)), learners


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize(
    ("right", "second", "third"),
    [((1, 1, 1), 2 / 3, 0.0), ((1, 0, 1), 2 / 3, 1.0), ((0, 1, 0), 1.0, 1.0), ((0, 0, 1), 1.0, 0.0)],
)
def test_a_step_of_the_booster_by_value(label: int, right: tuple[int, ...], second: float, third: float) -> None:
    """Learners right with .6 or not: a vote of 1 is lost by one of two more in .4, one of -1 saved by one in .6."""
    booster, learners = scripted(*(label if hit else 1 - label for hit in right))
    booster.learn_one(0, label)
    assert [y for learner in learners for y, _ in learner.taught] == [label] * 3
    # (phi(-1) - phi(1)) / 2 is (.64 - .16) / 2, the largest; after that .2 or .3 of .3; then .5 of .5 or nothing
    assert [w for learner in learners for _, w in learner.taught] == pytest.approx([1.0, second, third])


@pytest.mark.parametrize(("labels", "said"), [((0, 1), 0), ((1, 0, 0, 1), 0), ((1, 1, 0, 1), 1), ((1, 1), 1)])
def test_a_tie_of_the_booster_counts_as_zero(labels: tuple[int, ...], said: int) -> None:
    booster, _ = scripted(*labels)
    assert booster.predict_one(0) == said
    # the potential counts a tie among what is wrong, for either label: it bounds the mistakes
    assert potentials(2, 0.2)[2].tolist() == [1, 1, 1, 1, 0, 0, 0][: 2 * 2 + 3]


def test_potentials_are_tail_probabilities_and_the_invariant_holds() -> None:
    phi = potentials(9, 0.2)
    steps = np.array(list(product((-1, 1), repeat=9)))
    right = np.where(steps > 0, 0.6, 0.4).prod(axis=1)
    assert phi[0, 10] == pytest.approx(right[steps.sum(axis=1) <= 0].sum())
    weight = (phi[:, :-2] - phi[:, 2:]) / 2
    mean = (phi[:, :-2] + phi[:, 2:]) / 2
    assert np.allclose(phi[:-1, 1:-1], mean[1:] - 0.2 * weight[1:])
    assert weight.min() >= 0
    booster = OnlineBoosting(lambda: Coin(np.random.default_rng(0), 0.6), 0.2, 9)
    assert booster.mistake_bound(800, 3.0) == pytest.approx(800 * phi[0, 10] + 3 * weight[1:].max(axis=1).sum())


def test_compositions_check_their_parts() -> None:
    rng = np.random.default_rng(7)
    with pytest.raises(ValueError, match="2 inputs, and there are 1"):
        BoostedComposition(named_function("or", 2), [np.eye(2, dtype=int)], 10, rng)
    single = BoostedComposition(TruthTable((1, 0)), [np.eye(3, dtype=int)], 30, rng, copies=3)
    for _ in range(10):
        for x in range(3):
            single.learn_one(x, x != 1)
    assert [single.predict_one(x) for x in range(3)] == [1, 0, 1]
    state = MajorityState.of([OptimalState(FiniteDomain(np.eye(2, dtype=int)), 3)])
    assert state.update(0, 1) == state.update(0, 1)


def test_ties_are_said_to_be_1() -> None:
    """Of two hypotheses that disagree, and of two learners that do."""
    domain = FiniteDomain([[0], [1]])
    assert OptimalState(domain, domain.family.everything).predict(0) == 1
    apart = [OptimalState(FiniteDomain([[label]]), 1) for label in (0, 1)]
    assert [state.predict(0) for state in apart] == [0, 1]
    assert MajorityState.of(apart).predict(0) == 1
