"""Very many rows: what hides behind columns that say nothing alone is looked for, and trees do not end too soon."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tacit import AdditiveBoostClassifier, Schema
from tacit.additive.boost import AdditiveBoost
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.growing.newton_trees import NewtonPlan, grow_trees
from tacit.growing.random_trees import RandomStructures
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.margins import Margins


@pytest.mark.slow
def test_two_columns_that_say_nothing_alone_are_found_in_many_rows(monkeypatch):
    """Sixteen columns with effects hide two that have none but together; with so little noise all are screened."""
    generator = np.random.default_rng(5)
    n, d = 100_000, 18
    X = pd.DataFrame(generator.uniform(-1, 1, (n, d)), columns=[f"x{i:02}" for i in range(d)])
    odds = X.iloc[:, :16].sum(axis=1) / 2 + 4.0 * X["x16"] * X["x17"]
    y = (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    columns = {name: {"kind": "numeric", "lower": -1, "upper": 1} for name in X}
    known = Schema.from_dict({"label": {"column": "y", "classes": [0, 1]}, "columns": columns})
    arguments = {"epsilon": 4.0, "schema": known, "interactions": "pairs", "random_state": 0}
    model = AdditiveBoostClassifier(**arguments).fit(X, y)
    assert (16, 17) in [pair.features for pair in model.model_.pairs]
    pairing = replace(AdditiveBoost.tuning.pairing, screened_clearly_from=1e12)
    monkeypatch.setattr(AdditiveBoost, "tuning", replace(AdditiveBoost.tuning, pairing=pairing))
    without = AdditiveBoostClassifier(**arguments).fit(X, y)
    assert (16, 17) not in [pair.features for pair in without.model_.pairs]


@pytest.mark.parametrize(("columns", "cut", "trees"), [(20, 6, 37), (20, 10, 12), (2, 2, 1), (6, 6, 1), (1, 6, 1)])
def test_trees_go_on_until_two_columns_were_cut_together(columns, cut, trees):
    structures = RandomStructures([np.ones(4)] * columns, np.random.default_rng(0))
    assert structures.trees_for_pairs(cut) == trees
    if columns > cut:
        missed = (1 - cut * (cut - 1) / (columns * (columns - 1))) ** trees
        assert missed <= 0.05 < missed / (1 - cut * (cut - 1) / (columns * (columns - 1)))


def test_trees_that_say_nothing_end_when_any_two_columns_were_cut_together(monkeypatch):
    """A learned prior that is surely nothing from the first tree on."""
    monkeypatch.setattr("tacit.growing.newton_trees.LearnedPrior.surely_below", 0.0)
    generator = np.random.default_rng(1)
    codes = [generator.integers(0, 4, 500).astype(np.uint8) for _ in range(20)]
    table = MemoryTable(codes, generator.integers(0, 2, 500).astype(np.uint8), [4] * 20, 2)
    allowance = Allowance.of(1.0, 1e-6)
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    budget = Budget(Curator(table, reservation, SeededSource(0)), allowance)
    structures = RandomStructures([np.ones(4)] * 20, generator)
    plan = NewtonPlan(trees=30, depth=2, columns_per_tree=10, least_prior=0.01, enough=0.01)
    assert len(grow_trees(budget, structures, plan, Margins())) == 12
