"""What a room says to its callers in numbers: arguments where nothing is said, and how far things may go."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from inspect import signature
from typing import Any


def stated(room: str, place: str) -> Any:
    """What stands at ``module.name`` or ``module.Class.name`` of a room."""
    module, _, names = place.partition(":")
    return reduce(getattr, names.split("."), import_module(f"tacit.{room}.{module}"))


def check_defaults(room: str, place: str, expected: dict[str, Any]) -> None:
    """Compares the defaults that are named, and their types: 1 is not True."""
    parameters = signature(stated(room, place)).parameters
    results = {name: parameters[name].default for name in expected}
    assert results == expected
    assert {name: type(value) for name, value in results.items()} == {n: type(v) for n, v in expected.items()}
