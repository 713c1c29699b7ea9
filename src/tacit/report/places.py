"""What the bins of a numeric column are called, and in which units effects on the target are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, final

import numpy as np

from tacit.encoding.grid import NumericGrid
from tacit.models.feature import Feature
from tacit.report import svg

YEARS, MONTHS, MOST_TICKS = (1, 2, 5, 10, 20, 50, 100), (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200), 7
"""How far apart ticks of dates may be, and how many there are at most."""

Span = tuple[float, float]
"""A bin: where it begins and where it ends."""

PART_OF_RANGE = 1 / 300
"""A bin around a value takes at most this part of the whole range, less than a pixel or so of its drawing, ..."""
PART_OF_NEIGHBOUR = 1 / 25
"""... at most this part of each bin beside it ..."""
PART_OF_VALUE = 1 / 20
"""... and at most this part of the value, unless that is zero."""


@dataclass(frozen=True)
class Dates:
    """Bins of dates: what to call them, by the first and the last date in each, and the axis's ticks with words."""

    names: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]


def dates_of(feature: Feature) -> Dates | None:
    """The bins of a column of dates; None of one of numbers."""
    grid = feature.encoder
    if not isinstance(grid, NumericGrid) or not grid.dates:
        return None
    names = date_spans(feature, [(place, place) for place in range(len(feature.edges()) - 1)], " to ")
    starts, middle = grid.edges(), 0.5 if grid.dates == "weekday" else 0.0
    steps = MONTHS if grid.dates == "month" else YEARS
    first = round(12 * grid.lower) if grid.dates == "month" else round(grid.lower)
    step = next((step for step in steps if grid.cells <= MOST_TICKS * step), steps[-1])
    at = starts[-first % step :: step]
    return Dates(tuple(names), tuple((float(edge) + middle, grid.text(edge)) for edge in at))


def date_spans(feature: Feature, spans: Sequence[tuple[int, int]], between: str) -> list[str]:
    """What to call neighbouring bins of dates together, each from a first to a last one."""
    grid = feature.encoder
    assert isinstance(grid, NumericGrid)
    ends = np.append(np.flatnonzero(np.diff(feature.mapping[:-1])), grid.cells - 1)
    starts = np.append(0, ends[:-1] + 1)
    texts = [grid.text(edge) for edge in grid.edges()]
    around = [(texts[starts[first]], texts[ends[last]]) for first, last in spans]
    return [start if start == end else f"{start}{between}{end}" for start, end in around]


def interval(low: float, high: float, between: str = " to ") -> str:
    """A bin in words."""
    a, b = svg.short(low), svg.short(high)
    return f"about {a}" if a == b else f"{a}{between}{b}"


def intervals(edges: Sequence[float]) -> list[str]:
    """The bins between increasing edges in words: ``0``, ``just over 0 to 3``, ``3 to 6``."""
    return named(list(pairwise(edges)), " to ", "just over ")


def named(spans: Sequence[Span], between: str, over: str) -> list[str]:
    """What to call bins, in their order.

    A bin that follows one called by a value begins just over that value; the digits of where it does so tell nobody
    anything.
    """
    names: list[str] = []
    before: str | None = None
    for (low, high), value in zip(spans, single_values(spans), strict=True):
        plain = interval(low, high, between)
        names.append(value or (plain if before is None else f"{over}{before}{between}{svg.short(high)}"))
        before = value
    return names


def single_values(spans: Sequence[Span]) -> list[str | None]:
    """For each of the bins in their order, the value it is there for; None if it is there for an interval.

    A learner gives a value that many rows share, such as no children at all, a bin of its own, as narrow as its grid
    and the noise allow. Such bins stand alone: where bins are narrow because rows are dense, so are the ones beside
    them.
    """
    widths = [high - low for low, high in spans]
    reach = spans[-1][1] - spans[0][0] if spans else 0.0
    values = []
    for place, (low, high) in enumerate(spans):
        beside = [*widths[max(place - 1, 0) : place], *widths[place + 1 : place + 2]]
        # the last bin holds its end, too: the upper bound, and what was clipped to it
        end = math.nextafter(high, math.inf) if place == len(spans) - 1 else high
        values.append(_single_value(low, end, beside, reach))
    return values


def _single_value(low: float, high: float, beside: Sequence[float], reach: float) -> str | None:
    """The value of a bin, given the widths of the bins beside it and of all of them together."""
    width = high - low
    most = min(PART_OF_NEIGHBOUR * min(beside, default=0.0), PART_OF_RANGE * reach)
    if not 0 < width <= most:
        return None
    value = nicest_number(low, high)
    if value != 0 and width > PART_OF_VALUE * abs(value):
        return None
    return svg.short(value) if float(f"{value:.3g}") == value else f"{value:.12g}"


def nicest_number(low: float, high: float) -> float:
    """The number of fewest decimals in ``low <= x < high``; ``low`` if floats know none."""
    if low <= 0 < high:
        return 0.0
    first = -math.floor(math.log10(max(abs(low), abs(high), 1e-280)))
    for digits in range(first, first + 17):
        value = round(math.ceil(low * 10.0**digits) / 10.0**digits, digits)
        if low <= value < high:
            return value
    return low


class Units(Protocol):
    """How effects become words, ticks and cells of a table."""

    @property
    def header(self) -> tuple[str, ...]:
        """Header of the table of a drawing."""

    @property
    def least(self) -> float:
        """An effect smaller than this does not stand out."""

    @property
    def what(self) -> str:
        """What effects move: ``"the odds"``."""

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        """Ticks of an axis of effects."""

    def say(self, value: float) -> str:
        """An effect in words: ``"odds 2.00 times as high"``."""

    def cells(self, value: float) -> tuple[str, ...]:
        """An effect as cells of the table."""


def factor(log_ratio: float) -> str:
    """The factor that a logarithm stands for: ``×2.00`` doubles odds or a mean, ``÷2.00`` halves them."""
    if abs(log_ratio) < 5e-4:
        return "×1"
    size = math.exp(min(abs(log_ratio), 30.0))
    return f"{'×' if log_ratio > 0 else '÷'}{size:.2f}" if size < 100 else f"{'×' if log_ratio > 0 else '÷'}{size:.0f}"


class _Factors:
    """What logarithms share that are shown as factors."""

    least = 0.02

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        return svg.odds_ticks(low, high)

    def cells(self, value: float) -> tuple[str, ...]:
        return (f"{value:+.3f}", factor(value))


@final
class Odds(_Factors):
    """Log-odds, shown as factors of the odds."""

    header = ("value", "log-odds", "odds", "noise (sd)", "rows (noisy)")
    what = "the odds"

    def say(self, value: float) -> str:
        if abs(value) < 5e-3:
            return "the odds stay as they are"
        return f"odds {factor(abs(value))[1:]} times as {'high' if value > 0 else 'low'}"


ODDS = Odds()


@final
@dataclass(frozen=True)
class Amounts:
    """Units of a numeric target; ``reach`` is the width of its declared range."""

    target: str
    reach: float

    header = ("value", "effect", "noise (sd)", "rows (noisy)")

    @property
    def least(self) -> float:
        return 1e-3 * self.reach

    @property
    def what(self) -> str:
        return self.target

    def ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        return [(tick, signed(tick) if tick else "0") for tick in svg.even_ticks(low, high)]

    def say(self, value: float) -> str:
        return signed(value)

    def cells(self, value: float) -> tuple[str, ...]:
        return (signed(value),)


@final
@dataclass(frozen=True)
class Ratios(_Factors):
    """Logarithms of means of a target, shown as factors of its mean."""

    target: str

    header = ("value", "log ratio", "ratio", "noise (sd)", "rows (noisy)")

    @property
    def what(self) -> str:
        return f"the mean of {self.target}"

    def say(self, value: float) -> str:
        return factor(value)


def signed(value: float) -> str:
    """A number with its sign, short."""
    return f"{'+' if value >= 0 else '−'}{svg.short(abs(value))}"
