"""Concept classes: their patterns on random cells are those of all concepts, written out; their bounds hold."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog

from tacit.arrays import Ints
from tacit.closure.classes import (
    BoundClass,
    ConceptClass,
    ConceptError,
    Encoders,
    Halfspaces,
    Intervals,
    Rectangles,
    Thresholds,
    patterns_on,
    pick,
)
from tacit.closure.finite import FiniteClassClassifier
from tacit.closure.halfspace_patterns import PlanePatterns, halfspaces_at_most
from tacit.closure.literals import Conjunctions, DecisionLists, RuleClass
from tacit.closure.patterns import ListedPatterns, Patterns
from tacit.closure.unions import Stumps, Union
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.theory.dimensions import vc_dimension

ENCODERS: dict[str, Encoder] = {
    "a": NumericGrid(0.0, 10.0, cells=5),
    "b": NumericGrid(-1.0, 1.0, cells=4),
    "c": NumericGrid(0.0, 1.0, cells=3),
    "colour": CategoryIndex(("red", "green", "blue")),
    "flag": BooleanIndex(),
}
Label = Callable[[tuple[int, ...]], bool]


def concepts(name: str) -> tuple[ConceptClass, list[Label]]:
    """A class, and all its concepts as plain functions of the codes."""
    a, b = 5, 4
    known_a = range(a + 1)
    rising: list[Label] = [lambda x, t=t: x[0] != a and x[0] >= t for t in known_a]
    falling: list[Label] = [lambda x, t=t: x[0] != a and x[0] < t for t in known_a]
    rising_b: list[Label] = [lambda x, t=t: x[1] != b and x[1] >= t for t in range(b + 1)]
    falling_b: list[Label] = [lambda x, t=t: x[1] != b and x[1] < t for t in range(b + 1)]
    intervals: list[Label] = [lambda x, s=s, t=t: x[0] != a and s <= x[0] < t for s in known_a for t in known_a]
    boxes: list[Label] = [
        lambda x, s=s, t=t, u=u, v=v: x[0] != a and x[1] != b and s <= x[0] < t and u <= x[1] < v
        for s in known_a
        for t in known_a
        for u in range(b + 1)
        for v in range(b + 1)
    ]
    literals: list[Label] = [lambda x, c=c: x[0] == c for c in range(3)] + [lambda x, c=c: x[1] == c for c in range(2)]
    ands: list[Label] = [
        lambda x, chosen=chosen: all(f(x) for f in chosen) for k in range(3) for chosen in combinations(literals, k)
    ]

    def decide(rules: tuple[tuple[Label, int], ...], last: int) -> Label:
        return lambda x: bool(next((label for test, label in rules if test(x)), last))

    lists = [
        decide(rules, last)
        for k in range(3)
        for rules in product(list(product(literals, (0, 1))), repeat=k)
        for last in (0, 1)
    ]
    return {
        "rising": (Thresholds("a", "rising"), rising),
        "falling": (Thresholds("a", "falling"), falling),
        "both": (Thresholds("a"), rising + falling),
        "intervals": (Intervals("a"), intervals),
        "rectangles": (Rectangles(("a", "b")), boxes),
        "stumps": (Stumps(["a", "b"]), rising + falling + rising_b + falling_b),
        "conjunctions": (Conjunctions(("colour", "flag")), ands),
        "decision lists": (DecisionLists(("colour", "flag")), lists),
        "rules": (
            RuleClass(
                ("a", "flag"), (lambda v: v["a"] >= 4, lambda v: [f is True for f in v["flag"]]), ("high", "set")
            ),
            [lambda x: x[0] != a and x[0] >= 2, lambda x: x[1] == 1],
        ),
    }[name]


NAMES = ("rising", "falling", "both", "intervals", "rectangles", "stumps", "conjunctions", "decision lists", "rules")


def samples(bound: BoundClass, seed: int) -> list[npt.NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    cells = bound.cells()
    sizes = [0, 1, 2, min(9, len(cells)), len(cells)]
    return [cells[np.sort(rng.choice(len(cells), size, replace=False))] for size in sizes for _ in range(3)]


@pytest.mark.parametrize("name", NAMES)
def test_patterns_are_those_of_all_concepts(name: str) -> None:
    declared, functions = concepts(name)
    bound = declared.bind(ENCODERS)
    rng = np.random.default_rng(1)
    for codes in samples(bound, 2):
        patterns = bound.patterns(codes)
        expected = {tuple(bool(f(tuple(int(v) for v in x))) for x in codes) for f in functions}
        matrix = patterns.matrix()
        assert {tuple(bool(v) for v in row) for row in matrix} == expected
        assert len(matrix) == len(expected), "a pattern is listed twice"
        assert len(expected) <= bound.patterns_at_most(len(codes))
        values = rng.integers(-9, 9, (3, len(codes)))
        assert (patterns.sums(values) == values @ matrix.T.astype(np.int64)).all()


def test_the_vc_bound_of_a_union_is_the_largest_with_patterns_enough() -> None:
    """Two classes of n + 1 patterns: 2 (n + 1) are as many as 2**n at n = 3, and fewer from 4 on."""
    bound = Union((Thresholds("a", "rising"), Thresholds("b", "rising"))).bind(ENCODERS)
    assert [bound.patterns_at_most(n) for n in (1, 2, 3, 4)] == [4, 6, 8, 10]
    assert bound.vc_dimension == 3


@pytest.mark.parametrize("name", NAMES)
def test_vc_dimensions_are_bounds(name: str) -> None:
    bound = concepts(name)[0].bind(ENCODERS)
    matrix = bound.patterns(bound.cells()).matrix().astype(int)
    assert vc_dimension(matrix).value <= bound.vc_dimension
    if name in ("rising", "falling", "both", "intervals", "rectangles"):
        assert vc_dimension(matrix).value == bound.vc_dimension


def separable(points: npt.NDArray[np.int64], pattern: tuple[bool, ...]) -> bool:
    signs = np.where(pattern, -1.0, 1.0)[:, None]
    rows = signs * np.column_stack([points, np.ones(len(points))])
    free = [(None, None)] * rows.shape[1]
    return bool(linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(points)), bounds=free).status == 0)


@pytest.mark.parametrize(("count", "side"), [(2, 3), (7, 4), (9, 3)])
def test_halfspaces_cut_off_what_a_linear_program_can(count: int, side: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(2):
        points = np.unique(rng.integers(0, side, (count, 2)), axis=0)
        result = PlanePatterns(points)
        matrix = result.matrix()
        expected = {p for p in product([False, True], repeat=len(points)) if separable(points, p)}
        assert {tuple(bool(v) for v in row) for row in matrix} == expected
        assert len(matrix) == len(expected) <= halfspaces_at_most(len(points))
        values = rng.integers(-9, 9, (2, len(points)))
        assert (result.sums(values) == values @ matrix.T.astype(np.int64)).all()


def test_halfspaces_in_general_position_reach_covers_number() -> None:
    points = np.array([[0, 0], [7, 1], [3, 9], [12, 5], [6, 14], [1, 6]])
    assert len(PlanePatterns(points)) == halfspaces_at_most(6) == 32
    bound = Halfspaces(("a", "b")).bind(ENCODERS)
    cells = bound.cells()
    patterns = bound.patterns(cells)
    assert len(patterns) <= bound.patterns_at_most(bound.n_cells)
    missing = (cells == [5, 4]).any(axis=1)
    assert not any(patterns.row(i)[missing].any() for i in range(0, len(patterns), 7))
    assert "halfspace of a, b" in bound.describe(patterns, 5)
    with pytest.raises(ConceptError, match="two columns, got 5"):
        Halfspaces(("a",) * 5).bind(ENCODERS)


def test_points_may_share_a_cell_and_have_further_columns() -> None:
    bound = Thresholds("b", "rising").bind(ENCODERS)
    codes = np.array([[0, 3, 1], [4, 3, 1], [2, 1, 0], [2, 4, 0]])
    patterns = patterns_on(bound, codes, [1])
    assert {tuple(bool(v) for v in row) for row in patterns.matrix()} == {
        (False, False, False, False),
        (True, True, False, False),
        (True, True, True, False),
    }


def test_concepts_are_described() -> None:
    for declared, index, words in (
        (Thresholds("a", "rising"), 2, "a >= 4"),
        (Thresholds("a", "falling"), 2, "a < 4"),
        (Thresholds("a", "rising"), 0, "a is known"),
        (Thresholds("a", "rising"), 5, "never"),
        (Intervals("colour"), 2, "colour up to green"),
        (RuleClass(("a",), (lambda v: v["a"] > 3,), ("high",)), 0, "high"),
    ):
        bound = declared.bind(ENCODERS)
        assert bound.describe(bound.patterns(bound.cells()), index) == words


@pytest.mark.parametrize(
    "declared", [Conjunctions(("colour", "flag"), negated=True), DecisionLists(("colour", "flag"))]
)
def test_words_say_what_the_concept_does(declared: ConceptClass) -> None:
    """Reads the description back: evaluates its literals on the values and compares with the pattern."""
    bound = declared.bind(ENCODERS)
    cells = bound.cells()
    patterns = bound.patterns(cells)
    names = {"colour": ["red", "green", "blue", "other", "missing"], "flag": ["false", "true", "missing"]}

    def test(literal: str, cell: npt.NDArray[np.int64]) -> bool:
        column, relation, value = literal.split()
        have = names[column][int(cell[list(names).index(column)])]
        return (have == value) == (relation == "=")

    def evaluate(words: str, cell: npt.NDArray[np.int64]) -> bool:
        if words == "always":
            return True
        if "then" not in words and words not in ("0", "1"):
            return all(test(literal, cell) for literal in words.split(" and "))
        *rules, last = words.split(", else ")
        for rule in rules:
            literal, label = rule.removeprefix("if ").split(" then ")
            if test(literal, cell):
                return label == "1"
        return last == "1"

    for index in range(0, len(patterns), 3):
        words = bound.describe(patterns, index)
        assert [evaluate(words, cell) for cell in cells] == [bool(v) for v in patterns.row(index)], words


class Parity(ConceptClass):
    """A class of one's own: whether the levels of two columns are odd together, and its negation."""

    @property
    def columns(self) -> tuple[str, ...]:
        return ("a", "b")

    def bind(self, encoders: Encoders) -> BoundClass:
        return BoundParity(pick(encoders, self.columns))


class BoundParity(BoundClass):
    def __init__(self, encoders: tuple[Encoder, ...]) -> None:
        self.columns, self.n_codes, self.vc_dimension = ("a", "b"), tuple(e.n_codes for e in encoders), 1

    def patterns(self, codes: Ints) -> Patterns:
        odd = codes.sum(axis=1) % 2 == 1
        return ListedPatterns.of(np.stack([odd, ~odd]))

    def describe(self, patterns: Patterns, index: int) -> str:
        return "odd" if patterns.row(index)[1] else "even"


def test_a_class_of_ones_own_is_learned() -> None:
    rng = np.random.default_rng(8)
    frame = {name: rng.uniform(low, high, 2000) for name, low, high in (("a", 0, 10), ("b", -1, 1))}
    codes = [ENCODERS[name].encode(frame[name]).astype(int) for name in ("a", "b")]
    labels = (codes[0] + codes[1]) % 2
    columns = {
        "a": {"kind": "numeric", "lower": 0, "upper": 10, "bins": 5},
        "b": {"kind": "numeric", "lower": -1, "upper": 1, "bins": 4},
    }
    label = {"column": "y", "kind": "classes", "classes": [0, 1]}
    model = FiniteClassClassifier(Parity(), schema={"label": label, "columns": columns}).fit(frame, labels)
    assert (model.predict(frame) == labels).all()
    assert model.model_.text == "odd"


def test_errors_are_public_and_clear() -> None:
    with pytest.raises(ConceptError, match="'nobody', which is not among the features"):
        Thresholds("nobody").bind(ENCODERS)
    with pytest.raises(ConceptError, match="direction"):
        Thresholds("a", "up").bind(ENCODERS)  # type: ignore[arg-type]
    with pytest.raises(ConceptError, match="at least one class"):
        Union(()).bind(ENCODERS)
    with pytest.raises(ConceptError, match="must label 6 cells"):
        RuleClass(("a",), (lambda v: np.ones(3),)).bind(ENCODERS)
    with pytest.raises(ConceptError, match="at least one rule"):
        RuleClass(("a",), ()).bind(ENCODERS)
    with pytest.raises(ConceptError, match="at least 1"):
        Conjunctions(("flag",), length=0).bind(ENCODERS)
