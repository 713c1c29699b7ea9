"""How the numbers and dates of a sample are written, and what is doubtful about it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tacit.schema.alike import without_hidden
from tacit.schema.cell_format import PLAIN_CELLS, THOUSANDS, CellFormat
from tacit.schema.csv_format import COMMA, POINT
from tacit.schema.values import MINUS, parse_number

MARKS = frozenset(
    ("na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", "?", ".", "unknown", "missing", "#n/a")
)
"""Texts that say that a value is missing."""

_WORDS = """
na nan null none nil unknown missing unk blank empty void n.d. n.r. k.a. tbd tba dk refused declined notavailable
notapplicable
notrecorded notknown notstated dontknow noanswer nodata novalue prefernottosay undefined value ref div0 name num error
inf infinity
"""
WORDS_FOR_MISSING = frozenset("".join(filter(str.isalnum, word)) for word in _WORDS.split())
"""Letters and digits of texts in a column of numbers that are surely no names of people."""

_CODES = "USD EUR GBP CHF SEK NOK DKK PLN CZK HUF JPY CNY INR BRL CAD AUD NZD ZAR MXN KR RP RS"
CURRENCIES = frozenset(_CODES.split())
"""Words for currencies beside their signs."""

NUMBERS_PER_STRAY = 10
"""Texts with so many different numbers per other text, or more, are numbers: the others say what is missing."""

_GAP = "[ \u00a0\u2009\u202f]"
_CORE = rf"\d(?:[\d.,'\u2019]|{_GAP}(?=\d))*"
_UNIT = r"[^\s\d.,+:/<>=~\u00bc-\u00be\u2150-\u215f-]"
_WITH_SYMBOL = re.compile(
    rf"[+-]?{_GAP}*(?P<before>{_UNIT}{{0,6}}){_GAP}*[+-]?{_CORE}{_GAP}*(?P<after>{_UNIT}[^\s\d]{{0,7}})?"
)

_SIGN = r"[^\w\s.,+:/<>=~()-]{0,2}"
_NEGATIVE = re.compile(rf"^({_SIGN}){_GAP}*\(({_SIGN}{_GAP}*{_CORE}{_GAP}*{_SIGN})\)({_SIGN})$")
_MINUS_BEHIND = re.compile(rf"^({_SIGN}{_GAP}*{_CORE}){_GAP}*-$")

_DIGITS = {"\u066b": POINT, "\u066c": "", "\u00b7": POINT}
"""Points and groups of Arabic numbers, and the raised point of British ones."""

_REWRITTEN = (
    (re.compile(r'^(?:="(.*)"|[\'\u2019](.*))$'), r"\1\2"),
    (re.compile(r"^([+-]?\d+\.?\d*)[dD]([+-]?\d{1,3})$"), r"\1e\2"),
    (re.compile(r"(?<=\d)_(?=\d{3}(?!\d))"), ""),
    (re.compile(r"^([+-]?\d+\.?\d*) ?(?:[*\u2020\u2021]+|\[\w+\])$"), r"\1"),
)

_YEAR, _WORD = r"((19|20)\d\d)", r"[^\W\d_]{3,10}\.?"
_OTHER_MONTH = re.compile(
    rf"\d{{1,2}}\.?[-. /]{_WORD}[-. /]({_YEAR}|\d\d)|{_YEAR}[-. /]{_WORD}[-. /]\d{{1,2}}|{_WORD}[-. /]{_YEAR}"
)
_LAKHS = re.compile(r"[+-]?\d{1,2}(,\d{2})+,\d{3}(\.\d+)?")
_ABOUT = re.compile(
    r"(?i:circa|ca\.?|about|approx\.?|rund|etwa)\s?\d{1,6}([.,]\d+)?|[<>=~\u2248\u2264\u2265]{1,2}\s*\d{1,6}([.,]\d+)?|\d{1,3}\+"
)

_UNITS = (
    "feet|foot|ft|inch(?:es)?|in|yd|hours?|hrs?|h|min(?:ute)?s?|m|sec(?:ond)?s?|s|days?|d|weeks?|wks?|w|"
    "months?|mos?|mths?|years?|yrs?|y|lbs?|st|oz|kg|cm|mm"
)
_PART = rf"\d+(?:\.\d+)? ?(?:['\u2019\u2032\u00b4\"\u201d\u2033\u00b0]|(?:{_UNITS})(?![a-z])\.?),?"
_SEVERAL = re.compile(
    rf"-?(?:{_PART} ?)+(?:{_PART}|\d{{1,2}}(?:\.\d+)?)(?: ?[NSEW])?|P(?=T?\d)(?:\d+[YMWD])*T?(?:\d+[HMS])*",
    re.IGNORECASE,
)

_COMPOUND = (
    (_SEVERAL, "has {} several units, such as feet and inches? Then write one number in one unit"),
    (_OTHER_MONTH, "is {} a date? Then write it with numbers alone, such as 1999-10-07"),
    (_LAKHS, "is {} a number? Then write it without commas"),
    (_ABOUT, "does {} say about how much? Then write the number alone"),
    (
        re.compile(r"([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d)?"),
        "is {} a time of the day? Then write its hours as a number, such as 8.5",
    ),
    (re.compile(r"[+-]?0[xX][0-9a-fA-F]{1,8}"), "is {} a hexadecimal number? Then write it in decimal digits"),
    (
        re.compile(r"\d{1,4}/\d{1,4}"),
        "is {} a fraction, a day, or two numbers? Then write a number, a date, or two columns",
    ),
)
"""What quantities in other notations look like, and the question about them."""

FEW = 20
"""Distinct texts that are left categories although they have numbers in them."""

LONGEST_UNIT = 2
"""Letters of units that are printed in a question: ``kg``. Longer ones may be names."""

MOST_MARKS = 4
"""Different reasons for missing, such as 96 to 99, at one end of a column."""

MOST_SHOWN = 3
"""Marks for missing that a note lists."""


@final
@dataclass(frozen=True)
class Spelled:
    """Numbers of a column of texts.

    Attributes:
        numbers: per text that spells one.
        cell_format: how.
        note: what was decided or is doubtful; a doubt that nothing decides leaves ``numbers`` empty.
    """

    numbers: Mapping[str, float]
    cell_format: CellFormat = PLAIN_CELLS
    note: str = ""


def spelled(counts: Mapping[str, int], decimal: str = POINT, thousands: str = "") -> Spelled | None:
    """How the texts of a column spell numbers; None if they are no numbers.

    Args:
        counts: per distinct text, how many cells hold it.
        decimal: what numbers have before their fractions.
        thousands: what somebody said to stand between groups of three digits.
    """
    plain = {text: number for text in counts if (number := plain_number_of(text, decimal)) is not None}
    if _are_numbers(counts, plain) and not (thousands and any(thousands in text for text in counts)):
        doubt = _points_of_thousands(plain) if decimal == POINT and not thousands else ""
        minus = f"{MINUS!r} is read as a minus" if any(MINUS in text for text in plain) else ""
        return Spelled(plain, note=doubt or minus)
    if _mostly(counts, lambda text: plain_number_of(text, COMMA) is not None) and decimal == POINT and not thousands:
        return _commas(counts)
    return _with_symbol(counts, thousands)


def plain_number_of(text: str, decimal: str) -> float | None:
    """The number that a text spells where numbers have such a mark before their fractions, or None."""
    if decimal == COMMA:
        text = "" if POINT in text else text.replace(COMMA, POINT)
    number = parse_number(text)
    return None if number is None else float(number)


def _are_numbers(counts: Mapping[str, int], numbers: Mapping[str, float]) -> bool:
    """Whether the texts that spell no numbers are few, or say that a value is missing."""
    strays = [text for text in counts if text not in numbers]
    cells = sum(counts[text] for text in numbers)
    marks = all(text.casefold() in MARKS for text in strays) and 2 * cells > sum(counts.values())
    return bool(numbers) and (marks or NUMBERS_PER_STRAY * len(strays) <= len(numbers))


def _mostly(counts: Mapping[str, int], holds: Callable[[str], object]) -> bool:
    """Whether something is said of more than half of the cells."""
    return 2 * sum(count for text, count in counts.items() if holds(text)) > sum(counts.values())


def _commas(counts: Mapping[str, int]) -> Spelled | None:
    """Numbers with one comma: of thousands, where all agree and something shows it, or before fractions."""
    parted = [text.lstrip("+-") for text in counts if COMMA in text and plain_number_of(text, COMMA) is not None]
    groups = all(re.fullmatch(r"[1-9]\d{0,2},\d{3}", text) for text in parted)
    example = next(text for text in counts if COMMA in text) if parted else ""
    if not parted:
        return None
    if not groups:
        return Spelled({}, note=f"ignored: do numbers such as {example!r} have a decimal comma? Then give --decimal ,")
    whole = [number for text in counts if (number := parse_number(text)) is not None]
    if whole and all(isinstance(number, int) and abs(number) < 1000 for number in whole):
        return _under(counts, CellFormat(thousands=COMMA))
    return Spelled(
        {},
        note=f"ignored: give --thousands , if {example!r} means {example.replace(COMMA, '')}, and --decimal , if it "
        f"means {example.replace(COMMA, POINT)}",
    )


def _points_of_thousands(plain: Mapping[str, float]) -> str:
    """A question where all fractions have three digits, and all numbers without one are below a thousand."""
    parted = [text for text in plain if POINT in text]
    groups = all(re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) for text in parted)
    whole = [number for text, number in plain.items() if POINT not in text]
    if len(parted) < 3 or not groups or not whole or max(map(abs, whole)) >= 1000:
        return ""
    return f"does {parted[0]!r} mean {parted[0].replace(POINT, '')}? Then give --thousands ."


def _with_symbol(counts: Mapping[str, int], thousands: str) -> Spelled | None:
    """Numbers with a symbol, with thousands, or with both."""
    matches = {text: match for text in counts if (match := _WITH_SYMBOL.fullmatch(text.replace(MINUS, "-")))}
    if not _mostly(counts, matches.__contains__):
        return None
    pairs: Counter[tuple[str, str]] = Counter()
    for text, match in matches.items():
        pairs[(match["before"], match["after"] or "")] += counts[text]
    units = [pair for pair, _ in pairs.most_common() if any(pair)]
    if len(units) > FEW or (units and (2 * pairs[("", "")] > sum(counts.values()) or not _is_unit(units[0]))):
        return None
    symbol = "".join(units[0]) if units else ""
    if not units or not all(units[0]):
        marks = [thousands] if thousands else ["", *THOUSANDS]
        choices = [choice for mark in marks if (choice := _under(counts, CellFormat(symbol, mark)))]
        if choices:
            points = _is_money(symbol) and _all_in_threes(counts)
            usual = POINT if points else ""
            return max(choices, key=lambda choice: (len(choice.numbers), choice.cell_format.thousands == usual))
    if not units or len(counts) <= FEW:
        return None
    first = {(match["before"], match["after"] or ""): text for text, match in reversed(matches.items())}
    examples = [repr(first[unit]) for unit in units[:2]]
    is_name = max(sum(map(str.isalpha, "".join(unit))) for unit in units[:2]) > LONGEST_UNIT  # a username: 12dirk
    examples_text = "with words beside them" if is_name else f"such as {' and '.join(examples)}"
    return Spelled({}, note=f"ignored: rewrite numbers {examples_text} in one unit, without it")


def _is_money(symbol: str) -> bool:
    """Whether a symbol is that of a currency, whose amounts have no fractions of three digits."""
    return symbol.upper() in CURRENCIES or any(unicodedata.category(character) == "Sc" for character in symbol)


def _all_in_threes(texts: Iterable[str]) -> bool:
    """Whether every number with a point has three digits behind each."""
    parted = [text for text in texts if POINT in text]
    return len(parted) > 2 and all(re.search(r"(?<!\d)[1-9]\d{0,2}(\.\d{3})+(?!\d)", text) for text in parted)


def _is_unit(pair: tuple[str, str]) -> bool:
    """Whether what stands beside numbers is a unit, and no letter of a code (``E119``) or name (``@ann7``)."""
    before, after = pair
    letters = "".join(filter(str.isalpha, before))
    return bool(after) or not letters or _is_money(before) or (len(letters) > 1 and letters.isupper())


def are_codes(counts: Mapping[str, int]) -> bool:
    """Whether most cells are capitals, not those of a currency, right before digits: ``DE941443398``, ``NY5521``."""
    matches = {text: re.fullmatch(r"([A-Z]{2,6})\d{3,}", text) for text in counts}
    return _mostly(counts, lambda text: (match := matches[text]) and match[1] not in CURRENCIES)


def _under(counts: Mapping[str, int], cell_format: CellFormat) -> Spelled | None:
    """The numbers that a format reads; None unless the others are few."""
    numbers = {text: number for text in counts if (number := cell_format.number_of(text)) is not None}
    if not _are_numbers(counts, numbers):
        return None
    parts = [f" without {cell_format.symbol!r}"] if cell_format.symbol else []
    if cell_format.thousands:
        grouped = next((t for t in numbers if re.search(rf"\d{THOUSANDS[cell_format.thousands]}\d{{3}}", t)), "")
        parts += [f", {grouped!r} as {numbers[grouped]:.12g}"] if grouped else []
    return Spelled(numbers, cell_format, f"read as numbers{''.join(parts)}: is that right?" if parts else "")


def rewritten(text: str) -> str:
    """A text as it would stand for a number: ``(104)`` of accountants, digits of other scripts, ``1.5D+02``.

    What keeps others from reading it goes: invisible characters, what Excel writes around texts, marks of notes.
    """
    plain = "".join(_DIGITS.get(c) or str(unicodedata.decimal(c, c)) for c in without_hidden(text))
    plain = _MINUS_BEHIND.sub(r"-\1", _NEGATIVE.sub(r"-\1\2\3", plain))
    for pattern, meaning in _REWRITTEN:
        plain = pattern.sub(meaning, plain)
    return plain


def rewriting(counts: Mapping[str, int], decimal: str, thousands: str) -> str:
    """The question whether texts mean the numbers that :func:`rewritten` makes of them; empty if there is none."""
    meanings = {text: rewritten(text) for text in counts}
    text = next((text for text, meaning in meanings.items() if text != meaning), "")
    if not text or spelled({meanings[text]: count for text, count in counts.items()}, decimal, thousands) is None:
        return ""
    return f"does {text!r} mean {meanings[text]!r}? Then write it so"


def compound(counts: Mapping[str, int]) -> str:
    """A question about texts that are quantities in another notation: ``08:30``, ``0x1f``, ``3/17``; empty if none."""
    for pattern, question in _COMPOUND:
        fitting = {text for text in counts if pattern.fullmatch(text)}
        numbers = {text for text in counts if parse_number(text) is not None}
        if fitting and _mostly(counts, (fitting | numbers).__contains__):
            example = next(text for text in counts if text in fitting)
            return question.format(repr(example))
    return ""


def strays_among(counts: Mapping[str, int]) -> str:
    """What is said of texts that spell no number in a column of numbers.

    Those that say that a value is missing are listed. Others may be names of people, and are only counted.
    """
    words = {text: "".join(filter(str.isalnum, text.casefold())) for text in sorted(counts)}
    marks = [text for text, word in words.items() if not word or word in WORDS_FOR_MISSING or _ABOUT.fullmatch(text)]
    others = counts.keys() - set(marks)
    cells, texts = sum(counts[text] for text in others), len(others)
    number = f"{cells} cell{'s' * (cells > 1)} of {texts} other text{'s' * (texts > 1)}"
    return ", ".join([*map(repr, marks[:MOST_SHOWN]), *([number] if others else [])])


def marks_among(texts: Iterable[str]) -> str:
    """A question about categories that are how missing values are spelled: ``N/A``, ``unknown``; empty if none are."""
    marks = [repr(text) for text in texts if text.casefold() in MARKS]
    what = "does" if len(marks) == 1 else "do"
    return f"{what} {' and '.join(marks)} say that a value is missing? Then leave those cells empty" if marks else ""


def leading_zeros(counts: Mapping[str, int]) -> bool:
    """Whether whole numbers are codes: some begin with zeros, and nearly all have as many digits."""
    digits = [text for text in counts if text.isdecimal()]
    zeros = [text for text in digits if text.startswith("0") and len(text) > 1]
    usual = Counter(map(len, digits)).most_common(1)[0][1] if digits else 0
    many = usual >= 0.9 * len(digits) or 100 * sum(counts[text] for text in zeros) >= sum(counts.values())
    return bool(zeros) and len(digits) >= 0.9 * len(counts) and many


def far_marks(values: Sequence[float], counts: Mapping[float, int]) -> tuple[float, ...]:
    """Numbers that say that a value is missing: far from all others, repeated, and of one kind: -200, 99, 999.

    Args:
        values: the distinct numbers, sorted.
        counts: how many cells hold each.
    """
    rest = list(values)
    while mark := _outside(rest, counts):
        rest = [value for value in rest if value not in mark]
    return tuple(value for value in values if value not in rest)


def _outside(values: Sequence[float], counts: Mapping[float, int]) -> Sequence[float]:
    """Marks at one end, farther from the other numbers than these are from one another."""
    for number in range(1, min(MOST_MARKS, len(values) - 2) + 1):
        for marks, others, gap in (
            (values[-number:], values[:-number], values[-number] - values[-number - 1]),
            (values[:number], values[number:], values[number] - values[number - 1]),
        ):
            repeated = all(counts[mark] > 1 and _is_mark(mark, others) for mark in marks)
            if gap > others[-1] - others[0] and repeated:
                return marks
    return ()


def _is_mark(number: float, others: Sequence[float]) -> bool:
    """Whether somebody would write a number for missing: nines and the like, or a negative one where no other is."""
    return number < 0 <= others[0] or re.fullmatch(r"-?(9+\.9+|99+|9+[678]|77+|88+)", f"{number:.12g}") is not None


def lone_negatives(counts: Mapping[float, int]) -> Sequence[float]:
    """The few negative numbers, whole and repeated, of a column of more than ``FEW`` others; none if it has others."""
    negative = sorted(number for number in counts if number < 0)
    few = len(negative) <= MOST_MARKS and len(counts) - len(negative) >= FEW
    return negative if few and all(float(n).is_integer() and counts[n] > 1 for n in negative) else ()
