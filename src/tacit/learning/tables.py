"""From what callers give, ``X`` and ``y``, to a task and its rows: public checks, before anything is paid for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.arrays import Ints
from tacit.discovery.discover_schema import NUMBERS, Undeclared, label_kind, refuse_unnamed
from tacit.discovery.unknowns import IGNORED
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import (
    is_boolean,
    is_fractional,
    label_vector,
    numbers_of,
    table_of,
    warn_of_ignored,
    warn_of_truths,
    warn_of_types,
    warn_of_undeclared,
)
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.units import identifiers_of
from tacit.encoding.values import LabelIndex
from tacit.errors import with_remark
from tacit.learning.declared import TARGET, Declared
from tacit.learning.learner import FINE_CELLS, Learner, Target, Task
from tacit.privacy.request import Request, RequestError
from tacit.schema import Schema


def task_of(X: Any, y: Any, declared: Declared, learner: Learner) -> tuple[Task, Frame, Any]:
    """The task of a table, as ``fit`` takes it, its columns and its labels; refuses public mistakes."""
    check_labels_given(y, learner.name)
    frame, labels = table_of(X), label_vector(y)
    check_as_many(frame, labels)
    if declared.names_no_classes and is_fractional(y):
        raise RequestError(
            f"y holds floating-point numbers, and {learner.name} learns classes: name them, such as classes=(0, 1), or "
            "take a regressor"
        )
    schema, label = declared.schema, label_of(declared, labels)
    label_column = "" if schema is None or schema.label is None else schema.label.column
    check_labels(without_rows(labels), label, label_column, learner.name)
    if schema is None and not frame.names:
        raise RequestError("0 feature(s) (shape=(, 0)) while a minimum of 1 is required")
    undeclared = _undeclared(frame, y if isinstance(y, list | tuple) else labels, declared, learner)
    if schema is None:
        if undeclared is None:
            _check_numeric(frame, learner.name)
        return Task(None, frame.names, label, None, undeclared), frame, labels
    encoding = TableEncoding.of(schema, FINE_CELLS)
    encoding.check(frame)
    warn_of_types(frame, schema)
    if schema.unit is not None:
        identifiers_of(frame, schema.unit.column)
    return Task(schema, schema.features, label, encoding, undeclared), frame, labels


def label_of(declared: Declared, labels: Any) -> LabelIndex | Target:
    """What the labels are: as declared, or False and True where nobody named classes and their dtype says so."""
    if declared.names_no_classes and is_boolean(labels):
        return LabelIndex((False, True))
    return declared.label


def refuse_open_classes(declared: Declared, labels: Any, name: str) -> None:
    """Raises :class:`RequestError` where a learner that looks for no classes is told of none: see `refuse_unnamed`.

    Truth values need no names: their dtype is public, and says which they are.
    """
    if declared.names_no_classes and not is_boolean(labels):
        refuse_unnamed(f"{name} does not look for them")


def check_labels_given(y: Any, name: str) -> None:
    """Raises :class:`RequestError` where there are no labels."""
    if y is None:
        raise RequestError(f"{name} requires y to be passed, but the target y is None")


def check_as_many(frame: Frame, labels: Any) -> None:
    """Raises :class:`RequestError` unless there is a label for every row."""
    if len(labels) != frame.n_rows:
        raise RequestError(f"X and y must have the same number of rows, got {frame.n_rows} and {len(labels)}")


def check_labels(nothing: Any, label: LabelIndex | Target, column: str, name: str) -> None:
    """Raises for labels (``nothing``: their vector without rows) of a dtype that can hold none."""
    if not isinstance(label, Target):
        label.encode(nothing, column or "label")
        warn_of_truths(nothing, label)
        return
    try:
        numbers_of(nothing, column or TARGET, label.cell_format)
    except FrameError:
        if column:
            raise
        raise RequestError(
            f"Unknown label type: the targets have dtype {getattr(nothing, 'dtype', 'unknown')}, and {name} learns "
            "numbers: convert them to numbers, or take a classifier for classes"
        ) from None


def labels_of(labels: Any, task: Task) -> Any:
    """Labels as private rows take them, once the charge is durable: of numbers, numbers."""
    label = task.label
    return numbers_of(labels, label.name, label.cell_format) if isinstance(label, Target) else labels


def codes_of(frame: Frame, labels: Any, task: Task) -> list[Ints]:
    """What fingerprints of rows are made of: the codes of every column, and of the labels."""
    assert task.encoding is not None
    columns = [codes.astype(np.int64) for codes in task.encoding.encode(frame)]
    return [*columns, np.asarray(task.label_codes.encode(labels_of(labels, task)), np.int64)]


def public_rows(request: Request, schema: Schema | None, n_rows: int | None) -> int | None:
    """The number of rows where it is public: where one is replaced, and not a unit of as many as it likes."""
    by_unit = schema is not None and schema.unit is not None
    return n_rows if request.neighbouring.n_is_public and not by_unit else None


def _undeclared(frame: Frame, labels: Any, declared: Declared, learner: Learner) -> Undeclared | None:
    """What is to be found; None if nothing is, or if the learner looks for bounds itself."""
    open_classes, without_schema = declared.names_no_classes, declared.schema is None
    if not learner.discovers:
        refuse_open_classes(declared, labels, learner.name)
        return None
    if not without_schema and not open_classes:
        return None
    kind = NUMBERS if isinstance(declared.label, Target) else label_kind(labels, frame)
    undeclared = Undeclared.of(frame, without_schema, kind, open_classes, learner.request)
    warn_of_ignored([name for name, kind in undeclared.unknowns.kinds.items() if kind == IGNORED])
    return undeclared if undeclared.unknowns.releases or without_schema else None


def undeclared_before(frame: Frame | None, y: Any, declared: Declared, learner: Learner) -> Undeclared | None:
    """What a fit would have to find, before there are rows; None where it finds nothing, or no column is known.

    ``frame`` has the columns if no schema names them; of ``y`` the dtype counts.
    """
    without_schema, request = declared.schema is None, learner.request
    if not learner.discovers or (without_schema and frame is None):
        return None
    columns = Frame({}, 0) if frame is None else frame
    kind = NUMBERS if isinstance(declared.label, Target) else label_kind([] if y is None else y, columns)
    open_classes = declared.names_no_classes and (request.delta > 0 or math.isinf(request.epsilon))
    undeclared = Undeclared.of(columns, without_schema, kind, open_classes, request)
    return undeclared if undeclared.unknowns.releases or without_schema else None


def _check_numeric(frame: Frame, name: str) -> None:
    """Raises :class:`FrameError` unless every column is numeric: nothing else can be learned without a schema."""
    public = frame.without_rows()
    for column in frame.names:
        try:
            as_numbers(public.column(column), column, loose=True)  # one text made texts of all: no reason to stop
        except FrameError as error:
            remark = "Without a schema every column must be numeric: declare categories in a schema"
            raise FrameError(with_remark(error.message, remark)) from None
    warn_of_undeclared(frame, name)
