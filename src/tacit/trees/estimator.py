"""`BoostedTreesClassifier`: the scikit-learn face of private boosted trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.curator.budget import Budget
from tacit.estimators.base import Task
from tacit.estimators.checks import check_choice, check_integer, check_number, whole
from tacit.estimators.uncertainty import Uncertainty
from tacit.estimators.weights import Weighting
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
from tacit.trees.gradient import learn_gradient_trees
from tacit.trees.m_alpha_boost import CALIBRATED, BoostSettings, MAlphaBoost
from tacit.trees.paper import PaperBoost

M_ALPHA_DEPTH = 4


class BoostedTreesClassifier(Weighting, Uncertainty, TreesClassifier):
    """Private boosted decision trees.

    By default, gradient trees: their structure looks at no row, their leaves take private Newton steps, one release
    per tree. Where rows are very many and noise is little, and neither ``n_trees`` nor ``max_depth`` is given, splits
    are chosen by the exponential mechanism instead. Bins, the number of trees and their depth follow from public and
    released numbers by a fixed rule; nothing is to be tuned.

    With ``alpha``, the M-alpha-boost of Nock and Henecka (2020): splits chosen by the exponential mechanism, leaves
    from released class weights. It is there to be compared with, and for few and readable trees.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: bounds are found with 5 % of the
            budget; where columns hold texts, bounds and categories with 10 % of it and up to half of delta.
            With ``alpha``, columns must then be numeric.
        classes: the two classes, the positive one last, when no schema names them. None: truth values are False and
            True; of texts the two most frequent ones are found, too, and sorted, which needs a positive delta. With
            one, numbers are found as well; at ``delta=0``, and with ``alpha``, labels are taken for 0 and 1.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        n_trees: how many trees; None for the rule's number. If given, their structure is random.
        max_depth: depth of every tree, 1 to 16; None for the rule's (4 with ``alpha``). If given, structure is random.
        alpha: None for gradient trees; a number in (0, 1] for the M-alpha loss; ``"calibrated"`` for objective
            calibration.
        criterion: with ``alpha``, what scores splits instead of the M-alpha loss: ``"gini"``, ``"entropy"`` or
            ``"error"``.
        analysis: with ``alpha``, ``"sharp"``, or ``"paper"`` for the paper's constants and division of the budget
            (pure epsilon and ``replace_one`` only, and its unsound steps repaired).
        split_share: with ``alpha``, the share of the budget for splits; the rest is for leaves.
        leaf_bound: with ``alpha``, ``M``: the largest absolute value that a leaf may say.
        n_bins: with ``alpha``, public cells of a numeric column.
        max_leaves: with ``alpha``, split the leaf of largest risk first until there are so many leaves; finding it is
            paid for. None for complete trees.
        noise: ``"auto"``; or ``"gaussian"`` or ``"laplace"`` to be told when delta does not go with it.
        class_weight: None; public positive weights by class, of which only ratios matter; or ``"balanced"``, by class
            counts that are released with 2 % of the budget. Probabilities are then those of a population in which
            classes occur so much more or less often. For those of the table's own, subtract ``log(w1 / w0)`` from
            ``decision_function(X)``, with ``w0`` and ``w1`` the weights of ``classes_[0]`` and ``classes_[1]``. To
            predict by costs, a threshold on unweighted probabilities is the better way. Not with ``alpha``.

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
        n_trees: int | None = None,
        max_depth: int | None = None,
        alpha: float | str | None = None,
        criterion: str | None = None,
        analysis: str = "sharp",
        split_share: float = 0.5,
        leaf_bound: float = 10.0,
        n_bins: int = 10,
        max_leaves: int | None = None,
        noise: str = "auto",
        class_weight: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.classes = classes
        self.account = account
        self.random_state = random_state
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.alpha = alpha
        self.criterion = criterion
        self.analysis = analysis
        self.split_share = split_share
        self.leaf_bound = leaf_bound
        self.n_bins = n_bins
        self.max_leaves = max_leaves
        self.noise = noise
        self.class_weight = class_weight

    def _check_parameters(self, request: Request) -> None:
        check_integer("n_trees", self.n_trees, 1, 10_000, optional=True)
        check_integer("max_depth", self.max_depth, 1, DEEPEST, optional=True)
        check_noise(self.noise, request)
        check_choice("analysis", self.analysis, ANALYSES)
        if self.alpha is None:
            for name in ("criterion", "max_leaves"):
                if getattr(self, name) is not None:
                    raise RequestError(f"{name} belongs to alpha: gradient trees have no use for it")
            if self.analysis == "paper":
                raise RequestError("analysis='paper' belongs to alpha: give alpha=1.0, 0.1 or 'calibrated'")
            return
        if self.alpha != CALIBRATED:
            check_number("alpha", self.alpha, 0.0, 1.0, with_high=True)
        check_choice("criterion", self.criterion, (None, "gini", "entropy", "error"))
        check_number("split_share", self.split_share, 0.0, 1.0)
        check_number("leaf_bound", self.leaf_bound, 0.0, 101.0)
        check_integer("n_bins", self.n_bins, 1, 254)
        check_integer("max_leaves", self.max_leaves, 1, 1 << DEEPEST, optional=True)
        if self.analysis == "paper":
            self._check_paper(request)

    def _check_paper(self, request: Request) -> None:
        if request.neighbouring is not Neighbouring.REPLACE_ONE or request.delta > 0:
            raise RequestError(
                "analysis='paper' is about pure epsilon and a public number of rows, which its sensitivities contain: "
                "set delta=0 and neighbouring='replace_one'"
            )
        if self.max_leaves is not None:
            raise RequestError("analysis='paper' grows complete trees: leave max_leaves out")

    def _check_task(self, task: Task) -> None:
        super()._check_task(task)
        if self.alpha is not None and self.analysis == "paper" and task.public_rows is None:
            raise RequestError(
                "analysis='paper' is about a public number of rows, which there is not where a schema has a unit, or "
                "inside a learner that splits rows at random: leave it sharp"
            )

    def _check_weighted(self, task: Task) -> None:
        del task
        if self.alpha is not None:
            raise RequestError("class_weight and sample_weight are for gradient trees: leave alpha out")

    @property
    def _discovers(self) -> bool:
        return self.alpha is None

    def _planned_charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if self.alpha is None:
            return super()._planned_charges(allowance, task)
        self._settings_within(task)
        return self._split_charges(task)

    def _settings_within(self, task: Task) -> BoostSettings:
        """The settings, after checking that the budget can buy its selections."""
        assert self.alpha is not None
        settings = BoostSettings(
            alpha=self.alpha if isinstance(self.alpha, str) else float(self.alpha),
            criterion=self.criterion,
            trees=whole(self.n_trees),
            depth=whole(self.max_depth) or (M_ALPHA_DEPTH if self.max_leaves is None else DEEPEST),
            split_share=float(self.split_share),
            bound=float(self.leaf_bound),
            cells=int(self.n_bins),
            leaves=whole(self.max_leaves),
        )
        steps = settings.depth if settings.leaves is None else max(2 * settings.leaves - 3, 1)
        least = 2.0**-settings.depth if self.analysis == "paper" else 1.0
        self._split_budget(task).selection(0.5 * settings.split_share / (settings.trees or 2) / steps * least)
        return settings

    def _learn(self, budget: Budget, task: Task) -> TreeEnsembleModel:
        columns, names = columns_of_task(task), task.label_index.names
        if self.alpha is None:
            trees, depth = whole(self.n_trees), whole(self.max_depth)
            learned = learn_gradient_trees(budget, columns, n_trees=trees, depth=depth)
            features = features_of(task, learned.bins)
            spending = TreeSpending(learned.level_shares, learned.share)
            return TreeEnsembleModel(
                names, learned.intercept, features, learned.trees, Link("logistic"), spending, learned.intercept_sd
            )
        settings = self._settings_within(task)
        paper = self.analysis == "paper"
        boost = (PaperBoost if paper else MAlphaBoost)(
            budget.curator, self._split_budget(task), columns, [not paper] * len(columns), settings, task.public_rows
        )
        boosted = boost.run()
        features = features_of(task, boosted.bins)
        return TreeEnsembleModel(names, 0.0, features, boosted.trees, boosted.link, boosted.spending)
