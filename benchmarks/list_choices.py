"""How strong the choices of decision lists could be, and what that is worth: `python -m benchmarks.list_choices`.

* ``charge``: a cover is charged by its exact moments. Its exact hockey stick, in the worst of all tables, is what no
  charge that rests on the property of Lemma A.1 can be below. Printed is how much stronger the choices may be when
  rows, choices and counts together cost the same by it.
* ``accuracy``: lists whose choices are so many times as strong as their budget pays for: fits at a larger epsilon, of
  which a smaller share goes to the counts, so that these have the noise they had. Splits and seeds are the same for
  every strength.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from benchmarks import data
from tacit.arrays import Floats
from tacit.decision_lists.estimator import DecisionListClassifier
from tacit.decision_lists.plan import ListBudget, Plan, plan_of
from tacit.decision_lists.tuning import TUNING
from tacit.privacy import accountants
from tacit.privacy.charges import Charge, PrivacyLoss
from tacit.privacy.unit import Neighbouring
from tacit.theory.em_cover import Shifts

DELTA = 1e-6
CELLS = 500
"""Cells of the logarithm of the ratio, from 0 to the largest; with 1,000 factors move by less than .001."""

Point = tuple[float, Floats]
"""``log u`` of a candidate (see ``theory/em_cover.py``), and the value of the game once it is drawn."""


def hockey_sticks(scales: Sequence[float], shifts: Sequence[Shifts], cells: int = CELLS) -> tuple[Floats, Floats]:
    """``sup E_P[(1 - y Q/P)+]`` of a cover under add/remove, both directions, all adversaries, on a grid of ``y >= 1``.

    The game of :func:`tacit.theory.em_cover.log_moment` with another end. After a step of odds ``u`` of mean ``m`` the
    ratio to beat is ``z u`` with ``z = y / m``, so that the value is a mean of values at ``z u`` whose places have
    the mean ``y``: for two candidates the chord between two curves, at ``y``. Curves are convex, so chords between the
    points of the grid lie above them; over ``z`` the largest chord is exact.
    """
    step = sum(scale * shift.span for scale, shift in zip(scales, shifts, strict=True)) / cells
    y = np.exp(step * np.arange(-cells - 1, cells + 2))
    end = np.maximum(1.0 - y, 0.0)
    with_row = without_row = end
    for scale, shift in reversed(list(zip(scales, shifts, strict=True))):
        low, high = scale * shift.low, scale * shift.high
        with_row = _game_step(y, step, [(0.0, with_row), (-low, end), (-high, end)])
        without_row = _game_step(y, step, [(0.0, without_row), (low, end), (high, end)])
    above = y >= 1.0 - step / 4
    return y[above], np.maximum(with_row, without_row)[above]


def _game_step(y: Floats, step: float, points: list[Point]) -> Floats:
    best = np.maximum.reduce([values for _, values in points])
    for i, first in enumerate(points):
        for second in points[:i]:
            if first[0] != second[0]:
                best = np.maximum(best, _chords(y, step, *sorted([first, second], key=lambda point: point[0])))
    return best


def _chords(y: Floats, step: float, first: Point, second: Point) -> Floats:
    """The largest chord at every ``y`` over ``z``, from ``(z u, first)`` to ``(z v, second)`` with ``z u < y < z v``.

    Between two knots both curves are lines, and the chord is ``a + b t + c / t`` with ``t = y / z``.
    """
    (log_u, _), (log_v, _) = first, second
    u, v = math.exp(log_u), math.exp(log_v)
    room = math.ceil((log_v - log_u) / step) + 3
    knots = [np.arange(-room, room + 1) * step - log for log in (log_u, log_v)]  # of log z - log y
    places = np.unique(np.clip(np.concatenate(knots), -log_v, -log_u))
    lines = [_lines(y, values, room) for _, values in (first, second)]
    best = np.full(len(y), -math.inf)
    for start, stop in pairwise(places):
        (f, g), (h, k) = (
            [part[room + math.floor(((start + stop) / 2 + log) / step) :][: len(y)] for part in line]
            for line, log in zip(lines, (log_u, log_v), strict=True)
        )
        a = (v * f - u * h + y * (u * g - v * k)) / (v - u)
        b, c = (h - f) / (v - u), -y * u * v * (g - k) / (v - u)
        ends = (math.exp(-stop), math.exp(-start))
        inside = np.clip(np.sqrt(np.maximum(c / np.where(b == 0.0, -1.0, b), 0.0)), *ends)
        best = np.maximum.reduce([best, *(a + b * t + c / t for t in (*ends, inside))])
    return best


def _lines(y: Floats, values: Floats, room: int) -> tuple[Floats, Floats]:
    """``(f, g)`` of ``f - g y`` on every cell, and on cells beyond the grid: ``1 - y`` below and 0 above."""
    g = -np.diff(values) / np.diff(y)
    f = values[:-1] + g * y[:-1]
    below, above = np.ones(room), np.zeros(room + 1)
    return np.concatenate([below, f, above]), np.concatenate([below, g, above])


def loss_of(y: Floats, values: Floats) -> PrivacyLoss:
    """The pair of distributions with these hockey sticks, which bend at points of ``y``, and their duals below 1."""
    kept = [0]
    for k in range(1, len(y)):  # what is not convex is rounding
        while len(kept) > 1 and np.linalg.det(_rays(y, values, kept[-2], kept[-1], k)) <= 0:
            kept.pop()
        kept.append(k)
    y, values = y[kept], values[kept]
    slopes = np.append(np.diff(values) / np.diff(y), 0.0)
    masses = np.maximum(np.diff(slopes), 0.0) * y[1:]
    losses = np.log(y[1:])
    rest = max(0.0, 1.0 - float((masses * (1.0 + 1.0 / y[1:])).sum()))
    all_masses = np.concatenate([(masses / y[1:])[::-1], [rest], masses])
    return PrivacyLoss(tuple(np.concatenate([-losses[::-1], [0.0], losses])), tuple(all_masses / all_masses.sum()))


def _rays(y: Floats, values: Floats, *places: int) -> Floats:
    """Positive determinant where the three points bend upwards."""
    i, j, k = places
    return np.array([[y[j] - y[i], values[j] - values[i]], [y[k] - y[i], values[k] - values[i]]])


def plan_at(epsilon: float, counts_share: float = TUNING.counts_share) -> Plan:
    """The default list's."""
    relation = Neighbouring.ADD_OR_REMOVE_ONE
    return plan_of(ListBudget(epsilon, DELTA, relation, TUNING.max_rules, False, "sharp", counts_share))


def factor_of(epsilon: float, cells: int = CELLS) -> float:
    """How much stronger all choices of the default list may be, at the same cost, by their exact hockey stick."""
    plan = plan_at(epsilon)
    cost = accountants.epsilon(plan.charges, DELTA)
    others: list[Charge] = [charge for charge in plan.charges if charge is not plan.cover]
    shifts = [step.shifts for step in plan.steps]
    low, high = 1.0, 1.5
    while high - low > 2e-4:
        middle = (low + high) / 2
        loss = loss_of(*hockey_sticks([middle * step.scale for step in plan.steps], shifts, cells))
        fits = accountants.epsilon([loss, *others], DELTA) <= cost
        low, high = (middle, high) if fits else (low, middle)
    return low


def epsilon_of(strength: float, epsilon: float) -> float:
    """The epsilon at which choices are so many times as strong, while counts have the noise of ``epsilon``."""
    wanted = strength * plan_at(epsilon).steps[-1].scale
    low, high = epsilon, 2.0 * strength * epsilon
    while high - low > 1e-3 * epsilon:
        middle = (low + high) / 2
        enough = plan_at(middle, TUNING.counts_share * epsilon / middle).steps[-1].scale >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def accuracies(name: str, epsilon: float, strength: float, seeds: int, fits: int, k: int) -> Floats:
    """Accuracy on new rows, shape ``(seeds, fits)``."""
    larger = epsilon if strength == 1.0 else epsilon_of(strength, epsilon)
    share = TUNING.counts_share * epsilon / larger
    found = [
        [
            DecisionListClassifier(larger, DELTA, schema=train.schema, k=k, counts_share=share, random_state=fit)
            .fit(train.X, train.y)
            .score(test.X, test.y)
            for fit in range(fits)
        ]
        for _, train, test in data.splits(name, seeds)
    ]
    return np.array(found)


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=("charge", "accuracy"), default=("charge", "accuracy"))
    parser.add_argument("--sets", nargs="*", default=["mushroom", "tic_tac_toe"])
    parser.add_argument("--epsilons", nargs="*", type=float, default=[0.1, 1.0, 8.0])
    parser.add_argument("--strengths", nargs="*", type=float, default=[1.0, 1.2])
    parser.add_argument("--seeds", type=int, default=12, help="splits")
    parser.add_argument("--fits", type=int, default=8, help="of each split")
    parser.add_argument("--k", type=int, default=2, help="conditions of a rule")
    args = parser.parse_args()
    if "charge" in args.parts:
        for epsilon in args.epsilons:
            print(f"epsilon {epsilon:g}: choices {factor_of(epsilon):.4f} times as strong, by their hockey stick")
    for name in args.sets if "accuracy" in args.parts else []:
        for epsilon in args.epsilons:
            for strength in args.strengths:
                found = accuracies(name, epsilon, strength, args.seeds, args.fits, args.k)
                error = found.mean(axis=1).std(ddof=1) / math.sqrt(args.seeds)
                print(f"{name}, epsilon {epsilon:g}, {strength:g} times: {found.mean():.4f} +- {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
