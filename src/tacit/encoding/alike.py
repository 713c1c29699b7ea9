"""Why a text is none of the declared ones although it looks like one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_INVISIBLE = ("Cf", "Cc")
"""Unicode categories of characters that nobody sees: joiners, soft hyphens, directions, controls."""

_SELECTORS = range(0xFE00, 0xFE10)
"""Variation selectors, which nobody sees either."""


def difference(value: str, declared: Iterable[str]) -> str:
    """In what alone a text differs from a declared one, and from which; empty where none of them looks like it.

    The differences are tried in this order: Unicode form (a composed ``ö`` against ``o`` with a combining mark),
    invisible characters and unusual blanks, case, look-alikes of compatibility (full-width letters, ligatures).
    """
    texts = [text.strip() for text in declared]
    for what, same in (
        ("in Unicode form (composed or decomposed)", _composed),
        ("in invisible characters or blanks", _visible),
        ("in case", lambda text: _visible(text).casefold()),
        ("in compatibility characters", lambda text: _visible(unicodedata.normalize("NFKC", text)).casefold()),
    ):
        form = same(value.strip())
        for text in texts:
            if text != value.strip() and same(text) == form and form:
                return f"{what} from {text!r}"
    return ""


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _visible(text: str) -> str:
    """A text composed, without invisible characters, every run of blanks as one."""
    composed = "".join(c for c in _composed(text) if ord(c) not in _SELECTORS)
    shown = (c for c in composed if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    return " ".join("".join(shown).split())
