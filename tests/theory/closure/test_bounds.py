"""The closure paper's bounds against exact dimensions of random and extremal classes, and its witnesses."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest

from tacit.arrays import Ints
from tacit.theory import dimensions
from tacit.theory.closure import bounds, witnesses
from tacit.theory.closure.formula import TruthTable, disjunctive_terms, majority_formula, named_function
from tacit.theory.closure.witnesses import MistakeTree
from tests.theory.closure import extremal

# A first search compiles, and a busy machine takes long for that: no test of a bound is about the clock.
littlestone_dimension = partial(dimensions.littlestone_dimension, seconds=math.inf)
threshold_dimension = partial(dimensions.threshold_dimension, seconds=math.inf)
vc_dimension = partial(dimensions.vc_dimension, seconds=math.inf)


def random_classes(seed: int, count: int, rounds: int) -> list[list[Ints]]:
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(rounds):
        points = int(rng.integers(2, 7))
        out.append(
            [(rng.random((rng.integers(1, 7), points)) < rng.choice([0.3, 0.6])).astype(int) for _ in range(count)]
        )
    return out


def composed(table: TruthTable, classes: list[Ints]) -> Ints:
    rows = [
        [table(bits) for bits in zip(*(c[i] for c, i in zip(classes, chosen, strict=True)), strict=True)]
        for chosen in product(*(range(len(c)) for c in classes))
    ]
    return np.unique(np.array(rows), axis=0)


def test_littlestone_and_threshold_dimension_are_exponentially_related() -> None:
    checked = 0
    for (matrix,) in random_classes(1, 1, 60):
        d, t = littlestone_dimension(matrix).value, threshold_dimension(matrix).value
        if d >= 1 and t >= 1:
            assert d >= bounds.littlestone_at_least(t)
            assert t >= bounds.threshold_at_least(d)
            checked += 1
    assert checked > 20
    for at_least in (bounds.littlestone_at_least, bounds.threshold_at_least):
        assert [at_least(size) for size in (1, 2, 3, 4, 7, 8)] == [0, 1, 1, 2, 2, 3]


def test_unions_stay_below_their_bounds_and_the_extremal_ones_attain_them() -> None:
    for first, second in random_classes(2, 2, 100):
        union = np.vstack([first, second])
        d = [littlestone_dimension(c).value for c in (first, second, union)]
        t = [threshold_dimension(c).value for c in (first, second, union)]
        assert d[2] <= bounds.littlestone_of_two(d[0], d[1])
        assert t[2] <= bounds.threshold_of_union(t[:2])
    for d1, d2 in ((0, 0), (1, 2), (2, 2), (3, 1)):
        low, high = extremal.hamming_balls(d1, d2, d1 + d2 + 2)
        assert (littlestone_dimension(low).value, littlestone_dimension(high).value) == (d1, d2)
        assert littlestone_dimension(np.vstack([low, high])).value == bounds.littlestone_of_two(d1, d2)
    for t1, t2 in ((1, 1), (3, 5)):
        whole = witnesses.threshold_class(t1 + t2)
        assert threshold_dimension(whole[:t1]).value == t1
        assert threshold_dimension(whole[t1:]).value == t2
        assert threshold_dimension(whole).value == bounds.threshold_of_union([t1, t2])


def test_several_unions_grow_with_the_logarithm_for_littlestone_and_linearly_for_thresholds() -> None:
    for classes in random_classes(3, 5, 60):
        d = max(littlestone_dimension(c).value for c in classes)
        union = littlestone_dimension(np.vstack(classes)).value
        assert union <= bounds.littlestone_of_union([littlestone_dimension(c).value for c in classes])
        assert union <= bounds.littlestone_of_union_stated(5, d)
    for count, size in ((2, 3), (4, 5), (7, 4)):
        blocks = extremal.threshold_blocks(count, size)
        assert [threshold_dimension(b).value for b in blocks] == [size] * count
        assert threshold_dimension(np.vstack(blocks)).value == count * size
        assert littlestone_dimension(np.vstack(blocks)).value <= bounds.littlestone_of_union_stated(count, size)
    assert bounds.littlestone_of_union([4] * 64) < sum([4] * 64)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_copies_with_patterns_gain_the_logarithm_of_their_number(count: int) -> None:
    table = np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 1]])
    single = littlestone_dimension(table)
    copies = extremal.copies_with_patterns(table, count)
    assert len(copies) == 2 ** int(math.log2(count))
    union = np.vstack(copies)
    assert {littlestone_dimension(c).value for c in copies} == {single.value}
    assert isinstance(single.witness, MistakeTree)
    tree = extremal.tree_of_copies(single.witness, table.shape[1], len(table), count)
    assert tree.size == single.value + int(math.log2(count))
    assert tree.holds(union)
    assert littlestone_dimension(union).value >= tree.size


def test_compositions_stay_below_their_bounds() -> None:
    functions = [
        named_function("or", 2),
        named_function("xor", 2),
        named_function("majority", 3),
        named_function("and", 3),
    ]
    for table in functions:
        for classes in random_classes(table.arity, table.arity, 12):
            whole = composed(table, classes)
            d = [littlestone_dimension(c).value for c in classes]
            assert littlestone_dimension(whole).value <= bounds.littlestone_of_composition(table, d)
            v = [vc_dimension(c).value for c in classes]
            assert vc_dimension(whole).value <= bounds.littlestone_of_tuples(v)
            t = max(threshold_dimension(c).value for c in classes)
            assert threshold_dimension(whole).value < bounds.threshold_of_composition(table.arity, t + 1)
    # polynomial where the function is simple, exponential in general: k^2 d up to logarithms
    assert bounds.littlestone_of_majority(9, 5) < 9**2 * 5 * 20
    assert bounds.littlestone_of_majority(1, 5) == 5


@pytest.mark.parametrize(
    ("name", "arity", "dimension", "papers", "least"),
    [("or", 2, 1, 404, 5), ("majority", 3, 3, 666_649, 40), ("xor", 6, 5, 9_009_193_846, 184)],
)
def test_composition_bounds_by_value(name: str, arity: int, dimension: int, papers: int, least: int) -> None:
    table, dimensions = named_function(name, arity), [dimension] * arity
    assert bounds.littlestone_of_composition_by_majorities(table, dimensions) == papers
    assert bounds.littlestone_of_composition(table, dimensions) == least
    # 2^T <= product of C(T, <= d), by hand
    count = [sum(math.comb(rounds, i) for i in range(dimension + 1)) ** arity for rounds in (least, least + 1)]
    assert count[0] >= 2**least
    assert count[1] < 2 ** (least + 1)


def test_bounds_of_tuples_and_unions_by_value() -> None:
    assert bounds.littlestone_of_union_by_voting([10] * 1000) == 48
    assert bounds.littlestone_of_union([10] * 1000) == 40
    assert bounds.littlestone_of_union([1, 2]) == bounds.littlestone_of_two(1, 2) == 4
    assert [bounds.littlestone_of_union([0] * k) for k in (1, 2, 7, 8)] == [0, 1, 2, 3]
    assert [bounds.littlestone_of_tuples(d) for d in ([], [0, 0], [1], [7], [1, 0], [1, 1], [3, 3])] == [
        0, 0, 1, 7, 1, 5, 21,
    ]  # fmt: skip
    idle = TruthTable((0, 1, 0, 1))  # the first input alone counts
    assert bounds.littlestone_of_composition(idle, [2, 9]) == 2
    assert bounds.littlestone_of_composition(TruthTable((1, 1, 1, 1)), [2, 9]) == 0
    xor_of_two = TruthTable((0, 1, 1, 0, 0, 1, 1, 0))  # tuples bound it, of the two inputs alone
    assert bounds.littlestone_of_composition(xor_of_two, [2, 2, 50]) == bounds.littlestone_of_tuples([2, 2])


def test_random_compositions_and_unions_stay_below_the_counts_of_experts() -> None:
    """Counted apart from :mod:`tacit.theory.closure.bounds`; the counts are not far off either."""
    tight, compared = 0, 0
    rng = np.random.default_rng(12)
    for arity in (2, 3):
        for classes in random_classes(20 + arity, arity, 40):
            table = TruthTable(tuple(int(v) for v in rng.integers(0, 2, 1 << arity)))
            d = [littlestone_dimension(c).value for c in classes]
            for whole, counts in (
                (composed(table, classes), lambda rounds, d=d: math.prod(experts(rounds, each) for each in d)),
                (np.vstack(classes), lambda rounds, d=d: sum(experts(rounds, each) for each in d)),
            ):
                result = littlestone_dimension(whole).value
                assert 2**result <= counts(result)
                tight += 2 ** (result + 1) > counts(result + 1)
                compared += 1
            assert littlestone_dimension(np.vstack(classes)).value <= bounds.littlestone_of_union(d)
            assert littlestone_dimension(composed(table, classes)).value <= bounds.littlestone_of_composition(table, d)
    assert compared == 160
    assert tight >= 5


def experts(rounds: int, dimension: int) -> int:
    """Sets of at most ``dimension`` of the rounds, one by one."""
    return sum(1 for size in range(dimension + 1) for _ in combinations(range(rounds), size))


def test_majority_bound_needs_its_factor() -> None:
    """The step of the proof that counts errors: the best of k functions may err on ``(1/2 - 1/(2k))`` of the rounds."""
    k = 3
    votes = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])  # three rounds of label 1; each function errs once
    assert (2 * votes.sum(axis=1) > k).all()
    errors = (votes == 0).sum(axis=0).min() / len(votes)
    assert errors == pytest.approx(1 / 2 - 1 / (2 * k))
    assert errors > 1 / 2 - 1 / k


def test_regret_formula() -> None:
    assert bounds.agnostic_regret(0, 10) == 0.0
    assert bounds.agnostic_regret(2, 100) == pytest.approx(math.sqrt(100 * math.log(50 * math.e)))
    assert bounds.weighted_majority_mistakes(1, 0) == 0.0
    assert bounds.weighted_majority_mistakes(8, 3) == pytest.approx(6 / math.log2(4 / 3))


def test_random_pairs_have_small_dimension_and_ors_with_exponentially_many_thresholds() -> None:
    rng = np.random.default_rng(4)
    for t in (10, 15):
        drawn = 0
        while True:
            drawn += 1
            matrix = extremal.random_pairs(t, rng)
            dimension = threshold_dimension(matrix)
            if dimension.upper <= t:
                break
        assert drawn < 50
        ors = extremal.pairwise(matrix)
        whole = threshold_dimension(ors)
        assert whole.lower >= bounds.threshold_of_union_of_two_functions(t)
        assert whole.witness is not None
        assert whole.witness.holds(ors)
    wide, lower = extremal.random_pairs(30, rng), np.tri(64)
    assert (wide[:64] + wide[64:] == lower).all()
    assert abs(wide[:64][lower == 1].mean() - 0.5) < 0.06  # fair coins, 2,080 of them


@pytest.mark.parametrize("name", ["or", "and", "xor", "majority"])
@pytest.mark.parametrize("seed", range(4))
def test_extraction_finds_the_class_that_holds_the_thresholds(name: str, seed: int) -> None:
    """Hides thresholds in one of the classes, rising or falling, and noise in the others."""
    rng = np.random.default_rng(seed)
    arity, n = 3, 40
    table = named_function(name, arity)
    hidden = int(rng.integers(arity))
    neutral = {"or": 0, "and": 1, "xor": int(rng.integers(2)), "majority": None}[name]
    rising = witnesses.threshold_class(n).astype(int)
    flip = name == "xor" and neutral == 1
    classes = []
    for r in range(arity):
        if r == hidden:
            classes.append(1 - rising if flip else rising)
        elif neutral is None:
            classes.append(np.full((n, n), 1 if r == (hidden + 1) % arity else 0))
        else:
            classes.append(np.full((n, n), neutral if r == (hidden + 1) % arity or name != "xor" else 0))
    values = np.array([[table([c[i, j] for c in classes]) for j in range(n)] for i in range(n)])
    assert (values == rising).all()
    result = witnesses.extract_thresholds(classes, range(n), [[i] * arity for i in range(n)])
    assert result.which == hidden
    assert result.sequence.size >= n // 4
    assert result.sequence.holds(classes[hidden])


def test_extraction_from_a_sequence_that_mixes_its_classes() -> None:
    """ORs of a random construction: which of the two holds a threshold differs from pair to pair."""
    matrix = extremal.random_pairs(30, np.random.default_rng(6))
    size = matrix.shape[1]
    order = np.arange(size)[::-1]  # rows are 1 on 0..i; reversed, they are thresholds
    result = witnesses.extract_thresholds([matrix, matrix], order, [(i, size + i) for i in order])
    assert result.sequence.size >= 1
    assert result.sequence.holds(matrix)
    assert bounds.threshold_of_composition(2, 2) > size  # far below what the theorem asks for
    with pytest.raises(ValueError, match="no class"):
        witnesses.extract_thresholds([np.zeros((3, 3), int)], range(3), [[0], [1], [2]])
    with pytest.raises(ValueError, match="at least two"):
        witnesses.extract_thresholds([np.zeros((3, 3), int)], range(1), [[0]])


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_every_function_is_its_majority_formula(arity: int) -> None:
    for values in product([0, 1], repeat=1 << arity):
        table = TruthTable(values)
        formula = majority_formula(table)
        terms = disjunctive_terms(table)
        assert len(terms) <= 1 << (arity - 1) or arity == 1
        for bits in product([0, 1], repeat=arity):
            assert formula(bits) == table(bits)
            assert any(all(bits[i] == v for i, v in term) for term in terms) == bool(table(bits))
        assert formula.size <= (2 * arity - 1) * (1 << arity)


def test_theorem_2_2_by_value() -> None:
    """By hand: Greenwood and Gleason's number, the way through Littlestone dimensions, and the paper's bound."""
    assert [bounds.ramsey_size(r, c) for r, c in ((3, 2), (2, 3), (4, 4))] == [6, 6, math.factorial(12) // 6**4]
    assert bounds.threshold_of_composition(2, 2) == 369_600  # 2^18.5
    assert math.log2(bounds.threshold_of_composition(10, 3)) == pytest.approx(386.63, abs=0.01)
    # through Littlestone, of classes of dimension 1: 2^59 <= 60^10 and 2^60 > 61^10; 20 colours need 2^61.1 points
    assert bounds.threshold_of_composition(10, 1) == 2**60
    assert bounds.threshold_of_composition(1, 40) == math.comb(158, 79)  # no dimension of 2^40 is looked up
    assert bounds.threshold_of_composition_stated(1, 2) == 2 ** (4 * 4 * 2)
    assert bounds.threshold_of_composition_stated(2, 2) == 2**256
    assert bounds.threshold_of_composition_stated(10, 3).bit_length() - 1 == 125_829_120
    for count, bound in product(range(1, 6), range(1, 6)):
        assert bounds.threshold_of_composition(count, bound) < bounds.threshold_of_composition_stated(count, bound)
    for of in (bounds.threshold_of_composition, bounds.threshold_of_composition_stated):
        for wrong in ((0, 2), (2, 0)):
            with pytest.raises(ValueError, match="at least 1"):
                of(*wrong)
    assert [bounds.threshold_of_union_of_two_functions(t) for t in (6, 10, 24)] == [2, 4, 16]


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_extraction_from_any_tuples_whose_composition_holds_thresholds(arity: int) -> None:
    """Random functions, and tuples that the composition forces nowhere else: sets of one colour are long enough."""
    rng = np.random.default_rng(30 + arity)
    n = 2 * (2 * arity) ** 2  # two positions more than one of a colour are among so many
    for _ in range(25):
        values = rng.permutation([0, 1, *rng.integers(0, 2, (1 << arity) - 2).tolist()])
        sides = [np.flatnonzero(values == side) for side in (0, 1)]
        chosen = np.array([[rng.choice(sides[int(i <= j)]) for j in range(n)] for i in range(n)])
        classes = [chosen >> r & 1 for r in range(arity)]
        result = witnesses.extract_thresholds(classes, range(n), [[i] * arity for i in range(n)])
        assert result.sequence.holds(classes[result.which])
        assert result.sequence.size >= 1 + (arity == 1)
