"""The printed leveraging coefficient leaks: an audit catches it, and does not catch what is shipped.

The audit: train at a tiny epsilon and look whether the model ranks its own training rows better than chance. Flipping
all ``n`` labels is ``n`` replacements, so by group privacy no event's probability differs by more than a factor
``exp(n epsilon)`` between a table and its flip. "The AUC on the table's labels exceeds 1/2" is such an event, and its
probabilities on the two add up to at most 1: on one of them it is at most ``1 / (1 + exp(-n epsilon))``, slightly above
one half; on both, by symmetry, for labels and splits that are treated alike.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from benchmarks.printed_trees import PrintedBoost
from tacit.binning.measure import Column
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import Laplace
from tacit.privacy.label import Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.trees.budget import SplitBudget
from tacit.trees.induction import SplitCandidates
from tacit.trees.m_alpha_boost import BoostedTrees, BoostSettings, MAlphaBoost, PaperBoost

TINY, SMALL, ROWS, RUNS = 1e-6, 1e-3, 60, 40
COLUMNS = [Column(j, f"x{j}", True) for j in range(4)]
CANDIDATES = SplitCandidates.of(COLUMNS, [11] * 4, [False] * 4)


def data(seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 10, ROWS).astype(np.uint8) for _ in COLUMNS]
    return codes, ((codes[0] + codes[1] > 9) ^ (rng.random(ROWS) < 0.1)).astype(np.uint8)


def chance_of(wins: int, epsilon: float) -> float:
    """The probability that a private algorithm ranks its rows better than chance so often."""
    most = 1.0 / (1.0 + math.exp(-ROWS * epsilon))
    return float(binom.sf(wins - 1, RUNS, most))


def printed(run: int) -> float:
    codes, y = data(run)
    boost = PrintedBoost(TINY, trees=20, depth=3, generator=np.random.default_rng(run))
    return float(roc_auc_score(y, boost.fit(codes, y, CANDIDATES).score(codes)))


def learned_by(run: int, paper: bool, epsilon: float = SMALL) -> tuple[BoostedTrees, Reservation]:
    codes, y = data(run)
    budget = SplitBudget.of(epsilon, 0.0)
    reservation = Reservation([budget.whole], Neighbouring.REPLACE_ONE, "audit")
    curator = Curator(MemoryTable(codes, y, [11] * 4, 2, threads=1), reservation, SeededSource(run))
    settings = BoostSettings(1.0, None, 4, 2, 0.5, 10.0, 10)
    learned = (PaperBoost if paper else MAlphaBoost)(curator, budget, COLUMNS, [False] * 4, settings, ROWS).run()
    return learned, reservation


def shipped(run: int, paper: bool) -> float:
    codes, y = data(run)
    learned, _ = learned_by(run, paper)
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(learned.bins, codes, strict=True)]
    return float(roc_auc_score(y, sum(t.values[t.shape.find(bins)] for t in learned.trees)))


def test_the_printed_coefficient_is_caught() -> None:
    results = [printed(run) for run in range(RUNS)]
    assert chance_of(sum(a > 0.5 for a in results), TINY) < 1e-6
    assert np.mean(results) > 0.65


def test_what_is_shipped_is_not() -> None:
    for paper in (False, True):
        wins = sum(shipped(run, paper) > 0.5 for run in range(RUNS))
        assert chance_of(wins, SMALL) > 1e-3


def test_what_leaves_say_and_the_coefficient_cost_half_of_the_leaves_share_each() -> None:
    """Of epsilon 1 at four trees, half of it for their leaves: 1 / 16 for each release."""
    _, reservation = learned_by(0, paper=True, epsilon=1.0)
    leaves = [entry.charge for entry in reservation.entries if entry.stage is Stage.LEAVES]
    assert [charge.epsilon for charge in leaves if isinstance(charge, Laplace)] == pytest.approx([0.0625] * 8)
