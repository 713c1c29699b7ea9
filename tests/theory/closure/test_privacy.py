"""Costs of relabelling and sampling, by exact enumeration of all neighbours of tiny tables."""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import combinations_with_replacement, product

import numpy as np
import numpy.typing as npt
import pytest

from tacit.arrays import Floats
from tacit.theory.checks import Cost
from tacit.theory.closure import privacy

ADD, REPLACE = False, True
Row = tuple[int, int]
Table = tuple[Row, ...]


def thresholds(points: int) -> npt.NDArray[np.int64]:
    return (np.arange(points) >= np.arange(points + 1)[:, None]).astype(int)


def every_function(points: int) -> npt.NDArray[np.int64]:
    return np.array(list(product([0, 1], repeat=points)))


def relabelled(table: Table, matrix: npt.NDArray[np.int64], epsilon: float, completions: int = 0) -> dict[Table, float]:
    """The distribution of the relabelled table: Algorithm 2, written out. Rows are sorted: their order tells nothing.

    With ``completions`` the score is equation (17) for the XOR with that many rows of the class.
    """
    points = sorted({x for x, _ in table})
    patterns = {tuple(int(h[x]) for x in points) for h in matrix}
    out: dict[Table, float] = {}
    weights = {}
    for pattern in patterns:
        label = dict(zip(points, pattern, strict=True))
        if completions:
            errors = min(sum((label[x] ^ int(c[x])) != y for x, y in table) for c in matrix[:completions])
        else:
            errors = sum(label[x] != y for x, y in table)
        weights[pattern] = math.exp(-epsilon * errors / 2)
    total = sum(weights.values())
    for pattern, weight in weights.items():
        label = dict(zip(points, pattern, strict=True))
        key = tuple(sorted((x, label[x]) for x, _ in table))
        out[key] = out.get(key, 0.0) + weight / total
    return out


def count_learner(epsilon: float, delta: float, size: int) -> dict[int, Floats]:
    """An (epsilon, delta)-DP mechanism on "how many ones": output distributions that attain both parameters.

    A randomised walk on counts: neighbouring counts have the worst pair ``(delta, .., )`` of (epsilon, delta)-DP as
    far as a chain of them allows; built by linear steps and checked by :func:`hockey_stick` in the test.
    """
    weights = np.exp(-epsilon / 2 * np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]))
    rows = weights / weights.sum(axis=1, keepdims=True)
    rows = np.hstack([(1 - delta) * rows, np.zeros((size, size))])
    rows[np.arange(size), size + np.arange(size)] = delta  # with probability delta the count itself
    return dict(enumerate(rows))


def output(
    table: Table, matrix: npt.NDArray[np.int64], epsilon: float, learner: dict[int, Floats], score: int
) -> Floats:
    total = np.zeros_like(next(iter(learner.values())))
    for relabelling, probability in relabelled(table, matrix, epsilon, score).items():
        total += probability * learner[sum((x + 1) * y for x, y in relabelling)]
    return total


def hockey_stick(p: Floats, q: Floats, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def neighbours(points: int, rows: int, relation: bool) -> list[tuple[Table, Table]]:
    values = list(product(range(points), (0, 1)))
    out = []
    for table in combinations_with_replacement(values, rows):
        if relation is ADD:
            out += [(table, tuple(sorted((*table, row)))) for row in values]
        else:
            out += [(table, tuple(sorted((*table[:-1], row)))) for row in values]
            out += [(table, tuple(sorted((row, *table[1:])))) for row in values]
    return [pair for a, b in out for pair in ((a, b), (b, a))]


CASES = [
    (relation, score, matrix, points)
    for relation in (ADD, REPLACE)
    for score in (0, 2)
    for matrix, points in ((thresholds(3), 3), (every_function(2), 2))
]


@pytest.mark.parametrize(("relation", "score", "matrix", "points"), CASES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_relabel_and_learn_keeps_its_curve_over_all_neighbours(
    relation: bool, score: int, matrix: npt.NDArray[np.int64], points: int, epsilon: float
) -> None:
    """Lemma 5.3 with the charged constants: epsilon adds up and delta stays the learner's own."""
    own = Cost(0.3, 0.01)
    # the learner sees a weighted number of ones, which a row moves by at most ``points`` steps of the walk
    learner = count_learner(own.epsilon / points, own.delta, 4 * points + 1)
    for j in range(1, points + 1):
        assert hockey_stick(learner[5], learner[5 - j], own.epsilon) <= own.delta + 1e-12
    span = privacy.relabel_range(epsilon, relation, "completion" if score else "errors")
    one = epsilon / 2 + math.log(2) if score else math.log(1 + math.exp(epsilon / 2))
    assert span == pytest.approx(2 * one if relation is REPLACE else one)
    for first, second in neighbours(points, 3, relation):
        p, q = (output(t, matrix, epsilon, learner, score) for t in (first, second))
        assert hockey_stick(p, q, own.epsilon + span) <= own.delta + 1e-12


SHARED = 6


def split_class(score: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A class on :data:`SHARED` points and two new ones, p and p', and completions for equation (17).

    One group (zero on the shared points) has both labels at p and is wrong at p'; all others are wrong at p and have
    both labels at p'. The completions are the zero function and one that turns two shared points and p, p' around: for
    the one group, and at p' for the others, a completion repairs whichever label is wrong.
    """
    rows = []
    for bits in product([0, 1], repeat=SHARED):
        lonely = not any(bits) if score == "errors" else bits == (0, 1) + (0,) * (SHARED - 2)
        if score == "completion" and not lonely and bits[:2] != (1, 1):
            continue
        rows += [(*bits, *ends) for ends in (((0, 1), (1, 1)) if lonely else ((1, 0), (1, 1)))]
    turned = (1, 1) + (0,) * (SHARED - 2) + (1, 1)
    completions = [(0,) * (SHARED + 2)] + ([turned] if score == "completion" else [])
    return np.array(rows), np.array(completions)


def largest_group_ratio(score: str, epsilon: float, first: list[Row], second: list[Row]) -> float:
    """The largest log-ratio of the probabilities of a group: all patterns that agree on the shared points."""
    matrix, completions = split_class(score)
    shared = [(x, 1) for x in range(SHARED)]
    probabilities = []
    for extra in (first, second):
        table = shared + extra
        points = [x for x, _ in table]
        weights: dict[tuple[int, ...], float] = {}
        for pattern in {tuple(int(v) for v in row[points]) for row in matrix}:
            label = dict(zip(points, pattern, strict=True))
            errors = min(sum((label[x] ^ int(c[x])) != y for x, y in table) for c in completions)
            key = pattern[:SHARED]
            weights[key] = weights.get(key, 0.0) + math.exp(-epsilon * errors / 2)
        total = sum(weights.values())
        probabilities.append({key: w / total for key, w in weights.items()})
    return max(abs(math.log(p / probabilities[1][key])) for key, p in probabilities[0].items())


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_range_is_attained(relation: bool) -> None:
    """A constant 10 % smaller would be broken by one pair of neighbours."""
    epsilon, p = 0.1, SHARED
    second = [] if relation is ADD else [(p + 1, 0)]
    span = privacy.relabel_range(epsilon, relation, "errors")
    result = largest_group_ratio("errors", epsilon, [(p, 0)], second)
    assert 0.9 * span < result <= span
    if relation is ADD:
        span = privacy.relabel_range(epsilon, relation, "completion")
        result = largest_group_ratio("completion", epsilon, [(p, 0)], second)
        assert 0.9 * span < result <= span


def matched_sensitivity(points: int, score: str) -> int:
    """Definition 5.1 by enumeration: how far the score moves between matched solutions on S + row and S + row'."""
    matrix = every_function(points)
    values = list(product(range(points), (0, 1)))

    def q(table: tuple[Row, ...], h: npt.NDArray[np.int64]) -> int:
        if score == "errors":
            return sum(int(h[x]) != y for x, y in table)
        return min(sum(int(h[x] | c[x]) != y for x, y in table) for c in thresholds(points))

    largest = 0
    for size in range(3):
        for table in combinations_with_replacement(values, size):
            for first, second in product(values, repeat=2):
                for h, g in product(matrix, repeat=2):
                    if all(h[x] == g[x] for x, _ in table):
                        largest = max(largest, abs(q((*table, first), h) - q((*table, second), g)))
    return largest


@pytest.mark.parametrize("score", ["errors", "completion"])
def test_matched_sensitivity_is_one(score: str) -> None:
    """Example 5.2, and equation (17) for an OR with a second class; a score of twice the errors has 2."""
    assert matched_sensitivity(2, score) == 1
    assert privacy.relabel_range(0.8, REPLACE, "matched") == pytest.approx(0.8 + math.log(4))


def binomial_mixture(epsilon: float, rows: int, draws: int) -> float:
    """The attack on Lemma 3.12: a learner whose rare output is ``e^epsilon`` likelier per copy of one row."""
    base, with_row = 1e-9, 0.0
    for j in range(draws + 1):
        share = math.comb(draws, j) / rows**j * (1 - 1 / rows) ** (draws - j)
        with_row += share * min(1.0, base * math.exp(j * epsilon))
    return math.log(with_row / base)


def test_draws_with_replacement() -> None:
    rows, draws = 1800, 200
    cost = privacy.drawn_with_replacement(Cost(1.0, 1e-6), rows, draws)
    assert cost.epsilon == pytest.approx(draws * math.log1p(math.expm1(1.0) / rows))
    assert cost.epsilon < 0.2
    assert cost.delta < 0.13 * 1e-6
    assert cost.delta == pytest.approx(1e-6 * math.expm1(cost.epsilon) / math.expm1(1.0))
    for n in (9, 900, 90_000):
        smaller = privacy.drawn_with_replacement(Cost(1.0, 1e-6), n, n // 9)
        limit = privacy.drawn_share_with_replacement(Cost(1.0, 1e-6), 1 / 9)
        assert smaller.epsilon <= limit.epsilon < 0.2
        assert smaller.delta <= limit.delta
    with pytest.raises(ValueError, match="draw fewer"):
        privacy.drawn_share_with_replacement(Cost(4.0, 0.0), 1 / 9)
    # beyond epsilon_A of about 3.5 the sample costs more than the learner: Lemma 3.12 fails there
    assert privacy.with_replacement_worst(3.5, rows, draws) == pytest.approx(3.54, abs=0.005)
    with pytest.raises(ValueError, match=r"would cost 3\.54"):
        privacy.drawn_with_replacement(Cost(3.5, 0.0), rows, draws)
    for epsilon in (0.1, 1.0, 2.0, 3.0):
        charged = privacy.drawn_with_replacement(Cost(epsilon, 0.0), rows, draws).epsilon
        assert privacy.with_replacement_worst(epsilon, rows, draws) <= charged + 1e-9
        assert binomial_mixture(epsilon, rows, draws) <= charged + 1e-9
    assert binomial_mixture(1.0, rows, draws) > 0.9 * privacy.drawn_with_replacement(Cost(1, 0), rows, draws).epsilon
    assert privacy.drawn_with_replacement(Cost(0.0, 0.0), rows, draws) == Cost(0.0, 0.0)


def test_draws_with_replacement_exactly() -> None:
    """All samples of tiny tables, a learner that attains (epsilon, delta), and the charged cost."""
    own, rows = Cost(0.8, 0.02), 4
    for draws in (1, 2):
        learner = count_learner(own.epsilon, own.delta, draws + 1)
        cost = privacy.drawn_with_replacement(own, rows, draws)
        for ones in range(rows):
            outputs = []
            for total in (ones, ones + 1):
                mixed = np.zeros_like(learner[0])
                for j in range(draws + 1):
                    share = math.comb(draws, j) * (total / rows) ** j * (1 - total / rows) ** (draws - j)
                    mixed = mixed + share * learner[j]
                outputs.append(mixed)
            for p, q in (outputs, outputs[::-1]):
                assert hockey_stick(p, q, cost.epsilon) <= cost.delta + 1e-12


@pytest.mark.parametrize(("a", "epsilon", "rate"), [(0.05, 0.77, 0.02), (0.5, 0.7, 0.3), (0.3, 0.5, 1.0)])
def test_the_cost_of_a_part_is_attained(a: float, epsilon: float, rate: float) -> None:
    """One group of patterns is free to label the new row either way, all others are wrong about it.

    Seen is that group, with what the learner tells of a row that is there. A constant a tenth smaller is broken.
    """
    others = 1e9
    before = 1 / (1 + others)
    outside = 1 / (1 + others * math.exp(-a))
    inside = (1 + math.exp(-a)) / (1 + math.exp(-a) + others * math.exp(-a)) * math.exp(epsilon)
    ratio = math.log(((1 - rate) * outside + rate * inside) / before)
    result = privacy.learned_on_part(a, Cost(epsilon, 1e-6), rate)
    assert 0.999 * result.epsilon < ratio <= result.epsilon * (1 + 1e-9)
    assert result.delta == rate * 1e-6


def learned_on_a_part(
    table: Table, matrix: npt.NDArray[np.int64], a: float, learner: dict[int, Floats], rate: float
) -> Floats:
    """What the learner tells: all coins, all patterns of the part with their least errors on all rows."""
    told = np.zeros_like(learner[0])
    for coins in product((False, True), repeat=len(table)):
        part = [x for (x, _), taken in zip(table, coins, strict=True) if taken]
        least: dict[tuple[int, ...], int] = {}
        for h in matrix:
            pattern, errors = tuple(int(h[x]) for x in part), sum(int(h[x]) != y for x, y in table)
            least[pattern] = min(errors, least.get(pattern, errors))
        weights = {pattern: math.exp(-a * errors) for pattern, errors in least.items()}
        share = rate ** len(part) * (1 - rate) ** (len(table) - len(part))
        for pattern, weight in weights.items():
            seen = sum((x + 1) * label for x, label in zip(part, pattern, strict=True))
            told += share * weight / sum(weights.values()) * learner[seen]
    return told


@pytest.mark.parametrize("matrix", [thresholds(2), every_function(2), thresholds(3)], ids=len)
@pytest.mark.parametrize(("a", "rate"), [(0.3, 0.4), (0.05, 0.1), (0.5, 1.0)])
def test_a_part_keeps_its_curve_over_all_neighbours(matrix: npt.NDArray[np.int64], a: float, rate: float) -> None:
    """Theorem 1 of docs/theory/agnostic_part.md, with a delta, of which tiny tables attain a half and more."""
    own, points, rows = Cost(0.3, 0.02), matrix.shape[1], 3
    learner = count_learner(own.epsilon / points, own.delta, points * (rows + 1) + 1)
    charged = privacy.learned_on_part(a, own, rate)
    told = cache(partial(learned_on_a_part, matrix=matrix, a=a, learner=learner, rate=rate))
    pairs = neighbours(points, rows, ADD)
    largest = max(hockey_stick(told(p), told(q), charged.epsilon) for p, q in pairs)
    assert charged.delta / 2 < largest <= charged.delta + 1e-12


def test_amplification() -> None:
    assert privacy.amplification_rate(0.3, 0.5) == 1.0
    assert privacy.amplified(Cost(2.0, 1e-6), privacy.amplification_rate(2.0, 0.5)).epsilon == pytest.approx(0.5)
    # coins, add/remove: the mixture of "with" and "without" attains it
    epsilon, rate = 1.2, 0.3
    without, with_row = np.array([0.2, 0.8]), np.array([0.2 * math.exp(epsilon), 1 - 0.2 * math.exp(epsilon)])
    mixed = rate * with_row + (1 - rate) * without
    result = privacy.amplified(Cost(epsilon, 1e-6), rate)
    assert math.log(mixed[0] / without[0]) == pytest.approx(result.epsilon)
    assert result.delta == pytest.approx(rate * 1e-6)


def test_the_papers_constants() -> None:
    assert privacy.relabel_and_learn_paper(Cost(1.0, 1e-6)) == Cost(4.0, 4 * math.e * 1e-6)
    for scoring in (0.0, 0.1, 1.0):
        best, labels = privacy.best_part_epsilon(scoring), 1 + math.exp(-scoring)
        worth = [x / (labels * math.exp(x) - 1) for x in (best - 0.01, best, best + 0.01)]
        assert worth[1] == max(worth)
    assert round(privacy.best_part_epsilon(0.0), 3) == 0.768
