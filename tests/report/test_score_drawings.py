"""Drawings of several classes and of numbers: well-formed, on one scale, with the figures as a table."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import CategoryIndex
from tacit.models.additive import AdditiveScores, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveRegressionModel
from tacit.models.feature import Feature
from tacit.models.tree import ScoreTree, complete_shape, threshold_sets
from tacit.report.class_drawing import class_bars, class_curves
from tacit.report.draw_additive import side_of
from tacit.report.drawing import NOTHING, Effect
from tacit.report.model_card import model_card
from tacit.report.places import ODDS, Amounts

TEN = [*(f"class {k}" for k in range(9)), "<i> & b"]


def effects(n_classes: int, places: int) -> list[list[Effect]]:
    generator = np.random.default_rng(0)
    return [[Effect(float(v), 0.1, 50.0) for v in line] for line in generator.normal(0, 0.5, (n_classes, places))]


def scores(n_scores: int) -> AdditiveScores:
    """A model of a numeric and a categorical column, a pair and a tree."""
    generator = np.random.default_rng(1)
    age = Feature("age", NumericGrid(0.0, 100.0, 8), np.array([0, 0, 1, 1, 2, 2, 3, 3, 4]), True)
    ward = Feature("ward", CategoryIndex(("a", "b")), np.arange(4), False)
    mains = tuple(
        MainEffect(i, generator.normal(0, 1, (n, n_scores)), np.full((n, n_scores), 0.2), np.full(n, 30.0))
        for i, n in enumerate((5, 4))
    )
    groups = (np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1]))
    shape = (2, 2, n_scores)
    pair = PairEffect((0, 1), groups, generator.normal(0, 1, shape), np.full(shape, 0.1), np.full((2, 2), 30.0))
    tree = ScoreTree(complete_shape([0], threshold_sets([1])), generator.normal(0, 1, (2, n_scores)), np.ones(2))
    return AdditiveScores(np.zeros(n_scores), (age, ward), mains, (pair,), (tree,))


def test_every_class_has_a_row_and_every_figure_stands_in_the_table():
    drawn = class_curves("age", [0.0, 1.0, 5.0, 9.0], TEN, effects(10, 4), "d")
    root = ET.fromstring(drawn.markup)
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert all(name in words for name in TEN)
    assert len(drawn.rows) == 10 * 4
    assert len([e for e in root.iter() if e.get("class") == "curve"]) == 10
    bars = class_bars("ward", ["a", "b", "other", "missing"], TEN, effects(10, 4), "e")
    ET.fromstring(bars.markup)
    assert len(bars.rows) == 40


def test_captions_name_the_class_that_gains_most():
    lines = [[Effect(0.1, 0.0, 50.0), Effect(0.0, 0.0, 50.0)], [Effect(-0.1, 0.0, 50.0), Effect(2.0, 0.0, 50.0)]]
    drawn = class_bars("ward", ["a", "b"], ["no", "yes"], lines, "d")
    assert drawn.caption == "Most evidence for yes: at b (odds 7.39 times as high)."
    assert ">up to ×7.39<" in drawn.markup
    flat = class_bars("ward", ["a"], ["no", "yes"], [[Effect(0.0, 0.1, 5.0)]] * 2, "d")
    assert flat.caption == NOTHING
    clear = [[Effect(0.5, 0.4, 50.0), Effect(-0.4, 0.1, 50.0)], [Effect(0.1, 0.1, 50.0), Effect(0.1, 0.1, 50.0)]]
    drawn = class_bars("ward", ["a", "b"], ["no", "yes"], clear, "d")
    assert drawn.caption == "Speaks against no at b (odds 1.49 times as low)."
    drawn = class_bars("ward", ["a", "b"], ["no", "yes"], [[Effect(0.2, 0.4, 50.0)] * 2] * 2, "d")
    assert drawn.caption == NOTHING


def test_places_of_several_classes_and_of_pairs_are_called_by_their_values():
    lines = [[Effect(v, 0.0, 50.0) for v in values] for values in ((0.0, 0.1, 0.1, 0.0), (2.0, -0.1, 0.0, 0.0))]
    drawn = class_curves("children", [0.0, 0.00018, 3.0, 6.0], ["no", "yes"], lines, "d")
    assert drawn.caption == "Most evidence for yes: at 0 (odds 7.39 times as high)."
    assert "0: about 50 rows" in drawn.markup
    assert ">up to ×7.39<" in drawn.markup
    assert "e-04" not in drawn.markup
    cells = np.repeat([0, 1, 2, 3], [1, 4000, 4191, 1])
    children = Feature("children", NumericGrid(0.0, 6.0, 8192), cells, True)
    assert side_of(children, np.array([0, 1, 1, 2])).labels == ("0", ">0–6", "missing")
    assert side_of(children, np.array([0, 0, 1, 1])).labels == ("0–2.93", "2.93–6")


@pytest.mark.parametrize("n_classes", [3, 10])
def test_the_card_of_several_classes(n_classes):
    model = AdditiveClassesModel(tuple(TEN[:n_classes]), scores(n_classes))
    painted = model_card(model)
    assert [d.title for d in painted.drawings if d.kind in ("curve", "map")] == ["age", "age × ward"]
    assert "1 interaction of two" in painted.summary
    assert all(ET.fromstring(d.markup) is not None for d in painted.drawings)


def test_the_card_of_a_number():
    painted = model_card(AdditiveRegressionModel("cost", 0.0, 20.0, "quantile", 0.9, scores(1)))
    assert "90 % quantile of “cost”" in painted.summary
    assert "0 to 20" in painted.label
    age = next(d for d in painted.drawings if d.title == "age")
    assert age.header == ("value", "effect", "noise (sd)", "rows (noisy)")
    assert "odds" not in age.markup + age.caption
    assert all(ET.fromstring(d.markup) is not None for d in painted.drawings)


def test_units():
    assert ODDS.say(0.0) == "the odds stay as they are"
    assert Amounts("cost", 20.0).say(-1.5) == "−1.5"
    assert Amounts("cost", 20.0).cells(2.0) == ("+2",)
    ticks = Amounts("cost", 20.0).ticks(-1.0, 1.0)
    assert (0.0, "0") in ticks
