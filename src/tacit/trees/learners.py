"""The learners of trees, from a task to a frozen model: gradient trees, M-alpha-boost, random forests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.growing.tuning import GRADIENT, Gradient
from tacit.learning.checks import check_choice, check_integer, check_number, check_two_classes, whole
from tacit.learning.learner import Learner, Task
from tacit.learning.tree_ensemble import columns_of_task, features_of, gradient_trees
from tacit.learning.weights import check_class_weight, sealed
from tacit.models.tree_ensemble import TreeClassesModel, TreeEnsembleModel, TreeSpending
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema.label import MOST_CLASSES
from tacit.trees.budget import Plan, SplitBudget
from tacit.trees.forest import ForestSettings, label_charges, learn_forest
from tacit.trees.losses import CRITERIA, SMOOTHED
from tacit.trees.m_alpha_boost import CALIBRATED, BoostSettings, MAlphaBoost, PaperBoost
from tacit.trees.several_classes import learn_class_trees
from tacit.trees.tuning import BOOSTING, FORESTS, Boosting, Forests

MECHANISMS = ("laplace", "exponential")

ANALYSES = ("sharp", "paper")

DEEPEST = 16  # not tuned: a complete tree of this depth has 2**16 leaves


LEAST_BOUND, LARGEST_BOUND = 1e-3, 101.0
"""Not tuned: of ``leaf_bound``; the printed noise divides by it, and the link of clamped shares reaches 100."""

OF_LABELS = 0.9
"""Not tuned: the least share of the budget that labels of leaves have, beside the counts of rows and of classes."""


@dataclass(frozen=True, eq=False)
class GradientTreesLearner(Learner):
    """Gradient trees: what :class:`~tacit.BoostedTreesClassifier` says of itself."""

    n_trees: int | None = None
    max_depth: int | None = None
    noise: str = "auto"
    class_weight: Any = None
    tuning: Gradient = GRADIENT

    name = "BoostedTreesClassifier"
    streams = True
    joins = True
    joins_noisy = True
    discovers = True
    most_classes = MOST_CLASSES

    def __post_init__(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 10_000, optional=True)
        check_integer("max_depth", self.max_depth, 1, DEEPEST, optional=True)
        check_noise(self.noise, self.request)

    def check(self, task: Task) -> None:
        check_class_weight(self.class_weight, task)

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del task
        return [allowance.whole]

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> TreeEnsembleModel | TreeClassesModel:
        budget, task = sealed(rows, allowance, task, self.class_weight)
        trees, depth, names = whole(self.n_trees), whole(self.max_depth), task.label_index.names
        if len(names) > 2:
            class_trees = learn_class_trees(budget, columns_of_task(task), trees, depth, self.tuning)
            features = features_of(task, class_trees.bins)
            masses = tuple((one.mass / one.mass.sum()).round(6) for one in class_trees.bins)  # a model file holds it
            intercept, sd = class_trees.intercept, class_trees.intercept_sd
            return TreeClassesModel(names, intercept, features, masses, class_trees.trees, sd)
        return gradient_trees(budget, task, trees, depth, self.tuning)


@dataclass(frozen=True, eq=False)
class MAlphaLearner(Learner):
    """M-alpha-boost: what :class:`~tacit.MAlphaBoostClassifier` says of itself."""

    alpha: float | str = CALIBRATED
    n_trees: int | None = None
    max_depth: int | None = None
    noise: str = "auto"
    analysis: str = "sharp"
    criterion: str | None = None
    split_share: float = BOOSTING.split_share
    leaf_bound: float = BOOSTING.leaf_bound
    n_bins: int = BOOSTING.cells
    max_leaves: int | None = None
    tuning: Boosting = BOOSTING

    name = "MAlphaBoostClassifier"
    streams = True
    joins = True

    def __post_init__(self) -> None:
        check_integer("n_trees", self.n_trees, 1, 10_000, optional=True)
        check_integer("max_depth", self.max_depth, 1, DEEPEST, optional=True)
        check_noise(self.noise, self.request)
        check_choice("analysis", self.analysis, ANALYSES)
        if self.alpha != CALIBRATED:
            check_number("alpha", self.alpha, 0.0, 1.0, with_high=True)
        check_choice("criterion", self.criterion, (None, *CRITERIA))
        check_number("split_share", self.split_share, 0.0, 1.0)
        check_number("leaf_bound", self.leaf_bound, LEAST_BOUND if self._as_printed else 0.0, LARGEST_BOUND)
        check_integer("n_bins", self.n_bins, 2 if self._as_printed else 1, 254)  # the paper splits off no gaps
        check_integer("max_leaves", self.max_leaves, 2, 1 << DEEPEST, optional=True)
        if self.max_leaves is not None and self.max_depth is not None and self.max_leaves > 2**self.max_depth:
            raise RequestError(
                f"a tree of depth {self.max_depth} has at most {2**self.max_depth} leaves: ask for fewer "
                f"max_leaves than {self.max_leaves}, or for a larger max_depth"
            )
        if not self._as_printed:
            return
        if self.request.neighbouring is not Neighbouring.REPLACE_ONE or self.request.delta > 0:
            raise RequestError(
                "analysis='paper' is about pure epsilon and a public number of rows, which its sensitivities contain: "
                "set delta=0 and neighbouring='replace_one'"
            )
        if self.max_leaves is not None:
            raise RequestError("analysis='paper' grows complete trees: leave max_leaves out")
        if self.criterion == SMOOTHED:
            raise RequestError("analysis='paper' releases no weights of leaves, which criterion='smoothed' needs")

    @property
    def _as_printed(self) -> bool:
        return self.analysis == "paper"

    def check(self, task: Task) -> None:
        check_two_classes(task, self.name)
        if self._as_printed and task.public_rows is None:
            raise RequestError(
                "analysis='paper' is about a public number of rows, which there is not where a schema has a unit, or "
                "inside a learner that splits rows at random: leave it sharp"
            )

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del allowance  # a request buys another pool where selections are to be paid for
        _, pool = self._planned(task)
        return [*bounds_charges(self.request, task), *pool.charges]

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> TreeEnsembleModel:
        budget, task = sealed(rows, allowance, task)
        columns, names = columns_of_task(task), task.label_index.names
        settings, pool = self._planned(task)
        make, missing = PaperBoost if self._as_printed else MAlphaBoost, [not self._as_printed] * len(columns)
        boosted = make(budget.curator, pool, columns, missing, settings, task.public_rows).run()
        features = features_of(task, boosted.bins)
        return TreeEnsembleModel(names, 0.0, features, boosted.trees, boosted.link, boosted.spending)

    def _planned(self, task: Task) -> tuple[BoostSettings, SplitBudget]:
        """The settings and the pool, after checking that it can buy its selections.

        A number of trees that is not given may follow from a released one: the pool is in rho then. A plan is the same
        where the number of rows is public, as a learner around this one may pay before it is.
        """
        settings = BoostSettings(
            alpha=self.alpha if isinstance(self.alpha, str) else float(self.alpha),
            criterion=self.criterion,
            trees=whole(self.n_trees),
            depth=whole(self.max_depth) or (self.tuning.depth if self.max_leaves is None else DEEPEST),
            split_share=float(self.split_share),
            bound=float(self.leaf_bound),
            cells=int(self.n_bins),
            leaves=whole(self.max_leaves),
            tuning=self.tuning,
        )
        least = 2.0**-settings.depth if self._as_printed else 1.0
        pool = split_budget(self.request, task)
        pool.selection(0.5 * settings.split_share / (settings.trees or 2) / settings.selections * least)
        if settings.trees is not None and not self._as_printed:
            pool = split_budget(self.request, task, settings.charges)
        return settings, pool


@dataclass(frozen=True, eq=False)
class ForestLearner(Learner):
    """A random forest: what :class:`~tacit.RandomTreesClassifier` says of itself."""

    mechanism: str = "laplace"
    n_trees: int = FORESTS.trees
    max_depth: int | None = None
    analysis: str = "sharp"
    n_bins: int = FORESTS.cells
    noise: str = "auto"
    tuning: Forests = FORESTS

    name = "RandomTreesClassifier"
    streams = True
    joins = True
    joins_noisy = True

    def __post_init__(self) -> None:
        check_choice("mechanism", self.mechanism, MECHANISMS)
        check_choice("analysis", self.analysis, ANALYSES)
        check_integer("n_trees", self.n_trees, 1, 10_000)
        check_integer("max_depth", self.max_depth, 1, DEEPEST, optional=True)
        check_integer("n_bins", self.n_bins, 1, 254)
        check_noise(self.noise, self.request)
        if self.analysis == "paper" and (
            self.request.neighbouring is not Neighbouring.REPLACE_ONE
            or self.request.delta > 0
            or self.max_depth is None
        ):
            raise RequestError(
                "analysis='paper' is about pure epsilon, a public number of rows and a given depth: set delta=0, "
                "neighbouring='replace_one' and max_depth"
            )

    def check(self, task: Task) -> None:
        check_two_classes(task, self.name)

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if self.mechanism == "laplace":
            return [allowance.whole]
        # a request buys another pool where selections are to be paid for
        leaves = 2.0 ** (whole(self.max_depth) or 0) if self.analysis == "paper" else 1.0
        split_budget(self.request, task).selection(OF_LABELS / int(self.n_trees) / leaves)
        return [*bounds_charges(self.request, task), *self._pool(task).charges]

    def _pool(self, task: Task) -> SplitBudget:
        """What labels of leaves are paid from, and what goes with them."""
        plan = partial(label_charges, trees=int(self.n_trees), tuning=self.tuning)
        return split_budget(self.request, task, plan if self.analysis == "sharp" else None)

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> TreeEnsembleModel:
        budget, task = sealed(rows, allowance, task)
        trees, depth, sharp = int(self.n_trees), whole(self.max_depth), self.analysis == "sharp"
        settings = ForestSettings(self.mechanism, trees, depth, int(self.n_bins), sharp, self.tuning)
        releases = self.mechanism == "laplace"
        pool = SplitBudget.of_releases(budget.allowance) if releases else self._pool(task)
        forest = learn_forest(budget.curator, pool, columns_of_task(task), settings, task.public_rows)
        features = features_of(task, forest.bins)
        spending = TreeSpending(leaves=forest.share)
        names = task.label_index.names
        return TreeEnsembleModel(names, forest.intercept, features, forest.trees, forest.link, spending)


def bounds_charges(request: Request, task: Task) -> tuple[Charge, ...]:
    """What finding bounds takes, where no schema declares them."""
    return () if task.schema is not None else (request.allowance.charge(BOUNDS_SHARE),)


def split_budget(request: Request, task: Task, plan: Plan | None = None) -> SplitBudget:
    """The pool for selections and releases, beside what finding bounds takes; ``plan`` as in :class:`SplitBudget`."""
    return SplitBudget.of(request.epsilon, request.delta, bounds_charges(request, task), plan)


def check_noise(noise: str, request: Request) -> None:
    """Raises if the noise asked for by name does not go with delta."""
    check_choice("noise", noise, ("auto", "gaussian", "laplace"))
    if noise == "gaussian" and request.delta == 0:
        raise RequestError(
            "noise='gaussian' has no finite epsilon at delta=0: use noise='laplace', or a positive delta"
        )
    if noise == "laplace" and request.delta > 0:
        raise RequestError("noise='laplace' is meant for pure epsilon: set delta=0")
