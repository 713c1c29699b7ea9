"""The kernels give what the plain algorithms of the lemmas give; most charges of default fits rest on lemmas."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import registry
from tacit.binning.measure import Column
from tacit.closure import AgnosticClassifier, ComposedClassifier, FiniteClassClassifier, Intervals, Thresholds
from tacit.engines.blocks import MemoryTable
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.covers.candidates import Conjunctions
from tacit.queries.covers.cover import CoverStep
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.query import Sensitivity
from tacit.queries.rules import WEIGHT_UNIT, RowRule
from tacit.report.budget import checked_share
from tacit.theory.checks import Cost
from tacit.theory.em_cover import Shifts, log_moment
from tacit.theory.resampling import sampled_round
from tacit.trees.induction import SCORE_UNIT, SplitCandidates, SplitScore
from tacit.trees.losses import MATSUSHITA, LogLoss, Loss, MAlphaLoss, SmoothedLoss, SquareLoss
from tests.replay.neighbours import schema_of, table_of

sys.path.insert(0, str(Path(__file__).parents[2] / "proofs"))
import reference

CODES = (5, 3)
Row = tuple[int, int, int]
ROW = st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 1))
ROWS = st.lists(ROW, max_size=12)


def table(rows: list[Row]) -> MemoryTable:
    data = np.array(rows, np.int64).reshape(-1, 3)
    return MemoryTable([data[:, j].astype(np.uint8) for j in (0, 1)], data[:, 2].astype(np.uint8), CODES, 2)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(0, 1000))
def test_a_histogram_through_a_map(rows: list[Row], seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.integers(-9, 10, (2, 1, 2)).astype(np.int32)
    matrix = generator.integers(-50, 51, (3, 5))
    plain = reference.histogram([(a, vectors[y, 0].tolist()) for a, _, y in rows], 5, 2)
    rule, cells = RowRule(vectors, 8), column_cells(0, 5)
    assert table(rows).answer(Histogram(cells, rule)).tolist() == plain
    mapped = Histogram(cells, rule, None, ReleaseMap(matrix, 1))
    assert table(rows).answer(mapped).tolist() == reference.release(matrix.tolist(), plain)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.lists(ROW, min_size=1, max_size=5), st.integers(0, 1000), st.sampled_from(Neighbouring))
def test_a_unit_moves_a_histogram_by_as_many_rows(
    rows: list[Row], unit: list[Row], seed: int, relation: Neighbouring
) -> None:
    """Rows that come one by one, or that take the place of the first ones; a unit of equal rows moves it so far."""
    vectors = np.random.default_rng(seed).integers(-9, 10, (2, 1, 2)).astype(np.int32)
    query = Histogram(column_cells(0, 5), RowRule(vectors, 8))
    replaced = unit[::-1] if relation is Neighbouring.REPLACE_ONE else []
    tables = [rows + unit[:t] + replaced[t:] for t in range(len(unit) + 1)]
    answers = [table(each).answer(query).reshape(-1).tolist() for each in tables]
    one, all_rows = query.sensitivity(relation), query.sensitivity(relation).times(len(unit))
    for step in pairwise(answers):
        apart = reference.unit_moves(step)
        assert apart[0] <= one.l1
        assert apart[1] <= one.l2_squared
    l1, l2_squared = reference.unit_moves(answers)
    assert l1 <= all_rows.l1
    assert l2_squared <= all_rows.l2_squared
    longest = max((0, 1), key=lambda y: int((vectors[y].astype(int) ** 2).sum()))
    equal = [table(rows + [(2, 0, longest)] * t).answer(query).reshape(-1).tolist() for t in range(len(unit) + 1)]
    alone = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).times(len(unit))
    assert reference.unit_moves(equal)[1] == alone.l2_squared


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=6))
def test_a_unit_moves_scores_apart_by_as_many_steps(wrong: list[list[int]]) -> None:
    """Counts of errors: a row adds an error or none to each of four concepts."""
    chain = [[sum(row[concept] for row in wrong[:t]) for concept in range(4)] for t in range(len(wrong) + 1)]
    assert reference.unit_range(chain) <= Sensitivity(1, 1, "").times(len(wrong)).l1


COVER_ROW = st.tuples(st.tuples(st.integers(0, 1), st.integers(0, 1)), st.integers(0, 1))
COVER_ROWS = st.lists(COVER_ROW, max_size=8)
WORTH = st.tuples(st.integers(0, 3), st.integers(1, 3))
TINY = Conjunctions((0, 1), (np.array([False, True]),) * 2, np.array([[-1], [0], [1]], np.int32))
FEATURES = (-1, 0, 1)
"""Of the conjunctions of ``TINY``: the constant, and two columns."""


@settings(max_examples=40, deadline=None)
@given(COVER_ROWS, WORTH, st.permutations([1, 2]))
def test_a_cover_counts_the_rows_that_are_left(rows: list[Any], worth: tuple[int, int], order: list[int]) -> None:
    columns = [np.array([x[k] for x, _ in rows], np.uint8) for k in (0, 1)]
    cover = MemoryTable(columns, np.array([y for _, y in rows], np.uint8), (2, 2), 2).open_cover(TINY)
    for chosen in order:
        scores = CoverStep(1.0, *worth).scores(cover.counts, ())
        assert scores.tolist() == [[reference.cover_score(rows, f, y, *worth) for y in (0, 1)] for f in FEATURES]
        cover.remove(chosen)
        rows = reference.uncovered(rows, FEATURES[chosen])


ORDERS = np.array([0.4, 1.0, 6.0])


@settings(max_examples=40, deadline=None)
@given(st.lists(COVER_ROW, max_size=3), COVER_ROW, COVER_ROW, st.booleans(), st.lists(WORTH, min_size=1, max_size=3))
def test_no_run_of_a_cover_beats_its_charge(
    rows: list[Any], one: Any, other: Any, replace: bool, worths: list[tuple[int, int]]
) -> None:
    steps = [(0.7 / (k + 1), *worth) for k, worth in enumerate(worths)]
    shifts = [Shifts(-penalty, reward) for reward, penalty in worths]
    bound = log_moment(ORDERS, [scale for scale, *_ in steps], shifts, replace)
    rules = [(f, y) for f in FEATURES for y in (0, 1)]
    for p, q in (
        ([*rows, one], [*rows, other] if replace else rows),
        ([*rows, other] if replace else rows, [*rows, one]),
    ):
        moments = [reference.cover_moment(float(order), steps, rules, p, q) for order in ORDERS]
        assert (np.log(moments) <= bound + 1e-12).all()


@settings(max_examples=60, deadline=None)
@given(WORTH, st.floats(0.01, 2.0), st.integers(1, 4), st.booleans(), st.randoms(use_true_random=False))
def test_the_bound_of_a_cover_plays_the_game_of_its_lemma(
    worth: tuple[int, int], scale: float, steps: int, added: bool, random: Any
) -> None:
    """The premise of ``cover.v``, of the numbers that are charged: no mixture of two kinds of rules beats a step."""
    shifts = Shifts(-worth[1], worth[0])
    later, now = (log_moment(ORDERS, [scale] * n, shifts) for n in (steps - 1, steps))
    moves = scale * np.array([0, -worth[1], worth[0]]) * (-1 if added else 1)
    values = np.stack([later, 0 * later, 0 * later])
    for _ in range(20):
        x, (i, j) = random.random(), random.sample(range(3), 2)
        mean = x * np.exp(moves[i]) + (1 - x) * np.exp(moves[j])
        value = x * np.exp(values[i] - ORDERS * moves[i]) + (1 - x) * np.exp(values[j] - ORDERS * moves[j])
        assert (ORDERS * np.log(mean) + np.log(value) <= now + 1e-9).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.floats(0.02, 0.98), st.floats(0.05, 1.5), st.floats(0, 0.2), st.integers(0, 10**6))
def test_draws_cost_what_the_lemma_says(size: int, share: float, epsilon: float, delta: float, seed: int) -> None:
    """A learner that tells how many of its rows are the first one, by randomised response that may also fail openly."""
    generator = np.random.default_rng(seed)
    common, one, other = generator.dirichlet(np.ones(3), 3)
    told = generator.permutation(size + 1)[: max(1, size // 2)]
    weights = np.exp(-epsilon * np.abs(np.arange(size + 1)[:, None] - np.arange(size + 1)))
    weights[:, [0, size]] /= 1 - np.exp(-epsilon)  # truncated geometric noise, exactly private
    laws = weights / weights.sum(axis=1, keepdims=True)

    def chance(sample: tuple[int, ...]) -> float:
        count = sum(row == 0 for row in sample)
        return (1 - delta) * float(laws[count, told].sum()) + delta * (count % 2)

    cost = sampled_round(Cost(epsilon, delta), share, size)
    p, q = ((1 - share) * common + share * own for own in (one, other))
    for first, second in ((p, q), (q, p)):
        on_first, on_second = (reference.drawn_chance(law.tolist(), size, chance) for law in (first, second))
        assert on_first <= np.exp(cost.epsilon) * on_second + cost.delta + 1e-12


@pytest.mark.parametrize(
    ("epsilon", "delta", "share", "size"), [(0.4, 0.01, 0.2, 3), (1.0, 1e-3, 0.05, 4), (0.0, 0.02, 0.3, 3)]
)
def test_some_learner_costs_as_much_on_draws(epsilon: float, delta: float, share: float, size: int) -> None:
    """Every further row of the other kind raises a chance by all that the learner claims, its delta included."""
    steps = [0.002]
    for _ in range(size):
        steps.append(float(np.exp(epsilon)) * steps[-1] + delta)
    assert all(1 - one <= np.exp(epsilon) * (1 - more) + delta for one, more in pairwise(steps))
    cost = sampled_round(Cost(epsilon, delta), share, size)
    on_draws = reference.drawn_chance([1 - share, share], size, lambda sample: steps[sum(sample)])
    assert on_draws == pytest.approx(np.exp(cost.epsilon) * steps[0] + cost.delta, rel=1e-12)


WEIGHTS = st.tuples(*[st.floats(0, 50)] * 4)


@pytest.mark.parametrize("loss", [MAlphaLoss(0.3), MATSUSHITA, SquareLoss(), LogLoss(), SmoothedLoss(0.2)], ids=str)
@given(WEIGHTS, st.floats(0, 9))
def test_risks_are_of_the_kind_that_splits_rest_on(loss: Loss, weights: tuple[float, ...], factor: float) -> None:
    a, b, c, d = weights

    def risk(positives: float, negatives: float) -> float:
        return float(loss.node_risk(positives, positives + negatives))

    assert risk(a, b) + risk(c, d) <= risk(a + c, b + d) + 1e-9
    assert risk(factor * a, factor * b) == pytest.approx(factor * risk(a, b), abs=1e-9)
    assert max(abs(risk(a, 0.0)), abs(risk(0.0, a))) <= 1e-9


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(2, 9))
def test_splits_are_scored_by_the_risk_of_their_children(rows: list[Row], cap: int) -> None:
    candidates = SplitCandidates.of([Column(0, "a", True)], [5], [True])
    answer = np.zeros((1, 5, 2), np.int64)
    for code, _, label in rows:
        answer[0, code, label] += WEIGHT_UNIT
    scores = SplitScore(candidates, MAlphaLoss(0.4), cap)(iter([answer]))[0]

    def risk(a: int, b: int) -> float:
        return float(MAlphaLoss(0.4).node_risk(a, a + b))

    for member, score in zip(candidates.members[0], scores, strict=True):
        plain = [(bool(member[code]), label == 1, 1) for code, _, label in rows]
        expected = reference.split_score(plain, cap - 1, risk)  # type: ignore[arg-type]
        assert score == pytest.approx(SCORE_UNIT * expected, abs=1.5)


ESTIMATORS = {name.rpartition(".")[2] for name in registry.of_the_library(registry.estimators())}
TWO = {"schema": schema_of("two")}
REPLACE = {"neighbouring": "replace_one"}
DEFAULTS: list[tuple[Any, str, dict[str, Any]]] = [
    (tacit.AdditiveBoostClassifier, "two", {}),
    (tacit.AdditiveBoostRegressor, "number", {}),
    (tacit.BoostedTreesClassifier, "two", {}),
    (tacit.DecisionListClassifier, "two", {}),
    (tacit.DecisionListClassifier, "two", {"delta": 0.0, **REPLACE}),
    (tacit.HalfspaceBoostClassifier, "two", {}),
    (tacit.MAlphaBoostClassifier, "two", {}),
    (tacit.RandomTreesClassifier, "two", {}),
    (tacit.ResampledBoostClassifier, "two", {"base": tacit.HalfspaceBoostClassifier(**TWO, **REPLACE), **REPLACE}),
    (AgnosticClassifier, "two", {"concepts": Thresholds("a")}),
    (ComposedClassifier, "two", {"concepts": [Thresholds("a"), Intervals("b")]}),
    (FiniteClassClassifier, "two", {"concepts": Thresholds("a")}),
]


@pytest.mark.parametrize(("estimator", "kind", "more"), DEFAULTS)
def test_all_charges_of_a_default_fit_rest_on_lemmas(estimator: Any, kind: str, more: dict[str, Any]) -> None:
    rows = table_of(kind, 400)
    request = {"epsilon": 1.0, "delta": 1e-6, "random_state": 1, "schema": schema_of(kind), **more}
    certificate = estimator(**request).fit(rows.X, rows.y).certificate_
    assert checked_share(certificate.entries, certificate.charges, certificate.delta) == 1.0


def test_every_learner_of_the_registry_is_among_them() -> None:
    of_others = {"BatchwiseClassifier", "BatchwiseRegressor", "PrivateSelection"}  # fits of the learners above
    assert ESTIMATORS - of_others == {estimator.__name__ for estimator, _, _ in DEFAULTS}


def test_a_renyi_curve_counts_by_what_it_costs() -> None:
    """By the slope of its curve it would seem to cost nothing, and a decision list to rest on its histogram."""
    rows = table_of("two", 90)
    request = {"epsilon": 1.0, "delta": 1e-6, "random_state": 1, "schema": schema_of("two")}
    certificate = tacit.DecisionListClassifier(**request).fit(rows.X, rows.y).certificate_
    entries = [replace(each, theorem="") if each.charge.kind == "renyi" else each for each in certificate.entries]
    assert checked_share(entries, certificate.charges, certificate.delta) < 0.5
