"""How much of a sum of boosted trees is noise: a standard deviation for every leaf, from the known noise alone.

A leaf's step answers to the noise in its released sum as it does to the sum itself. Trees that come later see part of
what noise did before them, and take it back. How much of it they leave is found by letting noise alone run through the
rounds, over simulated rows drawn from released masses: post-processing, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numba as nb
import numpy as np

from tacit.arrays import Floats
from tacit.growing.newton_trees import LeafSums
from tacit.growing.tuning import TRACING, Tracing
from tacit.models.tree import Tree, TreeShape


@nb.njit(nogil=True, cache=True)
def add_by_leaf(leaves, scores, sums):  # type: ignore[no-untyped-def]
    """``sums[leaf] += score``, line by line."""
    for i in range(len(leaves)):
        for k in range(scores.shape[1]):
            sums[leaves[i], k] += scores[i, k]


@nb.njit(nogil=True, cache=True)
def _one_round(leaves, sds, gains, noise, scores, naive):  # type: ignore[no-untyped-def]
    """A round of noise: each leaf steps by its own (``sds``), and takes back a part (``gains``) of its rows' mean.

    ``noise`` is standard normal, shape ``(leaves, runs)``; ``scores`` of the rows, and ``naive``, per row the variance
    of all noise so far, receive the round.
    """
    steps, counts = np.zeros(noise.shape), np.zeros(len(sds))
    for i in range(len(leaves)):
        counts[leaves[i]] += 1.0
    add_by_leaf(leaves, scores, steps)
    for leaf in range(len(sds)):
        for run in range(noise.shape[1]):
            steps[leaf, run] = sds[leaf] * noise[leaf, run] - gains[leaf] * (steps[leaf, run] / max(counts[leaf], 1.0))
    for i in range(len(leaves)):
        naive[i] += sds[leaves[i]] * sds[leaves[i]]
        for run in range(noise.shape[1]):
            scores[i, run] += steps[leaves[i], run]


def significant(sds: Floats) -> Floats:
    """Standard deviations to three digits, as a model file has them: nobody knows more of them."""
    powers = np.floor(np.log10(np.maximum(sds, 1e-300)))
    scales = 10.0 ** np.clip(2 - powers, 0, 22)  # whole numbers that doubles hold exactly, so that quotients are short
    return np.asarray((sds * scales).round() / scales)


def _median(values: Floats) -> float:
    """0 where there are none; numpy's own takes longer than a round's noise."""
    if not len(values):
        return 0.0
    middle = (len(values) - 1) // 2, len(values) // 2
    parted = np.partition(values, middle)
    return float(0.5 * (parted[middle[0]] + parted[middle[1]]))


@dataclass
class LeafNoise:
    """Takes in rounds as they are made (an observer of :func:`~tacit.growing.newton_trees.grow_trees`)."""

    numbers: Tracing = TRACING
    _sds: list[Floats] = field(default_factory=list)
    _gains: list[Floats] = field(default_factory=list)

    def observe(self, sums: LeafSums, steps: Floats) -> None:
        """A round: its released sums, and its steps."""
        sizes = np.abs(sums.gradients)
        clear = sizes > max(self.numbers.least_sum * sums.sd, 1e-9)
        answers = np.abs(steps)
        np.divide(answers, sizes, out=answers, where=clear)
        answers[~clear] = _median(answers[clear])
        mean = max(float(sums.curvatures.mean()), 0.5)
        self._sds.append(answers * sums.sd)
        curvatures = np.maximum(sums.curvatures, self.numbers.least_curvature * mean)
        self._gains.append(np.minimum(self.numbers.answered * answers * curvatures, 1.0))

    def left_over(self, shapes: Sequence[TreeShape], masses: Sequence[Floats], generator: np.random.Generator) -> float:
        """The share of the noise's standard deviation that later rounds do not take back, in (0, 1].

        Rows are simulated from released ``masses`` of every column's codes, columns taken to be independent.
        """
        count, runs = self.numbers.simulated_rows, self.numbers.runs
        rows = [generator.choice(len(mass), count, p=mass / mass.sum()).astype(np.uint8) for mass in masses]
        scores, naive = np.zeros((count, runs)), np.zeros(count)
        for shape, sds, gains in zip(shapes, self._sds, self._gains, strict=True):
            _one_round(shape.find(rows), sds, gains, generator.standard_normal((len(sds), runs)), scores, naive)
        whole = float(naive.mean())
        return 1.0 if whole == 0 else float(min(np.sqrt((scores**2).mean() / whole), 1.0))

    def annotate(
        self, trees: Sequence[Tree], masses: Sequence[Floats], generator: np.random.Generator
    ) -> tuple[Tree, ...]:
        """The trees with the standard deviation that noise leaves in every leaf."""
        if not trees:
            return ()
        remainder = self.left_over([tree.shape for tree in trees], masses, generator)
        return tuple(
            Tree(tree.shape, tree.values, tree.support, significant(remainder * sds))
            for tree, sds in zip(trees, self._sds, strict=True)
        )
