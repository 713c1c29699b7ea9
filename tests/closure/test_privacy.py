"""Exact privacy of the closure learners: all neighbours of tiny tables, all outcomes of the noise."""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Thresholds, base
from tacit.closure.base import Setting
from tacit.closure.concepts import ConceptSet, concept_sets
from tacit.closure.plan import paper_plan, part_plan
from tacit.closure.relabel import errors_on
from tacit.curator.choose import select_member
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import RelabelPart
from tacit.curator.views.view import Parts, Sample, open_view
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.estimators.base import request_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.learning.learner import Task
from tacit.models.base import Model
from tacit.models.rule import ComposedModel, RuleModel
from tacit.privacy import accountants
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Pure
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema
from tacit.theory.checks import Cost
from tacit.theory.closure.privacy import learned_on_part
from tests.closure.scripted import Rows, ScriptedNoise, distribution, hockey_stick, largest_ratio, private_rows_of

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
LABELS = LabelIndex((0, 1))
SCHEMA = Schema.from_dict(
    {
        "label": {"column": "y", "kind": "classes", "classes": [0, 1]},
        "columns": {"x": {"kind": "numeric", "lower": 0, "upper": 3, "bins": 3}},
    }
)
TASK = Task(SCHEMA, ("x",), LABELS, TableEncoding.of(SCHEMA))
VALUES = tuple(product((0, 1, 2), (0, 1)))


def released(model: Model) -> Hashable:
    """What a model tells, as a value."""
    if isinstance(model, ComposedModel):
        return tuple(released(member) for member in model.members)
    assert isinstance(model, RuleModel)
    return model.positive.tobytes()


def tables(most: int) -> list[Rows]:
    return [rows for size in range(most + 1) for rows in combinations_with_replacement(VALUES, size)]


def neighbours(relation: Neighbouring, size: int) -> list[tuple[Rows, Rows]]:
    """All pairs, rows in one order: in another a table has the same distribution, and would be enumerated again."""
    if relation is ADD:
        return [(rows, tuple(sorted((*rows, row)))) for rows in tables(size - 1) for row in VALUES]
    return [
        (tuple(sorted((*rows, first))), tuple(sorted((*rows, second))))
        for rows in combinations_with_replacement(VALUES, size - 1)
        for first in VALUES
        for second in VALUES
        if first < second
    ]


def worst(
    estimator: PrivateClassifier, relation: Neighbouring, size: int, target: float, scale: float = 1.0
) -> tuple[float, float]:
    """The largest log-ratio over all neighbours, and the epsilon that is charged."""
    plan, outputs = enumerated(estimator, relation, target, scale)
    value = max(largest_ratio(outputs(a), outputs(b)) for a, b in neighbours(relation, size))
    return value, accountants.epsilon(plan, 0.0)


def enumerated(estimator: PrivateClassifier, relation: Neighbouring, target: float, scale: float = 1.0) -> Any:
    """The charges of a learner, and what gives the distribution of its models on a table."""
    plan, run = learner_of(estimator).run(Setting(TASK, Cost(target, 0.0), relation))

    @cache
    def outputs(rows: Rows) -> dict[Hashable, float]:
        return distribution(rows, plan, relation, lambda v: released(run(v)), lambda s: ScriptedNoise(s, scale))

    return plan, outputs


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("patterns", ["public", "sample"])
def test_the_order_of_rows_changes_no_distribution(relation: Neighbouring, patterns: str) -> None:
    _, outputs = enumerated(agnostic(neighbouring=str(relation), patterns=patterns), relation, 2.0)
    for rows in (((0, 1), (2, 0)), ((1, 0), (1, 1))):
        assert outputs(rows) == pytest.approx(outputs(rows[::-1]))
    assert outputs(((0, 1), (2, 0))) != pytest.approx(outputs(((0, 0), (2, 1))))


def agnostic(**parameters: Any) -> AgnosticClassifier:
    learner = FiniteClassClassifier(Thresholds("x", "rising"), counts_share=0.0)
    return AgnosticClassifier(learner, Thresholds("x", "rising"), delta=0.0, **parameters)


@pytest.mark.parametrize(("relation", "target"), [(ADD, 2.0), pytest.param(REPLACE, 3.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("patterns", ["public", "sample"])
def test_relabel_and_learn_costs_at_most_what_is_charged(relation: Neighbouring, target: float, patterns: str) -> None:
    estimator = agnostic(neighbouring=str(relation), patterns=patterns)
    found, charged = worst(estimator, relation, 2 if patterns == "sample" else 1, target)
    assert charged == pytest.approx(target, rel=1e-6)
    assert 0.1 * charged < found <= charged


def test_patterns_of_a_part_cost_what_is_charged() -> None:
    """All coins, all patterns and all that the learner can choose; tiny tables tell a part of the cost."""
    estimator = agnostic(analysis="part")
    planned = part_plan(Cost(1.0, 0.0), 0.5)
    assert 0.1 < planned.rate < 1
    plan, run = learner_of(estimator).run(Setting(TASK, Cost(1.0, 0.0), ADD))
    scales: list[float] = []

    @cache
    def outputs(rows: Rows) -> dict[Hashable, float]:
        def noise(script: list[int]) -> ScriptedNoise:
            made = ScriptedNoise(script, words="coins", rate=planned.rate)
            made.scales = scales
            return made

        return distribution(rows, plan, ADD, lambda v: released(run(v)), noise)

    charged = accountants.epsilon(plan, 0.0)
    assert charged == pytest.approx(1.0, rel=1e-6)
    assert charged == pytest.approx(learned_on_part(planned.scoring, planned.child, planned.rate).epsilon, rel=1e-6)
    assert 0.1 < max(largest_ratio(outputs(a), outputs(b)) for a, b in neighbours(ADD, 2)) <= charged
    assert scales[0] == pytest.approx(1 / planned.scoring)
    assert scales[0] >= 1 / planned.scoring


def test_a_row_is_in_the_part_at_the_rate_and_no_more_often() -> None:
    rate = part_plan(Cost(1.0, 0.0), 0.5).rate
    view = RelabelPart(
        TASK.encoding,
        LABELS,
        (),
        errors_on(one_set(), False),
        1.0,
        0.5,
        (Pure(0.5),),
        "part",
        rate=rate,  # type: ignore[arg-type]
    )
    edge = math.floor(rate * 2.0**64)
    private_rows = private_rows_of(((0, 1), (1, 1), (2, 1), (2, 0)), [Pure(2.0)], ADD)
    noise = ScriptedNoise([])
    noise.words = lambda size: np.array([edge - 1, edge, 0, 2**64 - 1], np.uint64)  # type: ignore[method-assign]
    private_rows._noise = noise  # type: ignore[assignment]
    (part,) = open_view(private_rows, view, "part")
    assert (part._label_codes(LABELS) != 255).tolist() == [True, False, True, False]


def test_patterns_of_a_part_have_the_least_errors_on_all_rows() -> None:
    """Of a part that holds one row there are two patterns, whose scores count all four rows."""
    learner = FiniteClassClassifier(Thresholds("x", "rising"), counts_share=0.0)
    estimator = AgnosticClassifier(learner, Thresholds("x", "rising"), delta=0.0, analysis="part")
    plan, run = learner_of(estimator).run(Setting(TASK, Cost(1.0, 0.0), ADD))
    queries: list[list[int]] = []

    class Watched(ScriptedNoise):
        def exponential(self, scores: Any, scale: float) -> int:
            queries.append(scores.tolist())
            return super().exponential(scores, scale)

        def words(self, size: int) -> Any:
            return np.array([2**64 - 1, 2**64 - 1, 0, 2**64 - 1], np.uint64)[:size]

    rows = ((0, 0), (0, 1), (1, 1), (2, 0))
    private_rows = private_rows_of(rows, plan, ADD)
    private_rows._noise = Watched([])  # type: ignore[assignment]
    run(private_rows)
    # 0 at x = 1: the cut at 2 errs on three rows, the one above all on two; 1 there: the cuts at 0 and 1 on two each
    assert queries[0] == [-2, -2]


@pytest.mark.parametrize(("relation", "size"), [(ADD, 2), (REPLACE, 2)])
def test_released_concepts_cost_what_is_charged_and_a_smaller_scale_is_caught(
    relation: Neighbouring, size: int
) -> None:
    concepts = [Thresholds("x", "rising"), Thresholds("x", "falling")]
    estimator = ComposedClassifier(concepts, "xor", delta=0.0, neighbouring=str(relation))
    found, charged = worst(estimator, relation, size, 1.0)
    assert charged == pytest.approx(1.0, rel=1e-6)
    assert found <= charged * (1 + 1e-9)
    single = ComposedClassifier([Thresholds("x", "rising")], lambda a: a, delta=0.0, neighbouring=str(relation))
    found, charged = worst(single, relation, size, 4.0)
    assert 0.9 * charged < found <= charged * (1 + 1e-9)
    assert worst(single, relation, size, 4.0, scale=0.9)[0] > charged


def test_composed_learners_in_parts_cost_what_is_charged() -> None:
    concepts = [Thresholds("x", "rising"), Thresholds("x", "falling")]
    learners = [FiniteClassClassifier(c, counts_share=0.0) for c in concepts]
    estimator = ComposedClassifier(concepts, "or", learners, delta=0.0, bins=2)
    columns = {"x": {"kind": "numeric", "lower": 0, "upper": 3, "bins": 2}}
    schema = Schema.from_dict({"label": SCHEMA.to_dict()["label"], "columns": columns})
    task = Task(schema, ("x",), LABELS, TableEncoding.of(schema))
    plan, run = learner_of(estimator).run(Setting(task, Cost(1.5, 0.0), ADD))

    def outputs(rows: Rows) -> dict[Hashable, float]:
        return distribution(
            rows, plan, ADD, lambda v: released(run(v)), lambda s: ScriptedNoise(s, words="index", bound=2)
        )

    without = outputs(())
    value = max(largest_ratio(without, outputs((row,))) for row in ((0, 0), (0, 1), (2, 1)))
    assert 0.1 < value <= accountants.epsilon(plan, 0.0)


def test_relabel_draws_at_the_scale_of_its_epsilon() -> None:
    estimator = agnostic(patterns="sample")
    plan, run = learner_of(estimator).run(Setting(TASK, Cost(2.0, 0.0), ADD))
    private_rows = private_rows_of(((0, 1), (1, 0)), plan, ADD)
    noise = ScriptedNoise([])
    private_rows._noise = noise  # type: ignore[assignment]
    run(private_rows)
    span = math.log(2) + 0.5 * (2.0 - math.log(2))
    assert noise.scales[0] == pytest.approx(2 / (2 * math.log(math.expm1(span))))
    assert noise.scales[0] >= 2 / (2 * math.log(math.expm1(span)))


@pytest.mark.parametrize(("relation", "apart"), [(ADD, 1), (REPLACE, 2)])
def test_a_concept_is_drawn_by_its_errors_at_the_whole_of_epsilon(relation: Neighbouring, apart: int) -> None:
    """Algorithm 1 by hand: a row adds an error or none, so that replacing one moves scores two apart."""
    queries: list[tuple[list[int], float]] = []

    class Watched(ScriptedNoise):
        def exponential(self, scores: Any, scale: float) -> int:
            queries.append((scores.tolist(), scale))
            return super().exponential(scores, scale)

    estimator = FiniteClassClassifier(Thresholds("x", "rising"), 0.5, 0.0, str(relation), counts_share=0.0)
    private_rows = private_rows_of(
        ((0, 0), (0, 1), (1, 1), (2, 0), (2, 0)), learner_of(estimator).charges(*_allowance(0.5)), relation
    )
    private_rows._noise = Watched([])  # type: ignore[assignment]
    learner_of(estimator).learn(private_rows, *_allowance(0.5))
    ((scores, scale),) = queries
    assert scores == [-3, -3, -4, -2]  # 1 from 0 on, from 1 on, from 2 on, nowhere
    assert scale == pytest.approx(apart / 0.5)


def choices(estimator: PrivateClassifier, target: float, rows: Rows, script: list[int]) -> list[tuple[float, Any]]:
    """Of every choice of a run that follows the script: the scale, and scores less the largest."""
    plan, run = learner_of(estimator).run(Setting(TASK, Cost(target, 0.0), ADD))
    private_rows, noise = private_rows_of(rows, plan, ADD), ScriptedNoise(script)
    private_rows._noise = noise  # type: ignore[assignment]
    run(private_rows)
    logs = [scale * np.log(option / option.max()) for scale, option in zip(noise.scales, noise.options, strict=True)]
    return list(zip(noise.scales, logs, strict=True))


def test_an_agnostic_learner_learns_what_the_chosen_pattern_says() -> None:
    """Algorithms 3 and 4 by hand: half of epsilon for the pattern; the learner sees no label but the pattern's."""
    (first, errors), (second, left) = choices(agnostic(patterns="public"), 2.0, ((0, 1), (1, 0), (2, 1), (2, 1)), [1])
    assert (first, second) == pytest.approx((1.0, 1.0))
    assert errors == pytest.approx(np.array([0, -1, 0, -2]))  # 1 from 0 on, from 1 on, from 2 on, nowhere
    assert left == pytest.approx(np.array([-1, 0, -1, -3]))  # labels are 0, 1, 1, 1 by now


def test_concepts_are_chosen_by_their_completions_given_those_before() -> None:
    """Algorithm 5 by hand, an OR of two cuts in opposite directions: equation (17), then what the first leaves."""
    concepts = [Thresholds("x", "rising"), Thresholds("x", "falling")]
    estimator = ComposedClassifier(concepts, "or", delta=0.0)
    (first, completed), (second, left) = choices(estimator, 2.0, ((0, 1), (1, 0), (2, 1)), [2])
    assert (first, second) == pytest.approx((1.0, 1.0))
    assert completed == pytest.approx(np.array([-1, -1, 0, -1]))
    assert left == pytest.approx(np.array([-1, 0, -1, -1]))


@pytest.mark.parametrize("relation", [ADD, pytest.param(REPLACE, marks=pytest.mark.slow)])
def test_sampling_amplifies_as_charged(relation: Neighbouring) -> None:
    """A selection on a random part of the rows, all samples enumerated."""
    own, rate = 1.5, 0.4 if relation is ADD else 0.5
    inner = learner_of(FiniteClassClassifier(Thresholds("x", "rising"), epsilon=own, delta=0.0, counts_share=0.0))
    child = inner.charges(*_allowance(own))
    view = Sample(rate, LABELS, tuple(child))
    plan = tuple(charge for charge, _ in view.charges(relation))
    charged = accountants.epsilon(plan, 0.0)
    assert charged < own

    def release(private_rows: PrivateRows) -> Hashable:
        (rows,) = open_view(private_rows, view, "sample")
        return released(inner.learn(rows, *_allowance(own)))

    @cache
    def outputs(rows: Rows) -> dict[Hashable, float]:
        mode = "coins" if relation is ADD else "order"
        return distribution(rows, plan, relation, release, lambda s: ScriptedNoise(s, words=mode, rate=rate))

    pairs = neighbours(relation, 2)
    value = max(largest_ratio(outputs(a), outputs(b)) for a, b in pairs)
    assert 0.4 * charged < value <= charged * (1 + 1e-9)


def one_set() -> ConceptSet:
    """Thresholds on the column."""
    assert TASK.encoding is not None
    (found,) = concept_sets([Thresholds("x", "rising")], TASK.encoding, 1000, None)
    return found


def learner_of(estimator: Any) -> Any:
    """What learns, with the parameters of an estimator."""
    return estimator.make_learner(request_of(estimator))


def _allowance(epsilon: float) -> tuple[Any, Task]:
    return Allowance.of(epsilon, 0.0), TASK


def test_draws_with_replacement_cost_what_is_charged() -> None:
    own = 0.7
    inner = learner_of(FiniteClassClassifier(Thresholds("x", "rising"), delta=0.0, counts_share=0.0))
    view = Sample(0.5, LABELS, tuple(inner.charges(*_allowance(own))), replacement=True)
    plan = tuple(charge for charge, _ in view.charges(REPLACE))
    assert accountants.epsilon(plan, 0.0) == pytest.approx(0.5 * math.expm1(own), rel=1e-6)

    def release(private_rows: PrivateRows) -> Hashable:
        (rows,) = open_view(private_rows, view, "draws")
        assert len(rows._labels) == 2  # half of four rows: more draws cost more, though not on every learner
        return released(inner.learn(rows, *_allowance(own)))

    @cache
    def outputs(rows: Rows) -> dict[Hashable, float]:
        return distribution(rows, plan, REPLACE, release, lambda s: ScriptedNoise(s, words="index", bound=4))

    fixed = ((0, 1), (1, 0), (2, 1))
    value = max(largest_ratio(outputs((*fixed, a)), outputs((*fixed, b))) for a in VALUES for b in VALUES if a < b)
    assert 0.3 * accountants.epsilon(plan, 0.0) < value <= accountants.epsilon(plan, 0.0)
    with pytest.raises(ValueError, match="public number of rows"):
        view.charges(ADD)


def test_the_best_of_repeated_runs_is_chosen_on_a_part_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remark 7.4 by hand: three runs, each at the whole budget on rows of its own, and a choice on a fourth part."""
    told: dict[str, Any] = {}

    def opened(rows: Any, view: Parts, label: Any) -> list[str]:
        told.update(children=view.children)
        return ["a", "b", "c", "last"]

    def selected(rows: Any, models: Any, label_index: Any, charge: Any, label: Any) -> int:
        told.update(rows=rows, models=models, charge=charge)
        return 2

    monkeypatch.setattr(base, "open_view", opened)
    monkeypatch.setattr(base, "select_member", selected)
    plan: Any = (Pure(0.5),)
    run: Any = str.upper
    assert learner_of(agnostic(repetitions=3))._best_of(None, Setting(TASK, Cost(0.5, 0.0), ADD), plan, run) == "C"
    assert (told["rows"], told["models"]) == ("last", ["A", "B", "C"])
    assert told["children"] == (plan, plan, plan, (told["charge"],))
    assert told["charge"].range == pytest.approx(0.5)


def test_choosing_a_model_costs_its_range() -> None:
    grid = NumericGrid(0.0, 3.0, cells=3)
    models = [
        RuleModel((0, 1), ("x",), (grid,), np.array([t <= c for c in range(3)] + [False]), f"x >= {t}")
        for t in range(4)
    ]
    charge = BoundedRange(1.0)

    def release(private_rows: PrivateRows) -> Hashable:
        return select_member(private_rows, models, LABELS, charge, "best")

    @cache
    def outputs(rows: Rows, relation: Neighbouring) -> dict[Hashable, float]:
        return distribution(rows, [charge], relation, release)

    for relation in (ADD, REPLACE):
        value = max(largest_ratio(outputs(a, relation), outputs(b, relation)) for a, b in neighbours(relation, 2))
        assert 0.5 < value <= 1.0 + 1e-9
        chances = distribution(((0, 0), (2, 1)), [charge], relation, release)
        worse = math.exp(-1.0 if relation is ADD else -0.5)  # the first and the last err once, the others never
        assert [chances[label] / chances[1] for label in range(4)] == pytest.approx([worse, 1.0, 1.0, worse])
    with pytest.raises(TypeError, match="BoundedRange or NonPrivate"):
        select_member(private_rows_of((), [Pure(1.0)], ADD), models, LABELS, Pure(1.0), "best")


def test_parts_are_disjoint_whole_and_independent_of_positions() -> None:
    rows: Rows = [(0, 1), (1, 0), (2, 1), (0, 0)]
    view = Parts(LABELS, ((Pure(1.0),), (Pure(1.0),)))
    for script in product((0, 1), repeat=4):
        private_rows = private_rows_of(rows, [Pure(1.0)], ADD)
        private_rows._noise = ScriptedNoise(list(script), words="index", bound=2)  # type: ignore[assignment]
        parts = open_view(private_rows, view, "parts")
        kept = [np.flatnonzero(part._label_codes(LABELS) != 255).tolist() for part in parts]
        assert kept == [[i for i in range(4) if script[i] == p] for p in (0, 1)]
    uneven = Parts(LABELS, ((Pure(1.0),), (BoundedRange(2.0),)))
    ((charge, theorem),) = uneven.charges(ADD)
    assert charge == Pure(math.nextafter(2.0, 3.0))
    assert "parallel composition over 2" in theorem


def test_paper_mode_keeps_the_stated_total() -> None:
    """Algorithm 4 as printed on all neighbours of two rows: far below the stated 4, after no subsampling."""
    plan = paper_plan(Cost(4.0, 0.0), REPLACE)
    assert plan.rate == 1.0
    assert plan.stated == Cost(4.0, 0.0)
    estimator = agnostic(neighbouring="replace_one", analysis="paper")
    charges, run = learner_of(estimator).run(Setting(TASK, Cost(4.0, 0.0), REPLACE))
    assert accountants.epsilon(charges, 0.0) == pytest.approx(4.0)

    def outputs(rows: Rows) -> dict[Hashable, float]:
        return distribution(
            rows, charges, REPLACE, lambda v: released(run(v)), lambda s: ScriptedNoise(s, words="order")
        )

    fixed = ((0, 1),)
    for a, b in ((VALUES[0], VALUES[5]), (VALUES[2], VALUES[3])):
        p, q = outputs((*fixed, a)), outputs((*fixed, b))
        assert hockey_stick(p, q, 4.0) == 0.0
