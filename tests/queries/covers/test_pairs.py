"""Which literals may stand in one conjunction: against a look at every pair, and how much work it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.arrays import Bools
from tacit.queries.covers import pairs as cover_pairs
from tacit.queries.covers.candidates import MOST_STREAMED, StreamedConjunctions, TooManyCandidates
from tacit.queries.covers.pairs import Pairs, fewest_sets
from tests.decision_lists.counted_work import peak_bytes, within_calls

Columns = Sequence[int | tuple[int, ...]]

SHAPES: dict[int | tuple[int, ...], tuple[int, ...]] = {0: (2,), 1: (7,), 5: (12,), (0, 1): (2, 7), (5, 1): (12, 7)}


def every_pair(columns: Columns, truths: Sequence[Bools]) -> Bools:
    """The definition, a pair at a time: literals on the same columns neither contradict nor repeat each other."""
    n = len(columns)
    together = np.zeros((n, n), np.bool_)
    for i, j in itertools.combinations(range(n), 2):
        if columns[i] != columns[j]:
            together[i, j] = True
            continue
        both = truths[i] & truths[j]
        repeats = np.array_equal(both, truths[i]) or np.array_equal(both, truths[j])
        together[i, j] = bool(both.any()) and not repeats
    return together


def every_set(together: Bools, length: int) -> list[tuple[int, ...]]:
    """All sets of a length, in order."""
    pairs = {(int(i), int(j)) for i, j in np.argwhere(together)}
    sets = itertools.combinations(range(len(together)), length)
    return [found for found in sets if pairs.issuperset(itertools.combinations(found, 2))]


def some_literals(generator: np.random.Generator, n: int) -> tuple[Columns, list[Bools]]:
    """Literals of all kinds: single codes and all but one, thresholds, any sets, none, all, and the same ones again."""
    keys = list(SHAPES)
    columns = [keys[i] for i in generator.integers(0, generator.integers(1, len(keys) + 1), n)]
    truths = []
    for where in columns:
        codes = int(np.prod(SHAPES[where]))
        single = np.arange(codes) == generator.integers(codes)
        threshold = np.arange(codes) < generator.integers(codes + 1)
        kinds = [single, ~single, threshold, ~threshold, generator.random(codes) < generator.random()]
        truths.append(kinds[generator.integers(len(kinds))].reshape(SHAPES[where]))
    return columns, truths


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 12), st.booleans())
def test_the_pairs_and_sets_are_those_of_the_definition(seed: int, n: int, in_parts: bool) -> None:
    generator = np.random.default_rng(seed)
    columns, truths = some_literals(generator, n)
    together = every_pair(columns, truths)
    with pytest.MonkeyPatch.context() as patch:
        if in_parts:  # as for many literals
            patch.setattr(cover_pairs, "MOST_KEPT", 0)
            patch.setattr(cover_pairs, "PART", 1)
        pairs = Pairs.of(columns, truths)
        assert np.array_equal(pairs.lines(np.arange(n)), together)
        level = np.arange(n, dtype=np.int32)[:, None]
        expected = [every_set(together, length) for length in range(1, 6)]
        for length in range(2, 6):
            level = pairs.extended(level)
            assert level.shape == (len(expected[length - 1]), length)
            assert [tuple(line) for line in level.tolist()] == expected[length - 1]
        total = sum(len(sets) for sets in expected)
        counts = pairs.counts(5, total)
        assert counts is not None
        for sets, found in zip(expected, counts, strict=True):
            assert found == [sum(first == s[0] for s in sets) for first in range(n)]
        assert total == 0 or pairs.counts(5, total - 1) is None
    assert fewest_sets(columns, 5) <= total


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.booleans())
def test_listed_and_streamed_candidates_are_those_of_the_definition(seed: int, n: int, k: int, constant: bool) -> None:
    columns, truths = some_literals(np.random.default_rng(seed), n)
    together = every_pair(columns, truths)
    expected = [(-1,) * k] * constant
    for length in range(k, 0, -1):
        expected += [found + (-1,) * (k - length) for found in every_set(together, length)]
    streamed = StreamedConjunctions(tuple(columns), tuple(truths), k, constant, 2)
    listed = streamed.listed()
    assert (listed.members.dtype, listed.members.shape) == (np.int32, (len(expected), k))
    assert [tuple(line) for line in listed.members.tolist()] == expected
    blocks = [streamed.members(block) for block in range(streamed.n_blocks)]
    assert all(block.dtype == np.int32 for block in blocks)
    assert np.array_equal(np.concatenate(blocks), listed.members)


def test_literals_on_the_same_columns_know_the_same_codes() -> None:
    with pytest.raises(ValueError, match="the same codes"):
        Pairs.of([3, 3], [np.zeros(2, np.bool_), np.zeros(1, np.bool_)])


# Work is counted, not timed.


def wide(n: int) -> tuple[tuple[int, ...], tuple[Bools, ...]]:
    """Each of ``n`` categories and its negation, as windows of two vectors."""
    only = np.zeros(2 * n - 1, np.bool_)
    only[n - 1] = True
    starts = range(n - 1, -1, -1)
    return (0,) * (2 * n), tuple(flags[start : start + n] for start in starts for flags in (only, ~only))


def test_the_work_is_by_the_literal_and_not_by_the_pair() -> None:
    n = 10_000
    columns, truths = wide(n)
    pairs = within_calls(40 * 2 * n, lambda: Pairs.of(columns, truths))
    assert len(pairs.firsts) == 0  # no pair is an exception to what either literal says
    assert peak_bytes(lambda: Pairs.of(columns, truths)) < 1_000 * 2 * n  # 20 MB: a square of flags would be 400 MB
    for k in (2, 3):
        counts = within_calls(40 * 2 * n, lambda k=k: pairs.counts(k, 10**12))
        assert counts is not None
        assert [sum(found) for found in counts] == [2 * n, *(math.comb(n, length) for length in range(2, k + 1))]


def test_many_thresholds_are_compared_together() -> None:
    codes = np.arange(300)
    truths = [flags for cut in range(1, 300) for flags in (codes >= cut, codes < cut)]
    pairs = within_calls(40 * len(truths), lambda: Pairs.of((0,) * len(truths), truths))
    at_least = np.arange(len(truths)) % 2 == 0
    cuts = 1 + np.arange(len(truths)) // 2
    between = at_least[:, None] & ~at_least & (cuts[:, None] < cuts)  # from the one cut to the other
    assert np.array_equal(pairs.lines(np.arange(len(truths))), np.triu(between | between.T, 1))


def test_what_is_too_much_is_refused_before_literals_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*_: object) -> Pairs:
        raise AssertionError("literals were compared")

    _, truths = wide(5_000)
    columns = (0,) * len(truths) + (1,) * len(truths)
    assert 2 * fewest_sets(columns, 2) > MOST_STREAMED
    monkeypatch.setattr(Pairs, "of", compared)
    with pytest.raises(TooManyCandidates, match=r"shorter conjunctions.*fewer categories\. Nothing was spent"):
        StreamedConjunctions(columns, truths * 2, 2, constant_first=False, n_labels=2)
    single = StreamedConjunctions(columns, truths * 2, 1, constant_first=False, n_labels=2)
    assert len(single) == len(single.listed()) == 20_000
