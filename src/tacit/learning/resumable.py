"""Fits that keep their releases, and go on after their process has ended: what they may be, and who pays."""

from __future__ import annotations

import hashlib
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
from tacit.privacy.resumable import Beginning, Keeping
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
    known = account.key(fresh_key()).fingerprint(known_by)
    # releases of one fit are about one question: what it asks follows from these, and from what was released
    asks = hashlib.sha256(f"{learner!r} {schema.fingerprint()} {library_version()}".encode()).hexdigest()
    beginning = Beginning(known, asks, fresh_key(), keeping.command)
    if keeping.identifier is not None:
        return account.go_on(keeping.identifier, charges, label, beginning)
    return account.reserve_kept(charges, label, learner.request.neighbouring, schema.unit, beginning)


WEIGHT_UNITS = 1 << 20
"""Weights of rows are told apart by so many parts of one."""


def rows_known_by(frame: Frame, labels: Any, task: Task, row_weights: Floats | None, key: bytes) -> str:
    """What a table is known by: its codes and weights, in any order, and whose rows they are if they are units'.

    The first rows of a unit count. Were they others when the fit goes on, a unit would have its part in more rows than
    are paid for: some in what was released before, some in what is released now.
    """
    columns = codes_of(frame, labels, task)
    if task.unit is not None:
        columns.append(secret_units(frame.column(task.unit.column), task.unit.max_rows, key, task.unit.column))
    if row_weights is not None:
        columns.append(np.rint(row_weights * WEIGHT_UNITS).astype(np.int64))
    return fingerprint(columns, key)
