"""Draws of a run anew: under ``pytest --salt N`` every seed of tests stands for another one.

A threshold that holds for one draw says nothing of the next, and a seed is a draw anew on other processors and with
other versions. Seeds of child processes stay as they are: the golden fits are compared bit by bit.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

import numpy as np


def salted(salt: int, seed: object) -> int:
    """The seed that stands for another one under a salt."""
    return int.from_bytes(hashlib.sha256(f"{salt} {np.asarray(seed).tolist()}".encode()).digest()[:7], "big")


def is_seed(value: object) -> bool:
    """Whether a value is a number, or numbers, and no generator or fresh entropy."""
    return not isinstance(value, bool) and isinstance(value, int | np.integer | tuple | list)


def draw_anew(salt: int) -> None:
    """Replaces all seeds for the rest of the process: of numpy's and Python's generators, and of the library's noise.

    Before tests are imported, which take ``default_rng`` and others by name.
    """
    from tacit.noise import PublicChoices, SeededSource

    default_rng, init, choices = np.random.default_rng, SeededSource.__init__, PublicChoices.of

    def other_rng(seed: Any = None) -> np.random.Generator:
        return default_rng(salted(salt, seed) if is_seed(seed) else seed)

    def other_init(self: SeededSource, seed: int) -> None:
        init(self, salted(salt, int(seed)) if seed >= 0 else seed)

    def other_choices(random_state: int | None) -> PublicChoices:
        return choices(None if random_state is None else salted(salt, int(random_state)))

    class OtherRandom(random.Random):
        """Python's generator."""

        def __init__(self, x: Any = None) -> None:
            super().__init__(salted(salt, x) if is_seed(x) else x)

    np.random.default_rng = other_rng
    random.Random = OtherRandom  # type: ignore[misc]
    SeededSource.__init__ = other_init  # type: ignore[method-assign]
    PublicChoices.of = staticmethod(other_choices)  # type: ignore[method-assign,assignment]
