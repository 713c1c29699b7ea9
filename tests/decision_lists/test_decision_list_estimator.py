"""`DecisionListClassifier`: what it learns, what it costs, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tacit import DecisionListClassifier, PrivacyAccount, Schema
from tacit.decision_lists import plan as planning
from tacit.decision_lists.learner import feature_candidates
from tacit.decision_lists.literals import candidates
from tacit.decision_lists.plan import PureFirst
from tacit.encoding.grid import NumericGrid
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.models.decision_list import DecisionListModel
from tacit.privacy import accountants
from tacit.privacy.charges import Laplace
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.cover import widest_shifts
from tacit.theory.decision_lists import paper_learner_rows
from tacit.theory.em_cover import paper_score_scale
from tests.habits import SCHEMA
from tests.pairwise import in_turn


def people(n: int = 6000, seed: int = 0, noise: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Labelled by "if age >= 60 then yes, else if ward is b and smokes is true then yes, else no"."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": generator.uniform(0, 100, n),
            "ward": generator.choice(["a", "b", "c"], n),
            "smokes": generator.random(n) < 0.5,
        }
    )
    truth = (frame["age"] >= 60) | ((frame["ward"] == "b") & frame["smokes"])
    return frame, np.where(truth ^ (generator.random(n) < noise), "yes", "no")


@pytest.mark.parametrize("neighbouring", ["add_or_remove_one", "replace_one"])
def test_it_finds_the_list(neighbouring: str) -> None:
    frame, labels = people()
    model = DecisionListClassifier(neighbouring=neighbouring, schema=SCHEMA, random_state=1).fit(frame, labels)
    test, truth = people(seed=9)
    assert model.score(test, truth) > 0.97
    assert len(model.model_.rules) <= 10  # 4.9 with a deviation of .7 over 30 seeds
    assert model.certificate_.verify() == []
    for rule in model.model_.rules:
        decided = model.model_.decide(model.frame_for_model(frame)) == model.model_.rules.index(rule)
        assert rule.support == pytest.approx(decided.sum(), abs=130)  # the largest error of a list is 26, deviation 15


def test_a_rule_says_the_class_of_most_of_its_rows_and_its_model_predicts_what_the_estimator_does() -> None:
    for seed in range(4):
        frame, labels = people(600, seed, noise=0.1)
        fitted = DecisionListClassifier(epsilon=0.7, schema=SCHEMA, random_state=seed).fit(frame, labels)
        for rule in fitted.model_.rules:
            assert rule.counts is not None
            assert rule.counts.argmax() == rule.outcome or not rule.counts.any()
        loaded = DecisionListModel.from_body(fitted.model_.body())
        predictions = loaded.predict(frame)
        assert np.array_equal(fitted.predict(frame), predictions)
        assert np.array_equal(fitted.classes_[fitted.predict_proba(frame).argmax(axis=1)], predictions)


@pytest.mark.slow
def test_the_papers_schedule_learns_a_realizable_list() -> None:
    frame, labels = people(3000)
    arguments = {"schema": SCHEMA, "random_state": 3, "k": 1, "thresholds": 9, "max_rules": None, "objective": "errors"}
    for analysis in ("paper", "sharp"):
        model = DecisionListClassifier(8.0, analysis=analysis, **arguments).fit(frame, labels)
        assert model.score(frame, labels) > 0.8
        assert [entry.label for entry in model.certificate_.entries] == ["rules", "rows that each rule decides"]
    assert "one-sided" in model.certificate_.entries[0].theorem or "moments" in model.certificate_.entries[0].theorem
    without = DecisionListClassifier(8.0, counts_share=0.0, **arguments).fit(frame, labels)
    assert without.model_.rules[-1].conditions == ()
    assert without.score(frame, labels) > 0.7


def test_pure_privacy_and_none() -> None:
    frame, labels = people()
    pure = DecisionListClassifier(delta=0.0, schema=SCHEMA, random_state=1).fit(frame, labels)
    assert pure.certificate_.delta == 0
    assert pure.score(frame, labels) > 0.9
    exact = DecisionListClassifier(epsilon=math.inf, schema=SCHEMA).fit(frame, labels)
    assert exact.score(frame, labels) > 0.999
    assert not exact.certificate_.releasable


def test_users_own_features() -> None:
    frame, labels = people()
    model = DecisionListClassifier(
        schema=SCHEMA, random_state=1, features=["age >= 60", "ward is b and smokes is true", "age is missing"]
    ).fit(frame, labels)
    assert model.model_.lines()[0].startswith("if age >= 60 then yes")
    assert model.score(frame, labels) > 0.99


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ("age above 3", "is not a condition"),
        ("height >= 3", "no column 'height'"),
        ("age >= old", "not a number"),
        ("age >= 300", "not between the bounds"),
        ("ward is d", "not declared"),
        ("ward >= 3", "not declared"),
        ("age is 3", ">= or <"),
    ],
)
def test_features_that_cannot_be_read_are_named(feature: str, message: str) -> None:
    frame, labels = people(50)
    with pytest.raises(RequestError, match=message):
        DecisionListClassifier(schema=SCHEMA, features=["age < 50", feature]).fit(frame, labels)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts_share": 1.0}, "counts_share"),
        ({"analysis": "paper", "objective": "errors", "epsilon": 60.0}, "1.2564"),
        ({"analysis": "exact"}, "one-sided"),
        ({"k": 9}, "lower k"),
        ({"schema": None, "features": ["x0 >= 3"]}, "schema"),
        ({"schema": None, "max_rules": None}, "schema"),
    ],
)
def test_public_mistakes_cost_nothing(arguments: dict, message: str, tmp_path) -> None:
    frame, labels = people(50)
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/a.db", "people", 100.0, 1e-6)
    estimator = DecisionListClassifier(**{"schema": SCHEMA, "account": account, "classes": (0, 1), **arguments})
    table = frame if estimator.schema is not None else frame[["age"]]
    with pytest.raises(RequestError, match=message):
        estimator.fit(table, labels)
    assert account.spent == 0
    with pytest.raises(RequestError, match="Nothing was spent"):
        estimator.fit(table, labels)


def test_units_of_several_rows_are_paid_by_ranges() -> None:
    schema = SCHEMA.to_dict() | {"unit": {"column": "person", "max_rows": 2}}
    frame, labels = people()
    frame["person"] = np.arange(len(frame)) // 2
    model = DecisionListClassifier(epsilon=3.0, schema=Schema.from_dict(schema), random_state=1).fit(frame, labels)
    assert "bounded range" in model.certificate_.entries[0].theorem
    assert "2 rows per unit" in model.certificate_.entries[1].theorem
    assert model.score(frame, labels) > 0.9


def test_three_classes() -> None:
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": ["u", "v", "w"]},
            "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 3}},
        }
    )
    x = np.random.default_rng(0).uniform(0, 3, 4000)
    labels = np.array(["u", "v", "w"])[x.astype(int)]
    model = DecisionListClassifier(schema=schema, random_state=1).fit(pd.DataFrame({"x": x}), labels)
    assert model.score(pd.DataFrame({"x": x}), labels) > 0.9
    assert model.predict_proba(pd.DataFrame({"x": x})).shape == (4000, 3)


def test_from_theorem_asks_for_enough_rows() -> None:
    with pytest.raises(RequestError, match=r"asks for \d+ rows"):
        DecisionListClassifier.from_theorem(0.1, 0.1, n=1000, schema=SCHEMA, thresholds=9)
    estimator = DecisionListClassifier.from_theorem(0.2, 0.1, n=10**7, schema=SCHEMA, thresholds=9)
    assert (estimator.analysis, estimator.objective, estimator.max_rules) == ("paper", "errors", None)
    frame, labels = people(500)
    assert estimator.fit(frame, labels).certificate_.epsilon == 1.0


def test_from_theorem_asks_for_the_rows_that_the_relation_needs() -> None:
    """Under replace-one Lemma A.1 is used twice, so choices are half as strong and twice the rows are needed."""
    columns = {f"x{j}": {"kind": "boolean"} for j in range(40)}
    schema = {"label": {"column": "y", "classes": [0, 1]}, "columns": columns}

    def rows(neighbouring: str) -> int:
        with pytest.raises(RequestError, match="asks for") as caught:
            DecisionListClassifier.from_theorem(0.05, 0.05, n=1, epsilon=0.1, schema=schema, neighbouring=neighbouring)
        return int(str(caught.value).split("asks for ")[1].split()[0])

    one, other = rows("add_or_remove_one"), rows("replace_one")
    count = 5 * len(columns) + 1
    expected = paper_learner_rows(count, 0.05, 0.05, paper_score_scale(0.1, 1e-6))
    strength = 0.1 / (2 * (math.log(1e6) + 1.5))
    assert expected == pytest.approx(2 / 0.05 * 2 * count / strength * math.log(count * math.sqrt(2 / 0.025)))
    assert one == pytest.approx(expected, rel=1e-3)  # a fiftieth of the rows would not do
    assert 2.0 < other / one < 2.2


@pytest.mark.parametrize("settled", [{"counts_share": 0.5}, {"max_rules": 2}, {"objective": "coverage"}])
def test_from_theorem_refuses_what_the_theorem_settles(settled: dict[str, object]) -> None:
    with pytest.raises(RequestError, match=f"{next(iter(settled))} is settled by the theorem"):
        DecisionListClassifier.from_theorem(0.2, 0.1, n=10**9, schema=SCHEMA, **settled)


# The plan.


def spending(**changes) -> planning.Request:
    values = {
        "epsilon": 1.0, "delta": 1e-6, "neighbouring": Neighbouring.ADD_OR_REMOVE_ONE, "n_steps": 8,
        "errors_only": False, "analysis": "sharp", "counts_share": 0.2, **changes,
    }  # fmt: skip
    return planning.ListBudget(**values)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"errors_only": True},
        {"errors_only": True, "n_steps": 300},
        {"neighbouring": Neighbouring.REPLACE_ONE, "epsilon": 0.1},
        {"delta": 0.0},
        {"analysis": "paper", "errors_only": True},
        {"analysis": "curve"},
        {"rows_per_unit": 3, "epsilon": 4.0},
        {"counts_share": 0.0},
        {"fixed": (Laplace(20.0),)},
    ],
)
def test_a_plan_spends_the_request_and_not_more(changes: dict) -> None:
    request = spending(**changes)
    plan = planning.plan_of(request)
    cost = accountants.epsilon(plan.charges, request.delta)
    assert 0.999 * request.epsilon < cost <= request.epsilon


@pytest.mark.parametrize(("pure", "knee", "beyond"), [((), 0, 0), ((16,), 0, 0), ((32, 16), 0, 0), ((8,), 2, 32)])
def test_scores_that_follow_what_was_released_move_as_they_promise(
    pure: tuple[int, ...], knee: int, beyond: int
) -> None:
    """The property of Lemma A.1, at every step and stage; attained, so a promise a tenth smaller is broken."""
    for step in range(10):
        attained = []
        for chosen in range(step + 1):
            family = PureFirst(step, 8, pure, 4.0 ** (1 - step / 9), 7, knee, beyond)
            shifts = widest_shifts(family, 3, 3, ((0, 0),) * chosen)
            assert family.shifts.low <= shifts.low
            assert shifts.high <= family.shifts.high
            attained.append((shifts.low, shifts.high))
        assert min(low for low, _ in attained) == family.shifts.low
        assert max(high for _, high in attained) == family.shifts.high


# Candidates.


def test_all_conjunctions_without_contradictions_or_repetitions() -> None:
    encoders = (NumericGrid(0, 10, 5), CategoryIndex(("a", "b")), BooleanIndex())
    result = candidates(encoders, 2, 16, 2, constant=True)
    texts = {
        " and ".join(c.text("xyz"[c.feature], encoders[c.feature]) for c in result.conditions_of(i))
        for i in range(len(result.conjunctions))
    }
    assert len(texts) == len(result.conjunctions)
    assert {"", "x >= 2", "x < 4 and z is true", "x >= 2 and x < 6", "y is missing"} <= texts
    assert not {"x >= 4 and x < 2", "x < 2 and x < 4", "y is a and y is b", "y is a and y is not b"} & texts
    assert (result.conjunctions.members[0] == -1).all()
    literals = sum(1 for text in texts if text and " and " not in text)
    assert literals == 2 * 4 + 1 + 2 * 2 + 1 + 2 * 2 + 1


def test_conditions_mean_the_same_before_and_after_coarsening() -> None:
    encoders = (NumericGrid(0, 10), CategoryIndex(("a", "b")))
    values = np.random.default_rng(0).uniform(-1, 11, 500)
    values[:20] = np.nan
    fine = encoders[0].encode(values)
    for found in (
        candidates(encoders, 1, 16, 2, constant=False),
        feature_candidates(["x >= 2.5 and y is a", "x < 7", "x is not missing"], "xy", encoders, constant=False),
    ):
        assert found.maps[0] is not None
        coarse = found.maps[0][fine]
        for literal, condition in enumerate(found.conditions):
            if condition.feature == 0:
                truth = found.conjunctions.truths[literal][coarse]
                assert np.array_equal(truth, condition.holds(fine, encoders[0]))


def test_a_list_by_the_bound_of_the_paper_at_a_delta_of_almost_nothing() -> None:
    planned = DecisionListClassifier(
        analysis="paper", delta=1e-300, neighbouring="replace_one", schema=SCHEMA
    ).dry_run()
    assert planned["epsilon"] <= 1.0


def test_units_of_several_rows_need_a_delta() -> None:
    schema = SCHEMA.to_dict() | {"unit": {"column": "person", "max_rows": 2}}
    for delta, said in ((0.0, "units of 2 rows needs a positive delta: give one such as 1e-6, or .*max_rows = 1"),):
        with pytest.raises(RequestError, match=said + ".*Nothing was spent"):
            DecisionListClassifier(delta=delta, schema=Schema.from_dict(schema)).dry_run()
    schema["unit"]["max_rows"] = 1
    assert DecisionListClassifier(delta=0.0, schema=Schema.from_dict(schema)).dry_run()["delta"] == 0


@pytest.mark.parametrize(("counts_share", "most", "full"), in_turn([0.0, 0.2], [(1, True), (2, True), (5, False)]))
def test_a_list_says_when_max_rules_was_reached(counts_share: float, most: int, full: bool) -> None:
    """Two rules tell all; the constant is none of them."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({name: rng.integers(0, 2, 4000).astype(bool) for name in "abcd"})
    y = (X.a | ~X.b).to_numpy()
    columns = {name: {"kind": "categorical", "categories": [False, True]} for name in "abcd"}
    schema = {"label": {"column": "y", "kind": "classes", "classes": [False, True]}, "columns": columns}
    model = DecisionListClassifier(
        epsilon=math.inf, k=1, max_rules=most, counts_share=counts_share, schema=schema, random_state=0
    ).fit(X, y)
    assert model.model_.full is full
    assert ("max_rules" in str(model.summary_)) is full
