"""The model card of an additive model: an overview, a curve or bars per column, a map per interaction.

Models of two classes, of several and of numbers share their parts; they differ in the units of effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.models.additive import TREES, AdditiveModel, AdditiveScores, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model
from tacit.models.feature import Feature
from tacit.models.summary import terms_beyond_noise
from tacit.models.tree_importance import total_effects
from tacit.report import svg
from tacit.report.class_drawing import class_bars, class_curves
from tacit.report.drawing import (
    HEIGHT,
    RIGHT,
    TYPICAL,
    WIDTH,
    Drawing,
    Effect,
    bars,
    curve,
    points_of,
    ranking,
    spread,
    table,
)
from tacit.report.model_card import ModelCard, PublicColumn, public_column
from tacit.report.places import ODDS, Amounts, Ratios, Units, date_spans, dates_of, named

NOISE = (
    "The shaded band, or the thin line on a bar, is the noise (two standard deviations each way). Pale bars stand for "
    "values that hardly any rows have, or for “other” and “missing” where they may be noise alone. The grey strip "
    "below a curve shows where rows are, as far as the noise allows."
)

CHANCES = (
    "With doubled odds a chance of 10 % becomes 18 %, and one of 50 % becomes 67 %; with halved odds 5 % and 33 %."
)
"""What factors of odds mean."""

FLAT = "Where noise said otherwise the curve is flat"
"""What is done to a single curve that is declared to rise or to fall."""


def draw(model: Model, ordinals: Collection[str] = ()) -> ModelCard:
    """The model card of an additive model; main effects by importance, then interactions and trees."""
    if isinstance(model, AdditiveClassesModel):
        return _of_classes(model)
    if isinstance(model, AdditiveOrderedModel):
        return _of_ordered(model, ordinals)
    if isinstance(model, AdditiveRegressionModel):
        return _of_a_number(model, ordinals)
    assert isinstance(model, AdditiveModel)
    return _of_two_classes(model, ordinals)


def _of_two_classes(model: AdditiveModel, ordinals: Collection[str]) -> ModelCard:
    positive, scores, importance = model.classes[-1], model.scores, model.importance()
    mains = _mains(scores, lambda feature, main, identity: _main(feature, main, ODDS, identity, ordinals))
    mains.sort(key=lambda d: -importance.get(d.title, d.importance))
    reading = (
        f"Each drawing shows by which factor a value changes the odds of “{positive}”: ×2 doubles and ÷2 halves them. "
        f"{CHANCES}"
    )
    return _card(f"An additive model of “{positive}”", reading, scores, mains, _pairs(scores, ODDS))


def _of_classes(model: AdditiveClassesModel) -> ModelCard:
    """Per column a row for every class, on one scale."""
    scores, names = model.scores, [str(name) for name in model.classes]
    mains = _mains(scores, lambda feature, main, identity: main_of_classes(feature, main, names, identity))
    pairs = [_pair_of_classes(scores, p, names, f"pair{i}") for i, p in enumerate(scores.pairs)]
    pairs.sort(key=lambda d: -d.importance)
    reading = (
        "Each drawing has a row for every class, all on one scale: above the dotted line a value speaks for the class, "
        "below it against, up to the factor at the lower left. Effects are factors of a class's odds, measured against "
        "the (geometric) mean of all classes."
    )
    caption = "Typical size of the effects on all classes together over the rows, in log-odds."
    what, unit = f"An additive model of {len(names)} classes", "log-odds, all classes together"
    return _card(what, reading, scores, mains, pairs, caption, unit)


def _of_ordered(model: AdditiveOrderedModel, ordinals: Collection[str]) -> ModelCard:
    """One curve per column: a factor of the odds of a higher class, whichever the class."""
    scores = model.scores
    cuts = zip(model.classes, model.cuts, strict=False)
    mains = _mains(scores, lambda feature, main, identity: _main(feature, main, ODDS, identity, ordinals))
    starts = ", ".join(f"{100 / (1 + math.exp(scores.intercept[0] - cut)):.0f} % {name}" for name, cut in cuts)
    reading = (
        f"The classes in their order: {model.says}. Each drawing shows by which factor a value changes the odds of a "
        "higher class, at every step of the order alike: ×2 doubles them, ÷2 halves them. Of rows without effects, so "
        f"many are in a class or a lower one: {starts}."
    )
    what, unit = f"An additive model of {len(model.classes)} ordered classes", "log-odds of a higher class"
    return _card(what, reading, scores, mains, _pairs(scores, ODDS), unit=unit)


def _of_a_number(model: AdditiveRegressionModel, ordinals: Collection[str]) -> ModelCard:
    """In units of the target; of a count or a cost, whose effects multiply under a log link, in ratios."""
    target, scores, start = model.target, model.scores, float(model.scores.intercept[0])
    lower, upper = svg.short(float(model.lower)), svg.short(float(model.upper))
    units: Units
    if model.power is not None:
        units, what, unit = Ratios(target), "logarithm of the mean", f"the logarithm of the mean of {target}"
        sizes = f"as the logarithm of a ratio of means of {target}"
        reading = (
            f"Each drawing shows by which factor a value changes the mean of “{target}”: ×2 doubles it, ÷2 halves it. "
            f"Factors multiply, start from {svg.short(math.exp(start))}, and predictions are kept between {lower} and "
            f"{upper}."
        )
    else:
        units, unit, sizes = Amounts(target, model.upper - model.lower), f"units of {target}", f"in units of {target}"
        what = "mean" if model.loss == "squared" else f"{100 * model.quantile:g} % quantile"
        reading = (
            f"Each drawing shows how much a value raises or lowers the {what} of “{target}”, which starts from "
            f"{svg.short(start)} and is kept between {lower} and {upper}."
        )
    mains = _mains(scores, lambda feature, main, identity: _main(feature, main, units, identity, ordinals))
    what, caption = (
        f"An additive model of the {what} of “{target}”",
        f"Typical size of the effect over the rows, {sizes}.",
    )
    label = f"The target “{target}” and its bounds, {lower} to {upper}; values outside were clipped."
    return replace(_card(what, reading, scores, mains, _pairs(scores, units), caption, unit), label=label)


def _card(
    what: str, reading: str, scores: AdditiveScores, mains: list[Drawing], pairs: list[Drawing],
    caption: str = TYPICAL, unit: str = "log-odds",
) -> ModelCard:  # fmt: skip
    """The card: ``what`` the model is, how to read it, and in which words sizes and those of trees are given."""
    drawings = (*overview(scores, caption), *mains, *pairs, *tree_ranking(scores, unit))
    public = tuple(public_feature(feature) for feature in scores.features)
    return ModelCard(f"{what}: {parts_of(scores)}", f"{reading} {NOISE}", drawings, public)


def _mains(scores: AdditiveScores, drawing: Callable[[Feature, MainEffect, str], Drawing]) -> list[Drawing]:
    """The columns, most important ones first."""
    drawings = [drawing(scores.features[m.feature], m, f"main{i}") for i, m in enumerate(scores.mains)]
    return sorted(drawings, key=lambda d: -d.importance)


def _pairs(scores: AdditiveScores, units: Units) -> list[Drawing]:
    """The interactions of one score, most important ones first."""
    drawings = [_pair(scores, p, 0, p.effect, f"pair{i}", units) for i, p in enumerate(scores.pairs)]
    return sorted(drawings, key=lambda d: -d.importance)


def _main(feature: Feature, main: MainEffect, units: Units, identity: str, ordinals: Collection[str]) -> Drawing:
    effects = effects_of(main.effect[:, 0], main.sd[:, 0], main.counts)
    if feature.ordered:
        edges = [float(e) for e in feature.edges()]
        drawing = curve(feature.name, edges, effects[:-1], effects[-1], identity, units, dates_of(feature))
        return held_to(drawing, feature, FLAT)
    return bars(feature.name, feature.bin_labels(), effects, identity, units, feature.name in ordinals)


def main_of_classes(feature: Feature, main: MainEffect, names: list[str], identity: str) -> Drawing:
    """A row for every class: what the bins of a column say against the mean of all classes."""
    centred = main.effect - main.effect.mean(axis=1, keepdims=True)
    effects = [effects_of(centred[:, k], main.sd[:, k], main.counts) for k in range(len(names))]
    if feature.ordered:
        edges = [float(e) for e in feature.edges()]
        drawing = class_curves(feature.name, edges, names, effects, identity, dates_of(feature))
        way = "rise" if feature.monotone == "increasing" else "fall"
        return held_to(drawing, feature, f"The odds of a class against the one before it {way} or stay")
    return class_bars(feature.name, feature.bin_labels(), names, effects, identity)


def _pair(
    scores: AdditiveScores, pair: PairEffect, score: int, effect: Floats, identity: str, units: Units = ODDS
) -> Drawing:
    first, second = (side_of(scores.features[i], g) for i, g in zip(pair.features, pair.groups, strict=True))
    rows = [effects_of(effect[i, :, score], pair.sd[i, :, score], pair.counts[i]) for i in range(len(effect))]
    return heat_map(first, second, rows, identity, units)


def _pair_of_classes(scores: AdditiveScores, pair: PairEffect, names: list[str], identity: str) -> Drawing:
    """The class that the pair moves most; the model file holds the others."""
    centred = pair.effect - pair.effect.mean(axis=2, keepdims=True)
    most = int((pair.counts[:, :, None] * centred**2).sum(axis=(0, 1)).argmax())
    drawing = _pair(scores, pair, most, centred, identity)
    return replace(drawing, caption=f"For {names[most]}, which it moves most. {drawing.caption}")


def held_to(drawing: Drawing, feature: Feature, how: str) -> Drawing:
    """The drawing of a column, with a word on its declared direction if there is one, and on how it is held to."""
    if feature.monotone is None:
        return drawing
    text = f"Declared to be {feature.monotone}, and held to it. {how}."
    return replace(drawing, caption=f"{drawing.caption} {text}".strip())


def public_feature(feature: Feature) -> PublicColumn:
    """A column's line in the list of public facts."""
    line = public_column(feature.name, feature.encoder)
    return line if feature.monotone is None else replace(line, facts=f"{line.facts}, {feature.monotone}")


def effects_of(values: Floats, sds: Floats, counts: Floats) -> list[Effect]:
    """Effects over bins."""
    return [Effect(float(v), float(s), float(c)) for v, s, c in zip(values, sds, counts, strict=True)]


def parts_of(model: AdditiveScores) -> str:
    """How many columns, interactions and trees add up, in words."""
    columns = "1 column" if len(model.mains) == 1 else f"{len(model.mains)} columns"
    plural = "s" if len(model.pairs) > 1 else ""
    pairs = f" and {len(model.pairs)} interaction{plural} of two" if model.pairs else ""
    start = f"the effects of {columns}{pairs} add up"
    if not model.trees:
        return f"{start}, so what is drawn here is all of it."
    return f"{start}, and {len(model.trees)} trees correct what these leave over."


def overview(scores: AdditiveScores, caption: str = TYPICAL) -> list[Drawing]:
    """The parts that stand out of the noise by how much they move predictions; no drawing where none does."""
    importance, beyond = scores.importance(), terms_beyond_noise(scores)
    sizes = {name.replace(" x ", " × "): size for name, size in importance.items() if name in beyond}
    if not sizes:
        return []
    if len(sizes) < len(importance):
        caption += " Effects within the noise are left out."
    return [ranking("What matters most", list(sizes), list(sizes.values()), "overview", caption)]


def tree_ranking(scores: AdditiveScores, unit: str) -> list[Drawing]:
    """The trees together: how far each column moves their sum (:mod:`tacit.models.tree_importance`)."""
    if not scores.trees:
        return []
    moved = total_effects(scores.trees, [feature.n_bins for feature in scores.features])
    places = np.flatnonzero(moved > 0)
    names = [scores.features[j].name for j in places]
    what = f"How far the column alone, drawn anew, moves the sum of trees, in {unit}."
    drawing = ranking(TREES, names, [float(moved[j]) for j in places], "trees", what)
    leaves = sum(tree.shape.n_leaves for tree in scores.trees)
    caption = (
        f"{len(scores.trees)} trees with {leaves:,} leaves in all, too many to draw: how far a column "
        f"alone, drawn anew, moves their sum, noise taken off, in {unit}. The model file holds every rule of them."
    )
    return [replace(drawing, caption=caption, wide=False)]


@dataclass(frozen=True)
class Side:
    """One side of a pair: its name and the labels of its cells."""

    name: str
    labels: tuple[str, ...]


FULL_COLOUR = 10.0
"""An interaction of fewer least effects than this (odds ×1.22) does not get the full colour anywhere."""


def heat_map(
    first: Side, second: Side, effects: Sequence[Sequence[Effect]], identity: str, units: Units = ODDS
) -> Drawing:
    """A pair as a map: one cell per combination, the colour is its direction, the strength its size.

    ``effects[i][j]`` belongs to the i-th label of ``first``, from the bottom up, and the j-th of ``second``.
    """
    largest = max((abs(e.value) for one in effects for e in one), default=0.0)
    reach = max(largest, FULL_COLOUR * units.least)
    edge, top, bottom = 92, 26, 46
    cell_width = (WIDTH - edge - RIGHT) / len(second.labels)
    cell_height = min(26.0, (HEIGHT + 40 - top - bottom) / len(first.labels))
    height = top + cell_height * len(first.labels) + bottom
    parts, rows = [svg.text(edge - 6, 14, svg.fitted(first.name, edge - 8), "name", "end")], list[tuple[str, ...]]()
    for i, one in enumerate(effects):
        y = top + cell_height * (len(first.labels) - 1 - i)
        parts.append(svg.text(edge - 6, y + cell_height / 2 + 4, svg.fitted(first.labels[i], edge - 8), "tick", "end"))
        for j, effect in enumerate(one):
            label = f"{first.name} {first.labels[i]}, {second.name} {second.labels[j]}: {units.say(effect.value)}"
            strength = round(min(abs(effect.value) / reach, 1.0), 3)
            css, place = f"cell {'plus' if effect.value >= 0 else 'minus'}", (edge + cell_width * j, y)
            parts.append(svg.rect(*place, cell_width - 1, cell_height - 1, css, label, fill_opacity=strength))
        rows += table([f"{first.labels[i]} / {label}" for label in second.labels], one, units)
    floor = top + cell_height * len(first.labels)
    every = max(1, math.ceil(len(second.labels) / max(1.0, (WIDTH - edge - RIGHT) / 58)))
    widest = svg.SMALLER * max(svg.text_width(label) for label in second.labels) + 4
    every = max(every, min(3, math.ceil(widest / cell_width)))  # every third label whole says more than halves of all
    for j in range(0, len(second.labels), every):
        words = svg.fitted(second.labels[j], max(40.0, every * cell_width - 4))
        parts.append(svg.text(edge + cell_width * (j + 0.5), floor + 15, words, "tick", "middle"))
    parts.append(svg.text((edge + WIDTH - RIGHT) / 2, height - 8, second.name, "name", "middle"))
    title = f"{first.name} × {second.name}"
    caption = f"Beyond what each does alone; at most {units.say(largest)} or {units.say(-largest)}."
    markup = svg.figure(WIDTH, math.ceil(height), title, caption, "".join(parts), identity)
    points = [
        point | {"column": second.name, "column_value": point["value"]}
        for one, label in zip(effects, first.labels, strict=True)
        for point in points_of(second.labels, one, row=first.name, row_value=label)
    ]
    return Drawing(
        title,
        "map",
        markup,
        caption,
        spread([e for one in effects for e in one]),
        units.header,
        tuple(rows),
        points=tuple(points),
    )


def side_of(feature: Feature, groups: Ints) -> Side:
    """What to call the groups of bins of one side of a pair."""
    count = int(groups.max()) + 1
    if not feature.ordered:
        labels = feature.bin_labels()
        members = [[labels[b] for b in np.flatnonzero(groups == g)] for g in range(count)]
        return Side(feature.name, tuple(m[0] if len(m) == 1 else f"{len(m)} others" for m in members))
    edges = feature.edges()
    inside = [np.flatnonzero(groups[: len(edges) - 1] == group) for group in range(count)]
    ends = [(int(bins[0]), int(bins[-1])) for bins in inside if len(bins)]
    if dates_of(feature) is None:
        names = iter(named([(float(edges[first]), float(edges[last + 1])) for first, last in ends], "–", ">"))
    else:
        names = iter(date_spans(feature, ends, "–"))
    return Side(feature.name, tuple(next(names) if len(bins) else "missing" for bins in inside))
