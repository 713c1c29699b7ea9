"""Where the rows of a fit come from: a table, a source that is read in chunks, workers of a cluster, or sites.

:func:`tacit.learning.fit.fit` takes every supply the same way. Those that most fits do not need are found by name, and
imported only when one is given. Fits that keep their releases, and batches, know their rows by a keyed fingerprint.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, final

import numpy as np

from tacit.arrays import Floats
from tacit.curator.options import fresh_key
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.encoding.table import fingerprint
from tacit.encoding.units import secret_units
from tacit.errors import UNSPENT
from tacit.learning.declared import Declared
from tacit.learning.learner import Learner, Task
from tacit.learning.tables import codes_of, labels_of, public_rows
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import Assumption
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.progress import Beginning, Keeping
from tacit.privacy.request import RequestError
from tacit.privacy.signatures import library_version
from tacit.schema import Schema


def check_keeping(learner: Learner, task: Task, account: PrivacyAccount | None) -> None:
    """Raises :class:`RequestError` for a fit that cannot go on later."""
    request = learner.request
    reason = None
    if account is None:
        reason = "it needs an account, whose store keeps what it released"
    elif math.isinf(request.epsilon):
        reason = "without privacy its releases are no releases: they would lie in the store as they are"
    elif request.random_state is not None:
        reason = "its noise has a seed already: run it again, and leave random_state out where the model is released"
    elif not learner.streams:
        reason = f"{learner.name} releases in other ways: take one of the additive, tree, halfspace or list learners"
    elif task.encoding is None or task.undeclared is not None:
        reason = "it needs a schema with all columns and the label"
    if reason is not None:
        raise RequestError(f"this fit cannot go on after its process has ended: {reason}")


def pay_and_keep(
    account: PrivacyAccount,
    keeping: Keeping,
    learner: Learner,
    charges: Sequence[Charge],
    label: str,
    schema: Schema,
    known_by: Callable[[bytes], str],
) -> Reservation:
    """A reservation that keeps releases: a new one, or that of a fit that goes on, which charges nothing.

    Raises:
        RequestError: if nothing tells whether the rows are the same later.
        AccountError: if there is no such fit that could go on.
        BudgetExceeded: if the account cannot pay for a new one.
    """
    fingerprint = account.key(fresh_key()).fingerprint(known_by)
    # releases of one fit are about one question: what it asks follows from these, and from what was released
    asks = hashlib.sha256(f"{learner!r} {schema.fingerprint()} {library_version()}".encode()).hexdigest()
    beginning = Beginning(fingerprint, asks, fresh_key(), keeping.command)
    if keeping.identifier is not None:
        return account.go_on(keeping.identifier, charges, label, beginning)
    return account.reserve_kept(charges, label, learner.request.neighbouring, schema.unit, beginning)


WEIGHT_UNITS = 1 << 20  # weights of rows are told apart by so many parts of one


LEAST_ROWS = 32  # rows of the smallest batch that is known again


class Begun:
    """Which batches of a learner without an account were begun: copies share it, so that each goes on once."""

    def __init__(self) -> None:
        self.key = fresh_key()
        self._numbers: set[int] = set()
        self._fingerprints: set[str] = set()
        self._lock = threading.Lock()
        self._process = os.getpid()

    def take(self, number: int, fingerprint: str) -> None:
        """Begins a batch; raises :class:`BudgetExceeded` if one of this number or with these rows was begun."""
        with self._lock:
            forked, again = os.getpid() != self._process, number in self._numbers
            if forked or again or fingerprint in self._fingerprints:
                what = "its rows were learned from" if not (forked or again) else f"a batch number {number} was begun"
                raise BudgetExceeded(
                    f"{what} before, or may have been in another process, and would have to be charged again, for "
                    "which there is no account: give the estimator one",
                    UNSPENT,
                )
            self._numbers.add(number)
            self._fingerprints.add(fingerprint)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()  # stored, it is gone: only an account can tell then

    def __getstate__(self) -> dict[str, Any]:
        return {}  # the same for skops, which does not ask for more


def batch_fingerprint(task: Task, frame: Frame, labels: Any, key: bytes) -> str:
    """What a batch is known by: the codes of its rows.

    Batches of fewer than :data:`LEAST_ROWS` are not known again: few persons may well be alike in all that is encoded.
    """
    if frame.n_rows < LEAST_ROWS:
        return fresh_key().hex()
    return fingerprint(codes_of(frame, labels, task), key)


SUPPLIES = {
    "tacit.encoding.source.Source": "tacit.learning.sources",
    "tacit.curator.sites.parties.Sites": "tacit.learning.sites",
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
    def sealed(self, reservation: Reservation) -> PrivateRows:
        """The rows, on their way into the curator. Called once the charge is durable."""

    def end(self, certificate: Certificate) -> None:
        """Tells those who hold the rows that the fit is done."""
        del certificate


class Supply(Protocol):
    """What rows can come from."""

    @property
    def in_memory(self) -> bool:
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
    """A table in memory; ``row_weights`` are public, in (0, 1], and ``table_task`` reads the public side."""

    in_memory: ClassVar[bool] = True
    assumed: tuple[Assumption, ...] = ()
    frame: Frame
    labels: Any

    def __init__(self, X: Any, y: Any, row_weights: Floats | None, table_task: TableTask) -> None:
        self.features, self._y, self._weights, self._table_task = X, y, row_weights, table_task

    def task(self, declared: Declared, learner: Learner) -> Task:
        task, self.frame, self.labels = self._table_task(self.features, self._y, declared, learner)
        return replace(task, public_rows=public_rows(learner.request, task.schema, self.frame.n_rows))

    @contextmanager
    def ready(self, task: Task, learner: Learner) -> Iterator[ReadySupply]:
        """Raises :class:`RequestError` for weights that the learner cannot use, or not one for every row."""
        if self._weights is not None and learner.refuses_weights:
            raise RequestError(learner.refuses_weights)
        if self._weights is not None and len(self._weights) != self.frame.n_rows:
            raise RequestError(
                f"there are {self.frame.n_rows} rows, and sample_weight has {len(self._weights)} weights"
            )
        yield _ReadyTable(task, learner, self.frame, self.labels, self._weights)


@final
class _ReadyTable(ReadySupply):
    def __init__(self, task: Task, learner: Learner, frame: Frame, labels: Any, row_weights: Floats | None) -> None:
        self.task, self._learner = task, learner
        self._frame, self._labels, self._weights = frame, labels, row_weights

    def known_by(self, key: bytes) -> str:
        """By its codes and weights, in any order, and whose rows they are if they are units'.

        The first rows of a unit count. Were they others when the fit goes on, a unit would have its part in more rows
        than are paid for: some in what was released before, some in what is released now.
        """
        columns, unit = codes_of(self._frame, self._labels, self.task), self.task.unit
        if unit is not None:
            columns.append(secret_units(self._frame.column(unit.column), unit.max_rows, key, unit.column))
        if self._weights is not None:
            columns.append(np.rint(self._weights * WEIGHT_UNITS).astype(np.int64))
        return fingerprint(columns, key)

    def sealed(self, reservation: Reservation) -> PrivateRows:
        labels, seed = labels_of(self._labels, self.task), self._learner.request.random_state
        return PrivateRows(self._frame, labels, reservation, seed, self.task.unit, self._weights)


def supply_of(X: Any, y: Any, row_weights: Floats | None, table_task: TableTask) -> Supply:
    """What ``fit`` was given, as a supply; refuses labels or weights beside rows that hold their own."""
    kind = type(X)
    module = SUPPLIES.get(f"{kind.__module__}.{kind.__qualname__}")
    if module is None:
        return TableSupply(X, y, row_weights, table_task)
    supply: Supply = import_module(module).supply_of(X, y, row_weights)
    return supply
