"""Stopping rules: the noisy end test, what a tested round costs, and what it cannot be used on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.boosting.measures import LazyBregman, SmoothMeasure
from tacit.boosting.stopping import EndTest
from tacit.privacy.charges import Laplace, NonPrivate, Repeated
from tacit.queries.dense.halfspace_log import HalfspaceLog
from tests.boosting.common import curator_over
from tests.chance import within_share

ROWS, LABELS = np.eye(3)[np.arange(60) % 3], np.ones(60)


def test_the_exact_test_compares_the_size_with_the_threshold() -> None:
    log, measure = HalfspaceLog(3), SmoothMeasure(0.2)
    curator, reservation = curator_over(ROWS, LABELS)
    assert not EndTest(log, 59.0, NonPrivate(), 5.0)(curator, measure, 0)  # weight 1 for every row
    assert EndTest(log, 60.0, NonPrivate(), 5.0)(curator, measure, 0)
    for _ in range(3):
        log.add(np.ones(3))  # now every row is three ahead
    size = 60 * 0.8 ** ((3 - 3 * measure.theta) / 2)
    assert EndTest(log, size + 0.2, NonPrivate(), 5.0)(curator, measure, 3)
    assert not EndTest(log, size - 0.2, NonPrivate(), 5.0)(curator, measure, 3)
    assert [entry.what.round for entry in reservation.entries] == [1, 1, 4, 4]  # the round that would come next
    size = float(curator.measure(measure.size(log, 3, 5.0), NonPrivate(), "size").value[0])
    assert EndTest(log, size, NonPrivate(), 5.0)(curator, measure, 3)  # at the threshold a run ends


def test_the_paper_s_test_is_algorithm_11() -> None:
    """Laplace noise of scale 1 / epsilon, surplus 2 + log(1 / delta) / epsilon; each test is entered."""
    log, measure = HalfspaceLog(3), SmoothMeasure(0.2)
    end_test = EndTest.of_paper(log, 42.0, 0.5, 1e-3, 5.0)
    assert (end_test.charge, end_test.threshold, end_test.reach) == (Laplace(2.0), 42.0, 5.0)
    assert end_test.surplus == pytest.approx(2 + math.log(1e3) / 0.5)
    assert EndTest(log, 50.0, Laplace(2.0), 12.0).surplus == 0.0
    curator, reservation = curator_over(ROWS, LABELS, (Repeated(Laplace(2.0), 1000),), seed=3)
    stopped = sum(end_test(curator, measure, 0) for _ in range(1000))
    gap = 60 - 42 - end_test.surplus  # positive: stops when the noise is below -gap
    expected = 0.5 * math.exp(-0.5 * gap)
    assert within_share(stopped, 1000, expected)
    assert {entry.charge for entry in reservation.entries} == {Laplace(2.0)}
    assert "largest weight" in reservation.entries[0].theorem
    wrong = 0.5 * math.exp(-0.5 * (gap + 6))  # a threshold six rows lower would be told apart
    assert not within_share(stopped, 1000, wrong)


def test_a_measure_of_constant_size_has_no_end_test() -> None:
    log = HalfspaceLog(3)
    curator, reservation = curator_over(ROWS, LABELS)
    with pytest.raises(TypeError, match="constant size"):
        EndTest(log, 5.0, NonPrivate(), 5.0)(curator, LazyBregman(0.5, 0.5, 60), 0)
    assert reservation.entries == ()
