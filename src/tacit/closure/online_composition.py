"""An online learner for any composition of finite classes: a majority of tuples of experts.

Not private. Its mistake bound is polynomial in the dimensions whatever the function, and needs no horizon; the paper's
learner, by boosting, is :class:`~tacit.closure.online_boosting.BoostedComposition`. The proof stands in
docs/theory/compositions.md.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from typing import Any, Self

import numpy.typing as npt

from tacit.closure.online import FiniteDomain, key_of
from tacit.theory.closure.bounds import littlestone_of_tuples, patterns_at_most
from tacit.theory.closure.formula import TruthTable

Left = tuple[int, ...]
"""Per class, the hypotheses left, as bits."""


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
        for left in self._left:
            for label, narrowed in self._branches(left, key):
                weight[label] += self._experts(narrowed, allowed)
        return int(weight[1] >= weight[0])

    def learn_one(self, x: Any, y: int) -> Self:
        """Learns the label of a point. One that no tuple explains changes nothing but the count of mistakes."""
        key, label = key_of(x), int(bool(y))
        wrong = self.predict_one(x) != label
        following: set[Left] = set()
        for left in self._left:
            agreeing = [narrowed for said, narrowed in self._branches(left, key) if said == label]
            following.update(agreeing if wrong or len(agreeing) < 2 else [left])
        self.mistakes += wrong
        self._left = frozenset(following) or self._left
        return self

    def _branches(self, left: Left, key: Hashable) -> Iterator[tuple[int, Left]]:
        """What the hypotheses left may say of a point: the composition's label, and what is left then."""
        options = []
        for domain, subset in zip(self._domains, left, strict=True):
            ones = subset & domain.ones(key)
            options.append([(bit, part) for bit, part in ((0, subset ^ ones), (1, ones)) if part])
        for chosen in product(*options):
            yield self._function([bit for bit, _ in chosen]), tuple(part for _, part in chosen)

    def _dimensions(self, left: Left) -> list[int]:
        return [domain.dimension(subset) for domain, subset in zip(self._domains, left, strict=True)]

    def _experts(self, left: Left, rounds: int) -> int:
        count = 1
        for dimension in self._dimensions(left):
            count *= patterns_at_most(rounds, dimension)
        return count
