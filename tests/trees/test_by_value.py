"""M-alpha-boost without noise against what the paper writes, done again in plain numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tacit.binning.tree_bins import Column
from tacit.curator.curator import Curator
from tacit.engines.memory import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.trees.budget import SplitBudget
from tacit.trees.losses import Loss
from tacit.trees.m_alpha_boost import CALIBRATED, BoostedTrees, BoostSettings, MAlphaBoost

COLUMNS = [Column(place, name, True) for place, name in enumerate("abc")]
CODES = 8
DEPTH, TREES = 3, 5


def rows(n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Codes and labels: few positives, so that the 0/1 loss and Matsushita's want other splits."""
    generator = np.random.default_rng(5)
    codes = generator.integers(0, CODES, (3, n))
    chance = 0.08 + 0.25 * (codes[0] >= 5) + 0.3 * (codes[1] >= 6) + 0.25 * (codes[2] == 7) * (codes[0] < 3)
    return codes, (generator.random(n) < chance).astype(np.int64)


def risk(alpha: float, positives: float, negatives: float) -> float:
    """Definition 6: the M-alpha loss of a node's proportion, times its weight."""
    both = math.sqrt(positives * negatives)
    return 2.0 * (alpha * both + (1.0 - alpha) * min(positives, negatives))


def weight(alpha: float, margin: np.ndarray) -> np.ndarray:
    """Theorem 8: the inverse link at minus the margin."""
    beyond = np.maximum(np.abs(margin) / 2 - (1 - alpha), 0.0)
    return 0.5 * (1.0 - np.sign(margin) * beyond / np.hypot(alpha, beyond))


def plain(codes: np.ndarray, labels: np.ndarray, alpha: float | None) -> tuple[np.ndarray, list[float], list[float]]:
    """Algorithm 1: scores of the rows, the alpha of every level, the coefficients; ``alpha`` None calibrates it."""
    linked = 1.0 if alpha is None else alpha
    score, alphas, coefficients = np.zeros(len(labels)), [], []
    for _ in range(TREES):
        weights = weight(linked, np.where(labels == 1, 1, -1) * score)

        def of(rows: np.ndarray, weights: np.ndarray = weights) -> tuple[float, float]:
            return float(weights[rows & (labels == 1)].sum()), float(weights[rows & (labels == 0)].sum())

        leaf, root = np.zeros(len(labels), np.int64), 0.0
        for level in range(DEPTH):
            error = sum(min(of(leaf == node)) for node in range(2**level)) / weights.sum()
            root = root or error
            alphas.append(error / root if alpha is None else alpha)
            deeper = 2 * leaf
            for node in range(2**level):
                cuts = [(column, cut) for column in range(len(codes)) for cut in range(CODES)]
                sides = [[(leaf == node) & ((codes[c] > cut) == side) for side in (True, False)] for c, cut in cuts]
                best = int(np.argmin([sum(risk(alphas[-1], *of(side)) for side in both) for both in sides]))
                deeper += sides[best][0]
            leaf = deeper
        shares = np.array([p / (p + n) for p, n in (of(leaf == k) for k in range(2**DEPTH))])
        said = linked * (2 * shares - 1) / np.sqrt(shares * (1 - shares)) + 2 * (1 - linked) * np.sign(shares - 0.5)
        edge = float((weights * np.where(labels == 1, 1, -1) * said[leaf]).mean())
        coefficients.append(4.0 * linked / np.abs(said).max() ** 2 * edge)
        score = score + coefficients[-1] * said[leaf]
    return score, alphas, coefficients


class Watched(MAlphaBoost):
    """Keeps the alphas that split scores had."""

    alphas: list[float]

    def split_loss(self, *given: Any) -> Loss:
        loss = super().split_loss(*given)
        self.alphas.append(loss.alpha)  # type: ignore[attr-defined]
        return loss


def boosted(alpha: float | str) -> tuple[BoostedTrees, np.ndarray, list[float]]:
    """What the library makes of the same rows, its scores of them, and the alphas of its levels."""
    codes, labels = rows()
    budget = SplitBudget.of(math.inf, 0.0)
    reservation = Reservation([budget.whole], Neighbouring.REPLACE_ONE, "test")
    table = MemoryTable([c.astype(np.uint8) for c in codes], labels.astype(np.uint8), [CODES + 1] * 3, 2, threads=1)
    settings = BoostSettings(alpha, None, TREES, DEPTH, 0.5, 100.0, CODES)
    boost = Watched(Curator(table, reservation, SeededSource(1)), budget, COLUMNS, [False] * 3, settings, len(labels))
    boost.alphas = []
    learned = boost.run()
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(learned.bins, codes, strict=True)]
    return learned, sum(tree.values[tree.shape.find(bins)] for tree in learned.trees), boost.alphas  # type: ignore[return-value]


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, CALIBRATED])
def test_without_noise_scores_are_those_of_the_algorithm(alpha: float | str) -> None:
    """Splits by weights and alpha, leaves by the link, coefficients by the edge; all of it to the fixed point."""
    learned, scores, alphas = boosted(alpha)
    expected, wanted, coefficients = plain(*rows(), None if alpha == CALIBRATED else float(alpha))
    assert alphas == pytest.approx(wanted, rel=0.01)
    assert list(learned.coefficients) == pytest.approx(coefficients, rel=0.01)
    assert np.abs(scores - expected).max() < 0.01 * np.abs(expected).max()


def test_the_rows_tell_alphas_apart() -> None:
    """What makes the test above one of the split scores and of the weights: other alphas want other trees."""
    scores = {alpha: plain(*rows(), alpha)[0] for alpha in (0.1, 0.5, 1.0, None)}
    for one, other in ((0.1, 1.0), (0.5, 1.0), (None, 1.0)):
        assert len({*zip(scores[one].round(6), scores[other].round(6), strict=True)}) > 2**DEPTH


def test_calibrated_alphas_fall_with_the_error_of_the_level() -> None:
    """Section 6: alpha is the error so far over that of the root: 1 there, and less from level to level."""
    _, _, alphas = boosted(CALIBRATED)
    levels = np.array(alphas).reshape(TREES, DEPTH)
    assert (levels[:, 0] == 1.0).all()
    assert (np.diff(levels, axis=1) <= 1e-9).all()
    assert levels[0, -1] < 0.99
