"""Fits that keep their releases, and go on after their process has ended: what they may be, and who pays."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.curator.fresh_key import fresh_key
from tacit.encoding.fingerprint import fingerprint
from tacit.encoding.frames import Frame
from tacit.encoding.units import secret_units
from tacit.learning.learner import Learner
from tacit.learning.tables import codes_of
from tacit.learning.task import Task
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError
from tacit.privacy.resumable import KEEPING, Beginning
from tacit.privacy.signatures import library_version
from tacit.schema import Schema

RowsKnownBy = Callable[[bytes], str]
"""From a secret of the account to what the rows of a fit are known by.

Raises :class:`RequestError` where nothing tells whether they change.
"""


def check_keeping(learner: Learner, task: Task, account: PrivacyAccount | None) -> None:
    """Raises :class:`RequestError` for a fit that cannot go on later, where that was asked for."""
    if KEEPING.get() is None:
        return
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
    account: PrivacyAccount, learner: Learner, charges: Sequence[Charge], label: str, schema: Schema, rows: RowsKnownBy
) -> Reservation:
    """A reservation that keeps releases: a new one, or that of a fit that goes on, which charges nothing.

    Raises:
        RequestError: if nothing tells whether the rows are the same later.
        AccountError: if there is no such fit that could go on.
        BudgetExceeded: if the account cannot pay for a new one.
    """
    asked = KEEPING.get()
    assert asked is not None
    known = account.key(fresh_key()).fingerprint(rows)
    # releases of one fit are about one question: what it asks follows from these, and from what was released
    asks = hashlib.sha256(f"{learner!r} {schema.fingerprint()} {library_version()}".encode()).hexdigest()
    beginning = Beginning(known, asks, fresh_key(), asked.command)
    if asked.identifier is not None:
        return account.go_on(asked.identifier, charges, label, beginning)
    return account.reserve_kept(charges, label, learner.request.neighbouring, schema.unit, beginning)


WEIGHT_UNITS = 1 << 20
"""Weights of rows are told apart by so many parts of one."""


def rows_of_table(frame: Frame, labels: Any, task: Task, row_weights: Floats | None) -> RowsKnownBy:
    """What a table is known by: its codes and weights, in any order, and whose rows they are if they are units'.

    The first rows of a unit count. Were they others when the fit goes on, a unit would have its part in more rows than
    are paid for: some in what was released before, some in what is released now.
    """
    unit = None if task.schema is None else task.schema.unit

    def known(key: bytes) -> str:
        columns = codes_of(frame, labels, task)
        if unit is not None:
            columns.append(secret_units(frame.column(unit.column), unit.max_rows, key, unit.column))
        if row_weights is not None:
            columns.append(np.rint(row_weights * WEIGHT_UNITS).astype(np.int64))
        return fingerprint(columns, key)

    return known


def rows_of_source(state: str | None) -> RowsKnownBy:
    """What files are known by: their state, under the key as well, because it tells how large they are."""
    if state is None:
        return unknown_rows
    return lambda key: hmac.digest(key, f"files {state}".encode("utf-8", "surrogateescape"), "sha256").hex()


def unknown_rows(_: bytes) -> str:
    """Raises :class:`RequestError`: such rows cannot be known again."""
    raise RequestError("nothing tells whether these rows are the same when the fit goes on: give files or a table")
