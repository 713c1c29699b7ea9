"""What the prediction of a row is the sum of: a starting point and a contribution of every term, with their noise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np

from tacit.arrays import Bytes, Floats
from tacit.display import Brief
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import Frame
from tacit.models.additive import TREES, AdditiveModel, AdditiveScores
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import LEAST_CHANCE, Model
from tacit.models.halfspace import HalfspaceModel
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.softmax import SoftmaxModel
from tacit.models.tree import ScoreTree, Tree
from tacit.models.tree_ensemble import TreeClassesModel, TreeEnsembleModel
from tacit.privacy.request import RequestError

LOG_ODDS, LOG_RATIO = "log-odds", "logarithm of the mean"
RECALIBRATION, REST = "recalibration", "bounds and averaging"
"""What is called a term where a curve, or a mean of bounded predictions, adds what no column does."""


@dataclass(frozen=True, eq=False, repr=False)
class Terms(Brief):
    """Terms of the scores of rows: ``start`` and all ``parts`` of a row sum to its score."""

    names: tuple[str, ...]  # of the terms
    columns: tuple[tuple[str, ...], ...]  # the columns that each term depends on; none where it depends on all of them
    start: Floats  # where the sum begins, shape `(rows, n_scores)`
    parts: Floats  # contributions, shape `(rows, terms, n_scores)`
    sd: Floats  # standard deviation of the noise in every contribution, the same shape; NaN where it is not known
    total_sd: Floats  # of the noise in the score, shape `(rows, n_scores)`; NaN where it is not known
    unit: str = LOG_ODDS  # of the scores: log-odds, the logarithm of the mean, or the target's own
    outcomes: tuple[str, ...] = ()  # what each score is about

    @property
    def scores(self) -> Floats:
        """What the terms add up to, shape ``(rows, n_scores)``."""
        return np.asarray(self.start + self.parts.sum(axis=1))

    def with_term(self, name: str, parts: Floats) -> Terms:
        """The same with one term more, of all columns, whose noise is not known; ``parts`` (rows, n_scores)."""
        return replace(
            self, names=(*self.names, name), columns=(*self.columns, ()),
            parts=np.concatenate([self.parts, parts[:, None, :]], axis=1),
            sd=np.concatenate([self.sd, np.full_like(parts, np.nan)[:, None, :]], axis=1),
        )  # fmt: skip


def terms_of(model: Model, data: Any) -> Terms:
    """The terms of a model's prediction for every row of a table.

    Raises ``RequestError`` if the model is not a sum of terms.
    """
    kinds = cast("tuple[tuple[type[Model], Callable[[Any, Any], Terms]], ...]", _KINDS)
    for kind, terms in kinds:
        if isinstance(model, kind):
            matrix = isinstance(model, HalfspaceModel) and not isinstance(model.encoder, RowEncoder)
            return _centred(terms(model, data if matrix else model.frame_of(data)))
    text = " Its rules are in to_text()." if hasattr(model, "to_text") else ""
    raise RequestError(
        f"a model of the kind {model.kind.replace('_', ' ')!r} is no sum of terms: nothing adds up.{text}"
    )


def _centred(terms: Terms) -> Terms:
    """Scores of several classes against their mean, of which a prediction does not depend."""
    if terms.parts.shape[2] == 1:
        return terms
    start, parts = (part - part.mean(axis=-1, keepdims=True) for part in (terms.start, terms.parts))
    return replace(terms, start=start, parts=parts)


def _of_additive(
    model: AdditiveModel | AdditiveClassesModel | AdditiveOrderedModel | AdditiveRegressionModel, frame: Frame
) -> Terms:
    unit = LOG_ODDS
    outcomes: tuple[str, ...] = ("a higher class",)
    if isinstance(model, AdditiveRegressionModel):
        unit = model.target if model.power is None else f"{LOG_RATIO} of {model.target}"
        outcomes = (model.target,)
    elif not isinstance(model, AdditiveOrderedModel):
        outcomes = tuple(map(str, model.classes[-model.scores.n_scores :]))
    return replace(_of_scores(model.scores, frame), unit=unit, outcomes=outcomes)


def _of_scores(scores: AdditiveScores, frame: Frame) -> Terms:
    names, parts = scores.contributions(frame)
    bins = [feature.bins(frame) for feature in scores.features]
    sd = [main.sd[bins[main.feature]] for main in scores.mains]
    columns: list[tuple[str, ...]] = [(scores.features[main.feature].name,) for main in scores.mains]
    for pair in scores.pairs:
        i, j = pair.features
        sd.append(pair.sd[pair.groups[0][bins[i]], pair.groups[1][bins[j]]])
        columns.append((scores.features[i].name, scores.features[j].name))
    shape = (frame.n_rows, scores.n_scores)
    if scores.trees:
        sd.append(_sd_of_sum(scores.trees, [column.astype(np.uint8) for column in bins], shape))
        columns.append(())
    assert [name for name in names if name != TREES] == [" x ".join(c) for c in columns if c]
    together = np.stack(sd, axis=1) if sd else np.zeros((shape[0], 0, shape[1]))
    start = np.repeat(scores.intercept[None, :], frame.n_rows, axis=0)
    return Terms(
        tuple(names), tuple(columns), start, parts, together, _total(partial(scores.variance, frame), shape)
    )  # fmt: skip


def _total(variance: Callable[[], Floats], shape: tuple[int, ...]) -> Floats:
    """Standard deviations from a method that may not know them."""
    try:
        return np.sqrt(variance()).reshape(shape)
    except ValueError:
        return np.full(shape, np.nan)


def _sd_of_sum(trees: Sequence[ScoreTree], codes: Sequence[Bytes], shape: tuple[int, ...]) -> Floats:
    variance = np.zeros(shape)
    for tree in trees:
        variance += np.nan if tree.sd is None else np.square(tree.sd)[tree.shape.find(codes)]
    return np.sqrt(variance)


def _of_trees(model: TreeEnsembleModel, frame: Frame) -> Terms:
    """In log-odds: the scores of other links are scaled, row by row, by what the link makes of their sum."""
    codes = model.codes(frame)
    trees = [ScoreTree.of(tree) for tree in model.trees]
    total = _total(partial(model.score_variance, frame), (frame.n_rows, 1))
    terms = _of_paths(model.feature_names, trees, codes, np.array([model.intercept]))
    terms = replace(terms, total_sd=total, outcomes=(str(model.classes[-1]),))
    if model.link.name == "logistic":
        return terms
    score = terms.scores
    chance = np.clip(model.link.probability(score), LEAST_CHANCE, 1.0 - LEAST_CHANCE)
    zero = score == 0.0  # where both are 0, and the factor is the slope of the link
    near = np.where(zero, 1e-6, score)
    slope = model.link.probability(np.full_like(score, 1e-6))
    odds = np.where(zero, np.log(slope) - np.log1p(-slope), np.log(chance) - np.log1p(-chance))
    factor = odds / near
    return replace(
        terms, start=terms.start * factor, parts=terms.parts * factor[:, None], sd=terms.sd * factor[:, None],
        total_sd=total * factor,
    )  # fmt: skip


def _of_tree_classes(model: TreeClassesModel, frame: Frame) -> Terms:
    terms = _of_paths(model.feature_names, model.trees, model.codes(frame), model.intercept)
    total = _total(partial(model.scores_variance, frame), (frame.n_rows, len(model.classes)))
    return replace(terms, total_sd=total, outcomes=tuple(map(str, model.classes)))


def _of_paths(names: tuple[str, ...], trees: Sequence[ScoreTree], codes: Sequence[Bytes], intercept: Floats) -> Terms:
    """Contributions of columns along the paths of trees (Saabas 2014), means over released support."""
    rows, scores = len(codes[0]), len(intercept)
    start = np.repeat(np.array(intercept, np.float64)[None, :], rows, axis=0)
    parts, variance = np.zeros((rows, len(names), scores)), np.zeros((rows, len(names), scores))
    for tree in trees:
        leaves = tree.shape.find(codes)
        reached, place = np.unique(leaves, return_inverse=True)
        places = list(tree.shape.used_columns)
        for score in range(scores):
            single = Tree(tree.shape, tree.values[:, score], tree.support)
            start[:, score] += single.node_mean(0) if tree.shape.n_splits else single.values[0]
            parts[:, places, score] += single.leaf_contributions[leaves]
        if tree.sd is None:
            variance += np.nan
        elif places:
            spread = np.square(_weights_of_leaves(tree, reached)) @ np.square(tree.sd)
            variance[:, places] += spread[place]
    columns = tuple((name,) for name in names)
    return Terms(names, columns, start, parts, np.sqrt(variance), np.full((rows, scores), np.nan))


def _weights_of_leaves(tree: ScoreTree, reached: Any) -> Floats:
    """How each leaf's value enters the contributions at the leaves reached, shape ``(reached, used columns, leaves)``.

    Contributions are differences of means below nodes: linear in the values of leaves.
    """
    shape = tree.shape
    place = {column: k for k, column in enumerate(shape.used_columns)}
    weight = tree.support + 1e-9 * (tree.support.sum() + 1.0)  # as Tree.split_means weighs leaves

    def mean(node: int) -> Floats:
        out = np.zeros(shape.n_leaves)
        first, last = (shape.spans[node, 0], shape.spans[node, 2]) if node >= 0 else (-1 - node, -node)
        out[first:last] = weight[first:last] / weight[first:last].sum()
        return out

    out = np.zeros((len(reached), len(place), shape.n_leaves))
    for split, (first, middle, last) in enumerate(shape.spans):
        inside = (reached >= first) & (reached < last)
        if not inside.any():
            continue
        here, k = mean(split), place[int(shape.columns[split])]
        for child, low, high in zip(shape.children[split], (first, middle), (middle, last), strict=True):
            out[(reached >= low) & (reached < high), k] += mean(int(child)) - here
    return out


def _of_halfspace(model: HalfspaceModel, data: Any) -> Terms:
    """One term a column: its coordinates together."""
    encoder = model.encoder
    rows = encoder.encode(data)
    dense = np.asarray(rows.todense() if hasattr(rows, "todense") else rows, np.float64) / encoder.clipper.radius
    if isinstance(encoder, RowEncoder):
        names = encoder.encoding.names
        widths = [int(table.shape[1]) for table in encoder.tables]
    else:
        names, widths = tuple(encoder.names[: encoder.n_features]), [1] * encoder.n_features
    ends = np.cumsum([0, *widths])
    effect, square = model.slope * dense * model.weights, np.square(model.slope * dense * model.noise_sd)
    parts = np.stack([effect[:, a:b].sum(axis=1) for a, b in pairwise(ends)], axis=1)
    variance = np.stack([square[:, a:b].sum(axis=1) for a, b in pairwise(ends)], axis=1)
    start = model.offset + effect[:, ends[-1] :].sum(axis=1)
    return Terms(
        names, tuple((name,) for name in names), start[:, None], parts[:, :, None], np.sqrt(variance)[:, :, None],
        np.sqrt(square.sum(axis=1))[:, None], outcomes=(str(model.classes[-1]),),
    )  # fmt: skip


def _of_mean(model: MeanModel, frame: Frame) -> Terms:
    if any(isinstance(member, AdditiveOrderedModel) for member in model.members):
        raise RequestError("a mean of models of ordered classes is no sum of terms: explain one of its members")
    inside = [terms_of(member, frame) for member in model.members]
    if len(model.classes) == 2 or all(isinstance(member, SoftmaxModel | MeanModel) for member in model.members):
        return _averaged(inside, model.shares)
    raise RequestError("this mean is no sum of terms: explain one of its members")


def _of_mean_number(model: MeanNumberModel, frame: Frame) -> Terms:
    """With what the bounds of the members, and the mean of their exponentials, add to the sum of terms."""
    terms = _averaged([terms_of(member, frame) for member in model.members], model.shares)
    predictions = model.predict(frame)[:, None]
    if model.members[0].power is not None:
        predictions = np.log(predictions)
    rest = predictions - terms.scores
    return terms.with_term(REST, rest) if np.abs(rest).max(initial=0.0) > 1e-12 else terms


def _averaged(inside: Sequence[Terms], shares: Floats) -> Terms:
    """The mean of sums, term by term; members have noise of their own."""
    first = inside[0]
    nothing = partial(np.zeros, first.start.shape)
    parts: defaultdict[str, Floats] = defaultdict(nothing)
    variance: defaultdict[str, Floats] = defaultdict(nothing)
    columns: dict[str, tuple[str, ...]] = {}
    for terms, share in zip(inside, shares, strict=True):
        for place, name in enumerate(terms.names):
            columns[name] = terms.columns[place]
            parts[name] = parts[name] + share * terms.parts[:, place]
            variance[name] = variance[name] + np.square(share * terms.sd[:, place])
    total = sum(np.square(share * terms.total_sd) for terms, share in zip(inside, shares, strict=True))
    return replace(
        first,
        names=tuple(columns),
        columns=tuple(columns.values()),
        start=np.asarray(sum(share * terms.start for terms, share in zip(inside, shares, strict=True))),
        parts=np.stack(list(parts.values()), axis=1),
        sd=np.sqrt(np.stack(list(variance.values()), axis=1)),
        total_sd=np.sqrt(np.asarray(total)),
    )


def _of_recalibrated(model: RecalibratedModel, frame: Frame) -> Terms:
    base = terms_of(model.base, frame)
    moved = model.decision_function(frame)[:, None] - base.scores
    return replace(base.with_term(RECALIBRATION, moved), total_sd=np.full_like(base.total_sd, np.nan))


_KINDS = (
    *((kind, _of_additive) for kind in (AdditiveModel, AdditiveClassesModel, AdditiveOrderedModel)),
    (AdditiveRegressionModel, _of_additive),
    (TreeEnsembleModel, _of_trees),
    (TreeClassesModel, _of_tree_classes),
    (HalfspaceModel, _of_halfspace),
    (MeanModel, _of_mean),
    (MeanNumberModel, _of_mean_number),
    (RecalibratedModel, _of_recalibrated),
)
"""Which models are sums of terms; rules, lists of rules, compositions and votes are not."""
