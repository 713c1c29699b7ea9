"""Reservations that outlive their process: every release is kept before anybody sees it, and a fit can go on.

A fit that goes on is run again from its beginning. Whatever it released before is taken from the account's store and
not made again; public random choices follow from a seed that is kept as well, so it asks the same in the same order.
What it had not released it releases now, with fresh noise, under the charge that was made when it began. There is one
row per release in the store: of two processes that go on with one fit, the second takes what the first has kept. So no
release is ever made twice, and the composition theorems see one fit.

A fit that has ended can be run again in the same way, since its process may be killed before its model is written: then
every release is there, and one that is not is refused.

Kept are noisy values alone, those that the fit would have gone on with: not secret beyond what the model is.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zipfile import BadZipFile

import numpy as np
from sqlalchemy import Connection, func, insert, select

from tacit.privacy.charges import Charge
from tacit.privacy.ledger import COMPLETED, AccountError, Entry, Released, Reservation
from tacit.privacy.progress import Beginning
from tacit.privacy.store import Store
from tacit.privacy.store_records import CLOSINGS, FITS, RELEASES, RESERVATIONS, read_charges
from tacit.privacy.unit import Neighbouring


@dataclass(frozen=True)
class Kept:
    """A fit that can go on."""

    identifier: int  # of its reservation
    label: str  # what it is
    charges: tuple[Charge, ...]  # what was reserved
    seed: bytes  # of its public random choices
    rows: str  # a fingerprint of the rows that it began with, and the name of the key that it was made with
    learner: str  # a digest of its parameters
    command: str  # what the command line asked for, JSON; empty for a fit from Python
    releases: int  # how many are kept
    ended: bool  # whether all are, and the account has its history


def keep(connection: Connection, identifier: int, beginning: Beginning) -> None:
    """Writes down that a fit can go on, in the transaction that reserves: a charge without it would be lost."""
    facts = {"rows": beginning.rows, "learner": beginning.learner, "command": beginning.command}
    connection.execute(insert(FITS).values(reservation=identifier, seed=beginning.seed.hex(), **facts))


def kept_fits(store: Store, dataset: str) -> tuple[Kept, ...]:
    """The fits of an account whose releases are kept, oldest first."""
    with store.read() as connection:
        joined = FITS.join(RESERVATIONS, FITS.c.reservation == RESERVATIONS.c.id).outerjoin(
            CLOSINGS, CLOSINGS.c.reservation == RESERVATIONS.c.id
        )
        statement = select(FITS, RESERVATIONS.c.label, RESERVATIONS.c.charges, CLOSINGS.c.outcome).select_from(joined)
        mine = RESERVATIONS.c.dataset == dataset
        rows = connection.execute(statement.where(mine).order_by(RESERVATIONS.c.id)).all()
        releases = select(RELEASES.c.reservation, func.count()).join(RESERVATIONS).where(mine)
        grouped = releases.group_by(RELEASES.c.reservation)
        counts = {row[0]: row[1] for row in connection.execute(grouped)}
    return tuple(
        Kept(
            row.reservation,
            row.label,
            read_charges(row.charges),
            _seed(row.seed),
            row.rows,
            row.learner,
            row.command,
            counts.get(row.reservation, 0),
            row.outcome is not None,
        )
        for row in rows
    )


class KeptReservation(Reservation):
    """A reservation whose releases are kept in a store. A failure leaves it open, so that the fit can go on."""

    def __init__(
        self, fit: Kept, neighbouring: Neighbouring, on_close: Callable[[tuple[Entry, ...], str], None], store: Store
    ) -> None:
        super().__init__(fit.charges, neighbouring, fit.label, on_close)
        self._kept, self._store, self._sequence = fit, store, 0
        self._known = self._read()

    @property
    def identifier(self) -> int:
        """What it is called in the account."""
        return self._kept.identifier

    @property
    def keeps(self) -> bool:
        """It does: what is not kept would be made twice."""
        return True

    @property
    def public_seed(self) -> bytes:
        """Of public random choices."""
        return self._kept.seed

    def release(self, what: Callable[[], str], make: Callable[[], list[Released]]) -> list[Released]:
        """What leaves: kept, and then seen.

        Raises ``AccountError`` if it cannot be kept, another release was kept in its place, or none although the fit
        has ended: nothing leaves.
        """
        with self._lock:
            sequence = self._sequence
            self._sequence += 1
        digest = hashlib.sha256(what().encode()).hexdigest()
        record = self._known.pop(sequence, None)
        if record is None and self._kept.ended:
            raise AccountError(f"release {sequence + 1} of fit {self.identifier} was not made before it ended")
        if record is None:
            record = self._write(sequence, digest, _packed(make()))
        if record[0] != digest:
            raise AccountError(
                f"release {sequence + 1} of fit {self.identifier} was another one when it began: go on with the "
                "version of tacit, the parameters and the machine that it began with"
            )
        return _unpacked(record[1])

    def close(self, outcome: str = COMPLETED) -> None:
        """Ends it. Nothing is written in failure (it goes on elsewhere), nor if it had ended before."""
        if outcome == COMPLETED and not self._kept.ended:
            super().close(outcome)
            return
        with self._lock:
            self._outcome = self._outcome or outcome

    def _read(self) -> dict[int, tuple[str, bytes]]:
        with self._store.read() as connection:
            rows = connection.execute(select(RELEASES).where(RELEASES.c.reservation == self.identifier)).all()
        return {row.sequence: (row.what, row.value) for row in rows}

    def _write(self, sequence: int, digest: str, value: bytes) -> tuple[str, bytes]:
        """Keeps a release, unless another process has kept one meanwhile: then that is it."""
        mine = RELEASES.c.reservation == self.identifier, RELEASES.c.sequence == sequence
        row = {"reservation": self.identifier, "sequence": sequence, "what": digest, "value": value}

        def add(connection: Connection) -> tuple[str, bytes]:
            there = connection.execute(select(RELEASES).where(*mine)).one_or_none()
            if there is not None:
                return there.what, there.value
            connection.execute(insert(RELEASES).values(**row))
            return digest, value

        return self._store.write(add, "the reservation keeps its full charge", repeatable=True)


def _packed(arrays: Sequence[Any]) -> bytes:
    into = io.BytesIO()
    np.savez_compressed(into, *arrays)
    return into.getvalue()


def _unpacked(value: bytes) -> list[Any]:
    try:
        with np.load(io.BytesIO(value), allow_pickle=False) as arrays:
            return [arrays[f"arr_{number}"] for number in range(len(arrays.files))]
    except (ValueError, TypeError, KeyError, EOFError, OSError, AttributeError, BadZipFile, zlib.error) as error:
        raise AccountError(f"the budget store is damaged: a kept release cannot be read ({error})") from None


def _seed(text: Any) -> bytes:
    try:
        return bytes.fromhex(text)
    except (ValueError, TypeError):
        raise AccountError("the budget store is damaged: the seed of a kept fit cannot be read") from None
