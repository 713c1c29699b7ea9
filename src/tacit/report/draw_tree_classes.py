"""The model card of a sum of trees of several classes: what matters, and what columns say of each class on average."""

from __future__ import annotations

from typing import cast

from tacit.models.additive import MainEffect
from tacit.models.base import Model
from tacit.models.tree_classes import TreeClassesModel
from tacit.models.tree_importance import partial_effects
from tacit.report.draw_additive import NOISE, main_of_classes
from tacit.report.drawing import Drawing, ranking
from tacit.report.model_card import ModelCard, public_column

MOST_DRAWN = 12
"""So many columns are drawn, those that matter most."""


def draw(model: Model) -> ModelCard:
    """The model card of a :class:`TreeClassesModel`."""
    trees = cast(TreeClassesModel, model)
    count, depth = len(trees.trees), max((tree.shape.depth for tree in trees.trees if tree.shape.n_splits), default=0)
    return ModelCard(
        f"A sum of {count} trees of depth up to {depth}: every tree adds to a score for each of {len(trees.classes)} "
        "classes, and scores say how likely each is.",
        "Each drawing has a row for every class, all on one scale: above the dotted line a value speaks for the class, "
        "below it against, up to the factor at the lower left, on average over the other columns. Trees look at "
        "several columns at once, so a value may mean more in one row than in another. Effects are factors of a "
        f"class's odds, measured against the (geometric) mean of all classes. {NOISE}",
        (_overview(trees), *_columns(trees)),
        tuple(public_column(feature.name, feature.encoder) for feature in trees.features),
    )


def _overview(model: TreeClassesModel) -> Drawing:
    """How far each column moves the scores."""
    named = model.importance()
    caption = (
        "How far the scores of all classes together move when a column alone is drawn anew: root of half the mean "
        "square, noise taken off."
    )
    return ranking("What matters most", list(named), list(named.values()), "overview", caption)


def _columns(model: TreeClassesModel) -> list[Drawing]:
    """What the columns that matter most say of each class."""
    places = {feature.name: place for place, feature in enumerate(model.features)}
    shown = [places[name] for name, moves in model.importance().items() if moves > 0][:MOST_DRAWN]
    weight = sum(float(tree.support.sum()) for tree in model.trees) / max(len(model.trees), 1)
    names, drawn = [str(name) for name in model.classes], []
    for column, effects in zip(shown, partial_effects(model.trees, model.masses, shown), strict=True):
        main = MainEffect(column, effects.effect, effects.sd, weight * model.masses[column])
        drawn.append(main_of_classes(model.features[column], main, names, f"column{column}"))
    return drawn
