"""Texts that people take for one, and characters that nobody sees."""

from __future__ import annotations

import html
import re
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
    visible = (c for c in composed if c.isspace() or unicodedata.category(c) not in _INVISIBLE)
    return " ".join("".join(visible).split())


def spelled_apart(texts: Iterable[str]) -> str:
    """A question about texts that look alike, or hold what nobody sees; empty if there are none."""
    alike: dict[str, str] = {}
    for text in texts:
        same = alike.setdefault(_loosely(text), text)
        if same != text:
            shown = ascii if len({_visible(each.translate(_LOOKALIKES)) for each in (same, text)}) == 1 else repr
            return f"are {shown(same)} and {shown(text)} one value? Then write them the same way"
    garbled = next(((text, right) for text in alike.values() if (right := _mended(text)) != text), None)
    if garbled is not None:
        return f"does {garbled[0]!r} mean {garbled[1]!r}? Then write it so, or give --encoding"
    hidden = next((text for text in alike.values() if any(map(_is_hidden, text))), "")
    return f"has {hidden!r} an invisible character by mistake? Then write it without" if hidden else ""


_LOOKALIKES = str.maketrans("АВЕКМНОРСТХаеорсухІіЈјЅѕΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTXaeopcyxIiJjSsABEZHIKMNOPTYXo")
"""Cyrillic and Greek letters that look as Latin ones do."""


def _loosely(text: str) -> str:
    """A text without case, quotes around it, a point at its end, and what parts its words."""
    plain = _visible(unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)).casefold()
    bare = plain.strip("\"'").rstrip(".,;") or plain
    return _BETWEEN_WORDS.sub(" ", bare)


_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_])[ _-]+(?=[^\W\d_])")


def _mended(text: str) -> str:
    """A text as it was before it was read in a wrong encoding, or written for a web page."""
    plain = html.unescape(text) if re.search(r"&(#\d+|[a-zA-Z]{2,8});", text) else text
    try:
        return plain if plain.isascii() else plain.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return plain


def without_hidden(text: str) -> str:
    """A text without characters that nobody sees and no script needs."""
    return "".join(c for c in text if not _is_hidden(c))


def _is_hidden(character: str) -> bool:
    """Whether nobody sees a character, and it is no joiner, which Persian and emoji are written with."""
    return unicodedata.category(character) in _INVISIBLE and not character.isspace() and character not in "\u200c\u200d"
