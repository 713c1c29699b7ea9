"""Fits without a schema: categories and classes are found, paid for, and refused where nothing could pay for them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.additive.estimator import AdditiveBoostClassifier, AdditiveBoostRegressor
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame
from tacit.evaluation.private_selection import PrivateSelection
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import ApproxDP
from tacit.privacy.request import RequestError
from tacit.report.page import render
from tacit.schema import BooleanColumn, CategoricalColumn, NumericColumn
from tacit.trees.estimator import BoostedTreesClassifier, RandomTreesClassifier
from tests import habits
from tests.pairwise import in_turn

LEARNERS = [AdditiveBoostClassifier, BoostedTreesClassifier]


def people(n: int = 6000, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    frame, labels = habits.people(n, seed)
    return frame.assign(seen=pd.Timestamp("2020-01-01")), pd.Series(labels)


@pytest.mark.parametrize(("learner", "relation"), in_turn(list(LEARNERS), [("add_or_remove_one",), ("replace_one",)]))
def test_texts_and_classes_are_found_and_paid_for(learner, relation):
    frame, labels = people()
    model = learner(epsilon=2.0, neighbouring=relation).fit(frame, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(frame, labels) > 0.6
    columns = model.schema_.columns
    assert columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert columns["smokes"] == BooleanColumn()
    assert isinstance(columns["age"], NumericColumn)
    assert model.schema_.features == ("age", "ward", "smokes")
    certificate = model.certificate_
    assert (certificate.epsilon, certificate.delta) == (2.0, 1e-6)
    assert certificate.verify() == []
    leaks = [entry.charge for entry in certificate.entries if isinstance(entry.charge, ApproxDP)]
    assert sum(leak.delta for leak in leaks) == pytest.approx(5e-7)
    spent = {entry.label for entry in certificate.entries}
    assert {"bounds of age", "categories of ward: counts", "classes: counts"} <= spent
    page = render(model.model_, certificate.to_dict())
    assert "categories" in page
    assert "classes" in page


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_only_a_delta_could_pay_for_is_refused_without_one(learner, tmp_path):
    frame, labels = people(200)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6, "add_or_remove_one")
    for table, truth, what in ((frame, labels == "yes", "'ward'"), (frame[["age"]], labels, "classes")):
        with pytest.raises(RequestError, match=what) as caught:
            learner(delta=0.0, account=account).fit(table, truth)
        assert "positive delta" in str(caught.value) or "delta above 0" in str(caught.value)
        assert "othing was spent" in str(caught.value)
    assert account.spent == 0
    numbers = learner(delta=0.0).fit(frame[["age", "smokes"]], labels == "yes")
    assert np.isfinite(numbers.predict_proba(frame[["age", "smokes"]])).all()


def test_a_category_of_one_row_does_not_come_out():
    frame, labels = people(3000)
    frame.loc[7, "ward"] = "a ward of her own"
    labels[7] = "a class of her own"
    for seed in range(5):
        model = AdditiveBoostClassifier(epsilon=8.0, random_state=seed).fit(frame[["age", "ward"]], labels)
        assert "her own" not in str(model.model_.to_dict())


@pytest.mark.parametrize("learner", [AdditiveBoostClassifier, RandomTreesClassifier])
def test_booleans_are_known_and_cost_nothing_to_find(learner: Any):
    frame, labels = people()
    truths = (labels == "yes").to_numpy()
    model = learner(epsilon=1.0, random_state=0).fit(frame[["age"]], pa.chunked_array([truths[:9], truths[9:]]))
    assert model.classes_.tolist() == [False, True]
    again = learner(epsilon=1.0, random_state=0).fit(frame[["age"]], truths)
    assert model.certificate_.charges == again.certificate_.charges
    assert len(again.certificate_.charges) == 1 or learner is RandomTreesClassifier
    assert (model.predict(frame[["age"]]) == again.predict(frame[["age"]])).all()


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [((0, 1), "numpy"), ((1, 2), "list"), ((-1, 1), "objects"), ((0, 1, 2), "categories"), ((1, 2), "arrow")],
)
def test_numbers_are_found_like_texts(numbers: tuple[float, ...], kind: str):
    """Of labels 1 and 2 half would be dropped, and the other half be one class, were they taken for 0 and 1."""
    frame, labels = people()
    places = (labels == "yes").to_numpy().astype(int) + (len(numbers) > 2) * (frame["age"] > 60).to_numpy()
    truth = np.asarray(numbers)[places]
    made = {
        "numpy": lambda: truth,
        "list": truth.tolist,
        "objects": lambda: truth.astype(object),
        "categories": lambda: pd.Series(pd.Categorical(truth)),
        "arrow": lambda: pa.array(truth),
    }[kind]()
    model = AdditiveBoostClassifier(epsilon=4.0, interactions=False).fit(frame[["age"]], made)
    assert model.classes_.tolist() == list(numbers)
    assert len(model.certificate_.charges) == 2
    assert model.score(frame[["age"]], truth) > np.bincount(places).max() / len(places) - 0.05


def test_without_a_delta_classes_are_named():
    frame, labels = people()
    model = AdditiveBoostClassifier(epsilon=1.0, delta=0.0, classes=(0, 1)).fit(
        frame[["age"]], (labels == "yes").to_numpy().astype(int)
    )
    assert model.classes_.tolist() == [0, 1]
    assert len(model.certificate_.charges) == 1


def test_objects_that_are_booleans_are_booleans_again():
    frame, labels = people()
    truth = (labels == "yes").to_numpy()
    for made in (truth.astype(object), pd.Series(pd.Categorical(truth))):
        model = AdditiveBoostClassifier(epsilon=4.0, interactions=False).fit(frame[["age"]], made)
        assert model.classes_.tolist() == [False, True]


@pytest.mark.parametrize("made", ["matrix", "rows", "texts", "objects"])
def test_what_columns_of_no_dtype_hold_is_asked(made: str):
    """Texts beside numbers are no numbers that are missing, and numbers beside gaps are no rare categories."""
    generator = np.random.default_rng(0)
    numbers, texts = generator.random(2000), generator.choice(["u", "v"], 2000)
    frame = pd.DataFrame({"a": numbers, "t": texts, "zip": "0" + pd.Series(1000 + numbers * 3).astype(int).astype(str)})
    table: Any = frame[["a", "t"]]
    if made == "objects":
        table = frame.assign(
            a=frame["a"].astype(object).where(frame.index % 50 > 0, None), zip=frame["zip"].astype(object)
        )
    elif made != "matrix":
        table = table.to_numpy().tolist() if made == "rows" else table.to_numpy().astype(str)
    else:
        table = table.to_numpy()
    truth = np.where(numbers + (texts == "u") > 1, "yes", "no")
    model = AdditiveBoostClassifier(epsilon=4.0, interactions=False).fit(table, truth)
    kinds = [column.kind for column in model.schema_.columns.values()]
    assert kinds == ["numeric", "categorical"] + ["categorical"] * (made == "objects")  # a postcode is a text
    assert model.score(table, truth) > 0.9


def test_declared_columns_and_unknown_classes():
    frame, labels = people()
    schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
    model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(frame, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.certificate_.schema_fingerprint is not None
    assert model.score(frame, labels) > 0.58


def test_one_class_alone_is_a_model_too():
    frame, _ = people(500)
    model = AdditiveBoostClassifier(epsilon=1.0).fit(frame, np.full(500, "yes"))
    assert "yes" in model.classes_
    assert np.isfinite(model.predict_proba(frame)).all()
    for truth in (np.array([f"{i}" for i in range(500)]), np.array(["x"] * 3)):
        few = AdditiveBoostClassifier(epsilon=1.0).fit(frame.head(len(truth)), truth)
        assert np.isfinite(few.predict_proba(frame)).all()


def test_no_privacy_finds_everything():
    frame, labels = people(300)
    model = AdditiveBoostClassifier(epsilon=math.inf, delta=0.0).fit(frame, labels)
    assert model.schema_.columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert model.classes_.tolist() == ["no", "yes"]


def test_a_table_of_dates_is_refused():
    frame, labels = people(50)
    with pytest.raises(RequestError, match="no column to learn from"):
        AdditiveBoostClassifier().fit(frame[["seen"]], labels)


def test_other_learners_take_texts_for_numbers_and_say_so():
    frame, labels = people(50)
    learner = HalfspaceBoostClassifier(classes=["no", "yes"])
    with pytest.raises(FrameError, match="'seen' is numeric"):
        learner.fit(frame, labels)
    with pytest.warns(UserWarning, match="'ward' came as texts"):
        learner.fit(frame.drop(columns="seen"), labels)


def test_a_search_does_not_discover(tmp_path):
    frame, labels = people(100)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 1.0, 1e-6, "add_or_remove_one")
    candidates = [AdditiveBoostClassifier(interactions=kind) for kind in (True, False)]
    search = PrivateSelection(candidates, epsilon=1.0, account=account)
    with pytest.raises(RequestError, match="'ward'"):
        search.fit(frame[["age", "ward"]], labels)
    with pytest.raises(RequestError, match="a search does not look for them"):
        search.fit(frame[["age"]], labels)
    assert account.spent == 0


def test_texts_of_an_untyped_table_are_asked_whether_they_are_numbers():
    frame, labels = people()
    table = pl.from_pandas(frame[["age", "ward"]].astype(str)).to_arrow()
    untyped = Frame({name: table[name].dictionary_encode() for name in table.column_names}, len(frame), untyped=True)
    model = AdditiveBoostClassifier(epsilon=4.0).fit(untyped, labels)
    assert isinstance(model.schema_.columns["age"], NumericColumn)
    assert model.schema_.columns["ward"] == CategoricalColumn(("a", "b", "c"))
    assert model.score(frame, labels) > 0.58


def test_regression_finds_categories_and_the_targets_bounds():
    frame, _ = people()
    generator = np.random.default_rng(1)
    target = 10.0 * (frame["ward"] == "b") + 0.1 * frame["age"] + generator.normal(size=len(frame))
    for bounds in ((0, 25), None):
        model = AdditiveBoostRegressor(epsilon=4.0, target_bounds=bounds).fit(frame, target)
        assert model.schema_.columns["ward"] == CategoricalColumn(("a", "b", "c"))
        assert model.score(frame, target) > 0.6
        assert model.certificate_.verify() == []
        assert model.certificate_.epsilon == 4.0
    with pytest.raises(RequestError, match="'ward'"):
        AdditiveBoostRegressor(delta=0.0).fit(frame, target)
    listed = AdditiveBoostRegressor(epsilon=4.0, target_bounds=(0, 25)).fit(frame[["age"]], target.tolist())
    assert len(listed.certificate_.charges) == 1


def test_several_classes_are_found_with_weights_or_without_and_by_trees():
    frame, _ = people()
    labels = np.where(frame["age"] < 30, "young", np.where(frame["ward"] == "b", "b", "other"))
    several = AdditiveBoostClassifier(epsilon=4.0).fit(frame, labels)
    assert several.score(frame, labels) > 0.8
    balanced = AdditiveBoostClassifier(epsilon=4.0, class_weight="balanced").fit(frame, labels)
    weighted = AdditiveBoostClassifier(epsilon=4.0).fit(frame, labels, sample_weight=np.ones(len(frame)))
    trees = BoostedTreesClassifier(epsilon=4.0).fit(frame, labels)
    for model in (several, balanced, weighted, trees):
        assert model.classes_.tolist() == ["b", "other", "young"]
        assert model.certificate_.verify() == []
        assert model.certificate_.epsilon == 4.0


def test_classes_in_no_declared_order_have_no_direction():
    """A scale needs an order: where columns are declared monotone and classes are found, two are told apart."""
    frame, _ = people()
    labels = np.where(frame["age"] < 30, "young", np.where(frame["ward"] == "b", "b", "other"))
    columns = {"age": {"kind": "numeric", "lower": 0, "upper": 100, "monotone": "increasing"}}
    model = AdditiveBoostClassifier(epsilon=4.0, schema={"columns": columns}).fit(frame, labels)
    assert model.classes_.tolist() == ["other", "young"]


@pytest.mark.parametrize("kind", [list, lambda labels: np.array(labels, object)])
@pytest.mark.parametrize(
    ("spellings", "classes"),
    [
        (("1", "1.0", "0"), [0, 1]),
        (("+1", "1", "-1"), [-1, 1]),
        (("01", "1e0", "2.50", "2.5"), [1, 2.5]),
        (("1", "1.0"), [0, 1]),
        (("3", "3.0"), ["(other)", 3]),
        (("(other)",), ["((other))", "(other)"]),
    ],
)
def test_classes_that_read_alike_are_one(kind, spellings, classes, tmp_path):
    generator = np.random.default_rng(0)
    labels = [str(label) for label in generator.choice(spellings, 3000)]
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 8.0, 1e-6)
    fitted = AdditiveBoostClassifier(epsilon=8.0, account=account).fit(generator.normal(size=(3000, 1)), kind(labels))
    assert fitted.classes_.tolist() == np.asarray(classes).tolist()
