"""The synthetic tables are neighbours, follow from the schema alone, and have the canary in cells of its own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.audit.canary import FEW, MANY, given_pair, made_pair, target_of
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
BASE = MANY + FEW
COLUMNS = {
    "person": {"kind": "id"},
    "age": {"kind": "numeric", "lower": -5, "upper": 90},
    "ward": {"kind": "categorical", "categories": ["a", "b", 3]},
    "only": {"kind": "categorical", "categories": ["one"]},
    "dose": {"kind": "ordinal", "categories": [1, 2, 3]},
    "smokes": {"kind": "boolean"},
    "note": {"kind": "ignore"},
}
LABEL = {"column": "sick", "classes": ["no", "perhaps", "yes"], "positive": "yes"}


def schema_of(**more) -> Schema:
    return Schema.from_dict({"label": LABEL, "columns": COLUMNS, **more})


def test_the_canary_stands_alone_at_the_upper_ends():
    schema = schema_of()
    pair = made_pair(schema, target_of(schema, None, None), ADD, False)
    (X, y), (smaller, labels) = pair.with_canary, pair.without
    assert X.names == tuple(COLUMNS)
    assert (X.n_rows, smaller.n_rows, len(y), len(labels)) == (BASE + 1, BASE, BASE + 1, BASE)
    for name in COLUMNS:
        values = list(X.columns[name])
        assert list(smaller.columns[name]) == values[:BASE]
        if name != "note":
            assert values[-1] not in values[:BASE]
    assert [X.columns[name][-1] for name in COLUMNS if name != "person"] == [90, 3, None, 3, True, ""]
    assert (labels == y[:BASE]).all()
    assert pair.label == y[-1] == "yes"
    assert (labels == "no").sum() == MANY
    assert (labels == "yes").sum() == FEW
    assert pair.probes.columns["age"].tolist() == [90, -5]
    assert len(set(X.columns["person"])) == BASE + 1
    assert not pair.from_rows


def test_a_unit_comes_with_all_its_rows():
    schema = schema_of(unit={"column": "person", "max_rows": 4})
    pair = made_pair(schema, target_of(schema, None, None), ADD, False)
    people = pair.with_canary[0].columns["person"]
    assert (people[-4:] == "canary").all()
    assert len(people) == BASE + 4
    assert len(set(people)) == BASE + 1
    unlisted = Schema.from_dict({"columns": {"x": {"kind": "boolean"}}, "unit": {"column": "who", "max_rows": 2}})
    assert made_pair(unlisted, target_of(unlisted, None, None), ADD, False).without[0].n_rows == BASE


@pytest.mark.parametrize("max_rows", [1, 3])
def test_a_replaced_row_has_another_label_and_nothing_else(max_rows):
    schema = schema_of(unit={"column": "person", "max_rows": max_rows})
    pair = made_pair(schema, target_of(schema, None, None), REPLACE, False)
    (X, y), (other, labels) = pair.with_canary, pair.without
    assert X is other
    assert np.flatnonzero(y != labels).tolist() == list(range(BASE, BASE + max_rows))
    assert {*labels[BASE:]} == {"no"}


def test_labels_that_are_numbers_stand_at_their_bounds():
    schema = Schema.from_dict(
        {"label": {"column": "t", "kind": "numeric", "lower": -2, "upper": 7}, "columns": {"x": {"kind": "boolean"}}}
    )
    pair = made_pair(schema, target_of(schema, None, None), ADD, False)
    assert pair.label is None
    assert pair.with_canary[1][-1] == 7
    assert {*pair.without[1]} == {-2.0, 7.0}


def test_without_a_schema_there_is_one_column_of_numbers():
    pair = made_pair(None, target_of(None, ("a", "b"), None), ADD, False)
    assert pair.with_canary[0].names == ("x",)
    assert pair.label == "b"
    assert target_of(None, None, None).canary == 1
    assert target_of(None, None, (0, 5)).canary == 5.0


def test_others_get_numbers():
    schema = schema_of()
    X = made_pair(schema, target_of(schema, None, None), ADD, True).with_canary[0]
    assert X.shape == (BASE + 1, 5)
    assert X[0].tolist() == [-5, 0, 0, 0, 0]
    assert X[-1].tolist() == [90, 2, 1, 2, 1]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict, "matrix"])
def test_given_rows_keep_their_kind(kind):
    rows, canary = {"x": [1.0, 2.0], "z": [0.0, 0.0]}, {"x": [9.0], "z": [5.0]}
    X, one = (
        (np.stack([np.asarray(v) for v in r.values()], axis=1) if kind == "matrix" else kind(r)) for r in (rows, canary)
    )
    pair = given_pair(X, [0, 1], (one, [1]), None, target_of(None, None, None), REPLACE)
    assert isinstance(pair.with_canary[0], type(X))
    assert pair.with_canary[1].tolist() == [0, 1, 1]
    assert pair.without[1].tolist() == [0, 1, 0]
    assert pair.from_rows
    first = pair.probes[0].tolist() if kind == "matrix" else [next(iter(pair.probes[name])) for name in "xz"]
    assert first == [9.0, 5.0]


def test_a_canary_is_one_person():
    X, y, target = pd.DataFrame({"x": [0.0, 1.0], "who": ["a", "b"]}), [0, 1], target_of(None, None, None)
    two = pd.DataFrame({"x": [1.0, 1.0], "who": ["c", "c"]})
    unit = Schema.from_dict(
        {"columns": {"x": {"kind": "numeric", "lower": 0, "upper": 1}}, "unit": {"column": "who", "max_rows": 2}}
    )
    assert len(given_pair(X, y, (two, [1, 1]), unit, target, ADD).with_canary[1]) == 4
    with pytest.raises(RequestError, match="one row is protected"):
        given_pair(X, y, (two, [1, 1]), None, target, ADD)
    for wrong in (two.assign(who=["c", "d"]), two.assign(who="a"), pd.concat([two, two])):
        with pytest.raises(RequestError, match="one unit of at most 2"):
            given_pair(X, y, (wrong, [1] * len(wrong)), unit, target, ADD)
    with pytest.raises(RequestError, match="missing"):
        given_pair(X, y, (two.drop(columns="who"), [1, 1]), unit, target, ADD)
    with pytest.raises(RequestError, match="labels of shape"):
        given_pair(X, y, (two, [1]), unit, target, ADD)
    with pytest.raises(RequestError, match="its rows and its labels"):
        given_pair(X, y, two, unit, target, ADD)
    with pytest.raises(RequestError, match="the columns"):
        given_pair(X, y, (two[["who", "x"]], [1, 1]), unit, target, ADD)
