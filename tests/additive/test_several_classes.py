"""Several classes under one budget, on small synthetic tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from tacit import AdditiveBoostClassifier
from tacit.additive.losses import SoftmaxLoss
from tacit.additive.term import Directions, Prior, Term
from tacit.additive.tuning import COUNTING, SWEEPING
from tacit.curator.measurement import Measurement
from tacit.growing.newton_trees import LeafSums, NewtonPlan
from tacit.growing.score_leaves import CurvatureShape, LeafSteps
from tacit.growing.softmax import SimulatedRows, likely_counts
from tacit.growing.tuning import SOFTMAX
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian
from tacit.queries.cells import OneCell, column_cells
from tacit.schema import Schema
from tests.additive.spent import share_spent

K = 4
COLUMNS = {f"x{j}": {"kind": "numeric", "lower": 0, "upper": 1} for j in range(4)}
COLUMNS["kind"] = {"kind": "categorical", "categories": ["a", "b", "c"]}


def schema_of(**label) -> Schema:
    return Schema.from_dict({"label": {"column": "y", **label}, "columns": COLUMNS})


def synthetic(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Four classes whose log-odds are smooth in three columns and differ by category; class probabilities beside."""
    generator = np.random.default_rng(seed)
    x, kind = generator.random((n, 4)), generator.integers(0, 3, n)
    score = np.stack(
        [
            3.0 * (x[:, 0] - 0.5) + 1.0 * (kind == 0),
            -2.0 * (x[:, 0] - 0.5) + np.sin(6 * x[:, 1]),
            2.0 * np.cos(5 * x[:, 1]) - 0.5,
            3.0 * (x[:, 2] - 0.5) - 1.0 * (kind == 2),
        ],
        axis=1,
    )
    chances = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    labels = (chances.cumsum(axis=1) < generator.random((n, 1))).sum(axis=1)
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(4)]).assign(kind=np.array(["a", "b", "c"])[kind])
    return frame, labels, chances


def log_loss(chances: np.ndarray, labels: np.ndarray) -> float:
    return float(-np.log(np.clip(chances[np.arange(len(labels)), labels], 1e-4, 1)).mean())


def part_epsilon(epsilon: float, delta: float, parts: int) -> float:
    wanted = Allowance.of(epsilon, delta).mu / math.sqrt(parts)
    return float(brentq(lambda e: Allowance.of(e, delta).mu - wanted, 1e-3 * epsilon, epsilon))


@pytest.mark.parametrize("epsilon", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_one_budget_is_better_than_a_budget_split_over_classes(epsilon):
    test_frame, test_labels, truth = synthetic(10_000, 99)
    whole, parts = [], []
    for seed in range(2):
        frame, labels, _ = synthetic(4000, seed)
        schema = schema_of(classes=list(range(K)))
        model = AdditiveBoostClassifier(epsilon, schema=schema, random_state=seed, interactions=False)
        model.fit(frame, labels)
        whole.append(log_loss(model.predict_proba(test_frame), test_labels))
        one = []
        for k in range(K):
            share = part_epsilon(epsilon, 1e-6, K)
            binary = AdditiveBoostClassifier(
                share, schema=schema_of(classes=[0, 1]), random_state=100 * seed + k, interactions=False
            )
            one.append(binary.fit(frame, (labels == k).astype(int)).predict_proba(test_frame)[:, 1])
        against = np.column_stack(one)
        parts.append(log_loss(against / against.sum(axis=1, keepdims=True), test_labels))
    assert log_loss(truth, test_labels) < np.mean(whole) < np.mean(parts)


def test_two_classes_are_learned_as_they_were():
    frame, labels, _ = synthetic(2000, 0)
    model = AdditiveBoostClassifier(1.0, schema=schema_of(classes=[0, 1]), random_state=1).fit(frame, labels > 1)
    assert model.model_.kind == "additive"
    assert model.decision_function(frame).shape == (2000,)


@pytest.mark.parametrize(("relation", "delta"), [("add_or_remove_one", 1e-6), ("replace_one", 0.0)])
def test_it_spends_what_was_reserved_and_no_more(relation, delta):
    frame, labels, _ = synthetic(2000, 0)
    schema = schema_of(classes=list(range(K)))
    model = AdditiveBoostClassifier(3.0, delta, relation, schema=schema, random_state=0).fit(frame, labels)
    assert 0.85 < share_spent(model.certificate_) <= 1 + 1e-9
    assert model.certificate_.verify() == []


def share_of_counts(epsilon, delta=1e-6):
    """What part of the budget counting ten classes of 1500 rows took, and what all took."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": generator.random(1500), "b": generator.random(1500)})
    columns = {name: {"kind": "numeric", "lower": 0, "upper": 1} for name in frame}
    schema = {"label": {"column": "y", "classes": list(range(10))}, "columns": columns}
    model = AdditiveBoostClassifier(epsilon, delta, schema=schema, random_state=0)
    certificate = model.fit(frame, generator.integers(0, 10, 1500)).certificate_
    entry = next(entry for entry in certificate.entries if entry.label == "counts of the classes")
    one = entry.charge.epsilon if delta == 0 else entry.charge.precision
    whole = epsilon if delta == 0 else Allowance.of(epsilon, delta).mu ** 2
    return one / whole, share_spent(certificate)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_counting_classes_takes_more_where_noise_hides_them(delta):
    loud, all_of_loud = share_of_counts(0.05, delta)
    quiet, all_of_quiet = share_of_counts(16.0, delta)
    assert loud == pytest.approx(COUNTING.most_counted if delta else COUNTING.pure_counted)
    assert quiet == pytest.approx(COUNTING.least_counted)
    for spent in (all_of_loud, all_of_quiet):
        assert 0.85 < spent <= 1 + 1e-9


@pytest.mark.parametrize("sd", [20.0, 100.0, 400.0])
def test_likely_counts_of_classes_are_nearer_than_noisy_ones_and_know_how_near(sd):
    """Mean excess log loss over 300 draws: a fifth below that of noisy counts cut off at a tenth of their noise."""
    generator, ours, plain, within = np.random.default_rng(0), [], [], []
    for _ in range(300):
        sizes = generator.dirichlet(np.ones(8)) * 1500 + 1
        noisy = sizes + sd * generator.normal(size=8)
        counts, variances = likely_counts(noisy, sd, 1500.0, SOFTMAX.class_spread)
        for found, losses in ((counts, ours), (np.maximum(noisy, sd / 10), plain)):
            losses.append(float(sizes @ np.log(sizes / sizes.sum() / (found / found.sum())) / sizes.sum()))
        within.append(np.average((np.log(counts) - np.log(sizes)) ** 2 < 4 * variances, weights=sizes))
    assert np.mean(ours) < 0.8 * np.mean(plain)
    assert np.mean(within) > 0.85


def test_without_noise_likely_counts_are_the_counts():
    exact = np.array([1000.0, 400.0, 80.0, 20.0])
    assert likely_counts(exact, 1e-3, 1500.0, SOFTMAX.class_spread)[0] == pytest.approx(exact, rel=0.3)


@pytest.mark.slow
def test_without_privacy_it_comes_near_the_truth():
    test_frame, test_labels, truth = synthetic(10_000, 99)
    frame, labels, _ = synthetic(20_000, 1)
    model = AdditiveBoostClassifier(math.inf, schema=schema_of(classes=list(range(K)))).fit(frame, labels)
    assert log_loss(model.predict_proba(test_frame), test_labels) - log_loss(truth, test_labels) < 0.02


def test_curvature_is_the_slope_of_the_mean_contribution():
    """Against a difference of exact contributions, at probabilities that differ from row to row."""
    loss, generator = SoftmaxLoss(3, pure=False), np.random.default_rng(0)
    rows = SimulatedRows([np.ones(8)], 3, generator, SWEEPING.simulated_rows)
    effects = generator.normal(0, 1.5, (8, 3))
    rows.add(column_cells(0, 8), effects)
    truth, matrix = rows.probabilities(), loss.curvature(rows)

    def contribution() -> np.ndarray:
        p = rows.probabilities()
        longest = np.sqrt(1 - 2 * p.min(axis=1) + np.square(p).sum(axis=1))
        return ((truth - p) / longest[:, None]).mean(axis=0)

    step = np.array([1e-5, -3e-5, 2e-5])
    rows.add(OneCell(), step[None, :])
    assert contribution() == pytest.approx(-matrix @ step, rel=1e-3, abs=1e-10)
    assert np.abs(matrix.sum(axis=1)).max() < 1e-12


def test_simulated_rows_follow_the_counts():
    rows = SimulatedRows(
        [np.array([3.0, 1.0]), np.array([1.0, 1.0, 2.0])], 1, np.random.default_rng(0), SWEEPING.simulated_rows
    )
    rows.add(column_cells(0, 2), np.array([[0.0], [1.0]]))
    assert rows.scores.mean() == pytest.approx(0.25, abs=2 / SWEEPING.simulated_rows)


def test_a_term_finds_the_effects_that_made_its_releases():
    generator = np.random.default_rng(0)
    counts, truth = np.full(6, 2000.0), generator.normal(0, 0.7, (6, 3))
    truth -= truth.mean(axis=1, keepdims=True)
    truth -= truth.mean(axis=0)
    matrix = 0.3 * (np.eye(3) - 1 / 3)
    directions = Directions.of(matrix, 0.01, 1.0)
    assert directions.basis.shape == (3, 2)
    prior = np.eye(6) - 1 / 6
    term = Term("x", Prior("categorical", column_cells(0, 6), counts, 0.0, [prior], None), 10.0, 3)
    for _ in range(12):
        value = counts[:, None] * (truth - term.effect) @ matrix + generator.normal(0, 10.0, (6, 3))
        term.observe(Measurement("x", value, 10.0, Gaussian(1.0), "none"))
        term.effect = term.effect + 0.5 * (term.solve(directions, None) - term.effect)
    assert np.abs(term.effect - truth).max() < 0.05
    assert 0.001 < term.sd(directions).max() < 0.05


def test_leaves_move_where_sums_speak_and_stay_where_there_is_noise():
    plan, generator = NewtonPlan(trees=50, depth=3), np.random.default_rng(1)
    shape = CurvatureShape(np.linalg.eigh(np.eye(3) - 1 / 3)[1], np.array([0.0, 0.5, 0.5]))
    speaking, silent = LeafSteps(plan), LeafSteps(plan)
    target = generator.normal(0, 0.6, (8, 3))
    target -= target.mean(axis=1, keepdims=True)
    traces = np.full(8, 600.0)
    h = traces[:, None] * 0.5  # both directions share the trace
    for _ in range(20):
        noise = generator.normal(0, 25.0, (8, 3))
        loud = speaking.take(LeafSums(h * target + noise, traces, 25.0, 25.0), shape, 1.0).values
        quiet = silent.take(LeafSums(generator.normal(0, 30.0, (8, 3)), traces, 25.0, 25.0), shape, 1.0).values
    assert np.corrcoef(loud.ravel(), target.ravel())[0, 1] > 0.9
    assert np.abs(loud).mean() > 0.6 * plan.rate * np.abs(target).mean()
    assert np.abs(quiet).mean() < 0.1 * np.abs(loud).mean()
