"""What the bins of a numeric column are called: a bin around a single value by the value, all others by their ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from tacit.report import svg

Span = tuple[float, float]
"""A bin: where it begins and where it ends."""

PART_OF_RANGE = 1 / 300
"""A bin around a value takes at most this part of the whole range, less than a pixel or so of its drawing, ..."""
PART_OF_NEIGHBOUR = 1 / 25
"""... at most this part of each bin beside it ..."""
PART_OF_VALUE = 1 / 20
"""... and at most this part of the value, unless that is zero."""


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
    value = roundest(low, high)
    if value != 0 and width > PART_OF_VALUE * abs(value):
        return None
    return svg.short(value) if float(f"{value:.3g}") == value else f"{value:.12g}"


def roundest(low: float, high: float) -> float:
    """The number of fewest decimals in ``low <= x < high``; ``low`` if floats know none."""
    if low <= 0 < high:
        return 0.0
    first = -math.floor(math.log10(max(abs(low), abs(high), 1e-280)))
    for digits in range(first, first + 17):
        value = round(math.ceil(low * 10.0**digits) / 10.0**digits, digits)
        if low <= value < high:
            return value
    return low
