"""Draws from a stateless measure behind an end test: slickness, the law of the test, what a round costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.boosting.measures import SmoothMeasure
from tacit.curator.views.resample import CAP, SmoothSample, drawn_cost, round_with_test
from tacit.curator.views.view import Rows
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.noise import make_source
from tacit.privacy.charges import ApproxDP, Charge, NonPrivate, Pure
from tacit.privacy.unit import Neighbouring
from tacit.theory.boosting import smooth_boost_slickness
from tacit.theory.checks import Cost
from tacit.theory.resampling import sampled_round
from tests.chance import within_law, within_share
from tests.curator.views.voters import Voter, changed, random_rows

REPLACE = Neighbouring.REPLACE_ONE


def table_of(t: int, advantage: float = 0.4) -> np.ndarray:
    return np.floor(SmoothMeasure(advantage).weights(np.arange(-t, t + 1.0), t) * CAP).astype(np.int64)


def view_of(
    t: int, threshold: int, size: int = 10, cost: Cost | None = None, child: Charge | None = None
) -> SmoothSample:  # fmt: skip
    voters = tuple(Voter(f"v{j}") for j in range(t))
    cost, child = cost or Cost(0.5, 1e-3), child or Pure(0.5)
    return SmoothSample(voters, table_of(t), threshold, size, LabelIndex((0, 1)), (child,), cost)


def worst_distance_times_size(trials: int) -> float:
    """Search: total variation of the drawn row between neighbours, times the smaller size of the two measures."""
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(trials):
        n, t = int(rng.integers(2, 12)), int(rng.integers(0, 5))
        rows, place = random_rows(rng, n, max(1, t)), int(rng.integers(n))
        view = view_of(t, 1)
        first, second = (view.weights(r) / CAP for r in (rows, changed(rows, place, rng)))
        assert abs(first.sum() - second.sum()) <= 1  # what the end test relies on
        if min(first.sum(), second.sum()) < 1:
            continue
        p, q = first / first.sum(), second / second.sum()
        others = np.delete(np.abs(p - q), place).sum()
        worst = max(worst, 0.5 * (others + p[place] + q[place]) * min(first.sum(), second.sum()))
    return worst


def test_one_row_moves_the_drawing_by_at_most_one_over_the_size() -> None:
    """Lemma 52 has 2 / (kappa n); the search attains half of it, so a constant a tenth smaller would be wrong."""
    worst = worst_distance_times_size(3000)
    assert worst <= 1 + 1e-12
    assert worst > 0.95
    assert smooth_boost_slickness(0.5, 200) == 2 / 100


def test_a_round_is_charged_by_lemma_49() -> None:
    view = view_of(1, 100, size=25)
    ((charge, theorem),) = view.charges(REPLACE)
    drawn = sampled_round(Cost(0.5, 1e-3), 0.01, 25)
    assert isinstance(charge, ApproxDP)
    assert charge.epsilon == pytest.approx(2 * drawn.epsilon)
    assert charge.delta == pytest.approx(math.exp(drawn.epsilon) * drawn.delta)
    assert "Lemmas 49" in theorem
    paper = drawn_cost(Cost(0.5, 1e-3), 100, 25, "paper")
    assert paper.epsilon == pytest.approx(4 * 0.5 * 0.02 * 25)
    assert paper.epsilon > drawn.epsilon
    assert round_with_test(paper).epsilon == 2 * paper.epsilon


def test_the_end_test_has_the_noise_of_algorithm_11() -> None:
    """Ends with the probability that Laplace noise of scale 1 / epsilon gives; a scale 10 % off is told apart."""
    cost, threshold, draws = Cost(0.4, 1e-2), 20, 80_000
    view = view_of(0, threshold, size=threshold, cost=cost)
    drawn = view.drawn
    surplus = 2 + math.log(1 / drawn.delta) / drawn.epsilon
    n = math.ceil(threshold + surplus + 1.5 / drawn.epsilon)
    source = make_source(1)
    ended = sum(view._ends(n * CAP, source) for _ in range(draws))

    def expected(scale: float) -> float:
        return 0.5 * math.exp(-(n - threshold - surplus) / scale)

    assert within_share(ended, draws, expected(1 / drawn.epsilon))
    for wrong in (0.9, 1.1):
        assert not within_share(ended, draws, expected(wrong / drawn.epsilon))


def test_draws_follow_the_measure() -> None:
    rng = np.random.default_rng(1)
    rows = random_rows(rng, 12, 3)
    view = view_of(3, 1, size=60_000, child=NonPrivate())
    (drawn,) = view.open(rows, REPLACE, make_source(0))
    shares = view.weights(rows) / view.weights(rows).sum()

    def table(r: Rows, weights: np.ndarray) -> dict[tuple[float, ...], float]:
        out: dict[tuple[float, ...], float] = {}
        for i in np.flatnonzero(r.labels != DROPPED):
            key = (*(float(np.asarray(r.frame.column(f"v{k}"))[i]) for k in range(3)), float(r.labels[i]))
            out[key] = out.get(key, 0.0) + float(weights[i])
        return out

    expected, result = table(rows, shares), table(drawn, np.ones(60_000))
    assert within_law({key: round(count) for key, count in result.items()}, expected)
    assert (drawn.labels != DROPPED).all()


def test_a_small_measure_ends_the_view() -> None:
    rows = random_rows(np.random.default_rng(0), 30, 2)
    size = view_of(2, 1).weights(rows).sum() / CAP
    assert view_of(2, math.floor(size), child=NonPrivate()).open(rows, REPLACE, make_source(0)) != []
    assert view_of(2, math.ceil(size), child=NonPrivate()).open(rows, REPLACE, make_source(0)) == []
    assert view_of(2, math.floor(size)).open(rows, REPLACE, make_source(0)) == []  # not *clearly* above


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: view_of(1, 10).charges(Neighbouring.ADD_OR_REMOVE_ONE), "replace_one"),
        (lambda: view_of(1, 10, cost=Cost(0.5, 0.0)).charges(REPLACE), "positive delta"),
        (lambda: SmoothSample((), table_of(1), 5, 5, LabelIndex((0, 1)), (Pure(1.0),), Cost(1, 1e-6)), "0 voters"),
        (lambda: SmoothSample((), np.array([CAP + 1]), 5, 5, LabelIndex((0, 1)), (Pure(1.0),), Cost(1, 1e-6)), "lie"),
    ],
)
def test_what_is_not_analysed_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
