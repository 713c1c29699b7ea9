"""A model file that somebody changed is refused in a sentence, or predicts finite numbers that add up."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.encoding.errors import FrameError
from tacit.encoding.grid import NumericGrid
from tacit.models.base import ClassModel, Model
from tacit.models.files import kinds, load_model, model_from_dict
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.plain import ModelError
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tests import habits

COLUMNS = {
    "age": {"kind": "numeric", "lower": 0, "upper": 100, "bins": 8},
    "city": {"kind": "categorical", "categories": ["N", "S", "W"]},
    "old": {"kind": "boolean"},
}
ROWS = {
    "age": np.array([0.0, 17.0, 50.0, 99.0, np.nan, np.inf]),
    "city": np.array(["N", "S", "W", "E", None, "N"], object),
    "old": np.array([True, False, None, True, False, True], object),
}


def rows(n: int = 400) -> dict[str, Any]:
    place = np.arange(n)
    return {"age": place % 101 * 1.0, "city": np.array(["N", "S", "W"])[place % 3], "old": place % 2 == 0}


def schema(label: dict[str, Any]) -> dict[str, Any]:
    return {"label": {"column": "y", **label}, "columns": COLUMNS}


@cache
def models() -> dict[str, Model]:
    """A small model of every kind, by kind; two of the kinds with trees and pairs."""
    X, place = rows(), np.arange(400)
    two, three = schema({"classes": [0, 1]}), schema({"classes": ["a", "b", "c"]})
    number = schema({"kind": "numeric", "lower": 0, "upper": 10})
    bit, word = (X["age"] > 50).astype(int), np.array(["a", "b", "c"])[place % 3]
    seeded: dict[str, Any] = {"epsilon": 5.0, "random_state": 0}
    with pytest.MonkeyPatch.context() as patch:
        for learner in habits.ADDITIVE:
            patch.setattr(learner, "tuning", habits.FEW_ROUNDS)
        fits = [
            tacit.AdditiveBoostClassifier(schema=two, interactions="pairs", **seeded).fit(X, bit),
            tacit.AdditiveBoostClassifier(schema=three, **seeded).fit(X, word),
            tacit.AdditiveBoostClassifier(schema=three, ordered=True, **seeded).fit(X, word),
            tacit.AdditiveBoostRegressor(schema=number, interactions="pairs", **seeded).fit(X, X["age"] / 10),
            tacit.BoostedTreesClassifier(schema=two, n_trees=3, **seeded).fit(X, bit),
            tacit.BoostedTreesClassifier(schema=three, n_trees=3, **seeded).fit(X, word),
            tacit.DecisionListClassifier(schema=two, **seeded).fit(X, bit),
            tacit.HalfspaceBoostClassifier(schema=two, rounds=3, **seeded).fit(X, bit),
        ]
    made: list[Any] = [fit.model_ for fit in fits]
    grid = NumericGrid(0.0, 100.0, 4)
    rule = RuleModel((0, 1), ("age",), (grid,), np.array([False, True, True, False, True]), "age")
    made += [rule, RecalibratedModel(made[0], np.array([-1.0, 1.0]), np.array([-0.5, 0.5]))]
    made += [MeanModel((made[0], made[4]), (1.0, 2.0)), MeanNumberModel((made[3], made[3]), (1.0, 1.0))]
    made += [ComposedModel((0, 1), (0, 1, 1, 1), (rule, made[4]), "x1 or x2"), VoteModel((0, 1), (rule, made[6]))]
    return {model.kind: model for model in made}


VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 1e308, -1e308, float("nan"), float("inf"),
    float("-inf"), 1e-320, "", "x", "é" * 1000, "../../etc/passwd", [], {}, [[]], [0] * 1000, {"a": {"b": 1}},
    [None], "1", "inf", "nan", 1.5, [1.5], ["1"], [True],
]  # fmt: skip


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in plain data; of a long list the first six and the last."""
    if at:
        yield at
    if isinstance(data, dict | list):
        keys = list(data) if isinstance(data, dict) else sorted({*range(min(len(data), 6)), *range(len(data))[-1:]})
        for key in keys:
            yield from places(data[key], (*at, key))


def mutate(data: dict[str, Any], draw: random.Random, within: tuple[str, ...] = ("model",)) -> None:
    """Changes plain data in one to four places: takes away, doubles, cuts, scales, adds, replaces."""
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        among = [place for part in within if part in data for place in places(data[part], (part,))]
        if not among:
            return
        *way, key = draw.choice(among)
        inside: Any = data
        for step in way:
            inside = inside[step]
        value, kind = inside[key], draw.random()
        if kind < 0.15:
            del inside[key]
        elif kind < 0.25 and isinstance(inside, list):
            inside.insert(key, copy.deepcopy(value))
        elif kind < 0.4 and isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9:
            inside[key] = value * draw.choice([-1, 1e6, 1e300, 0.5]) + draw.choice([0, 1])
        elif kind < 0.5 and isinstance(value, list):
            inside[key] = value[:-1] if draw.random() < 0.5 else value * 2
        elif kind < 0.55 and isinstance(inside, dict):
            inside[draw.choice(["new", "kind"])] = draw.choice(VALUES)
        else:
            inside[key] = copy.deepcopy(draw.choice(VALUES))


def outcome(path: Path) -> str:
    """What becomes of a file: "refused", "predicts", or what is wrong with it."""
    try:
        model, _ = load_model(path)
    except ModelError as error:
        text = str(error)
        return "refused" if "\n" not in text and len(text) < 500 else f"says too much: {text}"
    with np.errstate(all="ignore"):
        try:
            text = model.predict_proba(ROWS) if isinstance(model, ClassModel) else model.predict(ROWS)
        except FrameError:  # it is of a table with other columns
            return "predicts"
        if not np.isfinite(np.asarray(text)).all():
            return "is not finite"
        if isinstance(model, ClassModel) and not (np.allclose(text.sum(axis=1), 1.0) and (text >= 0).all()):
            return "does not add up to one"
        for method in ("importance", "to_text"):
            getattr(model, method, list)()
    repr(model)
    model.error_bound()
    json.dumps(model.to_dict(), allow_nan=False)
    return "predicts"


def outcomes(number: int, path: Path, seed: int) -> Counter[str]:
    """The outcomes of so many mutated files, kind after kind."""
    draw, seen = random.Random(seed), Counter[str]()
    documents = [json.loads(json.dumps(model.to_dict())) for model in models().values()]
    for place in range(number):
        data = copy.deepcopy(documents[place % len(documents)])
        mutate(data, draw)
        path.write_text(json.dumps(data))
        try:
            seen[outcome(path)] += 1
        except Exception as error:
            raise AssertionError(f"{data['kind']}: {json.dumps(data)[:3000]}") from error
    return seen


def test_every_kind_is_mutated() -> None:
    assert set(models()) == set(kinds())


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_file_as_it_was_written_predicts(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(models()[kind].to_dict()))
    assert outcome(path) == "predicts"


def test_a_mutated_file_is_refused_or_predicts(tmp_path: Path) -> None:
    seen = outcomes(700, tmp_path / "model.json", seed=54)
    assert set(seen) == {"refused", "predicts"}
    assert seen["refused"] > 300


def test_a_mutated_file_with_a_certificate_is_refused_or_as_it_was(tmp_path: Path) -> None:
    """Anything in it, and single bytes: digests see what the model would not."""
    learner = tacit.RandomTreesClassifier(schema=schema({"classes": [0, 1]}), n_trees=2, random_state=0)
    learner.fit(rows(), (rows()["age"] > 50).astype(int))
    path, draw = tmp_path / "model.json", random.Random(3)
    tacit.save(learner, path)
    whole, seen = json.loads(path.read_text()), Counter[str]()
    for turn in range(300):
        data = copy.deepcopy(whole)
        mutate(data, draw, tuple(whole))
        text = json.dumps(data)
        if turn % 3 == 0:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(["", "\0", "[", "}", '"', "9" * 400]) + text[at + draw.choice([0, 1, 50]) :]
        path.write_text(text)
        for read in (tacit.load, load_model):
            try:
                read(path)
                seen["loads"] += 1
            except ModelError as error:
                seen["says too much" if "\n" in str(error) else "refused"] += 1
    assert seen["refused"] > 550
    assert seen["loads"] < 20
    assert not seen["says too much"]


@pytest.mark.slow
def test_ten_thousand_mutated_files_are_refused_or_predict(tmp_path: Path) -> None:
    assert set(outcomes(10_000, tmp_path / "model.json", seed=55)) == {"refused", "predicts"}


@pytest.mark.parametrize(
    ("kind", "place", "value", "said"),
    [
        ("additive", ("intercept",), float("nan"), "the intercept must be a finite number"),
        ("additive", ("intercept",), "0.5", "the intercept must be a finite number"),
        ("additive", ("intercept",), True, "the intercept must be a finite number"),
        ("additive", ("intercept_sd",), -1.0, "at least 0"),
        ("additive", ("mains", 0, "counts", 0), -3.0, "numbers of rows must be finite numbers, at least 0"),
        ("additive", ("mains", 0, "effect", 0), None, "effects must be a list of numbers"),
        ("additive", ("mains", 0, "effect"), [0.0], "every effect needs its deviation"),
        ("additive_classes", ("scores", "mains", 0, "effect"), [[0.0]], "an effect must have the shape"),
        ("additive", ("mains", 0, "feature"), 7, "an effect is of a column that is not there"),
        ("additive", ("mains", 0, "feature"), -1, "the number of a column must be a whole number"),
        ("additive", ("features", 0, "starts", 1), 0, "must begin at rising codes from 0"),
        ("additive", ("features", 0, "bins", 1), 0, "must be intervals in order, missing last"),
        ("additive", ("features", 1, "name"), "age", "two columns have the same name"),
        ("additive", ("features", 1, "encoder", "categories"), "NSW", "categories must be a list"),
        ("additive", ("classes",), [0, 0], "classes must differ"),
        ("additive", ("classes",), [0, 1, 2], "it needs 2 classes"),
        ("additive_ordered", ("cuts",), [1.0, 0.0], "rising cut points"),
        ("additive_regression", ("upper",), float("inf"), "the upper bound must be a finite number"),
        ("additive_regression", ("upper",), -1, "its bounds must rise"),
        ("tree_ensemble", ("trees", 0, "support", 0), -1.0, "the support of leaves must be finite numbers, at least 0"),
        ("tree_ensemble", ("trees", 0, "values", 0), float("inf"), "leaves must be finite numbers"),
        ("tree_ensemble", ("link", "scale"), 0, "the scale of a link must be positive"),
        ("decision_list", ("rules", 0, "then"), 5, "a rule says class 5"),
        ("halfspace", ("weights",), [1.0], "weights must have the shape"),
        ("halfspace", ("encoder", "clipper", "radius"), 2.5, "the radius of rows must be a whole number"),
        ("mean", ("weights", 0), -1.0, "a positive weight for each"),
        ("rule", ("rates", 1), 1.5, "a rate must be a finite number"),
        ("rule", ("positive",), "ff" * 9, "its table does not fit its columns"),
        ("composed", ("function", 0), 2, "its truth table must be a list of whole numbers"),
        ("vote", ("members", 0), None, "it has no kind, or no body"),
    ],
)
def test_what_is_wrong_is_said(kind: str, place: tuple[Any, ...], value: Any, said: str, tmp_path: Path) -> None:
    data = json.loads(json.dumps(models()[kind].to_dict()))
    *way, key = place
    inside = data["model"]
    for step in way:
        inside = inside[step]
    inside[key] = value
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(ModelError, match=said):
        load_model(tmp_path / "model.json")


def test_a_tree_that_comes_back_to_a_split_is_refused() -> None:
    """It would be walked for ever, or for longer than anybody lives."""
    tree = {"values": [0.0] * 41, "support": [1.0] * 41}
    for children in ([[0, 0]] * 40, [[place + 1, place + 1] for place in range(39)] + [[-1, -2]]):
        splits = [{"column": 0, "above": 0, "children": pair} for pair in children]
        body = {**models()["tree_ensemble"].body(), "trees": [{**tree, "splits": splits}]}
        with pytest.raises(ModelError, match="numbered from left to right"):
            model_from_dict({"kind": "tree_ensemble", "model": body})
