"""The default learner where rows are very many: trees that choose their splits, and end where nothing is left."""

from __future__ import annotations

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tacit.additive.learn import Learned, learn
from tacit.additive.losses import TwoClassLoss
from tacit.additive.planner import Planner
from tacit.additive.tuning import PLANNING
from tacit.binning.measure import Column
from tacit.binning.tuning import MANY_ROWS
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring

ROWS, FINE, WIDTH = 100_000, 4096, 8
UNUSED = 0.04
"""Part of the budget that a fit may leave: bins do not always need all of theirs."""
COLUMNS = [Column(j, f"x{j}", True) for j in range(WIDTH)]


def synthetic(rows: int, seed: int, triple: float) -> tuple[list[np.ndarray], np.ndarray]:
    """A column with an effect, and three of which only all together say something."""
    generator = np.random.default_rng(seed)
    x = generator.random((rows, WIDTH))
    score = 2 * (x[:, 0] - 0.5) + triple * np.sign((x[:, 1] - 0.4) * (x[:, 2] - 0.6) * (x[:, 3] - 0.5))
    labels = (generator.random(rows) < 1 / (1 + np.exp(-score))).astype(np.uint8)
    return [(column * FINE).astype(np.uint16) for column in x.T], labels


def fit(triple: float, rows: int = ROWS, relation: Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE, epsilon: float = 8.0):
    columns, labels = synthetic(rows, 0, triple)
    allowance = Allowance.of(epsilon, 1e-6)
    reservation = Reservation([allowance.whole], relation, "test")
    gate = Curator(MemoryTable(columns, labels, [FINE + 1] * WIDTH, 2), reservation, SeededSource(0))
    return learn(Budget(gate, allowance), COLUMNS, TwoClassLoss()), reservation, allowance


def auc(learned: Learned, triple: float) -> float:
    columns, labels = synthetic(20_000, 1, triple)
    bins = [found.mapping[codes].astype(np.uint8) for found, codes in zip(learned.bins, columns, strict=True)]
    score = sum(term.effect[place, 0] for term, place in zip(learned.mains, bins, strict=True))
    for left, right, term in learned.pairs:
        score = (
            score + term.effect[left.mapping[bins[left.column]] * right.groups + right.mapping[bins[right.column]], 0]
        )
    for tree in learned.trees:
        score = score + tree.values[tree.shape.find(bins)]
    return float(roc_auc_score(labels, score))


def test_what_three_columns_say_together_is_found_and_paid_for():
    learned, reservation, allowance = fit(1.5)
    result = auc(learned, 1.5)
    with patch.object(Planner, "with_choices", lambda _, chosen, *__: chosen):
        random, _, _ = fit(1.5)
    assert result > auc(random, 1.5) + 0.02
    charges = [entry.charge for entry in reservation.entries]
    assert {type(charge) for charge in charges} == {Gaussian, BoundedRange}
    grown = len(learned.trees) / learned.plan.n_trees
    expected = (1.0 - learned.plan.trees * (1.0 - grown)) * allowance.mu**2
    spent = sum(charge.precision for charge in charges)
    assert expected - UNUSED * allowance.mu**2 < spent <= expected * (1 + 1e-9)
    choices = sum(charge.precision for charge in charges if isinstance(charge, BoundedRange))
    assert choices == pytest.approx(grown * learned.plan.trees * learned.plan.tree_choice * allowance.mu**2)


def test_where_nothing_is_left_trees_end_and_the_rest_is_not_spent():
    learned, reservation, allowance = fit(0.0, rows=8 * ROWS, epsilon=1.0)
    assert 0 < len(learned.trees) < learned.plan.n_trees
    spent = sum(entry.charge.precision for entry in reservation.entries)
    left = learned.plan.trees * (1.0 - len(learned.trees) / learned.plan.n_trees)
    assert (1.0 - left - UNUSED) * allowance.mu**2 < spent <= (1.0 - left) * allowance.mu**2 * (1 + 1e-9)
    largest = max(float(np.abs(tree.values).max()) for tree in learned.trees)
    assert largest < 0.2


def test_replaced_rows_are_paid_for_too():
    learned, reservation, allowance = fit(1.5, relation=Neighbouring.REPLACE_ONE)
    assert learned.plan.tree_choice > 0
    spent = sum(entry.charge.precision for entry in reservation.entries)
    assert 0.5 * allowance.mu**2 < spent <= allowance.mu**2 * (1 + 1e-9)


@settings(max_examples=80, deadline=None)
@given(st.floats(100, 1e8), st.integers(1, 500), st.floats(0.01, 1e7), st.booleans())
def test_choices_are_planned_where_rows_are_very_many_and_noise_is_little(total, columns, signal, pure):
    random = Planner().plan(total, columns, signal, pure)
    chosen = Planner().with_choices(random, total, columns, signal)
    if pure or total <= MANY_ROWS or signal * math.sqrt(columns) < PLANNING.choice_from:
        assert chosen == random
        return
    assert 0 < chosen.tree_choice < 1
    assert PLANNING.choosing_trees <= chosen.n_trees <= PLANNING.most_choosing_trees
    assert chosen.n_trees == PLANNING.choosing_trees or chosen.n_trees * total <= PLANNING.choosing_rows
    assert chosen.tree_columns >= PLANNING.columns_per_tree
    assert chosen.trees == random.trees


def test_there_is_nothing_to_choose_without_trees():
    plain = Planner().plan(1e6, 10, 1e6, False, trees=False)
    assert Planner().with_choices(plain, 1e6, 10, 1e6) == plain
