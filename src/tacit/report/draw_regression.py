"""The portrait of an additive model of a number: a curve or bars per column, in units of the target."""

from __future__ import annotations

from typing import cast

from tacit.models.additive import Feature, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.models.base import Model
from tacit.report import svg
from tacit.report.draw_scores import (
    FLAT,
    NOISE,
    effects_of,
    held_to,
    overview,
    parts_of,
    public_feature,
    side_of,
    tree_ranking,
)
from tacit.report.drawing import Drawing, bars, curve, heat_map
from tacit.report.portrait import Portrait
from tacit.report.units import Amounts


def draw(model: Model) -> Portrait:
    """The portrait of an :class:`AdditiveRegressionModel`: main effects by importance, interactions, trees."""
    additive = cast(AdditiveRegressionModel, model)
    scores, units = additive.scores, Amounts(additive.target, additive.upper - additive.lower)
    mains = [_main(scores.features[m.feature], m, units, f"main{i}") for i, m in enumerate(scores.mains)]
    mains.sort(key=lambda d: -d.importance)
    pairs = [_pair(additive, p, units, f"pair{i}") for i, p in enumerate(scores.pairs)]
    pairs.sort(key=lambda d: -d.importance)
    what = "mean" if additive.loss == "squared" else f"{100 * additive.quantile:g} % quantile"
    caption = f"Typical size of the effect over the rows, in units of {additive.target}."
    start = svg.short(float(scores.intercept[0]))
    return Portrait(
        f"An additive model of the {what} of “{additive.target}”: {parts_of(scores)}",
        f"Each drawing says by how much a value raises or lowers the {what} of “{additive.target}”, which starts from "
        f"{start} and is kept between {svg.short(additive.lower)} and {svg.short(additive.upper)}. {NOISE}",
        (overview(scores, caption), *mains, *pairs, *tree_ranking(scores, f"units of {additive.target}")),
        tuple(public_feature(f) for f in scores.features),
        f"The target “{additive.target}” and its bounds, {svg.short(additive.lower)} to {svg.short(additive.upper)}; "
        "values outside were clipped.",
    )


def _main(feature: Feature, main: MainEffect, units: Amounts, identity: str) -> Drawing:
    effects = effects_of(main.effect[:, 0], main.sd[:, 0], main.counts)
    if feature.ordered:
        edges = [float(e) for e in feature.edges()]
        return held_to(curve(feature.name, edges, effects[:-1], effects[-1], identity, units), feature, FLAT)
    return bars(feature.name, feature.bin_labels(), effects, identity, units)


def _pair(model: AdditiveRegressionModel, pair: PairEffect, units: Amounts, identity: str) -> Drawing:
    first, second = (side_of(model.features[i], g) for i, g in zip(pair.features, pair.groups, strict=True))
    rows = [effects_of(pair.effect[i, :, 0], pair.sd[i, :, 0], pair.counts[i]) for i in range(len(pair.effect))]
    return heat_map(first, second, rows, identity, units)
