"""Steps, scores and charges of decision lists as numbers, each rule written once more."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.decision_lists.plan import LAST, UNIT, ListBudget, PureFirst, accountings, plan_of, pure_stages, steps_at
from tacit.decision_lists.tuning import PureStages
from tacit.privacy import accountants
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.charges import Accounting, cover_charge
from tacit.queries.covers.cover import CoverStep, ScoredStep
from tacit.theory.em_cover import Shifts

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def budget(**more: Any) -> ListBudget:
    return ListBudget(
        **{
            "epsilon": 1.0, "delta": 1e-6, "neighbouring": ADD, "n_steps": 4, "errors_only": False,
            "analysis": "sharp", "counts_share": 0.2, **more,
        }
    )  # fmt: skip


def test_scores_by_stage() -> None:
    """Step 3 after one rule: two steps chose none, so both pure stages are over, and the penalty is 4."""
    family = PureFirst(3, 5, (32, 16), 4.0, 7)
    counts = np.array([[9, 2], [0, 5]])

    def by_hand(penalty: float, need: int) -> list[list[float]]:
        reward = max(1, round(64 / penalty))
        return [[reward * (r - need) - 64 * w for r, w in ((a, b), (b, a))] for a, b in counts.tolist()]

    for chosen, penalty, need in ((3, 32, 7), (2, 16, 7), (1, 4.0, 0), (0, 4.0, 0)):
        assert family.scores(counts, ((0, 0),) * chosen).tolist() == by_hand(penalty, need)
    assert (family.scores(counts, ((0, 0),) * 5) == LAST).all()
    assert UNIT == 64
    assert family.shifts == Shifts(-64.0, 16.0)
    assert PureFirst(1, 5, (32, 16), 4.0, 7).shifts == Shifts(-64.0, 4.0)
    assert PureFirst(0, 5, (32, 16), 4.0, 7).shifts == Shifts(-64.0, 2.0)
    assert PureFirst(9, 5, (), 1000.0, 7).shifts == Shifts(-64.0, 1.0)


def test_rows_beyond_the_knee_count_by_another_penalty() -> None:
    """Of large rules the purer is the better, though the larger would be by one penalty for all rows."""
    counts = np.array([[200, 0], [300, 0], [900, 9], [650, 5]])
    family = PureFirst(0, 5, (8,), 4.0, 50, 300, 32)
    assert family.scores(counts, ())[:, 0].tolist() == [
        8 * 150, 8 * 250, 8 * 250 + 2 * 600 - 64 * 9, 8 * 250 + 2 * 350 - 64 * 5,
    ]  # fmt: skip
    kneeless = PureFirst(0, 5, (8,), 4.0, 50).scores(counts, ())[:, 0]
    assert kneeless.argmax() == 2
    purer = PureFirst(0, 5, (8,), 4.0, 50, 300, 64).scores(counts, ())[:, 0]
    assert purer[3] > purer[2]
    after = PureFirst(1, 5, (8,), 4.0, 50, 300, 32).scores(counts, ())[:, 0]
    assert after.tolist() == [16 * 200, 16 * 300, 16 * 900 - 64 * 9, 16 * 650 - 64 * 5]
    assert PureFirst(0, 5, (8,), 4.0, 50, 300, 32).shifts == Shifts(-64.0, 8.0)


def test_which_budgets_have_pure_stages() -> None:
    assert pure_stages(budget(epsilon=4.0)) == PureStages(4.0, (8,), 0.03, 0.3, 64)
    assert pure_stages(budget(epsilon=3.99)) == PureStages(0.0, (8,), 0.05, 0.3, 32)
    assert pure_stages(budget(epsilon=math.inf, delta=0.0)) == PureStages(4.0, (8,), 0.03, 0.3, 64)
    for without in ({"errors_only": True}, {"rows_per_unit": 2}, {"delta": 0.0}):
        assert pure_stages(budget(**without)).penalties == ()


def test_steps_at_a_strength() -> None:
    """Penalties fall from 4 to 1, strengths from 1.4 times to once; pure stages take a step each."""
    steps = steps_at(0.6, budget(), (16,))
    assert len(steps) == 5
    for index, (step, share) in enumerate(zip(steps, (1.0, 0.75, 0.5, 0.25, 0.0), strict=True)):
        assert isinstance(step, ScoredStep)
        assert step.scale == pytest.approx(0.6 * 1.4**share / 64)
        assert step.family == PureFirst(index, 4, (16,), pytest.approx(4.0**share), 0)
    (alone,) = steps_at(0.6, budget(n_steps=1))
    assert alone.scale == pytest.approx(0.6 / 64)
    last = steps_at(0.6, budget(ending=True))[-1]
    assert last == CoverStep(0.6 / 64, 64, 64, ending=True)
    plain = steps_at(0.6, budget(errors_only=True, ending=True))
    assert plain == (CoverStep(0.6, 0, 1),) * 4 + (CoverStep(0.6, 0, 1, ending=True),)


def test_which_analyses_are_tried() -> None:
    assert accountings(budget()) == [Accounting.MOMENTS]
    assert accountings(budget(n_steps=4001)) == [Accounting.CURVE]
    assert accountings(budget(n_steps=4000)) == [Accounting.MOMENTS]
    assert accountings(budget(delta=0.0)) == [Accounting.PURE]
    assert accountings(budget(rows_per_unit=2)) == [Accounting.RANGES]
    assert accountings(budget(analysis="paper")) == [Accounting.PAPER]
    assert accountings(budget(errors_only=True, n_steps=21)) == [Accounting.MOMENTS, Accounting.EXACT]
    assert accountings(budget(errors_only=True, n_steps=20)) == [Accounting.MOMENTS]
    assert accountings(budget(errors_only=True, n_steps=21, neighbouring=REPLACE)) == [Accounting.MOMENTS]


def test_what_a_plan_charges() -> None:
    """A fifth of epsilon for counts, a 50th for rows, all that is left for the cover; fixed charges beside."""
    fixed = (Gaussian(20.0),)
    plan = plan_of(budget(fixed=fixed))
    assert (plan.counts, plan.rows, plan.fixed, plan.stages.gain) == (Laplace(5.0), Laplace(50.0), fixed, 0.05)
    first = plan.steps_for(1_000.4)[0]
    assert isinstance(first, ScoredStep)
    assert first.family == PureFirst(0, 4, (8,), 4.0, 50, 300, 32)
    assert plan.cover == cover_charge(plan.steps_for(1_000.4), ADD, Accounting.MOMENTS)
    assert plan.charges == (*fixed, plan.cover, Laplace(50.0), Laplace(5.0))
    assert plan.cover == cover_charge(plan.steps, ADD, Accounting.MOMENTS)
    assert accountants.epsilon(plan.charges, 1e-6) == pytest.approx(1.0, rel=1e-3)
    assert accountants.epsilon(plan.charges, 1e-6) <= 1.0
    assert len(plan_of(budget(n_steps=1, errors_only=True)).steps) == 1
    silent = plan_of(budget(counts_share=0.0, errors_only=True))
    assert (silent.counts, silent.rows) == (None, None)
    paper = plan_of(budget(errors_only=True, counts_share=0.0, analysis="paper"))
    assert paper.steps[0].scale == pytest.approx(1.0 / (2 * (math.log(1e6) + 1.5)), rel=2e-4)
    shared = plan_of(budget(errors_only=True, counts_share=0.0, analysis="paper", fixed=(Gaussian(50.0),)))
    assert shared.cover.delta == 0.5e-6  # type: ignore[union-attr]


def test_without_privacy_rules_are_the_best_ones() -> None:
    plan = plan_of(budget(epsilon=math.inf, delta=0.0))
    assert all(step.scale == math.inf for step in plan.steps)
    assert plan.charges == (NonPrivate(), NonPrivate(), NonPrivate())
    assert plan_of(budget(epsilon=math.inf, counts_share=0.0, errors_only=True)).charges == (NonPrivate(),)


def test_what_rules_must_gain() -> None:
    """A 20th of the rows as released, in pure stages alone; a negative number asks for nothing."""
    plan = plan_of(budget(ending=True))
    for rows, need, knee in ((1234.0, 62, 370), (-50.0, 0, 0)):
        for before, after in zip(plan.steps, plan.steps_for(rows), strict=True):
            if isinstance(before, ScoredStep):
                assert after == replace(before, family=replace(before.family, need=need, knee=knee, beyond=32))  # type: ignore[type-var]
            else:
                assert after == before
