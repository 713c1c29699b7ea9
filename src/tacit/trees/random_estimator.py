"""`RandomTreesClassifier`: the scikit-learn estimator of private random forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.estimators.base import learner_of
from tacit.estimators.classes import ScoredClasses
from tacit.estimators.classifier import PrivateClassifier
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import Request
from tacit.trees.learners import ForestLearner


@dataclass(eq=False, repr=False)
class RandomTreesClassifier(ScoredClasses, PrivateClassifier):
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
        classes: the two classes, the positive one last, when no schema names them. None: labels must be
            booleans; others are refused.
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

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
    mechanism: str = ForestLearner.mechanism
    n_trees: int = ForestLearner.n_trees
    max_depth: int | None = None
    analysis: str = ForestLearner.analysis
    n_bins: int = ForestLearner.n_bins
    noise: str = ForestLearner.noise
    dtypes: str | None = None

    def make_learner(self, request: Request) -> ForestLearner:
        return learner_of(ForestLearner, self, request)
