"""A source of rows as the supply of a fit: public checks first, then rows that are encoded before the charge."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, final

from tacit.curator.rows import PrivateRows
from tacit.curator.source_rows import PreparedRows
from tacit.encoding.frames import Frame
from tacit.encoding.source import DeclaredSource, Source
from tacit.encoding.table import TableEncoding
from tacit.learning.declared import Declared
from tacit.learning.learner import FINE_CELLS, Learner, Task
from tacit.learning.supply import ReadySupply
from tacit.learning.tables import check_labels, public_rows
from tacit.privacy.assumptions import Assumption
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError

ENGINES = {
    "streamed": "tacit.curator.source_rows",
    "memory": "tacit.curator.source_rows",
    "dask": "tacit.curator.cluster_rows",
    "workers": "tacit.curator.cluster_rows",
}
"""Where rows are while a model is learned -> the module whose ``prepare`` encodes them there."""


@final
class SourceSupply:
    """Rows that are read in chunks, by a learner that streams.

    They are read, and encoded by public rules, before the charge: what is wrong with files is found while it is free,
    and nothing of the rows can get out until they are sealed.
    """

    in_memory: ClassVar[bool] = False
    assumed = (Assumption("source", "how many files there are, their names, and their columns", accepted=True),)
    features: Frame

    def __init__(self, source: Source) -> None:
        self._source = source

    def task(self, declared: Declared, learner: Learner) -> Task:
        """See :class:`tacit.learning.supply.Supply`. Names and types of columns are all that is looked at."""
        schema = declared.schema
        if not learner.streams:
            raise RequestError(
                f"{learner.name} learns from tables in memory: read the files with tacit.read_table, or take one of "
                "the additive, tree, halfspace or decision list learners"
            )
        if schema is None or schema.label is None:
            what = "a schema" if schema is None else "a schema with a [label]"
            raise RequestError(f"a source needs {what}: nothing about its columns may come from its rows")
        if schema.unit is not None:
            raise RequestError(
                "the schema declares a unit, and rows that are read in chunks are protected one by one: read them into "
                "one table in memory, or, if nobody has several rows, leave [unit] out"
            )
        self._declared = DeclaredSource(self._source, schema)
        encoding, nothing = TableEncoding.of(schema, FINE_CELLS), self._declared.without_rows
        encoding.check(nothing)
        check_labels(self._declared.labels(nothing), declared.label, schema.label.column, learner.name)
        self.features = nothing.select(schema.features)
        return Task(schema, schema.features, declared.label, encoding)

    @contextmanager
    def ready(self, task: Task, learner: Learner) -> Iterator[ReadySupply]:
        """See :class:`tacit.learning.supply.Supply`. Where the number of rows is public, they are counted."""
        if learner.request.neighbouring.n_is_public:
            task = replace(task, public_rows=public_rows(learner.request, task.schema, self._declared.n_rows))
        assert task.encoding is not None
        prepare = import_module(ENGINES[self._source.engine]).prepare
        with prepare(self._declared, task.encoding, task.label_codes) as prepared:
            yield _ReadySource(task, learner, self._declared, prepared)


@final
class _ReadySource(ReadySupply):
    def __init__(self, task: Task, learner: Learner, source: DeclaredSource, prepared: PreparedRows) -> None:
        self.task, self._learner, self._source, self._prepared = task, learner, source, prepared

    def known_by(self, key: bytes) -> str:
        state = self._source.state
        if state is None:
            return super().known_by(key)
        # under the key as well, because the state tells how large files are
        return hmac.digest(key, f"files {state}".encode("utf-8", "surrogateescape"), "sha256").hex()

    def sealed(self, reservation: Reservation) -> PrivateRows:
        return self._prepared.rows(reservation, self._learner.request.random_state)


def supply_of(source: Source, y: Any, row_weights: Any) -> SourceSupply:
    """A source as a supply; refuses labels and weights beside it."""
    if y is not None:
        raise RequestError("a source holds its labels, in the column that the schema names: leave y out")
    if row_weights is not None:
        raise RequestError("rows of a source have no weights: leave sample_weight out")
    return SourceSupply(source)
