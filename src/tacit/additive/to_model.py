"""From what was learned, of one margin or of several scores, to the parts of the frozen model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tacit.additive.learn import Learned
from tacit.additive.log_link_loss import LogLinkLoss
from tacit.additive.pairs import Side
from tacit.additive.posterior import NAMES, exactly
from tacit.additive.residual_loss import ResidualLoss
from tacit.additive.term import Directions, Term
from tacit.binning.measure import Bins, Column
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.models.additive import AdditiveModel, AdditiveScores, MainEffect, PairEffect
from tacit.models.feature import Feature
from tacit.models.tree import ScoreTree, Tree


def features_of(columns: Sequence[Column], bins: Sequence[Bins], encoding: TableEncoding) -> tuple[Feature, ...]:
    """The columns of a model: how their values become bins."""
    return tuple(
        Feature(
            column.name,
            encoding.encoders[column.index],
            column_bins.mapping,
            column_bins.ordered,
            NAMES.get(column.monotone),
        )
        for column, column_bins in zip(columns, bins, strict=True)
    )


def main_effects(terms: Sequence[Term], directions: Directions, unit: float = 1.0) -> tuple[MainEffect, ...]:
    """What was learned of the columns, every effect multiplied by ``unit``."""
    return tuple(
        MainEffect(index, unit * exactly(term.effect, term.monotone), unit * term.sd(directions), term.counts)
        for index, term in enumerate(terms)
    )


def pair_effects(
    fits: Sequence[tuple[Side, Side, Term]], directions: Directions, unit: float = 1.0
) -> tuple[PairEffect, ...]:
    """The same of pairs: as tables, of as many scores as an effect has."""
    effects = []
    for left, right, term in fits:
        shape = (left.groups, right.groups)
        scores = term.effect.shape[1:]
        effects.append(
            PairEffect(
                (left.column, right.column),
                (left.mapping, right.mapping),
                unit * term.effect.reshape(*shape, *scores),
                unit * term.sd(directions).reshape(*shape, *scores),
                term.counts.reshape(shape),
            )
        )
    return tuple(effects)


def additive_model(learned: Learned, classes: tuple[Any, ...], encoding: TableEncoding) -> AdditiveModel:
    """The frozen model of two classes: effects are numbers, log-odds of the last class."""
    mains = [
        replace(main, effect=main.effect[:, 0], sd=main.sd[:, 0])
        for main in main_effects(learned.mains, learned.directions)
    ]
    pairs = [
        replace(pair, effect=pair.effect[:, :, 0], sd=pair.sd[:, :, 0])
        for pair in pair_effects(learned.pairs, learned.directions)
    ]
    return AdditiveModel(
        classes,
        float(learned.intercept[0]),
        features_of(learned.columns, learned.bins, encoding),
        tuple(mains),
        tuple(pairs),
        trees=tuple(tree for tree in learned.trees if isinstance(tree, Tree)),
        intercept_sd=float(learned.intercept_sd[0]),
    )


def to_scores(learned: Learned, encoding: TableEncoding, unit: float = 1.0) -> AdditiveScores:
    """The sum of effects, every score multiplied by ``unit``."""
    features = features_of(learned.columns, learned.bins, encoding)
    mains = main_effects(learned.mains, learned.directions, unit)
    pairs = pair_effects(learned.pairs, learned.directions, unit)
    trees = tuple(tree.times(unit) for tree in learned.trees if isinstance(tree, ScoreTree))
    intercept, sd = np.asarray(unit * learned.intercept), np.asarray(unit * learned.intercept_sd)
    return AdditiveScores(intercept, features, mains, pairs, trees, sd)


def to_number_scores(
    learned: Learned, encoding: TableEncoding, loss: ResidualLoss, label: NumericLabelIndex
) -> AdditiveScores:
    """The sum of effects in units of the target: a score of 0 is where the loss put its centre.

    What the loss's smoothing may be off by counts as noise of the intercept.
    """
    per_code = (label.upper - label.lower) / label.unit
    unit = loss.scale.codes_per_unit * per_code
    scores = to_scores(learned, encoding, unit)
    centre = label.lower + loss.scale.offset * per_code
    sd = np.hypot(unit * learned.intercept_sd, unit * loss.bias)
    return replace(scores, intercept=scores.intercept + centre, intercept_sd=sd)


def to_rate_scores(
    learned: Learned, encoding: TableEncoding, loss: LogLinkLoss, label: NumericLabelIndex
) -> AdditiveScores:
    """The sum of effects, whose exponential is a mean in units of the target."""
    per_code = (label.upper - label.lower) / label.unit
    scores = to_scores(learned, encoding)
    return replace(scores, intercept=scores.intercept + math.log(loss.mean * loss.scale.codes_per_unit * per_code))
