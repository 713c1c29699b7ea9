"""Digests of questions: every part counts, and what grows is looked at again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from tacit.queries.cells import OneCell, column_cells
from tacit.queries.digest import Digests
from tacit.queries.histogram import Histogram
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule, fine_count_rule


class Kind(Enum):
    ONE = 1


@dataclass(frozen=True, eq=False)
class Part:
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Same:
    values: np.ndarray


@dataclass(eq=False)
class Log:
    updates: list[Part] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Holder:
    log: Log
    part: Part


DIFFERENT: list[Any] = [
    None, True, 1, 1.0, "1", b"1", Kind, (1,), (1, 1), ((1,), 1), (1, (1,)), [], {}, {"a": 1}, {"a": 2}, {1: "a"},
    np.array([1]), np.array([1.0]), np.array([[1]]), np.array([1, 1]), np.array([1], np.int32), np.array(["1"], object),
    Part(np.array([1])), Part(np.array([2])), Same(np.array([1])), fine_count_rule, column_cells, 0.1 + 0.2, 0.3,
]  # fmt: skip


def test_all_that_differs_has_another_digest() -> None:
    assert len({Digests().of(value) for value in DIFFERENT}) == len(DIFFERENT)
    assert [Digests().of(value) for value in DIFFERENT] == [Digests().of(value) for value in DIFFERENT]


def test_what_is_equal_has_one() -> None:
    digests = Digests()
    assert digests.of(np.int64(3)) == digests.of(3)
    assert digests.of(Kind.ONE) == digests.of(1)
    assert digests.of(Part(np.array([1]))) == digests.of(Part(np.array([1])))
    assert digests.of(np.arange(6).reshape(2, 3).T) == digests.of(np.arange(6).reshape(2, 3).T.copy())


def test_a_log_that_grows_inside_a_question_that_stays_is_seen() -> None:
    digests, holder = Digests(), Holder(Log(), Part(np.array([1])))
    seen = [digests.of(holder)]
    for k in range(3):
        holder.log.updates.append(Part(np.array([k])))
        seen.append(digests.of(holder))
    assert len(set(seen)) == 4
    assert digests.of(holder) == seen[-1] == Digests().of(holder)


def test_a_histogram_is_told_by_its_rule_its_cells_and_its_margins() -> None:
    digests, margins = Digests(), Margins()
    rule = RowRule(np.full((2, 1, 1), 64, np.int32), 64)
    base = Histogram(column_cells(0, 4), rule, margins)
    other = RowRule(np.full((2, 1, 1), 63, np.int32), 64)
    cells = (column_cells(1, 4), column_cells(0, 5), OneCell())
    queries = [base, replace(base, rule=other), *(replace(base, cells=each) for each in cells)]
    seen = [digests.of(each) for each in queries]
    margins.add(column_cells(0, 4), np.ones(4))
    assert len({*seen, digests.of(base)}) == 6


def test_a_list_or_a_mapping_that_grows_inside_a_frozen_part_is_seen() -> None:
    """A frozen class of its own identity is remembered only where nothing in it can change."""
    grown: Any = [1]
    named: Any = {"a": 1}
    for part, grow in (
        (Part(grown), lambda: grown.append(2)),
        (Part(named), lambda: named.update(b=2)),
        (Holder(Log(), Part((grown, 0))), lambda: grown.append(3)),  # type: ignore[arg-type]
    ):
        digests = Digests()
        before = digests.of(part)
        grow()
        assert digests.of(part) == Digests().of(part) != before
