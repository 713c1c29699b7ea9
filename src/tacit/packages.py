"""Packages that are imported when they are first used, and need not be there for models to predict."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any


@cache
def is_installed(package: str) -> bool:
    """Whether a package can be imported, without importing it."""
    return find_spec(package) is not None


class LazyModule:
    """A module whose names are looked up when they are used.

    Args:
        name: of the module.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    nw, pa, pc = LazyModule("narwhals"), LazyModule("pyarrow"), LazyModule("pyarrow.compute")

__all__ = ["LazyModule", "is_installed", "loops", "nw", "pa", "pc"]


def loops(module: str) -> Any:
    """The compiled loops of a module, or those of its namesake in numpy, which give the same bits, without numba.

    Args:
        module: its full name; that of the other begins with ``plain_``.
    """
    room, _, name = module.rpartition(".")
    return import_module(module if is_installed("numba") else f"{room}.plain_{name}")
