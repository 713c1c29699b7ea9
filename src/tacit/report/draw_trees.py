"""Model cards of sums of trees: what matters, the trees that move the score most, what columns say of a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from tacit.models.additive import MainEffect
from tacit.models.base import Model
from tacit.models.tree_ensemble import TreeClassesModel, TreeEnsembleModel, TreeSpending
from tacit.models.tree_importance import partial_effects
from tacit.report import svg
from tacit.report.draw_additive import NOISE, main_of_classes
from tacit.report.drawing import Drawing, ranking
from tacit.report.model_card import ModelCard, public_column

LEVEL = 147
"""Least width of a level: room for a test and the words above it. Six of them fit the page on a wide screen."""
FEW_LEVELS, ROOMY = 3, 210
"""Trees of so few levels have more room in each, for long names."""
VALUE = 152
"""Width of the place for what a leaf adds, right of the tree."""
HEAD, LEAF, FOOT = 30.0, 26.0, 8.0
PICTURES, FEW_LEAVES = 3, 16
"""So many trees are drawn if they are small, otherwise one."""
MOST_LEAVES = 64
"""Trees with more leaves are shown as text only."""
OR_MISSING = " or missing"


def draw(model: Model) -> ModelCard:
    """The model card of a :class:`TreeEnsembleModel`."""
    trees = cast(TreeEnsembleModel, model)
    count, depth = len(trees.trees), max((tree.shape.depth for tree in trees.trees if tree.shape.n_splits), default=0)
    positive = trees.classes[-1]
    order = np.argsort([-float(tree.split_gains().sum()) for tree in trees.trees], kind="stable")
    places = [int(k) for k in order if 0 < trees.trees[k].shape.n_splits < MOST_LEAVES]
    places = places[: PICTURES if places and trees.trees[places[0]].shape.n_leaves <= FEW_LEAVES else 1]
    pictures = [tree_picture(trees, k, f"tree{k}") for k in places]
    return ModelCard(
        f"A sum of {count} trees of depth {depth}: every tree adds to a score, and the score says how likely "
        f"“{positive}” is.",
        _reading(trees, len(pictures)),
        (_overview(trees, "What matters", "the score moves"), *pictures),
        tuple(public_column(feature.name, feature.encoder) for feature in trees.features),
    )


def _reading(model: TreeEnsembleModel, pictures: int) -> str:
    """How to read the pictures, if there are any."""
    count = len(model.trees)
    if not pictures:
        why = f"each has more than {MOST_LEAVES} leaves, or no test at all" if count else "there is none"
        return f"No tree is drawn: {why}. The model's file holds them all."
    beside = (
        "Beside it stands the weight of its rows, with noise; above each level, what its tests took of the budget. "
    )
    return (
        "A tree is read from the left: at each test a row takes the upper branch if it does not hold, the lower one if "
        f"it does, and ends at a leaf that adds to its score: a bar to the right speaks for "
        f"“{model.classes[-1]}”. {beside if _pays(model) else ''}"
        f"Drawn: {pictures} of {count} trees, those that move the score most."
    )


def _overview(model: TreeEnsembleModel | TreeClassesModel, title: str, what: str) -> Drawing:
    """How far each column moves the score of two classes, or those of several."""
    importance = model.importance()
    caption = f"How far {what} when a column alone is drawn anew: root of half the mean square, noise taken off."
    return ranking(title, list(importance), list(importance.values()), "overview", caption)


def tree_picture(model: TreeEnsembleModel, number: int, identity: str) -> Drawing:
    """One tree from left to right: tests, leaves with what they add and on how much weight, and the budget."""
    tree = model.trees[number]
    shape = tree.shape
    depth = shape.depth
    tree_width = max(LEVEL * depth, ROOMY * min(depth, FEW_LEVELS))
    step, width = tree_width / max(depth, 1), tree_width + VALUE
    height = HEAD + LEAF * shape.n_leaves + FOOT
    leaf_y = [HEAD + LEAF * (k + 0.5) for k in range(shape.n_leaves)]
    levels, nodes = _levels(model, number), _places(model, number, leaf_y)
    parts = _head(model, depth, step)
    for split in range(shape.n_splits):
        x, y = step * levels[split], nodes[split]
        for child in shape.children[split]:
            end = (step * levels[child], nodes[child]) if child >= 0 else (step * depth, leaf_y[-1 - child])
            parts.append(svg.line(x + 4, y, x + 4, end[1], "axis"))
            parts.append(svg.line(x + 4, end[1], end[0] + 4, end[1], "axis"))
        parts += _test(model, number, split, x + 10, y, step - 10)
    largest = float(np.abs(tree.values).max(initial=0.0)) or 1.0
    for leaf, (value, support) in enumerate(zip(tree.values, tree.support, strict=True)):
        parts += _leaf(float(value), float(support) if _pays(model) else None, leaf_y[leaf], largest, width)
    title = f"Tree {number + 1}"
    caption = f"{shape.n_leaves} leaves{_spent(model)}"
    markup = svg.figure(width, int(height), title, f"{caption}. {model.to_text(number)}", "".join(parts), identity)
    heads = ("if", "adds", "weight")[: 3 if _pays(model) else 2]
    rows = tuple(_row(model, number, leaf)[: len(heads)] for leaf in range(shape.n_leaves))
    gain = float(tree.split_gains().sum())
    return Drawing(title, "bars", markup, caption, gain, heads, rows, wide=True, least=width)


def _levels(model: TreeEnsembleModel, number: int) -> list[int]:
    """The depth of every split."""
    shape = model.trees[number].shape
    levels = [0] * shape.n_splits
    for split, pair in enumerate(shape.children):
        for child in pair:
            if child >= 0:
                levels[child] = levels[split] + 1
    return levels


def _places(model: TreeEnsembleModel, number: int, leaf_y: Sequence[float]) -> list[float]:
    """The height of every split: in the middle of its leaves."""
    return [(leaf_y[first] + leaf_y[last - 1]) / 2 for first, _, last in model.trees[number].shape.spans]


def _head(model: TreeEnsembleModel, depth: int, step: float) -> list[str]:
    """Above each level, what its tests took of the budget."""
    if not _pays(model):
        return []
    levels = model.spending.levels or (0.0,) * depth
    parts = [
        svg.text(step * level + 10, 14, f"tests: {_share(share)}", "tick") for level, share in enumerate(levels[:depth])
    ]
    return [*parts, svg.text(step * depth + 4, 14, f"leaves: {_share(model.spending.leaves)}", "tick")]


def _share(share: float) -> str:
    return "free" if share == 0 else f"{100 * share:.2g} % of budget"


def _pays(model: TreeEnsembleModel) -> bool:
    """Whether trees were charged one by one; those of a stream are drawn from weights, and stand on no counted rows."""
    return model.spending != TreeSpending()


def _spent(model: TreeEnsembleModel) -> str:
    if not _pays(model):
        return ""
    splits = sum(model.spending.levels)
    tests = "its tests were drawn at random and cost nothing" if splits == 0 else f"its tests took {100 * splits:.2g} %"
    return f"; {tests}, its leaves took {100 * model.spending.leaves:.2g} % of the budget"


def _test(model: TreeEnsembleModel, number: int, split: int, x: float, y: float, room: float) -> list[str]:
    """A test on two lines: the column, and below it what is asked of it; a third for what is missing, if it must be."""
    shape = model.trees[number].shape
    column = int(shape.columns[split])
    text = model.condition(column, shape.goes_right(split))
    name = model.features[column].name
    lines = svg.text(x, y - 2, svg.shortened(name, room), "name")
    condition, width = text.removeprefix(name).strip(), room / svg.SMALLER
    below = condition.endswith(OR_MISSING) and svg.text_width(condition) > width
    lines += svg.text(x, y + 10, svg.fitted(condition.removesuffix(OR_MISSING) if below else condition, width), "tick")
    lines += svg.text(x, y + 23, OR_MISSING.strip(), "tick") if below else ""
    return [svg.element("g", svg.hint(text) + lines)]


def _leaf(value: float, support: float | None, y: float, largest: float, width: int) -> list[str]:
    """A bar from the middle of its place, and the weight it stands on, if any."""
    middle, room = width - VALUE + 48.0, 40.0
    length = room * abs(value) / largest
    css = "plus" if value >= 0 else "minus"
    weight = None if support is None else svg.short(round(support))
    hint = f"adds {value:+.3g}" + ("" if weight is None else f", on about {weight} of weight")
    start = middle if value >= 0 else middle - length
    bar = svg.rect(start, y - 4, max(length, 0.5), 9, css, hint)
    return [bar] if weight is None else [bar, svg.text(width - 2, y + 4, f"~{weight}", "tick", "end")]


def _row(model: TreeEnsembleModel, number: int, leaf: int) -> tuple[str, ...]:
    """A leaf in words: the conditions on the way, what it adds, the weight it stands on."""
    tree = model.trees[number]
    parts = []
    for split, right in tree.shape.path(leaf):
        member = tree.shape.goes_right(split)
        parts.append(model.condition(int(tree.shape.columns[split]), member if right else ~member))
    return (" and ".join(parts), f"{tree.values[leaf]:+.3g}", svg.short(round(float(tree.support[leaf]))))


MOST_DRAWN = 12
"""So many columns are drawn, those that matter most."""


def draw_classes(model: Model) -> ModelCard:
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
        (_overview(trees, "What matters most", "the scores of all classes together move"), *_class_columns(trees)),
        tuple(public_column(feature.name, feature.encoder) for feature in trees.features),
    )


def _class_columns(model: TreeClassesModel) -> list[Drawing]:
    """What the columns that matter most say of each class."""
    places = {feature.name: place for place, feature in enumerate(model.features)}
    columns = [places[name] for name, moves in model.importance().items() if moves > 0][:MOST_DRAWN]
    weight = sum(float(tree.support.sum()) for tree in model.trees) / max(len(model.trees), 1)
    names, drawings = [str(name) for name in model.classes], []
    for column, effects in zip(columns, partial_effects(model.trees, model.masses, columns), strict=True):
        main = MainEffect(column, effects.effect, effects.sd, weight * model.masses[column])
        drawings.append(main_of_classes(model.features[column], main, names, f"column{column}"))
    return drawings
