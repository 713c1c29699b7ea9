"""What is declared about a table: by the arguments of an estimator, or by those of the estimators inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.encoding.arrow import dictionary_of, listed
from tacit.encoding.inputs import label_vector
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.tokens import as_tokens
from tacit.encoding.values import LabelIndex, is_missing, plain
from tacit.learning.learner import Target
from tacit.privacy.assumptions import PUBLIC
from tacit.privacy.request import RequestError, declared_schema, two_bounds
from tacit.queries.score_rules import TARGET_BITS
from tacit.schema import Schema
from tacit.schema.values import identity

TARGET = "target"  # what a number is called where no schema names it


@final
@dataclass(frozen=True)
class Declared:
    """What is declared. Where nobody named classes, 0 and 1 stand for those that are found.

    ``names_no_classes``: whether nobody did: they are found, or booleans, or the fit is refused.
    """

    schema: Schema | None
    label: LabelIndex | Target
    names_no_classes: bool = False


def classes_declared(
    schema: Schema | None, classes: Any, inner: Sequence[Any], name: str, labels: Any = None
) -> Declared:
    """The label of a learner of classes, from :func:`common_schema`, :func:`common_classes` and the estimators inside.

    ``labels`` are those of the fit, which name the classes where the caller says that these are public.

    Raises:
        RequestError: if they declare no classes, or others than each other.
    """
    label = None if schema is None else schema.label
    if label is not None and not label.is_numeric:
        _check_label(label.classes, inner, name)
        return Declared(schema, LabelIndex.of(label))
    if label is not None:
        raise RequestError(f"label '{label.column}' is numeric, and {name} learns classes")
    if classes is not None and isinstance(classes, str) and classes == PUBLIC:
        classes = public_classes(labels)
    if isinstance(classes, str | bytes):  # a sequence of letters otherwise
        raise RequestError(f"classes must list the classes, such as ('no', 'yes'), got the text {classes!r}")
    if classes is not None and len(classes) < 2:
        raise RequestError(f"classes must name at least two classes, got {classes!r}")
    declared = (0, 1) if classes is None else tuple(plain(value) for value in classes)
    return Declared(schema, LabelIndex(declared), names_no_classes=classes is None)


def public_classes(labels: Any) -> tuple[Any, ...]:
    """All labels that are there, each once and sorted: of a caller who says that they do not come from the rows.

    Raises:
        RequestError: if there are no labels, fewer than two classes, or numbers that are not whole.
    """
    if labels is None:
        raise RequestError(
            "classes='public' requires y to be passed, but the target y is None; name the classes of a source"
        )
    vector = label_vector(labels)
    if str(getattr(vector, "dtype", "")).startswith("complex"):
        raise RequestError("Complex data not supported: y holds complex numbers, which are no classes")
    tokens = as_tokens(vector, "y")
    values = tokens if isinstance(tokens, np.ndarray) else [v for c in tokens.chunks for v in _distinct(c)]
    classes = {identity(value): value for value in map(plain, values) if not is_missing(value)}
    fractional = [value for value in classes.values() if isinstance(value, float) and not value.is_integer()]
    if fractional:
        raise RequestError(f"Unknown label type: y holds {fractional[0]}, and classes='public' takes no fractions")
    if len(classes) < 2:
        count = "1 class" if classes else "no class"
        raise RequestError(f"y holds {count}, and classes='public' needs two at least: name them")
    return tuple(sorted(classes.values(), key=lambda value: (isinstance(value, str), value)))


def _distinct(chunk: Any) -> list[Any]:
    return [] if str(chunk.type) == "null" else listed(dictionary_of(chunk).dictionary)


def number_declared(schema: Schema | None, bounds: Any, name: str) -> Declared:
    """The label of a regressor; ``bounds`` None if nobody declared them, or the schema does. Refuses classes."""
    label = None if schema is None else schema.label
    if label is not None and not label.is_numeric:
        raise RequestError(
            f"label '{label.column}' has classes, and {name} learns numbers: declare kind = 'numeric' with lower and "
            "upper"
        )
    if label is not None:
        return Declared(schema, Target(label.column, NumericLabelIndex.of(label, TARGET_BITS)))
    index = None if bounds is None else NumericLabelIndex(*two_bounds(bounds, "target_bounds"), TARGET_BITS)
    return Declared(schema, Target(TARGET, index))


def common_schema(own: Any, inner: Sequence[Any], name: str) -> Schema | None:
    """The schema of an estimator: its own, or else that of the estimators inside it, which may not differ."""
    declared = [declared_schema(own), *(declared_schema(getattr(learner, "schema", None)) for learner in inner)]
    schemas = [schema for schema in declared if schema is not None]
    if any(schema != schemas[0] for schema in schemas):
        raise RequestError(f"the schema of {name} and those of the learners inside it differ: declare one, by {name}")
    return schemas[0] if schemas else None


def common_classes(own: Any, inner: Sequence[Any], name: str) -> Any:
    """The same for the parameter ``classes``."""
    declared = (own, *(getattr(learner, "classes", None) for learner in inner))
    lists = [classes for classes in declared if classes is not None]
    if any(_listed(classes) != _listed(lists[0]) for classes in lists):
        raise RequestError(
            f"the classes of {name} and those of the learners inside it differ: declare them once, by {name}"
        )
    return lists[0] if lists else None


def _check_label(label_names: Sequence[Any], inner: Sequence[Any], name: str) -> None:
    """Raises :class:`RequestError` if estimators inside declare other classes than the schema does."""
    for learner in inner:
        classes = getattr(learner, "classes", None)
        if classes is not None and set(_listed(classes)) != {str(value) for value in label_names}:
            raise RequestError(
                f"the schema's classes and those of {type(learner).__name__} inside {name} differ: declare them in the "
                "schema alone"
            )


def _listed(classes: Any) -> list[str]:
    return [classes] if isinstance(classes, str | bytes) else [str(plain(value)) for value in classes]  # type: ignore[list-item]
