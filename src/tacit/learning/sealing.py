"""From private rows to a budget: bounds that nobody declared are found, weights are put in, and the rows are sealed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.curator.budget import Budget
from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.encoding.grid import NumericGrid
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.learning.declared import TARGET
from tacit.learning.task import FINE_CELLS, Target, Task
from tacit.learning.weights import weights_of_classes
from tacit.privacy.budget import Allowance
from tacit.queries.score_rules import TARGET_BITS

UNWEIGHTED = (1.0,)
"""The weight of the one class that all rows with a number are of."""


def sealed(
    rows: PrivateRows, allowance: Allowance, task: Task, class_weight: str | Mapping[Any, float] | None = None
) -> tuple[Budget, Task]:
    """Seals rows under the task's encoding, after finding the bounds that nobody declared.

    Returns what is left to learn with, bound to the curator of the sealed rows; and the task with its encoding.
    """
    known, left = with_bounds(rows, allowance, task)
    assert known.encoding is not None
    if class_weight is None and not rows.has_row_weights:
        return Budget(rows.seal(known.encoding, known.label_codes), left), known
    weights: tuple[float, ...] = UNWEIGHTED
    if not isinstance(known.label, Target):
        weights, left = weights_of_classes(rows, left, known.label, class_weight)
    return Budget(rows.seal_weighted(known.encoding, known.label_codes, weights), left), known


def with_bounds(rows: PrivateRows, allowance: Allowance, task: Task) -> tuple[Task, Allowance]:
    """The task with the bounds that nobody declared, of columns and target, and what is left of the allowance."""
    columns = () if task.encoding is not None else task.names
    target = task.label if isinstance(task.label, Target) and task.label.bounds is None else None
    if task.encoding is not None and target is None:
        return task, allowance
    name = free_name(rows.names)
    if target is not None:
        rows = rows.with_labels_as(name)
    unknown = columns if target is None else (*columns, name)
    bounds = find_bounds(rows, unknown, task.label_codes, allowance, BOUNDS_SHARE)
    grids = tuple(NumericGrid(*bounds[name], FINE_CELLS) for name in columns)
    known = replace(task, encoding=task.encoding or TableEncoding(task.names, grids))
    if target is not None:
        known = replace(known, label=replace(target, bounds=NumericLabelIndex(*bounds[name], TARGET_BITS)))
    return known, allowance.part(1 - BOUNDS_SHARE)


def free_name(taken: Sequence[str]) -> str:
    """What a target without a schema is called among the columns: :data:`TARGET`, unless one of them has that name."""
    name = TARGET
    while name in taken:
        name += " (label)"
    return name
