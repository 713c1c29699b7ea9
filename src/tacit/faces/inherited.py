"""What a learner made of others is declared by them: their schema and classes, where it has none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.faces.inputs import plain
from tacit.faces.request import RequestError, declared_schema
from tacit.schema import Schema


def common_schema(own: Any, inner: Sequence[Any], algorithm: str) -> Schema | None:
    """The schema of a learner: its own, or else that of the learners inside it.

    Raises:
        RequestError: if two of them differ.
    """
    declared = [declared_schema(given) for given in (own, *(getattr(learner, "schema", None) for learner in inner))]
    given = [schema for schema in declared if schema is not None]
    if any(schema != given[0] for schema in given):
        raise RequestError(
            f"the schema of {algorithm} and those of the learners inside it differ: declare one, by {algorithm}"
        )
    return given[0] if given else None


def common_classes(own: Any, inner: Sequence[Any], algorithm: str) -> Any:
    """The same for the parameter ``classes``."""
    declared = (own, *(getattr(learner, "classes", None) for learner in inner))
    given = [classes for classes in declared if classes is not None]
    if any(_listed(classes) != _listed(given[0]) for classes in given):
        raise RequestError(
            f"the classes of {algorithm} and those of the learners inside it differ: declare them once, by {algorithm}"
        )
    return given[0] if given else None


def check_label(label_names: Sequence[Any], inner: Sequence[Any], algorithm: str) -> None:
    """Raises :class:`RequestError` if learners inside declare other classes than the schema does."""
    for learner in inner:
        classes = getattr(learner, "classes", None)
        if classes is not None and set(_listed(classes)) != {str(name) for name in label_names}:
            raise RequestError(
                f"the schema's classes and those of {type(learner).__name__} inside {algorithm} differ: declare them "
                "in the schema alone"
            )


def _listed(classes: Any) -> list[str]:
    return [classes] if isinstance(classes, str | bytes) else [str(plain(value)) for value in classes]  # type: ignore[list-item]
