"""`check_query`: the contract of a query and its pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tacit.audit.inside import distances
from tacit.audit.neighbours import Arbitrary
from tacit.checks.failures import Failures, is_frozen
from tacit.privacy.unit import Neighbouring
from tacit.queries.query import Sensitivity

TABLES, TABLE_ROWS, ROWS_TRIED = 6, 8, 60
"""Small tables that rows are added to, rows of the largest, and rows that are tried on each."""


def check_query(
    query: Any,
    rows: Iterable[Any],
    table: Callable[[list[Any]], Any],
    *,
    additive: bool = True,
    tight: float = 0.0,
    random_state: int = 0,
) -> dict[str, float]:
    """Checks that a query keeps its contract, above all that no row moves its answer further than it declares.

    It states a sensitivity in whole units under both relations; its answers are int64 of its shape, of a table without
    rows, too; answers of two halves of a table add up to that of the whole; and on small tables no row that is added,
    removed or replaced moves the answer further, in L1 or L2, than declared. A search is no proof: give ``rows`` that
    move it most, and prove the rest.

    Args:
        query: the question.
        rows: possible rows, in any form that ``table`` takes, the most extreme ones among them. All pairs are tried if
            there are up to 60.
        table: makes a sealed table of a list of them, such as ``tacit.engines.blocks.MemoryTable``.
        additive: whether sums of blocks add up; False for a query whose pass has a ``finish``.
        tight: the share of the declared sensitivity that some row must reach, in one norm. With 0.9 a constant that is
            a tenth larger than needed fails; 0 asks for nothing.
        random_state: of the tables and rows that are tried.

    Returns:
        By relation the largest movement, as a share of the declared one.

    Raises:
        CheckError: with all that failed.

    Example:
        >>> import numpy as np
        >>> from itertools import product
        >>> from tacit.checks import check_query
        >>> from tacit.engines.blocks import MemoryTable
        >>> from tacit.queries.cells import column_cells
        >>> from tacit.queries.histogram import Histogram
        >>> from tacit.queries.rules import class_count_rule
        >>> def table(rows):
        ...     codes = np.array(rows, np.uint8).reshape(-1, 2)
        ...     return MemoryTable([codes[:, 0]], codes[:, 1], [3], 2)
        >>> check_query(Histogram(column_cells(0, 3), class_count_rule(2)), product(range(3), range(2)), table)
        {'add_or_remove_one': 1.0, 'replace_one': 1.0}
    """
    failures, rows = Failures(type(query).__name__), list(rows)
    _check_statement(query, failures)
    draws = Arbitrary(random_state)
    tables = [[rows[k] for k in draws.below(len(rows), size)] for size in range(TABLE_ROWS + 1)]
    reached: dict[str, float] = {}
    with failures.during("an answer"):
        _check_answers(query, table, tables, additive, failures)
        for relation in Neighbouring:
            reached[str(relation)] = _check_movement(query, rows, table, tables, relation, draws, failures)
            if tight:
                failures.expect(
                    reached[str(relation)] >= tight,
                    f"{relation}: no row moves the answer by more than {reached[str(relation)]:.2f} of what is "
                    f"declared, and {tight} was asked for",
                )
    failures.raise_any()
    return reached


def _check_statement(query: Any, failures: Failures) -> None:
    """What a query says of itself."""
    expect = failures.expect
    expect(is_frozen(query), "it is no frozen dataclass")
    with failures.during("what it says of itself"):
        expect(query.unit == int(query.unit) > 0, f"its unit is no positive whole number, but {query.unit!r}")
        for relation in Neighbouring:
            declared = query.sensitivity(relation)
            if not isinstance(declared, Sensitivity):
                expect(False, f"{relation}: its sensitivity is a {type(declared).__name__}")
                continue
            whole = all(isinstance(value, int | np.integer) for value in (declared.l1, declared.l2_squared))
            expect(whole, f"{relation}: its sensitivity is not in whole units: {declared}")
            ordered = 0 < declared.l2_squared <= declared.l1**2
            expect(ordered, f"{relation}: no vector has an L1 norm of {declared.l1} and a squared L2 norm of "
                   f"{declared.l2_squared}")  # fmt: skip
            expect(bool(declared.theorem), f"{relation}: its sensitivity names no theorem")


def _check_answers(
    query: Any, table: Callable[[list[Any]], Any], tables: Sequence[list[Any]], additive: bool, failures: Failures
) -> None:
    """Types, shapes, the table without rows, and sums over halves."""
    for rows in tables:
        answer = table(rows).answer(query)
        words = f"int64 of shape {tuple(query.shape)}, got {answer.dtype} of shape {answer.shape}"
        failures.expect(answer.dtype == np.int64 and answer.shape == tuple(query.shape), f"an answer must be {words}")
        failures.expect(np.array_equal(answer, table(rows).answer(query)), "the same rows are answered differently")
        if additive and len(rows) > 1:
            halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            total = sum(table(half).answer(query) for half in halves)
            failures.expect(np.array_equal(answer, total), "answers of two halves do not add up to that of the whole")


def _check_movement(
    query: Any,
    rows: Sequence[Any],
    table: Callable[[list[Any]], Any],
    tables: Sequence[list[Any]],
    relation: Neighbouring,
    draws: Arbitrary,
    failures: Failures,
) -> float:
    """The largest movement by one row, as a share of what is declared; more than all of it is a failure."""
    declared = query.sensitivity(relation)
    largest = 0.0
    for base in tables[:TABLES]:
        sample = rows
        if len(rows) > ROWS_TRIED:
            sample = [rows[k] for k in np.argsort(draws.fractions(len(rows)))[:ROWS_TRIED]]
        answers = [table([*base, row]).answer(query) for row in sample]
        before = answers if relation is Neighbouring.REPLACE_ONE else [table(base).answer(query)]
        for row, after in zip(sample, answers, strict=True):
            for one in before:
                l1, l2 = distances(one, after)
                largest = max(largest, l1 / declared.l1, (l2 / declared.l2_squared) ** 0.5)
                failures.expect(
                    l1 <= declared.l1 and l2 <= declared.l2_squared,
                    f"{relation}: a row such as {row!r} moves the answer by {l1} in L1 and {l2**0.5:.6g} in L2, where "
                    f"{declared.l1} and {declared.l2_squared**0.5:.6g} are declared",
                )
    return largest
