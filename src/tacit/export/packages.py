"""Packages of the extra `export`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tacit.export.expression import ExportError


def needed(name: str) -> Any:
    """A module of a package that only exports need.

    Raises:
        ExportError: if it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ExportError(f"this export needs {package}: pip install 'tacit[export]'") from None
