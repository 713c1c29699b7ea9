"""Model files: one JSON document with the model, its schema and its certificate, which belong together."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from tacit.models.additive import AdditiveModel
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model, Nest, checked_file
from tacit.models.binding import ClaimError, binding_problems
from tacit.models.decision_list import DecisionListModel
from tacit.models.halfspace import HalfspaceModel
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.plain import ModelError
from tacit.models.recalibrated import RecalibratedModel
from tacit.models.rule import ComposedModel, RuleModel, VoteModel
from tacit.models.tree_ensemble import TreeClassesModel, TreeEnsembleModel
from tacit.privacy.certificate import Certificate
from tacit.schema import Schema, SchemaError
from tacit.whole_files import write_text


def kinds() -> dict[str, type[Model]]:
    """Every kind of model there is, by the name in its file."""
    return {
        model.kind: model
        for model in (
            AdditiveModel,
            AdditiveClassesModel,
            AdditiveOrderedModel,
            AdditiveRegressionModel,
            DecisionListModel,
            HalfspaceModel,
            MeanModel,
            MeanNumberModel,
            TreeClassesModel,
            TreeEnsembleModel,
            ComposedModel,
            RuleModel,
            RecalibratedModel,
            VoteModel,
        )
    }


def save_model(
    model: Model,
    path: str | os.PathLike[str],
    certificate: Certificate | Mapping[str, Any] | None = None,
    *,
    schema: Schema | None = None,
) -> None:
    """Writes a model, and the certificate it was released under, as one JSON file.

    Only its owner can read the file of a model that may not be released: noise that can be replayed hides nothing.

    Args:
        model: any model.
        path: of the file.
        certificate: of this model: ``certificate_`` of the estimator that made it.
        schema: what was known about the columns, if the certificate names it; it is written beside the model.

    Raises:
        TypeError: if it is no model, but an estimator, or the certificate is none. Nothing was spent or written.
        ClaimError: if the certificate is that of another model or schema. Nothing was written.

    Example:
        >>> import tempfile
        >>> from tacit import RandomTreesClassifier, load_model, save_model
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> estimator = RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y)
        >>> path = f"{tempfile.mkdtemp()}/model.json"
        >>> save_model(estimator.model_, path, estimator.certificate_, schema=estimator.schema_)
        >>> model, certificate = load_model(path)
        >>> print(certificate["epsilon"])
        1.0
    """
    subject: Any = model
    if not isinstance(subject, Model):
        right = "give its model_, after a fit" if hasattr(subject, "fit") else "give the model_ of an estimator"
        raise TypeError(f"save_model writes models, and got a {type(subject).__name__}: {right}. Nothing was spent.")
    stated: Any = certificate.to_dict() if isinstance(certificate, Certificate) else certificate
    if not isinstance(stated, Mapping | None):
        raise TypeError(
            f"certificate must be a certificate or its to_dict(), got a {type(stated).__name__}: give the "
            "certificate_ of an estimator. Nothing was spent."
        )
    document = json.loads(json.dumps(model.to_dict(stated, schema), allow_nan=False))
    problems = binding_problems(document)
    if problems:
        raise ClaimError(f"this certificate is not that of this model: {'; '.join(problems)}")
    closed = stated is not None and not stated.get("releasable")
    write_text(path, json.dumps(document, allow_nan=False), private=closed)


def model_from_dict(data: Mapping[str, Any]) -> Model:
    """A model from the plain data of its file."""
    readers = kinds()
    if not isinstance(data, Mapping) or not {"kind", "model"} <= data.keys():
        raise ModelError("the model is damaged: it has no kind, or no body")
    if not isinstance(data["kind"], str) or data["kind"] not in readers:
        raise ModelError(f"unknown kind of model {data['kind']!r:.40}; known: {', '.join(sorted(readers))}")
    kind, body = readers[data["kind"]], data["model"]
    try:
        if issubclass(kind, Nest):
            return kind.of_parts(body, [model_from_dict(item) for item in kind.inside(body)])
        return kind.from_body(body)
    except ModelError:
        raise
    except KeyError as error:
        raise ModelError(f"the model is damaged: it lacks {error}") from error
    except ValueError as error:
        raise ModelError(f"the model is damaged: {f'{error}':.200}") from error
    except (TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(f"the model is damaged: it holds what no model of kind {data['kind']!r} does") from error


def load_model(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any] | None]:
    """Reads a model file: the model, and its certificate as plain data.

    Raises:
        ModelError: if the file cannot be used; a :class:`ClaimError` if model, schema and certificate do not belong
            together.

    Example:
        >>> import tempfile
        >>> from tacit import RandomTreesClassifier, load_model, save
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> path = f"{tempfile.mkdtemp()}/model.json"
        >>> save(RandomTreesClassifier(epsilon=1.0, schema=schema).fit(X, y), path)
        >>> model, certificate = load_model(path)
        >>> print(model.feature_names[:2])
        ('admitted', 'age')
    """
    model, promise, _ = load_with_schema(path)
    return model, promise


def load_with_schema(path: str | os.PathLike[str]) -> tuple[Model, dict[str, Any] | None, Schema | None]:
    """The same, and the schema, if there is one."""
    data = bound_file(path)
    return model_from_dict(data), data.get("certificate"), schema_of(data)


def bound_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The plain data of a model file whose parts belong together; errors as in :func:`load_model`."""
    data = checked_file(path)
    problems = binding_problems(data)
    if problems:
        raise ClaimError(f"{path}: {'; '.join(problems)}")
    return data


def schema_of(data: Mapping[str, Any]) -> Schema | None:
    """The schema in the plain data of a model file; None if there is none."""
    section = data.get("schema")
    if section is None:
        return None
    try:
        return Schema.from_dict({**section, "columns": dict(section["columns"])})
    except SchemaError:
        raise
    except KeyError as error:
        raise ModelError(f"the schema is damaged: it lacks {error}") from error
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ModelError(f"the schema is damaged: {f'{error}':.200}") from error
