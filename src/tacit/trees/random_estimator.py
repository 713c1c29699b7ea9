"""`RandomTreesClassifier`: the scikit-learn face of private random forests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.curator.budget import Budget
from tacit.estimators.base import Task
from tacit.estimators.checks import check_choice, check_integer, whole
from tacit.models.tree_ensemble import Link, TreeEnsembleModel, TreeSpending
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import Request, RequestError
from tacit.trees.face import (
    ANALYSES,
    DEEPEST,
    TreesClassifier,
    check_noise,
    columns_of_task,
    features_of,
)
from tacit.trees.forest import ForestSettings, learn_forest

MECHANISMS = ("laplace", "exponential")


class RandomTreesClassifier(TreesClassifier):
    """A private random forest: trees at random, whose leaves vote with noise.

    RF-L counts the classes of every leaf with noise, RF-E chooses every leaf's label by the exponential mechanism
    (Nock, Henecka 2020, section 17.2). Structures cost nothing, so it is a fast baseline; boosted trees are more
    accurate.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: all columns are numeric, and their
            bounds are found with 5 % of the budget.
        classes: the two classes, the positive one last, when no schema names them; None for 0 and 1.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        mechanism: ``"laplace"`` (RF-L; its noise is Gaussian where ``delta > 0``) or ``"exponential"`` (RF-E).
        n_trees: how many trees.
        max_depth: depth of every tree, 1 to 16; None for as deep as leaves stand out of their noise.
        analysis: ``"sharp"`` charges the leaves of a tree together; ``"paper"`` divides the budget among them (pure
            epsilon and ``replace_one`` only).
        n_bins: public cells of a numeric column.
        noise: ``"auto"``; or ``"gaussian"`` or ``"laplace"`` to be told when delta does not go with it.

    Attributes:
        model_: the frozen :class:`~tacit.models.tree_ensemble.TreeEnsembleModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        schema: Any = None,
        classes: Sequence[Any] | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
        mechanism: str = "laplace",
        n_trees: int = 21,
        max_depth: int | None = None,
        analysis: str = "sharp",
        n_bins: int = 50,
        noise: str = "auto",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.classes = classes
        self.account = account
        self.random_state = random_state
        self.mechanism = mechanism
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.analysis = analysis
        self.n_bins = n_bins
        self.noise = noise

    def _check_parameters(self, request: Request) -> None:
        check_choice("mechanism", self.mechanism, MECHANISMS)
        check_choice("analysis", self.analysis, ANALYSES)
        check_integer("n_trees", self.n_trees, 1, 10_000)
        check_integer("max_depth", self.max_depth, 1, DEEPEST, optional=True)
        check_integer("n_bins", self.n_bins, 1, 254)
        check_noise(self.noise, request)
        if self.analysis == "paper" and (
            request.neighbouring is not Neighbouring.REPLACE_ONE or request.delta > 0 or self.max_depth is None
        ):
            raise RequestError(
                "analysis='paper' is about pure epsilon, a public number of rows and a given depth: set delta=0, "
                "neighbouring='replace_one' and max_depth"
            )

    def _planned_charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del allowance  # a request buys another pool where selections are to be paid for
        if self.mechanism == "exponential":
            leaves = 2.0 ** (whole(self.max_depth) or 0) if self.analysis == "paper" else 1.0
            self._split_budget(task).selection(0.9 / int(self.n_trees) / leaves)
        return self._split_charges(task)

    def _learn(self, budget: Budget, task: Task) -> TreeEnsembleModel:
        settings = ForestSettings(
            self.mechanism, int(self.n_trees), whole(self.max_depth), int(self.n_bins), self.analysis == "sharp"
        )
        forest = learn_forest(
            budget.curator, self._split_budget(task), columns_of_task(task), settings, task.public_rows
        )
        features = features_of(task, forest.bins)
        spending = TreeSpending(leaves=forest.share)
        return TreeEnsembleModel(task.label_index.names, 0.0, features, forest.trees, Link("share"), spending)
