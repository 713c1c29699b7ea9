"""Rules as lines of words: whatever the names of columns are, rules can be told from each other."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import CategoryIndex
from tacit.models.decision_list import AT_LEAST, BELOW, IS_NOT, Condition, DecisionListModel, ListRule
from tacit.report import svg
from tacit.report.draw_rules import ROOM, draw, lines, rule_list
from tacit.report.page import compose

LONG = "hours worked per week, unpaid overtime & the way to work and back included"
SCHOOL = "University degree (four years or more), or what the law says is as good as one"


def model(name: str) -> DecisionListModel:
    """Three rules on one number and a category of a long name."""
    encoders = (NumericGrid(0.0, 100.0, 100), CategoryIndex(("none", SCHOOL)))
    rules = (
        ListRule((Condition(0, AT_LEAST, 60), Condition(1, IS_NOT, 1)), 1, None),
        ListRule((Condition(0, AT_LEAST, 40),), 1, None),
        ListRule((Condition(0, BELOW, 40),), 0, None),
        ListRule((), 1, None),
    )
    return DecisionListModel(("no", "yes"), TableEncoding((name, "school"), encoders), rules)


def words(name: str, place: int) -> list[str]:
    return [said for _, said in lines(model(name), place)]


@pytest.mark.parametrize("name", [LONG, LONG.replace(" ", "_"), 10 * LONG, "W" * 40])
def test_a_long_name_does_not_hide_what_is_asked_of_it(name: str) -> None:
    for place, (start, test) in enumerate((("if", ">= 60"), ("else if", ">= 40"), ("else if", "< 40"))):
        first, second = words(name, place)[:2]
        assert first.startswith(f"{start} {name[:6]}")
        assert first.endswith(name[-6:])
        assert second == test
    shown = [tuple(words(name, place)) for place in range(4)]
    assert len(set(shown)) == 4


def test_a_long_category_keeps_its_beginning_and_its_end() -> None:
    *_, named, then = words("hours", 0)
    assert named.startswith("is not University")
    assert named.endswith("as good as one")
    assert then == "then yes"


def test_short_conditions_stay_on_one_line() -> None:
    assert words("hours", 1) == ["else if hours >= 40", "then yes"]
    assert words("hours", 3) == ["otherwise: yes"]


@pytest.mark.parametrize("name", ["hours", LONG])
def test_lines_have_room_and_all_of_a_rule_is_there_on_hover(name: str) -> None:
    drawing = rule_list(model(name), "i")
    root = ET.fromstring(drawing.markup)
    written = [e for e in root.iter("text") if e.get("class") == "name"]
    assert all(float(e.get("x") or 0) + svg.text_width(e.text or "") <= 8 + ROOM for e in written)
    hints = [group.findtext("title") for group in root.iter("g")]
    assert hints == [row[0] for row in drawing.rows]
    assert hints[0] == f"{name} >= 60 and school is not {SCHOOL}"


def test_rules_are_said_in_sentences_with_the_released_counts_of_every_class() -> None:
    encoders = (NumericGrid(0.0, 100.0, 100), CategoryIndex(("none", "some")))
    rules = (
        ListRule((Condition(0, AT_LEAST, 60), Condition(1, IS_NOT, 1)), 2, np.array([3.2, -2.0, 1204.0])),
        ListRule((), 0, np.array([80.0, 7.0, 1.0])),
    )
    three = DecisionListModel(("low", "middle", "<high>"), TableEncoding(("hours", "school"), encoders), rules, sd=2.0)
    assert draw(three).sentences == (
        (
            "If hours >= 60 and school is not some, the answer is “<high>”. It decides about 1205 rows: 3 low, "
            "0 middle, 1204 <high>."
        ),
        "Otherwise the answer is “low”. It decides about 88 rows: 80 low, 7 middle, 1 <high>.",
    )
    page = compose(draw(three), three.classes, None, "A list")
    assert page.count("<li>If hours &gt;= 60 and school is not some, the answer is “&lt;high&gt;”.") == 1
    assert draw(model("hours")).sentences[-1] == "Otherwise the answer is “yes”."  # nothing was counted
