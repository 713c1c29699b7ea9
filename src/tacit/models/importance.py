"""How much each column matters to a model, where columns alone have a share."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tacit.models.additive import AdditiveModel, AdditiveScores
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model, Nest
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.tree_ensemble import BinnedTrees
from tacit.models.tree_importance import total_effects


def column_importance(model: Model) -> dict[str, float] | None:
    """Per column, how far it moves the score, in units of the score; None where columns have no share of their own.

    A total effect (Sobol 2001): what a column does together with another counts for both. Columns that a model does
    not use have none. Of a mean of models, the mean; of a recalibrated one, that of the model underneath.
    """
    if isinstance(model, AdditiveModel | AdditiveClassesModel | AdditiveOrderedModel | AdditiveRegressionModel):
        return _of_scores(model.scores)
    if isinstance(model, BinnedTrees):
        return model.importance()
    if not isinstance(model, Nest):
        return None
    if isinstance(model, RecalibratedModel):
        return column_importance(model.base)
    if not isinstance(model, MeanModel | MeanNumberModel):
        return None
    importance: defaultdict[str, float] = defaultdict(float)
    for member, share in zip(model.members, model.shares, strict=True):
        inside = column_importance(member)
        if inside is None:
            return None
        for name, value in inside.items():
            importance[name] += float(share) * value
    return dict(importance)


def _of_scores(scores: AdditiveScores) -> dict[str, float]:
    """Squares of independent effects add up."""
    own = scores.importance()
    squares = np.zeros(len(scores.features))
    for main in scores.mains:
        squares[main.feature] += own[scores.features[main.feature].name] ** 2
    for pair in scores.pairs:
        squares[list(pair.features)] += own[scores.pair_name(pair)] ** 2
    if scores.trees:
        squares += total_effects(scores.trees, [feature.n_bins for feature in scores.features]) ** 2
    return dict(zip((feature.name for feature in scores.features), np.sqrt(squares).tolist(), strict=True))
