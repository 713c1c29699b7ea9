"""How much of a sum of boosted trees is noise: a standard deviation for every leaf, from the known noise alone.

A leaf's step answers to the noise in its released sum as it does to the sum itself. Trees that come later see part of
what noise did before them, and take it back. How much of it they leave is found by letting noise alone run through the
rounds, over simulated rows drawn from released masses: post-processing, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.arrays import Floats
from tacit.growing.newton_trees import LeafSums
from tacit.growing.tuning import TRACING, Tracing
from tacit.models.tree import Tree, TreeShape


@dataclass
class LeafNoise:
    """Takes in rounds as they are made (an observer of :func:`~tacit.growing.newton_trees.grow_trees`)."""

    numbers: Tracing = TRACING
    _sds: list[Floats] = field(default_factory=list)
    _gains: list[Floats] = field(default_factory=list)

    def observe(self, sums: LeafSums, steps: Floats) -> None:
        """A round: its released sums, and its steps."""
        clear = np.abs(sums.gradients) > max(self.numbers.least_sum * sums.sd, 1e-9)
        answers = np.abs(steps) / np.where(clear, np.abs(sums.gradients), 1.0)
        typical = float(np.median(answers[clear])) if clear.any() else 0.0
        answers = np.where(clear, answers, typical)
        mean = max(float(sums.curvatures.mean()), 0.5)
        self._sds.append(answers * sums.sd)
        self._gains.append(
            np.clip(self.numbers.answered * answers * np.maximum(sums.curvatures, 0.05 * mean), 0.0, 1.0)
        )

    def left_over(self, shapes: Sequence[TreeShape], masses: Sequence[Floats], generator: np.random.Generator) -> float:
        """The share of the noise's standard deviation that later rounds do not take back, in (0, 1].

        Args:
            shapes: of the trees, in the order of their rounds.
            masses: released masses of every column's codes; columns are taken to be independent.
            generator: public randomness.
        """
        count, runs = self.numbers.simulated_rows, self.numbers.runs
        rows = [generator.choice(len(mass), count, p=mass / mass.sum()).astype(np.uint8) for mass in masses]
        scores, naive = np.zeros((count, runs)), np.zeros(count)
        for shape, sds, gains in zip(shapes, self._sds, self._gains, strict=True):
            leaves = shape.find(rows)
            held = np.bincount(leaves, minlength=len(sds))
            sums = np.stack([np.bincount(leaves, weights=run, minlength=len(sds)) for run in scores.T], axis=1)
            means = sums / np.maximum(held, 1)[:, None]
            steps = sds[:, None] * generator.standard_normal((len(sds), runs)) - gains[:, None] * means
            scores += steps[leaves]
            naive += sds[leaves] ** 2
        whole = float(naive.mean())
        return 1.0 if whole == 0 else float(min(np.sqrt((scores**2).mean() / whole), 1.0))

    def annotate(
        self, trees: Sequence[Tree], masses: Sequence[Floats], generator: np.random.Generator
    ) -> tuple[Tree, ...]:
        """The trees with the standard deviation that noise leaves in every leaf."""
        if not trees:
            return ()
        left = self.left_over([tree.shape for tree in trees], masses, generator)
        return tuple(
            Tree(tree.shape, tree.values, tree.support, (left * sds).round(7))
            for tree, sds in zip(trees, self._sds, strict=True)
        )
