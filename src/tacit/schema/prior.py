"""What is publicly expected of a column's effect: a direction or a rough curve, and how much the column matters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.schema.errors import SchemaError
from tacit.schema.values import Value, identity, meaning, plain_count, plain_number, plain_value

DIRECTIONS = ("increasing", "decreasing")

MOST_POINTS = 1000
"""Points of a curve, and ranks."""

Curve = tuple[tuple[Value, float], ...]
"""Values with the heights expected at them; only their differences, relative to each other, matter."""


def plain_prior(prior: Any, importance: Any, directed: bool, curved: bool) -> dict[str, Any]:
    """A prior and a rank as they are kept.

    A direction means something where the column has an order (``directed``), a list of ``[value, height]`` where
    ``curved``.
    """
    if importance is not None:
        importance = plain_count(importance, "importance", 1, MOST_POINTS)
        if prior is None:
            raise SchemaError("is given without 'prior'", "say in which direction the column matters", "importance")
    if prior is None or (directed and isinstance(prior, str) and prior in DIRECTIONS):
        return {"prior": prior, "importance": importance}
    forms = " or ".join(
        [
            *(["'increasing', 'decreasing'"] if directed else []),
            *([f"2 to {MOST_POINTS} [value, height]"] if curved else []),
        ]
    )
    points = [] if isinstance(prior, str | bytes) or not isinstance(prior, Iterable) or not curved else list(prior)
    paired = all(isinstance(point, list | tuple) and len(point) == 2 for point in points)
    if not paired or not 2 <= len(points) <= MOST_POINTS:
        raise SchemaError(f"got {prior!r}", f"give {forms}, or leave it out", "prior")
    return {"prior": _curve(points), "importance": importance}


def _curve(points: list[Any]) -> Curve:
    curve = tuple((plain_value(value, "prior"), plain_number(height, "prior")) for value, height in points)
    if len({height for _, height in curve}) == 1:
        raise SchemaError("has one height everywhere", "leave it out, or say where the effect is larger", "prior")
    return curve


def check_points(prior: str | Curve | None, lower: float, upper: float) -> None:
    """Raises :class:`SchemaError` unless the values of a curve are increasing numbers within the bounds."""
    if prior is None or isinstance(prior, str):
        return
    values = [plain_number(value, "prior") for value, _ in prior]
    if values != sorted(set(values)) or values[0] < lower or values[-1] > upper:
        raise SchemaError(f"has values {values}", f"give increasing numbers from {lower:g} to {upper:g}", "prior")


def check_listed(prior: str | Curve | None, categories: Iterable[Value], exact: bool) -> None:
    """Raises :class:`SchemaError` unless the values of a curve are categories, each once."""
    if prior is None or isinstance(prior, str):
        return
    key = identity if exact else meaning
    remaining = {key(category) for category in categories}
    for value, _ in prior:
        if key(value) not in remaining:
            raise SchemaError(f"{value!r} is no category of the column, or is given twice", "", "prior")
        remaining.discard(key(value))
