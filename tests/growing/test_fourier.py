"""Smooth functions for several scores and for numbers: what is learned, how large noise is, and what is paid."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag

from tacit.additive.losses import SoftmaxLoss
from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.memory import MemoryTable
from tacit.growing.fourier import Directions, believed_way, grow_fourier
from tacit.growing.random_trees import Cuts
from tacit.growing.released_features import Axes, draw_features, normal_scores
from tacit.growing.tuning import SMOOTH
from tacit.models.fourier_features import FourierFeatures
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.fourier import ScoreFourierSum
from tacit.queries.margins import Scores
from tacit.queries.score_rules import ResidualRule, SoftmaxRule, TargetScale

CODES = 32
SCALE = TargetScale(1 << 23, 1 << 14)
"""A score of 1 is 4096 * 2**24 / 2**14 codes: targets reach about 2 on either side of the middle."""


@dataclass
class Numbers:
    """A number whose residuals are clipped at 1."""

    scores: Scores = field(default_factory=lambda: Scores(1))
    bare_rule: Any = field(default_factory=lambda: ResidualRule(SCALE, 0, -4096, 4096))
    bound: float = 1.0
    scatter: float = 0.25
    steepest: float = 1.0
    most_variance: float = 2.0

    def curvature(self) -> Floats:
        return np.array([[0.95]])

    def add_features(self, features: FourierFeatures, weights: Floats) -> Floats:
        return self.scores.add_features(features, weights)


@dataclass
class Classes(Numbers):
    """Three classes of about one size."""

    scores: Scores = field(default_factory=lambda: Scores(3))
    bare_rule: Any = field(default_factory=lambda: SoftmaxRule(3))
    scatter: float = 1.0
    steepest: float = SoftmaxLoss.steepest

    def curvature(self) -> Floats:
        return (np.eye(3) - 1 / 3) / 3 / math.sqrt(2 / 3)


def alike(n: int, seed: int, told: float = 1.0) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Two columns that are nearly the same, a number that follows from their difference, and its noisy target."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=n), generator.normal(size=(2, n))
    numbers = math.sqrt(0.95) * common + math.sqrt(0.05) * own
    edges = np.quantile(numbers, np.arange(1, CODES) / CODES)
    truth = told * np.sin(own[0] - own[1])
    return [np.searchsorted(edges, column) for column in numbers], truth, truth + 0.5 * generator.normal(size=n)


def curator_of(codes, labels, targets, allowance: Allowance, seed: int, n_labels: int = 1):
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    columns = [column.astype(np.uint8) for column in codes]
    table = MemoryTable(columns, labels.astype(np.uint8), [CODES + 1] * len(codes), n_labels, targets=targets)
    return Curator(table, reservation, SeededSource(seed)), reservation


def grown(codes, said, allowance: Allowance, rounds, seed: int = 0, noise: float = 0.3, share: float = 1.0):
    """What is learned of numbers, or of the thirds of them as classes."""
    n = len(said)
    if isinstance(rounds, Classes):
        labels, targets = np.digitize(said, np.quantile(said, [1 / 3, 2 / 3])), None
    else:
        labels, targets = (
            np.zeros(n),
            (np.rint(said * SCALE.codes_per_unit).astype(np.int64) + (1 << 23)).astype(np.int32),
        )
    gate, reservation = curator_of(codes, labels, targets, allowance, seed, rounds.scores.n_scores)
    masses = [np.append(np.full(CODES, 1.0 / CODES), 0.0)] * len(codes)
    budget, generator = Budget(gate, allowance, share), np.random.default_rng(seed)
    term, spent = grow_fourier(budget, float(n), noise, Cuts(masses), rounds, generator)
    paid = sum(entry.charge.noise_multiplier**-2.0 for entry in reservation.entries) / allowance.mu**2
    assert spent == pytest.approx(paid), "what is not spent is given back"
    return term, reservation


def score_of(term, codes) -> np.ndarray:
    return term.score([column.astype(np.uint8) for column in codes])


def directions(columns=2, rows=3000.0, curvature=0.12, seed=4):
    axes = Axes(tuple(range(columns)), (np.linspace(-2, 2, 30),) * columns, np.eye(columns))
    _, normal = draw_features(axes, np.random.default_rng(seed))
    return Directions.of(normal, rows, curvature, 1.0, 0.25), block_diag(*normal.products)


def test_steps_never_overshoot():
    way = 0.7 / SMOOTH.steps
    along, products = directions()
    curvature = 3000.0 * 0.25 * products
    assert np.linalg.eigvalsh(along.steps(way) @ curvature).max() <= 1.0 + 1e-9
    actual = np.eye(len(curvature)) - along.steps(way) @ (0.12 / 0.25 * curvature)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(actual).real), np.sort(along.kept(way)), atol=1e-8)


@pytest.mark.parametrize("truth", [0.0, 0.02, 0.5])
def test_the_way_follows_what_the_first_sum_speaks_for(truth):
    """Sums drawn from the prior: nothing at all, little, much."""
    along, _ = directions()
    generator, answer = np.random.default_rng(11), 0.12 * along.rows
    ways = []
    for _ in range(20):
        spread = np.sqrt(answer**2 * truth + answer + 2.0**2)
        ways.append(
            believed_way(along.likelihood(along.vectors @ (spread * generator.normal(size=len(spread))), 2.0), 10.0)
        )
    assert 0.7 * truth < np.mean(ways) / SMOOTH.of_the_likely < 1.5 * truth + 0.01


def test_the_way_ends_where_noise_says():
    along, _ = directions()
    seen = along.vectors @ (along.rows * 0.3)
    assert believed_way(along.likelihood(seen, 2.0), 0.1) == pytest.approx(0.1, rel=1e-3)
    deaf = believed_way(along.likelihood(seen * 0.0, 1e4), 0.1)
    assert 0.0 < deaf < 0.06, "where nothing is heard, nothing is as likely as something"


@pytest.mark.parametrize("kind", [Numbers, Classes])
def test_small_differences_of_columns_are_learned(kind):
    codes, truth, said = alike(4000, 6)
    term, reservation = grown(codes, said, Allowance.of(4.0, 1e-6), kind())
    found = score_of(term, codes)
    rising = found[:, 0] if found.shape[1] == 1 else found[:, 2] - found[:, 0]
    assert np.corrcoef(rising, truth)[0, 1] > 0.8
    assert len(reservation.entries) == SMOOTH.steps + 2
    assert {entry.theorem.split(":")[0] for entry in reservation.entries} == {
        "scatter of clipped scores",
        "clipped residuals" if kind is Numbers else "scaled softmax residuals",
    }


def test_scores_of_classes_add_up_to_nothing():
    """Their sum is a direction that no release speaks of: noise must not move it."""
    codes, _, said = alike(3000, 8)
    term, _ = grown(codes, said, Allowance.of(4.0, 1e-6), Classes())
    assert np.abs(score_of(term, codes).sum(axis=1)).max() < 1e-3 * np.abs(score_of(term, codes)).max()


@pytest.mark.parametrize("kind", [Numbers, Classes])
def test_where_columns_say_nothing_together_next_to_nothing_is_learned(kind):
    """Twelve fits to noise alone, whose standard deviation is .5, or 1.8 of log-odds."""
    spreads = []
    for seed in range(12):
        codes, _, said = alike(3000, seed, told=0.0)
        term, _ = grown(codes, said, Allowance.of(2.0, 1e-6), kind(), seed)
        spreads.append(score_of(term, codes).std())
    assert np.mean(spreads) < 0.05
    assert max(spreads) < 0.15


def test_all_of_the_share_is_spent_and_no_more():
    codes, _, said = alike(4000, 7)
    allowance = Allowance.of(4.0, 1e-6)
    _, reservation = grown(codes, said, allowance, Numbers(), share=0.4)
    spent = [entry.charge.noise_multiplier**-2.0 for entry in reservation.entries]
    assert sum(spent) == pytest.approx(0.4 * allowance.mu**2)
    assert spent[:2] == [
        pytest.approx(part * 0.4 * allowance.mu**2)
        for part in (SMOOTH.scatter_part * SMOOTH.look_part, (1 - SMOOTH.scatter_part) * SMOOTH.look_part)
    ]


def test_one_column_has_nothing_to_say_together():
    codes, _, said = alike(500, 1)
    term, reservation = grown(codes[:1], said, Allowance.of(4.0, 1e-6), Numbers())
    assert term is None
    assert not reservation.entries


@pytest.mark.parametrize("kind", [Numbers, Classes])
def test_noise_is_of_the_stated_size(kind, monkeypatch):
    """Scatter of fits to the same rows, with features and way held fixed."""
    codes, _, said = alike(4000, 9)
    masses = normal_scores(np.append(np.full(CODES, 1.0 / CODES), 0.0), None)
    axes = Axes((0, 1), (masses,) * 2, np.array([[1.0, 0.95], [0.95, 1.0]]))
    drawn = draw_features(axes, np.random.default_rng(1))
    monkeypatch.setattr("tacit.growing.released_features.draw_features", lambda *_: drawn)
    monkeypatch.setattr("tacit.growing.fourier.believed_way", lambda *_: 0.1)
    fits = [grown(codes, said, Allowance.of(1.0, 1e-6), kind(), seed=seed)[0] for seed in range(12)]
    seen = np.stack([score_of(term, codes) for term in fits]).var(axis=0, ddof=1).mean()
    stated = np.mean([term.sd**2 for term in fits])
    assert 0.75 < math.sqrt(stated / seen) < 1.3


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0, 1.1, 2.0])
def test_noise_of_sums_has_the_declared_scale(factor):
    """Of an empty table sums are noise alone; a scale that is a tenth off is rejected."""
    allowance, nothing = Allowance.of(1.0, 1e-6), np.zeros(0, int)
    gate, _ = curator_of([nothing] * 2, nothing, nothing.astype(np.int32), allowance, 0)
    axes = Axes((0, 1), (np.linspace(-2, 2, CODES + 1),) * 2, np.eye(2))
    features, _ = draw_features(axes, np.random.default_rng(10))
    query = ScoreFourierSum(features, ResidualRule(SCALE, 0, -4096, 4096), Scores(1))
    each = [gate.measure(query, Budget(gate, allowance, 1 / 16).charge(), "noise").value for _ in range(16)]
    declared = 4.0 * math.sqrt(query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2_squared) / query.unit / allowance.mu
    ratio = float(np.square(each).mean()) / (factor * declared) ** 2
    assert (abs(ratio - 1.0) < 4.5 * math.sqrt(2.0 / (16 * features.size))) == (factor == 1.0)


def test_no_softmax_residual_is_steeper():
    """The Jacobian of the mean contribution, ``c(p) (diag p - p p')``, over random chances and at two even classes."""
    generator, steepest = np.random.default_rng(3), 0.0
    chances = [
        generator.dirichlet(np.full(4, concentration)) for concentration in (0.05, 0.3, 1.0) for _ in range(2000)
    ]
    for p in [*chances, np.array([0.5, 0.5])]:
        longest = math.sqrt(1 - 2 * p.min() + np.square(p).sum())
        steepest = max(steepest, float(np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]) / longest)
    assert steepest == pytest.approx(SoftmaxLoss.steepest)


def test_what_a_hopeless_scatter_would_cost_goes_to_the_function():
    codes, _, said = alike(150, 13)
    _, reservation = grown(codes, said, Allowance.of(0.5, 1e-6), Numbers())
    assert len(reservation.entries) == SMOOTH.steps + 1
