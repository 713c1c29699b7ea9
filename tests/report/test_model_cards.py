"""From a real model to its drawings: what is drawn is what the model holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.encoding.dense import RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.models.additive import AdditiveModel, MainEffect, PairEffect
from tacit.models.base import ClassModel
from tacit.models.feature import Feature
from tacit.models.halfspace import HalfspaceModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.models.tree import Tree, complete_shape, threshold_sets
from tacit.report.model_card import PAINTERS, model_card, painter_at
from tacit.report.page import render
from tacit.schema import Schema


@pytest.fixture
def additive() -> AdditiveModel:
    """Three columns of three kinds, and an interaction of two."""
    grid = NumericGrid(0.0, 8.0, 8)
    mapping = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3])
    features = (
        Feature("age", grid, mapping, ordered=True),
        Feature("colour", CategoryIndex(("red", "green")), np.arange(4), ordered=False),
        Feature("member", BooleanIndex(), np.arange(3), ordered=False),
    )
    mains = (
        MainEffect(0, np.array([-1.0, 0.0, 1.0, 0.2]), np.full(4, 0.1), np.array([50.0, 30.0, 20.0, 1.0])),
        MainEffect(1, np.array([0.1, -0.1, 0.0, 0.0]), np.full(4, 0.1), np.array([60.0, 40.0, 1.0, 1.0])),
        MainEffect(2, np.array([0.3, -0.3, 0.0]), np.full(3, 0.1), np.array([70.0, 30.0, 1.0])),
    )
    groups = (np.array([0, 1, 1, 2]), np.arange(4))
    effect = np.linspace(-0.4, 0.4, 12).reshape(3, 4)
    pair = PairEffect((0, 1), groups, effect, np.full((3, 4), 0.1), np.full((3, 4), 10.0))
    return AdditiveModel(("no", "yes"), -0.5, features, mains, (pair,))


def test_additive_effects_reach_the_tables(additive: AdditiveModel) -> None:
    painted = model_card(additive)
    assert [d.title for d in painted.drawings][:2] == ["What matters most", "age"]
    assert {d.title for d in painted.drawings} == {"What matters most", "age", "colour", "member", "age × colour"}
    [age] = [d for d in painted.drawings if d.title == "age"]
    assert [row[:2] for row in age.rows] == [
        ("0 to 4", "-1.000"), ("4 to 6", "+0.000"), ("6 to 8", "+1.000"), ("missing", "+0.200"),
    ]  # fmt: skip
    [colour] = [d for d in painted.drawings if d.title == "colour"]
    assert [row[0] for row in colour.rows] == ["red", "green", "other", "missing"]
    [pair] = [d for d in painted.drawings if d.kind == "map"]
    assert [row[0] for row in pair.rows][:2] == ["0–4 / red", "0–4 / green"]
    assert {row[0].split(" / ")[0] for row in pair.rows} == {"0–4", "4–8", "missing"}
    facts = {column.name: (column.kind, column.facts) for column in painted.public}
    assert facts["age"] == ("numeric", "from 0 to 8")
    assert facts["colour"] == ("categorical", "red, green")
    assert facts["member"][0] == "boolean"


def test_trees_are_summed_up_and_not_passed_over(additive: AdditiveModel) -> None:
    assert "all of it" in model_card(additive).summary
    tree = Tree(complete_shape([1], threshold_sets([0])), np.array([-0.2, 0.4]), np.array([30.0, 10.0]))
    painted = model_card(replace(additive, trees=(tree, tree)))
    assert "2 trees correct what these leave over" in painted.summary
    drawing = painted.drawings[-1]
    assert "2 trees with 4 leaves" in drawing.caption
    ((name, size),) = drawing.rows
    step = 2 * 0.6  # both trees step at the same place, so their steps add up before they are squared
    assert name == "colour"
    assert float(size) == pytest.approx(step * (0.75 * 0.25) ** 0.5, abs=0.01)


def test_halfspace_weights_reach_the_table() -> None:
    schema = Schema.from_dict(
        {
            "columns": {
                "age": {"kind": "numeric", "lower": 0, "upper": 10},
                "colour": {"kind": "categorical", "categories": ["red", "green"]},
            }
        }
    )
    encoder = RowEncoder.of(schema)
    weights, norm = np.arange(1.0, encoder.width + 1), encoder.clipper.norm
    painted = model_card(HalfspaceModel(("no", "yes"), encoder, weights, 0.5 * weights / weights[-1]))
    [drawing] = painted.drawings
    assert drawing.rows[-1] == (encoder.names[0], f"{1 / norm:+.4f}", f"{0.5 / weights[-1] / norm:.4f}")
    assert drawing.rows[0] == (encoder.names[-1], f"{weights[-1] / norm:+.4f}", f"{0.5 / norm:.4f}")
    assert len(drawing.rows) == encoder.width
    assert [column.name for column in painted.public] == ["age", "colour", "(every row)"]


class Oracle(ClassModel):
    """A kind nobody paints."""

    kind = "oracle"
    classes = ("no", "yes")

    @property
    def feature_names(self) -> tuple[str, ...]:
        return ("a", "b")

    def body(self) -> dict[str, Any]:
        return {}


def test_a_kind_without_a_painter_is_described(visit: Any) -> None:
    seen = visit(render(Oracle(), None))
    assert seen.complaints == []
    assert "“oracle” over 2 columns" in seen.page.inner_text("body")


def test_a_whole_model_opens(visit: Any, additive: AdditiveModel) -> None:
    seen = visit(render(additive, None), 390)
    assert seen.complaints == []
    assert seen.page.locator("svg[role=img]").count() == 5
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("place", sorted(set(PAINTERS.values())))
def test_every_painter_is_there(place: str) -> None:
    assert callable(painter_at(place))


def test_models_that_are_said_in_words_say_them() -> None:
    grid = NumericGrid(0.0, 4.0, 2)
    high = RuleModel(("no", "yes"), ("age",), (grid,), np.array([False, True, False]), "age >= 2")
    assert model_card(high).reading == "It says yes if age >= 2, else no."
    assert [(c.name, c.kind, c.facts) for c in model_card(high).public] == [("age", "numeric", "from 0 to 4")]
    wide = RuleModel(("no", "yes"), ("size",), (grid,), np.array([True, False, False]), "size < 2")
    both = ComposedModel(("no", "yes"), (0, 0, 0, 1), (high, wide), "x1 and x2")
    assert model_card(both).reading == "It says yes if x1 and x2, else no, where x1: age >= 2; x2: size < 2."
    assert [c.name for c in model_card(both).public] == ["age", "size"]
    vote = VoteModel(("no", "yes"), (high, wide, both))
    assert model_card(vote).summary == "A majority vote of 3 models."
    assert [c.facts for c in model_card(vote).public] == ["from 0 to 4", "from 0 to 4"]
    assert "It says yes if age &gt;= 2, else no." in render(high, None)
