"""Small pieces of SVG: elements, scales and ticks. Colours come from the page's style sheet through class names."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

Attribute = str | float | int | None


def number(value: float) -> str:
    """A coordinate with at most two decimals and no needless zeros."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"", "-0"} else text


def element(tag: str, content: str = "", **attributes: Attribute) -> str:
    """An element. ``content`` is markup; attribute names lose a trailing underscore and use ``-`` for ``_``."""
    markup = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{number(value) if isinstance(value, float) else escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{markup}>{content}</{tag}>" if content else f"<{tag}{markup}/>"


def text(x: float, y: float, words: str, css: str = "", anchor: str = "start") -> str:
    """A line of text, escaped."""
    return element("text", escape(words), x=float(x), y=float(y), class_=css or None, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """A straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=css)


def hint(words: str) -> str:
    """What is shown on hover and read aloud, escaped: the content of an element, or the beginning of it."""
    return element("title", escape(words)) if words else ""


def rect(x: float, y: float, width: float, height: float, css: str, label: str = "", **more: Attribute) -> str:
    """A rectangle; ``label`` is shown on hover and read aloud."""
    return element(
        "rect", hint(label), x=float(x), y=float(y), width=float(max(width, 0)), height=float(max(height, 0)),
        class_=css, **more,
    )  # fmt: skip


def path(points: Iterable[tuple[float, float]], css: str, closed: bool = False) -> str:
    """A polyline through the points."""
    joined = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return element("path", d=f"M{joined}{'Z' if closed else ''}", class_=css)


def figure(width: int, height: int, title: str, description: str, content: str, identity: str) -> str:
    """A drawing with its title and description for readers who do not see it; as wide as its place on the page."""
    head = element("title", escape(title), id=f"{identity}-t") + element(
        "desc", escape(description), id=f"{identity}-d"
    )
    return element(
        "svg", head + content, viewBox=f"0 0 {width} {height}", role="img", class_="figure",
        aria_labelledby=f"{identity}-t {identity}-d", preserveAspectRatio="xMidYMid meet",
    )  # fmt: skip


def short(value: float) -> str:
    """A number for people, about three significant digits: ``1200000`` is ``1.2M``, ``0.0123`` is ``0.0123``."""
    size = abs(value)
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.3g}{unit}"
    if size and size < 1e-3:
        return f"{value:.1e}"
    return f"{value:.4g}" if size >= 1000 else f"{value:.3g}"


@dataclass(frozen=True)
class Scale:
    """A monotone map from values to pixels. ``bend`` straightens values before the linear part."""

    low: float
    high: float
    start: float
    stop: float
    bend: Callable[[float], float] = float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.bend(self.low), self.bend(self.high)
        share = (self.bend(value) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.stop - self.start)

    def within(self, value: float) -> float:
        """The pixel of a value, or of the end of the scale that it lies beyond."""
        return self(min(max(value, self.low), self.high))


def even_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Round numbers between ``low`` and ``high``, about as many as asked for and no two the same.

    Fewer where floats cannot tell them apart.
    """
    if not high > low:
        return [low]
    rough = (high - low) / about
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    ticks: list[float] = []
    while first * step <= high + 1e-9 * step:
        tick = round(first * step, 12 - exponent)
        if not ticks or tick > ticks[-1]:
            ticks.append(tick)
        first += 1
    return ticks


CROWDED = 0.12
"""Half of the bins in less than this part of a linear axis could not be told apart."""


def bent_axis(edges: Sequence[float], start: float, stop: float) -> tuple[Scale, list[float]]:
    """A horizontal scale and its ticks for bins with these edges.

    Linear, unless the middle bins are so near one end that they could not be seen: then logarithmic away from zero.
    Where neither shows the middle half of the bins, because a few values lie far off, every bin is equally wide.
    """
    low, high = edges[0], edges[-1]
    middle = edges[len(edges) // 2]
    place = (middle - low) / (high - low) if high > low else 0.5
    linear = low < 0 or place > CROWDED
    inner = max(next((e for e in edges if e > max(low, 0.0)), high), 1e-12)

    def bend(value: float) -> float:
        return value if linear else math.asinh(value / inner)

    if _hides_the_middle(edges, bend):
        return _axis_of_bins(edges, start, stop)
    if linear:
        return Scale(low, high, start, stop), even_ticks(low, high)
    powers = [10.0**k for k in range(math.floor(math.log10(inner)), math.floor(math.log10(high)) + 1)]
    ticks = [p for p in powers if low <= p <= high and p >= inner * 0.99]
    if len(ticks) < 2:  # one number tells no scale
        between = [first * p for p in powers for first in (1, 2, 5)]
        ticks = [p for p in between if max(low, inner * 0.99) <= p <= high]
    while len(ticks) > 4:
        ticks = ticks[::-2][::-1]
    return Scale(low, high, start, stop, bend), ([low, *ticks] if low == 0 else ticks)


def _hides_the_middle(edges: Sequence[float], bend: Callable[[float], float]) -> bool:
    whole = bend(edges[-1]) - bend(edges[0])
    half = bend(edges[3 * len(edges) // 4]) - bend(edges[len(edges) // 4])
    return len(edges) >= 8 and half < 0.08 * whole


def _axis_of_bins(edges: Sequence[float], start: float, stop: float) -> tuple[Scale, list[float]]:
    apart = sorted(set(edges))  # bounds so close that floats cannot tell the bins apart have empty bins
    last = len(apart) - 1

    def bend(value: float) -> float:
        place = min(max(bisect_right(apart, value) - 1, 0), last - 1)
        return place + (value - apart[place]) / (apart[place + 1] - apart[place])

    ticks = sorted({apart[round(last * share)] for share in (0.0, 0.25, 0.5, 0.75, 1.0)})
    return Scale(apart[0], apart[-1], start, stop, bend), ticks


FACTORS = (1.02, 1.05, 1.1, 1.2, 1.5, 2, 4, 10, 30, 100, 1000, 10_000)


def odds_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Ticks of a log-odds axis, as factors of the odds: ``(log 2, "×2")``, ``(-log 2, "÷2")``, ``(0, "×1")``."""
    reach = max(abs(low), abs(high))
    place = max(bisect_right(FACTORS, math.exp(min(reach, 40.0))) - 1, 0)
    factors = [FACTORS[place]]
    second = next((f for f in reversed(FACTORS[:place]) if math.log(f) <= 0.62 * math.log(factors[0])), None)
    if second is not None and math.log(second) > 0.22 * reach:
        factors.append(second)
    ticks = [(0.0, "×1")]
    for factor in factors:
        for sign, mark in ((1.0, "×"), (-1.0, "÷")):
            if low <= sign * math.log(factor) <= high:
                ticks.append((sign * math.log(factor), f"{mark}{factor:g}"))
    return sorted(ticks)


WIDTHS = {"WM@%—…mw": 12.2, "iljtfrI.,:;|!'()[] ": 5.0, "ABCDEGHKNOPQRSTUVXYZ&+=<>×÷–_": 9.4}
"""Pixels of letters in a wide font of 12 pixels; all others have :data:`OTHER_WIDTH`."""
OTHER_WIDTH = 7.6


def text_width(words: str) -> float:
    """About how wide a text is at most, in pixels."""
    return sum(next((width for letters, width in WIDTHS.items() if c in letters), OTHER_WIDTH) for c in words)


def fitted(words: str, width: float) -> str:
    """As much of the beginning of a text as has room in ``width`` pixels."""
    if text_width(words) <= width:
        return words
    while words and text_width(words + "…") > width:
        words = words[:-1]
    return words.rstrip() + "…"


def shortened(words: str, width: float) -> str:
    """A text that loses its middle where ``width`` pixels have no room for all of it.

    Names that begin alike often differ at their ends.
    """
    if text_width(words) <= width:
        return words
    for length in range(len(words) - 1, 0, -1):
        text = f"{words[: (length + 1) // 2].rstrip()}…{words[len(words) - length // 2 :].lstrip()}"
        if text_width(text) <= width:
            return text
    return "…"


SMALLER = 11 / 12
"""The size of the words of a tick, in that of other words."""
BETWEEN = 6.0
"""Least space between the words of two ticks."""


def with_words(ticks: Sequence[float]) -> list[tuple[float, str]]:
    """Ticks and their numbers."""
    return [(tick, short(tick)) for tick in ticks]


def ticks_below(
    ticks: Sequence[tuple[float, str]], across: Callable[[float], float], base: float, right: float
) -> list[str]:
    """The ticks of a horizontal axis and their words below it.

    No word reaches beyond ``right``, where the place of the missing bin may begin; a tick whose words would touch
    the one before it is left out.
    """
    parts, free = [], -math.inf
    for tick, words in ticks:
        x = across(tick)
        wide = SMALLER * text_width(words)
        at_end = x + wide / 2 > right
        start = right - wide if at_end else x - wide / 2
        if start >= free:
            parts.append(line(x, base, x, base + 4, "axis"))
            parts.append(text(right if at_end else x, base + 17, words, "tick", "end" if at_end else "middle"))
            free = start + wide + BETWEEN
    return parts
