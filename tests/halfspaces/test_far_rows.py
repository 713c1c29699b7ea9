"""The one count that the rule asks for: its share, its value, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.halfspace_rows import made_rows, minority_rows
from tacit.boosting import private_rows
from tacit.halfspaces import learn
from tacit.halfspaces.centering import Centre
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.halfspaces.learn import is_long, many_far_rows
from tacit.halfspaces.plan import Options
from tacit.halfspaces.scaling import Scaling
from tacit.halfspaces.tuning import TUNING
from tacit.queries.dense.halfspace_log import RADIUS_16


def test_its_share_by_value() -> None:
    """As much as makes two deviations 2 % of the rows, from .2 to 1.5 %; nothing where they are a quarter of them."""
    options = Options()
    assert options.far_share(math.inf) == TUNING.least_far_share == 0.002
    assert options.far_share(1000.0) == pytest.approx((2.0 / (0.02 * 1000)) ** 2)
    assert options.far_share(500.0) == TUNING.most_far_share == 0.015
    least = 2.0 / (math.sqrt(0.015) * 0.25)
    assert (options.far_share(1.001 * least), options.far_share(0.999 * least)) == (0.015, 0.0)
    assert options.far_share(0.0) == 0.0
    assert (options.far_share(130.0, True), options.far_share(1000.0, True)) == (0.05, options.far_share(1000.0))
    for asked in (
        Options(constant=0.5), Options(scaling=False), Options(rounds=9), Options("smooth"), Options(stop_density=0.1),
    ):  # fmt: skip
        assert asked.far_share(math.inf) == 0.0
        assert "far" not in asked.shares
    assert options.shares["far"] == 0.002
    assert math.fsum(options.shares_for(30.0, 20).values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("share", "many"), [(0.039, False), (0.041, True), (0.5, True)])
def test_rows_are_far_from_two_typical_scores_on(share: float, many: bool) -> None:
    """1,000 rows with scores in units of a typical one; beyond 2 on the wrong side they count, others do not."""
    scores = np.full(1000, 1.9)
    scores[500:] = -1.9
    scores[: round(share * 1000)] = -2.6
    labels = np.tile([0, 1], 500)
    rows = np.zeros((1000, 4))
    rows[:, 0] = (2 * labels - 1) * scores / 8  # of norm at most 1; a typical score of the direction is 1 / 8
    scaling = Scaling(np.full(4, 1 / 64), np.zeros(4))
    first = Centre(np.eye(4)[0], 0.0)
    with private_rows(rows, labels, row_norm=1.0, epsilon=math.inf, random_state=0) as sealed:
        assert many_far_rows(sealed.budget, RADIUS_16, 0.1, [first], scaling, 1000.0, TUNING) is many
        noisy = replace(TUNING, far_rows=0.6)
        assert not many_far_rows(sealed.budget, RADIUS_16, 0.1, [first], scaling, 1000.0, noisy)
    with private_rows(rows, labels, row_norm=1.0, epsilon=1.0, random_state=0) as sealed:
        deviations = share * 1000 / (sealed.budget.sd(0.01))
        for noise, told in ((-8, True), (8, False)):
            sure = replace(TUNING, far_rows=0.0, far_deviations=deviations + noise)
            assert many_far_rows(sealed.budget, RADIUS_16, 0.01, [first], scaling, 1000.0, sure) is told


def test_a_centre_is_long_by_value() -> None:
    """Of squared length 4 by the scaling, or 2 and a little with the noise taken off twice: its mean, and as much."""
    scaling = Scaling(np.array([0.25, 0.04]), np.zeros(2))
    edge = 0.5 / math.sqrt(2 * 29 / 641)  # trace 4 + 25, of the square 16 + 625
    for noise, limit, long in ((0.0, 3.99, True), (0.0, 4.0, False), (0.99 * edge, 2.0, True), (edge, 2.0, False)):
        first = Centre(np.array([2.0, 0.0]), noise, 2.0)
        assert is_long(first, scaling, replace(TUNING, long_centre=limit)) is long
    assert TUNING.long_centre == 2.0


def fitted(rows: Any, labels: Any, epsilon: float, **more: Any) -> HalfspaceBoostClassifier:
    how = {"row_norm": 1.0, "fit_intercept": False, "classes": (0, 1), "random_state": 0} | more
    return HalfspaceBoostClassifier(epsilon, **how).fit(rows, labels)


@pytest.mark.parametrize(
    ("epsilon", "n", "d", "rounds"),
    [(1.0, 6000, 60, 80), (0.3, 6000, 20, 40), (math.inf, 3000, 20, 40)],  # without noise the scaling alone tells
)
def test_where_one_centre_is_wrong_about_a_fifth_the_default_goes_on(
    epsilon: float, n: int, d: int, rounds: int
) -> None:
    rows, labels = minority_rows(n + 2000, d, 0.1, 0)
    model = fitted(rows[:n], labels[:n], epsilon)
    assert len(model.ensemble_.hypotheses) == rounds
    assert (model.predict(rows[n:]) != labels[n:]).mean() <= 0.01
    subjects = [entry.subject for entry in model.certificate_.entries]
    assert subjects.count("rows far on the wrong side of the first centre") == 1
    assert model.certificate_.verify() == []


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_on_spherical_rows_the_rounds_go_on_as_they_were(epsilon: float) -> None:
    rows, labels = made_rows(6000, 20, 0.1, 1)
    model = fitted(rows[:4000], labels[:4000], epsilon)
    plain = fitted(rows[:4000], labels[:4000], epsilon, measure="smooth")
    assert len(model.ensemble_.hypotheses) == len(plain.ensemble_.hypotheses) == 40
    errors = [float((each.predict(rows[4000:]) != labels[4000:]).mean()) for each in (model, plain)]
    assert errors[0] <= errors[1] + 0.003


def test_under_pure_privacy_nothing_is_asked() -> None:
    rows, labels = minority_rows(3000, 20, 0.1, 0)
    model = fitted(rows, labels, 4.0, delta=0.0)
    assert not any("far" in str(entry.subject) for entry in model.certificate_.entries)
    assert model.certificate_.verify() == []


def test_rounds_after_far_rows_follow_the_noise() -> None:
    """Unscaled steps are short: few where they would follow noise, many where there is none."""
    rng = np.random.default_rng(0)
    rows, labels = minority_rows(1500, 20, 0.1, 0)
    turned = rows @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
    for epsilon, rounds in ((2.0, 40), (5.0, 80), (10.0, 80), (math.inf, 320)):
        assert len(fitted(turned, labels, epsilon).ensemble_.hypotheses) == rounds


def test_rounds_pay_for_the_better_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spherical rows of a large margin have a long centre, and no rows far on the wrong side."""
    queries: list[Any] = []

    def noted(*facts: Any) -> bool:
        queries.append((facts[2], facts[-1]))
        return many_far_rows(*facts)

    monkeypatch.setattr(learn, "many_far_rows", noted)
    rows, labels = made_rows(3500, 100, 0.2, 1)
    model = fitted(rows[:3000], labels[:3000], 1.0)
    [(share, tuning)] = queries
    assert 0.015 < share < 0.05
    assert (tuning.far_scores, tuning.far_deviations) == (1.0, 0.5)
    assert len(model.ensemble_.hypotheses) == 79
    assert (model.predict(rows[3000:]) != labels[3000:]).mean() <= 0.01
    assert model.certificate_.verify() == []
