"""Which classes can be listed, and which would take too much: limits as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tacit.closure.classes import ConceptError
from tacit.closure.concepts import LARGE_SAMPLE, MOST_CELLS, MOST_MEMORY, ConceptSet

BITS = 8 * MOST_MEMORY


@dataclass
class Declared:
    """A bound class that says how large it is, and remembers on how many points it was asked."""

    size: int
    n_cells: int
    is_listed: bool = True
    columns: tuple[str, ...] = ("a",)
    asked: list[int] = field(default_factory=list)

    def parts(self) -> list[Declared]:
        return [self]

    def patterns_at_most(self, n: int) -> int:
        self.asked.append(n)
        return self.size


def concepts(size: int, n_cells: int, n_points: int | None = None, cap: int = 1 << 20, listed: bool = True) -> Any:
    declared: Any = Declared(size, n_cells, listed)
    encoding: Any = None
    return ConceptSet(declared, encoding, cap, n_points)


def test_public_classes_are_small_enough_to_list_on_all_cells() -> None:
    assert (MOST_CELLS, BITS, LARGE_SAMPLE) == (2**16, 2**33, 10**6)
    assert concepts(2**17, 2**16).is_public
    assert not concepts(2**17 + 1, 2**16).is_public
    assert concepts(2**20, 2**16, listed=False).is_public
    assert not concepts(2**20 + 1, 2**16, listed=False).is_public
    assert not concepts(1, 2**16 + 1).is_public


@pytest.mark.parametrize(
    ("size", "n_points", "listed", "message"),
    [
        (2**16, 2**17, True, None),
        (2**16 + 1, 2**17, True, "memory"),
        (2**16 + 1, 2**17, False, None),
        (2**20, 2**13, True, None),
        (2**20 + 1, 2**10, False, "cap is 1048576"),
        (BITS // LARGE_SAMPLE, 10**7, True, None),
        (BITS // LARGE_SAMPLE + 1, 10**7, True, "memory"),
    ],
)
def test_patterns_of_a_sample_have_to_fit(size: int, n_points: int, listed: bool, message: str | None) -> None:
    asked = concepts(size, 10**8, n_points, listed=listed)
    if message is None:
        asked.check()
    else:
        with pytest.raises(ConceptError, match=message):
            asked.check()
    assert asked.bound.asked[-1] == n_points
    small = concepts(1, 10**5, None)
    small.check()
    assert small.bound.asked[-1] == 10**5
