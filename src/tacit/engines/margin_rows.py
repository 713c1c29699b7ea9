"""The rows of a block with their margins: running sums of each log."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tacit.arrays import Codes
from tacit.engines import kernels
from tacit.engines.fourier_rows import fourier_of
from tacit.engines.rows import FollowsCodes, Rows
from tacit.queries.margins import FourierUpdate, Margins, Update


class _MarginCache:
    """The running margins of one log: how much of it is applied, and the sums."""

    def __init__(self, rows: Rows) -> None:
        self.applied = 0
        self.sums: npt.NDArray[np.int32] = rows.workspace.zeros(len(rows), np.int32)


class MarginRows(FollowsCodes):
    """Running margins, kept for as long as their logs live."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._margins: WeakKeyDictionary[Margins, _MarginCache] = WeakKeyDictionary()

    @classmethod
    def of(cls, rows: Rows) -> MarginRows:
        """Those of a block."""
        return rows.kept(cls, cls)

    def caught_up(self, margins: Margins, leave: int = 0) -> tuple[npt.NDArray[np.int32], Update | None]:
        """The running margins, the log applied but for its last ``leave`` new entries, which the caller applies."""
        cache = self._margins.get(margins)
        if cache is None:
            cache = self._margins[margins] = _MarginCache(self._rows)
        pending = margins.updates[cache.applied :]
        last = None
        if leave and pending and isinstance(pending[-1], Update):
            last = pending[-1]
            del pending[-1]
        sums = cache.sums
        for entry in pending:
            if isinstance(entry, FourierUpdate):
                fourier_of(self._rows).update(entry, sums)
                continue
            codes, steps = self.steps(entry)
            self._rows.run(partial(_update, codes, steps, sums))
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


def _update(
    codes: Codes, steps: npt.NDArray[np.int32], margins: npt.NDArray[np.int32], start: int, stop: int, _: Any
) -> None:
    kernels.add_mapped_codes(codes, steps, margins, start, stop)
