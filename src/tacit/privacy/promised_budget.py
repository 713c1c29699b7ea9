"""The promise of an account and what of it is spent, composed; the budget of a fit that was given no account."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence
from numbers import Real
from typing import NoReturn, Self

from tacit.privacy import accountants
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, Gaussian, Repeated
from tacit.privacy.composition import Sums
from tacit.privacy.coverage import TOLERANCE
from tacit.privacy.gaussian import beyond, gaussian_epsilon
from tacit.privacy.ledger import AccountError, BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring, describe_unit, unit_key
from tacit.schema import Unit


def compact(charges: Sequence[Charge]) -> tuple[Charge, ...]:
    """The same charges with runs of equal ones written as ``Repeated``."""
    runs: list[tuple[Charge, int]] = []
    for charge in charges:
        if runs and runs[-1][0] == charge:
            runs[-1] = (charge, runs[-1][1] + 1)
        else:
            runs.append((charge, 1))
    return tuple(charge if times == 1 else Repeated(charge, times) for charge, times in runs)


def _floored(epsilon: float) -> float:
    """Four digits of an epsilon, never more than it is."""
    return epsilon if epsilon == 0 or not math.isfinite(epsilon) else math.floor(epsilon * 1e4) / 1e4


def check_promise(epsilon: float, delta: float) -> None:
    """Raises ``ValueError`` for what nobody can promise."""
    numbers: tuple[tuple[str, object], ...] = (("epsilon", epsilon), ("delta", delta))
    for name, value in numbers:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"{name} must be a number, got {value!r}")
    accountants.check_delta(delta)
    if not epsilon > 0:
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    if wrong := beyond(epsilon, delta):
        raise ValueError("; ".join(wrong))


class PromisedBudget:
    """What an account promises, and the arithmetic on it: what it has spent, and what it can still pay for."""

    def __init__(self, epsilon: float, delta: float, neighbouring: Neighbouring | str) -> None:
        self._promise = float(epsilon), float(delta), Neighbouring(neighbouring)

    @property
    def epsilon(self) -> float:
        """What is promised; for good, as all that is."""
        return self._promise[0]

    @property
    def delta(self) -> float:
        """What is promised beside epsilon."""
        return self._promise[1]

    @property
    def neighbouring(self) -> Neighbouring:
        """The relation of the promise."""
        return self._promise[2]

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All that was ever reserved, whatever became of it."""
        raise NotImplementedError

    @property
    def total(self) -> Sums:
        """The same, as far as its cost depends on it."""
        raise NotImplementedError

    @property
    def spent(self) -> float:
        """The epsilon, at the account's delta, of everything reserved so far."""
        return self._cost(self.total)

    @property
    def remaining(self) -> float:
        """The promised epsilon minus what is spent. A fit can often have more: see :meth:`affordable`."""
        return self._left(self.spent)

    def _left(self, spent: float) -> float:
        return max(0.0, self.epsilon - spent) if math.isfinite(self.epsilon) else math.inf

    def affordable(self) -> float:
        """The largest epsilon, at the account's delta, of a Gaussian fit that the account can still pay for.

        More than :attr:`remaining`, because costs compose better than they add. At ``delta = 0`` both are the same.
        """
        return self._affordable(self.total)

    def _affordable(self, total: Sums) -> float:
        """The same where ``total`` is all that was reserved."""
        cost = self._cost(total)
        if not math.isfinite(self.epsilon) or self.delta == 0:
            return self._left(cost)
        if cost >= self.epsilon:
            return 0.0
        multiplier = calibrate(lambda z: total.plus([Gaussian(z)]), self.epsilon, self.delta)
        return gaussian_epsilon(1 / multiplier, self.delta)

    def covers(self, charges: Sequence[Charge]) -> bool:
        """Whether a reservation of ``charges`` would be accepted now. Reserves nothing."""
        return self._cost(self.total.plus(charges)) <= self.epsilon * (1 + TOLERANCE)

    def _cost(self, charges: Sequence[Charge] | Sums) -> float:
        return accountants.epsilon(charges, self.delta)

    def _check(self, earlier: Sums, charges: Sequence[Charge], label: str) -> None:
        total = self._cost(earlier.plus(charges))
        if total <= self.epsilon * (1 + TOLERANCE):
            return
        if self.delta == 0 and math.isinf(self._cost(charges)):
            raise BudgetExceeded(
                f"{label!r} needs a delta, and the budget has none (its delta is 0): ask for delta=0, or open an "
                "account with a delta above 0",
                "; nothing was spent or read now",
            )
        raise BudgetExceeded(
            f"{label!r} would bring the cost to epsilon {total:.4g} at delta {self.delta:g}; the budget is "
            f"{self.epsilon:.4g}, of which {self._cost(earlier):.4g} is spent, and what is left pays for epsilon "
            f"{_floored(self._affordable(earlier)):.4g} at most",
            "; nothing was spent or read now",
        )

    @staticmethod
    def _check_unit(account_unit: tuple[str, int] | None, unit: tuple[str, int], label: str) -> None:
        """Raises where what a reservation protects is not what those before it do: their costs do not add up then."""
        if account_unit in (None, unit):
            return
        raise AccountError(
            f"{label!r} protects {describe_unit(unit)}, and the account {describe_unit(account_unit)}: costs of the "
            "two do not add up. Declare the same [unit] in every schema, or open another account"
        )

    def _check_relation(self, neighbouring: Neighbouring | None) -> None:
        if neighbouring is not None and Neighbouring(neighbouring) is not self.neighbouring:
            raise AccountError(
                f"the account is about {self.neighbouring}, and the request about {Neighbouring(neighbouring)}: "
                "one ledger has one relation"
            )


class EphemeralAccount(PromisedBudget):
    """The budget of a fit without an account: in memory, gone with the process.

    Copying gives the same object, so that cloning an estimator does not refill it; it refuses to be pickled.
    """

    url = None
    dataset = None

    def __init__(
        self, epsilon: float, delta: float, neighbouring: Neighbouring | str = Neighbouring.ADD_OR_REMOVE_ONE
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
        with self._lock:
            return self._total

    def reserve(
        self, charges: Sequence[Charge], label: str, neighbouring: Neighbouring | None = None, unit: Unit | None = None
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
