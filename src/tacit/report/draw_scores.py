"""What the portraits of additive models with scores share: their effects, and the words about their parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.models.additive import TREES, AdditiveModel, Feature
from tacit.models.additive_scores import AdditiveScores
from tacit.report.drawing import Drawing, Effect, Side, ranking
from tacit.report.places import named
from tacit.report.portrait import PublicColumn, public_column

NOISE = (
    "The shaded band, or the thin line on a bar, is the noise (two standard deviations each way). Pale bars stand for "
    "values that hardly any rows have. The grey strip below a curve shows where rows are, as far as the noise let that "
    "be seen."
)

FLAT = "Where noise said otherwise the curve is flat"
"""What is done to a single curve that is declared to rise or to fall."""


def held_to(drawn: Drawing, feature: Feature, how: str) -> Drawing:
    """The drawing of a column, with a word on its declared direction if there is one, and on how it is held to."""
    if feature.monotone is None:
        return drawn
    kept = f"Declared to be {feature.monotone}, and held to it. {how}."
    return replace(drawn, caption=f"{drawn.caption} {kept}".strip())


def public_feature(feature: Feature) -> PublicColumn:
    """A column's line in the list of public facts."""
    line = public_column(feature.name, feature.encoder)
    return line if feature.monotone is None else replace(line, facts=f"{line.facts}, {feature.monotone}")


def effects_of(values: Floats, sds: Floats, counts: Floats) -> list[Effect]:
    """Effects over bins."""
    return [Effect(float(v), float(s), float(c)) for v, s, c in zip(values, sds, counts, strict=True)]


def parts_of(model: AdditiveModel | AdditiveScores) -> str:
    """How many columns, interactions and trees add up, in words."""
    columns = "1 column" if len(model.mains) == 1 else f"{len(model.mains)} columns"
    plural = "s" if len(model.pairs) > 1 else ""
    pairs = f" and {len(model.pairs)} interaction{plural} of two" if model.pairs else ""
    start = f"the effects of {columns}{pairs} add up"
    smooth = "a smooth function of all of them" if isinstance(model, AdditiveModel) and model.fourier else ""
    trees = f"{len(model.trees)} trees" if model.trees else ""
    if not smooth and not trees:
        return f"{start}, so what is drawn here is all of it."
    rest = " and ".join(part for part in (smooth, trees) if part)
    return f"{start}, and {rest} {'correct' if trees else 'corrects'} what these leave over."


def overview(scores: AdditiveScores, caption: str) -> Drawing:
    """All parts by how much they move predictions."""
    importance = scores.importance()
    names = [name.replace(" x ", " × ") for name in importance]
    return ranking("What matters most", names, list(importance.values()), "overview", caption)


def tree_ranking(scores: AdditiveScores, unit: str) -> list[Drawing]:
    """The trees together: how much of their values the columns they test stand for, by how often they are tested."""
    if not scores.trees:
        return []
    moved = np.zeros(len(scores.features))
    for tree in scores.trees:
        size = float(np.average((tree.values**2).sum(axis=1), weights=tree.support + 1e-9))
        tested, times = np.unique(tree.shape.columns, return_counts=True)
        moved[tested] += size * times / max(times.sum(), 1)
    used = np.flatnonzero(moved > 0)
    names = [scores.features[j].name for j in used]
    drawn = ranking(TREES, names, [float(np.sqrt(moved[j])) for j in used], "trees")
    leaves = sum(tree.shape.n_leaves for tree in scores.trees)
    caption = (
        f"{len(scores.trees)} trees with {leaves:,} leaves in all, too many to draw: by columns they test, the typical "
        f"change in {unit}. The model file holds every rule of them."
    )
    return [replace(drawn, caption=caption, wide=False)]


def side_of(feature: Feature, groups: Ints) -> Side:
    """What to call the groups of bins of one side of a pair."""
    count = int(groups.max()) + 1
    if not feature.ordered:
        labels = feature.bin_labels()
        members = [[labels[b] for b in np.flatnonzero(groups == g)] for g in range(count)]
        return Side(feature.name, tuple(m[0] if len(m) == 1 else f"{len(m)} others" for m in members))
    edges = feature.edges()
    inside = [np.flatnonzero(groups[: len(edges) - 1] == group) for group in range(count)]
    spans = [(float(edges[bins[0]]), float(edges[bins[-1] + 1])) for bins in inside if len(bins)]
    names = iter(named(spans, "–", ">"))
    return Side(feature.name, tuple(next(names) if len(bins) else "missing" for bins in inside))
