"""`MAlphaBoostClassifier`: the scikit-learn estimator of M-alpha-boost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.estimators.base import learner_of
from tacit.estimators.classes import ScoredClasses
from tacit.estimators.classifier import PrivateClassifier
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import Request
from tacit.trees.learners import MAlphaLearner


@dataclass(eq=False, repr=False)
class MAlphaBoostClassifier(ScoredClasses, PrivateClassifier):
    """The boosted private trees of Nock and Henecka (2020), M-alpha-boost: few and readable trees.

    Splits are chosen by the exponential mechanism, leaves follow from released class weights.
    :class:`~tacit.BoostedTreesClassifier` is more accurate.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: all columns are numeric, and their
            bounds are found with 5 % of the budget.
        classes: the two classes, the positive one last, when no schema names them. None: labels must be
            booleans; others are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
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
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

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

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
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
