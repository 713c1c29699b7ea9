"""A request for privacy, checked: everything here is public, and a mistake costs nothing."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from tacit.errors import UNSPENT, TacitError
from tacit.privacy.budget import Allowance
from tacit.privacy.gaussian import beyond
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema


class RequestError(TacitError):
    """An argument that makes no sense. Says which, what would be right, and that nothing was spent."""

    usual = UNSPENT


def declared_schema(schema: Any) -> Schema | None:
    """A schema from what estimators take as one."""
    if schema is None or isinstance(schema, Schema):
        return schema
    if isinstance(schema, Mapping):
        return Schema.from_dict(schema)
    if isinstance(schema, str | os.PathLike):
        return Schema.from_toml(schema)
    raise RequestError(f"schema must be a Schema, a mapping or a path, got {type(schema).__name__}")


@dataclass(frozen=True)
class Request:
    """What a user asked for."""

    epsilon: float
    delta: float
    neighbouring: Neighbouring
    random_state: int | None

    @staticmethod
    def of(epsilon: Any, delta: Any, neighbouring: Any, random_state: Any) -> Request:
        """Checks the four arguments every estimator shares; an error names all that are wrong."""
        relations = [str(item) for item in Neighbouring]
        of_seed = not isinstance(random_state, bool) and isinstance(random_state, Integral) and int(random_state) >= 0
        problems = []
        if not is_number(epsilon) or math.isnan(epsilon) or epsilon <= 0:
            problems.append(f"epsilon must be a positive number (inf asks for no privacy), got {epsilon!r}")
        if not is_number(delta) or not 0 <= delta < 1:
            problems.append(f"delta must be a number in [0, 1), got {delta!r}")
        if not isinstance(neighbouring, str) or neighbouring not in relations:
            problems.append(f"neighbouring must be {' or '.join(map(repr, relations))}, got {neighbouring!r}")
        if random_state is not None and not of_seed:
            problems.append(
                "random_state must be None (fresh entropy, releasable) or a non-negative integer (repeatable, not "
                f"releasable), got {random_state!r}"
            )
        problems = problems or beyond(epsilon, delta)
        if problems:
            raise RequestError("; ".join(problems))
        seed = None if random_state is None else int(random_state)
        return Request(float(epsilon), float(delta), Neighbouring(neighbouring), seed)

    @property
    def allowance(self) -> Allowance:
        """The request as a budget that can be divided."""
        return Allowance.of(self.epsilon, self.delta)


def check_noise_fits(allowance: Allowance, least: float, algorithm: str) -> None:
    """Raises :class:`RequestError` for budgets whose noise cannot be drawn or computed: before they are charged.

    ``least`` is the smallest epsilon, or Gaussian privacy parameter, whose noise integers hold in the learner's units.
    """
    if not allowance.is_private:
        return
    strength = allowance.epsilon if allowance.is_pure else allowance.mu
    if strength < least:
        raise RequestError(
            f"epsilon {allowance.epsilon:g} at delta {allowance.delta:g} is too small: its noise is larger than the "
            f"integers that {algorithm} computes with. Nothing can be learned under it; allow a larger epsilon"
        )


def is_number(value: Any) -> bool:
    """Whether an argument is a real number that floats know, or infinite; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def two_bounds(bounds: Any, name: str) -> tuple[float, float]:
    """A lower and an upper bound from an argument; raises :class:`RequestError`."""
    pair = tuple(bounds) if isinstance(bounds, Sequence | np.ndarray) and not isinstance(bounds, str) else ()
    if len(pair) != 2 or not all(is_number(b) and math.isfinite(b) for b in pair) or not pair[0] < pair[1]:
        raise RequestError(f"{name} must be two finite numbers, the lower one first, got {bounds!r}")
    return float(pair[0]), float(pair[1])
