"""`save` and `load`: a fitted estimator as one file, and back, with its certificate."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tacit.errors import UNSPENT
from tacit.models.base import Model
from tacit.models.files import bound_file, model_from_dict, save_model, schema_of
from tacit.models.plain import ModelError
from tacit.privacy.canonical import infinite
from tacit.privacy.certificate import Certificate
from tacit.schema import Schema


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted estimator: its model, its schema and its certificate, as one JSON file.

    Args:
        estimator: of this library, after ``fit``; or a search among such, whose best one is written.
        path: of the file, which is there whole or not at all.

    Raises:
        TypeError: if it is no fitted estimator of this library. Nothing was spent or written.
        ClaimError: if its model or certificate was changed after the fit. Nothing was written.

    Example:
        >>> import tempfile
        >>> from tacit import RandomTreesClassifier, load, save
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> path = f"{tempfile.mkdtemp()}/model.json"
        >>> save(RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y), path)
        >>> print(load(path).certificate_.epsilon)
        1.0
    """
    model, certificate = getattr(estimator, "model_", None), getattr(estimator, "certificate_", None)
    if not isinstance(model, Model) or not isinstance(certificate, Certificate):
        raise TypeError(
            f"save cannot write this {type(estimator).__name__}: it has no model_ and certificate_. Call fit first; of "
            "a pipeline save the last step, and of a model alone use save_model. Nothing was spent."
        )
    schema = getattr(getattr(estimator, "best_", estimator), "schema_", None)
    save_model(model, path, certificate, schema=schema)


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a fitted estimator: it predicts, and has ``model_``, ``certificate_``, ``schema_`` and its parameters.

    It has no account and no ``random_state``: a file does not say where budgets are kept, nor a seed.

    Raises:
        ModelError: if the file cannot be used, or its learner cannot be put together from plain data (then
            :func:`~tacit.load_model` reads the model); a :class:`ClaimError` if model, schema and certificate do not
            belong together. Nothing was spent.

    Example:
        >>> import tempfile
        >>> from tacit import RandomTreesClassifier, load, save
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> path = f"{tempfile.mkdtemp()}/model.json"
        >>> save(RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y), path)
        >>> print(load(path).predict(X).shape)
        (4000,)
    """
    data = bound_file(path)
    if data.get("certificate") is None:
        raise ModelError(f"{path} holds no certificate, and so no estimator: use load_model", UNSPENT)
    certificate, schema = Certificate.from_dict(data["certificate"]), schema_of(data)
    for remark in certificate.remarks:
        warnings.warn(f"{path} is {remark}", UserWarning, stacklevel=2)
    learner = learner_in(certificate, schema, path)
    return _fitted(learner, model_from_dict(data), certificate, schema)


def learner_in(certificate: Certificate, schema: Schema | None, path: str | os.PathLike[str]) -> Any:
    """An unfitted learner with the parameters that a certificate lists; refused where plain data do not hold it."""
    declared = schema if certificate.schema_fingerprint is not None else None
    return _learner(infinite(dict(certificate.parameters)), declared, path)


def _learner(declared: Mapping[str, Any], schema: Schema | None, path: Any) -> Any:
    """An unfitted learner from its class and its parameters."""
    package = import_module("tacit")  # which knows the learners' rooms, that are above this one
    name = declared.get("class")
    cls = getattr(package, str(name)) if name in package.PUBLIC else None
    if cls is None or not hasattr(cls, "fit"):
        raise ModelError(f"{path}: a {name} cannot be put together from a file: use load_model", UNSPENT)
    parameters = {key: _parameter(value, schema, path) for key, value in declared.items() if key != "class"}
    try:
        learner = cls(**parameters)
    except TypeError as error:
        raise ModelError(f"{path}: {name} has other parameters in this version: {error}", UNSPENT) from None
    if hasattr(learner, "schema"):
        learner.schema = schema
    return learner


def _parameter(value: Any, schema: Schema | None, path: Any) -> Any:
    """The inverse of how parameters are written; lists come back as tuples."""
    if isinstance(value, list):
        return tuple(_parameter(item, schema, path) for item in value)
    if not isinstance(value, Mapping):
        return value
    if "mapping" in value:
        return {_parameter(key, schema, path): _parameter(item, schema, path) for key, item in value["mapping"]}
    if "class" in value:
        return _learner(value, schema, path)
    raise ModelError(f"{path}: a parameter was a {value.get('object')}, which no file holds: use load_model", UNSPENT)


def _fitted(learner: Any, model: Model, certificate: Certificate, schema: Schema | None) -> Any:
    """A learner as its fit left it."""
    import numpy as np

    learner.model_, learner.certificate_, learner.schema_ = model, certificate, schema
    columns = certificate.columns
    learner.n_features_in_ = len(model.feature_names) if columns is None else _count(columns)
    if isinstance(columns, tuple):
        learner.feature_names_in_ = np.asarray(columns, dtype=object)
    if hasattr(learner, "estimator"):  # it learns in batches, and may go on
        learner.certificates_ = ()
    learner.describe()
    return learner


def _count(columns: tuple[str, ...] | int) -> int:
    return columns if isinstance(columns, int) else len(columns)
