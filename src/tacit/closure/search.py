"""Scores of patterns: their own errors, and equation (17), the fewest errors of any completion.

Source: Alon, Beimel, Moran, Stemmer 2020, section 7. Adding a row adds 0 or 1 to the errors of every choice of
concepts, hence to the minimum over some of them: these scores are one-sided with range 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tacit.arrays import Bools, Bytes, Ints
from tacit.closure.patterns import Patterns
from tacit.theory.closure.formula import TruthTable

BLOCK_ENTRIES = 1 << 22
BATCH = 64
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Scored:
    """Patterns with their scores; what Relabel chooses from."""

    patterns: Patterns
    scores: Ints
    lengths: ClassVar[None] = None

    def labels(self, index: int) -> Bools:
        """The labels that a pattern gives to the points."""
        return self.patterns.row(index)


def own_errors(patterns: Patterns, counts: Ints) -> Ints:
    """Errors of every pattern: rows of label 0 inside, rows of label 1 outside; ``counts`` are ``(points, 2)``."""
    inside = counts[:, 0] - counts[:, 1]
    errors: Ints = patterns.sums(inside[None, :])[0] + counts[:, 1].sum()
    return errors


def error_table(function: TruthTable, labels: Bytes, counts: Ints) -> Ints:
    """Errors at every point for each choice of the bits still open, shape ``(points, 2^open)``.

    The function is one of the bits ``labels`` and then the open ones; ``counts`` are rows of each label.
    """
    n_known = labels.shape[1]
    base = labels.astype(np.int64) @ (1 << np.arange(n_known, dtype=np.int64))
    table = np.asarray(function.values, np.int64)
    index = base[:, None] + (np.arange(1 << (function.arity - n_known), dtype=np.int64) << n_known)[None, :]
    wrong_label = 1 - table[index]
    return np.take_along_axis(counts, wrong_label, axis=1)


def completion_scores(
    function: TruthTable,
    labels: Bytes,
    own: Patterns,
    later: Sequence[Patterns],
    counts: Ints,
    progress: Progress | None = None,
) -> Ints:
    """Equation (17): for every pattern of ``own`` the fewest errors over all choices of the later patterns.

    The function is of the earlier models' bits (``labels``, shape ``(points, models)``), then ``own``'s, then the later
    ones'; ``counts`` are rows of each label, shape ``(points, 2)``. ``progress`` is called with (done, all) now and
    then; for the operator's eyes, since the numbers depend on the rows.
    """
    if len(own) == 0:
        return np.zeros(0, np.int64)
    table = error_table(function, labels, counts)
    if not later:
        alone: Ints = own.sums((table[:, 1] - table[:, 0])[None, :])[0] + table[:, 0].sum()
        return alone
    scores = np.empty(len(own), np.int64)
    step = max(1, BLOCK_ENTRIES // max(1, own.n_points * 2 ** len(later)))
    for start in range(0, len(own), step):
        stop = min(start + step, len(own))
        rows = np.stack([own.row(i) for i in range(start, stop)])
        # bit 0 of the open ones is the own bit: odd columns are for label 1
        tables = np.where(rows[:, :, None], table[None, :, 1::2], table[None, :, 0::2])
        scores[start:stop] = best_completions(tables, later)
        if progress is not None:
            progress(stop, len(own))
    return scores


def best_completions(tables: Ints, later: Sequence[Patterns]) -> Ints:
    """For every table of errors, shape ``(batch, points, 2^later)``, the least total over the later patterns."""
    if len(later) == 1:
        return last_choice(tables, later[0])
    return np.array([_pruned(table, later) for table in tables], np.int64)


def last_choice(tables: Ints, patterns: Patterns) -> Ints:
    """The least total for each table of shape ``(batch, points, 2)``: one linear function of the patterns each."""
    best = np.empty(len(tables), np.int64)
    step = max(1, BLOCK_ENTRIES // max(1, len(patterns)))
    for start in range(0, len(tables), step):
        part = tables[start : start + step]
        totals = patterns.sums(part[:, :, 1] - part[:, :, 0]).min(axis=1)
        best[start : start + step] = totals + part[:, :, 0].sum(axis=1)
    return best


def _pruned(table: Ints, later: Sequence[Patterns]) -> int:
    """Branch and bound over the first of the later classes.

    A pattern's bound lets every point choose its remaining bits freely; patterns are visited in the order of their
    bounds until none can beat the best completion found.
    """
    first, rest = later[0], later[1:]
    zeros, ones = table[:, 0::2], table[:, 1::2]
    free_zero, free_one = zeros.min(axis=1), ones.min(axis=1)
    bounds = free_zero.sum() + first.sums((free_one - free_zero)[None, :])[0]
    order = np.argsort(bounds, kind="stable")
    best: int | None = None
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        if best is not None:
            batch = batch[bounds[batch] < best]
            if len(batch) == 0:
                break
        rows = np.stack([first.row(int(i)) for i in batch])
        tables = np.where(rows[:, :, None], ones[None], zeros[None])
        least = int(best_completions(tables, rest).min())
        best = least if best is None else min(best, least)
        if best == bounds[order[0]]:
            break
    assert best is not None
    return best
