"""Drawings of effects on several classes at once: a row per class, one above the other, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tacit.models.summary import CLEAR
from tacit.report import svg
from tacit.report.drawing import (
    LABEL,
    MISSING,
    NOTHING,
    RIGHT,
    SUPPORT,
    WIDTH,
    Drawing,
    Effect,
    missing_point,
    points_of,
    rows_below,
    spread,
    step_curve,
    table,
    worth_naming,
)
from tacit.report.places import ODDS, Dates, factor, intervals

ROW = 38
"""Height of the row of a class."""

TOP, BOTTOM = 10, 26
LEAST_REACH = 0.3
"""Effects smaller than this do not fill their rows."""

Rows = tuple[tuple[str, ...], ...]


def class_curves(
    name: str,
    edges: Sequence[float],
    classes: Sequence[str],
    effects: Sequence[Sequence[Effect]],
    identity: str,
    dates: Dates | None = None,
) -> Drawing:
    """A step curve over a numeric feature for every class, with its noise band; below them, where the rows are.

    ``effects`` has a line per class: an effect per bin, the missing bin's last. ``identity`` is unique on the page.
    ``dates`` says what the bins are called where they are no numbers.
    """
    right, gap = WIDTH - RIGHT - MISSING, WIDTH - RIGHT - MISSING / 2 + 2
    places = [*(intervals(edges) if dates is None else dates.names), "missing"]
    across, ticks = svg.bent_axis(edges, LABEL + 2, right)
    pixels = [across(edge) for edge in edges]
    reach = _reach(effects)
    parts = []
    for place, (label, line) in enumerate(zip(classes, effects, strict=True)):
        top = TOP + ROW * place
        up = svg.Scale(-reach, reach, top + ROW - 3, top + 3)
        parts += [*_frame(label, top, up(0.0), right), *step_curve(pixels, line[:-1], up)]
        parts += [
            svg.rect(a, top, b - a, ROW, "hover", f"{label}: {ODDS.say(effect.value)}")
            for (a, b), effect in zip(pairwise(pixels), line[:-1], strict=True)
        ]
        parts += missing_point(line[-1], up, gap, f"{label}, missing: {ODDS.say(line[-1].value)}")
    base = TOP + ROW * len(classes) + SUPPORT + 4
    parts += rows_below(pixels, effects[0][:-1], places[:-1], base)
    parts += svg.ticks_below(svg.with_words(ticks) if dates is None else dates.ticks, across, base, right)
    parts.append(svg.text(gap, base + 17, "missing", "tick small", "middle"))
    parts.append(_scale(reach, base))
    drawing = _drawing(name, "curve", places, classes, effects, "".join(parts), base + BOTTOM, identity)
    return replace(drawing, points=_points(places, classes, effects, edges))


def class_bars(
    name: str, categories: Sequence[str], classes: Sequence[str], effects: Sequence[Sequence[Effect]], identity: str
) -> Drawing:
    """A row per class, in it a bar per category, all on one scale; ``effects`` has a line per class."""
    reach, width = _reach(effects), (WIDTH - RIGHT - LABEL) / max(len(categories), 1)
    parts = []
    for place, (label, line) in enumerate(zip(classes, effects, strict=True)):
        top = TOP + ROW * place
        zero = svg.Scale(-reach, reach, top + ROW - 3, top + 3)
        parts += _frame(label, top, zero(0.0), WIDTH - RIGHT)
        for j, (effect, category) in enumerate(zip(line, categories, strict=True)):
            low, high = sorted((zero(0.0), zero.within(effect.value)))
            hint = f"{label}, {category}: {ODDS.say(effect.value)}"
            css = "plus" if effect.value >= 0 else "minus"
            parts.append(svg.rect(LABEL + width * (j + 0.15), low, 0.7 * width, max(high - low, 1.0), css, hint))
            middle = LABEL + width * (j + 0.5)
            parts.append(svg.line(middle, zero.within(effect.low), middle, zero.within(effect.high), "whisker"))
    base = TOP + ROW * len(classes)
    parts.append(_scale(reach, base))
    every = max(1, round(46 / max(width, 1.0)))
    for j in range(0, len(categories), every):
        words = svg.fitted(categories[j], max(40.0, every * width - 4))
        parts.append(svg.text(LABEL + width * (j + 0.5), base + 15, words, "tick", "middle"))
    drawing = _drawing(name, "bars", categories, classes, effects, "".join(parts), base + BOTTOM, identity)
    return replace(drawing, points=_points(categories, classes, effects))


def _points(
    places: Sequence[str], classes: Sequence[str], effects: Sequence[Sequence[Effect]], edges: Sequence[float] = ()
) -> tuple[dict[str, Any], ...]:
    lines = zip(classes, effects, strict=True)
    return tuple(point for label, line in lines for point in points_of(places, line, edges, outcome=label))


def _least_support(effects: Sequence[Sequence[Effect]]) -> float:
    """From how many rows on a place counts; every class has the same places."""
    return worth_naming([e.support for e in effects[0]] if effects else [])


def _reach(effects: Sequence[Sequence[Effect]]) -> float:
    """How far the scale of every row goes: to the largest effect of a place that holds rows."""
    least = _least_support(effects)
    sizes = [abs(e.value) for line in effects for e in line if e.support >= least]
    return max([LEAST_REACH, *sizes])


def _scale(reach: float, base: float) -> str:
    """What the top of every row stands for, below their names."""
    return svg.text(LABEL - 26, base + 17, f"up to {factor(reach)}", "tick small", "end")


def _frame(label: str, top: float, zero: float, right: float) -> list[str]:
    return [
        svg.text(LABEL - 10, top + ROW / 2 + 4, svg.shortened(label, LABEL - 12), "name", "end"),
        svg.line(LABEL + 2, zero, right, zero, "zero"),
    ]


def _drawing(
    name: str,
    kind: str,
    places: Sequence[str],
    classes: Sequence[str],
    effects: Sequence[Sequence[Effect]],
    markup: str,
    height: float,
    identity: str,
) -> Drawing:
    caption = _caption(places, classes, effects)
    lines = zip(classes, effects, strict=True)
    rows = tuple(row for label, line in lines for row in table([f"{label}, {place}" for place in places], line, ODDS))
    markup_of_figure = svg.figure(
        WIDTH, int(height), name, f"Effect on the odds of every class. {caption}", markup, identity
    )
    importance = sum(spread(line) ** 2 for line in effects) ** 0.5
    return Drawing(name, kind, markup_of_figure, caption, importance, ODDS.header, rows)


def _caption(places: Sequence[str], classes: Sequence[str], effects: Sequence[Sequence[Effect]]) -> str:
    """Where a class gains most among the places that hold rows, or what noise explains least."""
    least = _least_support(effects)
    effects_beyond = [
        (e.value, label, place, e.sd)
        for label, line in zip(classes, effects, strict=True)
        for place, e in zip(places, line, strict=True)
        if e.support >= least
    ]
    if not effects_beyond or max(abs(term[0]) for term in effects_beyond) < ODDS.least:
        return NOTHING
    value, label, place, sd = max(effects_beyond)
    if value >= max(CLEAR * sd, ODDS.least):
        return f"Most evidence for {label}: at {place} ({ODDS.say(value)})."
    value, label, place, sd = max(effects_beyond, key=lambda term: abs(term[0]) / max(term[3], 1e-12))
    if abs(value) < max(CLEAR * sd, ODDS.least):
        return NOTHING
    return f"Speaks {'for' if value > 0 else 'against'} {label} at {place} ({ODDS.say(value)})."
