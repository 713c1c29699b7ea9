"""Packages of the extra `export`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tacit.errors import missing


def needed(name: str) -> Any:
    """A module of a package that only exports need.

    Raises:
        TacitError: if it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise missing(package, "export") from None
