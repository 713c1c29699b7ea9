"""The portrait of an additive model of several classes: per column a row for every class, on one scale."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tacit.models.additive import Feature, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveClassesModel
from tacit.models.base import Model
from tacit.report.class_drawing import class_bars, class_curves
from tacit.report.draw_scores import (
    NOISE,
    effects_of,
    held_to,
    overview,
    parts_of,
    public_feature,
    side_of,
    tree_ranking,
)
from tacit.report.drawing import Drawing, heat_map
from tacit.report.portrait import Portrait


def draw(model: Model) -> Portrait:
    """The portrait of an :class:`AdditiveClassesModel`; main effects by importance, then interactions, then trees."""
    additive = cast(AdditiveClassesModel, model)
    scores, names = additive.scores, [str(name) for name in additive.classes]
    mains = [_main(scores.features[m.feature], m, names, f"main{i}") for i, m in enumerate(scores.mains)]
    mains.sort(key=lambda d: -d.importance)
    pairs = [_pair(additive, p, names, f"pair{i}") for i, p in enumerate(scores.pairs)]
    pairs.sort(key=lambda d: -d.importance)
    caption = "Typical size of the effects on all classes together over the rows, in log-odds."
    return Portrait(
        f"An additive model of {len(names)} classes: {parts_of(scores)}",
        "Each drawing has a row for every class, all on one scale: above the dotted line a value speaks for the class, "
        "below it against. Effects are factors of a class's odds, measured against the (geometric) mean of all classes."
        f" {NOISE}",
        (overview(scores, caption), *mains, *pairs, *tree_ranking(scores, "log-odds, all classes together")),
        tuple(public_feature(f) for f in scores.features),
    )


def _main(feature: Feature, main: MainEffect, names: list[str], identity: str) -> Drawing:
    centred = main.effect - main.effect.mean(axis=1, keepdims=True)
    effects = [effects_of(centred[:, k], main.sd[:, k], main.counts) for k in range(len(names))]
    if feature.ordered:
        drawn = class_curves(feature.name, [float(e) for e in feature.edges()], names, effects, identity)
        way = "rise" if feature.monotone == "increasing" else "fall"
        return held_to(drawn, feature, f"The odds of a class against the one before it {way} or stay")
    return class_bars(feature.name, feature.bin_labels(), names, effects, identity)


def _pair(model: AdditiveClassesModel, pair: PairEffect, names: list[str], identity: str) -> Drawing:
    """The class that the pair moves most; the model file holds the others."""
    centred = pair.effect - pair.effect.mean(axis=2, keepdims=True)
    sizes = (pair.counts[:, :, None] * centred**2).sum(axis=(0, 1))
    most = int(sizes.argmax())
    first, second = (side_of(model.features[i], g) for i, g in zip(pair.features, pair.groups, strict=True))
    rows = [effects_of(centred[i, :, most], pair.sd[i, :, most], pair.counts[i]) for i in range(len(centred))]
    drawn = heat_map(first, second, rows, identity)
    return replace(drawn, caption=f"For {names[most]}, which it moves most. {drawn.caption}")
