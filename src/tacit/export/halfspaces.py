"""Halfspaces as graphs: the fixed-point rows of :mod:`tacit.encoding.dense`, with the same roundings."""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import numbered
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.export.columns import code
from tacit.export.expression import (
    NUMBER,
    AtLeast,
    Column,
    Expression,
    Known,
    Number,
    Sum,
    Where,
    call,
    clip,
    take,
)
from tacit.models.halfspace import HalfspaceModel
from tacit.schema.columns import MOST_BINS

FINE = 1 << 10
"""Cells of a grid from which its codes are computed rather than looked up."""

SMALLEST = 1e-140
"""Coordinates below it, and below so large a part of the largest one, count as 0: their entries are 0, their squares
add nothing to a length, and PostgreSQL refuses what underflows."""

MANTISSA = 52
"""Bits of a float behind the leading one."""


def halfspace_score(model: HalfspaceModel) -> Expression:
    """Log-odds of the positive class."""
    encoder = model.encoder
    coordinates: list[tuple[Expression, Expression | float]] = []  # each with its weight
    if isinstance(encoder, RowEncoder):
        at = 0
        for name, own, table in zip(encoder.encoding.names, encoder.encoding.encoders, encoder.tables, strict=True):
            coordinates.append(_coordinate(name, own, table, model.weights[at : at + table.shape[1]]))
            at += table.shape[1]
    else:
        for name, weight in zip(numbered(encoder.n_features), model.weights.tolist(), strict=False):
            column = Column(name, NUMBER)
            seen: Expression = Where(AtLeast(call("abs", column), Number(SMALLEST)), column, Number(0.0))
            coordinates.append((Where(Known(column), seen, Number(0.0)), weight))
    if encoder.intercept:
        coordinates.append((Number(float(encoder.intercept)), float(model.weights[-1])))
    entries = _clipped([value for value, _ in coordinates], encoder.clipper.norm, encoder.clipper.radius)
    products = [entry * weight for entry, (_, weight) in zip(entries, coordinates, strict=True)]
    return Sum(tuple(products)) / float(encoder.clipper.radius) * model.slope + model.offset


def _coordinate(name: str, encoder: Encoder, table: Floats, weights: Floats) -> tuple[Expression, Expression | float]:
    """The one coordinate of a column that may differ from 0, and its weight."""
    if isinstance(encoder, NumericGrid) and not encoder.dates and encoder.cells > FINE:
        return _rank(name, encoder), float(weights[0])
    own = code(name, encoder, np.arange(encoder.n_codes))
    if table.shape[1] == 1:
        return take(table[:, 0], own), float(weights[0])
    return Number(1.0), take(weights, own)  # one-hot


def _rank(name: str, grid: NumericGrid) -> Expression:
    """Where in [-1, 1] the cell of a number lies; 0 for a missing one."""
    column = Column(name, NUMBER)
    parts = grid.cells + (grid.cells == MOST_BINS)  # the last two cells of the finest grid are one
    if grid.spacing == "linear":
        place = (clip(column, grid.lower, grid.upper) - grid.lower) * (parts / (grid.upper - grid.lower))
    else:
        place = _pattern(column, grid) * (parts / (_bits(grid.upper) - _bits(grid.lower)))
    cell = call("truncate", clip(place, 0.0, float(grid.cells - 1)))
    rank = (cell * 2.0 + 1.0) / float(grid.cells) - 1.0
    return Where(Known(column), rank, Number(0.0))


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def _pattern(column: Column, grid: NumericGrid) -> Expression:
    """How far the bit pattern of a number is above that of the lower bound: linear within an octave."""
    low, high = (math.frexp(bound)[1] - 1 for bound in (grid.lower, grid.upper))
    first = grid.lower * 2.0 ** (MANTISSA - low)  # an integer
    pattern: Expression | None = None
    held = clip(column, grid.lower, grid.upper)
    for octave in range(low, high + 1):
        own = held * 2.0 ** (MANTISSA - octave) - 2.0**MANTISSA  # exact, and so is the difference; the sum is rounded
        above = (own - (first - 2.0**MANTISSA)) + (octave - low) * 2.0**MANTISSA
        pattern = above if pattern is None else Where(AtLeast(held, Number(2.0**octave)), above, pattern)
    assert pattern is not None
    return pattern


def _clipped(values: list[Expression], norm: float, radius: int) -> list[Expression]:
    """Fixed-point entries of a row, as ``encoding.kernels.clip_rows`` makes them."""
    largest: Expression = call("abs", values[0])
    for value in values[1:]:
        largest = call("max", largest, call("abs", value))
    safe = Where(AtLeast(Number(0.0), largest), Number(1.0), largest)
    floor = safe * SMALLEST
    ratios = [Where(AtLeast(call("abs", value), floor), value / safe, Number(0.0)) for value in values]
    length = call("sqrt", call("max", Sum(tuple(ratio * ratio for ratio in ratios)), 1e-300))
    inside = AtLeast(Number(norm) / length, largest)
    scale = Where(inside, Number(radius / norm), Number(float(radius)) / length)
    entries = [
        call("truncate", Where(inside, value, ratio) * scale) for value, ratio in zip(values, ratios, strict=True)
    ]
    square = Sum(tuple(entry * entry for entry in entries))
    beyond = AtLeast(square, Number(float(radius) ** 2 + 1.0))
    return [Where(beyond, _shorter(entry), entry) for entry in entries]


def _shorter(entry: Expression) -> Expression:
    """An integer one nearer to 0."""
    positive = Where(AtLeast(entry, Number(1.0)), entry - 1.0, Number(0.0))
    return Where(AtLeast(Number(-1.0), entry), entry + 1.0, positive)
