"""Pictures of trees: as large as their words need, at every depth, and on a narrow page they scroll in their box."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.models.feature import Feature
from tacit.models.tree import Tree, complete_shape, threshold_sets
from tacit.models.tree_ensemble import Link, TreeEnsembleModel, TreeSpending
from tacit.report import svg
from tacit.report.draw_trees import draw, tree_picture
from tacit.report.page import render

NAMES = [f"a column that is the same to the very last letter, which is {letter}" for letter in "ab"]


def model(depth: int) -> TreeEnsembleModel:
    """One complete tree on two columns whose names differ at their ends only."""
    features = tuple(Feature(name, NumericGrid(0.0, 80_000.0, 8), np.arange(9), ordered=True) for name in NAMES)
    splits, leaves = 2**depth - 1, 2**depth
    shape = complete_shape([k % 2 for k in range(splits)], threshold_sets([k % 7 for k in range(splits)]))
    tree = Tree(shape, np.linspace(-1.0, 1.0, leaves), np.full(leaves, 1234.0))
    return TreeEnsembleModel(
        ("no", "yes"), 0.0, features, (tree,), Link("logistic"), TreeSpending((0.0012,) * depth, 0.0012)
    )


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_every_level_has_room_for_its_words(depth: int) -> None:
    drawing = tree_picture(model(depth), 0, "i")
    root = ET.fromstring(drawing.markup)
    assert (root.get("viewBox") or "").split()[2] == str(drawing.least)
    heads = [e for e in root.iter("text") if e.get("y") == "14"]
    assert len(heads) == depth + 1
    starts = [float(e.get("x") or 0) for e in heads]
    ends = [x + svg.SMALLER * svg.text_width(e.text or "") for x, e in zip(starts, heads, strict=True)]
    assert all(end < start for end, (_, start) in zip(ends, pairwise(starts), strict=False))
    assert ends[-1] <= drawing.least + 6
    names = {e.text for e in root.iter("text") if e.get("class") == "name"}
    assert len(names) == min(depth, 2)


def test_a_tree_is_not_shrunk_and_scrolls_in_its_box_and_on_paper_is_there_as_a_whole(visit: Any) -> None:
    seen = visit(render(model(5), None), 390)
    box = seen.page.get_by_role("region", name="Tree 1, drawn")
    for width in (390, 900, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert box.evaluate("e => e.getBoundingClientRect().right") <= width
        scale = "e => { const s = e.querySelector('svg'); return s.clientWidth / s.viewBox.baseVal.width }"
        assert box.evaluate(scale) == pytest.approx(1.0)
        assert box.evaluate("e => e.scrollWidth > e.clientWidth") == (width < 1000)
    assert seen.complaints == []
    seen.page.set_viewport_size({"width": 700, "height": 900})
    seen.page.emulate_media(media="print")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_trees_too_large_to_draw_are_not_explained() -> None:
    assert "Drawn: 1 of 1 trees" in draw(model(6)).reading
    assert "No tree is drawn: each has more than 64 leaves" in draw(model(7)).reading


def test_what_matters_comes_before_the_trees() -> None:
    page = render(model(3), None)
    assert page.index("What matters") < page.index("Tree 1")


def test_that_missing_rows_go_there_is_never_cut() -> None:
    features = tuple(Feature(name, NumericGrid(0.0, 9e11, 8), np.arange(9), ordered=True) for name in ("a", "b"))
    trees = replace(model(5), features=features)
    texts = list(ET.fromstring(tree_picture(trees, 0, "i").markup).iter("text"))
    lines = [e.text or "" for e in texts if e.get("class") == "tick"]
    assert ">= 337500000000" in lines
    assert "or missing" in lines
    assert not any("…" in line for line in lines)
    for above, below in pairwise(texts):
        if below.text == "or missing":
            assert float(below.get("y") or 0) - float(above.get("y") or 0) == 13


def test_a_threshold_at_zero_is_zero() -> None:
    feature = Feature("score", NumericGrid(-4.0, 4.0), np.append(np.repeat([0, 1], [32768, 32767]), 2), ordered=True)
    assert isinstance(feature.encoder, NumericGrid)
    assert 0 < -feature.encoder.edges([32768])[0] < 1e-15
    assert feature.edges().tolist() == [-4.0, 0.0, 4.0]
    assert feature.bin_labels() == ["[-4, 0)", "[0, 4)", "missing"]
    assert replace(model(1), features=(feature,)).condition(0, np.array([False, True, False])) == "score >= 0"


def test_a_threshold_is_the_round_number_that_it_stands_for() -> None:
    """The cell of 480000 in a grid of 65,536 begins at 479995.7; no number of the grid lies between."""
    grid = NumericGrid(0.0, 500_000.0)
    code = int(grid.encode(np.array([480_000.0]))[0])
    assert round(grid.edge(code)) == 479_996
    mapping = np.concatenate([np.zeros(code, np.int64), np.ones(grid.cells - code, np.int64), [2]])
    feature = Feature("income", grid, mapping, ordered=True)
    trees = replace(model(5), features=(feature, feature))
    assert trees.condition(0, np.array([False, True, False])) == "income >= 480000"
