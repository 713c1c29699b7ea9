"""Gradient trees: what they learn, what they spend, and that they learn from releases alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tacit.binning.tree_bins import (
    Column,
    Totals,
    _equal_mass,
    _with_missing,
    counted_bins,
    grid,
    public_bins,
    public_mass,
    release_totals,
    smoothed_mass,
)
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.growing.gradient_trees import BaseRate, gaussian_plan, learn_gradient_trees
from tacit.growing.newton_trees import without_laplace
from tacit.growing.random_trees import RandomStructures
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.margins import Margins
from tacit.queries.tree_cells import logistic_gradient_rule

CELLS = 1024


def toy(n: int, seed: int, flip: float = 0.1) -> tuple[list[np.ndarray], np.ndarray]:
    """Three numeric columns and a categorical one; the label is an exclusive or of two, overruled by the last."""
    rng = np.random.default_rng(seed)
    x = rng.random((3, n))
    category = rng.integers(0, 4, n)
    y = ((x[0] > 0.4) ^ (x[1] > 0.6)).astype(int)
    y = np.where(category == 2, 1, y)
    y = np.where(rng.random(n) < flip, 1 - y, y)
    codes = [np.minimum((v * CELLS).astype(np.uint16), CELLS - 1) for v in x]
    return [*codes, category.astype(np.uint8)], y.astype(np.uint8)


COLUMNS = [Column(0, "a", True), Column(1, "b", True), Column(2, "c", True), Column(3, "kind", False)]


def gate(
    codes: list[np.ndarray], y: np.ndarray, allowance: Allowance, relation: str = "add_or_remove_one", seed: int = 0
) -> tuple[Curator, Reservation]:
    reservation = Reservation([allowance.whole], Neighbouring(relation), "test")
    table = MemoryTable([c.copy() for c in codes], y, [CELLS + 1] * 3 + [6], 2, threads=1)
    return Curator(table, reservation, SeededSource(seed)), reservation


def scores(learned: object, codes: list[np.ndarray]) -> np.ndarray:
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(learned.bins, codes, strict=True)]
    return learned.intercept + sum(t.values[t.shape.find(bins)] for t in learned.trees)


@pytest.mark.parametrize(
    ("epsilon", "delta", "relation", "least"),
    [(2.0, 1e-6, "add_or_remove_one", 0.85), (4.0, 1e-6, "replace_one", 0.85), (4.0, 0.0, "add_or_remove_one", 0.8)],
)
def test_learns_an_interaction_and_spends_what_was_planned(
    epsilon: float, delta: float, relation: str, least: float
) -> None:
    codes, y = toy(6000, 1)
    allowance = Allowance.of(epsilon, delta)
    curator, reservation = gate(codes, y, allowance, relation)
    learned = learn_gradient_trees(Budget(curator, allowance), COLUMNS, n_trees=120 if delta else None)
    fresh, truth = toy(4000, 2)
    assert roc_auc_score(truth, scores(learned, fresh)) > least
    assert learned.rows == pytest.approx(6000, rel=0.1)
    charges = [entry.charge for entry in reservation.entries]
    if delta:
        assert all(isinstance(c, Gaussian) for c in charges)
        assert math.fsum(c.precision for c in charges) == pytest.approx(allowance.mu**2)
    else:
        assert all(isinstance(c, Laplace) for c in charges)
        assert math.fsum(c.epsilon for c in charges) == pytest.approx(epsilon)
    assert all(entry.theorem for entry in reservation.entries)


def test_rows_with_nothing_to_tell_make_a_model_all_the_same() -> None:
    allowance = Allowance.of(1.0, 1e-6)
    empty = [np.zeros(0, np.uint16)] * 3 + [np.zeros(0, np.uint8)]
    learned = learn_gradient_trees(
        Budget(gate(empty, np.zeros(0, np.uint8), allowance)[0], allowance), COLUMNS, n_trees=5
    )
    assert np.isfinite(learned.intercept)
    assert all(np.all(np.isfinite(t.values)) for t in learned.trees)
    constant = [np.zeros(50, np.uint16)] * 3 + [np.zeros(50, np.uint8)]
    learned = learn_gradient_trees(
        Budget(gate(constant, np.ones(50, np.uint8), allowance)[0], allowance), COLUMNS, n_trees=5
    )
    assert np.isfinite(scores(learned, constant)).all()


def test_bins_of_equal_mass_by_hand() -> None:
    """A cell goes where the middle of its mass lies; bins that would hold nothing are left out."""
    mass, bins = np.array([1.0, 2.0, 2.0, 0.5, 0.5, 2.0, 12.0]), 6
    for order in (np.arange(7), np.array([3, 6, 0, 5, 1, 4, 2])):
        wanted, seen = {}, 0.0
        for cell in order:
            wanted[int(cell)] = math.floor((seen + mass[cell] / 2) / 20 * bins)
            seen += mass[cell]
        known = sorted(set(wanted.values()))
        assert len(known) < bins
        assert _equal_mass(order, mass, bins).tolist() == [known.index(wanted[cell]) for cell in range(7)]
    made = _with_missing(mass, 0.75, bins)
    assert made.mapping.tolist() == [*_equal_mass(np.arange(7), mass, bins).tolist(), made.size - 1]
    assert made.mass.tolist() == [*(mass[made.mapping[:7] == one].sum() for one in range(made.size - 1)), 0.75]
    assert _with_missing(np.zeros(0), 0.75, bins).mapping.tolist() == [0]


def test_grid_keeps_missing_apart() -> None:
    cells = grid(COLUMNS[0], CELLS + 1, 256)
    assert (cells.max(), cells[-1], cells[-2]) == (256, 256, 255)
    assert grid(COLUMNS[0], 11, 256).tolist() == list(range(11))
    assert grid(COLUMNS[3], 6, 256).tolist() == list(range(6))


def test_the_prior_of_steps_is_one_of_chances() -> None:
    """A step of so much chance is longer in log-odds where the base rate is rare, and the prior wider."""
    priors = []
    for rare in (False, True):
        codes, y = toy(6000, 1)
        if rare:
            y = (y * (np.arange(6000) % 8 == 0)).astype(np.uint8)
        allowance = Allowance.of(30.0, 1e-6)
        learned = learn_gradient_trees(Budget(gate(codes, y, allowance)[0], allowance), COLUMNS, n_trees=5)
        priors.append(learned.plan.prior)
        share = float(y.mean())
        curvature = min(0.53 / max(share, 1 - share), 1.0) * share * (1 - share)
        assert learned.plan.prior == pytest.approx(gaussian_plan(6000, allowance.mu).prior * 0.25 / curvature, rel=0.15)
    assert priors[1] > 3 * priors[0]


def test_categories_are_put_in_a_new_order_for_every_tree_where_nothing_is_known_of_them() -> None:
    rng = np.random.default_rng(0)
    fixed = RandomStructures([np.ones(6)], rng)
    anew = RandomStructures([np.arange(1.0, 7.0)], rng, reordered=[0])
    for structures, thresholds in ((fixed, True), (anew, False)):
        shapes = [structures.draw(1, 1) for _ in range(40)]
        sets = [tuple(shape.goes_right(0)[:6].astype(int)) for shape in shapes]
        assert all(list(s) == sorted(s) for s in sets) is thresholds
        assert all(0 < sum(s) < 6 for s in sets)
        assert len(set(sets)) > 3


def test_the_posterior_mean_behind_laplace_noise() -> None:
    """Against the integral; it hardly moves beyond ``variance / scale``; without noise nothing changes."""
    for sd, scale in ((1.0, 0.3), (1.0, 1.0), (0.4, 5.0), (30.0, 2.0)):
        x = np.linspace(-9 * sd, 9 * sd, 40_001)
        for value in (-3.0 * scale, 0.1, sd, 8.0 * scale):
            weight = np.exp(-0.5 * (x / sd) ** 2 - np.abs(value - x) / scale)
            expected = float((weight * x).sum() / weight.sum())
            result = without_laplace(np.array([value]), np.array([sd**2]), scale)[0]
            assert result == pytest.approx(expected, rel=1e-3, abs=1e-3 * sd)
            assert abs(result) <= sd**2 / scale
    large = np.array([1e6, -3e4])
    assert without_laplace(large, np.full(2, 1e12), 0.35) == pytest.approx(large, rel=1e-5)


def test_mass_follows_counts_and_the_prior_where_they_are_lost() -> None:
    counts = np.array([5.0, 0.0, 3.0, 0.0, 0.0, 8.0, 1.0])
    prior = public_mass(7)
    assert prior.sum() == pytest.approx(1.0)
    assert prior[0] == prior.max()
    assert smoothed_mass(counts, 0.0, prior) == pytest.approx(counts, abs=1e-6)
    lost = smoothed_mass(counts, 1e6, prior)
    assert lost / lost.sum() == pytest.approx(prior, rel=1e-3)
    between = smoothed_mass(counts, 1.0, prior)
    assert np.all(between > 0)
    assert between.sum() == pytest.approx(counts.sum())


def test_a_long_tail_keeps_its_resolution_and_a_flat_column_saves_the_second_look() -> None:
    rng = np.random.default_rng(0)
    crowded = np.where(rng.random(20_000) < 0.999, rng.integers(0, 4, 20_000), CELLS - 1).astype(np.uint16)
    flat = rng.integers(0, CELLS, 20_000).astype(np.uint16)
    y = (crowded >= 2).astype(np.uint8)
    allowance = Allowance.of(2.0, 1e-6)
    curator, reservation = gate([crowded, flat, flat, np.zeros(20_000, np.uint8)], y, allowance)
    totals = release_totals(Budget(curator, allowance).part(0.1))
    bins, spent = counted_bins(Budget(curator, allowance).part(0.2), COLUMNS, totals)
    assert len(set(bins[0].mapping[:4].tolist())) == 4
    assert bins[1].size > 100
    labels = [entry.label for entry in reservation.entries]
    assert "rows of a, heavy cells" in labels
    assert "rows of b, heavy cells" not in labels
    assert spent < 0.2
    paid = math.fsum(entry.charge.precision for entry in reservation.entries[1:])
    assert paid == pytest.approx(spent * allowance.mu**2)


def test_pure_epsilon_buys_bins_where_there_are_rows_enough() -> None:
    codes, y = toy(6000, 1)
    for epsilon, asked in ((0.2, None), (0.6, "outline of a"), (40.0, "rows of a")):
        allowance = Allowance.of(epsilon, 0.0)
        curator, reservation = gate(codes, y, allowance)
        learned = learn_gradient_trees(Budget(curator, allowance), COLUMNS)
        looks = [e.label for e in reservation.entries if e.label in ("outline of a", "rows of a")]
        assert looks == ([] if asked is None else [asked])
        assert learned.bins[3].is_ranked is (asked is not None)
        assert math.fsum(e.charge.epsilon for e in reservation.entries) == pytest.approx(epsilon)


def test_no_bin_looks_at_rows_before_they_are_paid_for() -> None:
    """Public bins are the same whatever the rows; columns of one code make one bin."""
    allowance = Allowance.of(1.0, 0.0)
    made = []
    for seed in (1, 2):
        codes, y = toy(500, seed)
        made.append(public_bins(gate(codes, y, allowance)[0], COLUMNS))
    assert all(np.array_equal(a.mapping, b.mapping) for a, b in zip(*made, strict=True))
    assert made[0][0].mapping[CELLS] == made[0][0].size - 1
    assert made[0][0].mass[0] > 0


def test_in_little_noise_trees_of_many_rows_choose_their_splits() -> None:
    codes, y = toy(90_000, 1)
    allowance = Allowance.of(8.0, 1e-6)
    curator, reservation = gate(codes, y, allowance)
    learned = learn_gradient_trees(Budget(curator, allowance), COLUMNS)
    assert learned.plan.choice > 0
    charges = [entry.charge for entry in reservation.entries]
    assert {type(charge) for charge in charges} == {Gaussian, BoundedRange}
    spent = sum(charge.precision for charge in charges)
    grown = len(learned.trees) / learned.plan.trees
    assert (0.9 * grown) * allowance.mu**2 < spent <= allowance.mu**2 * (1 + 1e-9)
    choices = sum(charge.precision for charge in charges if isinstance(charge, BoundedRange))
    assert choices == pytest.approx(len(learned.trees) * sum(learned.level_shares) * allowance.mu**2)
    leaves = sum(e.charge.precision for e in reservation.entries if e.label.startswith("tree "))
    assert leaves == pytest.approx(len(learned.trees) * learned.share * allowance.mu**2)
    fresh, truth = toy(4000, 2)
    assert roc_auc_score(truth, scores(learned, fresh)) > 0.88


class Asked(Exception):  # noqa: N818 - ends a fit before its trees
    """What trees are to be grown by."""


@pytest.mark.parametrize(("epsilon", "delta", "norm"), [(1.0, 0.0, 1), (1.0, 1e-6, 2), (math.inf, 0.0, 2)])
def test_trees_are_told_the_norm_that_noise_follows(
    epsilon: float, delta: float, norm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1 under Laplace noise; and the prior of a step is that of chances, by the curvature at the start."""

    def asked(*given: object) -> None:
        raise Asked(given[2])

    def ruled(clip: float, scale: float, by: int) -> object:
        norms.append(by)
        return logistic_gradient_rule(clip, scale, by)

    norms: list[int] = []
    monkeypatch.setattr("tacit.growing.gradient_trees.grow_trees", asked)
    monkeypatch.setattr("tacit.growing.gradient_trees.logistic_gradient_rule", ruled)
    codes, _ = toy(400, 1)
    y = (np.arange(400) < 40).astype(np.uint8)
    allowance = Allowance.of(epsilon, delta)
    with pytest.raises(Asked) as found:
        learn_gradient_trees(Budget(gate(codes, y, allowance)[0], allowance), COLUMNS, n_trees=2, depth=2)
    assert norms == [norm]
    if math.isinf(epsilon):
        by_rule, (plan,) = gaussian_plan(400.0, math.inf, False), found.value.args
        rate = BaseRate(Totals(400.0, 0.1, 400.0, -320.0, 0.0))
        rate.start(Margins(), logistic_gradient_rule(plan.clip, plan.hessian_scale, 2))
        assert plan.prior == pytest.approx(by_rule.prior * 0.25 / rate.curvature_at_start)
        assert (plan.trees, plan.depth) == (2, 2)
