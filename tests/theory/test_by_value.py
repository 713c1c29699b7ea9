"""Bounds of the papers as numbers, each formula written once more: a factor, a log or a step that goes is seen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.theory import boosting, decision_lists, generalisation, halfspaces, resampling, tree_rows, trees
from tacit.theory.certified_error import CODE, HalfspaceCode, certified_error, noise_of_counts, occam_bound
from tacit.theory.checks import Cost, least_where

LOG, ROOT = math.log, math.sqrt


# boosting


def test_rounds_and_rates_of_lazy_bregman() -> None:
    assert boosting.lazy_bregman_rounds(0.1, 0.05) == math.ceil(200 * LOG(20))
    assert boosting.lazy_bregman_rounds(0.1, 0.05, "errors") == math.floor(50 * LOG(20)) + 1
    assert boosting.lazy_bregman_rounds(0.1, 0.05, analysis="paper") == math.ceil(1600 * LOG(20))
    assert boosting.lazy_bregman_rounds(0.5, 0.05, "errors") == math.floor(LOG(20) / (0.5 - 1 / 8)) + 1  # at rate 1
    assert boosting.lazy_bregman_learning_rate(0.1) == pytest.approx(0.2)
    assert boosting.lazy_bregman_learning_rate(0.1, "errors") == pytest.approx(0.4)
    assert boosting.lazy_bregman_learning_rate(0.4, "errors") == 1.0
    assert boosting.lazy_bregman_learning_rate(0.1, analysis="paper") == pytest.approx(0.025)


def test_regret_and_margin_of_lazy_bregman() -> None:
    regret = boosting.lazy_bregman_regret(0.3, 7.0, 0.2, 100.0, 40)
    assert regret == pytest.approx(0.3 / 8 + 7 / (0.3 * 0.2 * 100 * 40))
    assert boosting.lazy_bregman_regret(0.3, 7.0, 0.2, 100.0, 40, "paper") == pytest.approx(regret + 0.3 * 7 / 8)
    assert boosting.lazy_bregman_margin(0.2, 0.1, 0.25, 900) == pytest.approx(2 * (0.2 - 0.0125 - LOG(4) / 90))
    assert boosting.smoothness(0.2, 50) == pytest.approx(0.1)
    assert [boosting.lazy_bregman_slickness(0.2, 50, a) for a in ("sharp", "paper")] == pytest.approx([0.1, 0.2])  # type: ignore[arg-type]


def test_centering() -> None:
    assert [boosting.centering_sensitivity(0.2, 50, a) for a in ("sharp", "paper")] == pytest.approx([0.2, 0.4])  # type: ignore[arg-type]
    assert boosting.centering_zcdp(0.2, 50, 0.3) == pytest.approx(0.04 / 0.18)
    assert boosting.centering_zcdp(0.2, 50, 0.3, "paper") == pytest.approx(0.16 / 0.18)
    assert boosting.centering_advantage(0.4, 0.05, 0.01) == pytest.approx(0.1 - ROOT(0.5) * 0.05 * ROOT(LOG(100)))
    assert boosting.centering_advantage(0.4) == pytest.approx(0.1)
    assert boosting.undivided_centering_advantage(0.4) == pytest.approx(0.02)
    length = ROOT(30) + ROOT(2 * LOG(20))
    assert boosting.average_noise_length(0.3, 30, 16, 0.05) == pytest.approx(0.3 / 4 * length)


def test_stopping_rules() -> None:
    assert boosting.smooth_boost_rounds(0.1, 0.05) == math.ceil(2 / (0.05 * 0.01 * ROOT(0.9)))
    assert boosting.smooth_boost_margin(0.1) == pytest.approx(0.1 / 2.1)
    assert boosting.smooth_boost_slickness(0.2, 50) == pytest.approx(0.2)
    assert boosting.end_test_threshold(0.5, 1e-3) == pytest.approx(2 + 2 * LOG(1000))
    assert boosting.tested_round(0.2, 1e-6) == pytest.approx((0.4, math.exp(0.2) * 1e-6))
    assert boosting.advanced_composition(0.2, 1e-6, 50, 1e-4) == pytest.approx(
        (50 * 0.02 + 0.2 * ROOT(100 * LOG(1e4)), 5e-5 + 1e-4)
    )
    sharp = boosting.stopping_rule_privacy(0.2, 1e-6, 50, 1e-4)
    assert sharp == pytest.approx((50 * 0.08 + 0.4 * ROOT(100 * LOG(1e4)), 50 * math.exp(0.2) * 1e-6 + 1e-4))
    assert boosting.stopping_rule_privacy(0.2, 1e-6, 50, 1e-4, "paper") == pytest.approx(
        (2 * 50 * 0.04 + 0.4 * ROOT(50 * LOG(1e4)), sharp[1])
    )


# halfspaces


def test_the_strong_learner_as_printed() -> None:
    result = halfspaces.printed_run(0.1, 0.05, 0.5)
    assert (result.density, result.divisor, result.learning_rate, result.margin) == (0.025, 0.25, 0.0625, 0.0)
    assert result.rounds == math.ceil(16 * LOG(40) * 256)
    assert result.sigma == pytest.approx(0.5 / (8 * ROOT(0.5) * ROOT(LOG(60 * result.rounds))))


def test_rows_that_halfspaces_need() -> None:
    made = halfspaces.printed_run(0.1, 0.05, 0.5)
    wide = (0.8 * 0.25 * ROOT(made.rounds) / made.sigma - ROOT(2 * LOG(120))) ** 2
    assert halfspaces.largest_dimension(made, 0.25, 0.8, 0.05 / 6) == math.floor(wide)
    assert halfspaces.violating_share(0.1, 0.5) == pytest.approx(0.1 * 0.5 / 16)
    assert halfspaces.tolerated_noise(0.1, 0.5) == pytest.approx(0.1 * 0.5 / 32)
    assert halfspaces.label_noise_rows(0.1, 0.05, 0.5) == math.ceil(96 * LOG(80) / 0.05)
    assert halfspaces.label_noise_rows(0.1, 0.05, 0.5, 3.0) == math.ceil(96 * LOG(60) / 0.05)
    rho = halfspaces.zcdp_for(0.7, 1e-5)
    assert rho + 2 * ROOT(rho * LOG(1e5)) == pytest.approx(0.7)
    for analysis, times in (("sharp", 2), ("paper", 4)):
        rows = halfspaces.privacy_rows(made, 3.0, analysis)  # type: ignore[arg-type]
        assert rows == math.ceil(math.ceil(3 * ROOT(made.rounds) * times / made.sigma) / 0.025)
    noise = 0.1 * 0.5 / 32
    assert halfspaces.error_on_noisy_rows(0.1, 0.5) == pytest.approx(min(0.1, 0.1 * (1 - 2 * noise) + noise))
    assert halfspaces.error_on_noisy_rows(0.9, 0.9) < 0.9
    assert halfspaces.transfer_privacy(0.1, 0.05, 1.0, 1e-3) == pytest.approx((0.1 / 36, 0.1 / 36 * 0.05 / 4))
    assert halfspaces.transfer_privacy(0.1, 0.05, 1e-3, 1e-9) == (1e-3, 1e-9)


def test_parts_of_sample_sizes() -> None:
    result = halfspaces.sample_size(0.1, 0.05, 0.5, 3.0, "paper")
    made = halfspaces.printed_run(0.1, 0.05, 0.5)
    bounds = generalisation.new_rows(halfspaces.error_on_noisy_rows(0.1, 0.5), 0.025, 0.0625, 0.0125)
    assert result.privacy == halfspaces.privacy_rows(made, 3.0, "paper")
    assert result.label_noise == halfspaces.label_noise_rows(0.1, 0.05, 0.5)
    assert (result.generalisation, result.bound) == (min(bounds.values()), "PAC-Bayes")
    assert result.rows == max(result.privacy, result.label_noise, result.generalisation)
    strict, strict_delta = halfspaces.transfer_privacy(0.1, 0.05, 1.0, 1e-6)
    private = halfspaces.sample_size_by_privacy(0.1, 0.05, 0.5, 1.0, 1e-6)
    signs = halfspaces.run_for_signs(0.1, 0.05 / 3, 0.5, 0.1 - 18 * strict, exact=True)
    assert private.generalisation == math.ceil(LOG(4 * strict / strict_delta) / strict**2)
    multiplier = 1 / ROOT(2 * halfspaces.zcdp_for(strict, strict_delta))
    assert private.privacy == halfspaces.privacy_rows(signs, multiplier)
    assert halfspaces.sample_size_by_privacy(
        0.1, 0.05, 0.5, 1.0, 1e-6, noise_multiplier=3.0
    ).privacy == halfspaces.privacy_rows(signs, 3.0)


# generalisation


def test_bounds_on_new_rows() -> None:
    assert generalisation.fat_shattering_halfspaces(0.1, 3.0) == pytest.approx(900.0)
    assert generalisation.fat_shattering_halfspaces(0.1) == pytest.approx(400.0)
    n, dimension = 10**9, (2 * 16 / 0.5) ** 2
    capacity = dimension * LOG(34 * math.e * n / dimension) * math.log2(578 * n)
    assert generalisation.margin_bound(0.01, n, 0.5, 0.05) == pytest.approx(0.01 + ROOT(2 / n * (capacity + LOG(80))))
    assert generalisation.margin_bound(0.0, 100, 0.5, 0.05) == 1.0
    ramp = generalisation.rademacher_margin_bound(0.01, 10**6, 0.5, 0.05, 3.0)
    assert ramp == pytest.approx(0.01 + 6 / (0.5 * 1000) + ROOT(LOG(20) / 2e6))
    assert generalisation.transfer_rows(0.1, 1e-3) == math.ceil(LOG(400) * 100)
    assert generalisation.transfer_bound(0.1, 1e-3) == pytest.approx((1.8, 1e-2))
    assert generalisation.private_boosting_error(0.05, 0.02, 0.01, 1e-4) == pytest.approx((0.23, 0.03))
    assert generalisation.private_boosting_error(0.95, 0.99, 0.1, 2e-3) == (1.0, 1.0)
    for budget in (0.01, 0.3):
        value = float(generalisation.largest_within(np.array([0.1]), np.array([budget]))[0])
        divergence = 0.1 * LOG(0.1 / value) + 0.9 * LOG(0.9 / (1 - value))
        assert divergence == pytest.approx(budget)
    assert [least_where(lambda n, least=least: n >= least) for least in (1, 2, 3, 1000)] == [1, 2, 3, 1000]


def test_certified_errors() -> None:
    s = np.linspace(0.005, 0.995, 100_001)
    exact = 3 / ROOT(2) * ((LOG(20) - 7 * np.log(1 - s**2)) / s).min()
    assert exact <= noise_of_counts(3.0, 7, 0.05) <= 1.001 * exact
    assert (noise_of_counts(0.0, 7, 0.05), noise_of_counts(3.0, 0, 0.05)) == (0.0, 0.0)
    result = occam_bound(30.0, 170.0, 5.0, 0.05)
    assert 0.15 * LOG(0.15 / result) + 0.85 * LOG(0.85 / (1 - result)) == pytest.approx((5 + LOG(20)) / 200)
    assert (occam_bound(3.0, 0.0, 5.0, 0.05), occam_bound(3.0, -1.0, 5.0, 0.05)) == (1.0, 1.0)
    most, fewest = 30 + noise_of_counts(3.0, 2, 0.0125), 170 - noise_of_counts(3.0, 7, 0.0125)
    assert certified_error(30.0, 170.0, (2, 7), 3.0, 5.0, 0.05) == pytest.approx(occam_bound(most, fewest, 5.0, 0.025))


# resampling


def test_rounds_of_resampling() -> None:
    base = Cost(0.4, 1e-6)
    result = resampling.sampling_amplification(base, 0.01, 30)
    assert (result.epsilon, result.delta) == (pytest.approx(4 * 0.4 * 0.3), pytest.approx(1e-6 * (1 + math.exp(0.6))))
    sharp = resampling.sampled_round(base, 0.01, 30)
    up = 30 * LOG(1 + 0.01 * math.expm1(0.4))
    assert (sharp.epsilon, sharp.delta) == (pytest.approx(up), pytest.approx(1e-6 * math.expm1(up) / math.expm1(0.4)))
    wide = resampling.sampled_round(base, 0.1, 30)
    apart = 30 * LOG(1 + 0.1 * math.expm1(0.4)) - 30 * LOG(1 + 0.1 * math.expm1(-0.4))
    assert wide.epsilon == pytest.approx(apart)
    assert resampling.sampled_round(Cost(0.0, 1e-6), 0.01, 30) == Cost(0.0, pytest.approx(3e-7))
    assert resampling.sampled_round(Cost(30.0, 1e-6), 1.0, 30) == Cost(pytest.approx(1800.0, rel=1e-4), 1.0)
    assert resampling.sampled_round(Cost(30.0, 0.0), 1.0, 30).delta == 0.0
    assert resampling.cost_of_draws(Cost(0.4, 1e-6), 0.01, 30, "sharp") == Cost(sharp.epsilon, sharp.delta)
    assert resampling.cost_of_draws(Cost(0.4, 1e-6), 0.01, 30, "paper") == Cost(result.epsilon, result.delta)
    printed = resampling.printed_round(base, 0.2, 500, 30)
    assert printed.epsilon == pytest.approx(result.epsilon)
    assert printed.delta == pytest.approx(1e-6 * (1 + math.exp(2 * 0.4 * 0.3)))
    rows = resampling.boost_s_sample_size(0.1, 1e-5, 0.4, 30, 0.7, 0.2)
    assert rows == pytest.approx(ROOT(LOG(10) * LOG(1e5)) * 0.4 * 30 / (0.7 * 0.2 * 0.1))
    people = resampling.boost_for_people_sample_size(0.1, 1e-5, 0.4, 30, 0.7, 0.2, 3.0)
    assert people == pytest.approx(rows * 3 * LOG(10) / 0.04)
    assert resampling.boost_s_rounds(0.1, 0.05) == boosting.lazy_bregman_rounds(0.1, 0.05, "errors")


# decision lists


def test_bounds_on_decision_lists() -> None:
    assert decision_lists.exponential_mechanism_loss(50, 0.2, 0.1) == pytest.approx(LOG(500) / 0.2)
    assert decision_lists.greedy_cover_errors(41, 0.2, 0.1) == pytest.approx(410 * LOG(41 * ROOT(20)))
    assert decision_lists.vc_sample_size(5, 0.1, 0.05) == pytest.approx(640 * (5 * LOG(640) + LOG(320)))
    divergence = 0.05 * LOG(0.5) + 0.95 * LOG(0.95 / 0.9)
    assert decision_lists.occam_sample_size(30.0, 0.1, 0.05) == pytest.approx((30 + LOG(20)) / divergence)
    assert decision_lists.list_sample_size(41, 0.1, 0.05, 0.2) == pytest.approx(
        20 * decision_lists.greedy_cover_errors(41, 0.2, 0.05)
    )
    assert decision_lists.list_vc_bound(5) == pytest.approx(math.log2(120) + 5)
    assert decision_lists.conjunction_count(6, 2) == 1 + 12 + 4 * 15
    assert decision_lists.conjunction_bound(6, 2) == pytest.approx(math.e**2 * 36)
    for scale in (0.001, 0.2, 1e6):
        rows = decision_lists.paper_learner_rows(41, 0.1, 0.05, scale)
        occam = decision_lists.occam_sample_size(LOG(2) * decision_lists.list_vc_bound(41), 0.1, 0.025)
        assert rows == pytest.approx(max(occam, decision_lists.list_sample_size(41, 0.1, 0.025, scale)))
    privacy = decision_lists.list_sample_size(41, 0.1, 0.05, 0.9 / (2 * (LOG(1e6) + 1.5)))
    assert decision_lists.theorem_3_5(41, 0.1, 0.05, 0.9, 1e-6, 3.0) == pytest.approx(
        max(decision_lists.vc_sample_size(3.0, 0.1, 0.05), privacy)
    )
    assert decision_lists.corollary_a_8(6, 2, 0.1, 0.05, 0.9, 1e-6) == pytest.approx(
        decision_lists.theorem_3_5(73, 0.1, 0.05, 0.9, 1e-6)
    )


# trees


def test_bounds_on_trees() -> None:
    def gini(u: float) -> float:
        return 4 * u * (1 - u)

    assert trees.paper_sensitivity(gini, 9) == pytest.approx(1 + 10 * gini(0.1))
    assert trees.paper_sensitivity(lambda u: 2 * min(u, 1 - u), 9) == 3.0
    assert trees.paper_m_alpha_sensitivity(0.3, 100) == pytest.approx(3 + 0.6 * 9)
    assert (trees.node_risk_range(gini, 10), trees.node_risk_range(gini, 1)) == (pytest.approx(3.6), 0.0)
    assert trees.node_risk_range(gini, 2) == 2.0
    assert trees.perspective_slope(8.0, 10) == pytest.approx(0.04)
    assert trees.edge(3.0, 10.0, 2.0, 20.0) == pytest.approx(0.2)
    assert trees.risk_factor(0.6) == pytest.approx(0.8)
    assert trees.grown_error_bound([0.5, 1.0], 0.6) == pytest.approx(0.5 * 0.9 * 0.8)
    assert trees.tree_error_bound([0.5, 1.0], [0.8, 0.5], 0.6) == pytest.approx(0.5 * 0.92 * 0.9)
    assert trees.tree_error_bound([0.5, 1.0], [0.5, 0.505], 0.6) == pytest.approx(
        0.5 * math.exp(-0.18 * (0.25 + 0.505))
    )
    assert trees.tree_error_bound([0.5, 1.0], [0.8, 0.5], 0.6, False) == pytest.approx(math.exp(-0.0225 * 0.9))
    with pytest.raises(ValueError, match="grow too fast"):
        trees.tree_error_bound([0.5, 1.0], [0.5, 0.6], 0.6)
    assert trees.is_monotonic([0.5, 0.5 * math.exp(0.1 * 0.4 * 0.5)], [0.9, 0.4], 0.1)
    assert not trees.is_monotonic([0.5, 0.5001 * math.exp(0.1 * 0.4 * 0.5)], [0.9, 0.4], 0.1)
    assert trees.splits_for_error(0.1, 0.5, 0.6) == pytest.approx(5 ** (1 / 0.1))
    assert trees.splits_for_error(0.1, 0.5, 0.6, False) == pytest.approx(10 ** (16 / 0.18))
    assert trees.levels_for_error(0.1, 0.5, 0.6) == pytest.approx(LOG(5) / -LOG(0.9))
    assert trees.tree_efficiency(0.3, 0.2, 4) == pytest.approx(8 * 0.3 * 0.04 / 16)
    assert trees.good_split_probability(0.4, 2.0, 3.0, 2, 30) == pytest.approx(1 / (1 + 15 * math.exp(-0.8 / 3)))
    assert trees.assumed_gap(0.6, 0.5, 0.3, 0.2, 50.0) == pytest.approx(0.75 * 0.36 * 0.3 * 0.2 / 16 * 50)
    assert trees.selection_constant(0.6, 0.5, 0.3, 0.2) == pytest.approx(0.3 * 0.2 * 0.75 * 0.36 / 256)
    least = trees.smallest_efficiency(0.01, 0.7, 900, 40, 0.05)
    assert least == pytest.approx(LOG(900) / (0.01 * 0.7 * 30) * LOG(800))
    assert trees.smallest_good_ratio(0.01, 0.2, 0.7, 900) == pytest.approx(math.exp(-0.01 * 0.2 * 0.7 * 30 / LOG(900)))
    for alpha, z in ((0.3, 3.0), (0.3, -1.2), (1.0, -0.5)):
        beyond = max(abs(z) / 2 - (1 - alpha), 0.0)
        expected = 0.5 + 0.5 * math.copysign(beyond / math.hypot(alpha, beyond), z)
        assert float(trees.m_alpha_inverse_link(alpha, z)) == pytest.approx(expected)
    assert trees.m_alpha_inverse_link(0.0, [-2.5, -1.5, 1.5, 2.5]).tolist() == [0.0, 0.5, 0.5, 1.0]


# codes of halfspaces


def test_shapes_of_weights_by_hand() -> None:
    """0; 1; 4 = 100; 5 = 101 and 6 = 110: place of the first 1 less one, times five, and the digits after it."""
    assert (CODE.places, CODE.digits, CODE.concentration, CODE.n_shapes) == (15, 5, 0.125, 76)
    weights = np.array([0, 1, -4, 5, 6, 21, 1 << 14])
    shapes = CODE.shapes(weights)
    assert shapes.tolist() == [0, 1, 1 + 10, 1 + 10 + 2, 1 + 10 + 1, 1 + 20 + 4, 1 + 70]
    bits = [0, 1, 1, 2, 1, 4, 1]  # a sign, and the digits between the first and the last
    assert CODE.tail_nats(shapes) == pytest.approx(LOG(2) * np.array(bits))


@pytest.mark.parametrize("weights", [[0, 0, 0], [3, 0, -3, 5], [1, 2, 4, 8, 16], [7]])
def test_the_code_of_a_halfspace_weight_by_weight(weights: list[int]) -> None:
    """Shapes come from an urn: each is as likely as it was before, with an eighth of one of each to begin with."""
    nats, records = 0.0, []
    for weight in weights:
        shape = int(CODE.shapes(np.array([weight]))[0])
        nats -= LOG((records.count(shape) + 0.125) / (len(records) + 76 / 8))
        nats += LOG(2) * (0 if weight == 0 else 1 + max(len(bin(abs(weight)).strip("0b")) - 2, 0))
        records.append(shape)
    assert CODE.log_halfspaces(np.array(weights)) == pytest.approx(nats)


def test_a_code_is_a_prior() -> None:
    """Over all pairs of integers of two places: what is missing is the shape of one place with two digits."""
    small = HalfspaceCode(2, 2, 0.5)
    pairs = [(a, b) for a in range(-3, 4) for b in range(-3, 4)]
    whole = sum(math.exp(-small.log_halfspaces(np.array(pair))) for pair in pairs)
    assert whole == pytest.approx((2.0 * 3.0) / (2.5 * 3.5))
    for wrong in ([4, 0], [0, -5]):
        with pytest.raises(ValueError, match="2 places"):
            small.log_halfspaces(np.array(wrong))
    with pytest.raises(ValueError, match="at most 1 digits"):
        HalfspaceCode(2, 1).log_halfspaces(np.array([3, 0]))


# rows for private splits


def test_bounds_on_private_trees_by_hand() -> None:
    assert tree_rows.level_shares(3) == pytest.approx(np.array([1, ROOT(2), 2]) / (3 + ROOT(2)))
    assert tree_rows.largest_loss(1, 41, 0.05) == pytest.approx(LOG(40) + LOG(20))
    assert tree_rows.largest_loss(1, 1, 0.05) == pytest.approx(LOG(20))
    assert tree_rows.gini_descent(0.5, 0.4) == pytest.approx(0.5 - 0.16 * 0.25)
    assert tree_rows.gini_descent(1.0, 0.9) == pytest.approx(0.25 / 0.81)
    for risk, movement, descent in (
        (tree_rows.GINI, 3.96, 0.8 - 0.25 * 0.64),
        (tree_rows.MATSUSHITA, 2 * ROOT(99), 0.8 * ROOT(0.75)),
        (tree_rows.PAPER, 2 * (3 + 2 * 9), 0.8 * (1 - 0.25 / 16)),
    ):
        assert risk.movement(100) == pytest.approx(movement)
        assert risk.descent(0.8, 0.5) == pytest.approx(descent)
    for risk, nodes in ((tree_rows.MATSUSHITA, 1), (tree_rows.MATSUSHITA_BY_NODE, 2)):
        rows, shares = 10**7, (0.4, 0.6)
        first = ROOT(0.75) + 2 * ROOT(rows - 1) * tree_rows.largest_loss(1, 41, 0.025) / (0.4 * rows)
        lost = 2 * ROOT(rows - 1) * tree_rows.largest_loss(2, 41, 0.025) / (0.6 / nodes * rows)
        result = tree_rows.private_error_bound(risk, rows, 1.0, 0.5, 41, 0.05, shares)
        assert result == pytest.approx(0.5 * (first * ROOT(0.75) + lost))
    assert tree_rows.private_error_bound(tree_rows.GINI, 2, 1e-6, 0.5, 41, 0.05, (1.0,)) == 0.5
    rows, depth = tree_rows.rows_for_error(0.3, tree_rows.GINI, 1.0, 0.5, 41, 0.05)

    def bound(rows: int, depth: int) -> float:
        return tree_rows.private_error_bound(tree_rows.GINI, rows, 1.0, 0.5, 41, 0.05, tree_rows.level_shares(depth))

    assert bound(rows, depth) <= 0.3
    assert min(bound(rows - 1, deep) for deep in range(1, 12)) > 0.3
