"""Trees in the report: what is drawn and told is what the model holds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import CategoryIndex
from tacit.models.feature import Feature
from tacit.models.tree import Tree, complete_shape, threshold_sets
from tacit.models.tree_ensemble import Link, TreeEnsembleModel, TreeSpending
from tacit.report.model_card import model_card


@pytest.fixture
def model() -> TreeEnsembleModel:
    features = (
        Feature("income", NumericGrid(0.0, 80_000.0, 8), np.arange(9), ordered=True),
        Feature("colour", CategoryIndex(("red", "green", "blue")), np.arange(5), ordered=False),
    )
    small = Tree(complete_shape([0], threshold_sets([3])), np.array([-0.1, 0.1]), np.array([5.0, 5.0]))
    shape = complete_shape([0, 1, 0], threshold_sets([1, 0, 6]))
    large = Tree(shape, np.array([-1.5, -0.5, 0.5, 2.0]), np.array([100.0, 50.0, 30.0, 0.4]))
    return TreeEnsembleModel(
        ("no", "yes"), 0.25, features, (small, large), Link("m_alpha", 0.5), TreeSpending((0.1, 0.1), 0.3)
    )


def test_the_tree_that_matters_most_comes_first(model: TreeEnsembleModel) -> None:
    painted = model_card(model)
    assert [d.title for d in painted.drawings] == ["What matters", "Tree 2", "Tree 1"]
    assert [row[0] for row in painted.drawings[0].rows] == list(model.importance())
    assert "yes" in painted.reading
    assert {c.name for c in painted.public} == {"income", "colour"}


def test_a_picture_tells_tests_leaves_support_and_budget(model: TreeEnsembleModel) -> None:
    [picture] = [d for d in model_card(model).drawings if d.title == "Tree 2"]
    words = re.sub("<[^>]*>", " ", picture.markup)
    for said in ("income", "&gt;= 20000 or missing", "colour", "is not red", "~100", "10 % of budget", "leaves: 30 %"):
        assert said in words
    assert [row[1:] for row in picture.rows] == [("-1.5", "100"), ("-0.5", "50"), ("+0.5", "30"), ("+2", "0")]
    assert picture.rows[0][0] == "income < 20000 and colour is red"
    assert picture.rows[3][0] == "income >= 20000 or missing and income >= 70000 or missing"
    assert "its tests took 20 %, its leaves took 30 % of the budget" in picture.caption


def test_free_structures_are_called_free(model: TreeEnsembleModel) -> None:
    free = TreeEnsembleModel(
        model.classes, 0.0, model.features, model.trees, Link("logistic"), TreeSpending(leaves=0.002)
    )
    [picture] = [d for d in model_card(free).drawings if d.title == "Tree 2"]
    assert "tests: free" in picture.markup
    assert "drawn at random and cost nothing" in picture.caption


def test_trees_without_a_charge_of_their_own_name_neither_shares_nor_rows(model: TreeEnsembleModel) -> None:
    card = model_card(TreeEnsembleModel(model.classes, 0.0, model.features, model.trees, Link("share")))
    [picture] = [d for d in card.drawings if d.title == "Tree 2"]
    assert picture.caption == "4 leaves"
    assert not {"free", "budget", "~", "of weight"} & set(re.findall("free|budget|~|of weight", picture.markup))
    assert picture.rows[0] == ("income < 20000 and colour is red", "-1.5")
    assert "budget" not in card.reading


def test_trees_as_text(model: TreeEnsembleModel) -> None:
    assert model.to_text(1).splitlines() == [
        "if income < 20000:",
        "  if colour is red: add -1.5  (about 100 of weight)",
        "  if colour is not red: add -0.5  (about 50 of weight)",
        "if income >= 20000 or missing:",
        "  if income < 70000: add +0.5  (about 30 of weight)",
        "  if income >= 70000 or missing: add +2  (about 0 of weight)",
    ]
