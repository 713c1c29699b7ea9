"""Two classes at delta 0: trees alone where noise is large, in place of columns and pairs.

Laplace noise grows with the number of releases that a row is part of. In a tree that is one leaf, in a sweep some of
every column: the noise of ``d`` columns grows with ``d`` and not with its root, and soon exceeds that of a few trees.
"""

from __future__ import annotations

import math

from tacit.additive.tuning import PLANNING, Planning
from tacit.curator.budget import Budget
from tacit.learning.task import Task, monotone_of
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import fine_count_rule


def may_boost_trees_alone(allowance: Allowance, task: Task) -> bool:
    """Whether trees alone may be the better model; they hold no curve to rise, and are measured for two classes."""
    rising = any(monotone_of(task, name) for name in task.names)
    return allowance.is_pure and task.label_index.n_classes == 2 and not rising


def drowns_columns(rows: float, n_columns: int, sd: float, numbers: Planning = PLANNING) -> bool:
    """Whether there are so few rows that trees alone are the better model.

    Args:
        rows: how many there are.
        n_columns: columns of the model.
        sd: of the Laplace noise where one number takes the whole budget.
        numbers: of the rule.
    """
    return rows < trees_alone_upto(n_columns, sd, numbers)


def trees_alone_upto(n_columns: int, sd: float, numbers: Planning = PLANNING) -> float:
    """The number of rows from which columns are the better model; as for :func:`drowns_columns`."""
    return numbers.pure_trees_upto * n_columns * sd / math.sqrt(2.0)


def counted_first(budget: Budget, task: Task, numbers: Planning = PLANNING) -> tuple[float, Budget]:
    """The number of rows, by which it is decided, and the budget that is left: a public one costs nothing.

    Args:
        budget: of the whole fit.
        task: what is public of it.
        numbers: of the rule.
    """
    if task.public_rows is not None:
        return float(task.public_rows), budget
    query, share = Histogram(OneCell(), fine_count_rule(budget.layout.n_labels)), numbers.pure_counting
    released = budget.measure(query, share, Label(Stage.COUNTS, "number of rows, to choose what is learned"))
    return released.value.item(), budget.part(1.0 - share).as_whole()
