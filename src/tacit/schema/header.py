"""Whether names of columns are names, or the first row of a file without a header: one person's values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tacit.schema.values import parse_number

YEARS = range(1800, 2101)

LEAST_EQUAL, LEAST_RISING = 3, 6
"""Numbers by the same step, and rising or falling ones, from which on they are a series and no chance."""


def are_cells(names: Sequence[str]) -> bool:
    """Whether numbers among names make them a row: they are no series such as 0, 1, 2, years, or wavelengths."""
    numbers = [float(number) for number in map(parse_number, names) if number is not None]
    steps = [right - left for left, right in pairwise(numbers)]
    rising = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    if not numbers or (rising and all(number in YEARS for number in numbers)):
        return False
    if set(steps) <= {1.0}:
        return len(numbers) == 1 and numbers[0] not in (0, 1)
    equal = len(set(steps)) == 1 and len(numbers) >= LEAST_EQUAL
    return not (rising and (equal or len(numbers) >= LEAST_RISING))
