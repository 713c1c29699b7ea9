"""Room on disk: what is kept of every row lies in mapped files, so that memory does not grow with the rows.

The files have no names and are gone with the last array that refers to them, however the process ends. Their space is
taken when they are made: on a full disk that is an error, where a write through a mapping would be the end of the
process.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
import weakref
from collections import deque
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.engines.workspace import Workspace
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
        """The error where so many bytes did not fit."""
        wanted = f"{size / 2**20:,.0f} MiB more" if size >= 2**20 else f"{size:,} bytes more"
        return cls(f"the disk of {directory} is full: the rows need {wanted}; free some, or name another directory")


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
        kept = []
        for other, low, free in self._free:
            if other == slab and low + free == start:
                start, size = low, size + free
            elif other == slab and start + size == low:
                size += free
            elif free:
                kept.append((other, low, free))
        self._free = [*kept, (slab, start, size)]
