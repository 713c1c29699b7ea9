"""Work that is counted instead of timed: calls of functions, of which a loop over pairs makes some for each pair."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class _Ended(BaseException):
    """Not an Exception, which the work could catch."""


def within_calls(most: int, action: Callable[[], Result]) -> Result:
    """What an action returns; as soon as it has called more than ``most`` functions, Python's or not, it is ended."""
    calls = 0

    def count(_frame: object, event: str, _function: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls > most:
            raise _Ended

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return action()
    except _Ended:
        raise AssertionError(f"more than {most} functions were called") from None
    finally:
        sys.setprofile(before)


def peak_bytes(action: Callable[[], object]) -> int:
    """The most memory that an action holds at once."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
