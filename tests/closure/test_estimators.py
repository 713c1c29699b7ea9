"""The closure estimators: what they learn, what they refuse before anything is spent, and what they leave behind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import tacit
from tacit.closure import (
    AgnosticClassifier,
    ComposedClassifier,
    ConceptError,
    Conjunctions,
    FiniteClassClassifier,
    Rectangles,
    Thresholds,
)
from tacit.closure.base import Setting
from tacit.closure.plan import best_inner_epsilon, paper_plan, sharp_plan
from tacit.halfspaces.learner import HalfspaceLearner
from tacit.privacy import accountants
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Pure
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import amplified

SCHEMA = {
    "label": {"column": "ill", "kind": "classes", "classes": ["no", "yes"], "positive": "yes"},
    "columns": {
        **{name: {"kind": "numeric", "lower": 0, "upper": 10} for name in "abc"},
        "ward": {"kind": "categorical", "categories": ["north", "south", "west"]},
    },
}
ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def people(n: int = 6000, noise: float = 0.0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Columns, the disease caused by any of three markers, and the first marker's own labels, both with noise."""
    rng = np.random.default_rng(n)
    frame = pd.DataFrame({name: rng.uniform(0, 10, n) for name in "abc"})
    frame["ward"] = rng.choice(["north", "south", "west", "elsewhere"], n)
    flipped = rng.random(n) < noise
    disease = (frame["a"] >= 8.125) | (frame["b"] >= 6.875) | (frame["c"] < 1.25)
    marker = frame["a"] >= 5
    return frame, np.where(disease ^ flipped, "yes", "no"), np.where(marker ^ flipped, "yes", "no")


def error(model: Any, frame: pd.DataFrame, labels: np.ndarray) -> float:
    return float((model.predict(frame) != labels).mean())


@pytest.mark.parametrize("in_parts", [False, True])
def test_concepts_that_tell_nothing_by_themselves_are_found_by_their_completions(in_parts: bool) -> None:
    """Algorithm 5 scores a concept by its best completion: every marker of an XOR errs on half of the rows alone."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({name: rng.uniform(0, 10, 4000) for name in "abc"})
    frame["ward"] = "north"
    ill = (frame["a"] >= 5) ^ (frame["b"] >= 5)
    for name in "ab":
        assert abs(((frame[name] >= 5) == ill).mean() - 0.5) < 0.03
    learners = [FiniteClassClassifier(Thresholds(c), counts_share=0.0, bins=16) for c in "ab"] if in_parts else None
    model = ComposedClassifier(
        [Thresholds("a"), Thresholds("b")], "xor", learners, epsilon=math.inf, schema=SCHEMA, random_state=0
    )
    labels = np.where(ill, "yes", "no")
    assert error(model.fit(frame, labels), frame, labels) < 0.01


@pytest.mark.parametrize(
    ("learner", "limit"),
    [
        (None, 0.05),
        (tacit.HalfspaceBoostClassifier(), 0.12),
        (tacit.DecisionListClassifier(k=1, max_rules=3), 0.12),
        (tacit.AdditiveBoostClassifier(), 0.12),
    ],
    ids=["finite", "halfspace", "decision list", "additive"],
)
def test_any_private_learner_becomes_agnostic(learner: Any, limit: float) -> None:
    frame, _, noisy = people(8000, noise=0.2)
    clean = np.where(frame["a"] >= 5, "yes", "no")
    model = AgnosticClassifier(learner, Thresholds("a"), epsilon=2.0, schema=SCHEMA, random_state=0).fit(frame, noisy)
    assert error(model, frame, clean) < limit
    assert model.certificate_.epsilon == 2.0
    if learner is not None:
        assert learner.epsilon == 1.0, "the given learner is a pattern: its own parameters stay"


def test_a_part_is_for_rows_that_come_and_go_and_stops_at_no_content() -> None:
    frame, _, noisy = people(300)
    common = {"concepts": Thresholds("a"), "schema": SCHEMA, "analysis": "part", "random_state": 0}
    for wrong in ({"neighbouring": "replace_one"}, {"patterns": "public"}):
        with pytest.raises(RequestError, match="analysis='part'") as caught:
            AgnosticClassifier(**common, **wrong).fit(frame, noisy)
        assert "Nothing was spent" in str(caught.value)
    with pytest.raises(RequestError, match="analysis"):
        ComposedClassifier(analysis="part", schema=SCHEMA).fit(frame, noisy)
    for rows, labels in ((frame[:0], noisy[:0]), (frame, np.full(300, "maybe")), (frame[:1], noisy[:1])):
        assert len(AgnosticClassifier(**common).fit(rows, labels).predict(frame)) == 300
    free = AgnosticClassifier(**common, epsilon=math.inf).fit(frame, noisy)
    assert error(free, frame, noisy) == 0
    twice = AgnosticClassifier(**common, epsilon=4.0, repetitions=2).fit(frame, noisy)
    assert error(twice, frame, noisy) < 0.2


def test_no_privacy_is_exact_and_marked() -> None:
    frame, disease, _ = people(2000)
    model = ComposedClassifier([Thresholds(c) for c in "abc"], "or", epsilon=math.inf, schema=SCHEMA).fit(
        frame, disease
    )
    assert error(model, frame, disease) == 0.0
    assert not model.certificate_.releasable
    agnostic = AgnosticClassifier(concepts=Thresholds("a"), epsilon=math.inf, schema=SCHEMA, bins=16).fit(
        frame, disease
    )
    single = FiniteClassClassifier(Thresholds("a"), epsilon=math.inf, schema=SCHEMA, bins=16).fit(frame, disease)
    assert error(agnostic, frame, disease) == error(single, frame, disease)


def test_bounds_are_found_and_paid_for_without_a_schema() -> None:
    frame, disease, _ = people()
    numbers, bits = frame[list("abc")], (disease == "yes").astype(int)
    for estimator in (
        FiniteClassClassifier(random_state=0, classes=(0, 1)),
        AgnosticClassifier(random_state=0, classes=(0, 1)),
        ComposedClassifier([Thresholds(c) for c in "abc"], random_state=0, classes=(0, 1)),
    ):
        model = estimator.fit(numbers, bits)
        assert error(model, numbers, bits) < 0.3
        assert accountants.epsilon(model.certificate_.charges, 1e-6) <= 1.0 + 1e-9
        assert len(model.certificate_.charges) >= 2


@pytest.mark.parametrize(
    ("estimator", "match"),
    [
        (ComposedClassifier([Thresholds("a")] * 2, [0, 1, 1, 1, 1, 1, 1, 1]), "3 inputs, and there are 2 concepts"),
        (ComposedClassifier([Thresholds("a")] * 2, "x1 or x3"), "should use x1, x2"),
        (ComposedClassifier([Thresholds("a")] * 2, learners=[FiniteClassClassifier()]), "1 learners are given for 2"),
        (ComposedClassifier(Thresholds("a")), "list of concept classes"),
        (ComposedClassifier([Thresholds("a")] * 2, lambda p: p), "cannot be asked about 2 concepts"),
        (ComposedClassifier([Thresholds("a")] * 2, analysis="paper", neighbouring="replace_one"), "needs learners"),
        (ComposedClassifier([Rectangles(("a", "b", "c"))] * 2, bins=30), "may have .* patterns"),
        (ComposedClassifier([Rectangles(("a", "b"))] * 3, bins=30), "combinations of patterns"),
        (ComposedClassifier([Thresholds("a")] * 2, patterns="sample"), "released only if they can be listed"),
        (AgnosticClassifier(concepts=Thresholds("nobody")), "'nobody', which is not among the features"),
        (AgnosticClassifier(concepts="a"), "must be a concept class"),
        (AgnosticClassifier(LogisticRegression()), "LogisticRegression declares no charge"),
        (AgnosticClassifier(analysis="paper"), "replace_one"),
        (AgnosticClassifier(epsilon=5000.0), "beyond what its analysis computes with"),
        (AgnosticClassifier(analysis="paper", patterns="public", neighbouring="replace_one"), "not its algorithm"),
        (AgnosticClassifier(concepts=Rectangles(("a", "b", "c")), bins=64), "may have .* patterns"),
        (AgnosticClassifier(declared_rows=10, analysis="paper", neighbouring="replace_one"), "10 rows are too few"),
        (AgnosticClassifier(declared_rows=499, neighbouring="replace_one"), "499, and there are 500 rows"),
        (
            # under add/remove nobody can check the number: patterns beyond it would stop a fit that is paid for
            AgnosticClassifier(concepts=Rectangles(("a", "b", "c")), bins=64, declared_rows=9, patterns="sample"),
            "may have .* patterns",
        ),
        (FiniteClassClassifier(Rectangles(("a", "b", "c")), bins=64), "may have .* patterns"),
        (
            AgnosticClassifier(concepts=Conjunctions(tuple("abc"), length=5), patterns="sample", bins=200),
            "fit into memory",
        ),
    ],
)
def test_refusals_come_before_anything_is_spent(estimator: Any, match: str, tmp_path: Any) -> None:
    frame, disease, _ = people(500)
    account = PrivacyAccount.create(
        f"sqlite:///{tmp_path}/budget.tacit.db", "people", 1.0, 1e-6, estimator.neighbouring
    )
    estimator = clone(estimator).set_params(schema=SCHEMA, account=account)
    with pytest.raises(ValueError, match=match) as raised:
        estimator.fit(frame, disease)
    assert isinstance(raised.value, RequestError | ConceptError)
    assert "Nothing was spent" in str(raised.value)
    assert account.spent == 0


def test_too_few_rows_are_refused_only_when_their_number_is_public() -> None:
    frame, disease, _ = people(30)
    learners = [FiniteClassClassifier(Thresholds(c)) for c in "abc"]
    concepts = [Thresholds(c) for c in "abc"]
    paper = ComposedClassifier(
        concepts, "or", learners, schema=SCHEMA, analysis="paper", neighbouring="replace_one"
    )  # fmt: skip
    with pytest.raises(RequestError, match="30 rows are too few"):
        paper.fit(frame, disease)
    ComposedClassifier(concepts, "or", learners, schema=SCHEMA).fit(frame, disease)
    ComposedClassifier(concepts, "or", learners, schema=SCHEMA).fit(frame.iloc[:0], disease[:0])
    FiniteClassClassifier(schema=SCHEMA).fit(frame, np.array(["maybe"] * 30))


def test_units_of_several_rows_are_refused() -> None:
    frame, disease, _ = people(50)
    frame["person"] = np.arange(50) // 2
    schema = {**SCHEMA, "unit": {"column": "person", "max_rows": 2}}
    with pytest.raises(RequestError, match="single rows"):
        AgnosticClassifier(schema=schema).fit(frame, disease)
    schema["unit"] = {"column": "person", "max_rows": 1}
    AgnosticClassifier(schema=schema).fit(frame, disease)
    with pytest.raises(RequestError, match="of a unit only some rows count"):
        AgnosticClassifier(schema=schema, neighbouring="replace_one").fit(frame, disease)


def test_progress_hears_nothing_of_patterns_of_the_sample() -> None:
    """How many there are is private: one row more or less changes it."""
    frame, disease, _ = people(200)
    reported: list[object] = []
    concepts = [Thresholds(c) for c in "ab"]
    learner = ComposedClassifier(
        concepts,
        "or",
        FiniteClassClassifier(Thresholds("a")),
        schema=SCHEMA,
        progress=lambda *done: reported.append(done),
    )
    learner.set_params(patterns="sample").fit(frame, disease)
    assert not reported
    learner.set_params(patterns="public").fit(frame, disease)
    assert reported


def test_plans_cost_what_they_are_made_for() -> None:
    for relation in (ADD, REPLACE):
        for public in (True, False):
            for target in (0.2, 1.0, 4.0):
                plan = sharp_plan(Cost(target, 1e-6), relation, 0.5, public)
                total = amplified(Cost(plan.span + plan.child.epsilon, plan.child.delta), plan.rate)
                assert total.epsilon == pytest.approx(target)
                assert total.delta == pytest.approx(1e-6)
                assert plan.rate == 1.0 or not public
    assert sharp_plan(Cost(0.2, 0.0), ADD, 0.5, public=False).rate < 1
    floor = math.log(2)
    best = best_inner_epsilon(floor)
    worth = [(e - floor) / math.expm1(e) for e in (best - 0.05, best, best + 0.05)]
    assert worth[1] == max(worth)
    paper = paper_plan(Cost(1.0, 1e-6), REPLACE)
    assert paper.rate == pytest.approx(math.expm1(1) / math.expm1(4))
    with pytest.raises(ValueError, match="replace_one"):
        paper_plan(Cost(1.0, 0.0), ADD)


def test_a_child_gets_what_composition_saves() -> None:
    """Epsilons of the choice and of a Gaussian child do not add up; the difference is the child's to spend."""
    frame, _, noisy = people(3000, noise=0.1)
    learner = tacit.HalfspaceBoostClassifier()
    estimator = AgnosticClassifier(learner, Thresholds("a"), schema=SCHEMA, random_state=0)
    model = estimator.fit(frame, noisy)
    assert 0.97 < accountants.epsilon(model.certificate_.charges, 1e-6) <= 1.0
    _, task, _, _ = estimator.check_table(frame, noisy)
    setting = Setting(task, Cost(1.0, 1e-6), ADD)
    plan = sharp_plan(setting.target, ADD, 0.5, public=True, score="errors")
    assert setting.child(learner, plan).cost.epsilon > 1.1 * plan.child.epsilon
    checked = Setting(task, Cost(1.0, 1e-6), ADD, calibrate=False)
    assert checked.child(learner, plan).cost == plan.child


@pytest.mark.parametrize(("charged", "fine"), [(1.0, True), (1.0000001, True), (1.01, False), (2.5, False)])
def test_a_child_that_declares_more_than_it_got_is_refused(
    charged: float, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, y, _ = people(30, noise=0.1)
    learner = tacit.HalfspaceBoostClassifier()
    _, task, _, _ = AgnosticClassifier(learner, Thresholds("a"), schema=SCHEMA, delta=0.0).check_table(frame, y)
    setting, monkey = Setting(task, Cost(1.0, 0.0), ADD, calibrate=False), monkeypatch.setattr
    plan = sharp_plan(setting.target, ADD, 0.5, public=True, score="errors")
    given = plan.child.epsilon
    monkey(HalfspaceLearner, "charges", lambda *_: [Pure(charged * given)])
    if fine:
        assert setting.child(learner, plan).plan == (Pure(charged * given),)
    else:
        with pytest.raises(RequestError, match="declares more than the epsilon"):
            setting.child(learner, plan)
