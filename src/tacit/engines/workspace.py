"""What blocks of rows share: threads, and room for what is kept of every row."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt


class Workspace:
    """Room in memory, and ``threads`` cores; None for all."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        """All threads but the one that asks."""
        return ThreadPoolExecutor(max(1, self.threads - 1))

    def zeros(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array of zeros for as long as it is referred to."""
        return np.zeros(shape, dtype)
