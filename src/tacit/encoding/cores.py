"""Work on stretches of rows, on as many cores as that is worth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

FEW_CELLS = 1 << 16
"""Not tuned, of the arithmetic: so few cells are encoded sooner than threads start."""


@contextmanager
def mapping(cells: int, threads: int | None) -> Iterator[Callable[..., Iterator[Any]]]:
    """``map``: by a pool of threads, or as it is where there is little to do. Use it up before the context ends."""
    if threads == 1 or cells <= FEW_CELLS:
        yield map
        return
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        yield pool.map
