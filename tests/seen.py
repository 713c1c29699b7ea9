"""Numbers that keep count of who looks at them: nobody may before a charge is durable."""

from __future__ import annotations

from typing import Any

import numpy as np


class Seen(float):
    """A number that keeps count of who looks at it."""

    looks = 0

    def __float__(self) -> float:
        Seen.looks += 1
        return float.__float__(self)

    def __hash__(self) -> int:
        Seen.looks += 1
        return float.__hash__(self)


def seen_numbers(n: int) -> np.ndarray[Any, Any]:
    """Zeros and ones in turn and None at the end, as objects, shape ``(n,)``."""
    return np.array([*(Seen(k % 2) for k in range(n - 1)), None], object)
