"""The schema and Theorem 20, on a weak learner whose advantage is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tacit.boosting.game import diagnose
from tacit.boosting.measures import LazyBregman, LogisticMeasure, Measure, SmoothMeasure
from tacit.boosting.schema import WeakLearnerError, boost
from tacit.boosting.stopping import EndTest
from tacit.curator.curator import Curator
from tacit.halfspaces.centering import Centre, DenseEmbedding
from tacit.privacy.charges import Gaussian, Laplace, NonPrivate
from tacit.privacy.ledger import BudgetExceeded
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tacit.theory.boosting import (
    lazy_bregman_learning_rate,
    lazy_bregman_rounds,
    smooth_boost_margin,
    smooth_boost_rounds,
)
from tests.boosting.common import curator_over

VOTERS = 2 * np.ones((3, 3)) - 4 * np.eye(3)
"""Three hypotheses over one-hot rows of three groups; each is wrong on one group (values +-2, clipped to +-1)."""

ADVANTAGE = 1 / 6
"""On any distribution one of them errs on at most a third: half the average of y h is at least 1/6."""


class Voter:
    """A weak learner of advantage 1/6: asks for the weights of the groups, and spares the lightest one's opponent."""

    def __init__(self, embedding: DenseEmbedding, reach: float) -> None:
        self.embedding, self.reach = embedding, reach

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
        query = measure.weighted_sum(self.embedding.log, len(hypotheses), self.reach)
        groups = curator.measure(query, NonPrivate(), "weights of the groups").value
        return Centre(VOTERS[int(np.argmin(groups))], 0.0)


def groups(n: int, shares: Sequence[float]) -> np.ndarray:
    """One-hot rows of three groups of these shares; all labels are positive."""
    return np.eye(3)[np.repeat([0, 1, 2], np.diff(np.rint(n * np.cumsum([0, *shares])).astype(int)))]


def run(rows: np.ndarray, measure: Measure, rounds: int, stop_at: float | None = None) -> tuple[np.ndarray, bool]:
    """Margins by round, shape (T, n), and whether the stopping rule ended the run."""
    curator, _ = curator_over(rows, np.ones(len(rows)))
    embedding = DenseEmbedding(HalfspaceLog(3))
    reach = float(rounds)
    stop = None if stop_at is None else EndTest(embedding.log, stop_at, NonPrivate(), reach)
    ensemble = boost(curator, embedding, measure, Voter(embedding, reach), rounds, stop)
    directions = np.array([h.direction for h in ensemble.hypotheses])
    return np.clip(directions @ rows.T, -1, 1), ensemble.stopped


@pytest.mark.parametrize("density", [0.1, 0.25])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1), (0.93, 0.05, 0.02)])
def test_theorem_20_margin_on_all_but_kappa(density: float, shares: tuple[float, ...]) -> None:
    rows = groups(200, shares)
    rounds = lazy_bregman_rounds(ADVANTAGE, density)
    measure = LazyBregman(density, lazy_bregman_learning_rate(ADVANTAGE), len(rows))
    margins, _ = run(rows, measure, rounds)
    assert (margins.mean(axis=0) <= ADVANTAGE - 1e-3).mean() <= density
    diagnosis = diagnose(margins, density)
    assert diagnosis.theta >= ADVANTAGE - 1e-3
    assert diagnosis.pythia_loss <= (1 + diagnosis.theta) / 2 + 1e-9


@pytest.mark.parametrize("density", [0.1, 0.25])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1), (0.93, 0.05, 0.02)])
def test_a_quarter_of_its_rounds_gets_the_signs_right(density: float, shares: tuple[float, ...]) -> None:
    rows = groups(200, shares)
    measure = LazyBregman(density, lazy_bregman_learning_rate(ADVANTAGE, "errors"), len(rows))
    margins, _ = run(rows, measure, lazy_bregman_rounds(ADVANTAGE, density, "errors"))
    assert (margins.mean(axis=0) <= 0).mean() < density


def test_far_fewer_rounds_are_not_enough() -> None:
    """What Theorem 20 promises is not true of any run: after four rounds one group has been sacrificed twice."""
    rows = groups(200, (1 / 3, 1 / 3, 1 / 3))
    margins, _ = run(rows, LazyBregman(0.1, lazy_bregman_learning_rate(ADVANTAGE), len(rows)), 4)
    assert (margins.mean(axis=0) <= ADVANTAGE - 1e-3).mean() > 0.1


def test_theorem_51_smooth_boost_stops_in_time_with_its_margin() -> None:
    density, rows = 0.1, groups(200, (0.5, 0.3, 0.2))
    limit = smooth_boost_rounds(ADVANTAGE, density)
    margins, stopped = run(rows, SmoothMeasure(ADVANTAGE), limit, stop_at=density * len(rows))
    assert stopped
    assert len(margins) < limit
    assert (margins.mean(axis=0) < smooth_boost_margin(ADVANTAGE) - 1e-3).mean() <= density


def test_a_round_costs_one_release_and_the_budget_ends_a_run() -> None:
    rows = groups(60, (0.4, 0.3, 0.3))
    embedding = DenseEmbedding(HalfspaceLog(3))

    class Noisy(Voter):
        def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
            query = measure.weighted_sum(self.embedding.log, len(hypotheses), self.reach)
            noisy = curator.measure(query, Gaussian(10.0), f"round {len(hypotheses)}").value
            return Centre(VOTERS[int(np.argmin(noisy))], 0.0)

    curator, reservation = curator_over(rows, np.ones(60), (Gaussian(10.0 / np.sqrt(7)),))
    ensemble = boost(curator, embedding, SmoothMeasure(0.2), Noisy(embedding, 9.0), 7)
    assert len(ensemble.hypotheses) == len(reservation.entries) == 7
    assert {entry.charge for entry in reservation.entries} == {Gaussian(10.0)}
    assert all("stateless measure" in entry.theorem for entry in reservation.entries)
    with pytest.raises(BudgetExceeded):
        boost(curator, embedding, SmoothMeasure(0.2), Noisy(embedding, 9.0), 1)


@pytest.mark.parametrize("measure", [SmoothMeasure(0.2), LogisticMeasure(0.5)])
def test_every_round_weighs_rows_by_all_hypotheses_before_it(measure: Measure) -> None:
    """Algorithms 1 and 2 by hand: round t sees t - 1 hypotheses, each once and at the measure's step."""
    counts, records, voters = np.array([60, 40, 20]), [], []
    curator, _ = curator_over(np.eye(3)[np.repeat([0, 1, 2], counts)], np.ones(120))
    log = HalfspaceLog(3)

    class Watching(Fixed):
        def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
            query = measure.weighted_sum(log, len(hypotheses), 8.0)
            records.append(curator.measure(query, NonPrivate(), "weights of the groups").value)
            voters.append([hypothesis.direction.tolist() for hypothesis in hypotheses])
            return super().learn(curator, measure, hypotheses)

    ensemble = boost(curator, DenseEmbedding(log), measure, Watching(), 4)
    cycle = [VOTERS[t % 3].tolist() for t in range(4)]
    assert voters == [cycle[:t] for t in range(4)]
    assert [hypothesis.direction.tolist() for hypothesis in ensemble.hypotheses] == cycle
    for t, weights in enumerate(records):
        margins = measure.step * np.sign(np.array(cycle[:t]).reshape(t, 3)).sum(axis=0)
        logistic, lead = 1 / (1 + np.exp(margins)), np.maximum(margins - t * 0.2 / 2.2, 0)
        expected = 0.8 ** (lead / 2) if isinstance(measure, SmoothMeasure) else logistic
        assert weights == pytest.approx(counts * expected, rel=0.005)


def test_same_measurements_same_hypotheses() -> None:
    """The learner is a function of its measurements: the same noise gives the same run."""
    rows = groups(60, (0.4, 0.3, 0.3))
    runs = []
    for _ in range(2):
        curator, _ = curator_over(rows, np.ones(60), (Laplace(0.1),), seed=5)
        log = HalfspaceLog(3)
        test = EndTest(log, 20.0, Laplace(1.0), 8.0)
        ensemble = boost(curator, DenseEmbedding(log), SmoothMeasure(0.2), Fixed(), 8, test)
        directions = [hypothesis.direction.tolist() for hypothesis in ensemble.hypotheses]
        runs.append(([entry.label for entry in curator._gate.reservation.entries], directions, ensemble.stopped))
    assert runs[0] == runs[1]


class Fixed:
    """A weak learner that asks for nothing."""

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
        return Centre(VOTERS[len(hypotheses) % 3], 0.0)


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_a_weak_learner_that_returns_no_number_is_refused_by_name(worst: float) -> None:
    class Broken(Fixed):
        def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[Centre]) -> Centre:
            return Centre(np.array([0.0, worst, 1.0]), 0.0)

    curator, _ = curator_over(np.eye(3), np.ones(3))
    with pytest.raises(WeakLearnerError, match=r"Broken returned .* must be finite"):
        boost(curator, DenseEmbedding(HalfspaceLog(3)), SmoothMeasure(0.1), Broken(), 2)
