"""What scikit-learn's ``check_estimator`` asks that private learners do not give, and why: for users' own tests."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS = {
    "check_sample_weights_list": "weights are at most 1, and public: that check's 3 is refused",
    "check_sample_weights_not_overwritten": "as above: that check's 10 is refused",
    "check_sample_weight_equivalence_on_dense_data": "weights are at most 1; a row that stands twice is two rows",
}
WEIGHTED = {
    **WEIGHTS,
    "check_classifiers_one_label_sample_weights": "that check leaves rows out by a weight of 0, which is refused",
}

EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "AdditiveBoostClassifier": WEIGHTED,
        "AdditiveBoostRegressor": {
            "check_estimators_empty_data_messages": "that there are no rows is private: the fit returns a constant",
            "check_supervised_y_no_nan": "what labels hold never raises: missing ones are dropped",
            **WEIGHTS,
        },
        "AgnosticClassifier": {},
        "BoostedTreesClassifier": WEIGHTED,
        "ComposedClassifier": {},
        "DecisionListClassifier": {},
        "FiniteClassClassifier": {},
        "HalfspaceBoostClassifier": {},
        "MAlphaBoostClassifier": {},
        "RandomTreesClassifier": {},
        "ResampledBoostClassifier": {
            "check_classifiers_train": "a voter learns from a part of that check's 200 rows, for a part of the budget",
            "check_classifiers_one_label": "a voter learns from 2 of that check's 10 rows, and noise may outweigh both",
        },
    }
)
"""By the name of an estimator, the checks that it fails and why; with ``classes="public"`` where it learns classes.

Example:
    >>> from sklearn.utils.estimator_checks import check_estimator
    >>> from tacit import EXPECTED_FAILED_CHECKS, RandomTreesClassifier
    >>> learner = RandomTreesClassifier(epsilon=50.0, classes="public", random_state=0)
    >>> expected = dict(EXPECTED_FAILED_CHECKS[type(learner).__name__])
    >>> results = check_estimator(learner, expected_failed_checks=expected, on_fail="raise")
"""
