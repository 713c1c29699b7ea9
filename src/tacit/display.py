"""How objects show themselves: short in text, as a card in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

MOST_CHARACTERS = 300
"""No text of an object is longer."""


class Shown:
    """An object that a notebook shows as the report would: see :mod:`tacit.report.cards`."""

    def _repr_html_(self) -> str:
        # the drawings are in a room above, which nothing but a notebook needs
        page: str = import_module("tacit.report.cards").html_of(self)
        return page


class Brief:
    """A dataclass of long parts; its text says how long they are. To be used with ``repr=False``."""

    def __repr__(self) -> str:
        """At most :data:`MOST_CHARACTERS` characters."""
        parts = ", ".join(f"{each.name}={brief(getattr(self, each.name))}" for each in fields(self) if each.repr)  # type: ignore[arg-type]
        return shortened(f"{type(self).__name__}({parts})")


def shortened(text: str) -> str:
    """A text without its end where it is too long."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 4]}...)"


def brief(value: Any) -> str:
    """A value in few characters: of long ones their shape or length."""
    shape = getattr(value, "shape", None)
    if shape:
        return f"<{' x '.join(map(str, shape))} numbers>"
    text = repr(value)
    if len(text) <= 60:
        return text
    if isinstance(value, Mapping):
        return f"<{len(value)}: {', '.join(map(str, value))[:56]}...>"
    if hasattr(value, "__len__") and not isinstance(value, str):
        return f"<{len(value)} of {type(value).__name__}>"
    return f"<{type(value).__name__}>" if not isinstance(value, str) else f"{text[:56]}...'"
