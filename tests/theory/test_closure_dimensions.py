"""Dimensions of finite classes against plain recursion, known values of structured classes, and checked witnesses."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from itertools import combinations, count, pairwise, product

import numpy as np
import pytest

from tacit.arrays import Ints
from tacit.theory.closure.block_search import BlockSearch
from tacit.theory.closure.limit import Limit
from tacit.theory.closure.threshold_search import longest_chain, staircase_bound
from tacit.theory.closure.vc_search import ShatteredSearch
from tacit.theory.closure.witnesses import MistakeTree, ShatteredSet, ThresholdSequence
from tacit.theory.dimensions import (
    Dimension,
    FiniteClass,
    greedy_shattered,
    littlestone_dimension,
    threshold_dimension,
    vc_dimension,
)

DIMENSIONS: list[Callable[..., Dimension]] = [vc_dimension, littlestone_dimension, threshold_dimension]


def plain_vc(matrix: Ints) -> int:
    best = -1 if len(matrix) == 0 else 0
    for size in range(1, matrix.shape[1] + 1):
        for points in combinations(range(matrix.shape[1]), size):
            if len({tuple(row) for row in matrix[:, list(points)].tolist()}) == 2**size:
                best = size
    return best


def plain_littlestone(matrix: Ints) -> int:
    def depth(rows: frozenset[tuple[int, ...]]) -> int:
        if not rows:
            return -1
        best = 0
        for x in range(matrix.shape[1]):
            ones = frozenset(r for r in rows if r[x])
            if ones and ones != rows:
                best = max(best, 1 + min(depth(ones), depth(rows - ones)))
        return best

    return depth(frozenset(tuple(int(v) for v in row) for row in matrix))


def plain_threshold(matrix: Ints) -> int:
    @cache
    def longest(hypotheses: tuple[int, ...], points: tuple[int, ...]) -> int:
        best = 0
        for h, x in product(hypotheses, points):
            if matrix[h, x]:
                rest = longest(
                    tuple(g for g in hypotheses if not matrix[g, x]), tuple(z for z in points if matrix[h, z])
                )
                best = max(best, 1 + rest)
        return best

    return longest(tuple(range(len(matrix))), tuple(range(matrix.shape[1])))


def ball(n: int, radius: int) -> Ints:
    """All sets of at most ``radius`` of ``n`` points."""
    sets = [s for size in range(radius + 1) for s in combinations(range(n), size)]
    return np.array([[int(i in s) for i in range(n)] for s in sets])


def conjunctions(n: int) -> Ints:
    """All monotone conjunctions of ``n`` literals on the cube."""
    cube = np.array(list(product([0, 1], repeat=n)))
    return np.array([cube[:, list(s)].all(axis=1) for k in range(n + 1) for s in combinations(range(n), k)]).astype(int)


def intervals(n: int) -> Ints:
    x = np.arange(n)
    return np.array([(x >= a) & (x <= b) for a in range(n) for b in range(a, n)]).astype(int)


def thresholds(n: int) -> Ints:
    return (np.arange(n) >= np.arange(n + 1)[:, None]).astype(int)


@pytest.mark.parametrize(
    ("dimension", "plain"),
    [(vc_dimension, plain_vc), (littlestone_dimension, plain_littlestone), (threshold_dimension, plain_threshold)],
)
def test_random_classes_have_the_dimension_of_the_definition(
    dimension: Callable[..., Dimension], plain: Callable[[Ints], int]
) -> None:
    rng = np.random.default_rng(11)
    seen = set()
    for number in range(81):
        matrix = (rng.random((rng.integers(1, 9), rng.integers(1, 7))) < rng.choice([0.3, 0.5, 0.8])).astype(int)
        matrix = matrix if number < 80 else ball(4, 2)  # a point that leaves much on both sides, and deep on one alone
        result = dimension(matrix, seconds=math.inf)
        assert result.value == plain(matrix)
        assert result.witness is not None
        assert result.witness.size == result.value
        assert result.witness.holds(matrix)
        seen.add(result.value)
    assert len(seen) >= 3


@pytest.mark.parametrize(
    ("matrix", "values"),
    [
        (thresholds(200), (1, 7, 200)),
        (np.eye(200, dtype=int), (1, 1, 1)),
        (ball(31, 2), (2, 2, 2)),
        (ball(14, 3), (3, 3, 3)),
        (conjunctions(8), (8, 8, 9)),
        (intervals(31), (2, 8, 31)),
        (np.array([[(a & b).bit_count() % 2 for b in range(256)] for a in range(256)]), (8, 8, 8)),
    ],
    ids=["thresholds", "singletons", "ball 2", "ball 3", "conjunctions", "intervals", "parities"],
)
def test_structured_classes_are_exact_within_the_cap(matrix: Ints, values: tuple[int, int, int]) -> None:
    results = [dimension(matrix, seconds=math.inf) for dimension in DIMENSIONS]
    assert tuple(d.value for d in results) == values
    assert all(d.witness is not None and d.witness.holds(matrix) for d in results)


def rectangles(g: int) -> Ints:
    """All rectangles on a grid of ``g`` by ``g`` points, the empty one too."""
    sides = [(a, b) for a in range(g) for b in range(a, g)]
    i = np.arange(g)
    inside = np.array([(i >= a) & (i <= b) for a, b in sides])
    both = inside[:, None, :, None] & inside[None, :, None, :]
    return np.vstack([np.zeros((1, g * g), int), both.reshape(-1, g * g).astype(int)])


@pytest.mark.parametrize("g", [1, 2, 5, 10, 12])
def test_rectangles_are_as_deep_as_they_shrink(g: int) -> None:
    """Each point that is left out takes a row or a column of the grid: 2 g - 1, an interval of 19 to 86 at g = 10."""
    dimension = threshold_dimension(rectangles(g), seconds=math.inf)
    assert (dimension.lower, dimension.upper) == (2 * g - 1, 2 * g - 1)
    assert dimension.witness is not None
    assert dimension.witness.holds(rectangles(g))


@pytest.mark.parametrize("tall", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("shape", "depth"), [((120, 32), 11), pytest.param((200, 40), 12, marks=pytest.mark.slow)], ids=str
)
def test_random_classes_are_searched_from_the_middle(shape: tuple[int, int], depth: int, tall: bool) -> None:
    """120 hypotheses on 32 points: 11, as about 90 sets of 11 points and 0.02 of 12 are expected to be right.

    200 on 40 points: 12, as about 370 sets of 12 points and 0.1 of 13 are expected to be.
    """
    matrix = np.random.default_rng(1).integers(0, 2, shape)
    dimension = threshold_dimension(matrix if tall else matrix.T, seconds=math.inf)
    assert dimension.value == depth
    assert dimension.witness is not None
    assert dimension.witness.holds(matrix if tall else matrix.T)


def random_matrix(rng: np.random.Generator) -> Ints:
    return np.unique((rng.random((rng.integers(1, 10), rng.integers(1, 7))) < rng.choice([0.3, 0.5, 0.8])), axis=0) + 0


def test_blocks_decide_every_length() -> None:
    rng = np.random.default_rng(2)
    for _ in range(150):
        matrix = random_matrix(rng)
        for length in range(2, 6):
            search = BlockSearch(matrix.astype(np.uint8), length, Limit(10**9, 100.0))
            result = None
            while not search.finished:
                result, _ = search.go_on(int(rng.integers(1, 40)))
            assert (result is not None) == (plain_threshold(matrix) >= length)
            if result is not None:
                hypotheses, points = zip(*result, strict=True)
                assert len(points) == length
                assert ThresholdSequence(points, hypotheses).holds(matrix)


def test_chains_bound_staircases_and_are_attained_by_intersections() -> None:
    rng, never = np.random.default_rng(3), Limit(10**9, 100.0)
    below = 0
    for _ in range(150):
        matrix = random_matrix(rng).astype(np.uint8)
        bound, true = staircase_bound(matrix, 0, never), plain_threshold(matrix)
        below += bound < min(matrix.shape)
        assert bound >= true
        closed = {tuple(row) for row in matrix}
        while len(closed) < len(closed := closed | {tuple(np.minimum(a, b)) for a in closed for b in closed}):
            pass
        table = np.array(sorted(closed), np.uint8)
        if table.any():
            assert longest_chain(table, never) in (None, plain_threshold(table))
    assert below > 30


@pytest.mark.parametrize("d", [0, 1, 2])
def test_affine_subspaces_have_littlestone_dimension_one_more(d: int) -> None:
    """Of dimension at most d, over the field of two elements: d + 1, where the paper has d."""
    points = list(product([0, 1], repeat=3))
    spaces: set[frozenset[tuple[int, ...]]] = set()
    for origin, *directions in product(points, repeat=d + 1):
        sums = product([0, 1], repeat=d)
        spaces.add(
            frozenset(
                tuple((o + sum(c * v[i] for c, v in zip(s, directions, strict=True))) % 2 for i, o in enumerate(origin))
                for s in sums
            )
        )
    matrix = np.array([[int(x in space) for x in points] for space in spaces])
    assert littlestone_dimension(matrix).value == d + 1


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_beyond_the_cap_an_interval_is_reported(dimension: Callable[..., Dimension]) -> None:
    columns = 8 if dimension is vc_dimension else 30  # of 30 the greedy set is the largest, before the cap matters
    matrix = np.random.default_rng(3).integers(0, 2, (60, columns))
    full, cut = dimension(matrix, 10**6 if dimension is not threshold_dimension else 500), dimension(matrix, 3)
    assert not cut.exact
    assert cut.lower <= full.lower <= full.upper <= cut.upper
    assert cut.witness is not None
    assert cut.witness.holds(matrix)
    assert cut.witness.size == cut.lower
    with pytest.raises(ValueError, match="only the interval"):
        _ = cut.value


def test_a_greedy_set_is_shattered_and_saves_the_search() -> None:
    """Of a cube with idle points and of a random class: found without a visit, and nearly as large as there are."""
    cube = np.array(list(product((0, 1), repeat=6)))
    idle = np.hstack([cube, np.zeros((64, 3), int), cube[:, :1]])
    dimension = vc_dimension(idle)
    assert (dimension.value, dimension.work) == (6, 0)
    rng = np.random.default_rng(8)
    for hypotheses, points in ((2, 3), (40, 9), (60, 10)):
        matrix = rng.integers(0, 2, (hypotheses, points))
        family = FiniteClass(matrix)
        places = [family.splitting_points[place] for place in greedy_shattered(family, family.splitting_points)]
        assert len(np.unique(matrix[:, places], axis=0)) == 2 ** len(places)
        assert len(set(places)) == len(places)
        assert plain_vc(matrix) - 1 <= len(places) <= plain_vc(matrix)
    assert greedy_shattered(FiniteClass(np.zeros((3, 4), int)), []) == []


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_edges(dimension: Callable[..., Dimension]) -> None:
    assert dimension(np.zeros((0, 4), int)).value == -1
    assert dimension(np.zeros((3, 4), int)).value == 0
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        dimension(np.array([[0, 2]]))
    with pytest.raises(ValueError, match="matrix of 0 and 1"):
        dimension(np.array([0, 1]))


def test_wrong_witnesses_do_not_hold() -> None:
    matrix = thresholds(4)
    assert not ShatteredSet((0, 1), (0, 1, 2, 3)).holds(matrix)
    assert not ThresholdSequence((0, 1), (1, 0)).holds(matrix)
    leaf = [MistakeTree(hypothesis=i) for i in range(2)]
    assert MistakeTree(0, leaf[1], leaf[0]).holds(matrix)
    assert not MistakeTree(0, leaf[0], leaf[1]).holds(matrix)
    assert not MistakeTree(0, MistakeTree(1, leaf[1], leaf[1]), leaf[0]).holds(matrix)
    with pytest.raises(ValueError, match="not shattered"):
        ShatteredSet.find(matrix, [0, 1])


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_search_ends_by_the_clock_and_says_how_far_it_is(
    dimension: Callable[..., Dimension], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that nodes do not cap: a proved interval in time, a witness of its lower end, and progress that narrows.

    The clock of this test goes on by a second whenever it is looked at, however busy the machine is.
    """
    monkeypatch.setattr("tacit.theory.closure.limit.perf_counter", partial(next, count(0.0, 1.0)))
    matrix = np.random.default_rng(0).integers(0, 2, (500, 200))
    said: list[tuple[int, int, int]] = []
    result = dimension(matrix, cap=10**12, seconds=8.0, progress=lambda *news: said.append(news))
    assert result.lower <= result.upper
    assert result.witness is not None
    assert result.witness.holds(matrix)
    assert all(a[0] <= b[0] and a[1] >= b[1] and a[2] <= b[2] for a, b in pairwise(said))
    assert said[-1][:2] == (result.lower, result.upper) or result.exact
    if dimension is not littlestone_dimension:
        assert not result.exact
        assert len(said) > 1


@pytest.mark.parametrize("more", [{"cap": 100_000}, pytest.param({}, marks=pytest.mark.slow)])
def test_the_dimension_of_random_classes_is_known_but_for_one(more: dict[str, int]) -> None:
    """500 hypotheses on 200 points; slowly with the caps as they are."""
    matrix = np.random.default_rng(0).integers(0, 2, (500, 200))
    dimension = vc_dimension(matrix, seconds=math.inf, **more)
    assert (dimension.lower, dimension.upper) == (7, 8)


@pytest.mark.parametrize("sets", [1, 7, 10**6])
def test_a_search_in_slices_is_the_whole_search(sets: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrix = np.unique(rng.integers(0, 2, (24, 6)), axis=0)
        for size in (1, 2, 3, 4):
            search, result, work = ShatteredSearch(matrix.astype(np.uint8), size), None, 0
            while not search.finished:
                result, visited = search.go_on(sets)
                assert visited <= sets
                work += visited
            whole = ShatteredSearch(matrix.astype(np.uint8), size)
            assert whole.go_on(10**9) == (result, work)
            assert (result is not None) == (plain_vc(matrix) >= size)
            assert result is None or len(np.unique(matrix[:, result], axis=0)) == 2**size
