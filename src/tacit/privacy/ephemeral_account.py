"""The budget of a single fit that was given no account."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import NoReturn, Self

from tacit.privacy.charges import Charge
from tacit.privacy.composition import Sums
from tacit.privacy.errors import AccountError
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.promised_budget import PromisedBudget, check_promise, compact
from tacit.privacy.unit import unit_key
from tacit.schema import Unit


class EphemeralAccount(PromisedBudget):
    """The budget of a fit without an account: in memory, gone with the process.

    Copying gives the same object, so that cloning an estimator does not refill it; it refuses to be pickled.
    """

    url = None
    dataset = None

    def __init__(
        self,
        epsilon: float,
        delta: float,
        neighbouring: Neighbouring | str = Neighbouring.ADD_OR_REMOVE_ONE,
    ) -> None:
        check_promise(epsilon, delta)
        super().__init__(epsilon, delta, neighbouring)
        self._charges: list[Charge] = []
        self._total = Sums()
        self._unit: tuple[str, int] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All that was reserved."""
        with self._lock:
            return tuple(self._charges)

    @property
    def total(self) -> Sums:
        """The same, as far as its cost depends on it."""
        with self._lock:
            return self._total

    def reserve(
        self,
        charges: Sequence[Charge],
        label: str,
        neighbouring: Neighbouring | None = None,
        unit: Unit | None = None,
    ) -> Reservation:
        """Reserves a whole planned charge.

        Raises:
            BudgetExceeded: if all reservations together would cost more than was promised; nothing changes.
            AccountError: if the relation or the unit is another than before; nothing changes.
        """
        self._check_relation(neighbouring)
        if os.getpid() != self._process:  # a forked copy would spend the same budget again
            raise AccountError("this budget belongs to another process: use a PrivacyAccount, which is shared")
        planned = compact(charges)
        with self._lock:
            self._check_unit(self._unit, unit_key(unit), label)
            self._check(self._total, planned, label)
            self._charges.extend(planned)
            self._total = self._total.plus(planned)
            self._unit = unit_key(unit)
        return Reservation(planned, self.neighbouring, label)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("an ephemeral account cannot go to another process; use a PrivacyAccount, which is shared")
