"""The room as others use it: their own measure and weak learner, behind the same gate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pytest

from tacit import boosting
from tacit.boosting import HalfspaceLog, LazyBregman, Measure, boost, private_rows, stateless_sum
from tacit.curator.curator import Curator
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import BudgetExceeded
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tests.boosting.common import margin_rows


class Vectors:
    def __init__(self, log: HalfspaceLog) -> None:
        self.log = log

    def append(self, hypothesis: np.ndarray, step: float) -> None:
        self.log.add(hypothesis, step)


class Average:
    """A weak learner: the noisy weighted average of y x, at length 1."""

    def __init__(self, embedding: Vectors, charge: Charge, reach: float) -> None:
        self.embedding, self.charge, self.reach = embedding, charge, reach

    def learn(self, curator: Curator, measure: Measure, hypotheses: Sequence[np.ndarray]) -> np.ndarray:
        query = measure.weighted_sum(self.embedding.log, len(hypotheses), self.reach)
        noisy = curator.measure(query, self.charge, f"round {len(hypotheses) + 1}").value
        return np.asarray(noisy / np.linalg.norm(noisy))


@pytest.mark.parametrize("neighbouring", list(Neighbouring))
def test_a_run_is_reserved_certified_and_no_more(neighbouring: Neighbouring) -> None:
    rows, labels, _ = margin_rows(4000, 10, 0.4, seed=1)
    with private_rows(rows, labels, row_norm=1.0, epsilon=1.0, neighbouring=neighbouring, random_state=0) as private:
        embedding = Vectors(private.log())
        measure = LazyBregman(0.5, 0.2, private.count(0.1))
        learner = Average(embedding, private.charge(0.09), 10.0)
        ensemble = boost(private.budget.curator, embedding, measure, learner, 10)
        with pytest.raises(BudgetExceeded):
            boost(private.budget.curator, embedding, measure, learner, 1)
        assert private.certificate is None
    certificate = private.certificate
    assert certificate is not None
    assert certificate.verify() == []
    assert not certificate.releasable
    assert len(certificate.entries) == 11
    assert certificate.epsilon == 1.0
    halfspace = np.mean(ensemble.hypotheses, axis=0)
    assert ((rows @ halfspace > 0) == labels).mean() > 0.95


def test_a_block_that_fails_has_spent_its_reservation() -> None:
    rows, labels, _ = margin_rows(100, 3, 0.4, seed=1)
    results = []

    def fail() -> None:
        with private_rows(rows, labels, row_norm=1.0, epsilon=1.0) as private:
            results.append(private)
            private.count(0.5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert results[0].certificate is None


def test_rows_are_counted_and_no_count_is_below_one() -> None:
    for labels, count in (([0.0, 1.0, 1.0], 3.0), ([0.0, 2.0, 2.0], 1.0), ([2.0, 2.0, 2.0], 1.0)):
        with private_rows(np.eye(3), np.array(labels), row_norm=1.0, epsilon=math.inf) as private:
            assert private.count(0.1) == count


def test_a_measure_of_one_s_own_has_the_sensitivity_of_its_largest_weight() -> None:
    """The query reads it off the table: a row of norm 1 at the largest weight moves the sum by exactly that much."""
    log = HalfspaceLog(2)
    query = stateless_sum(log, lambda margins: np.where(margins < 0, 0.75, 0.25), 4.0)
    bound = query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2
    exact = []
    for rows in (np.array([[0.3, 0.1], [1.0, 0.0]]), np.array([[0.3, 0.1]])):
        with private_rows(rows, np.ones(len(rows)), row_norm=1.0, epsilon=math.inf) as private:
            log_of_one_sign = private.log()
            log_of_one_sign.add(np.array([-1.0, 0.0]))
            asked = stateless_sum(log_of_one_sign, lambda margins: np.where(margins < 0, 0.75, 0.25), 4.0)
            exact.append(private.budget.measure(asked, 1.0, "sum").value)
    moved = np.linalg.norm(exact[0] - exact[1])
    assert moved == pytest.approx(0.75, rel=1e-3)
    assert 0.9 * bound / query.unit < moved <= bound / query.unit


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({"row_norm": norm}, "row_norm") for norm in (0.0, -1.0, math.inf, math.nan)),
        ({"epsilon": 0.0}, "epsilon"),
        ({"y": np.zeros(3)}, "same number of rows"),
    ],
)
def test_public_mistakes_are_refused(changes: dict, message: str) -> None:
    given = {"X": np.zeros((5, 2)), "y": np.zeros(5), "row_norm": 1.0, "epsilon": 1.0, **changes}
    with pytest.raises(RequestError, match=message), private_rows(**given):
        pass


def test_no_public_name_is_that_of_a_module() -> None:
    """Importing the module would put it in the place of what has its name."""
    for name in boosting.__all__:
        getattr(boosting, name)  # loads all modules
    assert not [name for name in boosting.__all__ if isinstance(getattr(boosting, name), ModuleType)]
