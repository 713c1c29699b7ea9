"""`AdditiveBoostClassifier`: the default learner as a scikit-learn estimator."""

from __future__ import annotations

from tacit.additive.boost import AdditiveBoost
from tacit.estimators.classifier import PrivateClassifier


class AdditiveBoostClassifier(AdditiveBoost, PrivateClassifier):
    """Private boosting of an additive model over public bins: interpretable, and the most accurate default.

    The boosting schema of Bun, Carmosino and Sorrell (2020) with a stateless measure: the weight of a row follows from
    its label and its margin under the released hypotheses alone, so a round needs no private state and costs one noisy
    sum. Bins, sweeps, smoothing and interactions follow from public numbers by a fixed rule; nothing is to be tuned.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy. With few rows times
            epsilon per column, two classes are then learned by trees alone, as by
            :class:`~tacit.BoostedTreesClassifier`, unless ``interactions`` leaves trees out or a column is declared to
            rise or to fall.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: bounds are found with 5 % of the
            budget; where columns hold texts, bounds and categories with 10 % of it and up to half of delta.
        classes: the classes, of two the positive one last, when no schema names them; ``"public"`` takes them from y
            where they do not come from the rows. None: truth values are False and True, others are found, too, and
            sorted, which needs a positive delta; at ``delta=0`` they are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        interactions: where the budget allows: True boosts what single columns leave over. Two classes have
            trees where columns explain much, and else pairs of columns; more classes have pairs and trees.
            ``"pairs"`` leaves trees out, so that every part can be drawn;
            False gives one curve per column and nothing else.
        class_weight: None; public positive weights by class, of which only ratios matter; or ``"balanced"``, by class
            counts that are released with 2 % of the budget. Probabilities are then those of a population in which
            classes occur so much more or less often. For those of the table's own, subtract ``log(w1 / w0)`` from
            ``decision_function(X)``, with ``w0`` and ``w1`` the weights of ``classes_[0]`` and ``classes_[1]``; of
            several classes, subtract each one's ``log(w)`` from its score. To predict by costs, a threshold on
            unweighted probabilities is the better way.
        ordered: whether to use the declared order of more than two classes, as in grades and answers from never to
            always: one score multiplies the odds of a higher class by the same factor at every cut (proportional
            odds). Better than a score per class with few rows or a small epsilon, worse with many rows where that
            assumption fails.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    More than two declared classes share one budget: a row's contribution to a round is one vector of norm at most 1,
    not one number for each class (:class:`~tacit.queries.score_rules.SoftmaxRule`).

    Attributes:
        model_: the frozen :class:`~tacit.models.additive.AdditiveModel`,
            :class:`~tacit.models.tree_ensemble.TreeEnsembleModel` of trees alone, or
            :class:`~tacit.models.additive_scores.AdditiveClassesModel` of more than two classes, or
            :class:`~tacit.models.additive_scores.AdditiveOrderedModel` of ordered ones.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import AdditiveBoostClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> model = AdditiveBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(X, y)
        >>> print(model.certificate_.epsilon, model.certificate_.protected)
        1.0 one patient, at most 3 rows
        >>> model.predict_proba(X)[:3].shape
        (3, 2)
    """

    @property
    def tells_several_classes(self) -> bool:
        return self.classes is not None and len(self.classes) > 2
