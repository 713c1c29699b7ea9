"""The algorithms that the lemmas are about, as plain Python on whole numbers; the names are those of the `.v` files.

``tests/proofs/test_reference.py`` holds them and the kernels together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import exp, isqrt, prod

Vector = Sequence[int]


def histogram(rows: Sequence[tuple[int, Vector]], cells: int, channels: int) -> list[list[int]]:
    """Per cell, the sum of the vectors of the rows that are placed there (histogram.v)."""
    return [[sum(vector[c] for place, vector in rows if place == k) for c in range(channels)] for k in range(cells)]


def release(matrix: Sequence[Vector], sums: Sequence[Vector]) -> list[list[int]]:
    """A histogram through a public map (histogram.v)."""
    channels = range(len(sums[0]))
    return [[sum(a * line[c] for a, line in zip(row, sums, strict=True)) for c in channels] for row in matrix]


def scaled(scale: int, one: int, x: int) -> int:
    """``x * scale / one``, truncated toward zero (score_rules.v)."""
    return abs(x) * scale // one * (1 if x >= 0 else -1)


def softmax_contribution(q: Vector, y: int, unit: int, one: int, norm: int) -> list[int]:
    """``unit * e_y - q``, no longer than ``unit`` (score_rules.v)."""
    if norm == 2:
        squared = unit * unit - 2 * unit * min(*q, unit) + sum(x * x for x in q)
        longest = isqrt(squared - 1) + 1 if squared > 0 else 0
    else:
        longest = unit - 2 * min(*q, unit) + sum(q)
    return [scaled(unit * one // longest, one, (unit if k == y else 0) - x) for k, x in enumerate(q)]


def clip(low: int, high: int, x: int) -> int:
    """A residual, cut to an interval around 0 (score_rules.v)."""
    return min(max(x, low), high)


def weighted_sum(weights: Vector, rows: Sequence[Vector]) -> list[int]:
    """The sum of rows times weights (vector_sums.v)."""
    return [sum(w * x for w, x in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)]


def joint_length(precision: Sequence[int], images: Sequence[Vector]) -> int:
    """A row's squared length over all parts, times the whole precision (joint_bound.v)."""
    return sum(p * sum(a * a for a in image) for p, image in zip(precision, images, strict=True))


def handed_out(line: Vector, units: int, rows: int) -> list[int]:
    """Units per row, where the first ``units`` of a line are handed out (capped_scaling.v)."""
    return [line[:units].count(row) for row in range(rows)]


def choice_weights(scores: Vector, up: int, down: int) -> list[int]:
    """Weights of an exponential mechanism whose ``exp(1)`` is ``up / down`` (bounded_range.v)."""
    top = max(scores)
    return [up**q * down ** (top - q) for q in scores]


def first_above(counts: Vector, threshold: int, rho: int, noise: Vector) -> int | None:
    """The first count that is above the threshold, both with noise (above_threshold.v)."""
    above = (t for t, (count, nu) in enumerate(zip(counts, noise, strict=True)) if count + nu >= threshold + rho)
    return next(above, None)


def cover_score(rows: Sequence[tuple[Vector, int]], feature: int, label: int, reward: int, penalty: int) -> int:
    """The worth to a rule of the rows that it covers; a row is (features, label), feature -1 always holds (cover.v)."""
    covered = [y == label for x, y in rows if feature < 0 or x[feature]]
    return sum(reward if right else -penalty for right in covered)


def uncovered(rows: Sequence[tuple[Vector, int]], feature: int) -> list[tuple[Vector, int]]:
    """The rows that are left once a rule was chosen (cover.v)."""
    return [(x, y) for x, y in rows if feature >= 0 and not x[feature]]


def cover_moment(
    order: float,
    steps: Sequence[tuple[float, int, int]],
    rules: Sequence[tuple[int, int]],
    p: Sequence[tuple[Vector, int]],
    q: Sequence[tuple[Vector, int]],
) -> float:
    """``E_P[(P/Q)**order]`` of a run on two tables; a step is (scale, reward, penalty) (cover.v: moment)."""
    if not steps or not rules:
        return 1.0
    (scale, *worth), *later = steps
    on_p, on_q = ([exp(scale * cover_score(rows, *rule, *worth)) for rule in rules] for rows in (p, q))
    moment = 0.0
    for (feature, _), x, y in zip(rules, on_p, on_q, strict=True):
        left = [rule for rule in rules if rule[0] != feature]
        rest = cover_moment(order, later, left, uncovered(p, feature), uncovered(q, feature))
        moment += x / sum(on_p) * (x / sum(on_p) / (y / sum(on_q))) ** order * rest
    return moment


def drawn_chance(shares: Sequence[float], size: int, chance: Callable[[tuple[int, ...]], float]) -> float:
    """The chance of an outcome on independent draws of rows (draws.v: expect)."""
    samples = product(range(len(shares)), repeat=size)
    return sum(prod(shares[row] for row in sample) * chance(sample) for sample in samples)


def split_score(rows: Sequence[tuple[bool, bool, int]], cap: int, risk: Callable[[int, int], int]) -> int:
    """Minus the risk of both children; a row is (goes right, label, weight) (splits.v)."""
    sums = {(side, label): 0 for side in (True, False) for label in (True, False)}
    for side, label, weight in rows:
        sums[side, label] += weight
    return -sum(risk(min(sums[side, True], cap), min(sums[side, False], cap)) for side in (True, False))


def unit_moves(answers: Sequence[Vector]) -> tuple[int, int]:
    """How far the first and the last of a chain of answers are apart, in L1 and in squared L2 (units.v: l1, l2)."""
    moved = [last - first for first, last in zip(answers[0], answers[-1], strict=True)]
    return sum(map(abs, moved)), sum(x * x for x in moved)


def unit_range(answers: Sequence[Vector]) -> int:
    """How far two candidates' scores move apart over a chain (units.v: range)."""
    moved = [last - first for first, last in zip(answers[0], answers[-1], strict=True)]
    return max(moved) - min(moved)


def filtered(total: int, charges: Vector) -> list[int]:
    """The charges that a filter grants, each only where the pool still covers it (composition.v)."""
    granted: list[int] = []
    for charge in charges:
        if sum(granted) + charge <= total:
            granted.append(charge)
    return granted
