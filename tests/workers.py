"""What the workers of one run do once, and not each: rewriting assertions, and compiling kernels.

A fresh copy of the sources has neither kept. Workers begin together and want the same: each would make all of it.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from numba.core import event


class InTurn(event.Listener):
    """Lets one worker compile at a time, so that the others find kept what it compiled.

    numba says that it is about to compile before it looks for a kernel that was kept, and that it is done after it has
    kept a new one. It says so of kernels within kernels, too, and from several threads: the first and the last count.
    """

    def __init__(self) -> None:
        self._file = os.open(__file__, os.O_RDONLY)  # all workers have this file, and kernels are kept in its tree
        self._guard, self._depth = threading.Lock(), 0

    def on_start(self, _: event.Event) -> None:
        with self._guard:
            if not self._depth:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            self._depth += 1

    def on_end(self, _: event.Event) -> None:
        with self._guard:
            self._depth -= 1
            if not self._depth:
                fcntl.flock(self._file, fcntl.LOCK_UN)


@cache
def take_turns() -> None:
    """Compiles in turn with the other workers of a run; asked twice, a process would wait for itself."""
    event.register("numba:compiler_lock", InTurn())


def import_share(session: pytest.Session, worker: int, workers: int) -> None:
    """Imports a share of the test files before all are collected: the other workers find them rewritten.

    What cannot be imported is left for the collection to say.
    """
    queries = [Path(str(argument).split("::")[0]).absolute() for argument in session.config.args]
    files = sorted({file for place in queries for file in ([place] if place.is_file() else place.rglob("test_*.py"))})
    for file in files[worker::workers]:
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(session.config.rootpath).with_suffix("").parts))
