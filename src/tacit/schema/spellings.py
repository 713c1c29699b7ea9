"""How the numbers and dates of a sample are written, and what is doubtful about it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tacit.schema.cell_format import MONTHS, PLAIN_CELLS, THOUSANDS, CellFormat
from tacit.schema.csv_format import COMMA, POINT
from tacit.schema.values import MINUS, parse_number

_MARKS = """
na n/a n.a. nan nat null none nil - -- --- \u2013 \u2014 ? . .. ... unknown missing unk unbekannt inconnu desconocido
#n/a #ref! #name? #value! #div/0! #num! #null! (blank) (null) <na> n.d. k.a. s/d
"""
MARKS = frozenset([*_MARKS.split(), "keine angabe", "nicht bekannt", "not known", "not stated", "no answer", "no data"])
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

GAP = "[ \u00a0\u2009\u202f]"
"""Blanks between the digits of a number, or beside them."""

CORE = rf"\d(?:[\d.,'\u2019]|{GAP}(?=\d))*"
"""The digits of a number, with what may stand between them."""

DASHES = r"\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
"""What people write for a minus, beside the hyphen."""

_UNIT = rf"[^\s\d.,+:/<>=~\u2248\u2264\u2265{DASHES}\u00bc-\u00be\u2150-\u215f-]"
_WITH_SYMBOL = re.compile(
    rf"[+-]?{GAP}*(?P<before>{_UNIT}{{0,6}}){GAP}*[+-]?{CORE}{GAP}*(?P<after>{_UNIT}[^\s\d]{{0,7}})?"
)

ABOUT = re.compile(
    r"(?i:circa|ca\.?|about|approx\.?|rund|etwa)\s?\d{1,6}([.,]\d+)?|[<>=~\u2248\u2264\u2265]{1,2}\s*\d{1,6}([.,]\d+)?|\d{1,3}\+"
)
"""Texts that say about how much something is."""

_MONTH = "|".join(MONTHS)
_DAY_AND_MONTH = re.compile(rf"\d{{1,2}}-({_MONTH})|({_MONTH})-\d{{1,2}}", re.IGNORECASE)
_SHORTENED = re.compile(r"[+-]?\d(?:[.,]\d{1,5})?E\+(?:1[1-9]|2\d)", re.IGNORECASE)

FEW = 20
"""Distinct texts that are left categories although they have numbers in them."""

LONGEST_UNIT = 2
"""Letters of units that are printed in a question: ``kg``. Longer ones may be names."""

MOST_MARKS = 4
"""Different reasons for missing, such as 96 to 99, at one end of a column."""

TIMES_OTHERS = 5
"""Times the cells of every other value that one has which may say that there is none."""

MOST_SHOWN = 3
"""Marks for missing that a note lists."""


@final
@dataclass(frozen=True)
class Spelled:
    """Numbers of a column, per text that spells one, and what was decided or is doubtful.

    A doubt that nothing decides leaves ``numbers`` empty.
    """

    numbers: Mapping[str, float]
    cell_format: CellFormat = PLAIN_CELLS
    note: str = ""


def spelled(counts: Mapping[str, int], decimal: str = POINT, thousands: str = "") -> Spelled | None:
    """How the texts of a column, with the number of cells of each, spell numbers; None if they are no numbers."""
    plain = {text: number for text in counts if (number := plain_number_of(text, decimal)) is not None}
    if _are_numbers(counts, plain) and not (thousands and any(thousands in text for text in counts)):
        doubt = _points_of_thousands(plain) if decimal == POINT and not thousands else ""
        minus = f"{MINUS!r} is read as a minus" if any(MINUS in text for text in plain) else ""
        short = next((text for text in plain if _SHORTENED.fullmatch(text)), "")
        lost = f"has a spreadsheet cut digits off {short!r}? Then export them as text" if short else ""
        return Spelled(plain, note=doubt or minus or lost)
    if mostly(counts, lambda text: plain_number_of(text, COMMA) is not None) and decimal == POINT and not thousands:
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


def mostly(counts: Mapping[str, int], holds: Callable[[str], object]) -> bool:
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
    if not mostly(counts, matches.__contains__):
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
    return mostly(counts, lambda text: (match := matches[text]) and match[1] not in CURRENCIES)


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


def strays_among(counts: Mapping[str, int]) -> str:
    """What is said of texts that spell no number in a column of numbers.

    Those that say that a value is missing are listed. Others may be names of people, and are only counted.
    """
    words = {text: "".join(filter(str.isalnum, text.casefold())) for text in sorted(counts)}
    marks = [text for text, word in words.items() if not word or word in WORDS_FOR_MISSING or ABOUT.fullmatch(text)]
    others = counts.keys() - set(marks)
    cells, texts = sum(counts[text] for text in others), len(others)
    number = f"{cells} cell{'s' * (cells > 1)} of {texts} other text{'s' * (texts > 1)}"
    return ", ".join([*map(repr, marks[:MOST_SHOWN]), *([number] if others else [])])


def marks_among(texts: Iterable[str]) -> str:
    """A question about categories that are how missing values are spelled: ``N/A``, ``unknown``; empty if none are."""
    marks = [repr(text) for text in texts if text.casefold() in MARKS]
    what = "does" if len(marks) == 1 else "do"
    return f"{what} {' and '.join(marks)} say that a value is missing? Then leave those cells empty" if marks else ""


def made_dates(texts: Iterable[str]) -> str:
    """A question about categories of which a spreadsheet may have made days: ``5-Oct`` of ``5-10``; empty if none."""
    text = next((text for text in texts if _DAY_AND_MONTH.fullmatch(text)), "")
    return f"has a spreadsheet made a date of another value in {text!r}? Then write it as it was" if text else ""


def leading_zeros(counts: Mapping[str, int]) -> bool:
    """Whether whole numbers are codes: some begin with zeros, and nearly all have as many digits."""
    digits = [text for text in counts if text.isdecimal()]
    zeros = [text for text in digits if text.startswith("0") and len(text) > 1]
    usual = Counter(map(len, digits)).most_common(1)[0][1] if digits else 0
    many = usual >= 0.9 * len(digits) or 100 * sum(counts[text] for text in zeros) >= sum(counts.values())
    return bool(zeros) and len(digits) >= 0.9 * len(counts) and many


def far_marks(values: Sequence[float], counts: Mapping[float, int]) -> tuple[float, ...]:
    """Those of sorted numbers that say that a value is missing: far from all others, repeated, such as -200 or 999."""
    rest = list(values)
    while mark := _outside(rest, counts):
        rest = [value for value in rest if value not in mark]
    ordinary = set(rest)
    return tuple(value for value in values if value not in ordinary)


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


def doubtful_marks(counts: Mapping[float, int]) -> Sequence[float]:
    """The few numbers of a column of more than ``FEW`` others that may say that a value is missing, and are not far.

    Negative ones, whole and repeated, where no others are; or a zero below all others, or nines above them, that hold
    several times the cells of every other.
    """
    negative = sorted(number for number in counts if number < 0)
    several = len(negative) <= MOST_MARKS and len(counts) - len(negative) >= FEW
    if negative and several and all(float(n).is_integer() and counts[n] > 1 for n in negative):
        return negative
    *others, last = sorted(counts)
    if len(others) < FEW:
        return ()
    gap, span = others[1] - others[0], last - others[1]
    rare = 3 * counts[others[0]] < sum(counts.values())  # where most have none, zero is what they have
    zero = [0.0] if others[0] == 0 and rare and 10 * gap >= span and _many(0.0, counts) else []
    nines = [number for number in (*others[-MOST_MARKS:], last) if _is_mark(number, others) and number >= 99]
    return [*zero, *(number for number in nines if _many(number, counts))]


def _many(number: float, counts: Mapping[float, int]) -> bool:
    """Whether a number holds several times the cells that others have."""
    usual = sorted(counts.values())[-MOST_MARKS - 2 :]
    return counts[number] >= max(3, TIMES_OTHERS * usual[0])
