"""The grammar of CSV (RFC 4180), checked byte by byte before a row is taken apart.

A quote that is never closed makes one cell of all lines up to the next quote, so that one person's line decides which
rows of other people exist. By default no line reaches into another, therefore: every quoted cell ends in its own line,
and a file in which one does not is refused, with the number of the line. The structure of a file is public (decision
6); what its cells hold is not, and no message shows it.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numba as nb
import numpy as np

from tacit.encoding.errors import DataError
from tacit.schema.csv_format import UTF8, CsvFormat, are_cells

_START, _BARE, _QUOTED, _CLOSED, _SKIPPED = range(5)
"""Where a byte stands: at the start of a cell, in an unquoted or a quoted one, after a quote, in a line given up."""

_AFTER, _STRAY, _UNENDED, _RAGGED = range(1, 5)

_STATE, _FAULT, _LINE, _CELLS, _WIDTH, _AFTER_CR, _ROWS, _BREAKS, _BROKEN, _COUNT = range(10)
"""Slots of the scanner's memory."""

_ORDINARY, _DELIMITER, _QUOTE, _FEED, _RETURN = range(5)
"""Kinds of bytes."""

_BLOCK: Final = 1 << 22

_WORDS = {
    _AFTER: "text after a closing quote in line {line:,}; a quote inside a quoted cell is written twice",
    _STRAY: "a quote inside an unquoted cell in line {line:,}; write the cell in quotes, and its quotes twice",
    _UNENDED: "a quoted cell without its closing quote in line {line:,}; if cells may hold line breaks, give "
    "multiline=True (--multiline)",
    _RAGGED: "a row with {cells:,} {noun} where its header has {width:,} (line {line:,})",
}
_TITLE = "; the first line is the header, with no title or comment above it"
_NEVER_CLOSED = "a quoted cell that never ends; a closing quote is missing"


@nb.njit(nogil=True, cache=True)
def _scan(data, place, kinds, multiline, memory):  # type: ignore[no-untyped-def]  # noqa: C901 - one loop
    """Reads bytes from ``place`` on, to their end or behind the first fault, which is left in ``memory``."""
    state, line, cells, width = memory[_STATE], memory[_LINE], memory[_CELLS], memory[_WIDTH]
    stop, fault = data.shape[0], 0
    carriage = place - 1 if memory[_AFTER_CR] == 1 else -2  # where the last carriage return stands
    while place < stop and fault == 0:
        kind = kinds[data[place]]
        place += 1
        if kind == _ORDINARY:
            if state == _CLOSED:
                fault = _AFTER
            elif state == _START:
                state = _BARE
            while place < stop and kinds[data[place]] == _ORDINARY:
                place += 1
        elif kind == _DELIMITER:
            if state < _QUOTED or state == _CLOSED:
                state = _START
                cells += 1
        elif kind == _QUOTE:
            if state == _QUOTED:
                state = _CLOSED
            elif state == _BARE:
                fault = _STRAY
            elif state != _SKIPPED:
                memory[_BROKEN] = memory[_BROKEN] if state == _CLOSED else 0
                state = _QUOTED
        else:
            if kind == _RETURN:
                carriage = place - 1
            elif carriage == place - 2:  # the second half of a line's end
                continue
            line += 1
            if state == _QUOTED and multiline:
                memory[_BREAKS] += 1 - memory[_BROKEN]
                memory[_BROKEN] = 1
                continue
            if state == _QUOTED:
                fault = _UNENDED
            elif state != _SKIPPED and (width == 1 or cells > 0 or state != _START):  # no empty line
                memory[_COUNT] = cells + 1
                width = cells + 1 if width == 0 else width
                if cells + 1 == width:
                    memory[_ROWS] += 1
                else:
                    fault = _RAGGED
            state, cells = _START, 0
    memory[_STATE], memory[_LINE], memory[_CELLS], memory[_WIDTH] = state, line, cells, width
    memory[_AFTER_CR], memory[_FAULT] = np.int64(carriage == place - 1), fault
    return place


@final
class Scanner:
    """The state between two blocks of one file."""

    def __init__(self, delimiter: str, multiline: bool, where: str) -> None:
        self._multiline, self._where = multiline, where
        self._kinds = np.zeros(256, np.uint8)
        self._kinds[[ord(delimiter), ord('"'), 10, 13]] = _DELIMITER, _QUOTE, _FEED, _RETURN
        self._memory = np.zeros(10, np.int64)
        self._memory[_LINE] = 1

    @property
    def rows(self) -> int:
        """Rows so far, without the header."""
        return max(int(self._memory[_ROWS]) - 1, 0)

    @property
    def breaks(self) -> int:
        """Cells with line breaks so far."""
        return int(self._memory[_BREAKS])

    def check(self, block: bytes) -> None:
        """Reads the next bytes, none at the end of the file; raises :class:`DataError` at the first fault."""
        for fault in self.faults(block):
            raise DataError(f"{self._where} has {fault}")

    def faults(self, block: bytes) -> Iterator[str]:
        """The same, going on behind every fault that does not make the rest of the file unreadable."""
        memory = self._memory
        if not block and memory[_STATE] == _QUOTED and self._multiline:
            yield _NEVER_CLOSED
            return
        if not block and memory[_STATE] == _START and not memory[_CELLS]:
            return
        data, place = np.frombuffer(block or b"\n", np.uint8), 0
        while True:
            place = _scan(data, place, self._kinds, self._multiline, memory)
            fault = int(memory[_FAULT])
            if not fault:
                return
            ended = fault in (_UNENDED, _RAGGED)  # the fault shows at the end of its line
            width = int(memory[_WIDTH])
            cells = int(memory[_COUNT])
            noun = "cell" if cells == 1 else "cells"
            text = _WORDS[fault].format(line=int(memory[_LINE]) - ended, cells=cells, noun=noun, width=width)
            yield text + (_TITLE if fault == _RAGGED and width == 1 else "")
            if not ended:
                memory[_STATE] = _SKIPPED


def check_header(where: str, line: str, names: Sequence[str], dialect: CsvFormat) -> None:
    """Raises :class:`DataError` for a first line that is none of names; no value in it is shown."""
    if line.startswith("\ufeff"):
        raise DataError(f"{where} starts with two byte order marks (U+FEFF), and one is the most: save it with one")
    if line.lower().lstrip('"').startswith("sep="):
        raise DataError(
            f"{where} starts with a line for spreadsheets, 'sep=', and the header stands below it: delete that line, "
            "and give the separator by --delimiter"
        )
    if dialect.delimiter is None and len(names) == 1 and (mark := next((m for m in "|^~\x1f" if m in line), "")):
        raise DataError(
            f"{where} starts with a header of one name with {mark!r}: give --delimiter '{mark}' if cells end there"
        )
    if are_cells(names):
        raise DataError(
            f"{where} starts with numbers where the header, the names of its columns, should be: its first line looks "
            "like a row. Write a line of names on top"
        )


@final
class CheckedRows(io.RawIOBase):
    """A CSV file as UTF-8, for a reader that asks for so many bytes: none arrives that the scanner has not passed.

    Raises:
        DataError: from ``read``, at the first fault.
        UnicodeError: from ``read``, at bytes that are no text of the encoding.
    """

    def __init__(self, raw: Any, dialect: CsvFormat, scanner: Scanner | None) -> None:
        self._raw, self._scanner, self._first = raw, scanner, True
        plain = dialect.encoding == UTF8
        self._decoder: Any = None if plain else codecs.getincrementaldecoder(dialect.encoding)()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while True:
            block: bytes = self._raw.read(_BLOCK if size < 0 else size)
            ended = not block
            if self._decoder is not None:
                block = self._decoder.decode(block, final=ended).encode("utf-8", "surrogatepass")
            if self._first and block:
                self._first = False
                block = block.removeprefix(codecs.BOM_UTF8)
            if self._scanner is not None and (block or ended):
                self._scanner.check(block)
                if ended and block:
                    self._scanner.check(b"")
            if block or ended:
                return block


@dataclass
class Structure:
    """What a file of rows is like, whatever its cells hold."""

    rows: int = 0  # that can be read
    breaks: int = 0  # cells with line breaks
    faults: list[str] = field(default_factory=list)  # the first few, in words; each names its line
    n_faults: int = 0  # how many there are


MOST_FAULTS = 10
"""Faults of a file that are named one by one."""


def structure_of(stream: CheckedRows, scanner: Scanner) -> Structure:
    """Reads a whole file and lists its faults; ``stream`` has no scanner of its own."""
    structure = Structure()
    while True:
        block = stream.read(_BLOCK)
        for fault in scanner.faults(block):
            structure.n_faults += 1
            structure.faults.extend([fault] if len(structure.faults) < MOST_FAULTS else [])
        if not block:
            break
    structure.rows, structure.breaks = scanner.rows, scanner.breaks
    return structure
