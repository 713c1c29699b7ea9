"""From a curator to its workers and back: pickles, in which objects keep their identity.

Engines cache by the object: margins by their log, leaves by their cells. Each of these is sent once, under a number,
for as long as the curator holds it; of a log only what is new is sent. Workers belong to whoever runs the fit, as rows
do: they run what they are sent. Sites do not (see :mod:`tacit.engines.joined.wire`).
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.engines.numbering import ENTRIES, SHARED, Numbering, entries_of
from tacit.queries.dense.capped_sum import CappedSum

SENT_ONCE = (*SHARED, CappedSum, *ENTRIES)
"""What has a number here."""


@dataclass(frozen=True)
class Growth:
    """What is new in a log of a number, which had ``start`` entries."""

    number: int
    start: int
    entries: Sequence[Any]


class Shipper:
    """The curator's side: all workers get the same messages in the same order."""

    def __init__(self) -> None:
        self._numbering = Numbering()

    def packed(self, value: Any) -> bytes:
        """A message: what is no longer referred to, objects that come for the first time, and a value."""
        gone = self._numbering.gone()
        first: list[tuple[int, bytes]] = []
        body = self._pickled(value, None, first)
        # maps from the codes of a column to its cells are long and hardly say anything
        return zlib.compress(pickle.dumps((gone, first, body), pickle.HIGHEST_PROTOCOL), 1)

    def open_logs(self) -> list[Any]:
        """All logs that have grown: to be sent before codes change, of which their entries speak."""
        return self._numbering.open_logs()

    def number(self, value: Any, first: list[tuple[int, bytes]]) -> int:
        """The number of an object; what is new about it, and about all in it, joins ``first``."""
        number, known = self._numbering.of(value)
        if not known:
            empty = replace(value, **{ENTRIES[type(value)]: []}) if type(value) in ENTRIES else value
            first.append((number, self._pickled(empty, empty, first)))
        if type(value) in ENTRIES:
            start, entries = self._numbering.new_entries(value)
            if entries:
                first.append((0, self._pickled(Growth(number, start, entries), None, first)))
        return number

    def _pickled(self, value: Any, itself: Any, first: list[tuple[int, bytes]]) -> bytes:
        into = io.BytesIO()
        _Pickler(into, self, itself, first).dump(value)
        return into.getvalue()


class _Pickler(pickle.Pickler):
    """Puts numbers in the place of what is shared."""

    def __init__(self, into: io.BytesIO, shipper: Shipper, itself: Any, first: list[tuple[int, bytes]]) -> None:
        super().__init__(into, pickle.HIGHEST_PROTOCOL)
        self._shipper, self._itself, self._first = shipper, itself, first

    def persistent_id(self, value: Any) -> int | None:
        """The number of what is shared, but for the object that this pickle is of."""
        if value is self._itself or type(value) not in SENT_ONCE:
            return None
        return self._shipper.number(value, self._first)


class Receiver:
    """A worker's side, for one part of the rows."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def unpacked(self, message: bytes) -> Any:
        """The value of the next message."""
        gone, first, body = pickle.loads(zlib.decompress(message))  # noqa: S301 - of the curator: decision 15
        for number in gone:
            self._known.pop(number, None)
        for number, pickled in first:
            value = self._unpickled(pickled)
            if number:
                self._known[number] = value
                continue
            entries = entries_of(self._known[value.number])
            assert len(entries) == value.start, "a log does not go on where it ended"
            entries.extend(value.entries)
        return self._unpickled(body)

    def _unpickled(self, pickled: bytes) -> Any:
        return _Unpickler(io.BytesIO(pickled), self._known).load()


class _Unpickler(pickle.Unpickler):
    """Puts objects in the place of numbers."""

    def __init__(self, source: io.BytesIO, known: dict[int, Any]) -> None:
        super().__init__(source)
        self._known = known

    def persistent_load(self, number: int) -> Any:
        """The object that came under a number."""
        return self._known[number]
