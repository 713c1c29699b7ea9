"""Boost-S: the drawing, its price, base learners of all kinds, and that it boosts."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.boosting.game import capped_scaling as exact_scaling
from tacit.closure import AgnosticClassifier, ComposedClassifier
from tacit.curator.trusted import ForeignModel, UntrustedResult
from tacit.curator.views.resample import MeasureSample, round_cost
from tacit.curator.views.view import Rows
from tacit.encoding.frames import Frame
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.models.base import ModelError
from tacit.models.files import model_from_dict
from tacit.noise import make_source
from tacit.privacy import accountants
from tacit.privacy.charges import ApproxDP, Pure, Repeated, uses
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.vector_sum import WEIGHT_BITS
from tacit.resampling import learner as boosting
from tacit.resampling.estimator import ResampledBoostClassifier
from tacit.resampling.learner import ClaimedLearner, DiffprivlibLearner
from tacit.resampling.plan import ResamplingPlan, base_budget, budget_of_a_round, plan_resampling
from tacit.schema import Schema
from tacit.theory.boosting import lazy_bregman_slickness
from tacit.theory.checks import Cost
from tests.chance import within_law
from tests.curator.views.voters import Voter, changed, random_rows

REPLACE = Neighbouring.REPLACE_ONE
CAP = 1 << WEIGHT_BITS


def sample_view(n_voters: int, total: int, size: int = 10, rate: float = 0.9) -> MeasureSample:
    voters = tuple(Voter(f"v{j}") for j in range(n_voters))
    return MeasureSample(voters, total, rate, size, LabelIndex((0, 1)), (Pure(0.5),), Cost(0.5, 0.0))


def test_one_row_moves_the_drawing_by_at_most_one_over_kappa_n() -> None:
    """Lemma 21 on votes, null rows and dropped labels included; the search attains it."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(600):
        n, voters = int(rng.integers(1, 15)), int(rng.integers(0, 5))
        total = int(rng.integers(1, 8))
        rows = random_rows(rng, n, voters)
        place = int(rng.integers(n))
        view = sample_view(voters, total)
        first, second = (view.weights(r) / CAP / total for r in (rows, changed(rows, place, rng)))
        nobody = abs(first.sum() - second.sum())
        others = np.delete(np.abs(first - second), place).sum()
        worst = max(worst, 0.5 * (others + nobody + first[place] + second[place]) * total)
    assert worst <= 1 + 1e-12
    assert worst > 0.9
    assert lazy_bregman_slickness(0.1, 70) == pytest.approx(1 / 7)


def test_draws_follow_the_measure() -> None:
    """Weights are Algorithm 3's on votes, done again in real numbers; draws are as likely as their weights."""
    rng = np.random.default_rng(1)
    rows = random_rows(rng, 12, 3)
    votes = np.sum([rows.frame.column(f"v{j}") for j in range(3)], axis=0)
    margins = (np.where(rows.labels == 1, 1, -1) * votes)[rows.labels != DROPPED]
    kept = sample_view(3, 4).weights(rows)[rows.labels != DROPPED]
    assert kept / CAP == pytest.approx(exact_scaling(-0.9 / 2 * margins, 4.0), abs=0.002)
    view = sample_view(3, 9, size=60_000)
    (drawn,) = view.open(rows, REPLACE, make_source(0))
    keys = ["v0", "v1", "v2"]
    shares = view.weights(rows) / CAP / 9

    def table(r: Rows, weights: np.ndarray) -> dict[tuple[Any, ...], float]:
        out: dict[tuple[Any, ...], float] = {}
        for i in range(len(r.labels)):
            if r.labels[i] != DROPPED:
                key = (*(np.asarray(r.frame.column(k))[i] for k in keys), r.labels[i])
                out[key] = out.get(key, 0.0) + float(weights[i])
        return out

    expected, result = table(rows, shares), table(drawn, np.ones(60_000))
    assert set(result) == {key for key, share in expected.items() if share > 0}
    nobody = {(): float(1 - shares.sum())}
    counts = {key: round(count) for key, count in result.items()} | {(): int((drawn.labels == DROPPED).sum())}
    assert within_law(counts, expected | nobody)


def test_boost_s_draws_by_all_voters_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Algorithms 14 and 15 by hand: T rounds, each from the measure over the voters so far; then their majority."""
    views: list[MeasureSample] = []

    def opened(rows: Any, view: MeasureSample, label: Label) -> list[int]:
        assert label.round == len(views) + 1
        views.append(view)
        return [len(views)]

    monkeypatch.setattr(boosting, "open_view", opened)
    base = boosting.BaseLearner((Pure(0.5),), lambda sample: Voter(f"v{sample}"))  # type: ignore[arg-type, return-value]
    plan = ResamplingPlan(3, 7, 5, Cost(0.5, 0.0), Pure(0.1))
    model = boosting.boost_s(None, base, plan, 0.9, LabelIndex((0, 1)))  # type: ignore[arg-type]
    assert [[voter.name for voter in view.models] for view in views] == [[], ["v1"], ["v1", "v2"]]  # type: ignore[attr-defined]
    assert {(view.total, view.size, view.learning_rate, view.cost) for view in views} == {(7, 5, 0.9, Cost(0.5, 0.0))}
    frame = Frame({f"v{j}": np.array(said) for j, said in ((1, [1.0, 1.0]), (2, [1.0, -1.0]), (3, [-1.0, -1.0]))}, 2)
    assert model.predict(frame).tolist() == [1, 0]


def test_a_round_costs_what_lemma_55_says() -> None:
    view = sample_view(1, 100, size=25)
    ((charge, theorem),) = view.charges(REPLACE)
    assert isinstance(charge, Pure)
    assert charge.epsilon == pytest.approx(25 * math.log1p(0.01 * math.expm1(0.5)))
    assert "Lemma 55" in theorem
    with pytest.raises(ValueError, match="replace_one"):
        view.charges(Neighbouring.ADD_OR_REMOVE_ONE)


@pytest.mark.parametrize("analysis", ["sharp", "paper"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (3.0, 1e-9), (1.0, 0.0)])
def test_a_plan_never_costs_more_than_was_asked(epsilon: float, delta: float, analysis: Any) -> None:
    for rounds in (1, 5, 25):
        plan = plan_resampling(epsilon, delta, 10_000, rounds, 0.3, None, analysis)
        assert accountants.epsilon([plan.reserved], delta) <= epsilon * (1 + 1e-6)
        result = round_cost(plan.base, plan.total, plan.size, analysis)
        assert isinstance(plan.round_charge, ApproxDP | Pure)
        assert result.epsilon <= plan.round_charge.epsilon
        if result.epsilon < 0.5 and analysis == "sharp":
            assert plan.base.epsilon > 2 * result.epsilon  # drawing makes the base learner cheaper
    assert (plan.total, plan.size) == (3000, 750)


def test_a_base_ten_percent_dearer_would_not_fit() -> None:
    target = budget_of_a_round(1.0, 1e-6, 5)
    base = base_budget(target, 1000, 250, "sharp")
    dearer = round_cost(Cost(base.epsilon * 1.1, base.delta), 1000, 250, "sharp")
    assert dearer.epsilon > target.epsilon
    assert accountants.epsilon([Repeated(ApproxDP(target.epsilon * 1.1, target.delta), 5)], 1e-6) > 1.0


SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "classes": ["no", "yes"], "positive": "yes"},
        "columns": {f"x{j}": {"kind": "numeric", "lower": -1, "upper": 1} for j in range(4)},
    }
)


def square(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows in a cube; positive where the sum of the coordinates is."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (n, 4))
    return pd.DataFrame(rows, columns=[f"x{j}" for j in range(4)]), np.where(rows.sum(axis=1) > 0, "yes", "no")


def best_stump(rows: np.ndarray, labels: np.ndarray, epsilon: float, delta: float) -> Any:
    """A weak learner: the coordinate that agrees with the labels most often, by the exponential mechanism."""
    del delta
    agreement = ((rows[:, :4] > 0) == (labels[:, None] == 1)).sum(axis=0)
    scale = 2 / epsilon if math.isfinite(epsilon) else 1e-9
    noise = np.random.default_rng(int(agreement.sum())).gumbel(0, scale, 4)
    return Stump(int(np.argmax(agreement + noise)))


class Stump:
    def __init__(self, column: int) -> None:
        self.column = column

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return (rows[:, self.column] > 0).astype(float)


def test_boosting_raises_the_accuracy_of_a_weak_learner() -> None:
    """Remark 7.4 of the closure paper, through this door: one stump is right on 68 %, five on 79 %."""
    frame, labels = square(20_000)
    test, truth = square(4000, seed=1)
    one, many = (
        ResampledBoostClassifier(
            ClaimedLearner(best_stump, "stump"), 8.0, schema=SCHEMA, rounds=rounds, learning_rate=0.9, random_state=0
        )
        .fit(frame, labels)
        .score(test, truth)
        for rounds in (1, 5)
    )
    assert one < 0.72
    assert many > 0.74  # .785, with a deviation of .007


def test_a_stopping_rule_ends_a_run_around_any_private_learner() -> None:
    """Algorithms 10 to 13 around an (epsilon, delta) learner: the measure shrinks as the vote improves, then ends."""
    frame, labels = square(20_000)
    learner = ClaimedLearner(best_stump, "stump")
    settings = {"schema": SCHEMA, "rounds": 25, "measure": "smooth", "advantage": 0.3, "random_state": 0}
    stopped = ResampledBoostClassifier(learner, 20.0, density=0.6, **settings).fit(frame, labels)
    assert 1 < len(stopped.model_.members) < 25
    assert stopped.score(*square(4000, seed=1)) > 0.76
    entries = stopped.certificate_.entries
    tests = [(charge, times) for charge, times in uses([entry.charge for entry in entries])]
    assert sum(times for _, times in tests) == len(stopped.model_.members) + 1  # the last test ended the run
    assert {entry.stage for entry in entries} == {Stage.ROWS}
    assert all("Lemmas 49" in entry.theorem for entry in entries if "end test" in entry.label)
    assert stopped.certificate_.epsilon == 20.0  # rounds that did not happen are not given back
    on = ResampledBoostClassifier(learner, 20.0, density=0.1, **{**settings, "rounds": 3}).fit(frame, labels)
    assert len(on.model_.members) == 3


def test_a_stopping_rule_needs_rows_and_delta() -> None:
    frame, labels = square(200)
    model = ResampledBoostClassifier(ClaimedLearner(best_stump, "stump"), 1.0, schema=SCHEMA, measure="smooth")
    with pytest.raises(RequestError, match=r"200 rows are too few .*; (\d+) would do") as caught:
        model.fit(frame, labels)
    needed = int(str(caught.value).split("begins; ")[1].split()[0])
    model.fit(*square(math.ceil(needed * 1.01)))
    with pytest.raises(RequestError, match="positive delta"):
        model.set_params(delta=0.0).fit(frame, labels)


def test_a_private_classifier_is_boosted_and_certified() -> None:
    frame, labels = square(6000)
    model = ResampledBoostClassifier(HalfspaceBoostClassifier(), 2.0, schema=SCHEMA, rounds=3).fit(frame, labels)
    certificate = model.certificate_
    assert model.score(frame, labels) > 0.8
    assert certificate.releasable
    assert certificate.verify() == []
    assert certificate.epsilon == 2.0
    assert str(certificate.neighbouring) == "replace_one"
    entered = [(charge, times) for charge, times in uses([entry.charge for entry in certificate.entries])]
    assert sum(times for _, times in entered) == 3
    assert model.plan_.base.epsilon > 2.0 / 3  # each of three runs gets more than a third of the budget
    again = model_from_dict(json.loads(json.dumps(model.model_.to_dict())))
    np.testing.assert_array_equal(again.predict_proba(columns(frame)), model.predict_proba(frame))


def columns(frame: pd.DataFrame) -> Frame:
    from tacit.encoding.frames import columns_of

    return columns_of(frame)


def test_no_schema_and_no_privacy() -> None:
    frame, labels = square(800)
    bits = (labels == "yes").astype(int)
    model = ResampledBoostClassifier(HalfspaceBoostClassifier(), 20.0, rounds=1, random_state=3, classes=(0, 1)).fit(
        frame, bits
    )
    assert model.certificate_.verify() == []
    assert set(model.predict(frame)) <= {0, 1}
    exact = ResampledBoostClassifier(HalfspaceBoostClassifier(), math.inf, schema=SCHEMA, rounds=3).fit(frame, labels)
    assert exact.score(frame, labels) > 0.9
    assert not exact.certificate_.releasable


class FakeDiffprivlib:
    """The interface of diffprivlib's classifiers: get_params, set_params, fit, predict."""

    def __init__(self, epsilon: float = 1.0, data_norm: float | None = None) -> None:
        self.epsilon, self.data_norm = epsilon, data_norm

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"epsilon": self.epsilon, "data_norm": self.data_norm}

    def set_params(self, **parameters: Any) -> FakeDiffprivlib:
        self.__dict__.update(parameters)
        return self

    def __sklearn_clone__(self) -> FakeDiffprivlib:
        return FakeDiffprivlib(self.epsilon, self.data_norm)

    def fit(self, rows: np.ndarray, labels: np.ndarray) -> FakeDiffprivlib:
        assert self.data_norm == 1.0
        assert np.linalg.norm(rows, axis=1).max() <= 1.0
        signs = 2 * labels - 1
        sums = signs @ rows
        self.weights = sums + np.random.default_rng(0).laplace(0, 2 * math.sqrt(len(sums)) / self.epsilon, len(sums))
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return (rows @ self.weights > 0).astype(int)


def test_foreign_learners_are_run_on_trust_and_marked() -> None:
    frame, labels = square(4000)
    model = ResampledBoostClassifier(DiffprivlibLearner(FakeDiffprivlib()), 2.0, schema=SCHEMA, rounds=3)
    model.fit(frame, labels)
    assert model.score(frame, labels) > 0.85
    certificate = model.certificate_
    assert not certificate.releasable
    assert any("verified" in reason for reason in certificate.reasons)
    assert "FakeDiffprivlib" in certificate.algorithm
    assert all(isinstance(member, ForeignModel) for member in model.model_.members)
    with pytest.raises(ModelError, match="foreign object"):
        model.model_.to_dict()


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (lambda rows, labels, epsilon, delta: NotANumber(), "broken returned a model whose predictions"),
        (lambda rows, labels, epsilon, delta: None, "broken returned something that does not predict"),
    ],
)
def test_what_does_not_predict_is_refused_by_name(learner: Any, message: str) -> None:
    frame, labels = square(200)
    model = ResampledBoostClassifier(ClaimedLearner(learner, "broken"), 1.0, schema=SCHEMA)
    with pytest.raises(UntrustedResult, match=message):
        model.fit(frame, labels)


class NotANumber:
    def predict(self, rows: np.ndarray) -> np.ndarray:
        return np.full(len(rows), np.nan)


def test_a_foreign_learner_that_fails_on_content_is_a_constant() -> None:
    """Content never refuses: an error that may come from what rows hold must not reach the outside."""

    def picky(rows: np.ndarray, labels: np.ndarray, epsilon: float, delta: float) -> Any:
        raise ValueError("only one class")

    frame, labels = square(200)
    model = ResampledBoostClassifier(ClaimedLearner(picky, "picky"), 1.0, schema=SCHEMA).fit(frame, labels)
    assert set(model.predict(frame)) == {"no"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base": None}, "declares no charge"),
        ({"base": 3}, "int declares no charge"),
        ({"neighbouring": "add_or_remove_one"}, "replace_one"),
        ({"rounds": 0}, "rounds"),
        ({"sample_size": 0}, "sample_size"),
        ({"density": 1.0}, "density"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"measure": "uniform"}, "measure"),
        ({"advantage": 0.5}, "advantage"),
        ({"analysis": "best"}, "analysis"),
        ({"base": ClaimedLearner(best_stump, "stump"), "schema": None}, "needs a schema"),
        ({"sample_size": 51}, "sample_size"),
        ({"base": HalfspaceBoostClassifier(rounds=0)}, "rounds"),
    ],
)
def test_public_mistakes_are_refused_and_cost_nothing(arguments: dict[str, Any], message: str) -> None:
    frame, labels = square(50)
    settings = {"base": HalfspaceBoostClassifier(), "schema": SCHEMA, **arguments}
    with pytest.raises(RequestError, match=message) as caught:
        ResampledBoostClassifier(**settings).fit(frame, labels)
    assert "othing was spent" in str(caught.value)


def test_claims_are_made_under_replacement_only() -> None:
    for learner in (DiffprivlibLearner(FakeDiffprivlib()), ClaimedLearner(best_stump, "stump", 1.0)):
        assert learner.declared_charge(REPLACE) == (Pure(1.0),)
        with pytest.raises(RequestError, match="replace_one"):
            learner.declared_charge(Neighbouring.ADD_OR_REMOVE_ONE)
    with pytest.raises(RequestError, match="declares no charge"):
        DiffprivlibLearner(object())
    with pytest.raises(RequestError, match="declares no charge"):
        ClaimedLearner(best_stump, "stump").declared_charge(REPLACE)


BOUNDED = {
    "label": {"column": "y", "classes": ["no", "yes"]},
    "columns": {"a": {"kind": "numeric", "lower": -3, "upper": 3}, "b": {"kind": "numeric", "lower": -3, "upper": 3}},
}


def made_of(base: Any, **own: Any) -> list[Any]:
    """Learners around another."""
    return [
        ResampledBoostClassifier(base, random_state=0, rounds=3, **own),
        AgnosticClassifier(base, random_state=0, **own),
        ComposedClassifier(learners=base, random_state=0, **own),
    ]


def labelled() -> tuple[pd.DataFrame, np.ndarray]:
    rows = np.random.default_rng(0).uniform(-3, 3, (400, 2))
    return pd.DataFrame(rows, columns=["a", "b"]), np.where(rows[:, 0] > 0, "yes", "no")


def test_what_the_learner_inside_declares_holds() -> None:
    frame, labels = labelled()
    for learner in made_of(HalfspaceBoostClassifier(schema=BOUNDED)):
        assert learner.dry_run()["columns"] == ["a", "b"]
        fitted = learner.fit(frame, labels)
        assert fitted.schema_ == Schema.from_dict(BOUNDED)
        assert list(fitted.classes_) == ["no", "yes"]
        assert not [entry for entry in fitted.certificate_.entries if "bounds" in entry.label]
    for learner in made_of(HalfspaceBoostClassifier(classes=("no", "yes")), epsilon=4.0):
        assert list(learner.fit(frame, labels).classes_) == ["no", "yes"]


def test_two_declarations_that_differ_are_refused() -> None:
    frame, labels = labelled()
    wider = {**BOUNDED, "columns": {name: {"kind": "numeric", "lower": -9, "upper": 9} for name in "ab"}}
    for learner in made_of(HalfspaceBoostClassifier(schema=BOUNDED), schema=wider):
        with pytest.raises(RequestError, match=r"schema of .* differ: declare one.*Nothing was spent"):
            learner.fit(frame, labels)
    for learner in made_of(HalfspaceBoostClassifier(classes=("no", "yes")), classes=("yes", "no")):
        with pytest.raises(RequestError, match=r"classes of .* differ"):
            learner.fit(frame, labels)
    for learner in made_of(HalfspaceBoostClassifier(classes=("n", "y")), schema=BOUNDED):
        with pytest.raises(RequestError, match="schema's classes"):
            learner.fit(frame, labels)


def test_the_budget_of_a_round_by_value() -> None:
    """Five rounds cost no more than the request: a fifth of a pure epsilon; half of delta is for the rounds' own."""
    pure = budget_of_a_round(1.0, 0.0, 5)
    assert pure.epsilon > 0.2 * (1 - 1e-6)
    assert 5 * pure.epsilon <= 1.0
    for rounds in (1, 5):
        cost = budget_of_a_round(1.0, 1e-6, rounds)
        assert cost.delta == pytest.approx(1e-6 / (2 * rounds))
        spent = accountants.epsilon([ApproxDP(cost.epsilon, cost.delta)] * rounds, 1e-6)
        assert 0.99 < spent <= 1.0
