"""Guards, caps and borders of the room: what is just inside is taken, what is just outside is refused."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest

from tacit.online import decision_list_winnow as features
from tacit.online.confident_winnow import ConfidentWinnow
from tacit.online.decision_list_winnow import (
    DecisionListWinnow,
    FeatureError,
    all_conjunctions,
    conjunction_width,
    named_conjunctions,
)
from tacit.online.labels import code_of, codes_of, shares_of, sign_of, signs_of
from tacit.online.rows import NumberRows, RowError, SignRows, named_rows, undeclared_rows
from tacit.online.suspended import read_secrets, write_secrets
from tacit.online.winnow import Winnow
from tacit.privacy.request import RequestError

TINY = 5e-324
BELOW_1, ABOVE_1 = math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)
NAMES = tuple(range(1000))


@pytest.mark.parametrize(
    "given",
    [
        {"horizon": 0}, {"horizon": 1.0}, {"horizon": True}, {"bins": 0}, {"period": 0}, {"period": 2.0},
        {"carried": -TINY, "period": 5}, {"carried": 1.0, "period": 5}, {"carried": 0.5}, {"update": "Batch"},
        {"invalid": "Error"}, {"margin": 0.0}, {"margin": ABOVE_1}, {"labels": ("a",)}, {"labels": (*NAMES, "b")},
        {"labels": ("a", "b", "a")}, {"labels": ("a", "b", "c"), "update": "first"}, {"seed": -1}, {"epsilon": 0.0},
        {"delta": 1.0},
    ],
)  # fmt: skip
def test_just_outside(given: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=r"must|declare period|two classes"):
        Winnow(**given)._request()


@pytest.mark.parametrize(
    "given",
    [
        {"horizon": 1}, {"bins": 1}, {"period": 1}, {"carried": 0.0}, {"carried": BELOW_1, "period": 1},
        {"carried": TINY, "period": 1}, {"update": "first"}, {"update": "batch"}, {"update": "timed"},
        {"invalid": "null"}, {"margin": TINY}, {"margin": 1.0}, {"labels": ("a", "b")}, {"labels": NAMES},
        {"labels": ("a", "b", "c"), "update": "batch"}, {"labels": ("a", "b"), "update": "first"}, {"seed": 0},
        {"epsilon": math.inf}, {"delta": 0.0},
    ],
)  # fmt: skip
def test_just_inside(given: dict[str, Any]) -> None:
    model = Winnow(**given)
    model._request()
    assert model._multiclass == (len(model.labels or (False, True)) > 2)


def test_updates_where_nothing_is_said() -> None:
    assert (Winnow(epsilon=1e300)._update, Winnow(epsilon=math.inf)._update) == ("timed", "batch")
    assert (Winnow(constant=True)._width(3), Winnow(constant=False)._width(3)) == (4, 3)


def test_as_many_rounds_as_declared_and_no_more() -> None:
    rows, labels = np.ones((3, 2), np.int8), [True, False, True]
    model = Winnow(horizon=3, epsilon=math.inf)
    model.learn_many(rows, labels)
    assert model.rounds_ == 3
    with pytest.raises(ValueError, match="for 3 rounds; 3 were taken and 1 more"):
        model.learn_many(rows[:1], labels[:1])
    short = Winnow(horizon=2, epsilon=math.inf)
    with pytest.raises(ValueError, match="for 2 rounds; 0 were taken and 3 more"):
        short.learn_many(rows, labels)
    assert (short.rounds_, short.certificate_) == (0, None)  # nothing was opened, nothing spent
    for table, of, why in ((rows * 2, labels, "other than -1 and 1"), (rows, [True, "x", True], "none of")):
        with pytest.raises(RowError, match=why):
            Winnow(horizon=3, epsilon=math.inf).learn_many(table, of)


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_periods_begin_with_the_row_after_the_last(rounds: int) -> None:
    """Of 2 rounds each: how long the one is that is open says where it began, told at once or row by row."""
    at_once, by_row = (Winnow(horizon=9, period=2, epsilon=math.inf) for _ in range(2))
    at_once.learn_many(np.ones((rounds, 2), np.int8), [True] * rounds)
    for _ in range(rounds):
        by_row.learn_many(np.ones((1, 2), np.int8), [True])
    for model in (at_once, by_row):
        assert (model.rounds_, model._began) == (rounds, (rounds - 1) // 2 * 2)


@pytest.mark.parametrize(
    ("given", "fine"),
    [
        ((1, 1.0), True), ((0, 1.0), False), ((1, 0.1, TINY), True), ((1, 1e-300), True), ((1, ABOVE_1), False),
        ((1, 0.0), False), ((1, 1.0, None, 0.0), True), ((1, 1.0, None, 0.5), True), ((1, 1.0, None, -TINY), False),
        ((1, 1.0, None, math.nextafter(0.5, 1)), False), ((1, 1.0, 0.0), False),
    ],
)  # fmt: skip
def test_which_winnows_there_are(given: tuple[Any, ...], fine: bool) -> None:
    if fine:
        assert len(ConfidentWinnow(*given).weights) == 1
        return
    with pytest.raises(ValueError, match=r"need dimension|must be positive"):
        ConfidentWinnow(*given)


def test_a_confident_round_is_left_alone() -> None:
    """At equal weights the score of (1, 1, 1, -1) is one half: unsure below ``confidence * margin``, not at it."""
    row = [1, 1, 1, -1]
    for margin, confidence, bit, updated in ((1.0, 0.5, True, False), (1.0, 0.49, True, False)):
        assert ConfidentWinnow(4, margin, 0.1, confidence).learn_one(row, 1, bit) == updated
    tie = [1, 1, -1, -1]
    assert ConfidentWinnow(4, 1.0).predict_one(tie) == -1
    assert ConfidentWinnow(4, 1.0, 0.1, 0.5).learn_one(tie, -1, True)
    assert not ConfidentWinnow(4, 1.0, 0.1, 0.5).learn_one(tie, -1, False)
    assert not ConfidentWinnow(4, 1.0, 0.1, 0.0).learn_one(tie, -1, True)
    assert ConfidentWinnow(4, 1.0, 0.1, 0.5).learn_one(tie, 1, False)
    assert ConfidentWinnow(4, 1.0).learning_rate == 0.5
    for x, y, why in ((tie, 0, "label"), (tie[:3], 1, "coordinates"), ([1, 1, 0, -1], 1, "-1 and 1")):
        with pytest.raises(ValueError, match=why):
            ConfidentWinnow(4, 1.0).learn_one(x, y)


def test_as_many_conjunctions_as_can_be_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3 coordinates: themselves, four of each pair, and eight of all."""
    assert [conjunction_width(3, k) for k in (1, 2, 3)] == [3, 15, 23]
    all_conjunctions.cache_clear()
    monkeypatch.setattr(features, "MOST_FEATURES", 15)
    assert len(all_conjunctions(3, 2)) == 15
    with pytest.raises(FeatureError, match="lower k"):
        all_conjunctions(3, 3)
    all_conjunctions.cache_clear()
    for names, shown in ((12, "'11'. Nothing"), (13, r"'11', ... \(13 in all\)")):
        with pytest.raises(FeatureError, match=shown):
            named_conjunctions(["x"], [str(i) for i in range(names)])


@pytest.mark.parametrize(
    ("given", "fine"),
    [
        ({"length": 2, "alternations": 1}, True), ({"length": 2}, False), ({"alternations": 1}, False),
        ({"features": ["a"]}, True), ({"features": []}, False), ({"features": "a"}, False), ({"k": 0}, False),
        ({"length": 2, "alternations": 1, "labels": (1, 2, 3)}, False), ({"k": 2}, True),
    ],
)  # fmt: skip
def test_which_lists_can_be_asked_for(given: dict[str, Any], fine: bool) -> None:
    model = DecisionListWinnow(**given)
    if fine:
        model._request()
        return
    with pytest.raises(RequestError, match=r"together|list of conjunctions|k must|two classes"):
        model._request()


@pytest.mark.parametrize(
    ("label", "sign"),
    [
        (True, 1), (False, -1), (1, 1), (0, -1), (-1, -1), (2, 0), (1.0, 1), (0.0, -1), (0.5, 0), (None, 0), ("b", 1),
        ("a", -1), ("c", 0), (math.nan, 0), (np.int8(1), 1), (np.str_("a"), -1), (np.array([1, 2]), 0),
    ],
)  # fmt: skip
def test_signs_of_labels(label: Any, sign: int) -> None:
    classes = ("a", "b") if isinstance(label, str) else (False, True)
    assert sign_of(label, classes) == sign
    assert code_of(label, classes).tolist() == [sign]
    if not isinstance(label, np.ndarray):
        assert signs_of([label], classes, 1).tolist() == [sign]


def test_labels_are_as_many_as_rows_and_places_count_from_1() -> None:
    names = ("a", "b", "c")
    assert codes_of(["c", "a", "d"], names, 3).tolist() == [3, 1, 0]
    assert code_of("b", names).tolist() == [2]
    assert code_of("b", names[:2]).dtype == np.int8
    assert code_of("b", names).dtype == np.int16
    for classes in (names, names[:2]):
        for n in (0, 2):
            with pytest.raises(RowError, match="a label per row"):
                codes_of(["a"], classes, n)
    assert shares_of(np.array(0.5), ("a", "b")) == {"a": 0.25, "b": 0.75}
    assert shares_of(np.array([0.5, 0.0, -0.5]), names) == pytest.approx({"a": 7 / 12, "b": 1 / 3, "c": 1 / 12})
    assert shares_of(np.array([2.0, 0.0, -2.0]), names) == pytest.approx({"a": 1.0, "b": 1 / 3, "c": 0.0})


def test_rows_that_are_none_are_refused() -> None:
    rows = SignRows(("a", "b"), declared=False)
    for sign in (True, np.True_, 1, 1.0):
        for other in (False, np.False_, -1, -1.0):
            points, fine = rows.one({"a": sign, "b": other})
            assert (points.tolist(), fine) == ([[1, -1]], True)
    assert not rows.one({"a": 1, "b": 0})[1]
    for row in ({"a": 1}, {"a": 1, "b": 1, "c": 1}, {"a": 1, "c": 1}):
        with pytest.raises(RowError, match="declare the columns"):
            rows.one(row)
        SignRows(("a", "b"), declared=True).one(row)
    for table in (np.ones((2, 3)), np.ones(2), np.ones((2, 2), "U1")):
        with pytest.raises(RowError, match=r"shape|dtype"):
            rows.many(table)
    for x, why in ({}, "without features"), (np.ones(3), "shape"), (np.ones((2, 0)), "without features"):
        with pytest.raises(RowError, match=why):
            undeclared_rows(x, without_errors=False)
    with pytest.raises(RequestError, match="name them in columns"):
        undeclared_rows({"a": 1}, without_errors=True)
    assert undeclared_rows({"b": 1, "a": 2}, without_errors=False) == NumberRows(("a", "b"))
    assert undeclared_rows(np.ones((2, 3)), without_errors=True) == SignRows((0, 1, 2), declared=False)
    assert named_rows(["a"], "numbers") == NumberRows(("a",))
    for declared in (True, False):
        assert named_rows(["a"], declared) == SignRows(("a",), declared=declared)


def test_files_that_hold_no_stream(tmp_path: Any) -> None:
    write_secrets(tmp_path / "a", {"parameters": {"labels": [1, 2], "k": 3}})
    assert read_secrets(tmp_path / "a")["parameters"] == {"labels": (1, 2), "k": 3}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_secrets(tmp_path / "a", {})
    whole = (tmp_path / "a").read_text()
    spoiled = [whole[:place] + "9" + whole[place + 1 :] for place in range(len(whole) - 1) if whole[place] != "9"]
    for text in ("[]", '{"format": "x"}', "", "[" * 5000, whole[: len(whole) // 2], *spoiled):
        (tmp_path / "b").write_text(text)
        with pytest.raises(ValueError, match=r"not a suspended stream, or was changed"):
            read_secrets(tmp_path / "b")
    write_secrets(tmp_path / "c", {"parameters": [1]})
    with pytest.raises(ValueError, match=r"not a suspended stream, or was changed"):
        read_secrets(tmp_path / "c")
    (tmp_path / "b").write_text(f"{'[' * 9000}\n{hashlib.sha256(b'[' * 9000).hexdigest()}\n")
    with pytest.raises(ValueError, match=r"not a suspended stream, or was changed"):
        read_secrets(tmp_path / "b")


@pytest.mark.parametrize("part", ["stream", "secrets", "certificate", "rounds", "parameters"])
def test_a_damaged_stream_is_refused_and_stays_where_it_is(part: str, tmp_path: Any) -> None:
    stream = Winnow(horizon=9, labels=(-1, 1), seed=0)
    stream.learn_one({"a": 1}, 1)
    with pytest.warns(UserWarning, match="secrets"):
        stream.suspend(tmp_path / "whole")
    content = read_secrets(tmp_path / "whole")
    for wrong in ([[None]], {"x": {}}, "x"):
        write_secrets(tmp_path / "s", content | {part: wrong})
        with pytest.raises(ValueError):
            Winnow.resume(tmp_path / "s")
        assert not (tmp_path / "s.used").exists()
        (tmp_path / "s").unlink()


@pytest.mark.parametrize("row", [None, [], "age", 5, np.zeros(3), [("age", 1)]])
@pytest.mark.parametrize("does", [lambda w, x: w.learn_one(x, 1), Winnow.predict_one, Winnow.predict_proba_one])
def test_a_row_is_a_mapping(row: Any, does: Any) -> None:
    with pytest.raises(RowError, match=rf"a row is a mapping from names to values, got {type(row).__name__}"):
        does(Winnow(horizon=100), row)
