"""The rows of a block with their margins: running sums of each log."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes
from tacit.engines.rows import FollowsCodes, Rows
from tacit.queries.margins import Margins, Update


@dataclass
class Running:
    """The running sums of one log, an entry or a line per row, and how much of the log is in them."""

    sums: npt.NDArray[np.int32]
    applied: int = 0


class MarginRows(FollowsCodes):
    """Running margins, kept for as long as their logs live."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._margins: WeakKeyDictionary[Margins, Running] = WeakKeyDictionary()

    @classmethod
    def of(cls, rows: Rows) -> MarginRows:
        """Those of a block."""
        return rows.kept(cls, cls)

    def caught_up(self, margins: Margins, leave: int = 0) -> tuple[npt.NDArray[np.int32], Update | None]:
        """The running margins, the log applied but for its last ``leave`` new entries, which the caller applies."""
        cache = self._margins.get(margins)
        if cache is None:
            cache = self._margins[margins] = Running(self._rows.workspace.zeros(len(self._rows), np.int32))
        pending = margins.updates[cache.applied :]
        last = None
        if leave and pending:
            last = pending.pop()
        sums = cache.sums
        for entry in pending:
            self._rows.add_mapped(*self.steps(entry), sums)
        cache.applied = len(margins.updates)
        return sums, last

    def steps(self, entry: Update | None) -> tuple[Codes, npt.NDArray[np.int32]]:
        """An update as codes and what to add for each code."""
        if entry is None:
            return self._rows.zeros, np.zeros(1, np.int32)
        codes, lookup = self._rows.codes(entry.cells)
        return codes, np.ascontiguousarray(entry.values[lookup])

    def before_codes_change(self, column: int) -> None:
        """Applies all logs: updates so far speak of the old codes."""
        del column
        for margins in list(self._margins):
            self.caught_up(margins)
