"""The decision list as a model: first match wins, words say what codes do, files lose nothing; its drawing."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tacit.encoding.frames import columns_of
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.models.decision_list import AT_LEAST, IS, IS_NOT, Condition, DecisionListModel, ListRule, threshold_text
from tacit.models.files import load_model, save_model
from tacit.report.model_card import model_card

GRID = NumericGrid(0.0, 100.0)
WARD, SMOKES = CategoryIndex(("a", "b")), BooleanIndex()
CODE = int(GRID.encode(np.array([40.0]))[0])


def example(counts: bool = True) -> DecisionListModel:
    result = [np.array([2.0, 8.0]), np.array([-1.5, -2.0]), np.array([30.0, 10.0])] if counts else [None] * 3
    return DecisionListModel(
        ("no", "yes"),
        TableEncoding(("age", "ward", "smokes"), (GRID, WARD, SMOKES)),
        (
            ListRule((Condition(0, AT_LEAST, CODE), Condition(1, IS_NOT, 0)), 1, result[0]),
            ListRule((Condition(2, IS, 1),), 1, result[1]),
            ListRule((), 0, result[2]),
        ),
        sd=1.5 if counts else 0.0,
    )


PEOPLE = pd.DataFrame(
    {
        "age": [39.9, 40.0, 99.0, math.nan, 50.0, 12.0],
        "ward": ["b", "b", "a", "b", "z", None],
        "smokes": [True, False, False, False, True, None],
    }
)


def test_the_first_rule_that_fits_decides() -> None:
    model = example()
    frame = columns_of(PEOPLE)
    assert model.decide(frame).tolist() == [1, 0, 2, 2, 0, 2]
    assert model.predict(frame).tolist() == ["yes", "yes", "no", "no", "yes", "no"]
    probabilities = model.predict_proba(frame)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(6))
    assert probabilities[1].tolist() == pytest.approx([3.5 / 13, 9.5 / 13])
    assert probabilities[0] == pytest.approx([0.5, 0.5])  # nothing but noise was counted there
    assert probabilities.argmax(axis=1).tolist() == [1, 1, 0, 0, 1, 0]  # and still it says what it predicts
    assert example(counts=False).predict_proba(frame)[:, 1].tolist() == [1, 1, 0, 0, 1, 0]


def test_words_say_what_the_rules_do() -> None:
    assert example().lines() == [
        "if age >= 40 and ward is not a then yes  (about 10 rows, precision about 80%)",
        "else if smokes is true then yes  (about 0 rows)",
        "else no  (about 40 rows, precision about 75%)",
    ]
    only = DecisionListModel(("no", "yes"), TableEncoding((), ()), (ListRule((), 1, None),))
    assert only.to_text() == "always yes"
    missing = Condition(0, IS, GRID.missing)
    assert missing.text("age", GRID) == "age is missing"
    assert missing.holds(GRID.encode(np.array([3.0, math.nan])), GRID).tolist() == [False, True]


@pytest.mark.parametrize(
    "grid",
    [
        GRID,
        NumericGrid(-3.5e6, 1.2e7),
        NumericGrid(-1e-9, 3e-9),
        NumericGrid(17, 90),
        NumericGrid(1, 5, spacing=(2.5,)),
    ],
)
def test_a_written_threshold_is_in_its_cell(grid: NumericGrid) -> None:
    for code in np.unique(np.linspace(1, grid.cells - 1, 60).astype(int)):
        written = float(threshold_text(grid, int(code)))
        assert grid.encode(np.array([written]))[0] == code
    assert threshold_text(GRID, CODE) == "40"


def test_a_file_loses_nothing(tmp_path) -> None:
    for model in (example(), example(counts=False)):
        save_model(model, tmp_path / "model.json")
        read, _ = load_model(tmp_path / "model.json")
        assert isinstance(read, DecisionListModel)
        assert read.body() == model.body()
        frame = columns_of(PEOPLE)
        assert np.array_equal(read.predict_proba(frame), model.predict_proba(frame))
        assert json.loads((tmp_path / "model.json").read_text())["model"]["text"] == model.lines()


def test_only_the_columns_of_conditions_are_needed() -> None:
    full = example()
    model = DecisionListModel(full.classes, full.encoding, full.rules[1:], full.sd)
    assert model.feature_names == ("smokes",)
    assert model.predict(columns_of(PEOPLE[["smokes"]])).tolist()[0] == "yes"


@pytest.mark.parametrize(
    "build",
    [
        lambda m: DecisionListModel(m.classes, m.encoding, m.rules[:1]),
        lambda m: DecisionListModel(m.classes, m.encoding, (ListRule((), 2, None),)),
        lambda m: DecisionListModel(m.classes, TableEncoding((), ()), m.rules),
        lambda m: Condition(0, "contains", 1),
    ],
)
def test_damaged_models_are_refused(build) -> None:
    with pytest.raises(ValueError, match=r"ends with|says class|does not have|unknown test"):
        build(example())


def test_the_drawing_shows_every_rule_and_its_numbers() -> None:
    for model in (example(), example(counts=False)):
        picture = model_card(model)
        [drawing] = picture.drawings
        root = ET.fromstring(drawing.markup)
        texts = [node.text for node in root.iter() if node.tag.endswith("text")]
        assert "if age >= 40" in texts
        assert "and ward is not a" in texts
        assert "otherwise: no" in texts
        assert len(drawing.rows) == 3
        assert ("10 rows, 80%" in texts) == (model.sd > 0)
        assert [column.name for column in picture.public] == ["age", "ward", "smokes"]
