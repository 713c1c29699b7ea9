"""Choices among models of numbers: bounded utilities, the right law and price, and the better model where it shows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import mean_pinball_loss

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.encoding.frames import Frame
from tacit.encoding.inputs import numbers_of
from tacit.engines.blocks import MemoryTable
from tacit.evaluation.private_score import private_score
from tacit.evaluation.private_selection import PrivateSelection
from tacit.evaluation.select_model import THEOREM, choose, select_model
from tacit.evaluation.utility import NUMBER_CRITERIA, NUMBER_LEVELS, Criterion, judges_of, utility_encoding
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import BoundedRange
from tacit.privacy.ledger import BudgetExceeded
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema
from tests.evaluation.scores import Known, refused, search
from tests.evaluation.test_selection import NUMBERS as SCHEMA
from tests.evaluation.test_selection import Recorder
from tests.evaluation.test_selection import of_numbers as candidates
from tests.evaluation.test_selection import products as rows
from tests.pairwise import in_turn
from tests.seen import Seen, seen_numbers

BOUNDS = (-4.0, 4.0)


class Says:
    """A regressor whose predictions stand in a column."""

    def __init__(self, column: str) -> None:
        self.column = column

    def predict(self, rows):
        return np.asarray(rows[self.column], np.float64)


def judged(targets, said, name, clip=None, quantile=None):
    """Levels of rows for models that say a, b, ..., shape ``(rows, models)``."""
    said = np.asarray(said, np.float64).reshape(len(targets), -1)
    frame = {str(k): column for k, column in enumerate(said.T)}
    judges = judges_of([Says(k) for k in frame], None, Criterion(name, quantile, BOUNDS, clip))
    rows = Frame(dict(frame), len(targets))
    return np.stack([judge.utilities(rows, frame, np.asarray(targets, np.float64)) for judge in judges], axis=1)


def sums(levels):
    """Scores of the candidates as the mechanism sees them, and the selection."""
    columns = utility_encoding(("x",), NUMBER_LEVELS).encoders[0].n_codes
    codes = [column.astype(np.uint16) for column in levels.T]
    table = MemoryTable(codes, np.zeros(len(levels), np.uint8), [columns] * len(codes), 2)
    recorder = Recorder(table)
    choose(recorder, len(codes), NUMBER_LEVELS, BoundedRange(1.0), "test")
    return recorder.scores[0], recorder.selection


ANY = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-5, 5),
    st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -4.0, 4.0, 0.0]),
)


@given(
    st.lists(st.tuples(ANY, ANY, ANY), min_size=2, max_size=5),
    st.sampled_from(NUMBER_CRITERIA),
    st.sampled_from([None, 0.01, 1.0, 8.0]),
    st.sampled_from([0.01, 0.5, 0.9]),
)
def test_no_row_moves_the_sums_apart_by_more_than_is_charged(rows, name, clip, quantile):
    """Whatever targets and predictions are; the last two rows are the ones by which neighbours differ."""
    rows = np.array(rows)
    levels = judged(rows[:, 0], rows[:, 1:], name, clip, quantile if name == "pinball" else None)
    assert levels.min() >= 0
    assert levels.max() <= NUMBER_LEVELS
    with_one, selection = sums(levels[:-1])
    without, _ = sums(levels[:-2])
    other, _ = sums(np.delete(levels, -2, axis=0))
    for relation, moved in (
        (Neighbouring.ADD_OR_REMOVE_ONE, with_one - without),
        (Neighbouring.REPLACE_ONE, with_one - other),
    ):
        assert moved.max() - moved.min() <= selection.score_range(relation)


@pytest.mark.parametrize("name", NUMBER_CRITERIA)
def test_the_bound_is_reached(name):
    """A range 10 % smaller would not do: one row may say everything for one model and nothing for another."""
    levels = judged([4.0, 4.0, -4.0], [[0, 0], [4, -4], [4, -4]], name, None, 0.5 if name == "pinball" else None)
    one, selection = sums(levels[:1])
    added, _ = sums(levels[:2])
    replaced, _ = sums(levels[[0, 2]])
    assert np.ptp(added - one) > 0.9 * selection.score_range(Neighbouring.ADD_OR_REMOVE_ONE)
    assert np.ptp(added - replaced) > 0.9 * selection.score_range(Neighbouring.REPLACE_ONE)
    assert selection.movement == NUMBER_LEVELS
    assert selection.theorem == THEOREM


@pytest.mark.parametrize("clip", [None, 0.5])
@pytest.mark.parametrize("name", NUMBER_CRITERIA)
def test_utilities_are_the_loss_that_a_row_does_not_make(name, clip):
    generator = np.random.default_rng(0)
    targets, said = generator.normal(size=(2, 500)) * 2
    said[:3], targets[3:6] = (math.nan, math.inf, -9.0), (math.nan, math.inf, -math.inf)
    levels = judged(targets, said, name, clip, 0.9 if name == "pinball" else None)[:, 0] / NUMBER_LEVELS
    reach = clip or 8.0
    error = np.clip(np.clip(targets, *BOUNDS) - np.clip(np.where(np.isnan(said), 0.0, said), *BOUNDS), -reach, reach)
    for row in (0, 50, 499):
        loss = {
            "mse": (error[row] / reach) ** 2,
            "mae": abs(error[row]) / reach,
            "pinball": mean_pinball_loss([error[row]], [0.0], alpha=0.9) / (0.9 * reach),
        }[name]
        assert levels[row] == pytest.approx(1 - loss, abs=1 / NUMBER_LEVELS)
    assert (levels[3:6] == 0).all()
    (judge,) = judges_of([Says("0")], None, Criterion(name, None if name != "pinball" else 0.5, BOUNDS, clip))
    assert (judge.known(targets)[:8] == [0, 0, 0, -1, -1, -1, 0, 0]).all()


def world(n, seed=0):
    """Three predictions: with errors of .5, of 1, and of .5 with a shift of 1."""
    generator = np.random.default_rng(seed)
    targets = generator.normal(size=n)
    errors = generator.normal(size=(2, n))
    return {"good": targets + errors[0] / 2, "bad": targets + errors[1], "high": targets + errors[0] / 2 + 1}, targets


MODELS = [Says("bad"), Says("good"), Says("high")]


@pytest.mark.parametrize(
    ("criterion", "relation"), in_turn([None, "mae", "pinball"], [("add_or_remove_one",), ("replace_one",)])
)
def test_the_better_model_is_found_and_the_price_is_what_was_asked(criterion, relation, tmp_path):
    X, y = world(6000)
    y[:5] = math.nan
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 0.6, 1e-6, relation)
    options = {"criterion": criterion, "target_bounds": BOUNDS, "account": account, "neighbouring": relation}
    if criterion == "pinball":
        options |= {"quantile": 0.95, "error_clip": 2.0}
    result = select_model(MODELS, X, y, 0.5, **options)
    assert result.index == (2 if criterion == "pinball" else 1)
    assert result.certificate.verify() == []
    assert accountants.epsilon(result.certificate.charges, 1e-6) <= 0.5
    assert [(type(e.charge), e.theorem) for e in result.certificate.entries] == [(BoundedRange, THEOREM)]
    assert (criterion or "mse") in result.certificate.entries[0].label
    with pytest.raises(BudgetExceeded):
        select_model(MODELS, X, y, 0.5, **options)
    assert select_model(MODELS, {k: v[:0] for k, v in X.items()}, y[:0], 0.1, target_bounds=BOUNDS).index in (0, 1, 2)


def test_a_narrow_clip_tells_apart_what_a_wide_one_cannot():
    X, y = world(300)
    wide, narrow = (
        [select_model(MODELS[:2], X, y, 0.2, random_state=s, target_bounds=(-400, 400), error_clip=c).index
         for s in range(40)]
        for c in (None, 2.0)
    )  # fmt: skip
    assert np.mean(narrow) > 0.95 > np.mean(wide)


@pytest.mark.parametrize(
    ("models", "change", "message"),
    [
        (MODELS[:1], {}, "at least two"),
        ([Says("good"), Known()], {}, "of classes and some of numbers"),
        (MODELS, {"criterion": "accuracy"}, "mae, mse, pinball"),
        (MODELS, {"criterion": "pinball"}, "needs quantile"),
        (MODELS, {"criterion": "mse", "quantile": 0.5}, "belongs to"),
        (MODELS, {"quantile": 1.5}, r"quantile must be .*a number in \(0, 1\)"),
        (MODELS, {"target_bounds": None}, "target_bounds"),
        (MODELS, {"target_bounds": (4, -4)}, "lower one first"),
        (MODELS, {"error_clip": 9}, "error_clip must lie"),
        ([Known(), Known()], {}, "target_bounds is about numbers"),
        ([AdditiveBoostRegressor(schema=SCHEMA)] * 2, {}, "was not fitted"),
    ],
)
def test_mistakes_of_a_choice_cost_nothing(models, change, message, tmp_path):
    refused(message, tmp_path, select_model, models, *world(30), **{"target_bounds": BOUNDS} | change)


def searched(X, y, **options):
    PrivateSelection(candidates(2), **options).fit({"a": X["good"], "b": X["bad"]}, y)


def searched_classes(X, y, **options):
    PrivateSelection([AdditiveBoostClassifier(classes=[0, 1])] * 2, **options).fit({"a": X["good"]}, y)


def chosen(X, y, **options):
    select_model(MODELS, X, y, target_bounds=BOUNDS, **options)


def chosen_classes(X, y, **options):
    select_model([Known(), Known()], X, y, **options)


def scored(X, y, **options):
    private_score(MODELS[0], X, y, target_bounds=BOUNDS, **options)


def scored_classes(X, y, **options):
    private_score(Known(), X, y, **options)


DOORS = [searched, searched_classes, chosen, chosen_classes, scored, scored_classes]


@pytest.mark.parametrize("door", DOORS)
def test_no_label_is_read_before_the_charge_is_durable(door, tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.05, 1e-6)
    X = world(30)[0] | {"p": np.full(30, 0.5)}
    for labels in (seen_numbers(30), list(seen_numbers(30))):
        Seen.looks = 0
        if account.spent == 0:
            door(X, labels, epsilon=1.0, account=account)
            assert Seen.looks >= 29
            Seen.looks = 0
        with pytest.raises(BudgetExceeded):
            door(X, labels, epsilon=1.0, account=account)
        assert Seen.looks == 0


@pytest.mark.parametrize("door", DOORS)
def test_labels_of_a_kind_that_cannot_be_cost_nothing(door, tmp_path):
    """The dtype is public; what a list holds is not, and never raises."""
    X, y = world(30)
    X |= {"p": np.full(30, 0.5)}
    refused("dtype", tmp_path, door, X, y.astype("datetime64[s]"))
    door(X, [*y[:-3].tolist(), "?", 1j, [1.0]], epsilon=1.0)


def test_a_search_hears_what_fits_would_refuse_before_it_pays(tmp_path):
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 5.0, 1e-6)
    X, y = rows(30)
    for wrong in ({"a": X["a"]}, X | {"b": X["b"].astype("datetime64[s]")}):
        with pytest.raises(ValueError, match="'b'"):
            PrivateSelection(candidates(2), account=account).fit(wrong, y)
        with pytest.raises(ValueError, match="'b'"):
            private_score(candidates(1)[0].fit(X, y), wrong, y, account=account)
    assert account.spent == 0


def test_targets_of_texts_are_read_as_the_numbers_that_they_spell():
    """One odd cell makes texts of a whole column, so that a dtype of texts refuses nothing (decision 14)."""
    X, y = world(30)
    y = np.round(np.asarray(y, np.float64), 3)
    ask = {"target_bounds": BOUNDS, "random_state": 0}
    results = [select_model(MODELS, X, given, 1.0, **ask) for given in (y, y.astype(str))]
    assert results[0].certificate.entries == results[1].certificate.entries
    assert results[0].index == results[1].index


@pytest.mark.parametrize("odd", ["?", None, "12 apples", [1.0, 2.0], np.datetime64("2020-01-01"), 1j, b"?"])
def test_what_an_object_holds_never_raises(odd):
    """A vector of objects has no public dtype: each is a number by itself, or a row without a target."""
    X, y = world(3000)
    targets = y.astype(object)
    targets[0], targets[1] = odd, True
    result = select_model(MODELS, X, targets, 1.0, target_bounds=BOUNDS, random_state=0)
    assert result.index == 1
    numbers = numbers_of(targets)
    assert np.isnan(numbers[0])
    assert (numbers[1:] == [1.0, *y[2:]]).all()


def test_bytes_are_the_number_that_they_spell():
    assert numbers_of(np.array([b"1", " 2.5", 3], object)).tolist() == [1.0, 2.5, 3.0]


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame, dict])
@pytest.mark.parametrize("learner", [HalfspaceBoostClassifier(row_norm=1.0, classes=(0, 1)), AdditiveBoostClassifier()])
def test_an_estimator_is_checked_on_any_table(learner, kind):
    matrix = np.random.default_rng(0).normal(size=(60, 2))
    learner.fit(matrix, np.arange(60) % 2)
    table = {f"x{k}": column for k, column in enumerate(matrix.T)} if kind is dict else kind(matrix)
    if kind is pd.DataFrame:
        table.columns = ["x0", "x1"]
    if kind is not dict or isinstance(learner, AdditiveBoostClassifier):
        assert private_score(learner, table, np.arange(60) % 2).certificate.verify() == []


def test_models_of_different_bounds_or_quantiles_ask_for_a_measure():
    X, y = rows(300)
    other = Schema.from_dict(SCHEMA.to_dict() | {"label": {"column": "y", "kind": "numeric", "lower": -8, "upper": 8}})
    fitted = [
        AdditiveBoostRegressor(schema=s, loss=loss, quantile=q, epsilon=4.0).fit(X, y).model_
        for s, loss, q in ((SCHEMA, "squared", 0.5), (other, "squared", 0.5), (SCHEMA, "quantile", 0.9))
    ]
    with pytest.raises(ValueError, match="different bounds"):
        select_model(fitted[:2], X, y)
    assert select_model(fitted[:2], X, y, target_bounds=BOUNDS).index in (0, 1)
    with pytest.raises(ValueError, match=r"means, the quantile 0\.9"):
        select_model([fitted[0], fitted[2]], X, y)
    result = select_model([fitted[0], fitted[2]], X, y, math.inf, quantile=0.9)
    assert "pinball" in result.certificate.entries[0].label


# Searches.


def test_a_search_is_what_its_candidates_are():
    search = PrivateSelection(candidates(2), epsilon=4.0)
    assert is_regressor(search)
    assert not is_classifier(search)
    assert not hasattr(search, "predict_proba")
    classes = PrivateSelection([AdditiveBoostClassifier()] * 2)
    assert is_classifier(classes)
    assert hasattr(classes, "predict_proba")
    search = clone(search).fit(*rows(500))
    assert not hasattr(search, "classes_")
    assert search.predict(rows(10)[0]).shape == (10,)


@pytest.mark.parametrize("strategy", ["each", pytest.param("random_stopping", marks=pytest.mark.slow)])
def test_quantiles_are_judged_by_their_own_loss(strategy):
    X, y = rows(2000)
    search = PrivateSelection(candidates(2, loss="quantile", quantile=0.9), 8.0, strategy=strategy, random_state=0)
    search.fit(X, y)
    assert search.certificate_.verify() == []
    if strategy == "each":
        assert any("pinball" in entry.label for entry in search.certificate_.entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": [*candidates(1), AdditiveBoostClassifier(schema=SCHEMA)]}, "of classes and some of numbers"),
        ({"candidates": candidates(2, schema=None)}, "does not look for them"),
        ({"candidates": [AdditiveBoostRegressor(target_bounds=(0, b)) for b in (1, 2)]}, "different bounds"),
        ({"candidates": candidates(2, loss="quantile", quantile=7)}, r"quantile must be .*a number in \(0, 1\)"),
        ({"candidates": [*candidates(1), *candidates(1, loss="quantile")]}, "about different things"),
        ({"candidates": candidates(2, loss="cubic")}, "loss must be"),
        ({"criterion": "log_loss"}, "mae, mse, pinball"),
        ({"criterion": "pinball"}, "needs quantile"),
        ({"error_clip": -1}, "error_clip must lie"),
    ],
)
def test_mistakes_of_a_search_cost_nothing(change, message, tmp_path):
    refused(message, tmp_path, search, *rows(20), **{"candidates": candidates(2)} | change)


def test_undeclared_columns_need_no_schema_where_they_are_numbers():
    X, y = rows(500)
    search = PrivateSelection(candidates(2, schema=None, target_bounds=BOUNDS), epsilon=4.0, random_state=0).fit(X, y)
    assert search.certificate_.verify() == []
    assert np.abs(search.predict(X)).max() <= 4
