"""The public format of a CSV file's cells, and whether its first row holds names or one person's values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

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


UTF8 = "utf-8"

POINT, COMMA = ".", ","

MARKS = ",\t;"
"""What cells may be parted by where nobody says it; of as many, the first."""


@final
@dataclass(frozen=True)
class CsvFormat:
    """What a file does not say of itself.

    Attributes:
        encoding: Python's name of it.
        delimiter: what parts cells, one character; None for the one of :data:`MARKS` that the header has most of.
        decimal: what numbers have before their fractions, a point or a comma.
        said: whether somebody said so; a point is else taken for granted.
        multiline: whether quoted cells may hold line breaks. A line can then reach into others: see
            :mod:`tacit.encoding.csv_lines`.
    """

    encoding: str = UTF8
    delimiter: str | None = None
    decimal: str = POINT
    said: bool = False
    multiline: bool = False

    def delimiter_of(self, header: str) -> str:
        """What parts the cells; where a header has no mark outside quotes, one that numbers have not either."""
        if self.delimiter is not None:
            return self.delimiter
        bare = re.sub(r'"[^"]*"', "", header)
        return max(MARKS if self.decimal == POINT else MARKS[::-1], key=bare.count)


PLAIN = CsvFormat()
