"""What a step costs, as one pair."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """(epsilon, delta)."""

    epsilon: float
    delta: float
