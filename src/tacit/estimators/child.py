"""The learner of an estimator that another one holds: its parameters, at the request that the other one makes."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from tacit.estimators.classifier import PrivateEstimator
from tacit.learning.learner import Learner
from tacit.privacy.request import Request


def child_learner(estimator: PrivateEstimator, request: Request, **declared: Any) -> Learner:
    """A learner with the parameters of an estimator, but not its budget; ``declared`` are schema and classes.

    Raises:
        RequestError: for parameters that make no sense at this request.
    """
    own = clone(estimator).set_params(
        epsilon=request.epsilon,
        delta=request.delta,
        neighbouring=str(request.neighbouring),
        account=None,
        **declared,
    )
    learner: Learner = own.make_learner(request)
    return learner
