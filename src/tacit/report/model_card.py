"""The card of a model: its drawings and what was public about it, made by the drawing function of its kind."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.display import Brief
from tacit.encoding.grid import NumericGrid
from tacit.report import svg
from tacit.report.drawing import Drawing

if TYPE_CHECKING:
    from tacit.models.base import Model


@dataclass(frozen=True)
class PublicColumn:
    """What was known about a column before anything was measured."""

    name: str
    kind: str
    facts: str


@dataclass(frozen=True, repr=False)
class ModelCard(Brief):
    """A model for people: what sort it is, how to read its drawings, what was public.

    ``label`` says what was public about the label, if not its classes; ``sentences`` are the model in words, a numbered
    line each, and empty where drawings say it better.
    """

    summary: str
    reading: str
    drawings: tuple[Drawing, ...]
    public: tuple[PublicColumn, ...] = ()
    label: str = ""
    sentences: tuple[str, ...] = ()


ADDITIVE = "draw_additive.draw"
"""Draws categories one by one, those of an ordinal column in their order."""

PAINTERS: dict[str, str] = {
    "additive": ADDITIVE,
    "additive_classes": ADDITIVE,
    "additive_ordered": ADDITIVE,
    "additive_regression": ADDITIVE,
    "composed": "draw_rules.draw_words",
    "decision_list": "draw_rules.draw",
    "halfspace": "draw_rules.draw_halfspace",
    "mean": "draw_rules.draw_mean",
    "mean_number": "draw_rules.draw_mean",
    "rule": "draw_rules.draw_words",
    "tree_classes": "draw_trees.draw_classes",
    "tree_ensemble": "draw_trees.draw",
    "vote": "draw_rules.draw_words",
}
"""Kind of model -> module of this room and function ``(model) -> ModelCard``. A new family adds its line here."""


def model_card(model: Model, ordinals: Collection[str] = ()) -> ModelCard:
    """The model card of a model; a kind that nothing draws gets its names alone.

    ``ordinals`` are columns whose categories have an order, as the schema declares it.
    """
    place = PAINTERS.get(model.kind)
    if place is None:
        kind = model.kind.replace("_", " ")
        return ModelCard(
            f"A model of the kind “{kind}” over {len(model.feature_names)} columns.",
            "There is no drawing for this kind of model; the model file holds all of it.",
            (),
            tuple(PublicColumn(name, "", "") for name in model.feature_names),
        )
    painter = painter_at(place)
    return painter(model, ordinals) if place == ADDITIVE else painter(model)


def painter_at(place: str) -> Callable[..., ModelCard]:
    """The drawing function at a place among :data:`PAINTERS`."""
    module, name = place.split(".")
    painter: Callable[..., ModelCard] = getattr(import_module(f"tacit.report.{module}"), name)
    return painter


MOST_LISTED = 12
KINDS = {"numeric_grid": "numeric", "category_index": "categorical", "boolean_index": "boolean"}
"""Kind of an encoder -> kind of a column, in the words of the schema."""


def public_column(name: str, encoder: Any) -> PublicColumn:
    """One line of the list of public facts, from an encoder of :mod:`tacit.encoding`."""
    data = encoder.to_dict()
    kind = "date" if data.get("dates") else str(data.get("kind", ""))
    return PublicColumn(name, KINDS.get(kind, kind), facts(data))


def facts(data: dict[str, Any]) -> str:
    """Bounds or categories, in words; an encoding that has neither is described by its remaining fields."""
    if data.get("dates"):
        grid = NumericGrid.from_dict(data)
        first, last = (grid.text(edge) for edge in grid.edges(np.array([0, grid.cells - 1])))
        return f"by {grid.dates}, from {first} to {last}"
    if "lower" in data and "upper" in data:
        return f"from {svg.short(float(data['lower']))} to {svg.short(float(data['upper']))}"
    listed = data.get("categories")
    if isinstance(listed, list):
        words = ", ".join(str(item) for item in listed[:MOST_LISTED])
        return words + (f" and {len(listed) - MOST_LISTED} more" if len(listed) > MOST_LISTED else "")
    return ", ".join(f"{key} {value}" for key, value in data.items() if key != "kind" and not isinstance(value, list))
