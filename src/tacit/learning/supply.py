"""Where the rows of a fit come from: a table, a source that is read in chunks, workers of a cluster, or sites.

:func:`tacit.learning.fit.fit` takes every supply the same way. Those that most fits do not need are found by name, and
imported only when one is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Protocol, final

from tacit.arrays import Floats
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.learning.declared import Declared
from tacit.learning.learner import Learner
from tacit.learning.tables import labels_of, public_rows
from tacit.learning.task import Task
from tacit.privacy.assumptions import Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError

SUPPLIES = {
    "tacit.encoding.source.Source": "tacit.learning.sources",
    "tacit.curator.sites.gathering.Sites": "tacit.learning.sites",
}
"""Class of what ``fit`` is given -> the module whose ``supply_of`` takes it. Everything else is a table."""


class ReadySupply(ABC):
    """Rows that wait for their charge: what could be wrong with where they are was found while it was free."""

    task: Task
    """The public side of the fit, with the number of rows where it is public."""

    def agree(self, charges: Sequence[Charge]) -> None:
        """Shows those who hold the rows what the fit is to cost, before it is paid for."""
        del charges

    def known_by(self, key: bytes) -> str:
        """What the rows are known by, under a secret of the account: a fit that goes on must have the same.

        Raises:
            RequestError: where nothing tells whether they change.
        """
        del key
        raise RequestError("nothing tells whether these rows are the same when the fit goes on: give files or a table")

    @abstractmethod
    def sealed(self, paid: Reservation) -> PrivateRows:
        """The rows, on their way into the curator. Called once the charge is durable."""

    def end(self, certificate: Certificate) -> None:
        """Tells those who hold the rows that the fit is done."""
        del certificate


class Supply(Protocol):
    """What rows can come from."""

    in_memory: ClassVar[bool]
    """Whether making the rows ready takes no time; otherwise the account is asked before whether it can pay."""

    @property
    def assumed(self) -> tuple[Assumption, ...]:
        """What a fit takes as public about it; empty of a table, where that depends on what is declared."""

    def task(self, declared: Declared, learner: Learner) -> Task:
        """The public side of a fit. Looks at names, types and lengths, and at no cell.

        Raises:
            ValueError: for public mistakes; nothing was spent.
        """

    def ready(self, task: Task, learner: Learner) -> AbstractContextManager[ReadySupply]:
        """The rows for as long as the fit takes."""

    @property
    def features(self) -> Any:
        """The features as they were given, or without rows: their names and their number."""


TableTask = Callable[[Any, Any, Declared, Learner], tuple[Task, Frame, Any]]
"""From a table, labels, what is declared and a learner to the task, the columns and the labels."""


@final
class TableSupply:
    """A table in memory.

    Args:
        X: the table.
        y: the labels.
        row_weights: public weights in (0, 1], shape ``(rows,)``; None if all rows count alike.
        table_task: reads the public side.
    """

    in_memory: ClassVar[bool] = True
    assumed: tuple[Assumption, ...] = ()
    frame: Frame
    labels: Any

    def __init__(self, X: Any, y: Any, row_weights: Floats | None, table_task: TableTask) -> None:
        self.features, self._y, self._weights, self._table_task = X, y, row_weights, table_task

    def task(self, declared: Declared, learner: Learner) -> Task:
        """See :class:`Supply`."""
        task, self.frame, self.labels = self._table_task(self.features, self._y, declared, learner)
        return replace(task, public_rows=public_rows(learner.request, task.schema, self.frame.n_rows))

    @contextmanager
    def ready(self, task: Task, learner: Learner) -> Iterator[ReadySupply]:
        """See :class:`Supply`.

        Raises:
            RequestError: for weights that the learner cannot use, or that are not one for every row.
        """
        if self._weights is not None and learner.refuses_weights:
            raise RequestError(learner.refuses_weights)
        if self._weights is not None and len(self._weights) != self.frame.n_rows:
            raise RequestError(
                f"there are {self.frame.n_rows} rows, and sample_weight has {len(self._weights)} weights"
            )
        yield _ReadyTable(task, learner, self.frame, self.labels, self._weights)


@final
class _ReadyTable(ReadySupply):
    """A table whose task is checked."""

    def __init__(self, task: Task, learner: Learner, frame: Frame, labels: Any, row_weights: Floats | None) -> None:
        self.task, self._learner = task, learner
        self._frame, self._labels, self._weights = frame, labels, row_weights

    def known_by(self, key: bytes) -> str:
        from tacit.learning.resumable import rows_known_by

        return rows_known_by(self._frame, self._labels, self.task, self._weights, key)

    def sealed(self, paid: Reservation) -> PrivateRows:
        labels, seed = labels_of(self._labels, self.task), self._learner.request.random_state
        return PrivateRows(self._frame, labels, paid, seed, self.task.unit, self._weights)


def supply_of(X: Any, y: Any, row_weights: Floats | None, table_task: TableTask) -> Supply:
    """What ``fit`` was given, as a supply.

    Raises:
        RequestError: for labels or weights beside rows that hold their own labels and have no weights.
    """
    kind = type(X)
    module = SUPPLIES.get(f"{kind.__module__}.{kind.__qualname__}")
    if module is None:
        return TableSupply(X, y, row_weights, table_task)
    supply: Supply = import_module(module).supply_of(X, y, row_weights)
    return supply
