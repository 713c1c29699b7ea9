"""The rule for columns that look like identifiers: by name, shape of values, share of distinct ones and steps."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

from tacit.schema.columns import IDENTIFIER, CategoricalColumn, Column, NumericColumn, listed_categories
from tacit.schema.errors import SchemaError
from tacit.schema.identifier_names import names_holder, names_identifier, names_persons, names_quantity
from tacit.schema.schema import Schema
from tacit.schema.values import Value, parse_number

_GIVEN_NAMES = """
james john robert michael william david richard joseph thomas charles daniel matthew mark paul andrew george kevin brian
mary patricia jennifer linda elizabeth susan jessica sarah karen lisa nancy emma olivia julia laura anna maria marie eva
peter hans klaus jens dieter stefan andreas martin jan lukas max felix sabine petra monika ursula karin claudia lena
jean pierre michel philippe nicolas claire sophie camille jose juan carlos luis miguel antonio manuel pedro carmen ana
lucia marco giuseppe giovanni francesca giulia joao ahmed mohamed mohammed ali omar fatima aisha hassan ivan sergei
dmitri olga natalia elena anastasia wei ming li yan hiroshi yuki priya rahul amit sanjay deepak raj kumar
"""
GIVEN_NAMES = frozenset(_GIVEN_NAMES.split())
"""Names of persons, and hardly of anything else, by which two words with capitals are taken for a person's."""

COMMON_SHARE = 0.3
"""Share of single words that are common given names from which on all are taken for such."""

NAMED_SHARE = 0.1
"""Share of categories from which on such names among them say that all are persons'."""

_BYTE = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
SHAPES: Mapping[str, str] = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[^@\s]+",
    "UUIDs": r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}",
    "social security numbers": r"\d{3}-\d{2}-\d{4}",
    "national identity numbers": r"\d{8}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{6}[-+]\d{4}"
    r"|756\.\d{4}\.\d{4}\.\d{2}|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]",
    "card numbers": r"\d{4}([ -]\d{4}){3}",
    "IP addresses": rf"({_BYTE}\.){{3}}{_BYTE}([:/]\d+)?|([0-9a-f]{{1,4}}:){{7}}[0-9a-f]{{1,4}}"
    r"|(?=.*::)[0-9a-f:.]{4,39}",
    "MAC addresses": r"([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}",
    "bank accounts": r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2}( ?[A-Z0-9]{3,4}( ?[A-Z0-9]{1,4}){0,5})",
    "telephone numbers": r"(\+\d|\(\d{2,}\))[\d ()/.-]{6,}|0\d{1,5}[ /-]\d{3,4}[ -]?\d{3,8}|\d{3}[-. ]\d{3}[-. ]\d{4}",
    "hashes": r"(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}",
}
"""What identifiers of one kind look like, whatever their column is called."""

_PART = r"(?:(?:[^\W\d_]\.-?)+|[^\W\d_a-z][^\W\d_]*(?:['\u2019-][^\W\d_]+)*\.?)"
_WESTERN = rf"{_PART}(?:,? (?:von|van|de|der|den|del|di|da|bin|al|el|la|le|zu|{_PART})){{1,4}}"
_CHINESE = (
    "[王李张刘陈杨赵黄周吴徐孙朱马胡郭林何高梁郑罗宋谢唐韩曹许邓萧冯曾程蔡彭潘袁于董余苏叶吕魏蒋田杜丁沈姜范傅钟卢汪戴崔任陆廖姚方邱"
    "夏谭韦贾邹熊孟秦阎薛侯雷段郝孔邵史毛常万顾赖康贺严尹钱施牛洪龚陳張劉楊趙吳][\u4e00-\u9fff]{1,2}"
)
_KOREAN = "[김이박최정강조윤장임한오서신권황안송류전홍][\uac00-\ud7a3]{2}"
NAME = re.compile(f"{_WESTERN}|{_CHINESE}|{_KOREAN}")
"""A name of a person: two to four words with capitals, or family name, comma, given names; or Chinese, or Korean."""

INITIALS = re.compile(r"(?:[^\W\d_a-z]\. ?-?){2,4}[^\W\d_a-z]?")
"""``J.S.``, ``A. B.``, ``J.-P. M.``"""

WITH_INITIAL = re.compile(rf"(?=.*\b[^\W\d_]\.){_WESTERN}")
"""``Meier, C.``, ``E. Becker``."""

TITLED = re.compile(rf"(?:Dr|Prof|Mrs?|Ms|Miss|Herr|Frau|Sra?|Mme|Sig|Dott)\.? (?:(?:Dr|Med)\. )?{_PART}(?: {_PART})*")
"""``Dr. Becker``, ``Frau Prof. Wolf``."""

FEWEST_NAMES = 5
"""Different names from which on a column in which nearly all differ is asked about."""

FEW, LEAST_RUN, MOST_LISTED_RUN = 20, 30, 100
"""Values of a column called ``store_id`` that may be categories; rows from which on a running number is no chance;
listed categories from which on a running number among them is an identifier."""

FEWEST_DIGITS, LONG = 5, 8
"""Digits from which on numbers that all differ may be drawn at random; and from which on those that come again, too."""

EVEN = 1.63
"""Kolmogorov and Smirnov's distance times the root of the number of values; even ones are below it in 99 of 100."""

LEAST_SPREAD = 0.3
"""Variance of the cells per value over their mean; 30 or more values drawn alike are below it in one of 100,000."""

MOSTLY = 0.9
"""Share of values that differ from which on texts are identifiers."""


@final
@dataclass(frozen=True)
class Verdict:
    """What a column looks like: an identifier (``is_identifier``), a doubt with its reason, or neither (no reason)."""

    is_identifier: bool = False
    reason: str = ""

    @property
    def asks_identifier(self) -> bool:
        """Whether the doubt is that values may tell persons apart."""
        return not self.is_identifier and self.reason.endswith("is it an identifier?")


def judge(name: str, values: Sequence[Value], count: int, cells: Collection[int] = ()) -> Verdict:
    """Whether the values of a sample look like identifiers: :func:`evident`, or because they differ or count rows.

    ``cells``: how many cells hold each value, where that is known.
    """
    verdict = evident(name, values, count)
    verdict = verdict if verdict.reason else _judge_values(name, values, count)
    if verdict.reason:
        return verdict
    if _repeat_evenly(name, _numbers(values), cells):
        rows = round(count / len(values))
        return Verdict(False, f"each of {len(values)} whole numbers stands in about {rows} rows: is it an identifier?")
    texts = [value for value in values if isinstance(value, str)]
    n_names, enough = sum(map(_named, texts)), len(values) > FEW or len(values) > MOSTLY * count
    if (enough and n_names >= FEWEST_NAMES and 2 * n_names > len(values)) or _are_addressed(texts):
        return Verdict(False, "its values look like names of persons: is it an identifier?")
    if len(values) > FEW and _runs([str(value) for value in values if parse_number(str(value)) is None], FEW):
        return Verdict(False, "its values are a running number behind the same letters: is it an identifier?")
    return verdict


def _judge_values(name: str, values: Sequence[Value], count: int) -> Verdict:
    """Whether values look like identifiers because they differ or count rows, whatever their shape."""
    numbers = _numbers(values)
    if 2 * len(numbers) > len(values):
        is_quantity = names_quantity(name)
        return _judge_numbers(numbers, count, is_quantity) if all(map(float.is_integer, numbers)) else Verdict()
    differ = len(values) / max(count, 1)
    if count >= FEW and differ > MOSTLY:
        return Verdict(True, f"nearly all of {count} values differ")
    if len(values) > MOST_LISTED_RUN and differ > 0.5:
        return Verdict(True, f"{len(values)} of {count} values differ; list categories by hand if it has some")
    return Verdict()


def evident(name: str, values: Sequence[Value], count: int) -> Verdict:
    """Whether a name or the shape of values is that of identifiers, whatever else they may spell.

    The values are distinct, in the order in which rows have them, without marks for missing; ``count`` cells hold them.
    """
    texts = [value for value in values if isinstance(value, str) and parse_number(value) is None]
    shape = _shape(texts) if 2 * len(texts) > len(values) else ""
    if shape:
        return Verdict(True, f"its values look like {shape}")
    numbers = _numbers(values)
    fractions = len(numbers) > len(texts) and not all(map(float.is_integer, numbers))
    many = len(values) > FEW
    is_called = names_identifier(name) or (many and names_persons(name, len(numbers) > len(texts)))
    if not is_called or len(values) <= 2 or fractions:
        return Verdict()
    if many or names_holder(name) or (len(values) > MOSTLY * count and count > FEW):
        return Verdict(True, "its name says so")
    return Verdict(False, f"its name is that of an identifier, and it has {len(values)} values: is it a category?")


def _numbers(values: Sequence[Value]) -> list[float]:
    return [float(n) for n in (parse_number(v) if isinstance(v, str) else v for v in values) if n is not None]


def _judge_numbers(numbers: Sequence[float], count: int, is_quantity: bool) -> Verdict:
    digits, doubt = len(str(int(max(map(abs, numbers))))), "is it an identifier?"
    if len(numbers) < LEAST_RUN or _are_years(numbers):
        return Verdict()
    if len(numbers) < 0.99 * count:
        again = not is_quantity and (_look_drawn(numbers, digits) if digits >= LONG else _are_codes(numbers, digits))
        return Verdict(False, f"its values are long whole numbers spread evenly: {doubt}") if again else Verdict()
    steps = {right - left for left, right in pairwise(numbers)}
    if steps == {1.0}:
        return Verdict(True, "it counts the rows")
    if len(steps) == 1:
        return Verdict(False, f"its values rise from row to row by the same step: {doubt}")
    if max(numbers) - min(numbers) == len(numbers) - 1:
        return Verdict(False, f"it has every whole number of its range once: {doubt}")
    if is_quantity:
        return Verdict()
    if min(numbers) >= 1e7 and len(str(int(min(numbers)))) == digits:
        return Verdict(False, f"its values are long whole numbers that all differ: {doubt}")
    if digits >= FEWEST_DIGITS and (min(steps) > 0 or _look_drawn(numbers, digits)):
        how = "rise from row to row" if min(steps) > 0 else "are spread evenly"
        return Verdict(False, f"its values are whole numbers that all differ and {how}: {doubt}")
    return Verdict()


def _are_years(numbers: Sequence[float]) -> bool:
    return min(numbers) >= 1800 and max(numbers) <= 2100


def _repeat_evenly(name: str, numbers: Sequence[float], cells: Collection[int]) -> bool:
    """Whether numbers stand in several cells each, whose number varies less than chance has it, as persons' do."""
    whole = LEAST_RUN <= len(numbers) == len(cells) and all(map(float.is_integer, numbers))
    if not whole or _are_years(numbers) or names_quantity(name):
        return False
    mean = sum(cells) / len(cells)
    return mean > 1.5 and sum((number - mean) ** 2 for number in cells) <= LEAST_SPREAD * mean * len(cells)


def _are_codes(numbers: Sequence[float], digits: int) -> bool:
    """Whether whole numbers look drawn from all of so many digits; of round ones that is no wonder."""
    low, high = 10.0 ** (digits - 1), 10.0**digits
    odd = sum(number % 10 != 0 for number in numbers) > 0.7 * len(numbers)
    return digits > FEWEST_DIGITS and odd and min(numbers) >= low and _are_even(sorted(numbers), low, high)


def _look_drawn(numbers: Sequence[float], digits: int) -> bool:
    """Whether whole numbers are spread as if drawn at random from all of so many digits, or of so many bits."""
    least, most = min(numbers), max(numbers)
    ranges = [(10.0 ** (digits - 1), 10.0**digits), (0.0, 10.0**digits)]
    ranges += [(sign * 2.0**bits, 2.0**bits) for bits in (31, 32, 53, 63, 64) for sign in (0, -1)]
    if digits > FEWEST_DIGITS + 1 and sum(number % 10 == 0 for number in numbers) < 0.3 * len(numbers):
        ranges.append((least, most + 1))
    ordered = sorted(numbers)
    return any(_are_even(ordered, low, high) for low, high in ranges)


def _are_even(ordered: Sequence[float], low: float, high: float) -> bool:
    """Whether sorted numbers are spread evenly over a range, by Kolmogorov and Smirnov's distance."""
    shares, n = [(number - low) / (high - low) for number in ordered], len(ordered)
    return max(max(share - i / n, (i + 1) / n - share) for i, share in enumerate(shares)) <= EVEN / math.sqrt(n)


def _are_names(texts: Sequence[str]) -> bool:
    """Whether most texts look like names of persons, and enough of them have a given name that is common."""
    words = [re.findall(r"[^\W\d_]+", text.casefold()) for text in texts if _named(text)]
    n_common = sum(not GIVEN_NAMES.isdisjoint(each) for each in words)
    return 2 * len(words) > len(texts) and n_common >= max(2.0, NAMED_SHARE * len(words))


def _are_addressed(texts: Sequence[str]) -> bool:
    """Whether most texts are persons however few there are: with a title, with initials, or common given names."""
    most = (len(texts) + 2) // 2
    n_common = sum(text.casefold() in GIVEN_NAMES for text in texts)
    return (
        sum(_named(text, TITLED) for text in texts) >= max(2, most)
        or sum(_named(text, INITIALS) for text in texts) >= max(FEWEST_NAMES, most)
        or sum(WITH_INITIAL.fullmatch(text) is not None for text in texts) >= max(FEWEST_NAMES, most)
        or n_common >= max(FEWEST_NAMES, COMMON_SHARE * len(texts))
    )


def _named(text: str, pattern: re.Pattern[str] | None = None) -> bool:
    text = text.strip()
    return (pattern or NAME).fullmatch(text.title() if text.islower() else text) is not None


def _shape(texts: Sequence[str]) -> str:
    """The shape that more than half of the texts have; empty if none."""
    for what, pattern in SHAPES.items():
        fitting = sum(re.fullmatch(pattern, text.strip(), re.IGNORECASE) is not None for text in texts)
        if fitting >= 2 and 2 * fitting > len(texts):
            return what
    return ""


def _runs(texts: Sequence[str], most: int = MOST_LISTED_RUN) -> bool:
    """Whether more than so many texts are a prefix and a running number: ``P0001``, ``P0002`` ..."""
    parts = [re.fullmatch(r"(.*?)(\d+)", text.strip()) for text in texts]
    if len(texts) <= most or not all(parts) or len({part[1] for part in parts if part}) > 1:
        return False
    numbers = sorted(int(part[2]) for part in parts if part)
    return numbers[-1] - numbers[0] < 2 * len(numbers)


def refuse_identifiers(schema: Schema) -> None:
    """Raises :class:`SchemaError` for a feature, or classes, that look like identifiers and are not allowed.

    Only the schema is looked at, which is public; a model would publish the values that it lists.
    """
    label = schema.label
    for name in schema.features:
        column = schema.columns[name]
        reason = "" if getattr(column, "allow", "") == IDENTIFIER else _reason(name, column)
        if reason:
            raise SchemaError(
                f"looks like an identifier ({reason}), and a model would publish it",
                f'declare kind = "id", or allow = "{IDENTIFIER}" if it may be learned from all the same',
                where=f"column '{name}'",
            )
    if label is None or label.is_numeric or label.allow == IDENTIFIER:
        return
    if reason := _reason(label.column, CategoricalColumn(label.classes, exact=label.exact)):
        raise SchemaError(
            f"looks like an identifier ({reason.replace('categories', 'classes')}), and a model would publish it",
            f'predict another column, or give allow = "{IDENTIFIER}" if the classes may be published all the same',
            where=f"label '{label.column}'",
        )


def _reason(name: str, column: Column) -> str:
    if isinstance(column, NumericColumn):
        span = column.upper - column.lower
        is_called = (span > 1 and names_identifier(name)) or (span > FEW and names_persons(name, numbers=True))
        return "its name" if is_called else ""
    listed = listed_categories(column)
    texts = [value for value in listed if isinstance(value, str)]
    if len(listed) > 2 and names_identifier(name) and (len(listed) > FEW or names_holder(name)):
        return "its name"
    if len(listed) > FEW and names_persons(name, len(texts) < len(listed)):
        return "its name"
    if len(listed) > FEW and (_are_names(texts) or _are_addressed(texts)):
        return "its categories look like names of persons"
    shape = _shape(texts) if 2 * len(texts) > len(listed) else ""
    if shape:
        return f"its categories look like {shape}"
    if len(listed) > FEW and all(re.fullmatch(r"\d+", str(value)) for value in listed):
        numbers, digits = list(map(float, map(str, listed))), max(len(str(value)) for value in listed)
        if min(len(str(value)) for value in listed) >= LONG or (
            len(numbers) >= LEAST_RUN and _are_codes(numbers, digits)
        ):
            return "its categories are long whole numbers"
    return "its categories are a running number" if texts and _runs(texts) else ""
