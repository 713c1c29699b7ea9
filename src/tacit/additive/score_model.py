"""From what was learned about scores to the frozen model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.additive.binning import Bins, Column
from tacit.additive.learn_scores import LearnedScores
from tacit.additive.monotone import NAMES, exactly
from tacit.additive.residual_loss import ResidualLoss
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.table import TableEncoding
from tacit.models.additive import Feature, MainEffect, PairEffect
from tacit.models.additive_scores import AdditiveScores


def features_of(columns: Sequence[Column], bins: Sequence[Bins], encoding: TableEncoding) -> tuple[Feature, ...]:
    """The columns of a model: how their values become bins."""
    return tuple(
        Feature(column.name, encoding.encoders[column.index], found.mapping, found.ordered, NAMES.get(column.monotone))
        for column, found in zip(columns, bins, strict=True)
    )


def additive_scores(learned: LearnedScores, encoding: TableEncoding, unit: float = 1.0) -> AdditiveScores:
    """The sum of effects, every score multiplied by ``unit``."""
    features = features_of(learned.columns, learned.bins, encoding)
    mains = tuple(
        MainEffect(index, unit * exactly(term.effect, term.monotone), unit * term.sd(learned.directions), term.counts)
        for index, term in enumerate(learned.mains)
    )
    pairs = []
    for left, right, term in learned.pairs:
        shape = (left.groups, right.groups)
        pairs.append(
            PairEffect(
                (left.column, right.column),
                (left.mapping, right.mapping),
                unit * term.effect.reshape(*shape, -1),
                unit * term.sd(learned.directions).reshape(*shape, -1),
                term.counts.reshape(shape),
            )
        )
    trees = tuple(tree.times(unit) for tree in learned.trees)
    intercept, sd = np.asarray(unit * learned.intercept), np.asarray(unit * learned.intercept_sd)
    return AdditiveScores(intercept, features, mains, tuple(pairs), trees, sd)


def regression_scores(
    learned: LearnedScores, encoding: TableEncoding, loss: ResidualLoss, label: NumericLabelIndex
) -> AdditiveScores:
    """The sum of effects in units of the target: a score of 0 is where the loss put its centre."""
    per_code = (label.upper - label.lower) / label.unit
    scores = additive_scores(learned, encoding, loss.scale.codes_per_unit * per_code)
    centre = label.lower + loss.scale.offset * per_code
    return replace(scores, intercept=scores.intercept + centre)
