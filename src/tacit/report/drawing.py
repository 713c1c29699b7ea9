"""The charts of a model: one function per shape, from plain numbers to a :class:`Drawing`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

from tacit.display import Brief
from tacit.models.summary import CLEAR
from tacit.report import svg
from tacit.report.places import ODDS, Dates, Units, interval, intervals

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 30
SUPPORT = 26
"""Height of the strip that shows where the rows are."""
THIN = 4.0
"""Least width, in pixels, that the rows of a bin are drawn with."""
MISSING = 54
"""Width of the place for the missing bin, right of a curve."""
BAND = 2.0
"""The noise band reaches this many standard deviations to each side."""
LABEL = 132
"""Width of the category names, left of bars."""
NAMES = 168
"""Width of the names of columns and coordinates, left of bars."""


@dataclass(frozen=True, repr=False)
class Drawing(Brief):
    """One figure of the report: SVG, one sentence for everybody, and the same numbers as a table.

    ``kind`` is ``"curve"``, ``"bars"``, ``"map"`` or ``"weights"``; ``importance``, how much this part moves
    predictions, sorts the page. ``wide`` ones stand beside the words on how to read the drawings; below ``least``
    pixels a drawing cannot be read: it scrolls sideways. ``points`` are the numbers that are drawn.
    """

    title: str
    kind: str
    markup: str
    caption: str = ""
    importance: float = 0.0
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = field(default=())
    wide: bool = False
    least: int = 0
    points: tuple[Mapping[str, Any], ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether nothing in it stands out from the noise: its table is not printed."""
        return self.caption == NOTHING


@dataclass(frozen=True)
class Effect:
    """An effect with what is known of its noise: log-odds, standard deviation, released (noisy) number of rows."""

    value: float
    sd: float = 0.0
    support: float = 0.0

    @property
    def low(self) -> float:
        return self.value - BAND * self.sd

    @property
    def high(self) -> float:
        return self.value + BAND * self.sd


def spread(effects: Sequence[Effect]) -> float:
    """Standard deviation of the effects over the released rows: how much a term moves predictions."""
    total = sum(max(e.support, 0.0) for e in effects)
    if total <= 0:
        return max((abs(e.value) for e in effects), default=0.0)
    mean = sum(max(e.support, 0.0) * e.value for e in effects) / total
    return math.sqrt(sum(max(e.support, 0.0) * (e.value - mean) ** 2 for e in effects) / total)


FAINT = 0.005
"""Places with less than this part of the fullest place's rows do not set the axis, and their bars are drawn faintly."""


def _vertical(
    effects: Sequence[Effect], top: float, bottom: float, units: Units, aside: Sequence[Effect] = ()
) -> svg.Scale:
    """An axis that shows zero, all values, and the bands of places with rows up to three times their reach.

    ``aside`` are the places "other" and "missing", which every column has: of them only clear effects set the axis.
    """
    clear = [Effect(e.value) for e in aside if abs(e.value) >= CLEAR * e.sd]
    effects = [*effects, *clear] or list(aside)
    reach = max((abs(e.value) for e in effects), default=0.0)
    most = max((e.support for e in effects), default=0.0)
    full = [e for e in effects if e.support >= FAINT * most] or list(effects)
    effects = [*full, *(Effect(e.value) for e in effects)]
    low = min([0.0, *(max(e.low, -3 * reach - 2.5 * units.least) for e in effects)])
    high = max([0.0, *(min(e.high, 3 * reach + 2.5 * units.least) for e in effects)])
    pad = max(0.06 * (high - low), units.least)
    return svg.Scale(low - pad, high + pad, bottom, top)


def _axis(scale: svg.Scale, right: float, units: Units) -> str:
    parts = []
    for value, mark in units.ticks(scale.low, scale.high):
        y = scale(value)
        parts.append(svg.line(LEFT, y, right, y, "zero" if value == 0 else "grid"))
        parts.append(svg.text(LEFT - 6, y + 4, mark, "tick", "end"))
    return "".join(parts)


def _axis_below(scale: svg.Scale, ticks: Iterable[tuple[float, str]], height: float) -> list[str]:
    parts = []
    for value, mark in ticks:
        parts.append(svg.line(scale(value), TOP - 4, scale(value), height - 22, "zero" if value == 0 else "grid"))
        parts.append(svg.text(scale(value), height - 8, mark, "tick", "middle"))
    return parts


def table(names: Sequence[str], effects: Sequence[Effect], units: Units) -> tuple[tuple[str, ...], ...]:
    """The lines of the table of a drawing."""
    return tuple(
        (name, *units.cells(e.value), f"{e.sd:.3g}", svg.short(e.support))
        for name, e in zip(names, effects, strict=True)
    )


def points_of(
    names: Sequence[str], effects: Sequence[Effect], edges: Sequence[float] = (), **more: str
) -> tuple[dict[str, Any], ...]:
    """The numbers of a drawing: an effect per place, with the ends of the places that are between ``edges``."""
    between = [{"from": float(low), "to": float(high)} for low, high in pairwise(edges)]
    ends = [*between, *([{}] * (len(names) - len(between)))]
    return tuple(
        {**more, "value": name, **end, "effect": e.value, "low": e.low, "high": e.high, "sd": e.sd, "rows": e.support}
        for name, e, end in zip(names, effects, ends, strict=True)
    )


def worth_naming(supports: Sequence[float]) -> float:
    """From how many rows on a place is named in a caption.

    A hundredth of the fullest place's; or, where one value holds nearly all rows, a tenth of what places hold on
    average.
    """
    positive = [max(support, 0.0) for support in supports]
    return min(0.01 * max(positive, default=0.0), 0.1 * sum(positive) / max(len(positive), 1))


NOTHING = "Nothing stands out from the noise."


def stands_out(effect: Effect, units: Units) -> bool:
    """Whether an effect is more than its noise, and large enough to matter."""
    return abs(effect.value) >= max(CLEAR * effect.sd, units.least)


def _summary(names: Sequence[str], effects: Sequence[Effect], units: Units) -> str:
    """Where the effect is highest and lowest among the places that hold rows, or two that noise does not explain.

    Every column has the places "other" and "missing", and noise alone gives them rows: named where their own effect is
    more than noise.
    """
    least = worth_naming([e.support for e in effects])
    pairs = [(name, e) for name, e in zip(names, effects, strict=True) if e.support >= least]
    places = [(e.value, name, e.sd) for name, e in pairs if name not in SPECIAL or abs(e.value) >= CLEAR * e.sd]
    clear = [(abs(e.value) / max(e.sd, 1e-12), name, e.value) for name, e in pairs if stands_out(e, units)]
    if not clear:
        return NOTHING
    (low, lowest, low_sd), (high, highest, high_sd) = min(places), max(places)
    if high - low >= CLEAR * math.hypot(low_sd, high_sd):
        return f"Highest at {highest} ({units.say(high)}), lowest at {lowest} ({units.say(low)})."
    # the ends may be rare values of much noise, and others between them clear
    apart = ((a[0] - b[0]) / max(math.hypot(a[2], b[2]), 1e-12) for a in places for b in places)
    clearest, (one, other) = max(zip(apart, product(places, places), strict=True), key=lambda pair: pair[0])
    if clearest < CLEAR or one[0] - other[0] < units.least:
        _, name, value = max(clear)
        return f"Clearest at {name} ({units.say(value)})."
    return f"Higher at {one[1]} ({units.say(one[0])}) than at {other[1]} ({units.say(other[0])})."


def curve(
    name: str,
    edges: Sequence[float],
    effects: Sequence[Effect],
    missing: Effect | None,
    identity: str,
    units: Units = ODDS,
    dates: Dates | None = None,
) -> Drawing:
    """A step curve over a numeric feature with its noise band, and below it where the rows are.

    There is one edge more than effects; the missing bin is a point of its own. ``identity`` is unique on the page.
    ``dates`` says what the bins are called where they are no numbers.
    """
    right = WIDTH - RIGHT - (MISSING if missing is not None else 0)
    base = HEIGHT - BOTTOM
    floor = base - SUPPORT - 6
    across, ticks = svg.bent_axis(edges, LEFT + 2, right)
    values = [*effects, missing] if missing is not None else list(effects)
    up = _vertical(effects, TOP, floor, units, [] if missing is None else [missing])
    pixels = [across(e) for e in edges]
    names = intervals(edges) if dates is None else list(dates.names)
    hints = [
        f"{label}: {units.say(e.value)}, about {svg.short(e.support)} rows"
        for label, e in zip([*names, "missing"], values, strict=False)
    ]
    parts = [
        _axis(up, WIDTH - RIGHT, units),
        *step_curve(pixels, effects, up),
        *rows_below(pixels, effects, names, base),
    ]
    parts += [
        svg.rect(a, TOP, b - a, base - TOP, "hover", hint)
        for (a, b), hint in zip(pairwise(pixels), hints, strict=False)
    ]
    parts += svg.ticks_below(svg.with_words(ticks) if dates is None else dates.ticks, across, base, right)
    if missing is not None:
        x = right + MISSING / 2 + 2
        parts += [*missing_point(missing, up, x, hints[-1]), svg.text(x, base + 17, "missing", "tick small", "middle")]
        names = [*names, "missing"]
    caption = _summary(names, values, units)
    reach = interval(edges[0], edges[-1]) if dates is None else f"{dates.names[0]} to {dates.names[-1]}"
    description = f"Effect on {units.what} over {reach}. {caption}"
    markup = svg.figure(WIDTH, HEIGHT, name, description, "".join(parts), identity)
    rows, points = table(names, values, units), points_of(names, values, edges)
    return Drawing(name, "curve", markup, caption, spread(values), units.header, rows, points=points)


def step_curve(pixels: Sequence[float], effects: Sequence[Effect], up: svg.Scale) -> list[str]:
    """The band of the noise of bins between the pixels, and the steps of their effects."""
    steps = [(x, effect) for pair, effect in zip(pairwise(pixels), effects, strict=True) for x in pair]
    below = [(x, up.within(effect.low)) for x, effect in reversed(steps)]
    return [
        svg.path([*((x, up.within(effect.high)) for x, effect in steps), *below], "band", closed=True),
        svg.path([(x, up.within(effect.value)) for x, effect in steps], "curve"),
    ]


def rows_below(pixels: Sequence[float], effects: Sequence[Effect], names: Sequence[str], base: float) -> list[str]:
    """The strip that shows where the rows are, and the axis below it."""
    wide = [max(b - a, THIN) for a, b in pairwise(pixels)]
    dense = [max(e.support, 0.0) / width for e, width in zip(effects, wide, strict=True)]
    tallest, parts = max(dense, default=0.0) or 1.0, []
    for (a, b), width, value, name, effect in zip(pairwise(pixels), wide, dense, names, effects, strict=True):
        height, hint = SUPPORT * value / tallest, f"{name}: about {svg.short(effect.support)} rows"
        parts.append(svg.rect((a + b - width) / 2, base - height, width, height, "support", hint))
    return [*parts, svg.line(pixels[0], base, pixels[-1], base, "axis")]


def missing_point(effect: Effect, up: svg.Scale, x: float, hint: str) -> list[str]:
    """The effect of missing values with its noise, right of a curve."""
    point = svg.element("circle", svg.hint(hint), cx=x, cy=up.within(effect.value), r=3.5, class_="point")
    return [svg.line(x, up.within(effect.high), x, up.within(effect.low), "whisker"), point]


MOST_BARS = 14
SPECIAL = ("other", "missing")
"""Bins that every categorical column has."""


def _is_number(words: str) -> bool:
    try:
        return isinstance(float(words), float)
    except ValueError:
        return False


def bars(
    name: str,
    categories: Sequence[str],
    effects: Sequence[Effect],
    identity: str,
    units: Units = ODDS,
    ordinal: bool = False,
) -> Drawing:
    """Bars per category, "other" and "missing" among them, with noise whiskers; of very many, those of most rows.

    Sorted by effect, but categories that are numbers, or of an ordinal column, keep their order.
    """
    pairs = sorted(zip(categories, effects, strict=True), key=lambda p: -p[1].support)[:MOST_BARS]
    if all(_is_number(category) for category, _ in pairs if category not in SPECIAL):
        pairs.sort(key=lambda p: (0, float(p[0])) if p[0] not in SPECIAL else (1 + SPECIAL.index(p[0]), 0.0))
    elif ordinal:
        pairs.sort(key=lambda p: categories.index(p[0]))
    else:
        pairs.sort(key=lambda p: -p[1].value)
    row, height = 19, TOP + 19 * len(pairs) + 26
    aside = [e for category, e in pairs if category in SPECIAL]
    scale = _vertical([e for category, e in pairs if category not in SPECIAL], WIDTH - RIGHT, LABEL, units, aside)
    parts = _axis_below(scale, units.ticks(scale.low, scale.high), height)
    most = max((e.support for _, e in pairs), default=0.0)
    for place, (category, effect) in enumerate(pairs):
        y = TOP + row * place
        start, stop = sorted((scale(0.0), scale.within(effect.value)))
        hint = f"{category}: {units.say(effect.value)}, about {svg.short(effect.support)} rows"
        noise = category in SPECIAL and abs(effect.value) < CLEAR * effect.sd
        faint = " faint" if noise or effect.support < FAINT * most else ""
        parts.append(svg.text(LABEL - 10, y + 13, svg.shortened(category, LABEL - 12), f"name{faint}", "end"))
        css = f"{'plus' if effect.value >= 0 else 'minus'}{faint}"
        parts.append(svg.rect(start, y + 3, stop - start, row - 7, css, hint))
        middle = y + row / 2 - 0.5
        parts.append(svg.line(scale.within(effect.low), middle, scale.within(effect.high), middle, f"whisker{faint}"))
    caption = _summary(categories, effects, units)
    if len(categories) > len(pairs):
        caption += f" Drawn: the {len(pairs)} of {len(categories)} values with most rows."
    description = f"Effect of each value on {units.what}. {caption}"
    markup = svg.figure(WIDTH, height, name, description, "".join(parts), identity)
    rows, points = table(categories, effects, units), points_of(categories, effects)
    return Drawing(name, "bars", markup, caption, spread(effects), units.header, rows, points=points)


MOST_WEIGHTS = 24
TYPICAL = "Typical size of the effect over the rows, in log-odds: 0.7 doubles or halves the odds."


def weights(title: str, coordinates: Sequence[tuple[str, float, float]], identity: str) -> Drawing:
    """The weights of a halfspace as bars, largest first: names, weights and standard deviations of their noise."""
    ranked = sorted(coordinates, key=lambda one: -abs(one[1]))
    listed = ranked[:MOST_WEIGHTS]
    row, label, height = 20, NAMES, TOP + 20 * len(listed) + 26
    reach = max((abs(v) + BAND * sd for _, v, sd in listed), default=1.0) or 1.0
    scale = svg.Scale(-reach, reach, label, WIDTH - RIGHT)
    parts = _axis_below(scale, [(tick, svg.short(tick)) for tick in svg.even_ticks(-reach, reach, 4)], height)
    for place, (name, value, sd) in enumerate(listed):
        y = TOP + row * place
        start, stop = sorted((scale(0.0), scale(value)))
        parts.append(svg.text(label - 10, y + 14, svg.shortened(name, NAMES - 12), "name", "end"))
        css = "plus" if value >= 0 else "minus"
        parts.append(svg.rect(start, y + 3, stop - start, row - 7, css, f"{name}: {value:+.4f}"))
        if sd > 0:
            low, high = scale(value - BAND * sd), scale(value + BAND * sd)
            parts.append(svg.line(low, y + row / 2, high, y + row / 2, "whisker"))
    caption = "Right of the line speaks for the positive class, left against it."
    if len(ranked) > len(listed):
        caption += f" Drawn: the {len(listed)} largest of {len(ranked)}."
    markup = svg.figure(WIDTH, height, title, caption, "".join(parts), identity)
    rows = tuple((name, f"{value:+.4f}", f"{sd:.4f}") for name, value, sd in ranked)
    points = points_of([name for name, _, _ in ranked], [Effect(value, sd) for _, value, sd in ranked])
    header = ("coordinate", "weight", "noise (sd)")
    return Drawing(title, "weights", markup, caption, 0.0, header, rows, wide=True, points=points)


def ranking(
    title: str, names: Sequence[str], importances: Sequence[float], identity: str, caption: str = TYPICAL
) -> Drawing:
    """An overview: how much each part moves predictions, largest first."""
    ranked = sorted(zip(names, importances, strict=True), key=lambda p: -p[1])[:MOST_WEIGHTS]
    row, label, height = 20, NAMES, TOP + 20 * len(ranked) + 4
    most = max((v for _, v in ranked), default=0.0) or 1.0
    parts = []
    for place, (name, value) in enumerate(ranked):
        y = TOP + row * place
        length = (WIDTH - RIGHT - label - 44) * value / most
        parts.append(svg.text(label - 10, y + 14, svg.shortened(name, NAMES - 12), "name", "end"))
        parts.append(svg.rect(label, y + 3, max(length, 1.0), row - 7, "plain", f"{name}: {value:.3g}"))
        parts.append(svg.text(label + max(length, 1.0) + 6, y + 14, svg.short(value), "tick"))
    markup = svg.figure(WIDTH, height, title, caption, "".join(parts), identity)
    rows = tuple((name, f"{value:.4f}") for name, value in ranked)
    points = tuple({"value": name, "effect": float(value)} for name, value in ranked)
    return Drawing(title, "bars", markup, caption, most, ("part", "typical effect"), rows, wide=True, points=points)
