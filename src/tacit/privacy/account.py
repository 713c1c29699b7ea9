"""Accounts: a budget that several fits share.

An account promises one (epsilon, delta) under one neighbouring relation for everything that is ever released from a
data set. A fit reserves its whole planned charge before it reads a row; the account refuses it whole if all
reservations together, open and interrupted ones included, would cost more than was promised.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tacit.display import Shown
from tacit.privacy.account_key import AccountKey, account_key, key_path
from tacit.privacy.charges import Charge
from tacit.privacy.composition import Sums
from tacit.privacy.ledger import COMPLETED, FAILED, AccountError, Entry, Reservation
from tacit.privacy.progress import Beginning
from tacit.privacy.promised_budget import PromisedBudget, check_promise, compact
from tacit.privacy.unit import ROW, UNIT_OF_A_ROW, Neighbouring, unit_key
from tacit.schema import Unit

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tacit.privacy.kept_releases import Kept
    from tacit.privacy.store import Held, Store
    from tacit.privacy.store_records import Line


class PrivacyAccount(PromisedBudget, Shown):
    """A durable budget for one data set, shared by every fit that is given it.

    Copies, clones and unpickled copies are accounts on the same store: cross-validation and grid search spend from one
    budget. Processes that reserve at the same time are served one after the other.

    The cost is that of the composition as :mod:`tacit.privacy.accountants` states it, for fits whose budgets are
    planned beforehand. For budgets chosen after looking at earlier results it is proven where all charges are Gaussian,
    and at ``delta = 0``.

    Args:
        url: an SQLite file (path, or ``sqlite:///path``) or ``postgresql://user@host/database``.
        dataset: the name of the data set.
        key_file: where the key is that rows are known by, for resumable fits and batches; see
            :mod:`tacit.privacy.account_key`. None for the place beside an SQLite store, or the one that the
            environment variable ``TACIT_KEY_FILE`` names.

    Raises:
        AccountError: if there is no such account, or the store cannot be read.

    Example:
        >>> import tempfile
        >>> from tacit import PrivacyAccount
        >>> folder = tempfile.TemporaryDirectory()
        >>> account = PrivacyAccount.create(f"{folder.name}/budget.db", "stays", epsilon=2.0, delta=1e-6)
        >>> print(account.spent, account.remaining)
        0.0 2.0
    """

    def __init__(self, url: str, dataset: str, key_file: str | os.PathLike[str] | None = None) -> None:
        from tacit.privacy.database import normal_url

        self.url = normal_url(os.fspath(url)).render_as_string(hide_password=False)
        self.dataset = dataset
        self.key_file = None if key_file is None else os.path.abspath(key_file)  # noqa: PTH100 - a text, to be compared
        self._waiting: list[tuple[bool, Callable[[str], None]]] | None = None
        facts = self._store.facts(dataset)
        super().__init__(facts.epsilon, facts.delta, facts.neighbouring)

    @classmethod
    def create(
        cls,
        url: str,
        dataset: str,
        epsilon: float,
        delta: float,
        neighbouring: Neighbouring | str = Neighbouring.ADD_OR_REMOVE_ONE,
        unit: Unit | str | None = None,
    ) -> Self:
        """Creates an account, and its store if need be.

        Args:
            url: an SQLite file (path, or ``sqlite:///path``), readable by its owner alone, or
                ``postgresql://user@host/database``.
            dataset: the name of the data set. Names are exact; of two that differ only in case, blanks or Unicode
                form one is refused, as one data set would have two budgets.
            epsilon: the promise, positive; ``inf`` promises nothing and records all.
            delta: the promise, in [0, 1); with 0, only fits that ask for ``delta=0`` can be paid for.
            neighbouring: the relation of the promise; fixed for good.
            unit: who is protected, fixed for good: a :class:`~tacit.schema.Unit`, ``"row"``, or None for what the first
                reservation protects.

        Raises:
            AccountError: if there is such an account already, or the store cannot be written.
            ValueError: if the promise is out of range.
        """
        from tacit.privacy.store_records import Facts

        check_promise(epsilon, delta)
        if not isinstance(dataset, str) or not dataset.isprintable() or not dataset or dataset != dataset.strip():
            wrong = f"of characters that can be printed, and without blanks around it: {dataset!a}"
            raise ValueError(f"an account needs the name of a data set, {wrong}")
        facts = Facts(float(epsilon), float(delta), Neighbouring(neighbouring))
        _store_at(url).create_account(dataset, facts, unit)
        return cls(url, dataset)

    @staticmethod
    def datasets(url: str) -> tuple[str, ...]:
        """The names of all accounts in a store."""
        return _store_at(url).datasets()

    @property
    def _store(self) -> Store:
        return _store_at(self.url)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All that was ever reserved, open, failed and interrupted reservations included."""
        return self._store.charges(self.dataset)

    @property
    def total(self) -> Sums:
        """The same, as far as its cost depends on it: reads one line, however long the history is."""
        return self._store.total(self.dataset)

    @property
    def unit(self) -> Unit | str | None:
        """Who is protected: a :class:`~tacit.schema.Unit`, ``"row"``, or None as long as no reservation says so."""
        unit = self._store.unit(self.dataset)
        if unit is None:
            return None
        return ROW if unit == UNIT_OF_A_ROW else Unit(*unit, self._store.unit_name(self.dataset))

    def reserve(
        self,
        charges: Sequence[Charge],
        label: str,
        neighbouring: Neighbouring | None = None,
        unit: Unit | None = None,
        *,
        timeless: bool = False,
    ) -> Reservation:
        """Reserves a whole planned charge in one durable write.

        Args:
            charges: everything the fit may release.
            label: what the fit is, for people.
            neighbouring: the relation the charges were computed for; must be the account's.
            unit: who they protect; None for a row. Must be the account's unit, which the first reservation fixes.
            timeless: whether the history is not to say when it ended, because that tells what must not be told.

        Raises:
            BudgetExceeded: if all reservations together would cost more than the account promises; nothing changes.
            AccountError: if the relation or the unit is another, or the store cannot be written; nothing changes.
        """
        self._check_relation(neighbouring)
        return self._reserve(label, unit, self._decision(compact(charges), label, unit), timeless=timeless)

    def check(
        self, charges: Sequence[Charge], label: str, neighbouring: Neighbouring | None = None, unit: Unit | None = None
    ) -> None:
        """Raises what :meth:`reserve` would raise as things are now. Reserves nothing."""
        self._check_relation(neighbouring)
        self._check_unit(self._store.unit(self.dataset), unit_key(unit), label)
        self._check(self.total, compact(charges), label)

    def reserve_batch(
        self, charges: Sequence[Charge], label: str, first: str, fingerprint: str, unit: Unit | None = None
    ) -> Reservation:
        """Reserves a later batch of rows, of other persons than the first: what that paid is for both.

        Nothing is charged (parallel composition: McSherry 2009, Theorem 4), unless a batch of this label was begun
        before: its rows may be the same, and who is learned from twice costs twice.

        Args:
            charges: what a batch may release.
            label: of the batch, no other's.
            first: label of the reservation that paid for the first batch.
            fingerprint: of its rows, made with :meth:`key`. Rows that were learned from before are refused where they
                would not be charged. So is every batch, whatever its rows, if the first one was not known by this key.
            unit: who is protected; None for a row.

        Raises:
            AccountError: if this account has not paid ``charges`` for the first batch, or has seen these rows, or
                cannot tell because the key is another, or the store cannot be written; nothing changes.
            BudgetExceeded: if the batch was begun before and the account cannot pay for it again; nothing changes.
        """
        from tacit.privacy.store import write_batch

        planned = compact(charges)

        def decide(state: Held) -> Sequence[Charge]:
            self._check_unit(state.unit, unit_key(unit), label)
            if planned not in state.charges_of(first):
                raise AccountError(
                    f"the account of {self.dataset!r} did not pay for the first batch ({first!r}): go on under the "
                    "account that did, or begin anew"
                )
            if not state.has_series(first, fingerprint.partition(":")[0] + ":"):
                raise AccountError(
                    f"the key that the first batch ({first!r}) was known by is not in {self._key_path}: without it "
                    "nobody can tell whether these rows were learned from before. Bring the key back, or begin anew "
                    "with fit, which is charged"
                )
            if state.charges_of(label):
                self._check(state.total, planned, f"{label}, begun before,")
                return planned
            if state.has_batch(fingerprint):
                raise AccountError(
                    f"the rows of {label!r} were learned from before: who is in two batches is not protected by "
                    "one charge. Leave them out, or begin anew with fit, which is charged"
                )
            return ()

        def also(connection: Connection, _: int) -> None:
            write_batch(connection, self.dataset, fingerprint, first)

        return self._reserve(label, unit, decide, also=also)

    @property
    def _key_path(self) -> Path:
        return key_path(self.key_file, self._store.file)

    def key(self, fresh: bytes) -> AccountKey:
        """The secret that fingerprints of rows are made with: equal rows look different to two accounts.

        Args:
            fresh: 32 bytes that nobody knows, for an account that has none yet.

        Raises:
            AccountError: if nobody says where it is, or it cannot be read or made.
        """
        return account_key(self._key_path, self.dataset, fresh)

    def take_batch(self, fingerprint: str, first: str) -> None:
        """Writes down that a batch was learned from, under a fingerprint made with :meth:`key`, of a series."""
        self._store.take_batch(self.dataset, fingerprint, first)

    def _reserve(
        self,
        label: str,
        unit: Unit | None,
        decide: Callable[[Held], Sequence[Charge]],
        *,
        timeless: bool = False,
        also: Callable[[Connection, int], None] | None = None,
    ) -> Reservation:
        """A reservation of what is decided on all earlier ones."""
        identifier, planned = self._store.reserve(self.dataset, label, unit, decide, also)
        return Reservation(planned, self.neighbouring, label, self._closing(identifier, label, timeless=timeless))

    def reserve_kept(
        self, charges: Sequence[Charge], label: str, neighbouring: Neighbouring, unit: Unit | None, beginning: Beginning
    ) -> Reservation:
        """As :meth:`reserve`, for a fit that keeps its releases, so that it can :meth:`go_on`."""
        from tacit.privacy.kept_releases import keep

        self._check_relation(neighbouring)
        planned = compact(charges)
        identifier, _ = self._store.reserve(
            self.dataset,
            label,
            unit,
            self._decision(planned, label, unit),
            also=lambda connection, number: keep(connection, number, beginning),
        )
        return self.go_on(identifier, planned, label, beginning)

    def kept(self, *, ended: bool = False) -> tuple[Kept, ...]:
        """The fits that can go on, or those that have ended and can be made again; oldest first."""
        from tacit.privacy.kept_releases import kept_fits

        return tuple(fit for fit in kept_fits(self._store, self.dataset) if fit.ended == ended)

    def go_on(self, identifier: int, charges: Sequence[Charge], label: str, beginning: Beginning) -> Reservation:
        """The reservation of a fit that goes on, numbered as :meth:`kept` does it, with its charges and its label.

        Of one that has ended every release is kept, so that its model can be made again. Charges nothing. Of
        ``beginning``, rows and learner are compared; the others are those that were kept.

        Raises:
            AccountError: if there is no such fit, or it began with something else.
        """
        from tacit.privacy.kept_releases import KeptReservation, kept_fits

        fits = kept_fits(self._store, self.dataset)
        fit = next((each for each in fits if each.identifier == identifier), None)
        if fit is None:
            numbers = ", ".join(str(each.identifier) for each in fits if not each.ended) or "none"
            raise AccountError(
                f"the account of {self.dataset!r} has no fit {identifier} that can go on (there are: {numbers})"
            )
        if (fit.label, fit.charges, fit.learner) != (label, compact(charges), beginning.learner):
            raise AccountError(
                f"fit {identifier} is a {fit.label!r} of other parameters, or of another version of tacit: give "
                "those that it began with"
            )
        if fit.rows.partition(":")[0] != beginning.rows.partition(":")[0]:
            raise AccountError(
                f"the key that the rows of fit {identifier} were known by is not in {self._key_path}: without it "
                "nobody can tell whether these are the same. Bring it back, or begin another fit, which is charged"
            )
        if fit.rows != beginning.rows:
            raise AccountError(f"fit {identifier} began with other rows: what it released is not about these")
        return KeptReservation(fit, self.neighbouring, self._closing(identifier, label, kept=True), self._store)

    def _decision(
        self, planned: tuple[Charge, ...], label: str, unit: Unit | None
    ) -> Callable[[Held], Sequence[Charge]]:
        """Reserves what is planned, if the account pays for it."""

        def decide(state: Held) -> Sequence[Charge]:
            self._check_unit(state.unit, unit_key(unit), label)
            self._check(state.total, planned, label)
            return planned

        return decide

    def _closing(
        self, identifier: int, label: str, *, timeless: bool = False, kept: bool = False
    ) -> Callable[[tuple[Entry, ...], str], None]:
        """Writes down how a reservation ended, or has that done by :meth:`closing_at_the_end`."""
        store = self._store

        def close(entries: tuple[Entry, ...], outcome: str) -> None:
            try:
                store.close(identifier, entries, outcome, timeless=timeless)
            except AccountError as error:
                # The charge stands, and a finished fit is not worth losing for its history.
                message = f"{label!r} will show as interrupted: {error}"
                warnings.warn(message, RuntimeWarning, stacklevel=2)

        def on_close(entries: tuple[Entry, ...], outcome: str) -> None:
            if self._waiting is None or outcome != COMPLETED:
                close(entries, outcome)
            else:
                self._waiting.append((kept, lambda final: close(entries, final)))

        return on_close

    @contextmanager
    def closing_at_the_end(self) -> Iterator[None]:
        """Within, what completes is written down as completed when this ends: a model that is there by then.

        Where it fails, a fit that is there to go on stays so, and another has failed.
        """
        self._waiting, outcome = [], FAILED
        try:
            yield
            outcome = COMPLETED
        finally:
            waiting, self._waiting = self._waiting, None
            for stays_open, close in waiting:
                if outcome == COMPLETED or not stays_open:
                    close(outcome)

    def __getstate__(self) -> dict[str, object]:
        """Copies close what they reserve themselves."""
        return {**self.__dict__, "_waiting": None}

    def note(self, line: str, unit: Unit | None = None) -> None:
        """Adds a line that costs nothing and cannot be taken back, such as the digests of what was signed.

        Raises:
            AccountError: if the store cannot be written.
        """
        self._reserve(line, unit, lambda _: ()).close()

    def reservations(self) -> tuple[Line, ...]:
        """The history, oldest first: charges, entries and status.

        A status is ``completed``, ``failed``, ``open``, or ``interrupted`` when the process that held it has ended
        without closing it. All of them count in full.
        """
        return self._store.lines(self.dataset)

    def __repr__(self) -> str:
        return f"PrivacyAccount({self._store.name!r}, {self.dataset!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivacyAccount) and (self.url, self.dataset) == (other.url, other.dataset)

    def __hash__(self) -> int:
        return hash((self.url, self.dataset))


def _store_at(url: str) -> Store:
    from tacit.privacy.database import normal_url  # SQLAlchemy is slow to import
    from tacit.privacy.store import Store

    return Store(normal_url(os.fspath(url)))
