"""What all models share: they are frozen, predict without the data, and are written as versioned JSON."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bytes, Floats
from tacit.display import Shown
from tacit.encoding.frames import Frame, columns_of, numbered
from tacit.models.evidence import FAILURE
from tacit.models.plain import ModelError, require
from tacit.models.tree import Tree, add_values
from tacit.privacy.canonical import read_json
from tacit.schema import Schema

FORMAT_VERSION = 1

LEAST_CHANCE = 1e-12
"""Probabilities are kept this far from 0, and from 1 where that matters, so that their logarithms are finite."""


M = TypeVar("M", bound="Model")
R = TypeVar("R")


def of_any_table(method: Callable[[M, Frame], R]) -> Callable[[M, Any], R]:
    """A method of a model that is written for a :class:`Frame`, for whatever table a caller has."""

    @wraps(method)
    def taking(self: M, frame: Any) -> R:
        return method(self, self.frame_of(frame))

    return taking


class Model(Shown):
    """Base of all models. A subclass has a ``kind``, predicts, and says how its body is written.

    Rows to predict may be any table: pandas, polars, pyarrow, a mapping from names to vectors, or a matrix, whose
    columns are :attr:`matrix_names`.
    """

    kind: ClassVar[str]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Columns that prediction needs."""
        raise NotImplementedError

    @property
    def says(self) -> str:
        """What it says of a row, for people."""
        raise NotImplementedError

    @property
    def sees_rows_alone(self) -> bool:
        """Whether what it says of a row is known to follow from that row alone: not so of a foreign learner's."""
        inside = (*getattr(self, "members", ()), *((self.base,) if hasattr(self, "base") else ()))
        return all(model.sees_rows_alone for model in inside)

    @property
    def matrix_names(self) -> tuple[str, ...]:
        """What the columns of a matrix are, in their order: all that the model was learned from."""
        return self.feature_names

    def frame_of(self, data: Any) -> Frame:
        """The named columns of a table, or of a matrix: by position, with a warning if the model knows them by names.

        Raises ``FrameError`` if it is neither, or the matrix has another width.
        """
        if isinstance(data, Frame):
            return data
        if hasattr(data, "columns") or hasattr(data, "column_names") or isinstance(data, Mapping):
            return columns_of(data)
        names = self.matrix_names
        if tuple(names) == numbered(len(names)):
            return columns_of(data)
        frame = columns_of(data, names)
        warnings.warn(
            f"X does not have valid feature names, but this {type(self).__name__} was learned from columns with names",
            UserWarning,
            stacklevel=3,
        )
        return frame

    def __repr__(self) -> str:
        """A line: all that was released would be thousands."""
        return f"<{type(self).__name__} of {self.says} from {len(self.feature_names)} columns>"

    def plot(self, term: str | None = None) -> Any:
        """The report's drawing of one term, or of all of them: :class:`tacit.report.figures.Figure` or ``Figures``.

        Args:
            term: a column, or two with ``" x "`` between them; None for all.

        Raises:
            RequestError: if there is no such drawing.
        """
        figures = import_module("tacit.report.figures").figures_of(self)  # in a room above
        return figures if term is None else figures[term]

    def explain(self, data: Any) -> Any:
        """What moves the prediction of every row of a table: :class:`tacit.report.explanation.Explanation`.

        Raises:
            RequestError: if the model is no sum of terms.
        """
        return import_module("tacit.report.explanation").explain(self, data)  # in a room above

    def edit(self, term: str) -> Any:
        """Begins to change a term by hand, at no cost: :class:`tacit.models.edit.Edit`. This model stays as it is.

        Raises:
            RequestError: if the model is not additive, or has no such term.
        """
        return import_module("tacit.models.edit").edit(self, term)  # which imports this module

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: the text of its file, a small part of the size of its arrays; the bits are the same."""
        files = import_module("tacit.models.files")  # which imports this module
        if files.kinds().get(self.kind) is not type(self):  # of somebody else's kind
            return vars(self)
        return {"json": json.dumps({"kind": self.kind, "model": self.body()})}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        reader = import_module("tacit.models.files").model_from_dict
        vars(self).update(vars(reader(json.loads(state["json"]))) if "json" in state else state)

    def predict(self, frame: Any) -> npt.NDArray[Any]:
        """What it says of every row, shape ``(rows,)``."""
        raise NotImplementedError

    def to_sql(self, dialect: str = "duckdb", table: str = "data", keep: Sequence[str] = ()) -> str:
        """A SQL query that says what this model says; see :func:`tacit.export.sql.to_sql`."""
        query: str = import_module("tacit.export.sql").to_sql(self, dialect, table, keep)  # a room above this one
        return query

    def to_onnx(self) -> Any:
        """An ONNX graph that says what this model says; see :func:`tacit.export.onnx_graph.to_onnx`."""
        return import_module("tacit.export.onnx_graph").to_onnx(self)

    def error_bound(self, failure: float = FAILURE) -> float | None:
        """A proved bound of its error on new rows; None if nothing that was released proves one.

        It holds for a model of one fit that was not chosen among others by the same rows, if these and the new rows
        are independent draws of one distribution, in all but a share ``failure`` of such fits.
        """
        del failure
        return None

    def body(self) -> dict[str, Any]:
        """The model as plain data."""
        raise NotImplementedError

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`body`."""
        raise NotImplementedError

    def to_dict(self, certificate: Mapping[str, Any] | None = None, schema: Schema | None = None) -> dict[str, Any]:
        """Versioned plain data, with schema and certificate beside the model."""
        return {
            "format": "tacit model",
            "version": FORMAT_VERSION,
            "kind": self.kind,
            "model": self.body(),
            **({} if schema is None else {"schema": json.loads(schema.canonical_json())}),
            "certificate": None if certificate is None else dict(certificate),
        }


class ClassModel(Model):
    """A model of classes: it says how likely each is."""

    classes: tuple[Any, ...]

    @property
    def says(self) -> str:
        """The classes, for people."""
        return ", ".join(str(name) for name in self.classes)

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities, shape ``(rows, classes)``."""
        raise NotImplementedError

    def predict(self, frame: Any) -> npt.NDArray[Any]:
        """The likeliest class of every row."""
        labels: npt.NDArray[Any] = np.asarray(self.classes)[self.predict_proba(frame).argmax(axis=1)]
        return labels


class NumberModel(Model):
    """A model of a number between declared bounds: there are no classes, and no probabilities."""

    @property
    def says(self) -> str:
        """A number, for people."""
        return "a number"

    def predict(self, frame: Any) -> Floats:
        """The prediction for every row, shape ``(rows,)``."""
        raise NotImplementedError

    def score_variance(self, frame: Any) -> Floats:
        """Variance that noise leaves in the prediction of every row, in squared units of the target."""
        raise NotImplementedError


class Nest(Model):
    """A model made of other models, its ``members`` or a ``base``, which stand in its file as models of their own."""

    members: tuple[Model, ...]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for member in self.members for name in member.feature_names))

    @classmethod
    def inside(cls, body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """The models inside a body, as plain data."""
        members: Sequence[Mapping[str, Any]] = body["members"]
        return members

    @classmethod
    def of_parts(cls, body: Mapping[str, Any], parts: Sequence[Model]) -> Self:
        """The inverse of :meth:`body`, once the models inside are read; ``files.model_from_dict`` reads both."""
        raise NotImplementedError


def of_classes(model: Model) -> ClassModel:
    """What a learner of classes made, by its type."""
    assert isinstance(model, ClassModel)
    return model


def class_models(parts: Sequence[Model]) -> tuple[ClassModel, ...]:
    """The models inside another of classes; raises ``ModelError`` if one is of a number."""
    models = tuple(part for part in parts if isinstance(part, ClassModel))
    if len(models) != len(parts):
        raise ModelError("the model is damaged: a model of classes holds a model of a number")
    return models


def models_of_two_classes(parts: Sequence[Model]) -> tuple[ClassModel, ...]:
    """The models inside another of two classes.

    Raises ``ModelError`` if there is none, or one is of a number or of more classes.
    """
    members = class_models(parts)
    require(members and all(len(member.classes) == 2 for member in members), "it needs models of two classes inside")
    return members


def nested(models: Sequence[Model]) -> list[dict[str, Any]]:
    """Models inside the body of another."""
    return [{"kind": str(model.kind), "model": model.body()} for model in models]


def checked_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a model file and checks that this version can use it.

    Raises ``ModelError`` if it is not JSON, not a model, or from a newer version.
    """
    try:
        data = read_json(Path(path).read_bytes())
    except ValueError as error:  # no JSON, no UTF-8, or nested too deeply
        raise ModelError(f"{path} is not a model file: {error}") from error
    if not isinstance(data, dict) or data.get("format") != "tacit model":
        raise ModelError(f"{path} is not a model file: it lacks format = 'tacit model'")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= FORMAT_VERSION:
        raise ModelError(
            f"{path} has model format {data.get('version')}, and this version of tacit reads up to {FORMAT_VERSION}: "
            "use a newer tacit"
        )
    return data


@runtime_checkable
class Uncertain(Protocol):
    """A model that knows how far off its scores may be."""

    def decision_function(self, frame: Frame) -> Floats:
        """The score of every row, shape ``(rows,)``."""

    def score_variance(self, frame: Frame) -> Floats:
        """Variance of the score of every row, shape ``(rows,)``."""


@runtime_checkable
class UncertainClasses(Protocol):
    """A model of several classes that knows how far off its log-odds may be."""

    def log_odds(self, frame: Frame) -> Floats:
        """Log-odds of every class against all others together, shape ``(rows, classes)``."""

    def log_odds_variance(self, frame: Frame) -> Floats:
        """Their variance, shape ``(rows, classes)``."""


def tree_variance(trees: Sequence[Tree], codes: Sequence[Bytes]) -> Floats:
    """Variance that noise leaves in a sum of trees, per row; leaves' noises are independent.

    Raises ``ValueError`` if a tree does not know its noise.
    """
    variance = np.zeros(len(codes[0]))
    for tree in trees:
        if tree.sd is None:
            raise ValueError("the model holds no standard deviations of its leaves")
        add_values(tree.shape.find(codes), np.square(tree.sd), variance)
    return variance
