"""The whole additive learner behind the curator, on small synthetic tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.additive.learn import Learned
from tacit.additive.learn import learn as learn_within
from tacit.additive.losses import TwoClassLoss
from tacit.additive.tuning import TUNING
from tacit.binning.measure import MAX_CATEGORIES, Column, measure_bins, release_total
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tests.pairwise import in_turn

FINE = 4096


def synthetic(n: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Two numeric columns with effects, an interaction, a category with one, and a column of noise."""
    generator = np.random.default_rng(seed)
    x = generator.random((n, 3))
    category = generator.integers(0, 4, n)
    score = 3 * (x[:, 0] - 0.5) + 2 * np.sin(6 * x[:, 1]) + np.array([-1.0, 0.0, 0.5, 1.0])[category]
    score += 6 * (x[:, 0] - 0.5) * (x[:, 1] - 0.5)
    labels = (generator.random(n) < 1 / (1 + np.exp(-score))).astype(np.uint8)
    codes = [(x[:, j] * FINE).astype(np.uint16) for j in range(3)]
    return [*codes, category.astype(np.uint16)], labels, score


COLUMNS = [Column(j, f"x{j}", True) for j in range(3)] + [Column(3, "c", False)]
N_CODES = [FINE + 1] * 3 + [6]


def learn(n, epsilon, delta=1e-6, seed=0, relation=Neighbouring.ADD_OR_REMOVE_ONE, data_seed=0, **more):
    columns, labels, _ = synthetic(n, data_seed)
    allowance = Allowance.of(epsilon, delta)
    reservation = Reservation([allowance.whole], relation, "test")
    gate = Curator(MemoryTable(columns, labels, N_CODES, 2), reservation, SeededSource(seed))
    return learn_within(Budget(gate, allowance), COLUMNS, TwoClassLoss(), **more), reservation


def scores(learned: Learned, columns: list[np.ndarray]) -> np.ndarray:
    bins = [found.mapping[codes] for found, codes in zip(learned.bins, columns, strict=True)]
    total = np.full(len(columns[0]), learned.intercept[0])
    for term, place in zip(learned.mains, bins, strict=True):
        total += term.effect[place, 0]
    for left, right, term in learned.pairs:
        place = left.mapping[bins[left.column]] * right.groups + right.mapping[bins[right.column]]
        total += term.effect[place, 0]
    for tree in learned.trees:
        total += tree.values[tree.shape.find([place.astype(np.uint8) for place in bins])]
    return total


def auc(labels, score):
    order = np.argsort(score)
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    positives = labels.sum()
    return (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(labels) - positives))


@pytest.mark.slow
def test_it_learns_and_more_budget_learns_better():
    test_columns, test_labels, best = synthetic(20_000, 9)
    reached = []
    for epsilon in (0.01, 1.0, 8.0):
        learned, _ = learn(20_000, epsilon)
        reached.append(auc(test_labels, scores(learned, test_columns)))
    ceiling = auc(test_labels, best)
    assert reached[0] + 0.005 < min(reached[1:])
    assert ceiling - reached[1] < 0.02
    assert ceiling - reached[2] < 0.01


@pytest.mark.slow
def test_without_privacy_it_reaches_the_ceiling():
    test_columns, test_labels, best = synthetic(20_000, 9)
    ceiling = auc(test_labels, best)
    plain, _ = learn(40_000, math.inf, trees=False)  # nothing here is beyond pairs: trees can only add variance
    assert ceiling - auc(test_labels, scores(plain, test_columns)) < 0.004
    learned, reservation = learn(40_000, math.inf)
    assert ceiling - auc(test_labels, scores(learned, test_columns)) < 0.008
    assert all(entry.charge.kind == "non_private" for entry in reservation.entries)


@pytest.mark.parametrize(("relation", "epsilon"), in_turn(list(Neighbouring), [(0.1,), (2.0,), (10.0,)]))
def test_it_spends_what_was_reserved_and_no_more(relation, epsilon):
    _, reservation = learn(5000, epsilon, relation=relation)
    spent = sum(entry.charge.precision for entry in reservation.entries)
    (whole,) = reservation.charges
    assert isinstance(whole, Gaussian)
    least = 0.6 if epsilon == 10.0 else 0.85  # trees end where nothing is left over
    assert least <= spent / whole.precision <= 1 + 1e-9


def test_pure_privacy_uses_laplace_alone():
    learned, reservation = learn(20_000, 2.0, delta=0.0)
    assert {entry.charge.kind for entry in reservation.entries} == {"laplace"}
    assert sum(entry.charge.epsilon for entry in reservation.entries) <= 2.0 * (1 + 1e-9)
    columns, labels, _ = synthetic(20_000, 9)
    assert auc(labels, scores(learned, columns)) > 0.7


@pytest.mark.slow
def test_the_interaction_is_found_when_it_can_be_afforded():
    learned, _ = learn(60_000, 4.0, trees=False)
    assert ("x0", "x1") in [(left.name, right.name) for left, right, _ in learned.pairs]
    assert learn(60_000, 4.0, pairs=False)[0].pairs == ()


@pytest.mark.parametrize("trees", [True, False])
def test_where_no_pair_may_be_asked_for_columns_have_what_looking_would_have_cost(monkeypatch, trees):
    monkeypatch.setattr("tacit.additive.learn.free_columns", lambda *_: [0])
    learned, reservation = learn(8000, 2.0, trees=trees)
    assert not learned.pairs
    (whole,) = reservation.charges
    assert isinstance(whole, Gaussian)
    spent = sum(entry.charge.precision for entry in reservation.entries)
    assert 0.95 <= spent / whole.precision <= 1 + 1e-9


@pytest.mark.parametrize("directions", [(1, -1), (1, 0)])
def test_where_fewer_than_two_columns_may_be_cut_trees_cost_nothing(directions):
    """Columns have all of the budget, however much they explain."""
    codes, labels, _ = synthetic(8000)
    columns = [Column(j, f"x{j}", True, direction) for j, direction in enumerate(directions)]
    allowance = Allowance.of(4.0, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable(codes[:2], labels, N_CODES[:2], 2), reservation, SeededSource(1))
    learned = learn_within(Budget(gate, allowance), columns, TwoClassLoss())
    assert sum(term.variance for term in learned.mains) > TUNING.planning.trees_explained_from
    assert learned.trees == ()
    spent = sum(entry.charge.precision for entry in reservation.entries)
    assert 0.95 <= spent / allowance.mu**2 <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [0.05, 4.0])
@pytest.mark.parametrize("n_codes", [2, 3, 12, 65, 200, 5000, 32_769])
def test_bins_of_any_encoding_cover_every_code(n_codes, epsilon):
    codes = np.random.default_rng(0).integers(0, n_codes, 4000).astype(np.uint16)
    allowance = Allowance.of(epsilon, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable([codes], np.zeros(4000, np.uint8), [n_codes], 2), reservation, SeededSource(1))
    total, _ = release_total(Budget(gate, allowance).part(0.1))
    (bins,), _ = measure_bins(Budget(gate, allowance).part(0.5), [Column(0, "x", True)], total)
    assert bins.mapping.shape == (n_codes,)
    assert set(bins.mapping) == set(range(len(bins.counts)))
    assert (np.diff(bins.mapping) >= 0).all()
    assert bins.counts.sum() == pytest.approx(total)


def test_many_categories_are_pooled():
    generator = np.random.default_rng(0)
    codes = np.minimum(generator.geometric(0.01, 20_000), 9_999).astype(np.uint16)
    labels = (generator.random(20_000) < 0.5).astype(np.uint8)
    allowance = Allowance.of(1.0, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable([codes], labels, [10_000], 2), reservation, SeededSource(1))
    learned = learn_within(Budget(gate, allowance), [Column(0, "c", False)], TwoClassLoss())
    bins = learned.bins[0]
    assert len(bins.counts) == MAX_CATEGORIES
    assert np.bincount(bins.mapping)[-1] == 10_000 - MAX_CATEGORIES + 1  # the rarest share the last
    assert (bins.mapping[1:80] < MAX_CATEGORIES - 1).all()


@pytest.mark.slow
def test_a_wide_table_drowned_in_noise_stays_near_the_prior():
    """200 columns at a tiny budget: the sum of their effects must not run away."""
    generator = np.random.default_rng(0)
    n, width = 2000, 200
    columns = [generator.integers(0, FINE, n).astype(np.uint16) for _ in range(width)]
    labels = (generator.random(n) < 0.5).astype(np.uint8)
    allowance = Allowance.of(0.05, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    gate = Curator(MemoryTable(columns, labels, [FINE + 1] * width, 2), reservation, SeededSource(1))
    learned = learn_within(Budget(gate, allowance), [Column(j, f"x{j}", True) for j in range(width)], TwoClassLoss())
    spread = math.sqrt(sum(term.variance for term in learned.mains))
    assert spread < 1.0
