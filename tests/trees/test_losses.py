"""The losses: their five forms agree with each other and with the paper's formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.trees.losses import MATSUSHITA, ZERO_ONE, LogLoss, Loss, MAlphaLoss, SmoothedLoss, SquareLoss, loss_of
from tests.trees.forms import jump, partial_loss, surrogate

SMOOTHED = [SmoothedLoss(0.02), SmoothedLoss(0.5)]
LOSSES: list[Loss] = [SquareLoss(), LogLoss(), *SMOOTHED, *(MAlphaLoss(a) for a in (0.0, 0.1, 0.5, 0.9, 1.0))]
INSIDE = np.linspace(0.001, 0.999, 999)
OFF_HALF = INSIDE[np.abs(INSIDE - 0.5) > 1e-9]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_fair_normalised_symmetric_concave(loss: Loss) -> None:
    assert loss.bayes_risk([0.0, 0.5, 1.0]) == pytest.approx([0.0, 1.0, 0.0])
    assert loss.bayes_risk(INSIDE) == pytest.approx(loss.bayes_risk(1 - INSIDE))
    assert np.all(np.diff(loss.bayes_risk(INSIDE), 2) <= 1e-12)
    assert partial_loss(loss, 1, INSIDE) == pytest.approx(partial_loss(loss, -1, 1 - INSIDE))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_proper(loss: Loss) -> None:
    """Predicting the truth is best, and costs the Bayes risk."""
    truth = np.linspace(0.02, 0.98, 49)
    expected = truth[:, None] * partial_loss(loss, 1, INSIDE) + (1 - truth[:, None]) * partial_loss(loss, -1, INSIDE)
    at_truth = truth * partial_loss(loss, 1, truth) + (1 - truth) * partial_loss(loss, -1, truth)
    assert at_truth == pytest.approx(loss.bayes_risk(truth))
    assert np.all(expected.min(axis=1) >= at_truth - 1e-12)


def test_the_printed_partial_losses_are_not_the_ones_of_the_printed_risk() -> None:
    """Definition 6 doubles Matsushita's part and charges both classes in full at a tie."""
    alpha, u = 0.5, np.array([0.2, 0.5])
    printed = {y: 2 * alpha * ((1 - u) / u) ** (y / 2) + 2 * (1 - alpha) * (y * u <= y / 2) for y in (1, -1)}
    risk = u * printed[1] + (1 - u) * printed[-1]
    ours = MAlphaLoss(alpha)
    assert risk[0] == pytest.approx(ours.bayes_risk(0.2) + alpha * MATSUSHITA.bayes_risk(0.2))
    assert risk[1] == pytest.approx(2 * alpha + 2 * (1 - alpha))
    assert ours.bayes_risk(0.5) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_link_is_minus_the_slope_of_the_risk(loss: Loss) -> None:
    step = 1e-6
    slope = (loss.bayes_risk(OFF_HALF + step) - loss.bayes_risk(OFF_HALF - step)) / (2 * step)
    assert loss.link(OFF_HALF) == pytest.approx(-slope, rel=1e-4, abs=1e-6)
    assert float(loss.link(0.5)) == 0.0
    above, below = loss.link([0.5 + 1e-9, 0.5 - 1e-9])
    assert above - below == pytest.approx(jump(loss), abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_inverse_link_inverts(loss: Loss) -> None:
    if loss != ZERO_ONE:
        assert loss.inverse_link(loss.link(INSIDE)) == pytest.approx(INSIDE, abs=1e-9)
    inside_jump = np.linspace(-0.5, 0.5, 11) * jump(loss) * 0.999
    assert loss.inverse_link(inside_jump) == pytest.approx(np.full(11, 0.5))
    scores = np.linspace(-9, 9, 181)
    assert np.all(np.diff(loss.inverse_link(scores)) >= 0)
    assert loss.boosting_weight(scores) == pytest.approx(loss.inverse_link(-scores))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_surrogate_is_the_conjugate_of_the_risk(loss: Loss) -> None:
    """F(z) = sup_u { L(u) - z u }, by search; F' = -inverse_link(-z); and L is the conjugate of F."""
    scores = np.linspace(-6, 6, 121)
    grid = np.linspace(0, 1, 20001)
    search = (loss.bayes_risk(grid)[None, :] - scores[:, None] * grid[None, :]).max(axis=1)
    assert surrogate(loss, scores) == pytest.approx(search, abs=2e-4)
    assert float(surrogate(loss, 0.0)) == pytest.approx(1.0)
    step = 1e-5
    off_kink = scores[np.abs(np.abs(scores) - jump(loss) / 2) > 1e-3] + 1e-4
    slope = (surrogate(loss, off_kink + step) - surrogate(loss, off_kink - step)) / (2 * step)
    assert slope == pytest.approx(-loss.boosting_weight(off_kink), abs=1e-4)
    wide = np.linspace(-200, 200, 80001)
    back = (surrogate(loss, wide)[None, :] + wide[None, :] * INSIDE[::50, None]).min(axis=1)
    assert back == pytest.approx(loss.bayes_risk(INSIDE[::50]), abs=2e-3)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.5, 1.0])
def test_the_formulas_of_figure_1(alpha: float) -> None:
    """The figure's right-hand sides, typed in as printed."""
    loss, z = MAlphaLoss(alpha), np.linspace(-7, 7, 141) + 1e-9
    out = (np.abs(z) > 2 * (1 - alpha)).astype(float)
    root = np.sqrt(alpha**2 + (np.abs(z) / 2 - (1 - alpha)) ** 2)
    assert loss.inverse_link(z) == pytest.approx(0.5 * (1 + out * (z / 2 - np.sign(z) * (1 - alpha)) / root))
    assert surrogate(loss, z) == pytest.approx(1 - z / 2 + out * (root - alpha))
    u = OFF_HALF
    printed = alpha * (2 * u - 1) / np.sqrt(u * (1 - u)) - 2 * (1 - alpha) * np.where(u < 0.5, 1, -1)
    assert loss.link(u) == pytest.approx(printed)
    curved = (loss.link(u + 1e-6) - loss.link(u - 1e-6)) / 2e-6
    assert curved == pytest.approx(alpha / (2 * (u * (1 - u)) ** 1.5), rel=1e-3, abs=1e-6)  # Theorem 8, the weight


def test_node_risk_is_superadditive_and_zero_when_empty() -> None:
    rng = np.random.default_rng(5)
    left, right = rng.random((2, 2, 500)) * 9
    for loss in LOSSES:
        parts = loss.node_risk(left[0], left.sum(axis=0)) + loss.node_risk(right[0], right.sum(axis=0))
        whole = loss.node_risk(left[0] + right[0], left.sum(axis=0) + right.sum(axis=0))
        assert np.all(parts <= whole + 1e-9)
        assert float(loss.node_risk(0.0, 0.0)) == 0.0


def test_the_smoothed_loss_adds_rows_of_either_class_and_lies_between_matsushitas_and_ginis() -> None:
    """The node risk is ``2 sqrt((w1 + s) (w0 + s))`` with ``s`` a multiple of the weight, shifted and scaled."""
    positives, negatives = np.random.default_rng(6).random((2, 200)) * 9
    total = positives + negatives
    for loss in SMOOTHED:
        k = loss.smoothing
        raw = 2 * np.sqrt((positives + k * total) * (negatives + k * total))
        pure, even = 2 * math.sqrt(k * (1 + k)), 1 + 2 * k
        assert loss.node_risk(positives, total) == pytest.approx((raw - pure * total) / (even - pure))
    assert SmoothedLoss(1e-10).bayes_risk(INSIDE) == pytest.approx(MATSUSHITA.bayes_risk(INSIDE), abs=1e-3)
    assert SmoothedLoss(1e3).bayes_risk(INSIDE) == pytest.approx(SquareLoss().bayes_risk(INSIDE), abs=1e-3)


def test_bad_input() -> None:
    for smoothing in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="smoothing must be"):
            SmoothedLoss(smoothing)
    with pytest.raises(ValueError, match="alpha must lie"):
        MAlphaLoss(1.5)
    with pytest.raises(ValueError, match="proportion"):
        MATSUSHITA.bayes_risk(1.2)
    with pytest.raises(ValueError, match="criterion must be"):
        loss_of("entrophy")
    assert loss_of("gini") == SquareLoss()
    assert loss_of(0.25) == MAlphaLoss(0.25)
