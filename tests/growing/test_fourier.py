"""Smooth functions of all columns: what is learned, how large noise is, and what is paid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import block_diag

from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.memory import MemoryTable
from tacit.growing.fourier import Directions, believed_way, fourier_rule, look_together
from tacit.growing.normal_rows import NormalRows
from tacit.growing.random_trees import Cuts
from tacit.growing.released_features import Axes, draw_features, normal_scores, released_axes
from tacit.growing.tuning import SMOOTH
from tacit.noise import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.queries.fourier import FourierSum
from tacit.queries.margins import Margins

CODES = 32


def curator_of(columns, labels, allowance, seed=0):
    """A curator over a table of columns of :data:`CODES` codes and "missing", and what pays for it."""
    reservation = Reservation([allowance.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    table = MemoryTable([c.astype(np.uint8) for c in columns], labels.astype(np.uint8), [CODES + 1] * len(columns), 2)
    return Curator(table, reservation, SeededSource(seed)), reservation


def alike(n, seed, correlation=0.95):
    """Two columns that are nearly the same, and labels that follow from their difference."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=n), generator.normal(size=(2, n))
    numbers = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
    edges = np.quantile(numbers, np.arange(1, CODES) / CODES)
    codes = [np.searchsorted(edges, column) for column in numbers]
    odds = 2.0 * (own[0] - own[1])
    return codes, (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int), odds


def masses(columns):
    return [np.append(np.full(CODES, 1.0 / CODES), 0.0)] * columns


LOOK_PART = 0.2


def looked(codes, labels, allowance, seed=0, share=1.0):
    """A look that may spend the share, and what paid for it."""
    gate, reservation = curator_of(codes, labels, allowance, seed)
    budget, generator = Budget(gate, allowance, share), np.random.default_rng(seed)
    look = look_together(budget, float(len(labels)), Cuts(masses(len(codes))), Margins(), generator)
    paid = sum(entry.charge.noise_multiplier**-2.0 for entry in reservation.entries) / allowance.mu**2
    assert paid == pytest.approx(0.0 if look is None else share), "all of it, or nothing"
    return look, reservation, budget


def grown(codes, labels, allowance, seed=0, noise=0.33, share=1.0):
    look, reservation, budget = looked(codes, labels, allowance, seed, LOOK_PART * share)
    rest = Budget(budget.curator, allowance, (1.0 - LOOK_PART) * share)
    return look.grow(rest, noise), reservation


def score_of(term, codes):
    return term.score([c.astype(np.uint8) for c in codes])


def test_normal_scores_rise_with_codes_have_mean_0_and_variance_1():
    mass = np.array([5.0, 1.0, 20.0, 30.0, 10.0, 7.0])
    scores = normal_scores(mass, None)
    shares = mass[:-1] / mass[:-1].sum()
    assert np.all(np.diff(scores[:-1]) > 0)
    assert abs(shares @ scores[:-1]) < 1e-12
    assert shares @ scores[:-1] ** 2 == pytest.approx(1.0)
    assert scores[-1] == 0.0, "missing is the mean"


def test_normal_scores_follow_the_order_that_codes_are_given():
    rank = np.array([2, 0, 3, 1])
    scores = normal_scores(np.array([3.0, 1.0, 2.0, 5.0]), rank)
    assert np.array_equal(np.argsort(np.argsort(scores)), rank)


def test_scores_of_a_column_that_hardly_varies_stay_small():
    scores = normal_scores(np.array([99_990.0, 10.0, 0.0]), None)
    mass = np.array([99_990.0, 10.0]) / 100_000
    assert mass @ scores[:2] ** 2 < 0.1


def test_axes_find_columns_that_vary_together():
    codes, labels, _ = alike(4000, 1)
    allowance = Allowance.of(8.0, 1e-6)
    gate, _ = curator_of(codes, labels, allowance)
    axes, spent = released_axes(Budget(gate, allowance, 0.1), 4000.0, masses(2), [None, None])
    assert spent == 0.1
    assert 0.85 < axes.covariance[0, 1] / axes.covariance[0, 0] < 1.0
    assert np.linalg.eigvalsh(axes.covariance).min() >= SMOOTH.least_variance - 1e-9


def test_axes_ask_nothing_where_noise_would_drown_it():
    codes, labels, _ = alike(60, 2)
    allowance = Allowance.of(0.1, 1e-6)
    gate, reservation = curator_of(codes, labels, allowance)
    axes, spent = released_axes(Budget(gate, allowance, 0.1), 60.0, masses(2), [None, None])
    assert spent == 0.0
    assert np.array_equal(axes.covariance, np.eye(2))
    assert not reservation.entries


def test_the_kernel_is_that_of_gaussian_distances():
    axes = Axes((0, 1), (np.linspace(-2, 2, 30),) * 2, np.array([[1.0, 0.9], [0.9, 1.0]]))
    features, normal = draw_features(axes, np.random.default_rng(3))
    assert sum(np.trace(block) for block in normal.products) == pytest.approx(1.0)
    along = np.array([1.0, 1.0]) @ features.frequencies.T
    across = np.array([1.0, -1.0]) @ features.frequencies.T
    assert across.std() / along.std() == pytest.approx(math.sqrt(1.9 / 0.1), rel=0.25), "small differences count more"


def directions(columns=2, rows=3000.0, curvature=0.12, seed=4):
    axes = Axes(tuple(range(columns)), (np.linspace(-2, 2, 30),) * columns, np.eye(columns))
    _, normal = draw_features(axes, np.random.default_rng(seed))
    return Directions.of(normal, rows, curvature), block_diag(*normal.products)


def simulated(normal: NormalRows, rows: int, seed: int):
    """Rows and their feature vectors."""
    generator = np.random.default_rng(seed)
    numbers = generator.multivariate_normal(np.zeros(len(normal.covariance)), normal.covariance, rows)
    phases = numbers @ normal.frequencies.T
    return numbers, np.concatenate([np.cos(phases), np.sin(phases)], axis=1) / math.sqrt(len(normal.frequencies))


NORMAL = NormalRows(
    np.array([[0.5, 0.2], [-0.3, 1.1], [1.4, 0.6], [0.0, -0.8], [0.9, -0.9]]), np.array([[1.0, 0.7], [0.7, 1.5]])
)
SIMULATED = 400_000


def test_moments_of_normal_rows_are_those_of_simulated_ones():
    """To five standard errors, none of which is above 1/2 over the root of the rows."""
    _, vectors = simulated(NORMAL, SIMULATED, 1)
    close = 2.5 / math.sqrt(SIMULATED) / len(NORMAL.frequencies)
    np.testing.assert_allclose(block_diag(*NORMAL.products), vectors.T @ vectors / SIMULATED, atol=close)
    np.testing.assert_allclose(NORMAL.mean, vectors.mean(axis=0), atol=close * math.sqrt(len(NORMAL.frequencies)))
    weights = np.random.default_rng(2).normal(size=(10, 3))
    spread = (vectors @ weights).var(axis=0)
    assert NORMAL.variance(weights) == pytest.approx(spread.sum(), rel=0.01)
    assert NORMAL.variance(weights[:, 0]) == pytest.approx(spread[0], rel=0.01)


def test_answers_to_polynomials_of_one_column_are_those_of_simulated_rows():
    """Every power of a column answers within the span, and the span has no more directions than powers."""
    numbers, vectors = simulated(NORMAL, SIMULATED, 3)
    for block, blind in zip(NORMAL.of_single_columns(3), (slice(0, 5), slice(5, 10)), strict=True):
        basis, lengths, _ = np.linalg.svd(block, full_matrices=False)
        np.testing.assert_allclose(np.linalg.norm(block, axis=0), 1.0)
        for column in (0, 1):
            for power in (0, 1, 2, 3):
                function = numbers[:, column] ** power
                answer = (function @ vectors)[blind] / SIMULATED
                beyond = answer - basis @ (basis.T @ answer)
                error = 5.0 * math.sqrt((function**2).mean() / SIMULATED)
                assert np.linalg.norm(beyond) < error
        assert len(lengths) <= 1 + 2 * 3


def test_steps_never_overshoot():
    way = 0.7 / SMOOTH.steps
    along, products = directions()
    curvature = 3000.0 * 0.25 * products
    assert np.linalg.eigvalsh(along.steps(way) @ curvature).max() <= 1.0 + 1e-9
    actual = np.eye(len(curvature)) - along.steps(way) @ (0.12 / 0.25 * curvature)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(actual).real), np.sort(along.kept(way)), atol=1e-8)


@pytest.mark.parametrize("truth", [0.0, 0.02, 0.5])
def test_the_way_follows_what_the_first_sum_speaks_for(truth):
    """Sums drawn from the prior: nothing at all, little, much."""
    along, _ = directions()
    generator, answer = np.random.default_rng(11), 0.12 * along.rows
    ways = []
    for _ in range(20):
        spread = np.sqrt(answer**2 * truth + answer + 2.0**2)
        ways.append(
            believed_way(along.likelihood(along.vectors @ (spread * generator.normal(size=len(spread))), 2.0), 10.0)
        )
    assert 0.7 * truth < np.mean(ways) / SMOOTH.of_the_likely < 1.5 * truth + 0.01


def test_the_way_ends_where_noise_says():
    along, _ = directions()
    seen = along.vectors @ (along.rows * 0.3)
    assert believed_way(along.likelihood(seen, 2.0), 0.1) == pytest.approx(0.1, rel=1e-3)
    deaf = believed_way(along.likelihood(seen * 0.0, 1e4), 0.1)
    assert 0.0 < deaf < 0.06, "where nothing is heard, nothing is as likely as something"


def test_no_row_weighs_more_than_the_clip():
    rule = fourier_rule()
    assert rule.longest[0] <= SMOOTH.clip * rule.unit
    assert rule.longest[0] > 0.99 * SMOOTH.clip * rule.unit
    assert rule.table[1].min() >= 0
    assert rule.table[0].max() <= 0


def test_small_differences_of_columns_are_learned():
    codes, labels, odds = alike(4000, 6)
    term, _ = grown(codes, labels, Allowance.of(2.0, 1e-6))
    assert np.corrcoef(score_of(term, codes), odds)[0, 1] > 0.85


def test_all_of_the_share_is_spent_and_no_more():
    codes, labels, _ = alike(2000, 7)
    allowance = Allowance.of(2.0, 1e-6)
    _, reservation = grown(codes, labels, allowance, share=0.4)
    spent = [entry.charge.noise_multiplier**-2.0 for entry in reservation.entries]
    assert len(spent) == SMOOTH.steps + 2
    assert sum(spent) == pytest.approx(0.4 * allowance.mu**2)
    assert spent[0] == pytest.approx(SMOOTH.scatter_part * LOOK_PART * 0.4 * allowance.mu**2)
    assert {entry.theorem.split(":")[0] for entry in reservation.entries} == {
        "scatter of clipped scores",
        "sum of weighted Fourier features",
    }


def test_what_a_hopeless_scatter_would_cost_goes_to_the_function():
    codes, labels, _ = alike(150, 13)
    _, reservation = grown(codes, labels, Allowance.of(0.5, 1e-6))
    assert len(reservation.entries) == SMOOTH.steps + 1


def test_one_column_is_not_looked_at():
    codes, labels, _ = alike(500, 8)
    look, reservation, _ = looked(codes[:1], labels, Allowance.of(2.0, 1e-6))
    assert look is None
    assert not reservation.entries


def test_a_look_tells_what_columns_say_together_from_what_each_says_alone():
    """Differences of columns that are nearly the same; a curve of one of them; nothing at all."""
    generator, allowance = np.random.default_rng(12), Allowance.of(4.0, 1e-6)
    codes, together, _ = alike(6000, 6)
    chance = 1 / (1 + np.exp(-1.5 * np.sin(codes[0] / 5.0)))
    alone, nothing = (generator.random(6000) < chance).astype(int), generator.integers(0, 2, 6000)
    found = {
        name: [looked(codes, labels, allowance, seed, 0.1)[0] for seed in range(4)]
        for name, labels in (("together", together), ("alone", alone), ("nothing", nothing))
    }
    evidence = {name: [look.evidence for look in looks] for name, looks in found.items()}
    assert min(evidence["together"]) > 10.0
    assert max(evidence["alone"]) < 0.2 * min(evidence["together"])
    assert max(evidence["nothing"]) < 0.5


def test_functions_of_one_column_are_not_seen_beyond_single_columns():
    axes = Axes((0, 1), (np.linspace(-2, 2, 30),) * 2, np.eye(2))
    _, normal = draw_features(axes, np.random.default_rng(3))
    beyond = Directions.beyond_single_columns(normal, 3000.0, 0.12, 7).vectors
    np.testing.assert_allclose(beyond.T @ beyond, np.eye(beyond.shape[1]), atol=1e-9)
    numbers, vectors = simulated(normal, 20_000, 4)

    def seen(function):
        """The part of an answer that is seen, without what chance makes of it: two halves of the rows agree on it."""
        one, other = (beyond.T @ (vectors[part].T @ function[part]) for part in (slice(0, 10_000), slice(10_000, None)))
        whole = [np.linalg.norm(vectors[part].T @ function[part]) for part in (slice(0, 10_000), slice(10_000, None))]
        return one @ other / math.prod(whole)

    for function in (numbers[:, 0], numbers[:, 1] ** 2, numbers[:, 0] ** 3 + 1.0):
        assert abs(seen(function)) < 1e-3
    assert seen(numbers[:, 0] * numbers[:, 1]) > 0.1


def test_more_columns_than_features_leave_nothing_to_see():
    generator = np.random.default_rng(5)
    normal = NormalRows(generator.normal(size=(4, 9)), np.eye(9))
    nothing = Directions.beyond_single_columns(normal, 100.0, 0.1, 2)
    assert nothing.vectors.shape == (8, 0)
    assert np.ptp(nothing.likelihood(generator.normal(size=8), 1.0)) == 0.0


def test_noise_is_of_the_stated_size(monkeypatch):
    """Scatter of fits to the same rows, with features and first look held fixed."""
    codes, labels, _ = alike(4000, 9)
    together = np.array([[1.0, 0.95], [0.95, 1.0]])
    drawn = draw_features(Axes((0, 1), (normal_scores(masses(1)[0], None),) * 2, together), np.random.default_rng(1))
    monkeypatch.setattr("tacit.growing.released_features.draw_features", lambda *_: drawn)
    monkeypatch.setattr("tacit.growing.fourier.believed_way", lambda *_: 0.1)
    fits = [grown(codes, labels, Allowance.of(1.0, 1e-6), seed=seed)[0] for seed in range(12)]
    seen = np.stack([score_of(term, codes) for term in fits]).var(axis=0, ddof=1).mean()
    stated = np.mean([term.sd**2 for term in fits])
    assert 0.75 < math.sqrt(stated / seen) < 1.3


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_noise_of_sums_has_the_declared_scale(factor):
    """Of an empty table a sum is noise alone; half or twice its scale is rejected."""
    allowance = Allowance.of(1.0, 1e-6)
    gate, _ = curator_of([np.zeros(0, int)] * 2, np.zeros(0, int), allowance)
    axes = Axes((0, 1), (np.linspace(-2, 2, CODES + 1),) * 2, np.eye(2))
    features, _ = draw_features(axes, np.random.default_rng(10))
    query = FourierSum(features, fourier_rule(), Margins())
    release = gate.measure(query, allowance.charge(1.0), "noise")
    declared = math.sqrt(query.sensitivity(Neighbouring.ADD_OR_REMOVE_ONE).l2_squared) / query.unit / allowance.mu
    ratio = float((release.value**2).mean()) / (factor * declared) ** 2
    bound = 4.5 * math.sqrt(2.0 / features.size)
    assert (abs(ratio - 1.0) < bound) == (factor == 1.0)
