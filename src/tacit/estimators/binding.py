"""The certificate of a fit, bound to what the fit made: its model, its schema, and the parameters it had."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tacit.encoding.inputs import plain
from tacit.errors import warn
from tacit.estimators.callers import GuaranteeVoidWarning
from tacit.models.base import Model
from tacit.models.binding import model_digest
from tacit.models.plain import ModelError
from tacit.models.summary import Doubtful, Summary, seen
from tacit.privacy.canonical import finite
from tacit.privacy.certificate import Certificate
from tacit.privacy.strength import WeakPromise, strength
from tacit.privacy.unit import unit_question
from tacit.schema import Schema

NOT_WRITTEN = ("schema", "account", "random_state", "seed")
"""Parameters that a certificate does not list: the schema is beside it, an account's URL may hold a password, and who
knows the seed can subtract the noise."""


def bound(learner: Any, certificate: Certificate, y: Any = None, tape: str | None = None) -> Certificate:
    """The certificate of a fitted learner as that of its model and no other; ``y`` as it was given, for its name.

    ``tape``: SHA-256 of the tape that the fit was recorded on.
    """
    try:
        digest = model_digest(learner.model_)
    except ModelError:  # the model of a foreign learner, which no file can hold
        return certificate
    schema = getattr(learner, "schema_", None)
    names = getattr(learner, "feature_names_in_", None)
    columns = getattr(learner, "n_features_in_", None) if names is None else tuple(str(name) for name in names)
    parameters = public_parameters(learner)
    promise = getattr(learner.model_, "promise", None)
    if promise is not None and promise.is_withdrawn:
        parameters["promise"] = None
    return certificate.bound(
        digest,
        None if schema is None else schema.fingerprint(),
        target=target_name(schema, y),
        columns=columns,
        parameters=parameters,
        tape=tape,
    )


def summary_of(
    model: Model,
    certificate: Certificate,
    schema: Schema | None = None,
    around: Sequence[str] = (),
    quiet: bool = False,
) -> Summary:
    """What a fit saw, and a warning of whatever deserves one: a weak promise, and doubts about the rows.

    ``around`` is what voids the promise around the fit. A fit whose model may never be released is ``quiet``: a warning
    would be a release of its own.
    """
    summary = seen(model, certificate)
    rows = None if summary.rows is None else summary.rows.value
    if quiet or math.isinf(certificate.epsilon):
        return summary
    for words in around:
        warn(words, GuaranteeVoidWarning)
    for words in strength(certificate.epsilon, certificate.delta, None, rows, certificate.protected).warnings:
        warn(f"a weak promise: {words}", WeakPromise)
    if schema is not None and (question := unit_question(schema)):
        warn(question, Doubtful)
    for words in summary.concerns:
        warn(f"from what was released: {words}", Doubtful)
    return summary


def target_name(schema: Schema | None, y: Any) -> str | None:
    """What the label is called: by the schema, or by the vector of labels itself, as pandas has it."""
    if schema is not None and schema.label is not None:
        return schema.label.column
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else None


def public_parameters(learner: Any) -> dict[str, Any]:
    """The parameters of a learner, and of the learners inside it, as plain data with their class beside them."""
    names = [name for name in inspect.signature(type(learner).__init__).parameters if name != "self"]
    values = {name: _plain(getattr(learner, name)) for name in names if name not in NOT_WRITTEN}
    algorithm = getattr(learner, "algorithm", None)  # a learner without scikit-learn's conventions has a twin with them
    parameters: dict[str, Any] = finite(
        {"class": algorithm if isinstance(algorithm, str) else type(learner).__name__, **values}
    )
    return parameters


def _plain(value: Any) -> Any:
    """A parameter as plain data: a mapping as its pairs, a learner by its parameters, another object by its name."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {"mapping": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if hasattr(value, "fit") and hasattr(value, "epsilon"):
        return public_parameters(value)
    return {"object": type(value).__name__}
