"""What the rows of `tacit predict` hold that the model does not know, counted chunk by chunk.

The counts are exact and not private: they go to the terminal of whoever holds the rows, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame

NOTABLE, MANY = 0.01, 0.1
"""Shares of rows: from the first on clipped and unknown values are named, from the second on missing ones."""


@dataclass
class Counts:
    """Rows so far, and per column how many are missing, out of bounds, or hold what is not declared."""

    rows: int = 0
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)

    def add(self, frame: Frame, encoders: Iterable[tuple[str, Any]]) -> None:
        """Counts a chunk of rows.

        Args:
            frame: the columns as they are read.
            encoders: names and encoders of the columns that the model needs.
        """
        self.rows += frame.n_rows
        for name, encoder in encoders:
            if name not in frame.names:
                continue
            counts = self.columns.setdefault(name, {"missing": 0, "clipped": 0, "unknown": 0})
            for what, mask in self._masks(frame, name, encoder):
                counts[what] += int(mask.sum())

    def _masks(self, frame: Frame, name: str, encoder: Any) -> list[tuple[str, Any]]:
        """Which rows are missing, clipped or unknown."""
        import numpy as np

        from tacit.encoding.grid import NumericGrid
        from tacit.encoding.values import BooleanIndex, CategoryIndex

        if isinstance(encoder, NumericGrid):
            numbers = encoder.numbers(frame, name)
            outside = (numbers < encoder.lower) | (numbers > encoder.upper)
            return [("missing", ~np.isfinite(numbers)), ("clipped", np.isfinite(numbers) & outside)]
        if not isinstance(encoder, CategoryIndex | BooleanIndex):
            return []
        codes = encoder.encode(frame.column(name), name)
        masks: list[tuple[str, Any]] = [("missing", codes == encoder.missing)]
        if isinstance(encoder, CategoryIndex):
            unknown = codes == encoder.other
            masks.append(("unknown", unknown))
            if name not in self.alike and unknown.any():
                self._look_alike(frame, name, encoder, int(unknown.argmax()))
        return masks

    def _look_alike(self, frame: Frame, name: str, encoder: Any, row: int) -> None:
        """Keeps in what alone the first unknown value of a column differs from a declared one."""
        import numpy as np

        from tacit.encoding.frames import take
        from tacit.encoding.tokens import difference

        [value] = list(take(frame.column(name), np.array([row])))
        value = value.as_py() if hasattr(value, "as_py") else value
        if isinstance(value, str) and (why := difference(value, map(str, encoder.categories))):
            self.alike[name] = why

    def notes(self) -> list[str]:
        """What a person should know before they trust the predictions, in words."""
        words = []
        for name, counts in self.columns.items():
            for what, least, said in (
                ("missing", MANY, "hold nothing that can be read, and count as missing"),
                ("clipped", NOTABLE, "lie outside the declared bounds, and are clipped"),
                ("unknown", NOTABLE, "hold values that are not declared, and go to 'other'"),
            ):
                if counts[what] > least * self.rows:
                    why = f"; one differs only {self.alike[name]}" if what == "unknown" and name in self.alike else ""
                    words.append(f"column '{name}': {counts[what]:,} of {self.rows:,} rows {said}{why}")
        return words
