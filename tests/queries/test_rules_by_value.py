"""What rows contribute, as numbers worked out by hand: tables, their units and their longest vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.queries.rules import (
    LEVELS,
    WEIGHT_UNIT,
    RowRule,
    count_rule,
    fine_class_count_rule,
    fine_count_rule,
    signed_margin_rule,
)
from tacit.queries.score_rules import (
    EXP_BITS,
    FACTOR_BITS,
    LARGEST_BOUND,
    LARGEST_MEAN,
    LOWEST_OFFSET,
    MEAN_BITS,
    SHARE_BITS,
    LevelRule,
    LogLink,
    ResidualRule,
    SoftmaxRule,
    TargetScale,
    exponentials,
)
from tacit.queries.tree_cells import (
    class_weight_rule,
    logistic_gradient_rule,
    middle_margins,
)
from tests.queries.by_hand import rule_of


def test_what_a_residual_contributes() -> None:
    scale = TargetScale(1 << 23, 1 << 14)
    assert scale.codes_per_unit == 2.0**26
    plain, curved = ResidualRule(scale, 0, -3, 5), ResidualRule(scale, 0, -7, 5, 2)
    assert (plain.longest, plain.diameter, plain.channels) == ((5, 25), (8, 64), 1)
    assert (curved.longest, curved.diameter, curved.channels) == ((9, 53), (14, 148), 2)
    assert plain.unit == 65536
    ResidualRule(scale, 2 * LARGEST_BOUND, -LARGEST_BOUND, LARGEST_BOUND, LARGEST_BOUND)
    ResidualRule(scale, 0, 0, 1)
    ResidualRule(scale, 0, -1, 0)
    for asked in (
        (0, -LARGEST_BOUND - 1, 1),
        (0, -1, LARGEST_BOUND + 1),
        (0, 0, 0),
        (0, 1, 2),
        (2 * LARGEST_BOUND + 1, -1, 1),
        (0, -1, 1, -1),
        (0, -1, 1, LARGEST_BOUND + 1),
    ):
        with pytest.raises(ValueError, match=r"clip|low <= 0 <= high"):
            ResidualRule(scale, *asked)
    assert LARGEST_BOUND * 2**28 < 2**63 / 2**12  # sums of the largest bounds fit, and so do their images


def test_what_softmax_residuals_contribute() -> None:
    one = WEIGHT_UNIT
    for rule, channels in ((SoftmaxRule(4), 4), (SoftmaxRule(4, 2, 9), 5)):
        l1 = math.ceil(math.sqrt(channels) * one)
        assert (rule.channels, rule.longest, rule.diameter) == (channels, (l1, one**2), (2 * l1, 4 * one**2))
    pure = SoftmaxRule(4, 1, 9)
    assert (pure.longest, pure.diameter) == ((one, one**2), (2 * one, 4 * one**2))
    SoftmaxRule(2, 1, 1024)
    for labels, norm, curvature in ((1, 2, 0), (2, 3, 0), (2, 0, 0), (2, 2, -1), (2, 2, 1025)):
        with pytest.raises(ValueError, match="two classes"):
            SoftmaxRule(labels, norm, curvature)


def test_what_is_looked_up_by_level_contributes() -> None:
    table = np.zeros((2, LEVELS, 2), np.int32)
    table[0, 5], table[1, 9] = (3, -4), (6, 0)
    rule = LevelRule(table, 8)
    assert (rule.longest, rule.diameter, rule.channels, rule.n_labels) == ((7, 36), (14, 144), 2, 2)
    for dtype in (np.int16, np.int64, np.float32):
        for kind in (LevelRule, RowRule):
            with pytest.raises(ValueError, match="int32 table"):
                kind(table.astype(dtype), 8)


def test_a_row_that_is_dropped_contributes_nothing() -> None:
    """Where all others contribute the same, two of them are as far apart as one is from nothing."""
    for rule, apart in ((count_rule(3), (1, 1)), (fine_count_rule(1), (64, 64**2)), (rule_of((3, -4)), (7, 25))):
        assert rule.diameter == rule.longest == apart


def test_exponentials_are_those_of_the_middle_of_a_level() -> None:
    table = exponentials()
    assert table[0] == math.floor(2**EXP_BITS * math.exp(-0.5 / 128))
    assert table[999] == math.floor(2**EXP_BITS * math.exp(-999.5 / 128))
    assert (EXP_BITS, len(table)) == (30, LEVELS)


def test_scales_of_targets_have_public_limits() -> None:
    for offset, numerator in ((LOWEST_OFFSET, 1), (1 << 24, 1 << 26)):
        TargetScale(offset, numerator)
    for offset, numerator in ((LOWEST_OFFSET - 1, 1), ((1 << 24) + 1, 1), (0, 0), (0, (1 << 26) + 1)):
        with pytest.raises(ValueError, match="offset"):
            TargetScale(offset, numerator)


def test_tables_of_a_log_link() -> None:
    link = LogLink(1.5, 3 << 16)
    for level in (0, 700, 1024, 1500, 2047):
        score = (level - 1024) / 128
        assert link.means[level] == round(3 * 2**MEAN_BITS * math.exp(score))
        assert link.factors[level] == round(2**FACTOR_BITS * math.exp(-0.5 * score))
        share = min(1.0, math.exp(0.5 * (score - math.log(2))))
        assert link.shares[level] == math.floor(2**SHARE_BITS * share)
    assert link.largest == pytest.approx(3 * math.sqrt(2))
    assert LARGEST_MEAN == 64 << 16
    for power, mean in ((1, 1), (2, LARGEST_MEAN)):
        LogLink(power, mean)
    for power, mean in ((0.99, 5), (2.01, 5), (1.5, 0), (1.5, LARGEST_MEAN + 1)):
        with pytest.raises(ValueError, match="need a power"):
            LogLink(power, mean)


def test_margins_of_levels_and_what_a_newton_leaf_is_told() -> None:
    middles = middle_margins()
    assert (middles[0], middles[1024], middles[2047]) == (-8 + 0.5 / 128, 0.5 / 128, 8 - 0.5 / 128)
    for norm in (1, 2):
        for variance in (False, True):
            rule = logistic_gradient_rule(0.6, 1.3, norm, variance)
            for level in (200, 1024, 1600):
                p = 1 / (1 + math.exp(-middles[level]))
                longest = max(
                    np.linalg.norm([1 - p, 1.3 * p * (1 - p)], norm), np.linalg.norm([p, 1.3 * p * (1 - p)], norm)
                )
                w = min(1.0, 0.6 / longest)
                second = 1.3 * p * (1 - p) * w ** (2 if variance else 1)
                exact = WEIGHT_UNIT * np.array([[-p * w, second], [(1 - p) * w, second]])
                cut = (exact - rule.table[:, level]) * np.sign(exact)  # truncated toward zero, never lengthened
                assert cut.min() > -1e-6
                assert cut.max() < 1.0 + 1e-6
    logistic_gradient_rule(1.0, 0.1, 2)
    for clip, scale, norm in ((0.0, 1.0, 2), (1.01, 1.0, 2), (0.5, 0.0, 2), (0.5, 1.0, 3)):
        with pytest.raises(ValueError, match="clip"):
            logistic_gradient_rule(clip, scale, norm)


def test_boosting_weights_by_class() -> None:
    def weight(margin: np.ndarray) -> np.ndarray:
        return np.exp(-np.maximum(margin, 0.0)) * 1.5 - 0.2

    middles = middle_margins()
    together, split = class_weight_rule(weight, False), class_weight_rule(weight, True)
    for label, sign in ((0, -1), (1, 1)):
        for level in (3, 1000, 1100, 2040):
            value = min(max(float(weight(sign * middles[level])), 0.0), 1.0)
            assert together.table[label, level, 0] == math.floor(value * WEIGHT_UNIT)
            assert split.table[label, level, label] == together.table[label, level, 0]
            assert split.table[label, level, 1 - label] == 0
            signed = signed_margin_rule(weight).table[label, level, 0]
            assert signed == sign * together.table[label, level, 0]
    assert fine_class_count_rule(3).table[:, 0, :].tolist() == (64 * np.eye(3, dtype=int)).tolist()
