"""How a CSV file writes its cells, which is public as the names of its columns are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import final

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
