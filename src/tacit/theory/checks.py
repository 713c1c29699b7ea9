"""Checks of the arguments of bounds, and the pair (epsilon, delta) that bounds return."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Cost:
    """(epsilon, delta)."""

    epsilon: float
    delta: float
