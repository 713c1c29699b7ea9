"""The boosted trees of Nock and Henecka (2020) as printed: **not private**, here to be compared with and attacked.

Printed are, beside sound steps: noise in the leaves that is calibrated to a clamp applied after it; a leveraging
coefficient computed from the exact rows; in objective calibration, a split score that depends on exact errors. It reads
rows and draws its own noise, so it is no part of the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tacit.theory.trees import leveraging_constant, paper_m_alpha_sensitivity
from tacit.trees.induction import SplitCandidates
from tacit.trees.losses import MAlphaLoss

CLAMP = 1e-4


@dataclass
class PrintedBoost:
    """The algorithm of sections 6 and 17.2. ``epsilon=inf`` leaves the noise out."""

    epsilon: float
    alpha: float | str = 1.0
    trees: int = 5
    depth: int = 4
    tree_share: float = 0.5
    bound: float = 10.0
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    def fit(self, codes: list[np.ndarray], y: np.ndarray, candidates: SplitCandidates) -> PrintedBoost:
        """Learns from columns of small codes and labels 0/1."""
        self.candidates = candidates
        self.right = np.unpackbits(candidates.right, axis=1, bitorder="little").astype(bool)
        self.goes = np.stack([self.right[k][codes[owner]] for k, owner in enumerate(candidates.owners)])
        sign = 2.0 * y - 1.0
        alpha = 1.0 if self.alpha == "calibrated" else float(self.alpha)
        loss = MAlphaLoss(alpha)
        margin = np.zeros(len(y))
        self.ensemble = []
        for _ in range(self.trees):
            weight = np.clip(loss.boosting_weight(sign * margin), CLAMP, 1 - CLAMP)
            splits, leaf = self._grow(y, weight)
            said = self._leaves(leaf, y, weight, loss)
            h = said[leaf]
            coefficient = leveraging_constant(alpha, self.bound) * float((weight * sign * h).mean())
            margin += coefficient * h
            self.ensemble.append((splits, coefficient * said))
        return self

    def score(self, codes: list[np.ndarray]) -> np.ndarray:
        """The score of rows."""
        total = np.zeros(len(codes[0]))
        for splits, values in self.ensemble:
            leaf = np.zeros(len(total), np.int64)
            for level in range(self.depth):
                node = 2**level - 1 + leaf
                goes = np.zeros(len(total), bool)
                for k in np.unique(node):
                    here = node == k
                    split = splits[k]
                    goes[here] = self.right[split][codes[self.candidates.owners[split]][here]]
                leaf = 2 * leaf + goes
            total += values[leaf]
        return total

    def _grow(self, y: np.ndarray, weight: np.ndarray) -> tuple[list[int], np.ndarray]:
        rows, leaf, splits = len(y), np.zeros(len(y), np.int64), []
        root_error = None
        for level in range(self.depth):
            totals = np.zeros((2**level, 2))
            np.add.at(totals, (leaf, y), weight)
            error = totals.min(axis=1).sum() / totals.sum()
            root_error = error if root_error is None else root_error
            alpha = (error / root_error if root_error > 0 else 0.0) if self.alpha == "calibrated" else float(self.alpha)
            loss = MAlphaLoss(min(alpha, 1.0))
            budget = self.tree_share * self.epsilon / (self.trees * self.depth * 2**level)
            goes = np.zeros(rows, bool)
            for node in range(2**level):
                here = np.flatnonzero(leaf == node)
                positive = self.goes[:, here] @ (weight[here] * y[here])
                total = self.goes[:, here] @ weight[here]
                whole = totals[node]
                risk = loss.node_risk(positive, total) + loss.node_risk(whole[1] - positive, whole.sum() - total)
                chosen = self._choose(-risk, budget / (2 * paper_m_alpha_sensitivity(loss.alpha, rows)))
                splits.append(chosen)
                goes[here] = self.goes[chosen, here]
            leaf = 2 * leaf + goes
        return splits, leaf

    def _choose(self, scores: np.ndarray, factor: float) -> int:
        if np.isinf(factor):
            return int(scores.argmax())
        return int((factor * scores + self.generator.gumbel(size=len(scores))).argmax())

    def _leaves(self, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray, loss: MAlphaLoss) -> np.ndarray:
        totals = np.zeros((2**self.depth, 2))
        np.add.at(totals, (leaf, y), weight)
        mass = totals.sum(axis=1)
        share = np.divide(totals[:, 1], mass, out=np.full(len(mass), 0.5), where=mass > 0)
        said = loss.link(np.clip(share, CLAMP, 1 - CLAMP))
        if not np.isinf(self.epsilon):
            budget = (1 - self.tree_share) * self.epsilon / self.trees
            said = said + self.generator.laplace(0.0, 2 * self.bound / budget, len(said))
        return np.clip(said, -self.bound, self.bound)
