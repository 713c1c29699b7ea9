"""An online learner for any composition of finite classes: a majority of tuples of experts.

Not private. Its mistake bound is polynomial in the dimensions whatever the function, and needs no horizon; the paper's
learner, by boosting, is :class:`~tacit.closure.online_composition.BoostedComposition`. The proof stands in
docs/theory/compositions.md.

The second learner is the paper's (Alon, Beimel, Moran, Stemmer 2020, section 4.2.2), by online boosting of majorities.
Its booster is Online BBM (Beygelzimer, Kale, Luo 2015): like the paper's choice it turns a weak online learner with an
edge into a strong one, and its mistake bound has no hidden constant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import product
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats
from tacit.closure.online import AgnosticOnlineLearner, FiniteDomain, OptimalState, key_of
from tacit.theory.closure.bounds import littlestone_of_tuples, patterns_at_most
from tacit.theory.closure.formula import Formula, TruthTable, majority_formula

Left = tuple[int, ...]  # per class, the hypotheses left, as bits


class OnlineComposition:
    """Learns labels from ``G(H_1, .., H_k)`` with at most ``mistake_bound`` mistakes, on any sequence of any length.

    It keeps the tuples of sub-classes that the labels leave possible. With R mistakes still allowed for, a tuple whose
    sub-classes have Littlestone dimensions ``r_i`` weighs ``product of C(R, <= r_i)``: as many tuples of experts it
    stands for. The label of more weight is predicted. A mistake splits every tuple by the labels its hypotheses may
    have given, so that the weight falls by half at least: ``C(R, <= r) = C(R-1, <= r) + C(R-1, <= r-1)``. It starts
    at ``product of C(R, <= d_i)`` and never falls below 1, hence fewer than R mistakes once ``2^R`` is larger.
    Where the prediction is right tuples are only narrowed, and never split.

    Args:
        function: truth table of G.
        matrices: the classes, over the same points.
        points: what the columns stand for; by default their numbers.

    Attributes:
        mistakes: how many were made.
        mistake_bound: the largest T with ``2^T <= product of C(T, <= d_i)``.

    Raises:
        ValueError: if there are more or fewer classes than inputs, one is empty, or their points differ in number.
    """

    def __init__(
        self, function: TruthTable, matrices: Sequence[npt.ArrayLike], points: Sequence[Any] | None = None
    ) -> None:
        if len(matrices) != function.arity:
            raise ValueError(f"the function has {function.arity} inputs, and there are {len(matrices)} classes")
        self._function = function
        self._domains = [FiniteDomain(matrix, points) for matrix in matrices]
        widths = {len(domain.family.columns) for domain in self._domains}
        if len(widths) > 1:
            raise ValueError(f"the classes must have the same points, got {sorted(widths)} of them")
        start = tuple(domain.family.everything for domain in self._domains)
        self.mistakes = 0
        self.mistake_bound = littlestone_of_tuples(self._dimensions(start))
        self._left: frozenset[Left] = frozenset([start])

    def predict_one(self, x: Any) -> int:
        """The label of a point."""
        key, weight = key_of(x), [0, 0]
        allowed = max(self.mistake_bound - self.mistakes, 0)  # R - 1, with R = mistake_bound + 1 before any mistake
        for remaining in self._left:
            for label, narrowed in self._branches(remaining, key):
                weight[label] += self._experts(narrowed, allowed)
        return int(weight[1] >= weight[0])

    def learn_one(self, x: Any, y: int) -> Self:
        """Learns the label of a point. One that no tuple explains changes nothing but the count of mistakes."""
        key, label = key_of(x), int(bool(y))
        wrong = self.predict_one(x) != label
        following: set[Left] = set()
        for remaining in self._left:
            agreeing = [narrowed for answer, narrowed in self._branches(remaining, key) if answer == label]
            following.update(agreeing if wrong or len(agreeing) < 2 else [remaining])
        self.mistakes += wrong
        self._left = frozenset(following) or self._left
        return self

    def _branches(self, remaining: Left, key: Hashable) -> Iterator[tuple[int, Left]]:
        """What the hypotheses left may say of a point: the composition's label, and what is left then."""
        options = []
        for domain, subset in zip(self._domains, remaining, strict=True):
            ones = subset & domain.ones(key)
            options.append([(bit, part) for bit, part in ((0, subset ^ ones), (1, ones)) if part])
        for combination in product(*options):
            yield self._function([bit for bit, _ in combination]), tuple(part for _, part in combination)

    def _dimensions(self, remaining: Left) -> list[int]:
        return [domain.dimension(subset) for domain, subset in zip(self._domains, remaining, strict=True)]

    def _experts(self, remaining: Left, rounds: int) -> int:
        count = 1
        for dimension in self._dimensions(remaining):
            count *= patterns_at_most(rounds, dimension)
        return count


LARGEST_GATE = 20_000  # hypotheses of an inner gate's class


class WeakLearner(Protocol):
    """An online learner that takes weighted examples."""

    def predict_one(self, x: Any) -> int:
        """A label."""

    def learn_one(self, x: Any, y: int, weight: float = 1.0) -> Any:
        """Learns from an example of a weight in [0, 1]."""


def potentials(copies: int, edge: float) -> Floats:
    """``phi[i, s + copies]``: the chance that a vote standing at ``s`` after i of the learners ends at 0 or below.

    The rest are independent and right with probability ``(1 + edge) / 2``.
    """
    phi = np.zeros((copies + 1, 2 * copies + 3))
    votes = np.arange(-copies - 1, copies + 2)
    phi[copies] = votes <= 0
    for i in range(copies - 1, -1, -1):
        phi[i, 1:-1] = (1 - edge) / 2 * phi[i + 1, :-2] + (1 + edge) / 2 * phi[i + 1, 2:]
        phi[i, 0], phi[i, -1] = phi[i + 1, 0], phi[i + 1, -1]
    return phi


class OnlineBoosting:
    """A majority of weak learners, each taught what those before it leave undecided.

    Guarantee: if every weak learner's weighted edge is at least ``edge`` but for an excess S, that is ``sum w z >= edge
    * sum w - S max w`` with ``z`` = +1 where it is right and -1 where it is wrong, then after T rounds there are at
    most ``T phi_0 + S * sum_i max w_i`` mistakes. (With ``phi_i(s -+ 1)`` around their mean by ``w_i(s)``: each learner
    keeps the total potential from growing by more than its excess.)

    Args:
        weak: makes a weak learner.
        edge: in (0, 1); ``1/k`` for majorities of k functions of the weak learner's class.
        copies: how many weak learners.
    """

    def __init__(self, weak: Callable[[], WeakLearner], edge: float, copies: int) -> None:
        if not 0 < edge < 1 or copies < 1:
            raise ValueError(f"edge must lie in (0, 1) and copies be positive, got {edge} and {copies}")
        self._learners = [weak() for _ in range(copies)]
        self._phi = potentials(copies, edge)
        weight = (self._phi[1:, :-2] - self._phi[1:, 2:]) / 2  # line i is learner i's, column s + copies the vote s
        self._largest = weight.max(axis=1)
        self._weight = weight / self._largest[:, None]  # a learner's excess is in units of its largest weight
        self._copies = copies

    def mistake_bound(self, rounds: int, excess: float) -> float:
        """The guarantee, for weak learners of this excess."""
        start = self._phi[0, self._copies + 1]
        return float(rounds * start + excess * self._largest.sum())

    def predict_one(self, x: Any) -> int:
        """The majority's label; a tie counts as 0."""
        return int(sum(2 * learner.predict_one(x) - 1 for learner in self._learners) > 0)

    def learn_one(self, x: Any, y: int) -> Self:
        """Teaches every learner the label, weighted by how much it matters for the vote."""
        label, vote = int(bool(y)), 0
        for i, learner in enumerate(self._learners):
            right = learner.predict_one(x) == label
            learner.learn_one(x, label, float(self._weight[i, vote + self._copies]))
            vote += 1 if right else -1
        return self


def _gate_class(gate: Formula, matrices: Sequence[Bytes]) -> Bytes:
    """The class of a gate's outputs, over all choices of hypotheses for its inputs."""
    inputs = sorted({child.index for child in gate.children or (gate,) if child.kind == "input"})
    rows: list[Bytes] = []
    for combination in product(*(range(len(matrices[i])) for i in inputs)):
        if len(rows) >= LARGEST_GATE:
            raise ValueError(f"an inner gate has more than {LARGEST_GATE} combinations of hypotheses")
        bits = dict(zip(inputs, (matrices[i][row] for i, row in zip(inputs, combination, strict=True)), strict=True))
        rows.append(_evaluate(gate, bits, matrices[0].shape[1]))
    return np.unique(np.array(rows), axis=0)


def _evaluate(gate: Formula, bits: dict[int, Bytes], points: int) -> Bytes:
    if gate.kind == "input":
        value = bits[gate.index]
    elif gate.kind == "constant":
        value = np.full(points, gate.index, np.uint8)
    else:
        votes = sum(_evaluate(child, bits, points).astype(np.int64) for child in gate.children)
        value = np.asarray(2 * votes > len(gate.children)).astype(np.uint8)
    return 1 - value if gate.negated else value


class BoostedComposition:
    """Learns labels from ``G(H_1, .., H_k)`` by boosting the classes of a majority formula of G.

    The top gate is a majority of k' gates, so some hypothesis of their union has edge ``1/k'``. The weak learner is the
    agnostic one over that union. (The paper bounds the union's dimension by Proposition 4.3; a finite class has it
    exactly, and its optimal learner's states merge.) Its guarantee is seldom below the number of rounds:
    :class:`~tacit.closure.online_composition.OnlineComposition` has a better one, and errs less.

    Args:
        function: truth table of G.
        matrices: the classes, over the same points.
        rounds: horizon.
        generator: randomness of the weak learners.
        copies: how many weak learners.
        points: what the columns stand for; by default their numbers.
    """

    def __init__(
        self,
        function: TruthTable,
        matrices: Sequence[npt.ArrayLike],
        rounds: int,
        generator: np.random.Generator,
        copies: int = 25,
        points: Sequence[Any] | None = None,
    ) -> None:
        if len(matrices) != function.arity:
            raise ValueError(f"the function has {function.arity} inputs, and there are {len(matrices)} classes")
        tables = [np.asarray(m, np.uint8) for m in matrices]
        formula = majority_formula(function)
        gates = formula.children if formula.kind == "majority" else (formula,)
        domain = FiniteDomain(np.vstack([_gate_class(gate, tables) for gate in dict.fromkeys(gates)]), points)
        start = OptimalState(domain, domain.family.everything)
        self.union_dimension = domain.dimension(domain.family.everything)
        self.edge = 1 / len(gates) if len(gates) > 1 else 0.5

        def weak() -> AgnosticOnlineLearner:
            return AgnosticOnlineLearner(start, self.union_dimension, rounds, generator)

        self._booster = OnlineBoosting(weak, self.edge, copies)
        self.mistake_bound = self._booster.mistake_bound(rounds, 2 * weak().regret_bound)

    def predict_one(self, x: Any) -> int:
        """The label of a point."""
        return self._booster.predict_one(x)

    def learn_one(self, x: Any, y: int) -> Self:
        """Learns the label of a point."""
        self._booster.learn_one(x, y)
        return self
