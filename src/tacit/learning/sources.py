"""From a source of rows to a task: public checks, before a row is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.encoding.source import DeclaredSource, Source
from tacit.encoding.table import TableEncoding
from tacit.learning.declared import Declared
from tacit.learning.learner import Learner
from tacit.learning.tables import check_labels, public_rows
from tacit.learning.task import FINE_CELLS, Task
from tacit.privacy.request import RequestError


def source_task(
    source: Source, y: Any, weights: Any, declared: Declared, learner: Learner
) -> tuple[Task, DeclaredSource]:
    """The task of a source, and the source under its schema; where the number of rows is public, they are counted.

    Arguments and errors as in :func:`source_side`.
    """
    task, found = source_side(source, y, weights, declared, learner)
    if not learner.request.neighbouring.n_is_public:
        return task, found
    return replace(task, public_rows=public_rows(learner.request, task.schema, found.n_rows)), found


def source_side(
    source: Source, y: Any, weights: Any, declared: Declared, learner: Learner
) -> tuple[Task, DeclaredSource]:
    """The same without counting rows: names and types of columns are all that is looked at.

    Labels are a column of the source, and its rows have no weights: ``y`` and ``weights`` must be None.

    Raises:
        ValueError: for public mistakes: what is not declared, columns that are missing, types that differ.
    """
    schema = declared.schema
    if not learner.streams:
        raise RequestError(
            f"{learner.name} learns from tables in memory: read the files with tacit.read_table, or take one of the "
            "additive, tree, halfspace or decision list learners"
        )
    if schema is None or schema.label is None:
        what = "a schema" if schema is None else "a schema with a [label]"
        raise RequestError(f"a source needs {what}: nothing about its columns may come from its rows")
    if schema.unit is not None:
        raise RequestError(
            "the schema declares a unit of several rows, and rows that are read in chunks are protected one by one: "
            "put them all into one file, or into one table in memory"
        )
    if y is not None:
        raise RequestError(f"a source holds its labels, in the column '{schema.label.column}': leave y out")
    if weights is not None:
        raise RequestError("rows of a source have no weights: leave sample_weight out")
    found = DeclaredSource(source, schema)
    encoding = TableEncoding.of(schema, FINE_CELLS)
    encoding.check(found.without_rows)
    check_labels(found.labels(found.without_rows), declared.label, schema.label.column, learner.name)
    return Task(schema, schema.features, declared.label, encoding), found
