"""The portrait of an additive model: an overview, a curve or bars per column, a map per interaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import numpy as np

from tacit.arrays import Floats
from tacit.models.additive import SMOOTH, TREES, AdditiveModel, Feature, MainEffect, PairEffect
from tacit.models.base import Model
from tacit.models.fourier_features import FourierTerm
from tacit.report.draw_scores import FLAT, NOISE, held_to, parts_of, public_feature, side_of
from tacit.report.drawing import Drawing, Effect, bars, curve, heat_map, ranking
from tacit.report.portrait import Portrait


def draw(model: Model) -> Portrait:
    """The portrait of an :class:`AdditiveModel`; main effects by importance, interactions, and all columns together."""
    additive = cast(AdditiveModel, model)
    positive = additive.classes[-1]
    importance = additive.importance()
    mains = [_main(additive.features[m.feature], m, f"main{i}") for i, m in enumerate(additive.mains)]
    mains.sort(key=lambda d: -importance.get(d.title, d.importance))
    pairs = [_pair(additive, p, f"pair{i}") for i, p in enumerate(additive.pairs)]
    pairs.sort(key=lambda d: -d.importance)
    names = [name.replace(" x ", " × ") for name in importance]
    overview = ranking("What matters most", names, list(importance.values()), "overview")
    smooth = [_smooth(additive, additive.fourier)] if additive.fourier else []
    trees = [_trees(additive)] if additive.trees else []
    return Portrait(
        f"An additive model of “{positive}”: {parts_of(additive)}",
        f"Each drawing says by what factor a value changes the odds of “{positive}”: ×2 doubles them, ÷2 halves them. "
        f"{NOISE}",
        (overview, *mains, *pairs, *smooth, *trees),
        tuple(public_feature(f) for f in additive.features),
    )


def _smooth(model: AdditiveModel, term: FourierTerm) -> Drawing:
    """The smooth function of all columns: how fast it changes along each."""
    names = [model.features[column].name for column in term.features.columns]
    drawn = ranking(SMOOTH, names, [float(speed) for speed in term.reliance()], "smooth")
    caption = (
        f"One function of {len(names)} columns together, too many to draw: how much it typically changes the log-odds "
        "when a column moves by one standard deviation and the others stay. The model file holds all of it."
    )
    return replace(drawn, caption=caption, wide=False)


def _trees(model: AdditiveModel) -> Drawing:
    """The trees together: how much the splits on each column move the log-odds."""
    explained = np.zeros(len(model.features))
    for tree in model.trees:
        total = float(tree.support.sum()) + 1e-9
        np.add.at(explained, tree.shape.columns, tree.split_gains() / total)
    sizes = np.sqrt(explained)
    used = np.flatnonzero(sizes > 0)
    drawn = ranking(TREES, [model.features[j].name for j in used], [float(sizes[j]) for j in used], "trees")
    leaves = sum(tree.shape.n_leaves for tree in model.trees)
    caption = (
        f"{len(model.trees)} trees with {leaves:,} leaves in all, too many to draw: by columns they test, the typical "
        "change in log-odds. The model file holds every rule of them."
    )
    return replace(drawn, caption=caption, wide=False)


def _effects(values: Floats, sds: Floats, counts: Floats) -> list[Effect]:
    """Effects over bins; a single standard deviation or count stands for all."""
    together: Iterable[tuple[float, float, float]] = zip(*np.broadcast_arrays(values, sds, counts), strict=True)
    return [Effect(float(v), float(s), float(c)) for v, s, c in together]


def _main(feature: Feature, main: MainEffect, identity: str) -> Drawing:
    effects = _effects(main.effect, main.sd, main.counts)
    if feature.ordered:
        drawn = curve(feature.name, [float(e) for e in feature.edges()], effects[:-1], effects[-1], identity)
        return held_to(drawn, feature, FLAT)
    return bars(feature.name, feature.bin_labels(), effects, identity)


def _pair(model: AdditiveModel, pair: PairEffect, identity: str) -> Drawing:
    first, second = (side_of(model.features[i], g) for i, g in zip(pair.features, pair.groups, strict=True))
    sds = np.broadcast_to(pair.sd, pair.effect.shape)
    counts = np.broadcast_to(pair.counts, pair.effect.shape)
    rows = [_effects(pair.effect[i], sds[i], counts[i]) for i in range(len(pair.effect))]
    return heat_map(first, second, rows, identity)
