"""Two neighbouring tables that are easy to tell apart, and the rows at which a model is asked about them.

They are made from the schema alone: they hold nobody's rows, and what an audit says of them is public.

Most rows are of one class and a few of another, and all stand at the lower ends of their columns. The canary stands at
the upper ends, alone in a cell of every column, and is of the other class. What a model says of that class then hangs
on few rows, the canary among them, while the noise in the count of the large class does not matter. A handful of rows
would be worse than some: below zero there is nothing that a noisy count could say of one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import narwhals as nw
import numpy as np

from tacit.encoding.dates import MONDAY, SUNDAY
from tacit.encoding.frames import Frame
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import BooleanColumn, CategoricalColumn, DateColumn, IdColumn, NumericColumn, Schema

MANY, FEW = 300, 20
"""Rows of the class that the canary is not of, and of its own, beside the canary."""

CANARY = "canary"
"""The canary's identifier, where persons have one."""

OUTLYING = 1e6
"""Where a canary stands in a column whose bounds nobody declared, while all others are at 0."""

X_ONLY = Schema({"x": NumericColumn(0.0, OUTLYING)})
"""What tables are made of where nobody declared a column."""

X_AND_KIND = Schema({"x": NumericColumn(0.0, OUTLYING), "kind": CategoricalColumn(("usual", CANARY))})
"""The same for learners that find categories: the canary's is a text that nobody else has."""


@final
@dataclass(frozen=True, eq=False)
class Pair:
    """Two neighbouring tables, features and labels of each; of ``replace_one`` the canary's row has another label.

    Models are asked at ``probes``, the canary first. ``label`` is the canary's class, None where targets are numbers;
    ``from_rows``: whether the tables were given, and not made from a schema.
    """

    with_canary: tuple[Any, Any]
    without: tuple[Any, Any]
    probes: Any
    label: Any
    from_rows: bool = False


@dataclass(frozen=True)
class Target:
    """What stands for the label: of most rows, and of the canary and a few rows."""

    usual: Any
    canary: Any
    is_class: bool = True


def target_of(schema: Schema | None, classes: Sequence[Any] | None, bounds: Sequence[float] | None) -> Target:
    """The labels that are furthest apart: two classes on different sides, or the bounds of a number.

    The schema's label counts, if it has one; otherwise classes, of two the positive one last (None: 0 and 1), or
    bounds.
    """
    label = None if schema is None else schema.label
    if label is not None and label.is_numeric:
        return Target(label.lower, label.upper, False)
    if label is not None:
        positive = label.positive_classes or label.classes[-1:]
        return Target(next(value for value in label.classes if value not in positive), positive[-1])
    if bounds is not None:
        return Target(float(bounds[0]), float(bounds[1]), False)
    return Target(*((0, 1) if classes is None else (classes[0], classes[-1])))


def made_pair(
    schema: Schema | None, target: Target, neighbouring: Neighbouring, as_matrix: bool, finds: bool = False
) -> Pair:
    """Two neighbouring tables from what is public: of named columns, or matrices of shape ``(rows, features)``.

    Without a schema there is a single column of numbers. A matrix has numbers alone, categories by their place.
    ``finds``: whether the learner finds categories that no schema declares.
    """
    declared = (X_AND_KIND if finds else X_ONLY) if schema is None else schema
    rows = 1 if declared.unit is None else declared.unit.max_rows
    base = MANY + FEW
    labels = [target.usual] * MANY + [target.canary] * FEW
    spread = sorted(range(base), key=lambda place: place * 7919 % base)  # both classes everywhere in the table
    labels = [labels[place] for place in spread]
    make = _matrix if as_matrix else _frame
    larger, probes = make(declared, base, rows, False), make(declared, 1, 1, True)
    smaller = make(declared, base, 0, False) if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE else larger
    others = [] if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE else [target.usual] * rows
    return Pair(
        (larger, _vector(labels + [target.canary] * rows)),
        (smaller, _vector(labels + others)),
        probes,
        target.canary if target.is_class else None,
    )


def given_pair(X: Any, y: Any, canary: Any, schema: Schema | None, target: Target, neighbouring: Neighbouring) -> Pair:
    """Two neighbouring tables from rows that somebody gives.

    Raises ``RequestError`` if the canary is no one person's.
    """
    if not isinstance(canary, tuple | list) or len(canary) != 2:
        raise RequestError("canary must be its rows and its labels, (X, y) of the same kinds as X and y")
    rows, labels = canary[0], np.asarray(canary[1])
    if labels.ndim != 1 or len(labels) == 0 or len(labels) != _height(rows):
        raise RequestError(f"the canary has {_height(rows)} rows and labels of shape {labels.shape}: give one each")
    _check_one_person(X, rows, schema)
    everything, targets = _stacked(X, rows), np.asarray(y)
    own, other = labels[0], target.canary
    if other == own:
        other = target.usual
    larger = everything, _joined(targets, labels)
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        smaller = X, targets
    else:
        smaller = everything, _joined(targets, np.asarray([other] * len(labels)))
    return Pair(larger, smaller, _stacked(rows, X, 1), own if target.is_class else None, True)


def _check_one_person(X: Any, rows: Any, schema: Schema | None) -> None:
    unit = None if schema is None else schema.unit
    height = _height(rows)
    if unit is None:
        if height != 1:
            raise RequestError(f"one row is protected, and the canary has {height}: declare a unit in the schema")
        return
    names = set(np.asarray(_column(rows, unit.column)).tolist())
    if height > unit.max_rows or len(names) != 1 or names & set(np.asarray(_column(X, unit.column)).tolist()):
        raise RequestError(
            f"the canary must be one unit of at most {unit.max_rows} rows: one value of '{unit.column}', which no "
            "other row has"
        )


def ends_of(column: Any) -> tuple[Any, Any]:
    """Where most rows stand in a column, and where the canary does."""
    if isinstance(column, NumericColumn):
        return column.lower, column.upper
    if isinstance(column, BooleanColumn):
        return False, True
    if isinstance(column, DateColumn):
        return str(column.lower or MONDAY), str(column.upper or SUNDAY)
    listed = getattr(column, "categories", ("",))
    return listed[0], listed[-1] if len(listed) > 1 else None if column.is_feature else listed[0]


def _frame(schema: Schema, base: int, canary: int, canary_first: bool) -> Frame:
    """A table of so many rows at the lower ends, and of so many of the canary."""
    columns: dict[str, Any] = {}
    turned = -1 if canary_first else 1
    names = [f"other {place}" for place in range(base)] + [CANARY] * canary
    for name, column in schema.columns.items():
        low, high = ends_of(column)
        values = names if isinstance(column, IdColumn) else [low] * base + [high] * canary
        columns[name] = _vector(values)[::turned]
    if schema.unit is not None:
        columns[schema.unit.column] = _vector(names)[::turned]
    return Frame(columns, base + canary)


def _matrix(schema: Schema, base: int, canary: int, canary_first: bool) -> Any:
    """The same as numbers, features alone: categories are their places."""
    columns = []
    for name in schema.features:
        column = schema.columns[name]
        low, high = ends_of(column)
        if not isinstance(column, NumericColumn | BooleanColumn):
            low, high = 0, max(1, len(getattr(column, "categories", ())) - 1)
        columns.append([float(low)] * base + [float(high)] * canary)
    return np.asarray(columns).T[:: -1 if canary_first else 1]


def _vector(values: Sequence[Any]) -> Any:
    """Values of one type as numpy has them, mixed ones and texts as objects."""
    kinds = {type(value) for value in values}
    plain = len(kinds) == 1 and kinds <= {bool, int, float}
    return np.asarray(values, None if plain else object)


def _joined(first: Any, second: Any) -> Any:
    same = first.dtype.kind == second.dtype.kind
    return np.concatenate([first, second] if same else [first.astype(object), second.astype(object)])


def _height(rows: Any) -> int:
    if isinstance(rows, Mapping):
        return len(next(iter(rows.values()), ()))
    return len(rows)


def _column(rows: Any, name: str) -> Any:
    try:
        return rows[name]
    except (IndexError, KeyError, TypeError, ValueError):
        raise RequestError(f"column '{name}', the unit's, is missing from X or from the canary") from None


def _stacked(first: Any, second: Any, most: int | None = None) -> Any:
    """One table above another of the same kind; of the second, and then of the first, at most so many rows."""
    first, second = (rows if most is None else _head(rows, most) for rows in (first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping) and set(first) == set(second):
        return {name: _joined(np.asarray(first[name]), np.asarray(second[name])) for name in first}
    above, below = (nw.from_native(rows, eager_only=True, pass_through=True) for rows in (first, second))
    if isinstance(above, nw.DataFrame) and isinstance(below, nw.DataFrame):
        if above.columns != below.columns or above.implementation != below.implementation:
            raise RequestError(f"X has the columns {above.columns}, and the canary {below.columns}: give the same")
        return nw.concat([above, below]).to_native()
    matrices = [np.asarray(rows, object if isinstance(rows, list) else None) for rows in (first, second)]
    if any(matrix.ndim != 2 for matrix in matrices) or matrices[0].shape[1] != matrices[1].shape[1]:
        raise RequestError("X and the canary's rows must be tables of the same kind with the same columns")
    return np.concatenate(matrices)


def _head(rows: Any, most: int) -> Any:
    if isinstance(rows, Mapping):
        return {name: values[:most] for name, values in rows.items()}
    return rows.head(most) if hasattr(rows, "head") else rows[:most]
