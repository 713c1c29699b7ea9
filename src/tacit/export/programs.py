"""What each kind of model computes, as a graph (:mod:`tacit.export.expression`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Ints
from tacit.encoding.dense import RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.export import expression as ex
from tacit.export.halfspaces import bins, code, halfspace_score
from tacit.models.additive import AdditiveModel, AdditiveScores
from tacit.models.additive_scores import LARGEST, AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import LEAST_CHANCE, Model
from tacit.models.decision_list import Condition, DecisionListModel
from tacit.models.halfspace import HalfspaceModel
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.models.tree import TreeShape
from tacit.models.tree_ensemble import Link, TreeClassesModel, TreeEnsembleModel

Numbers = list[ex.Expression]
"""Probabilities, one per class; or one prediction."""


def program_of(model: Model) -> ex.Program:
    """What a model computes; :class:`ExportError` for a kind, or a part, that has no such form."""
    numbers = _numbers(model)
    classes = getattr(model, "classes", None)
    if classes is None:
        return ex.Program((("prediction", numbers[0]),), None)
    return ex.Program(tuple((f"proba_{name}", number) for name, number in zip(classes, numbers, strict=True)), classes)


def _numbers(model: Model) -> Numbers:
    if type(model) not in KINDS:
        raise ex.ExportError(f"a model of the kind {model.kind!r} has no export; tacit's own kinds have")
    return KINDS[type(model)](model)


def _two(positive: ex.Expression) -> Numbers:
    return [ex.Number(1.0) - positive, positive]


def _leaf(shape: TreeShape, codes: Sequence[ex.Expression], values: Any) -> ex.Expression:
    return ex.Leaves(shape, tuple(codes), values) if shape.n_splits else ex.Number(float(values[0]))


def _scores(scores: AdditiveScores) -> Numbers:
    codes = [bins(feature) for feature in scores.features]
    cells = []
    for pair in scores.pairs:
        (i, j), (first, second) = pair.features, pair.groups
        cells.append(ex.take(first * pair.effect.shape[1], codes[i]) + ex.take(second, codes[j]))
    outputs: Numbers = []
    for k in range(scores.n_scores):
        terms: Numbers = [ex.Number(float(scores.intercept[k]))]
        terms += [ex.take(main.effect[:, k], codes[main.feature]) for main in scores.mains]
        terms += [ex.take(pair.effect[..., k].ravel(), cell) for pair, cell in zip(scores.pairs, cells, strict=True)]
        if scores.trees:
            terms.append(ex.Sum(tuple(_leaf(tree.shape, codes, tree.values[:, k]) for tree in scores.trees)))
        outputs.append(ex.Sum(tuple(terms)))
    return outputs


def _additive_ordered(model: AdditiveOrderedModel) -> Numbers:
    score = _scores(model.scores)[0]
    upto = [ex.logistic(ex.Number(float(cut)) - score) for cut in model.cuts]
    below: Numbers = [ex.Number(0.0), *upto]
    return [high - low for low, high in zip(below, [*upto, ex.Number(1.0)], strict=True)]


def _regression(model: AdditiveRegressionModel) -> Numbers:
    score = _scores(model.scores)[0]
    if model.power is not None:
        score = ex.call("exp", ex.clip(score, -LARGEST, LARGEST))
    return [ex.clip(score, model.lower, model.upper)]


def _tree_ensemble(model: TreeEnsembleModel) -> Numbers:
    codes = [bins(feature) for feature in model.features]
    terms = [_leaf(tree.shape, codes, tree.values) for tree in model.trees]
    return _two(_linked(model.link, ex.Sum((ex.Number(model.intercept), *terms))))


def _linked(link: Link, score: ex.Expression) -> ex.Expression:
    if link.name == "logistic":
        return ex.logistic(score)
    if link.name == "share":
        return ex.clip(ex.Number(0.5) * (ex.Number(1.0) + score), 0.0, 1.0)
    half = ex.clip(score * (0.5 * link.scale), -1e100, 1e100)
    chance = ex.Number(0.5) * (ex.Number(1.0) + half / ex.call("sqrt", ex.Number(1.0) + half * half))
    up, down = (float(np.nextafter(0.5, end)) for end in (1.0, 0.0))
    positive, negative = ex.call("max", chance, up), ex.call("min", chance, down)
    return ex.Where(
        ex.AtLeast(score, ex.Number(5e-324)), positive, ex.Where(ex.AtLeast(score, ex.Number(0.0)), chance, negative)
    )


def _tree_classes(model: TreeClassesModel) -> Numbers:
    codes = [bins(feature) for feature in model.features]
    scores: Numbers = []
    for k, start in enumerate(model.intercept.tolist()):
        terms = [_leaf(tree.shape, codes, tree.values[:, k]) for tree in model.trees]
        scores.append(ex.Sum((ex.Number(start), *terms)))
    return ex.softmax(scores)


def _decision_list(model: DecisionListModel) -> Numbers:
    tests: list[list[Condition]] = [[] for _ in model.names]
    for rule in model.rules:
        for condition in rule.conditions:
            tests[condition.feature].append(condition)
    parts = [_parted(encoder, own) for encoder, own in zip(model.encoders, tests, strict=True)]
    codes = [code(name, encoder, part) for name, encoder, part in zip(model.names, model.encoders, parts, strict=True)]

    def holds(condition: Condition) -> ex.Expression:
        encoder, part = model.encoders[condition.feature], parts[condition.feature]
        first = np.unique(part, return_index=True)[1]  # a code of every part; they are alike to every condition
        return ex.Among(condition.holds(first, encoder), codes[condition.feature])

    conditions = [[holds(condition) for condition in rule.conditions] for rule in model.rules]
    numbers: Numbers = []
    for k in range(len(model.classes)):
        number: ex.Expression = ex.Number(float(model.rule_probabilities[-1, k]))
        for place in range(len(model.rules) - 2, -1, -1):
            yes = ex.Number(float(model.rule_probabilities[place, k]))
            number = ex.Where(ex.All(tuple(conditions[place])), yes, number) if conditions[place] else yes
        numbers.append(number)
    return numbers


def _parted(encoder: Any, conditions: Sequence[Condition]) -> Ints:
    """Codes that no condition tells apart as one number each, numbered in the order of their first codes."""
    codes = np.arange(encoder.n_codes)
    holds = np.stack([np.zeros(len(codes), np.bool_), *(c.holds(codes, encoder) for c in conditions)], axis=1)
    _, first, inverse = np.unique(holds, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    part: Ints = order[inverse.ravel()]
    return part


def _rule(model: RuleModel) -> Numbers:
    index: ex.Expression | None = None
    for name, encoder in zip(model.names, model.encoders, strict=True):
        if isinstance(encoder, NumericGrid) and encoder.cells > len(model.positive):
            raise ex.ExportError(f"the grid of column '{name}' is too fine")
        own = code(name, encoder, np.arange(encoder.n_codes))
        index = own if index is None else index * float(encoder.n_codes) + own
    assert index is not None
    low, high = model.rates
    return _two(ex.Where(ex.Among(model.positive, index), ex.Number(high), ex.Number(low)))


def _composed(model: ComposedModel) -> Numbers:
    sides = [ex.AtLeast(_numbers(member)[1], ex.Number(0.5)) for member in model.members]
    place = ex.Sum(tuple(ex.Where(side, ex.Number(float(1 << i)), ex.Number(0.0)) for i, side in enumerate(sides)))
    return _two(ex.Where(ex.Among(np.asarray(model.function, np.bool_), place), ex.Number(1.0), ex.Number(0.0)))


def _vote(model: VoteModel) -> Numbers:
    if not model.members:
        return _two(ex.Number(0.5))
    votes = [
        ex.Where(ex.AtLeast(_numbers(member)[1], ex.Number(0.5)), ex.Number(1.0), ex.Number(0.0))
        for member in model.members
    ]
    return _two(ex.Sum(tuple(votes)) / float(len(votes)))


def _recalibrated(model: RecalibratedModel) -> Numbers:
    chance = ex.clip(_numbers(model.base)[1], LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    odds = ex.call("log", chance) - ex.call("log", ex.Number(1.0) - chance)
    knots, values = model.knots, model.values
    curve: ex.Expression = (odds - float(knots[-1])) + float(values[-1])
    for k in range(len(knots) - 2, -1, -1):
        slope = float((values[k + 1] - values[k]) / (knots[k + 1] - knots[k]))
        piece = (odds - float(knots[k])) * slope + float(values[k])
        curve = ex.Where(ex.AtLeast(odds, ex.Number(float(knots[k + 1]))), curve, piece)
    first = (odds - float(knots[0])) + float(values[0])
    return _two(ex.logistic(ex.Where(ex.AtLeast(odds, ex.Number(float(knots[0]))), curve, first)))


def _mean(model: MeanModel) -> Numbers:
    shares = model.shares.tolist()
    members = [[ex.call("log", ex.call("max", chance, LEAST_CHANCE)) for chance in _numbers(m)] for m in model.members]
    return ex.softmax(
        [
            ex.Sum(tuple(member[k] * share for member, share in zip(members, shares, strict=True)))
            for k in range(len(model.classes))
        ]
    )


def _mean_number(model: MeanNumberModel) -> Numbers:
    pairs = zip(model.members, model.shares.tolist(), strict=True)
    return [ex.Sum(tuple(_numbers(member)[0] * share for member, share in pairs))]


def _halfspace(model: HalfspaceModel) -> Numbers:
    if not isinstance(model.encoder, RowEncoder) and model.encoder.n_features > MOST_COLUMNS:
        raise ex.ExportError(f"a matrix of {model.encoder.n_features} columns is too wide; {MOST_COLUMNS} are possible")
    return _two(ex.logistic(halfspace_score(model)))


MOST_COLUMNS = 1000
"""Columns of a matrix that are exported, one input each."""

KINDS: dict[type[Model], Callable[[Any], Numbers]] = {
    AdditiveModel: lambda model: _two(ex.logistic(_scores(model.scores)[0])),
    AdditiveClassesModel: lambda model: ex.softmax(_scores(model.scores)),
    AdditiveOrderedModel: _additive_ordered,
    AdditiveRegressionModel: _regression,
    ComposedModel: _composed,
    DecisionListModel: _decision_list,
    HalfspaceModel: _halfspace,
    MeanModel: _mean,
    MeanNumberModel: _mean_number,
    RecalibratedModel: _recalibrated,
    RuleModel: _rule,
    TreeClassesModel: _tree_classes,
    TreeEnsembleModel: _tree_ensemble,
    VoteModel: _vote,
}
"""What each kind of model computes."""
