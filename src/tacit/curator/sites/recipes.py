"""What sites make of their rows, as plain data: the columns of their schema, public rules, and a few numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tacit.curator.recipes import Columns, Lengths, Recipe, Vectors
from tacit.encoding.dense import RowClipper, RowEncoder
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import TableEncoding
from tacit.engines.joined.wire import WireError
from tacit.schema import Schema


def plain_recipe(recipe: Recipe, schema: Schema) -> dict[str, Any]:
    """A recipe for the rows of sites.

    Raises:
        TypeError: if it is of other columns than those of the schema, or nothing that sites can make.
    """
    if isinstance(recipe, Columns) and recipe.encoding.names in (schema.features, ()):
        return {"kind": "columns" if recipe.encoding.names else "label"}
    if isinstance(recipe, Vectors | Lengths) and isinstance(encoder := recipe.encoder, RowEncoder):
        declared = RowEncoder.of(schema)
        if (encoder.encoding, encoder.ordinal) == (declared.encoding, declared.ordinal):
            numbers = {"clipper": encoder.clipper.to_dict(), "intercept": float(encoder.intercept)}
            if isinstance(recipe, Vectors):
                return {"kind": "vectors", **numbers}
            return {"kind": "lengths", **numbers, "grid": recipe.grid.to_dict()}
    raise TypeError("sites seal the columns of their schema, rows made of them, or their label alone")


def recipe_of(data: Any, schema: Schema, encoding: TableEncoding) -> Recipe:
    """The recipe that plain data, made by :func:`plain_recipe`, stand for.

    Raises:
        WireError: if they stand for none.
    """
    try:
        kind = data["kind"]
        if kind in ("columns", "label"):
            return Columns(encoding if kind == "columns" else TableEncoding((), ()))
        clipper, intercept = RowClipper.from_dict(data["clipper"]), float(data["intercept"])
        if not 0 <= intercept <= 1:
            raise ValueError("the intercept is from 0 to 1")
        encoder = replace(RowEncoder.of(schema), clipper=clipper, intercept=intercept)
        if kind == "vectors":
            return Vectors(encoder)
        if kind == "lengths":
            return Lengths(encoder, NumericGrid.from_dict(data["grid"]))
        raise ValueError("rows become columns, vectors, lengths or a label")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise WireError(f"there is no such recipe: {error}") from None
