"""The ledger of one fit: a reservation, charged durably before a row is read, and the releases made under it.

What an accountant reports is the cost of the planned charges; the releases only have to be covered by them
(:mod:`tacit.privacy.coverage`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self, TypeVar

from tacit.display import Shown
from tacit.errors import TacitError, mark_spent, note_charge
from tacit.privacy.charges import Charge
from tacit.privacy.coverage import Coverage
from tacit.privacy.label import Label, Stage
from tacit.privacy.progress import Watched
from tacit.privacy.unit import Neighbouring


class AccountError(TacitError):
    """An account that cannot be created, opened or used. The message says what would be right; nothing was spent."""

    usual = "; nothing was spent"


Released = TypeVar("Released")  # what leaves, an array: noisy numbers, or what was chosen

COMPLETED = "completed"
FAILED = "failed"


class BudgetExceeded(TacitError):  # noqa: N818 - a public name, and not a fault
    """A release or a reservation that the budget does not cover. Nothing was read.

    Example:
        >>> import tempfile
        >>> from tacit import BudgetExceeded, PrivacyAccount, AdditiveBoostClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> folder = tempfile.TemporaryDirectory()
        >>> account = PrivacyAccount.create(f"{folder.name}/budget.db", "stays", epsilon=1.0, delta=1e-6)
        >>> try:
        ...     AdditiveBoostClassifier(epsilon=2.0, delta=1e-6, schema=schema, account=account).fit(X, y)
        ... except BudgetExceeded:
        ...     print("refused")
        refused
    """


@dataclass(frozen=True)
class Entry:
    """One release."""

    sequence: int  # position among the releases of its reservation, from 0
    what: Label  # what was released: its stage, subject and round
    charge: Charge  # what it cost
    theorem: str  # the claim its sensitivity stands on

    @property
    def stage(self) -> Stage:
        """The part of the work that the release belongs to."""
        return self.what.stage

    @property
    def subject(self) -> str:
        """What it is about within the stage."""
        return self.what.subject

    @property
    def round(self) -> int | None:
        """Which time it is, from 1; None where there is but one."""
        return self.what.round

    @property
    def label(self) -> str:
        """What was released, for people."""
        return str(self)

    def __str__(self) -> str:
        return str(self.what)


class Reservation(Shown):
    """The planned charge of one fit, already durable, and the releases made under it.

    A context manager: leaving it in success closes it as ``completed``, in failure as ``failed``. Either way it costs
    what was reserved; what was not used is not given back, because the choice to stop early may depend on the data.

    Args:
        charges: the whole planned charge.
        neighbouring: the relation it is meant under.
        label: what the fit is, for people.
        on_close: called once with the entries and the outcome, to write them where the charge was written.
    """

    def __init__(
        self,
        charges: Sequence[Charge],
        neighbouring: Neighbouring,
        label: str = "",
        on_close: Callable[[tuple[Entry, ...], str], None] | None = None,
    ) -> None:
        self._charges = tuple(charges)
        self._neighbouring = Neighbouring(neighbouring)
        self._label = label
        self._on_close = on_close
        self._coverage = Coverage(self._charges)
        self._entries: list[Entry] = []
        self._outcome: str | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._begun = datetime.now(UTC).isoformat(timespec="seconds")
        self._watched = Watched(label)

    def __repr__(self) -> str:
        """A line: entries may be thousands."""
        return f"<Reservation of {self._label or 'a fit'}: {len(self._entries)} releases, {self._outcome or 'open'}>"

    @property
    def charges(self) -> tuple[Charge, ...]:
        """What was reserved: the cost of the fit, whatever happens under it."""
        return self._charges

    @property
    def neighbouring(self) -> Neighbouring:
        """The relation the charges are meant under."""
        return self._neighbouring

    @property
    def label(self) -> str:
        """What the fit is, for people."""
        return self._label

    @property
    def begun(self) -> str:
        """When the budget was reserved: UTC, ISO format."""
        return self._begun

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The releases so far."""
        with self._lock:
            return tuple(self._entries)

    @property
    def outcome(self) -> str | None:
        """``completed`` or ``failed``, None while open."""
        return self._outcome

    @property
    def public_seed(self) -> bytes | None:
        """Of public random choices, where the fit may have to make them again; None where it need not."""
        return None

    def release(self, what: Callable[[], str], make: Callable[[], list[Released]]) -> list[Released]:
        """What leaves, once it is entered: what ``make`` returns, noise in it.

        ``what`` describes it, the same whenever the fit is run; it is asked where releases are kept.
        """
        del what
        return make()

    @property
    def keeps(self) -> bool:
        """Whether releases are kept, and the fit can go on: then nothing may leave but by :meth:`release`."""
        return False

    def record(self, charge: Charge, label: Label | str, theorem: str, kept: bool = False) -> Entry:
        """Enters a release before it reads anything. Safe to call from several threads.

        Args:
            charge: what the release costs.
            label: what it is; words by themselves are of :attr:`Stage.OTHER`.
            theorem: the claim its sensitivity stands on.
            kept: whether it leaves by :meth:`release`, which a reservation that :attr:`keeps` its releases asks for.

        Raises:
            BudgetExceeded: if what is left of the reservation does not cover it, it is closed, or this process is a
                fork of the one that reserved; nothing may be read.
            TypeError: if it would have to be kept and is not; nothing may be read.
        """
        what = Label.of(label)
        if self.keeps and not kept:
            raise TypeError(f"{what.text!r} is not kept: a fit that makes it cannot go on later")
        self.require_own_process(what)
        with self._lock:
            if self._outcome is not None:
                raise BudgetExceeded(f"{what.text!r} came after its reservation was closed; nothing was read")
            if not self._coverage.take(charge):
                raise BudgetExceeded(
                    f"{what.text!r} would cost {charge}, which is not covered by what is left of the reservation "
                    f"{self._label!r}; nothing was read"
                )
            entry = Entry(len(self._entries), what, charge, theorem)
            self._entries.append(entry)
            loss = self._coverage.spent
        self._watched.tell(what.text, str(what.stage), what.round, entry.sequence + 1, loss)
        return entry

    def require_own_process(self, label: Label) -> None:
        """A forked copy would release for a price that was paid once.

        Raises ``BudgetExceeded`` in another process than the one that reserved; nothing may be read.
        """
        if os.getpid() != self._process:
            raise BudgetExceeded(
                f"{label.text!r} was asked for by a fork of the process that reserved {self._label!r}: that "
                "reservation pays once, so go on there; nothing was read"
            )

    def close(self, outcome: str = COMPLETED) -> None:
        """Ends the reservation. Closing again does nothing: the first outcome stays; a fork ends nothing."""
        if outcome not in (COMPLETED, FAILED):
            raise ValueError(f"an outcome is {COMPLETED!r} or {FAILED!r}, got {outcome!r}")
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._outcome is not None:
                return
            self._outcome = outcome
            entries = tuple(self._entries)
        if self._on_close is not None:
            self._on_close(entries, outcome)

    def __enter__(self) -> Self:
        note_charge()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            try:
                self.close(COMPLETED)
            except BaseException as closing:
                mark_spent(closing)
                raise
            return
        try:
            self.close(FAILED)
        except Exception as closing:  # noqa: BLE001 - the fit's failure matters more; the charge is durable either way
            error.add_note(f"closing the reservation {self._label!r} failed as well: {closing}")
        mark_spent(error)
