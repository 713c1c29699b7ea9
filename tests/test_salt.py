"""Other draws: the same under the same salt, others under another one, and fresh entropy stays fresh."""

from __future__ import annotations

import subprocess
import sys

from tests.salt import is_seed, salted

DRAWS = """
import random, sys
import numpy as np
from tests.salt import draw_anew
if int(sys.argv[1]):
    draw_anew(int(sys.argv[1]))
from tacit.noise import PublicChoices, SeededSource
print(np.random.default_rng(3).integers(1 << 40), random.Random(3).randrange(1 << 40),
      SeededSource(3).words(1)[0], PublicChoices.of(3).generator().integers(1 << 40))
"""


def drawn(salt: int) -> list[int]:
    """A draw of numpy's, of Python's, of the library's noise, and of its public choices, all of seed 3."""
    command = [sys.executable, "-c", DRAWS, str(salt)]
    return [int(each) for each in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def test_every_seed_stands_for_another_one() -> None:
    usual, other, again = drawn(0), drawn(1), drawn(1)
    assert other == again
    assert not set(usual) & set(other)


def test_a_seed_is_a_number_or_numbers() -> None:
    assert [is_seed(value) for value in (3, (3, 1), [3], None, True, "3")] == [True, True, True, False, False, False]
    assert len({salted(salt, seed) for salt in range(4) for seed in (0, 1, (0, 1))}) == 12
