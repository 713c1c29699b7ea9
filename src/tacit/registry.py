"""Finds what the library is made of, so that one set of tests can hold each of them to its contract.

Nobody keeps a list: learners, estimators and models are found by their base classes, queries by what they state about
themselves. A class of somebody else's is found, too, once its module has
been imported: `tests/contracts` shows what is then asked of it, and `docs/extending.md` how to ask it of one's own.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import tacit

T = TypeVar("T")

STATED = {"sensitivity", "joint_sensitivity"}
"""By one of these a query states how far a row moves its answer; see :class:`tacit.queries.query.Query`."""


def learners() -> dict[str, type[Any]]:
    """Every learner that can be made, by its full name."""
    from tacit.learning.learner import Learner

    load_all()
    base: type[Any] = Learner
    return _by_name(kind for kind in _below(base) if not inspect.isabstract(kind))


def estimators() -> dict[str, type[Any]]:
    """Every estimator that has parameters, by its full name: those of one learner, and those around others."""
    from sklearn.base import BaseEstimator

    from tacit.estimators.base import Estimator

    load_all()
    kinds = (
        kind for kind in _below(BaseEstimator) if kind.__module__.startswith("tacit.") or issubclass(kind, Estimator)
    )
    fits = (kind for kind in kinds if hasattr(kind, "fit") and not hasattr(kind, "transform"))
    return _by_name(kind for kind in fits if kind.__init__ is not object.__init__ and _is_public(kind))


def model_kinds() -> dict[str, type[Any]]:
    """Every kind of model, by its full name."""
    from tacit.models.base import Model

    load_all()
    return _by_name(kind for kind in _below(Model) if "kind" in vars(kind))


def queries() -> dict[str, type[Any]]:
    """Every class of query in the modules that are loaded, by its full name."""
    load_all()
    kinds = (kind for module in list(sys.modules.values()) for kind in _classes_of(module))
    return _by_name(kind for kind in kinds if is_dataclass(kind) and STATED & vars(kind).keys())


def of_the_library(kinds: dict[str, T]) -> dict[str, T]:
    """Those of some classes that are the library's own."""
    return {name: kind for name, kind in kinds.items() if name.startswith("tacit.")}


def load_all() -> None:
    """Imports every module of the library: a class is known once its module is."""
    for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def _below(kind: type[T]) -> Iterator[type[T]]:
    """All classes below one, each once."""
    seen: set[type[T]] = set()
    waiting = [kind]
    while waiting:
        for below in waiting.pop().__subclasses__():
            if below not in seen:
                seen.add(below)
                waiting.append(below)
                yield below


def _by_name(kinds: Iterator[type[Any]]) -> dict[str, type[Any]]:
    return dict(sorted((f"{kind.__module__}.{kind.__qualname__}", kind) for kind in kinds))


def _is_public(kind: type[Any]) -> bool:
    return not kind.__name__.startswith("_")


def _classes_of(module: ModuleType | None) -> Iterator[type[Any]]:
    """The classes that a module defines."""
    if not isinstance(module, ModuleType):
        return
    for value in list(vars(module).values()):
        if isinstance(value, type) and getattr(value, "__module__", None) == module.__name__ and _is_public(value):
            yield value
