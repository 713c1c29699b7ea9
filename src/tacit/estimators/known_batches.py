"""Which batches of rows were begun: a keyed fingerprint knows each, so that none is learned from twice for free."""

from __future__ import annotations

import os
import threading
from typing import Any, Self

from tacit.curator.fresh_key import fresh_key
from tacit.encoding.fingerprint import fingerprint
from tacit.encoding.frames import Frame
from tacit.errors import UNSPENT
from tacit.learning.tables import codes_of
from tacit.learning.task import Task
from tacit.privacy.ledger import BudgetExceeded

LEAST_ROWS = 32
"""Rows of the smallest batch that is known again."""


class Begun:
    """Which batches of a learner without an account were begun: copies share it, so that each goes on once.

    Attributes:
        key: what fingerprints of batches are made with.
    """

    def __init__(self) -> None:
        self.key = fresh_key()
        self._numbers: set[int] = set()
        self._fingerprints: set[str] = set()
        self._lock = threading.Lock()
        self._process = os.getpid()

    def take(self, number: int, fingerprint: str) -> None:
        """Begins a batch.

        Raises:
            BudgetExceeded: if a batch of this number or with these rows was begun: it would have to be charged.
        """
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
