"""The scikit-learn estimators of private boosted trees, random forests and M-alpha-boost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tacit.estimators.base import learner_of
from tacit.estimators.classes import CommonParameters, ScoredClasses, Uncertainty, Weighting
from tacit.estimators.classifier import PrivateClassifier
from tacit.privacy.request import Request
from tacit.trees.learners import ForestLearner, GradientTreesLearner, MAlphaLearner


@dataclass(eq=False, repr=False)
class BoostedTreesClassifier(Weighting, Uncertainty, CommonParameters, PrivateClassifier):
    """Private boosted decision trees: gradient trees.

    Their structure reads no row, their leaves take private Newton steps, one release per tree. Where rows are very many
    and noise is little, and neither ``n_trees`` nor ``max_depth`` is given, splits are chosen by the exponential
    mechanism instead. Bins, the number of trees and their depth follow from public and released numbers by a fixed
    rule; nothing is to be tuned. Of more than two classes, leaves hold a vector: one release per tree serves all
    classes, and trees are averaged as a kernel (:mod:`tacit.growing.kernel_trees`).

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: bounds are found with 5 % of the
            budget; where columns hold texts, bounds and categories with 10 % of it and up to half of delta.
        classes: the classes, of two the positive one last, when no schema names them; ``"public"`` takes them from y
            where they do not come from the rows. None: truth values are False and True; of others the most frequent
            ones are found, too, and sorted, which needs a positive delta; at ``delta=0`` they are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        n_trees: how many trees; None for the rule's number. If given, their structure is random.
        max_depth: depth of every tree, 1 to 16; None for the rule's. If given, structure is random.
        noise: ``"auto"``; or ``"gaussian"`` or ``"laplace"``, which are refused where delta does not allow them.
        class_weight: None; public positive weights by class, of which only ratios matter; or ``"balanced"``, by class
            counts that are released with 2 % of the budget. Probabilities are then those of a population in which
            classes occur so much more or less often. For those of the table's own, subtract ``log(w1 / w0)`` from
            ``decision_function(X)``, with ``w0`` and ``w1`` the weights of ``classes_[0]`` and ``classes_[1]``; of more
            than two classes, from each score the logarithm of its weight. To predict by costs, a threshold on
            unweighted probabilities is the better way.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.tree_ensemble.TreeEnsembleModel`; of more than two classes a
            :class:`~tacit.models.tree_ensemble.TreeClassesModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import BoostedTreesClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> model = BoostedTreesClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(X, y)
        >>> print(model.certificate_.epsilon, len(model.predict(X)))
        1.0 20000
    """

    n_trees: int | None = None
    max_depth: int | None = None
    noise: str = GradientTreesLearner.noise
    class_weight: Any = None
    dtypes: str | None = None

    @property
    def tells_several_classes(self) -> bool:
        return self.classes is not None and len(self.classes) > 2

    def make_learner(self, request: Request) -> GradientTreesLearner:
        return learner_of(GradientTreesLearner, self, request)


@dataclass(eq=False, repr=False)
class RandomTreesClassifier(ScoredClasses, CommonParameters, PrivateClassifier):
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
        classes: the two classes, the positive one last, when no schema names them; ``"public"`` takes them from y.
            None: labels must be booleans; others are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        mechanism: ``"laplace"`` (RF-L; its noise is Gaussian where ``delta > 0``) or ``"exponential"`` (RF-E).
        n_trees: how many trees.
        max_depth: depth of every tree, 1 to 16; None for as deep as leaves exceed their noise.
        analysis: ``"sharp"`` charges the leaves of a tree together; ``"paper"`` divides the budget among them (pure
            epsilon and ``replace_one`` only).
        n_bins: public cells of a numeric column.
        noise: ``"auto"``; or ``"gaussian"`` or ``"laplace"``, which are refused where delta does not allow them.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.tree_ensemble.TreeEnsembleModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> model = RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y)
        >>> print(model.classes_)
        ['no' 'yes']
    """

    mechanism: str = ForestLearner.mechanism
    n_trees: int = ForestLearner.n_trees
    max_depth: int | None = None
    analysis: str = ForestLearner.analysis
    n_bins: int = ForestLearner.n_bins
    noise: str = ForestLearner.noise
    dtypes: str | None = None

    def make_learner(self, request: Request) -> ForestLearner:
        return learner_of(ForestLearner, self, request)


@dataclass(eq=False, repr=False)
class MAlphaBoostClassifier(ScoredClasses, CommonParameters, PrivateClassifier):
    """The boosted private trees of Nock and Henecka (2020), M-alpha-boost: few and readable trees.

    Splits are chosen by the exponential mechanism, leaves follow from released class weights.
    :class:`~tacit.BoostedTreesClassifier` is more accurate.

    Args:
        epsilon, delta, neighbouring, schema, classes, account, random_state, dtypes: as in
            :class:`~tacit.RandomTreesClassifier`.
        alpha: a number in (0, 1], that of the M-alpha loss; or ``"calibrated"`` for objective calibration.
        n_trees: how many trees; None for 2 to 20, by the number of rows and the budget.
        max_depth: depth of every tree, 1 to 16; None for 4, or for as deep as ``max_leaves`` asks.
        criterion: what scores splits instead of the M-alpha loss: ``"gini"``, ``"entropy"``, ``"error"`` or
            ``"smoothed"`` (Matsushita's loss with a bounded slope, :class:`~tacit.trees.losses.SmoothedLoss`).
        analysis: ``"sharp"``, or ``"paper"`` for the paper's constants and division of the budget (pure epsilon and
            ``replace_one`` only, and its unsound steps repaired).
        split_share: the share of the budget for splits; the rest is for leaves.
        leaf_bound: ``M``, the largest absolute value of a leaf.
        n_bins: public cells of a numeric column.
        max_leaves: split the leaf of largest risk first until there are so many leaves; finding it is paid for. None
            for complete trees.
        noise: ``"auto"``; or ``"gaussian"`` or ``"laplace"``, which are refused where delta does not allow them.

    Attributes:
        model_: the frozen :class:`~tacit.models.tree_ensemble.TreeEnsembleModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import MAlphaBoostClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> model = MAlphaBoostClassifier(epsilon=1.0, schema=schema, criterion="gini", n_trees=2).fit(X, y)
        >>> print(len(model.model_.trees), model.classes_)
        2 ['no' 'yes']
    """

    alpha: float | str = MAlphaLearner.alpha
    n_trees: int | None = None
    max_depth: int | None = None
    criterion: str | None = None
    analysis: str = MAlphaLearner.analysis
    split_share: float = MAlphaLearner.split_share
    leaf_bound: float = MAlphaLearner.leaf_bound
    n_bins: int = MAlphaLearner.n_bins
    max_leaves: int | None = None
    noise: str = MAlphaLearner.noise
    dtypes: str | None = None

    def make_learner(self, request: Request) -> MAlphaLearner:
        return learner_of(MAlphaLearner, self, request)
