"""Random choices that protect nobody (orders, sampled columns, tree structures): from a seed that is no secret."""

from __future__ import annotations

import hashlib
import secrets
from itertools import count
from typing import final

import numpy as np

_DOMAIN = b"tacit public choices "


@final
class PublicChoices:
    """Generators that follow from a public seed and their number: noise has another source, and no part in either."""

    def __init__(self, seed: bytes) -> None:
        self.seed, self._numbers = seed, count()

    @classmethod
    def of(cls, random_state: int | None) -> PublicChoices:
        """Choices that nobody can foresee; those of a repeatable fit follow from its ``random_state``.

        A small ``random_state`` can be guessed from that seed, and noise follows from it: what has one is not
        releasable, nor is the seed.
        """
        if random_state is None:
            return cls(secrets.token_bytes(32))
        return cls(hashlib.sha256(_DOMAIN + str(int(random_state)).encode()).digest())

    def generator(self) -> np.random.Generator:
        """The next generator; never for noise."""
        sequence = np.random.SeedSequence(int.from_bytes(self.seed, "big"), spawn_key=(next(self._numbers),))
        return np.random.Generator(np.random.PCG64(sequence))
