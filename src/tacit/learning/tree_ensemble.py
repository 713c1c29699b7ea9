"""From a task to trees over its columns, and gradient trees as a model: several learners make them."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.binning.measure import Column
from tacit.binning.tree_bins import TreeBins
from tacit.curator.budget import Budget
from tacit.encoding.grid import NumericGrid
from tacit.growing.gradient_trees import learn_gradient_trees
from tacit.growing.tuning import GRADIENT, Gradient
from tacit.learning.learner import Task
from tacit.models.feature import Feature
from tacit.models.tree_ensemble import Link, TreeEnsembleModel, TreeSpending
from tacit.schema import OrdinalColumn


def columns_of_task(task: Task) -> list[Column]:
    """The columns as the learners know them; ordinal categories are ordered as declared."""
    assert task.encoding is not None
    declared = {} if task.schema is None else task.schema.columns
    return [
        Column(index, name, isinstance(encoder, NumericGrid) or isinstance(declared.get(name), OrdinalColumn))
        for index, (name, encoder) in enumerate(zip(task.names, task.encoding.encoders, strict=True))
    ]


def features_of(task: Task, bins: Sequence[TreeBins]) -> tuple[Feature, ...]:
    """The model's columns: the public encoding and the bins it is mapped to."""
    assert task.encoding is not None
    return tuple(
        Feature(name, encoder, column_bins.mapping, isinstance(encoder, NumericGrid))
        for name, encoder, column_bins in zip(task.names, task.encoding.encoders, bins, strict=True)
    )


def gradient_trees(
    budget: Budget, task: Task, n_trees: int | None = None, depth: int | None = None, tuning: Gradient = GRADIENT
) -> TreeEnsembleModel:
    """A sum of gradient trees for two classes (:mod:`tacit.growing.gradient_trees`), from the budget of the whole fit.

    ``n_trees`` and ``depth`` are taken instead of the rule's.
    """
    learned = learn_gradient_trees(budget, columns_of_task(task), n_trees=n_trees, depth=depth, tuning=tuning)
    features, link = features_of(task, learned.bins), Link("logistic")
    spending, names = TreeSpending(learned.level_shares, learned.share), task.label_index.names
    return TreeEnsembleModel(names, learned.intercept, features, learned.trees, link, spending, learned.intercept_sd)
