"""M-alpha-boost, sharp and by the paper's constants: it learns, spends what it planned, and its pieces fit."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tacit.binning.measure import Column
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import BoundedRange, Laplace, NonPrivate, Pure
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import Request, RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.margins import Margins
from tacit.queries.selection import Selection
from tacit.trees.budget import SMALLEST_RANGE, SplitBudget
from tacit.trees.forest import base_rate_of, base_rate_of_leaves, public_cells
from tacit.trees.induction import SplitScore
from tacit.trees.learners import ForestLearner, MAlphaLearner
from tacit.trees.losses import MAlphaLoss, SmoothedLoss
from tacit.trees.m_alpha_boost import (
    SAID_UNIT,
    BoostedTrees,
    BoostSettings,
    MAlphaBoost,
    PaperBoost,
    Said,
    believed_shares,
    bounded_weight_rule,
    printed_sensitivity,
    said_by,
    scale_of_scores,
)
from tests.pairwise import in_turn

COLUMNS = [Column(0, "a", True), Column(1, "b", True), Column(2, "kind", False)]


def toy(n: int, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 100, (2, n))
    kind = rng.integers(0, 3, n)
    y = ((a >= 50) | (kind == 1)) & (b < 80)
    return [a.astype(np.uint8), b.astype(np.uint8), kind.astype(np.uint8)], y.astype(np.uint8)


def learn(
    settings: BoostSettings, epsilon: float, delta: float = 0.0, paper: bool = False, public: bool = True
) -> tuple[BoostedTrees, float, Reservation]:
    codes, y = toy(4000, 1)
    budget = SplitBudget.of(epsilon, delta)
    relation = Neighbouring.REPLACE_ONE if public else Neighbouring.ADD_OR_REMOVE_ONE
    reservation = Reservation([budget.whole], relation, "test")
    world = MemoryTable([c.copy() for c in codes], y, [101, 101, 5], 2, threads=1)
    curator = Curator(world, reservation, SeededSource(1))
    boost = (PaperBoost if paper else MAlphaBoost)(
        curator, budget, COLUMNS, [not paper] * 3, settings, 4000 if public else None
    )
    learned = boost.run()
    codes, y = toy(3000, 2)
    bins = [b.mapping[c].astype(np.uint8) for b, c in zip(learned.bins, codes, strict=True)]
    score = sum(t.values[t.shape.find(bins)] for t in learned.trees)
    return learned, float(((score > 0) != y).mean()), reservation


def settings(**changes: object) -> BoostSettings:
    base = {"alpha": 1.0, "criterion": None, "trees": 4, "depth": 3, "split_share": 0.5, "bound": 10.0, "cells": 10}
    return BoostSettings(**{**base, **changes})


@pytest.mark.parametrize(("alpha", "public"), in_turn([0.1, 1.0, "calibrated"], [(True,), (False,)]))
def test_learns(alpha: float | str, public: bool) -> None:
    learned, error, reservation = learn(settings(alpha=alpha), 100.0, public=public)
    assert error < 0.05  # at epsilon 100 all of 32 fits err on nothing; at 10 on .1, by .07
    assert len(learned.trees) == len(learned.coefficients) == 4
    spent = math.fsum(
        e.charge.range if isinstance(e.charge, BoundedRange) else e.charge.epsilon for e in reservation.entries
    )
    assert spent == pytest.approx(100.0)
    assert all(e.theorem for e in reservation.entries)


@pytest.mark.parametrize(("changes", "range_", "nodes"), [({}, 10.0 / 24, [1, 2, 4]), ({"leaves": 4}, 10.0 / 40, [4])])
def test_the_smoothing_follows_from_noise_and_released_support(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, int], range_: float, nodes: list[int]
) -> None:
    """The first tree's nodes share the public 4000 rows, later ones what the last tree's leaves were released to hold;
    the scores of every choice are those of that loss, and their range is its own."""
    made: list[tuple[float, SmoothedLoss]] = []
    scored: list[SplitScore] = []

    def made_loss(self: MAlphaBoost, leaves: float) -> SmoothedLoss:
        support = self.said[-1].weights.sum() if self.said else 4000.0
        made.append((0.1 + 200.0 / range_ * leaves / support, smoothed_loss(self, leaves)))
        assert leaves in nodes
        return made[-1][1]

    def kept(selection: Selection, *rest: Any) -> Any:
        if isinstance(selection.score, SplitScore):
            scored.append(selection.score)
        return select(selection, *rest)

    smoothed_loss, select = MAlphaBoost.smoothed_loss, Selection.score_range
    monkeypatch.setattr(MAlphaBoost, "smoothed_loss", made_loss)
    monkeypatch.setattr(Selection, "score_range", kept)
    _, error, reservation = learn(settings(criterion="smoothed", **changes), 10.0)
    assert error < 0.12
    assert [loss.smoothing for _, loss in made] == pytest.approx([wanted for wanted, _ in made])
    assert len({loss for _, loss in made}) > len(nodes)  # later trees have other support
    assert {score.loss for score in scored} == {loss for _, loss in made}
    charged = [e.charge.range for e in reservation.entries if isinstance(e.charge, BoundedRange)]
    assert charged == pytest.approx([range_] * len(charged))


@pytest.mark.parametrize("learner", [MAlphaLearner, ForestLearner])
def test_cells_and_a_missing_value_are_bytes(learner: Any) -> None:
    request = Request.of(1.0, 1e-6, "add_or_remove_one", 1)
    assert learner(request, n_bins=254).n_bins == 254
    with pytest.raises(RequestError, match="n_bins"):
        learner(request, n_bins=255)


def test_categories_beyond_a_byte_share_the_last_cell() -> None:
    codes = [np.arange(300, dtype=np.uint16)]
    reservation = Reservation([NonPrivate()], Neighbouring.ADD_OR_REMOVE_ONE, "test")
    curator = Curator(MemoryTable(codes, np.zeros(300, np.uint8), [300], 2), reservation, SeededSource(0))
    (bins,) = public_cells(curator, [Column(0, "town", False)], 10)
    assert bins.mapping.tolist() == [*range(255), *[255] * 45]
    assert bins.size == curator.layout.n_codes[0] == 256


@pytest.mark.parametrize("alpha", [1.0, "calibrated"])
def test_paper_mode(alpha: float | str) -> None:
    """Its schedule: per node, halved with each depth; per leaf release, half of the leaves' share each."""
    learned, error, reservation = learn(settings(alpha=alpha, depth=2, trees=2, bound=1.0), 200.0, paper=True)
    assert error < 0.3
    assert learned.rows == 4000
    ranges = [e.charge.range for e in reservation.entries if isinstance(e.charge, BoundedRange)]
    share = 200 * 0.5 / 2 / 2 * (0.7 if alpha == "calibrated" else 1)
    assert ranges == pytest.approx([share, share / 2, share / 2] * 2)
    leaves = [e.charge.epsilon for e in reservation.entries if "lea" in e.label or "leveraging" in e.label]
    assert leaves == pytest.approx([200 * 0.5 / 2 / 2] * 4)
    assert {type(e.charge) for e in reservation.entries} == {BoundedRange, Laplace}
    rule_share = sum(ranges) + sum(e.charge.epsilon for e in reservation.entries if isinstance(e.charge, Laplace))
    assert rule_share == pytest.approx(200)


def test_the_printed_sensitivity_is_safe_and_larger() -> None:
    from tacit.theory.trees import node_risk_range

    for alpha in (0.1, 1.0):
        for rows in (10, 1000):
            loss = MAlphaLoss(alpha)
            assert printed_sensitivity(loss, rows) > node_risk_range(loss.bayes_risk, rows)


def test_what_a_leaf_says_is_the_link_of_its_clamped_proportion() -> None:
    loss = MAlphaLoss(1.0)
    said = said_by(loss)
    assert said(np.array([300, 100])) == pytest.approx(float(loss.link(0.25)) * SAID_UNIT, abs=1)
    assert said(np.array([0, 7])) == pytest.approx(float(loss.link(1 - 1e-4)) * SAID_UNIT, abs=1)
    assert said(np.array([0, 0])) == 0


def test_weights_are_stated_as_parts_of_the_largest_possible() -> None:
    loss, margins = MAlphaLoss(1.0), Margins()
    rule, largest = bounded_weight_rule(loss, margins, split=False)
    assert largest == pytest.approx(0.5, abs=0.01)
    assert rule.table.max() == rule.unit
    assert rule.table.min() > 0.97 * rule.unit
    from tacit.queries.cells import OneCell

    margins.add(OneCell(), [3.0])
    rule, largest = bounded_weight_rule(loss, margins, split=False)
    assert largest == pytest.approx(float(loss.boosting_weight(-3.0)), abs=0.01)
    level = 1024 - 3 * 128
    assert rule.table[1, level, 0] / rule.unit == pytest.approx(1.0, abs=0.01)
    assert rule.table[1, 1024 + 128, 0] / rule.unit == pytest.approx(
        float(loss.boosting_weight(1.0)) / largest, abs=0.01
    )


def test_leaves_lost_in_the_noise_say_the_base_rate_and_none_is_extreme() -> None:
    noisy = np.array([[9000.0, 990.0], [-5.0, 3.0], [300.0, -200.0], [-200.0, 700.0]])
    shares, total = believed_shares(noisy, 100.0)
    base = base_rate_of_leaves(noisy, 100.0)
    assert base == pytest.approx(
        (9990 * 990 - 100 * 200 + 500 * 700 - 40_000) / (9990**2 + 100**2 + 500**2 - 80_000), abs=1e-3
    )
    assert shares[:2] == pytest.approx([0.099, base], abs=0.01)
    assert shares[2] == pytest.approx(0.5 * base)
    assert 0.6 < shares[3] <= 1 - 100 / 900
    assert total.tolist() == [9990.0, 0.0, 100.0, 500.0]
    assert believed_shares(noisy[:, ::-1], 100.0)[0] == pytest.approx(1.0 - shares)
    exact, _ = believed_shares(np.array([[30.0, 10.0], [5.0, 0.0], [0.0, 0.0]]), 0.0)
    assert exact == pytest.approx([0.25, 0.0, 10 / 45])


def test_the_base_rate_of_leaves_by_hand() -> None:
    """By size, less the noise of products: (100 10 + 10 4 - 2) / (100**2 + 10**2 - 4); of equal leaves, of all rows."""
    for sd in (1.0, 2.0):
        share, square = (1040 - 2 * sd**2) / (10_100 - 4 * sd**2), 10_100 - 4 * sd**2
        pull = (1 / 12) / (1 / 12 + sd**2 * 10_100 / square**2)
        assert base_rate_of_leaves(np.array([[90.0, 10.0], [6.0, 4.0]]), sd) == pytest.approx(
            0.5 + (share - 0.5) * pull
        )
    alike = np.array([[90.0, 12.0], [90.0, 8.0], [88.0, 12.0], [92.0, 8.0]])
    assert base_rate_of_leaves(alike, 1.0) == base_rate_of([(alike, 1.0)])
    assert base_rate_of_leaves(np.array([[90.0, 10.0], [6.0, 4.0]]), 0.0) == pytest.approx(14 / 110)
    assert base_rate_of_leaves(np.array([[5.0, -9.0], [-3.0, 2.0]]), 100.0) == pytest.approx(0.5, abs=0.1)


def test_the_scale_is_the_best_of_eighths_of_octaves() -> None:
    """Of all factors between 2**-10 and 2**10 of the largest score, within half a step of the best; else either end."""
    rng = np.random.default_rng(0)
    for coefficient in (0.003, 0.4, 7.0):
        shares, weights = rng.uniform(0.1, 0.9, 4), rng.uniform(1, 9, 4)
        said = MAlphaLoss(1.0).link(shares) + rng.normal(0, 0.3, 4)
        scores, reach = coefficient * said, float(np.abs(coefficient * said).max())

        def loss(octaves: float) -> float:
            chances = MAlphaLoss(1.0).inverse_link(2.0**octaves * scores)  # noqa: B023
            return -float((shares * np.log(chances) + (1 - shares) * np.log(1 - chances)) @ weights)  # noqa: B023

        best = float(minimize_scalar(loss, bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-6}).x)
        result = scale_of_scores([coefficient], [Said(said, shares, weights)])
        assert math.log2(result) * 8 == pytest.approx(round(math.log2(result) * 8))
        assert math.log2(result) == pytest.approx(best, abs=0.07)
        for share, octaves in ((np.float64(scores > 0), 10), (np.float64(scores < 0), -10)):
            end = scale_of_scores([coefficient], [Said(said, share, weights)]) * reach
            assert math.log2(end) == pytest.approx(octaves, abs=0.07)


@pytest.mark.parametrize(
    ("parameters", "selections"),
    [
        ({"max_depth": 5, "n_trees": 3}, 15),
        ({"max_leaves": 5, "n_trees": 3}, 21),  # of each tree four splits, and three leaves to split
        ({"max_leaves": 2, "n_trees": 3}, 3),
        ({"max_depth": 4}, 2 * 4),  # no fewer trees than two
    ],
)
def test_a_budget_that_would_choose_blindly_is_refused_before_rows_are_seen(
    parameters: dict[str, Any], selections: int
) -> None:
    """Half of what the splits get is what each is sure of: calibration and the number of rows may take the rest."""
    task: Any = SimpleNamespace(schema="declared")
    for spare in (0.999, 1.001):
        request = Request.of(spare * SMALLEST_RANGE * selections / (0.5 * 0.6), 0, "add_or_remove_one", 1)
        learner = MAlphaLearner(request, split_share=0.6, **parameters)
        if spare > 1:
            assert learner.charges(request.allowance, task) == [Pure(request.epsilon)]
        else:
            with pytest.raises(RequestError, match="more splits than the budget"):
                learner.charges(request.allowance, task)
