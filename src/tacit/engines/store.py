"""Rows in compact form on disk: arrays by block, in one file that is mapped and not read into memory.

The file holds private rows. Nobody but its owner may read it (0600), a checksum of every block says whether it is as it
was written, and it is complete or it has no name.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tacit.engines.disk import ALIGNED, DiskFullError, is_full

BLOCK_ROWS = 1 << 20
"""Rows of a block."""

FORMAT = 1
"""Of the file."""

Arrays = list[npt.NDArray[Any]]


class StoreWriter:
    """Writes rows as they come to a new file, and cuts them into blocks of one size.

    ``like`` has an array without rows for each that is stored: they say dtype and width. ``place`` is the directory
    that is said to be full, by default that of the file.
    """

    def __init__(
        self, path: Path, like: Sequence[npt.NDArray[Any]], block_rows: int = BLOCK_ROWS, place: Path | None = None
    ) -> None:
        self._place, self._rows = place or path.parent, 0
        self._shapes = [(array.dtype, array.shape[1:]) for array in like]
        self._pending: Arrays = [np.empty((block_rows, *width), kind) for kind, width in self._shapes]
        self._filled, self._written = 0, 0
        self._blocks: list[dict[str, Any]] = []
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        del error, where
        try:
            if kind is None:
                self._finish()
        finally:
            self._file.close()

    def append(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Adds rows: arrays of one length, in the order of ``like``.

        Raises:
            DiskFullError: if there is no room.
        """
        start, rows = 0, len(arrays[0])
        self._rows += rows
        while start < rows:
            take = min(rows - start, len(self._pending[0]) - self._filled)
            for room, array in zip(self._pending, arrays, strict=True):
                room[self._filled : self._filled + take] = array[start : start + take]
            self._filled, start = self._filled + take, start + take
            if self._filled == len(self._pending[0]):
                self._flush()

    def _flush(self) -> None:
        digest = hashlib.blake2b(digest_size=16)
        offset = self._written
        for array in self._pending:
            data = _bytes(array[: self._filled])
            digest.update(data)
            self._write(data)
            self._write(bytes(-len(data) % ALIGNED))
        self._blocks.append({"rows": self._filled, "offset": offset, "digest": digest.hexdigest()})
        self._filled = 0

    def _write(self, data: memoryview | bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            if is_full(error):
                raise DiskFullError.of(self._place, len(data)) from None
            raise
        self._written += len(data)

    def _finish(self) -> None:
        if self._filled or not self._blocks:
            self._flush()
        arrays = [[kind.str, list(width)] for kind, width in self._shapes]
        facts = json.dumps({"format": FORMAT, "arrays": arrays, "blocks": self._blocks}).encode()
        self._write(facts)
        self._write(len(facts).to_bytes(8, "little"))
        self._file.flush()


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


class DamagedStoreError(ValueError):
    """A file that is not as it was written."""


class Store:
    """What a :class:`StoreWriter` has written; ``check`` compares checksums, which reads all of it.

    Raises:
        DamagedStoreError: if it is not as it was written.
    """

    def __init__(self, path: Path, check: bool = False) -> None:
        with path.open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            if size < 8:
                raise DamagedStoreError(f"{path} is no file of rows")
            # never written to; compiled loops tell arrays that could be from others, and are made for those
            self._map = mmap.mmap(file.fileno(), size)
        try:
            length = int.from_bytes(self._map[-8:], "little")
            facts = json.loads(self._map[-8 - length : -8])
            self._blocks, arrays = facts["blocks"], facts["arrays"]
        except (ValueError, KeyError, TypeError):
            raise DamagedStoreError(f"{path} is no file of rows") from None
        if facts.get("format") != FORMAT:
            raise DamagedStoreError(f"{path} has another format")
        self._shapes = [(np.dtype(kind), tuple(width)) for kind, width in arrays]
        if check and any(self._digest(block) != block["digest"] for block in self._blocks):
            raise DamagedStoreError(f"{path} is not as it was written")

    def blocks(self) -> Iterator[Arrays]:
        """The arrays of every block, mapped."""
        return (self._arrays(block) for block in self._blocks)

    def _arrays(self, block: dict[str, Any]) -> Arrays:
        offset, found = block["offset"], []
        for kind, width in self._shapes:
            count = block["rows"] * int(np.prod(width, dtype=np.int64))
            found.append(np.frombuffer(self._map, kind, count, offset).reshape((block["rows"], *width)))
            offset += -(-count * kind.itemsize // ALIGNED) * ALIGNED
        return found

    def _digest(self, block: dict[str, Any]) -> str:
        digest = hashlib.blake2b(digest_size=16)
        try:
            for array in self._arrays(block):
                digest.update(_bytes(array))
        except (ValueError, TypeError):  # it ends before its last block does
            return ""
        return digest.hexdigest()
