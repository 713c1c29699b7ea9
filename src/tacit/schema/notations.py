"""Quantities that a sample writes in a notation of its own, and the questions about them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from tacit.schema.alike import without_hidden
from tacit.schema.csv_format import POINT
from tacit.schema.spellings import ABOUT, CORE, DASHES, FEW, GAP, mostly, spelled, strays_among
from tacit.schema.values import MINUS, parse_number

_SIGN = r"[^\w\s.,+:/<>=~()-]{0,2}"
_NEGATIVE = re.compile(rf"^({_SIGN}){GAP}*\(({_SIGN}{GAP}*{CORE}{GAP}*{_SIGN})\)({_SIGN})$")
_MINUS_BEHIND = re.compile(rf"^({_SIGN}{GAP}*{CORE}){GAP}*-$")

_DIGITS = {"\u066b": POINT, "\u066c": "", "\u00b7": POINT}
"""Points and groups of Arabic numbers, and the raised point of British ones."""

_REWRITTEN = (
    (re.compile(r'^(?:="(.*)"|[\'\u2019](.*))$'), r"\1\2"),
    (re.compile(rf"^(?!{MINUS})[{DASHES}](?=\d)"), "-"),
    (re.compile(r"^([+-]?\d+\.?\d*)[dD]([+-]?\d{1,3})$"), r"\1e\2"),
    (re.compile(r"(?<=\d)_(?=\d{3}(?!\d))"), ""),
    (re.compile(r"^([+-]?\d+\.?\d*) ?(?:[*\u2020\u2021\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+|\[\w+\])$"), r"\1"),
)

_YEAR, _WORD = r"((19|20)\d\d)", r"[^\W\d_]{3,10}\.?"
_ORDINAL, _OF = r"(\.|[\u00ba\u00aa]|er|st|nd|rd|th)", r"(de|del|di|d['\u2019]|of|den)"
_OTHER_MONTH = re.compile(
    rf"({_WORD},? )?\d{{1,2}}({_ORDINAL})?[-. /]({_OF} ?)?{_WORD}[-. /,]{{1,2}}({_OF} )?({_YEAR}|\d\d)( \u0433\.?)?"
    rf"|{_WORD} \d{{1,2}}{_ORDINAL},? {_YEAR}|{_YEAR}[-. /]{{1,2}}{_WORD}[-. /]\d{{1,2}}\.?|{_WORD}[-. /]{_YEAR}"
    rf"|{_YEAR}\ub144? ?(-[01]\d)?(-[0-3]\d)?"
    rf"|\w{{0,2}}\d{{1,4}}[\u5e74\ub144] ?\d{{1,2}}[\u6708\uc6d4]( ?\d{{1,2}}[\u65e5\uc77c])?"
    rf"|\d{{1,2}}[A-Za-z]{{3}}{_YEAR}:[\d:.]+|{_WORD}\.? {_WORD} +\d{{1,2}} [\d:]+ .*{_YEAR}"
)
_LAKHS = re.compile(rf"[+-]?\d{{1,2}}(,\d{{2}})+,\d{{3}}(\.\d+)?|[+-]?\d{{1,3}}({GAP}\d{{3}})+,\d+")
_UNITS = (
    "feet|foot|ft|inch(?:es)?|in|yd|hours?|hrs?|h|min(?:ute)?s?|m|sec(?:ond)?s?|s|days?|d|weeks?|wks?|w|"
    "months?|mos?|mths?|years?|yrs?|y|lbs?|st|oz|kg|cm|mm"
)
_PART = rf"\d+(?:\.\d+)? ?(?:['\u2019\u2032\u00b4\"\u201d\u2033\u00b0]|(?:{_UNITS})(?![a-z])\.?),?"
_SEVERAL = re.compile(
    rf"-?(?:{_PART}[ -]?)+(?:{_PART}|\d{{1,2}}(?:\.\d+)?)(?: ?[NSEW])?|\d+ days? [\d:.]+"
    r"|P(?=T?\d)(?:\d+[YMWD])*T?(?:\d+[HMS])*",
    re.IGNORECASE,
)

_NUMBER = r"\d{1,6}(\.\d+)?"
_TOGETHER = re.compile(
    rf"[\[(]?-?{_NUMBER}(\s?[/:+\u00b1\u00d7x;(\[]\s?-?{_NUMBER}(-{_NUMBER})?[)\]]?){{1,4}}( ?[a-zA-Z%/]{{1,6}})?[)\]]?"
    r"|-?\d+\.\d+[,;]\s?-?\d+\.\d+"
)

_COMPOUND = (
    (_SEVERAL, "has {} several units, such as feet and inches? Then write one number in one unit"),
    (_OTHER_MONTH, "is {} a date? Then write it with numbers alone, such as 1999-10-07"),
    (_LAKHS, "is {} a number? Then write it without commas and blanks"),
    (ABOUT, "does {} say about how much? Then write the number alone"),
    (
        re.compile(r"\d{1,3}:[0-5]\d(:[0-5]\d)?([.,]\d+)?( ?([ap]\.?m\.?|uhr|h))?", re.IGNORECASE),
        "is {} a time? Then write its hours as a number, such as 8.5",
    ),
    (re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,8}"), "is {} a hexadecimal number? Then write it in decimal digits"),
    (
        re.compile(r"\d{1,4}/\d{1,4}"),
        "is {} a fraction, a day, or two numbers? Then write a number, a date, or two columns",
    ),
    (_TOGETHER, "are there several numbers in {}? Then make a column of each"),
)
"""What quantities in other notations look like, and the question about them."""

_AND_WORDS = re.compile(r"([^\w\s]? ?\d[\d.,]*)( ?[^\s\d.,\-/:+][^\d]*)")
"""``7.3 % p.a.``"""

_MIXED = re.compile(
    r"(?P<whole>\d{1,5})? ?(?P<sign>[\u00bc-\u00be\u2150-\u215e])"
    r"|(?P<units>\d{1,5}) (?P<above>\d{1,2})/(?P<below>\d{1,2})"
)
"""``1\u00bd`` and ``4 1/4``."""


def rewritten(text: str) -> str:
    """A text as it would stand for a number: ``(104)`` of accountants, digits of other scripts, ``1.5D+02``.

    What keeps others from reading it goes: invisible characters, what Excel writes around texts, marks of notes.
    """
    plain = "".join(_DIGITS.get(c) or str(unicodedata.decimal(c, c)) for c in without_hidden(text))
    plain = _MINUS_BEHIND.sub(r"-\1", _NEGATIVE.sub(r"-\1\2\3", plain))
    for pattern, meaning in _REWRITTEN:
        plain = pattern.sub(meaning, plain)
    mixed = _MIXED.fullmatch(plain)
    if mixed is None or mixed["below"] == "0":
        return plain
    part = unicodedata.numeric(mixed["sign"]) if mixed["sign"] else int(mixed["above"]) / int(mixed["below"])
    return f"{int(mixed['whole'] or mixed['units'] or 0) + part:.6g}"


def rewriting(counts: Mapping[str, int], decimal: str, thousands: str) -> str:
    """The question whether texts mean the numbers that :func:`rewritten` makes of them; empty if there is none."""
    meanings = {text: text if parse_number(text) is not None else rewritten(text) for text in counts}
    text = next((text for text, meaning in meanings.items() if text != meaning), "")
    if not text or spelled({meanings[text]: count for text, count in counts.items()}, decimal, thousands) is None:
        return ""
    return f"does {text!r} mean {meanings[text]!r}? Then write it so"


def compound(counts: Mapping[str, int]) -> str:
    """A question about texts that are quantities in another notation: ``08:30``, ``0x1f``, ``3/17``; empty if none."""
    numbers = {text for text in counts if parse_number(text) is not None}
    for pattern, question in _COMPOUND:
        fitting = {text for text in counts if pattern.fullmatch(text)}
        if fitting and mostly(counts, (fitting | numbers).__contains__):
            example = next(text for text in counts if text in fitting)
            return question.format(repr(example))
    return ""


def beside(counts: Mapping[str, int]) -> str:
    """A question about texts that are numbers but for words beside many, or all, of them; empty if there is none."""
    numbers = {text for text in counts if parse_number(text) is not None}
    others = {text: count for text, count in counts.items() if text not in numbers}
    if len(numbers) > FEW and mostly(counts, numbers.__contains__):
        return f"are all of these numbers? Most cells are, but not {strays_among(others)}: write numbers alone"
    return _with_words(others)


def _with_words(counts: Mapping[str, int]) -> str:
    """The question about many numbers that have the same words behind them; empty if there is none."""
    parts = {text: match for text in counts if (match := _AND_WORDS.fullmatch(text))}
    usual = Counter[str]()
    for text, match in parts.items():
        usual[match[2]] += counts[text]
    words, n_cells = max(usual.items(), key=lambda pair: pair[1], default=("", 0))
    fitting = [text for text, match in parts.items() if match[2] == words]
    if len(fitting) <= FEW or 2 * n_cells <= sum(counts.values()):
        return ""
    return f"is {fitting[0]!r} a number and its unit? Then write the number alone"
