"""EM-cover written down as in the paper, with exact output distributions: what the tests compare everything with.

A row is ``(features, label)``: a tuple of 0/1 and a class. An action is ``(feature, bit)``; feature ``-1`` is the
constant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Row = tuple[tuple[int, ...], int]
Action = tuple[int, int]
Output = tuple[Action, ...]


def covers(feature: int, row: Row) -> bool:
    return feature < 0 or row[0][feature] == 1


def score(rows: Sequence[Row], action: Action, reward: float, penalty: float) -> float:
    feature, bit = action
    covered = [row for row in rows if covers(feature, row)]
    wrong = sum(row[1] != bit for row in covered)
    return reward * (len(covered) - wrong) - penalty * wrong


def distribution(
    rows: Sequence[Row], n_features: int, scales: Sequence[float], reward: float = 0.0, penalty: float = 1.0
) -> dict[Output, float]:
    """The probability of every sequence of actions; chosen features leave with both bits."""
    result: dict[Output, float] = {}

    def walk(left: Sequence[Row], features: Sequence[int], step: int, prefix: Output, probability: float) -> None:
        if step == len(scales) or not features:
            result[prefix] = result.get(prefix, 0.0) + probability
            return
        actions = [(f, b) for f in features for b in (0, 1)]
        weights = [math.exp(scales[step] * score(left, action, reward, penalty)) for action in actions]
        total = math.fsum(weights)
        for action, weight in zip(actions, weights, strict=True):
            uncovered = [row for row in left if not covers(action[0], row)]
            others = [f for f in features if f != action[0]]
            walk(uncovered, others, step + 1, (*prefix, action), probability * weight / total)

    walk(rows, [-1, *range(n_features)], 0, (), 1.0)
    return result


def log_moment(p: dict[Output, float], q: dict[Output, float], lam: float) -> float:
    return math.log(math.fsum(mass * (mass / q[output]) ** lam for output, mass in p.items()))


def hockey_stick(p: dict[Output, float], q: dict[Output, float], epsilon: float) -> float:
    return math.fsum(max(0.0, mass - math.exp(epsilon) * q[output]) for output, mass in p.items())


def all_rows(n_features: int) -> list[Row]:
    return [(x, y) for x in itertools.product((0, 1), repeat=n_features) for y in (0, 1)]


def neighbours(n_features: int, most_rows: int, replace: bool) -> Iterator[tuple[list[Row], list[Row]]]:
    """All pairs of tables with at most so many rows in common, in both directions."""
    universe = all_rows(n_features)
    for size in range(most_rows + 1):
        for common in itertools.combinations_with_replacement(universe, size):
            if replace:
                for first, second in itertools.permutations(universe, 2):
                    yield [*common, first], [*common, second]
            else:
                for row in universe:
                    yield [*common, row], list(common)
                    yield list(common), [*common, row]
