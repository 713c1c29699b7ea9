"""Weights of classes and rows, for learners that ask by weighted histograms alone, and the rows sealed with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.encoding.errors import FrameError
from tacit.encoding.grid import NumericGrid
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.learning.declared import TARGET
from tacit.learning.learner import FINE_CELLS, Target, Task
from tacit.privacy.budget import Allowance
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError, is_number
from tacit.queries.cells import OneCell
from tacit.queries.histogram import Histogram
from tacit.queries.rules import WEIGHT_UNIT, class_count_rule
from tacit.queries.score_rules import TARGET_BITS

BALANCED = "balanced"

BALANCE_SHARE = 0.02  # share of the budget that counts the classes, when their weights are to balance them
LEAST_BALANCE = 1 / 1024  # no class weighs less than this when classes are balanced: integer units would run out


def weights_of_classes(
    rows: PrivateRows, allowance: Allowance, index: LabelIndex, class_weight: str | Mapping[Any, float] | None
) -> tuple[tuple[float, ...], Allowance]:
    """A weight in (0, 1] for every class, the largest 1, and what is left of the allowance.

    Weights only ever shrink what a row contributes, so the charge of a fit is the same with and without them.
    """
    if class_weight is None:
        return (1.0,) * index.n_classes, allowance
    if not isinstance(class_weight, str):
        return declared_weights(class_weight, index), allowance
    budget = Budget(rows.seal_weighted(TableEncoding((), ()), index, (1.0,) * index.n_classes), allowance)
    query = Histogram(OneCell(), class_count_rule(index.n_classes))
    label = Label(Stage.COUNTS, "rows of each class, to balance them")
    counts = budget.measure(query, BALANCE_SHARE, label)
    inverse = 1.0 / np.maximum(counts.value[0], max(2.0 * counts.sd, 1.0))
    weights = np.maximum(inverse / inverse.max(), LEAST_BALANCE)
    return tuple(weights.tolist()), allowance.part(1 - BALANCE_SHARE)


def refuse_unknown(unknown: Iterable[str], instead: str = "") -> None:
    """Raises :class:`RequestError` where ``fit`` was given more than it takes; ``instead`` is what to do about it."""
    names = list(unknown)
    if names:
        hint = instead or "what an offset tells may be a column of X, and private_score has a charge for other rows"
        raise RequestError(
            f"fit takes X, y, tape and, of most learners, sample_weight, and no {', '.join(names)}; {hint}"
        )


def row_weights_of(values: Any) -> Floats | None:
    """The weights of rows, shape ``(rows,)``, from an argument; raises :class:`RequestError` for public mistakes."""
    if values is None:
        return None
    try:
        weights = np.asarray(as_numbers(values, "sample_weight"), np.float64)
    except FrameError as error:
        raise RequestError(f"sample_weight must be a vector of numbers: {error.message}") from None
    check_row_weights(weights)
    return weights


def check_row_weights(weights: Floats) -> None:
    """Raises :class:`RequestError` unless all weights, shape ``(rows,)``, lie in (0, 1].

    This looks at weights alone, which are public by declaration, and decides the same whatever the rows hold. The
    guarantee is about tables whose weights lie within: there it says nothing, as they may follow from the rows.
    """
    wrong = np.flatnonzero(~((weights > 0) & (weights <= 1)))  # not a number is neither
    if not len(wrong):
        return
    value = float(weights[wrong[0]])
    if np.isnan(value):
        remedy = "every row needs a weight"
    elif value > 1:
        remedy = "divide by a bound that is public, not by the largest weight found"
    else:
        remedy = "leave out rows that are not to count, instead of a weight of zero"
    raise RequestError(
        f"sample_weight must lie in (0, 1], and the weight of row {wrong[0]} is {value!r}: {remedy}. Weights are "
        "public: clip those that follow from private columns row by row before the fit"
    )


def check_class_weight(weights: Any, task: Task) -> None:
    """Raises :class:`RequestError` unless ``weights`` is None, ``"balanced"``, or positive weights of classes."""
    if weights is None or (isinstance(weights, str) and weights == BALANCED):
        return
    if not isinstance(weights, Mapping):
        raise RequestError(f"class_weight must be None, 'balanced' or a dict of public weights, got {weights!r}")
    for value, weight in weights.items():
        if not is_number(weight) or not math.isfinite(weight) or weight <= 0:
            raise RequestError(f"the weight of class {value!r} must be a positive number, got {weight!r}")
    if task.undeclared is not None and task.undeclared.unknowns.classes:
        return  # which classes there are is found later, and then tells nobody anything
    unknown = [value for value in weights if task.label_index.code_of(value) == DROPPED]
    if unknown:
        raise RequestError(f"class_weight names {unknown[0]!r}, and the classes are {list(task.label_index.names)!r}")


def declared_weights(by_class: Mapping[Any, float], index: LabelIndex) -> tuple[float, ...]:
    """Weights by class, the largest 1; a class that is not named weighs as much as a weight of 1 does."""
    weights = np.ones(index.n_classes)
    for value, weight in by_class.items():
        code = index.code_of(value)
        if code != DROPPED:
            weights[code] = float(weight)
    scaled: Floats = np.maximum(weights / weights.max(), 1.0 / WEIGHT_UNIT)
    return tuple(scaled.tolist())


UNWEIGHTED = (1.0,)  # the weight of the one class that all rows with a number are of


def sealed(
    rows: PrivateRows, allowance: Allowance, task: Task, class_weight: str | Mapping[Any, float] | None = None
) -> tuple[Budget, Task]:
    """Seals rows under the task's encoding, after finding the bounds that nobody declared.

    Returns what is left to learn with, bound to the curator of the sealed rows; and the task with its encoding.
    """
    bounded, remainder = with_bounds(rows, allowance, task)
    assert bounded.encoding is not None
    if class_weight is None and not rows.has_row_weights:
        return Budget(rows.seal(bounded.encoding, bounded.label_codes), remainder), bounded
    weights: tuple[float, ...] = UNWEIGHTED
    if not isinstance(bounded.label, Target):
        weights, remainder = weights_of_classes(rows, remainder, bounded.label, class_weight)
    return Budget(rows.seal_weighted(bounded.encoding, bounded.label_codes, weights), remainder), bounded


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
    bounded = replace(task, encoding=task.encoding or TableEncoding(task.names, grids))
    if target is not None:
        bounded = replace(bounded, label=replace(target, bounds=NumericLabelIndex(*bounds[name], TARGET_BITS)))
    return bounded, allowance.part(1 - BOUNDS_SHARE)


def free_name(names: Sequence[str]) -> str:
    """What a target without a schema is called among the columns: :data:`TARGET`, unless one of them has that name."""
    name = TARGET
    while name in names:
        name += " (label)"
    return name
