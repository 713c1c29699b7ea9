"""What a cover costs, as a charge: one function per analysis of :mod:`tacit.theory.em_cover`.

``moments`` is valid for every cover and is what the learners use unless another one is cheaper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

import numpy as np

from tacit.privacy.charges import ZCDP, ApproxDP, Charge, NonPrivate, PrivacyLoss, Pure, Renyi
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.cover import Step
from tacit.theory import em_cover as theory

ORDERS = tuple(1.0 + np.round(np.geomspace(0.05, 5000.0, 64), 6))

LOSS_STEPS = 16  # atoms per mean of the exponential loss; the error of the cost is of second order in one over this
LOSS_TAIL = 40.0  # means up to which atoms are laid; the mass beyond, `exp(-40)`, counts as infinite loss


class Accounting(StrEnum):
    """How a cover is accounted for. All are proofs about the same mechanism."""

    MOMENTS = "moments"
    """Exact moments for these steps; both relations, any scores."""

    CURVE = "curve"
    """Closed Renyi curve for any number of steps of one scale."""

    EXACT = "exact"
    """Closed hockey stick for any number of steps of one scale: one-sided scores, add/remove."""

    PAPER = "paper"
    """Lemma A.1 as printed, at one delta; refused where its proof fails."""

    PURE = "pure"
    """The largest likelihood ratio: what ``delta = 0`` allows."""

    RANGES = "ranges"
    """A bounded range per step, composed: the only one for units of several rows."""


def cover_charge(
    steps: Sequence[Step],
    neighbouring: Neighbouring,
    accounting: Accounting = Accounting.MOMENTS,
    delta: float = 0.0,
    rows_per_unit: int = 1,
) -> Charge:
    """The charge of a cover of these steps, in order, by one proof; the paper's holds at one ``delta``.

    Raises:
        ValueError: if the analysis does not cover these steps, this relation or units of several rows; says why.
    """
    if any(math.isinf(step.scale) for step in steps):
        return NonPrivate()
    if rows_per_unit > 1 and accounting is not Accounting.RANGES:
        raise ValueError(
            f"the {accounting} analysis of a cover protects single rows, and a unit here may hold {rows_per_unit}: "
            "use accounting='ranges'"
        )
    replace = neighbouring is Neighbouring.REPLACE_ONE
    match accounting:
        case Accounting.MOMENTS:
            return moments_charge(tuple(steps), replace)
        case Accounting.CURVE:
            return curve_charge(steps, replace)
        case Accounting.EXACT:
            return exact_charge(steps, replace)
        case Accounting.PAPER:
            return paper_charge(steps, replace, delta)
        case Accounting.PURE:
            return Pure(theory.pure_epsilon(_scales(steps), _shifts(steps), replace))
        case Accounting.RANGES:
            return ranges_charge(steps, replace, rows_per_unit)


def theorem(accounting: Accounting, replace: bool) -> str:
    """The claim a charge stands on, for the ledger."""
    relation = "replace" if replace else "add/remove"
    return {
        Accounting.MOMENTS: f"EM-cover: exact moments of these steps ({relation})",
        Accounting.CURVE: f"EM-cover: closed Renyi curve ({relation})",
        Accounting.EXACT: "EM-cover, one-sided scores: exponential privacy loss (add/remove)",
        Accounting.PAPER: "Bun, Fang, Lemma A.1" + (", twice" if replace else ""),
        Accounting.PURE: f"EM-cover: largest likelihood ratio ({relation})",
        Accounting.RANGES: f"exponential mechanisms of bounded range, composed ({relation})",
    }[accounting]


@lru_cache(maxsize=64)
def moments_charge(steps: tuple[Step, ...], replace: bool = False) -> Renyi:
    """The Renyi curve of :func:`tacit.theory.em_cover.log_moment`: exact for these steps."""
    powers = np.array(ORDERS) - 1.0
    moments = theory.log_moment(powers, _scales(steps), _shifts(steps), replace)
    finite = np.isfinite(moments)
    return Renyi(tuple(np.array(ORDERS)[finite]), tuple(np.maximum(moments[finite] / powers[finite], 0.0)))


def curve_charge(steps: Sequence[Step], replace: bool = False) -> Renyi:
    """The closed Renyi curve at the largest scale: ``|s| <= 1`` under add/remove, one-sided scores under replace."""
    scale, one_sided = _one_scale(steps)
    if replace and not one_sided:
        raise ValueError("the closed curve for replacing a row needs one-sided scores: use accounting='moments'")
    moment = theory.closed_log_moment_replace if replace else theory.closed_log_moment
    room = 1.0 / math.expm1(scale)
    below = {order - 1.0 for order in ORDERS if order - 1.0 < room}
    powers = sorted(below | {room * share for share in (0.5, 0.8, 0.9, 0.97)})
    return Renyi(tuple(1.0 + p for p in powers), tuple(max(moment(p, scale) / p, 0.0) for p in powers))


def exact_charge(steps: Sequence[Step], replace: bool = False) -> PrivacyLoss:
    """The exponential privacy loss of one-sided scores under add/remove, both directions in one symmetric pair.

    The hockey stick of adding a row is the larger one for every positive epsilon, so the pair takes it there, and its
    dual below 0: a convex curve, hence a pair of distributions. On each interval of a grid the masses of both
    distributions are kept, which puts chords above the curve.
    """
    scale, one_sided = _one_scale(steps)
    if replace or not one_sided:
        raise ValueError(
            "the closed hockey stick holds for one-sided scores under add/remove: use accounting='moments'"
        )
    if any(step.scale * step.shifts.largest != scale for step in steps):
        raise ValueError("the closed hockey stick is proven for steps of one scale: use accounting='moments'")
    a, b = math.expm1(scale), -math.expm1(-scale)
    width = a / LOSS_STEPS
    edges = width * np.arange(round(LOSS_STEPS * LOSS_TAIL) + 1)
    upper = np.exp(-(edges + scale) / a)  # P(loss > x), x >= 0
    tilted = b / a * np.exp(-(edges + scale) / a - edges)  # Q(loss > x)
    losses, masses = np.array([0.0]), np.array([1.0 - upper[0] - tilted[0]])
    for p, q, sign in ((upper, tilted, 1.0), (tilted, upper, -1.0)):
        start, stop = sign * edges[:-1], sign * edges[1:]
        mass, other = p[:-1] - p[1:], q[:-1] - q[1:]
        at_stop = (other - mass * np.exp(-start)) / (np.exp(-stop) - np.exp(-start))
        at_stop = np.clip(at_stop, 0.0, mass)
        losses = np.concatenate([losses, start, stop])
        masses = np.concatenate([masses, mass - at_stop, at_stop])
    values, place = np.unique(np.round(losses / width).astype(np.int64), return_inverse=True)
    merged = np.zeros(len(values))
    np.add.at(merged, place, masses)
    beyond = float(upper[-1])
    merged[0] += float(tilted[-1])  # below the lowest atom: moved up to it
    return PrivacyLoss(tuple(width * values), tuple(merged * (1.0 - beyond) / merged.sum()), beyond)


def paper_charge(steps: Sequence[Step], replace: bool, delta: float) -> ApproxDP:
    """Lemma A.1 at ``delta``; under replace-one it is used twice, as its proof compares a table with one row more."""
    scale, _ = _one_scale(steps)
    if not replace:
        return ApproxDP(theory.paper_epsilon(scale, delta), delta)
    return ApproxDP(2.0 * theory.paper_epsilon_twice(scale, delta), delta)


def ranges_charge(steps: Sequence[Step], replace: bool, rows_per_unit: int = 1) -> ZCDP:
    """Each step has bounded range ``r``, hence is ``r**2 / 8``-zCDP; the rows of a unit add their ranges."""
    rows = rows_per_unit * (2 if replace else 1)
    return ZCDP(sum((rows * step.scale * step.shifts.span) ** 2 for step in steps) / 8.0)


def _scales(steps: Sequence[Step]) -> list[float]:
    return [step.scale for step in steps]


def _shifts(steps: Sequence[Step]) -> list[theory.Shifts]:
    return [step.shifts for step in steps]


def _one_scale(steps: Sequence[Step]) -> tuple[float, bool]:
    """The largest scale times shift, which bounds all steps, and whether all scores are one-sided in one direction."""
    scale = max(step.scale * step.shifts.largest for step in steps)
    one_sided = all(step.shifts.high == 0 for step in steps) or all(step.shifts.low == 0 for step in steps)
    return scale, one_sided
