"""The estimators: learning, river's contract, refusals that change nothing, and moving a stream."""

from __future__ import annotations

import copy
import math
import pickle
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, feature_extraction, preprocessing, stats

from benchmarks.online_streams import disjunction_stream, list_stream, majority_stream, uniform_points
from tacit import PrivacyAccount, Schema
from tacit.online import DecisionListWinnow, StreamClosed, Winnow
from tacit.online.decision_list_winnow import all_conjunctions, conjunction_width
from tacit.online.rows import NumberRows, RowError, SchemaRows
from tacit.privacy import accountants
from tacit.privacy.request import RequestError


def mistakes(model: Winnow, rows: np.ndarray, labels: np.ndarray, block: int = 50) -> np.ndarray:
    """Which rounds the model errs on, predicting a block before it learns from it."""
    wrong = np.zeros(len(rows), bool)
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        wrong[part] = model.predict_many(rows[part]) != labels[part]
        model.learn_many(rows[part], labels[part])
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["majority", "disjunction", "list"])
def test_batch_learns_the_stream_of_the_notes(kind: str) -> None:
    """d = 200, k = 3, T = 40,000, epsilon 1, delta 1e-6: below 2 % at the end after fewer than 6,000 mistakes."""
    generator = np.random.default_rng(11)
    rows, labels = {
        "majority": lambda: majority_stream(generator, 40_000, 200, 3),
        "disjunction": lambda: disjunction_stream(generator, 40_000, 200, 3),
        "list": lambda: list_stream(generator, 40_000, 200, (1, -1, 1, -1)),
    }[kind]()
    model = Winnow(horizon=40_000, labels=(-1, 1), seed=5)
    wrong = mistakes(model, rows, labels)
    assert wrong[-5_000:].mean() < 0.02
    assert wrong.sum() < 6_000
    assert model.certificate_ is not None
    assert (model.certificate_.epsilon, model.certificate_.delta) == (1.0, 1e-6)
    assert accountants.epsilon(model.certificate_.charges, 1e-6) <= 1.0
    assert not model.certificate_.releasable  # a seed


@pytest.mark.slow
def test_lists_online() -> None:
    rows, labels = list_stream(np.random.default_rng(4), 20_000, 30, (1, -1, -1, 1))
    model = DecisionListWinnow(epsilon=4.0, horizon=20_000, labels=(-1, 1), seed=2)
    assert mistakes(model, rows, labels)[-2_000:].mean() < 0.02
    generator = np.random.default_rng(5)
    rows = uniform_points(generator, 30_000, 8)
    labels = np.where((rows[:, 0] > 0) & (rows[:, 1] < 0), 1, np.where(rows[:, 2] > 0, -1, 1)).astype(np.int8)
    pairs = DecisionListWinnow(epsilon=8.0, horizon=30_000, k=2, labels=(-1, 1), seed=2)
    assert mistakes(pairs, rows, labels)[-3_000:].mean() < 0.02
    bounded = DecisionListWinnow(length=3, alternations=1, horizon=1_000, labels=(-1, 1), seed=1)
    bounded.learn_many(rows[:10], labels[:10])
    assert bounded.margin == pytest.approx(1 / 6)


def test_conjunctions_hold_where_they_should() -> None:
    points = uniform_points(np.random.default_rng(0), 50, 4)
    wide = all_conjunctions(4, 3).of(points)
    assert wide.shape == (50, conjunction_width(4, 3)) == (50, 4 + 4 * 6 + 8 * 4)
    true = points > 0
    assert np.array_equal(wide[:, :4], points)
    assert np.array_equal(wide[:, 4] > 0, true[:, 0] & true[:, 1])
    assert np.array_equal(wide[:, 27] > 0, ~true[:, 2] & ~true[:, 3])
    assert np.array_equal(wide[:, -2] > 0, ~true[:, 1] & ~true[:, 2] & true[:, 3])
    assert (
        len({tuple(column) for column in all_conjunctions(4, 3).of(uniform_points(np.random.default_rng(1), 999, 4)).T})
        == 60
    )
    assert all_conjunctions(1, 2).of(points[:, :1]).shape == (50, 1)


def test_any_features_can_be_named() -> None:
    rows = uniform_points(np.random.default_rng(5), 20_000, 300)
    labels = np.where((rows[:, 7] > 0) & (rows[:, 9] < 0), 1, np.where(rows[:, 2] > 0, -1, 1)).astype(np.int8)
    model = DecisionListWinnow(
        epsilon=4.0, horizon=20_000, labels=(-1, 1), seed=2, features=["7 and not 9", "2", *map(str, range(100, 300))]
    )
    assert mistakes(model, rows, labels)[-2_000:].mean() < 0.02
    named = DecisionListWinnow(
        schema=SCHEMA, bins=4, features=["age >= 40 and not ward is b", "smokes is true"], seed=1
    )
    named.learn_one({"age": 50, "ward": "a", "smokes": False}, True)
    assert named._expand(named._rows.one({"age": 50, "ward": "a", "smokes": False})[0]).tolist() == [[1, -1, 1]]
    for wrong, message in (
        ({"features": ["7 and 301"]}, "no coordinate '301'"),
        ({"features": "7"}, "list of conjunctions"),
        ({"k": 3}, "can be enumerated"),
        ({"k": 0}, "k must"),
    ):
        with pytest.raises(RequestError, match=message):
            DecisionListWinnow(**wrong).learn_many(rows[:2], labels[:2])


SCHEMA = Schema.from_dict(
    {
        "columns": {
            "age": {"kind": "numeric", "lower": 0, "upper": 80},
            "ward": {"kind": "categorical", "categories": ["a", "b"]},
            "smokes": {"kind": "boolean"},
        }
    }
)


def test_numbers_and_categories_through_a_schema() -> None:
    coder = SchemaRows.of(SCHEMA, 4)
    points, _ = coder.one({"age": 41.0, "ward": "b", "smokes": None})
    assert points.tolist() == [[1, 1, -1, -1, 1, -1, -1, -1]]
    frame = pd.DataFrame({"age": [41.0, np.nan, -5.0], "ward": ["b", "z", None], "smokes": [None, True, False]})
    many, fine = coder.many(frame)
    assert fine.all()
    for row, point in zip(frame.to_dict("records"), many, strict=True):
        assert np.array_equal(coder.one(row)[0][0], point)


# River.

PHISHING = tuple(next(iter(datasets.Phishing()))[0])
IMAGES = ("brickface", "cement", "foliage", "grass", "path", "sky", "window")
HALVES = Schema.from_dict({"columns": {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in PHISHING}})


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(Winnow(), marks=pytest.mark.slow),
        DecisionListWinnow(),
        pytest.param(Winnow(schema=HALVES, bins=4, horizon=5_000), marks=pytest.mark.slow),
        pytest.param(Winnow(labels=(False, True, *IMAGES), horizon=5_000, seed=3), marks=pytest.mark.slow),
        pytest.param(DecisionListWinnow(schema=HALVES, bins=2, horizon=5_000, k=2), marks=pytest.mark.slow),
        pytest.param(Winnow(columns=PHISHING, invalid="null", horizon=5_000, seed=3), marks=pytest.mark.slow),
    ],
    ids=["default", "default lists", "schema", "classes", "lists", "signs"],
)
def test_rivers_own_checks(model: Winnow) -> None:
    for check in checks.yield_checks(model):
        check(model.clone())


def test_shares_of_votes_are_those_of_the_released_weights() -> None:
    rows, labels = majority_stream(np.random.default_rng(3), 4000, 9, 3)
    for signed in (True, False):
        model = Winnow(epsilon=4.0, horizon=4000, labels=("no", "yes"), signed=signed, constant=False, seed=3,
                       columns=tuple(range(9)))  # fmt: skip
        first = dict(enumerate(rows[0].tolist()))
        untaught = model.clone().predict_proba_one(first)
        assert untaught["yes"] == (0.5 if signed else pytest.approx((rows[0] > 0).mean()))
        model.learn_many(rows, labels)
        assert model.weights_ is not None
        for row in rows[:50]:
            point = dict(enumerate(row.tolist()))
            predictions = model.predict_proba_one(point)
            assert predictions["yes"] == pytest.approx(0.5 + 0.5 * float(model.weights_ @ row))
            assert predictions["yes"] + predictions["no"] == pytest.approx(1.0)
            assert (predictions["yes"] > 0.5) == (model.predict_one(point) == "yes")
    assert np.mean([model.predict_proba_one(dict(enumerate(row)))["yes"] for row in rows[labels > 0]]) > 0.6


def test_one_weight_votes_with_all_it_has() -> None:
    """One coordinate begins with all of the weight, which is 1: its share is 1, and no rows have no classes."""
    model = Winnow(epsilon=4.0, horizon=9, signed=False, constant=False, columns=("x",), seed=3)
    assert model.predict_proba_one({"x": 1}) == {False: 0.0, True: 1.0}
    assert model.predict_proba_one({"x": -1}) == {False: 1.0, True: 0.0}
    model.learn_one({"x": 1}, True)
    assert model.weights_ is not None
    assert model.weights_.tolist() == [1.0]
    assert len(model.predict_many(np.zeros((0, 1), np.int8))) == 0


def test_a_step_that_learns_from_rows_is_refused_in_words() -> None:
    (x, y), *_ = datasets.Phishing()
    scaler, pick = preprocessing.StandardScaler(), compose.Select(*PHISHING[:4])
    for steps, name in (
        (scaler, "StandardScaler"),
        (pick | scaler, "StandardScaler"),
        (pick + scaler, "StandardScaler"),
        (feature_extraction.TargetAgg("empty_server_form_handler", stats.Mean()), "TargetAgg"),
    ):
        for learner in (Winnow(horizon=2_000), Winnow(horizon=2_000, schema=HALVES), DecisionListWinnow()):
            model = steps.clone() | learner.clone()  # a pipeline takes a step in
            with pytest.raises(RequestError, match=f"{name} learns from the rows before .* Nothing was spent"):
                model.learn_one(x, y)
            assert list(model.steps.values())[-1].certificate_ is None
    for steps in (pick, compose.FuncTransformer(lambda row: row), pick + compose.Discard(PHISHING[5])):
        model = steps | Winnow(horizon=2_000)
        model.learn_one(x, y)
        assert list(model.steps.values())[-1].rounds_ == 1


def test_rows_without_a_declaration_are_read_by_a_rule_that_asks_no_row() -> None:
    rows = NumberRows(("a", "b"))
    assert (rows.width, len(rows.coordinates), rows.coordinates[5]) == (22, 22, "a >= 0.3")
    odd: list[Any] = [0.5, -1, True, False, 10**400, -(10**400), math.inf, math.nan, None, "x", "y", "", 1j, [1], {}]
    frame = pd.DataFrame({"a": pd.Series(odd, dtype=object), "b": pd.Series([1.0] * len(odd)), "c": range(len(odd))})
    many, fine = rows.many(frame)
    assert fine.all()
    for value, point in zip(odd, many, strict=True):
        assert np.array_equal(rows.one({"a": value, "b": 1.0, "d": "other"})[0][0], point)
    above = (many[:, :11] > 0).sum(axis=1).tolist()
    assert above[:4] == [6, 3, 7, 5]
    assert above[4:7] == [0, 0, 11]  # what no float holds is missing
    assert above[7:9] == [0, 0]
    assert above[9:12] == [1, 1, 1]
    assert above[12:] == [0, 0, 0]
    assert rows.one({})[0].tolist() == [[-1] * 22]
    lacking, _ = rows.many(frame[["b"]])
    assert (lacking[:, :11] == -1).all()


# Refusals.


def learning() -> tuple[Winnow, np.ndarray, np.ndarray]:
    rows, labels = majority_stream(np.random.default_rng(0), 60, 5, 3)
    model = Winnow(horizon=50, labels=(-1, 1), seed=1)
    model.learn_many(rows[:40], labels[:40])
    return model, rows, labels


def test_bad_rows_are_named_and_leave_the_stream_as_it_was() -> None:
    model, rows, labels = learning()
    assert model._stream is not None
    before = model._stream.secrets()
    row = dict(enumerate(rows[40].tolist()))
    bad: list[tuple[Any, type[Exception], str]] = [
        (lambda: model.learn_one({**row, 0: 0.5}, 1), RowError, "other than -1 and 1"),
        (lambda: model.learn_one({**row, 0: "x"}, 1), RowError, "other than -1 and 1"),
        (lambda: model.learn_one({**row, 9: 1}, 1), RowError, "6 features where the first one had 5"),
        (lambda: model.learn_one({0: 1}, 1), RowError, "1 features"),
        (lambda: model.learn_one(row, None), RowError, "when its label has come"),
        (lambda: model.learn_one(row, 7), RowError, "none of"),
        (lambda: model.learn_many(rows[:2, :4], labels[:2]), RowError, r"\(n, 5\)"),
        (lambda: model.learn_many(rows[:2], labels[:1]), RowError, "a label per row"),
        (lambda: model.learn_many(rows[:2].astype("U2"), labels[:2]), RowError, "numbers or booleans"),
        (lambda: model.learn_many(rows[:2] * 2, labels[:2]), RowError, "other than -1 and 1"),
        (lambda: model.learn_many(rows[:11], labels[:11]), ValueError, "declared for 50 rounds"),
    ]
    for call, kind, message in bad:
        with pytest.raises(kind, match=message):
            call()
    assert model._stream.secrets() == before
    assert model.rounds_ == 40
    model.learn_many(rows[40:50], labels[40:50])
    with pytest.raises(ValueError, match="longer horizon"):
        model.learn_one(row, 1)


def test_bad_rows_can_be_null_rounds() -> None:
    model = Winnow(horizon=50, labels=(-1, 1), seed=1, invalid="null")
    rows, labels = majority_stream(np.random.default_rng(0), 10, 5, 3)
    model.learn_many(rows * 3, labels)
    model.learn_one(dict.fromkeys(range(5), 1), "who knows")
    assert model._stream is not None
    assert model.rounds_ == 11
    assert model._stream.secrets()["machine"]["count"] == 0


@pytest.mark.parametrize("odd", [None, "seven", 10**30, 10**400, 2**63, math.nan, 1 + 2j, [1], b"1", {}])
@pytest.mark.parametrize("kind", ["lists", "frame"])
def test_a_cell_that_is_no_sign_makes_its_own_round_null_and_no_other(odd: object, kind: str) -> None:
    """That a batch is refused would say for sure that the cell is there."""
    rows, labels = majority_stream(np.random.default_rng(0), 10, 5, 3)
    cells: list[list[object]] = [list(map(int, row)) for row in rows]
    cells[3][2] = odd
    table = cells if kind == "lists" else pd.DataFrame(cells, dtype=object if odd == 10**400 else None)
    one = Winnow(horizon=50, labels=(-1, 1), seed=1, invalid="null")
    one.learn_many(table, labels)
    other = Winnow(horizon=50, labels=(-1, 1), seed=1, invalid="null", columns=tuple(range(5)))
    for row, label in zip(cells, labels, strict=True):
        other.learn_one(dict(enumerate(row)), label)
    assert one._stream is not None
    assert other._stream is not None
    assert one.rounds_ == other.rounds_ == 10
    assert one._stream.secrets()["machine"] == other._stream.secrets()["machine"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"neighbouring": "swap"}, "neighbouring"),
        ({"seed": 1.5}, "random_state"),
        ({"schema": SCHEMA.to_dict() | {"unit": {"column": "id", "max_rows": 2}}}, "single rows"),
    ],
)
def test_public_mistakes_cost_nothing(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "stream", 1.0, 1e-6)
    model = Winnow(**{"account": account, **arguments})
    with pytest.raises(RequestError, match=message):
        model.learn_one({"a": 1, "b": -1}, True)
    assert account.spent == 0


# Moving a stream.


@pytest.mark.parametrize("kind", [Winnow, DecisionListWinnow])
def test_a_stream_goes_on_where_it_was_suspended(kind: type[Winnow], tmp_path: Path) -> None:
    rows, labels = majority_stream(np.random.default_rng(6), 4_000, 20, 3)
    model = kind(epsilon=2.0, horizon=4_000, labels=(-1, 1), seed=4)
    model.learn_many(rows[:3_000], labels[:3_000])
    assert model._stream is not None
    secrets = model._stream.secrets()
    path = tmp_path / "stream.json"
    with pytest.warns(UserWarning, match="secrets"):
        model.suspend(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "SECRET" in path.read_text()
    with pytest.raises(StreamClosed):
        model.learn_many(rows[:1], labels[:1])
    assert set(np.unique(model.predict_many(rows[:100]))) <= {-1, 1}
    again = kind.resume(path)
    assert again._stream is not None
    assert again._stream.secrets() == secrets
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        kind.resume(path)
    assert again.rounds_ == 3_000
    again.learn_many(rows[3_000:], labels[3_000:])
    assert again.certificate_ is not None
    assert again.certificate_.verify() == []


def test_files_are_not_overwritten_and_not_confused(tmp_path: Path) -> None:
    model, _, _ = learning()
    taken = tmp_path / "taken.json"
    taken.write_text('{"format": "something else"}')
    with pytest.raises(FileExistsError):
        model.suspend(taken)
    with pytest.raises(ValueError, match="not a suspended stream"):
        Winnow.resume(taken)
    assert taken.exists()
    with pytest.raises(StreamClosed, match="no open stream"):
        Winnow().suspend(tmp_path / "x.json")


def test_a_copy_predicts_and_cannot_learn() -> None:
    model, rows, labels = learning()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict_many(rows), model.predict_many(rows))
        with pytest.raises(StreamClosed, match="a copy"):
            other.learn_many(rows[:1], labels[:1])
    assert model._stream is not None
    machine = model._stream.secrets()["machine"]
    assert machine["sums"] != [0] * 6 or machine["count"] > 0
    assert b"noisy_threshold" not in pickle.dumps(model)
    fresh = copy.deepcopy(Winnow(horizon=50, labels=(-1, 1), seed=1))
    fresh.learn_many(rows[:1], labels[:1])


def test_the_start_predicts_before_the_first_row_as_after_it() -> None:
    rows, labels = majority_stream(np.random.default_rng(0), 40, 5, 3)
    for signed in (True, False):
        model = Winnow(horizon=50, labels=(-1, 1), signed=signed, constant=False, seed=1)
        before = model.predict_many(rows)
        model.learn_many(rows[:1], labels[:1])
        assert np.array_equal(model.predict_many(rows), before)
    assert np.array_equal(before, np.where(rows.sum(axis=1) > 0, 1, -1))


# The lower bound's stream.


@pytest.mark.parametrize("kind", [Winnow, DecisionListWinnow])
def test_no_row_says_which_features_there_are_where_none_may_stop_the_stream(kind: Any) -> None:
    """The first row's keys decided which rows were refused after it, also where no row was to be refused."""
    model = kind(invalid="null")
    with pytest.raises(ValueError, match=r"name them in columns, or declare a schema\. Nothing was spent"):
        model.learn_one({"a": 1}, True)
    assert model.certificate_ is None
    declared = kind(invalid="null", columns=("a", "b"), horizon=50)
    for row in ({"zebra": 1}, {"a": 1, "b": -1, "c": "x"}, {}):
        declared.learn_one(row, True)
    assert declared.rounds_ == 3
    kind(invalid="null", horizon=50).learn_many(np.ones((3, 2), np.int8), [True] * 3)  # a table's width is public
