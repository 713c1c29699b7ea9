"""Rows in compact form on disk: arrays by block, in one file that is mapped and not read into memory.

The file holds private rows. It has no name while it is written, so that nothing stays of a process that is killed; one
that is to stay gets its name when it is complete. Nobody but its owner may read it (0600), and a checksum of every
block says whether it is as it was written. Room for what a fit keeps of every row is in mapped files without names,
too; their space is taken when they are made: on a full disk that is an error, where a write through a mapping would be
the end of the process.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from tacit.engines.rows import Workspace
from tacit.errors import TacitError

FIRST_SLAB, LARGEST_SLAB = 1 << 20, 1 << 28
"""Bytes of the first file, and of the largest: each is twice as long as the one before."""

Range = tuple[int, int, int]
"""Of which file, from which byte on, how many."""

ALIGNED = 64
"""Arrays begin at multiples of this many bytes."""


class DiskFullError(TacitError):
    """There is no room for what a fit keeps of the rows."""

    usual = "Nothing was spent"

    @classmethod
    def of(cls, directory: Path, size: int) -> DiskFullError:
        shortfall = f"{size / 2**20:,.0f} MiB more" if size >= 2**20 else f"{size:,} bytes more"
        return cls(f"the disk of {directory} is full: the rows need {shortfall}; free some, or name another directory")


class DirectoryError(TacitError):
    """The directory for what a fit keeps of the rows cannot be used."""

    usual = "Nothing was spent"


def is_full(error: OSError) -> bool:
    """Whether an error of the operating system is about space."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DiskWorkspace(Workspace):
    """Room in files of a directory, and all cores, or so many."""

    def __init__(self, directory: Path, threads: int | None = None) -> None:
        super().__init__(threads)
        self._directory = directory
        self._slabs: list[mmap.mmap] = []
        self._free: list[Range] = []
        self._returned: deque[Range] = deque()  # appended to in whatever thread the last reference is dropped

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        kind = np.dtype(dtype)
        count = prod(shape) if isinstance(shape, tuple) else shape
        size = -(-count * kind.itemsize // ALIGNED) * ALIGNED
        if size == 0:
            return np.zeros(shape, kind)
        slab, start = self._take(size)
        flat = np.frombuffer(self._slabs[slab], kind, count, start)
        # numpy makes a view of the file for every array, which all views of that array refer to
        weakref.finalize(flat.base, self._returned.append, (slab, start, size)).atexit = False
        flat.fill(0)
        return flat.reshape(shape)

    def _take(self, size: int) -> tuple[int, int]:
        while self._returned:
            self._give_back(*self._returned.popleft())
        for place, (slab, start, free) in enumerate(self._free):
            if free >= size:
                self._free[place] = (slab, start + size, free - size)
                return slab, start
        length = max(size, min(FIRST_SLAB << len(self._slabs), LARGEST_SLAB))
        self._slabs.append(self._mapped(length))
        self._free.append((len(self._slabs) - 1, size, length - size))
        return len(self._slabs) - 1, 0

    def _mapped(self, length: int) -> mmap.mmap:
        with tempfile.TemporaryFile(dir=self._directory) as file:
            try:
                os.posix_fallocate(file.fileno(), 0, length)
            except OSError as error:
                if is_full(error):
                    raise DiskFullError.of(self._directory, length) from None
                raise
            return mmap.mmap(file.fileno(), length)

    def _give_back(self, slab: int, start: int, size: int) -> None:
        """Joins a range with the free ones beside it."""
        files = []
        for other, low, free in self._free:
            if other == slab and low + free == start:
                start, size = low, size + free
            elif other == slab and start + size == low:
                size += free
            elif free:
                files.append((other, low, free))
        self._free = [*files, (slab, start, size)]


BLOCK_ROWS = 1 << 20
"""Rows of a block."""

FORMAT = 1
"""Of the file."""

Arrays = list[npt.NDArray[Any]]


class StoreWriter:
    """Writes rows as they come to an empty file, and cuts them into blocks of one size.

    ``like`` has an array without rows for each that is stored: they say dtype and width. ``place`` is the directory
    that is said to be full.
    """

    def __init__(
        self, file: IO[bytes], like: Sequence[npt.NDArray[Any]], place: Path, block_rows: int = BLOCK_ROWS
    ) -> None:
        self._file, self._place, self._rows = file, place, 0
        self._shapes = [(array.dtype, array.shape[1:]) for array in like]
        self._pending: Arrays = [np.empty((block_rows, *width), kind) for kind, width in self._shapes]
        self._filled, self._written = 0, 0
        self._blocks: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        del error, where
        if kind is None:
            self._finish()

    def append(self, arrays: Sequence[npt.NDArray[Any]]) -> None:
        """Adds rows: arrays of one length, in the order of ``like``."""
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
    """What a :class:`StoreWriter` has written, mapped; ``check`` compares checksums, which reads all of it."""

    def __init__(self, file: IO[bytes], check: bool = False) -> None:
        path, size = file.name, os.fstat(file.fileno()).st_size
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
        return (self._arrays(block) for block in self._blocks)

    def _arrays(self, block: dict[str, Any]) -> Arrays:
        offset, arrays = block["offset"], []
        for kind, width in self._shapes:
            count = block["rows"] * int(np.prod(width, dtype=np.int64))
            arrays.append(np.frombuffer(self._map, kind, count, offset).reshape((block["rows"], *width)))
            offset += -(-count * kind.itemsize // ALIGNED) * ALIGNED
        return arrays

    def _digest(self, block: dict[str, Any]) -> str:
        digest = hashlib.blake2b(digest_size=16)
        try:
            for array in self._arrays(block):
                digest.update(_bytes(array))
        except (ValueError, TypeError):  # it ends before its last block does
            return ""
        return digest.hexdigest()
