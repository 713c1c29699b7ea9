"""Checks of the arguments of bounds, and the pair (epsilon, delta) that bounds return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def require(condition: bool, message: str) -> None:
    """Raises ``ValueError`` unless a condition holds."""
    if not condition:
        raise ValueError(message)


def check_positive(**values: float) -> None:
    """Raises ``ValueError`` for a number that is not above 0, by its name."""
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")


def check_probability(**values: float) -> None:
    """Raises ``ValueError`` for a number that is not in (0, 1), by its name."""
    for name, value in values.items():
        if not 0.0 < value < 1.0:
            raise ValueError(f"{name} must lie in (0, 1), got {value}")


def least_where(enough: Callable[[int], bool], low: int = 0) -> int:
    """The least integer above ``low`` from which on a condition holds; ``ValueError`` if none up to 2**1000 does."""
    high = max(1, 2 * low)
    while not enough(high):
        low, high = high, 2 * high
        require(high <= 1 << 1000, "no number is enough")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def largest_where(fits: Callable[[int], bool], start: int) -> int:
    """The largest integer that fits, at least ``start``, where the condition holds; from 1 on it stops holding once."""
    if start < 1 and not fits(1):
        return start
    return least_where(lambda number: not fits(number), max(start, 1)) - 1


@dataclass(frozen=True)
class Cost:
    """(epsilon, delta)."""

    epsilon: float
    delta: float
