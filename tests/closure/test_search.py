"""Equation (17) against the minimum over all completions written out, and functions as users write them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.closure import search
from tacit.closure.composed import in_words, truth_table
from tacit.closure.patterns import JoinedPatterns, ListedPatterns
from tacit.closure.search import Scored, completion_scores, own_errors
from tacit.errors import TacitError
from tacit.theory.closure.formula import TruthTable


def patterns(rng: np.random.Generator, count: int, points: int) -> ListedPatterns:
    return ListedPatterns.of(rng.integers(0, 2, (count, points)))


@pytest.mark.parametrize("later", [0, 1, 2, 3])
@pytest.mark.parametrize("known", [0, 1])
def test_scores_are_minima_over_all_completions(later: int, known: int) -> None:
    rng = np.random.default_rng(later + 10 * known)
    for _ in range(4):
        n = int(rng.integers(1, 9))
        function = TruthTable(tuple(int(v) for v in rng.integers(0, 2, 1 << (known + 1 + later))))
        said = rng.integers(0, 2, (n, known)).astype(np.uint8)
        own, rest = patterns(rng, 5, n), [patterns(rng, 4, n) for _ in range(later)]
        counts = rng.integers(0, 4, (n, 2))
        seen: list[tuple[int, int]] = []

        def progress(done: int, total: int, seen: list[tuple[int, int]] = seen) -> None:
            seen.append((done, total))

        result = completion_scores(function, said, own, rest, counts, progress)
        for i, score in enumerate(result):
            best = min(
                sum(int(counts[x, 1 - function([*said[x], own.row(i)[x], *(r[x] for r in rows)])]) for x in range(n))
                for rows in product(*(r.matrix() for r in rest))
            )
            assert score == best
        assert not later or seen[-1] == (len(own), len(own))


@pytest.mark.parametrize("later", [2, 3])
def test_whatever_is_left_out_of_a_search_is_no_better(later: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns are visited one by one, and by their bounds: most are never completed."""
    monkeypatch.setattr(search, "BATCH", 1)
    rng = np.random.default_rng(later)
    for _ in range(30):
        tables, classes = rng.integers(0, 9, (1, 5, 1 << later)), [patterns(rng, 6, 5) for _ in range(later)]
        best = min(
            sum(int(tables[0, x, sum(int(row[x]) << k for k, row in enumerate(rows))]) for x in range(5))
            for rows in product(*(c.matrix() for c in classes))
        )
        assert search.best_completions(tables, classes).tolist() == [best]


def test_own_errors() -> None:
    rng = np.random.default_rng(3)
    own = JoinedPatterns([patterns(rng, 4, 6), patterns(rng, 3, 6)])
    counts = rng.integers(0, 9, (6, 2))
    expected = [sum(counts[x, 0] if row[x] else counts[x, 1] for x in range(6)) for row in own.matrix()]
    assert own_errors(own, counts).tolist() == expected
    assert completion_scores(TruthTable((0, 1)), np.zeros((6, 0), np.uint8), own, [], counts).tolist() == expected
    scored = Scored(own, own_errors(own, counts))
    assert (scored.labels(5) == own.parts[1].row(5 - len(own.parts[0]))).all()


def test_scores_move_by_zero_or_one_when_a_row_is_added() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        n = 5
        function = TruthTable(tuple(int(v) for v in rng.integers(0, 2, 8)))
        own, rest = patterns(rng, 5, n), [patterns(rng, 4, n), patterns(rng, 4, n)]
        counts = rng.integers(0, 4, (n, 2))
        before = completion_scores(function, np.zeros((n, 0), np.uint8), own, rest, counts)
        counts[rng.integers(n), rng.integers(2)] += 1
        moved = completion_scores(function, np.zeros((n, 0), np.uint8), own, rest, counts) - before
        assert set(moved.tolist()) <= {0, 1}


def test_functions_as_users_write_them() -> None:
    assert truth_table("or", 3).values == truth_table("x1 or x2 or x3", 3).values
    assert truth_table("AND", 2).values == (0, 0, 0, 1)
    assert truth_table("x1 and (x2 or not x3)", 3).values == truth_table(lambda a, b, c: a and (b or not c), 3).values
    assert truth_table("x1 ^ x2", 2).values == truth_table([0, 1, 1, 0], 2).values == truth_table("xor", 2).values
    assert truth_table(TruthTable((0, 1)), 1).values == (0, 1)
    assert in_words("or", 3) == "x1 or x2 or x3"
    assert in_words("majority", 3) == "the majority of x1, x2, x3"
    assert in_words("x1 and not x2", 2) == "x1 and not x2"
    assert in_words((0, 1), 1) == "a function of x1"
    for wrong, match in (
        ((0, 1, 1, 0), "2 inputs, and there are 3 concepts"),
        ("x1 or x2", "uses x1, x2, and there are 3 concepts"),
        ("x1 +", "cannot read"),
        ("x1 + x2 + x3", "cannot read"),
        ("f(x1, x2, x3)", "uses f, x1"),
        (5, "5 cannot be read as a function of 3 concepts"),
        (["a"] * 8, "cannot be read as a function of 3 concepts"),
        ([0, 1, 1, 2], "0 and 1 only"),
        (lambda a: a, "cannot be asked about 3 concepts"),
        (lambda a, b, c: 1 // 0, "ZeroDivisionError"),
    ):
        with pytest.raises(TacitError, match=match) as raised:
            truth_table(wrong, 3)  # type: ignore[arg-type]
        assert "Nothing was spent" in str(raised.value)
