"""The default learner for classes: the learner, from a task to a frozen model, and its estimator without scikit-learn.

:class:`AdditiveBoost` is all of `AdditiveBoostClassifier` but scikit-learn's conventions. The command line uses it
alone: scikit-learn takes longer to load than most tables take to learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.additive.first_look import counted_first, may_boost_trees_alone, noise_exceeds_signal
from tacit.additive.forecast import forecast
from tacit.additive.learn import learn
from tacit.additive.losses import SoftmaxLoss, TwoClassLoss
from tacit.additive.ordered_loss import MOST_ORDERED, OrderedLoss
from tacit.additive.planner import Planner
from tacit.additive.posterior import DIRECTIONS
from tacit.additive.public_prior import priors_of
from tacit.additive.to_model import additive_model, to_scores
from tacit.additive.tuning import TUNING, Tuning
from tacit.binning.measure import Column
from tacit.curator.rows import PrivateRows
from tacit.encoding.grid import NumericGrid
from tacit.estimators.base import learner_of
from tacit.estimators.classes import CommonParameters, Uncertainty, Weighting
from tacit.learning.learner import Learner, Task, monotone_of
from tacit.learning.tree_ensemble import gradient_trees
from tacit.learning.weights import check_class_weight, sealed
from tacit.models.additive import AdditiveModel
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel
from tacit.models.tree_ensemble import TreeEnsembleModel
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError
from tacit.schema.label import MOST_CLASSES


@dataclass(frozen=True, eq=False)
class AdditiveLearner(Learner):
    """Boosts an additive model of classes: what :class:`~tacit.AdditiveBoostClassifier` says of itself holds here."""

    interactions: bool | str = True  # True, False or `"pairs"`
    class_weight: Any = None  # None, `"balanced"`, or public weights by class
    tuning: Tuning = TUNING  # the numbers of the learner
    ordered: bool = False  # whether the declared order of the classes means something

    name = "AdditiveBoostClassifier"
    streams = True
    joins = True
    joins_noisy = True
    discovers = True
    most_classes = MOST_CLASSES
    least_budget = 2e-5
    holds_monotone = True

    def __post_init__(self) -> None:
        parts_wanted(self.interactions)
        if not isinstance(self.ordered, bool | np.bool_):
            raise RequestError(f"ordered must be True or False, got {self.ordered!r}")

    def check(self, task: Task) -> None:
        check_class_weight(self.class_weight, task)
        if self.ordered:
            _check_order(task)

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del task
        return [allowance.whole]

    def forecast(self, allowance: Allowance, task: Task, n: int) -> dict[str, Any] | None:
        if not task.names or task.label_index.n_classes != 2:
            return None
        pairs, trees = parts_wanted(self.interactions)
        alone = trees and may_boost_trees_alone(allowance, task)
        alone = alone and noise_exceeds_signal(n, len(task.names), allowance.sd(1.0), self.tuning.planning)
        if sum(monotone_of(task, name) is None for name in task.names) < 2:  # a declared direction is kept to itself
            pairs = trees = False
        planner = Planner(self.tuning.planning, self.tuning.growing.cutting)
        return forecast(n, len(task.names), allowance, pairs, trees, alone, planner)

    def learn(
        self, rows: PrivateRows, allowance: Allowance, task: Task
    ) -> AdditiveModel | AdditiveClassesModel | AdditiveOrderedModel | TreeEnsembleModel:
        budget, task = sealed(rows, allowance, task, self.class_weight)
        columns, names, encoding = learned_columns(task), task.label_index.names, task.encoding
        assert encoding is not None
        pairs, trees = parts_wanted(self.interactions)
        if trees and may_boost_trees_alone(budget.allowance, task):
            rows_found, budget = counted_first(budget, task, self.tuning.planning)
            if noise_exceeds_signal(rows_found, len(columns), budget.sd(), self.tuning.planning):
                return gradient_trees(budget, task, tuning=self.tuning.gradient)
        priors = priors_of(task.schema, encoding)
        if len(names) == 2:
            learned = learn(budget, columns, TwoClassLoss(), pairs, trees, self.tuning, priors)
            return additive_model(learned, names, encoding)
        if self.ordered:
            odds = OrderedLoss(len(names), budget.is_pure, self.tuning.counting)
            learned = learn(budget, columns, odds, pairs, trees, self.tuning, priors)
            return AdditiveOrderedModel(names, odds.cuts, to_scores(learned, encoding))
        loss = SoftmaxLoss(len(names), budget.is_pure, self.tuning.counting)
        learned = learn(budget, columns, loss, pairs, trees, self.tuning)
        return AdditiveClassesModel(names, to_scores(learned, encoding))


@dataclass(eq=False, repr=False)
class AdditiveBoost(Weighting, Uncertainty, CommonParameters):
    """Private boosting of an additive model: what :class:`~tacit.AdditiveBoostClassifier` says of itself holds here."""

    interactions: bool | str = True
    class_weight: Any = None
    ordered: bool = False
    dtypes: str | None = None

    tuning: ClassVar[Tuning] = TUNING
    """The numbers of the learner: to fit them, not to be chosen by looking at private rows."""

    @property
    def algorithm(self) -> str:
        return AdditiveLearner.name

    def make_learner(self, request: Request) -> AdditiveLearner:
        return learner_of(AdditiveLearner, self, request)


def _check_order(task: Task) -> None:
    """Raises :class:`RequestError` where nobody declared the order of the classes, or they are too many."""
    if task.undeclared is not None and task.undeclared.unknowns.classes:
        raise RequestError(
            "ordered=True needs the classes in their order: declare them in the schema's label, or give classes=[...]"
        )
    if task.label_index.n_classes > MOST_ORDERED:
        raise RequestError(
            f"ordered=True takes up to {MOST_ORDERED} classes, got {task.label_index.n_classes}: declare a numeric "
            "label for AdditiveBoostRegressor"
        )


def parts_wanted(interactions: bool | str) -> tuple[bool, bool]:
    """Whether pairs of columns are looked for, and whether trees are boosted on what is left.

    Raises:
        RequestError: unless it is a truth value, of Python or numpy, or ``"pairs"``: 0 and 1 are numbers.
    """
    if isinstance(interactions, bool | np.bool_):
        return bool(interactions), bool(interactions)
    if isinstance(interactions, str) and interactions == "pairs":
        return True, False
    raise RequestError(f"interactions must be True, False or 'pairs', got {interactions!r}")


def learned_columns(task: Task) -> list[Column]:
    """The columns of a task as the learner knows them."""
    assert task.encoding is not None
    return [
        Column(index, name, isinstance(encoder, NumericGrid), DIRECTIONS.get(str(monotone_of(task, name)), 0))
        for index, (name, encoder) in enumerate(zip(task.names, task.encoding.encoders, strict=True))
    ]
