"""Charges: what a release costs, as a frozen description that an accountant turns into numbers.

A charge says what happened; :mod:`tacit.privacy.accountants` says what it costs. A charge is a curve, not a number,
so that composition stays tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, final

from tacit.privacy.gaussian import gaussian_of_range


class Charge:
    """Base of all charges. Subclasses are frozen, final and carry their JSON name in ``kind``."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The charge as plain JSON data; :func:`charge_from_dict` is the inverse."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _number(name: str, value: Any) -> float:
    """A number of a charge. What a file calls one may be a truth value, a text, or beyond all floats."""
    _require(isinstance(value, Real) and not isinstance(value, bool), f"{name} must be a number, got {value!r:.40}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that floats know") from None
    _require(not math.isnan(number), f"{name} must be a number, got {number}")
    return number


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    _require(not isinstance(values, str), f"{name} must be numbers, got a text")
    return tuple(_number(name, value) for value in values)


@final
@dataclass(frozen=True)
class Gaussian(Charge):
    """Gaussian mechanism whose noise has ``noise_multiplier`` standard deviations per unit of L2 sensitivity.

    ``T`` of them compose exactly to one with multiplier ``1 / sqrt(sum 1 / z_t**2)`` (Dong, Roth, Su 2022, Cor. 3.3).
    """

    noise_multiplier: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        number = _number("noise_multiplier", self.noise_multiplier)
        _require(number > 0, f"noise_multiplier must be positive, got {number}")
        _require(self.precision > 0, f"noise_multiplier {number}: no noise is so large, and it would seem to be free")

    @property
    def precision(self) -> float:
        """``1 / noise_multiplier**2``: what adds up when Gaussian releases compose."""
        inverse = 1.0 / self.noise_multiplier
        return inverse * inverse  # a power would raise where this overflows to infinity


@final
@dataclass(frozen=True)
class Laplace(Charge):
    """Laplace mechanism with ``noise_multiplier`` scales per unit of L1 sensitivity: pure ``1 / noise_multiplier``."""

    noise_multiplier: float
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        number = _number("noise_multiplier", self.noise_multiplier)
        _require(number > 0, f"noise_multiplier must be positive, got {number}")
        _require(self.epsilon > 0, f"noise_multiplier {number}: no noise is so large, and it would seem to be free")

    @property
    def epsilon(self) -> float:
        """The pure epsilon."""
        return 1.0 / self.noise_multiplier


@final
@dataclass(frozen=True)
class BoundedRange(Charge):
    """Exponential mechanism of range ``range``: ``range``-DP and ``range**2 / 8``-zCDP.

    Source: Dong, Durfee, Rogers 2020 (bounded range); Cesar, Rogers 2021 (the zCDP constant).
    """

    range: float
    kind: ClassVar[str] = "bounded_range"

    def __post_init__(self) -> None:
        _require(_number("range", self.range) >= 0, f"range must not be negative, got {self.range}")

    @property
    def precision(self) -> float:
        """``mu**2`` of the Gaussian privacy that it has, too: what it costs where Gaussian releases share a pool."""
        mu = gaussian_of_range(self.range)
        return mu * mu


@final
@dataclass(frozen=True)
class Pure(Charge):
    """Pure ``epsilon``-differential privacy."""

    epsilon: float
    kind: ClassVar[str] = "pure"

    def __post_init__(self) -> None:
        _require(_number("epsilon", self.epsilon) >= 0, f"epsilon must not be negative, got {self.epsilon}")


@final
@dataclass(frozen=True)
class ZCDP(Charge):
    """``rho``-zero-concentrated differential privacy (Bun, Steinke 2016)."""

    rho: float
    kind: ClassVar[str] = "zcdp"

    def __post_init__(self) -> None:
        _require(_number("rho", self.rho) >= 0, f"rho must not be negative, got {self.rho}")


@final
@dataclass(frozen=True)
class Renyi(Charge):
    """A Renyi curve on a grid: divergence ``divergences[i]`` at order ``orders[i] > 1`` (Mironov 2017)."""

    orders: tuple[float, ...]
    divergences: tuple[float, ...]
    kind: ClassVar[str] = "renyi"

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", _numbers("orders", self.orders))
        object.__setattr__(self, "divergences", _numbers("divergences", self.divergences))
        _require(len(self.orders) == len(self.divergences) > 0, "orders and divergences must have one, equal, length")
        _require(all(1 < a < math.inf for a in self.orders), "every order must exceed 1, and be finite")
        _require(all(d >= 0 for d in self.divergences), "divergences must not be negative")


@final
@dataclass(frozen=True)
class PrivacyLoss(Charge):
    """A dominating privacy-loss distribution: loss ``losses[i]`` with probability ``probabilities[i]``.

    ``infinity_mass`` is the probability of an infinite loss. Losses must be rounded up by whoever makes the charge
    (a pessimistic discretisation), so that the curve dominates the mechanism's, for both orders of two neighbours. The
    losses must be those of some pair of distributions: ``sum p exp(-loss) <= 1``, which rounding up keeps.
    """

    losses: tuple[float, ...]
    probabilities: tuple[float, ...]
    infinity_mass: float = 0.0
    kind: ClassVar[str] = "privacy_loss"

    def __post_init__(self) -> None:
        object.__setattr__(self, "losses", _numbers("losses", self.losses))
        object.__setattr__(self, "probabilities", _numbers("probabilities", self.probabilities))
        _require(
            len(self.losses) == len(self.probabilities) > 0, "losses and probabilities must have one, equal, length"
        )
        mass = _number("infinity_mass", self.infinity_mass)
        _require(all(p >= 0 for p in (*self.probabilities, mass)), "probabilities must not be negative")
        _require(all(math.isfinite(x) for x in self.losses), "losses must be finite; infinity_mass is for the others")
        total = math.fsum(self.probabilities) + self.infinity_mass
        _require(abs(total - 1.0) < 1e-9, f"probabilities must sum to 1, got {total}")
        other = math.fsum(p * math.exp(min(-x, 700.0)) for x, p in zip(self.losses, self.probabilities, strict=True))
        _require(other <= 1.0 + 1e-9, f"no pair of distributions has these losses: sum p exp(-loss) is {other} > 1")


@final
@dataclass(frozen=True)
class ApproxDP(Charge):
    """(``epsilon``, ``delta``)-differential privacy, nothing else known."""

    epsilon: float
    delta: float
    kind: ClassVar[str] = "approx_dp"

    def __post_init__(self) -> None:
        _require(_number("epsilon", self.epsilon) >= 0, f"epsilon must not be negative, got {self.epsilon}")
        _require(0 <= _number("delta", self.delta) < 1, f"delta must lie in [0, 1), got {self.delta}")


MOST_TIMES = 2**53 - 1  # whole numbers up to this one are floats, too


@final
@dataclass(frozen=True)
class Repeated(Charge):
    """``times`` adaptive uses of one charge."""

    charge: Charge
    times: int
    kind: ClassVar[str] = "repeated"

    def __post_init__(self) -> None:
        times: Any = self.times  # whatever a file says
        whole = isinstance(times, Integral) and not isinstance(times, bool)
        _require(whole and 1 <= int(times) <= MOST_TIMES, f"times must be a whole number from 1 on, got {times!r:.40}")
        _require(isinstance(self.charge, Charge), "what is repeated must be a charge")

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "charge": self.charge.to_dict(), "times": self.times}


@final
@dataclass(frozen=True)
class NonPrivate(Charge):
    """A release without noise (``epsilon=inf``). Infinite cost: allowed only where the user asked for it by name."""

    kind: ClassVar[str] = "non_private"


def uses(charges: Iterable[Charge]) -> Iterator[tuple[Charge, int]]:
    """The charges with ``Repeated`` opened: pairs of a simple charge and a number of uses."""
    for charge in charges:
        simple: Charge = charge
        times = 1
        while isinstance(simple, Repeated):
            times *= simple.times
            simple = simple.charge
        yield simple, times


_KINDS: dict[str, type[Charge]] = {
    c.kind: c for c in (Gaussian, Laplace, BoundedRange, Pure, ZCDP, Renyi, PrivacyLoss, ApproxDP, Repeated, NonPrivate)
}


def charge_from_dict(data: Any) -> Charge:
    """The inverse of :meth:`Charge.to_dict`.

    Raises ``ValueError`` for what is no charge. An unknown kind is an error, never a cost of zero.
    """
    _require(isinstance(data, Mapping), f"a charge must be a table of its facts, got {type(data).__name__}")
    fields = dict(data)
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"unknown charge kind {kind!r:.40}; known kinds: {', '.join(sorted(_KINDS))}")
    try:
        if kind == Repeated.kind:
            fields["charge"] = charge_from_dict(fields["charge"])
        return _KINDS[kind](**fields)
    except (KeyError, TypeError, RecursionError):
        raise ValueError(f"this is no charge of kind {kind!r}: it lacks what one has, or has more") from None
