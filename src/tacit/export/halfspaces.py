"""Columns and halfspaces as graphs: the fixed-point rows of :mod:`tacit.encoding.dense`, with the same roundings."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.encoding.dense import RowEncoder
from tacit.encoding.frames import numbered
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.export import expression as ex
from tacit.models.feature import Feature
from tacit.models.halfspace import HalfspaceModel
from tacit.schema.columns import MOST_BINS
from tacit.schema.values import Value, identity, meaning

FINE = 1 << 10
"""Cells of a grid from which its codes are computed rather than looked up."""

SMALLEST = 1e-140
"""Coordinates below it, and below so large a part of the largest one, count as 0: their entries are 0, their squares
add nothing to a length, and PostgreSQL refuses what underflows."""

MANTISSA = 52
"""Bits of a float behind the leading one."""


def halfspace_score(model: HalfspaceModel) -> ex.Expression:
    """Log-odds of the positive class."""
    encoder = model.encoder
    coordinates: list[tuple[ex.Expression, ex.Expression | float]] = []  # each with its weight
    if isinstance(encoder, RowEncoder):
        at = 0
        for name, own, table in zip(encoder.encoding.names, encoder.encoding.encoders, encoder.tables, strict=True):
            coordinates.append(_coordinate(name, own, table, model.weights[at : at + table.shape[1]]))
            at += table.shape[1]
    else:
        for name, weight in zip(numbered(encoder.n_features), model.weights.tolist(), strict=False):
            column = ex.Column(name, ex.NUMBER)
            score: ex.Expression = ex.Where(
                ex.AtLeast(ex.call("abs", column), ex.Number(SMALLEST)), column, ex.Number(0.0)
            )
            coordinates.append((ex.Where(ex.Known(column), score, ex.Number(0.0)), weight))
    if encoder.intercept:
        coordinates.append((ex.Number(float(encoder.intercept)), float(model.weights[-1])))
    entries = _clipped([value for value, _ in coordinates], encoder.clipper.norm, encoder.clipper.radius)
    products = [entry * weight for entry, (_, weight) in zip(entries, coordinates, strict=True)]
    return ex.Sum(tuple(products)) / float(encoder.clipper.radius) * model.slope + model.offset


def _coordinate(
    name: str, encoder: Encoder, table: Floats, weights: Floats
) -> tuple[ex.Expression, ex.Expression | float]:
    """The one coordinate of a column that may differ from 0, and its weight."""
    if isinstance(encoder, NumericGrid) and not encoder.dates and encoder.cells > FINE:
        return _rank(name, encoder), float(weights[0])
    own = code(name, encoder, np.arange(encoder.n_codes))
    if table.shape[1] == 1:
        return ex.take(table[:, 0], own), float(weights[0])
    return ex.Number(1.0), ex.take(weights, own)  # one-hot


def _rank(name: str, grid: NumericGrid) -> ex.Expression:
    """Where in [-1, 1] the cell of a number lies; 0 for a missing one."""
    column = ex.Column(name, ex.NUMBER, grid.format.missing_values)
    parts = grid.cells + (grid.cells == MOST_BINS)  # the last two cells of the finest grid are one
    if grid.spacing == "linear":
        place = (ex.clip(column, grid.lower, grid.upper) - grid.lower) * (parts / (grid.upper - grid.lower))
    else:
        place = _pattern(column, grid) * (parts / (_bits(grid.upper) - _bits(grid.lower)))
    cell = ex.call("truncate", ex.clip(place, 0.0, float(grid.cells - 1)))
    rank = (cell * 2.0 + 1.0) / float(grid.cells) - 1.0
    return ex.Where(ex.Known(column), rank, ex.Number(0.0))


def _bits(number: float) -> int:
    return int(np.float64(number).view(np.int64))


def _pattern(column: ex.Column, grid: NumericGrid) -> ex.Expression:
    """How far the bit pattern of a number is above that of the lower bound: linear within an octave."""
    low, high = (math.frexp(bound)[1] - 1 for bound in (grid.lower, grid.upper))
    first = grid.lower * 2.0 ** (MANTISSA - low)  # an integer
    pattern: ex.Expression | None = None
    clipped = ex.clip(column, grid.lower, grid.upper)
    for octave in range(low, high + 1):
        own = (
            clipped * 2.0 ** (MANTISSA - octave) - 2.0**MANTISSA
        )  # exact, and so is the difference; the sum is rounded
        above = (own - (first - 2.0**MANTISSA)) + (octave - low) * 2.0**MANTISSA
        pattern = above if pattern is None else ex.Where(ex.AtLeast(clipped, ex.Number(2.0**octave)), above, pattern)
    assert pattern is not None
    return pattern


def _clipped(values: list[ex.Expression], norm: float, radius: int) -> list[ex.Expression]:
    """Fixed-point entries of a row, as ``encoding.kernels.clip_rows`` makes them."""
    largest: ex.Expression = ex.call("abs", values[0])
    for value in values[1:]:
        largest = ex.call("max", largest, ex.call("abs", value))
    safe = ex.Where(ex.AtLeast(ex.Number(0.0), largest), ex.Number(1.0), largest)
    floor = safe * SMALLEST
    ratios = [ex.Where(ex.AtLeast(ex.call("abs", value), floor), value / safe, ex.Number(0.0)) for value in values]
    length = ex.call("sqrt", ex.call("max", ex.Sum(tuple(ratio * ratio for ratio in ratios)), 1e-300))
    inside = ex.AtLeast(ex.Number(norm) / length, largest)
    scale = ex.Where(inside, ex.Number(radius / norm), ex.Number(float(radius)) / length)
    entries = [
        ex.call("truncate", ex.Where(inside, value, ratio) * scale) for value, ratio in zip(values, ratios, strict=True)
    ]
    square = ex.Sum(tuple(entry * entry for entry in entries))
    beyond = ex.AtLeast(square, ex.Number(float(radius) ** 2 + 1.0))
    return [ex.Where(beyond, _shorter(entry), entry) for entry in entries]


def _shorter(entry: ex.Expression) -> ex.Expression:
    """An integer one nearer to 0."""
    positive = ex.Where(ex.AtLeast(entry, ex.Number(1.0)), entry - 1.0, ex.Number(0.0))
    return ex.Where(ex.AtLeast(ex.Number(-1.0), entry), entry + 1.0, positive)


DAYS = 7


def bins(feature: Feature) -> ex.Expression:
    """The bin of a feature of a model."""
    return code(feature.name, feature.encoder, feature.mapping)


def code(name: str, encoder: Encoder, mapping: Ints) -> ex.Expression:
    """``mapping[code]`` of a column's values under an encoding."""
    if isinstance(encoder, NumericGrid):
        return _of_grid(name, encoder, mapping)
    if isinstance(encoder, BooleanIndex):
        false, true, missing = mapping.tolist()
        return ex.Truths(ex.Column(name, ex.TRUTH), false, true, missing, missing, words=True)
    return _of_categories(name, encoder, mapping)


def _of_grid(name: str, grid: NumericGrid, mapping: Ints) -> ex.Expression:
    starts = np.flatnonzero(np.diff(mapping[:-1])) + 1
    values = tuple(mapping[np.append(0, starts)].tolist())
    missing = int(mapping[grid.missing])
    if not grid.dates:
        column = ex.Column(name, ex.NUMBER, grid.format.missing_values)
        return ex.Steps(column, tuple(grid.edges(starts).tolist()), values, missing, True)
    if grid.dates == "weekday":
        codes = grid.encode(np.array(["2024-01-01"], "M8[D]") + np.arange(DAYS))
        edges = tuple(float(np.argmax(codes >= start)) for start in starts)
        return ex.Steps(ex.Column(name, ex.WEEKDAY), edges, values, missing, True)
    return ex.Steps(ex.Column(name, ex.DATE), _first_days(grid, starts), values, missing, True)


def _first_days(grid: NumericGrid, starts: Ints) -> tuple[float, ...]:
    """The first day, in days since 1970, of each of some cells of years or months."""
    first, last = math.floor(grid.lower), math.ceil(grid.upper)
    months: npt.NDArray[np.datetime64] = np.arange(f"{first:04d}-01", f"{last:04d}-02", dtype="M8[M]")
    codes = grid.encode(months.astype("M8[D]"))
    days = months.astype("M8[D]").astype(np.int64)
    return tuple(float(days[np.argmax(codes >= start)]) for start in starts)


def _of_categories(name: str, index: CategoryIndex, mapping: Ints) -> ex.Expression:
    kind = kind_of_values(index)
    places = [(value, int(mapping[k])) for k, value in enumerate(index.categories)]
    other, missing = int(mapping[index.other]), int(mapping[index.missing])
    if kind == ex.TRUTH:
        of_truth = {meaning(value).value: place for value, place in places}
        return ex.Truths(
            ex.Column(name, ex.TRUTH), of_truth.get(False, other), of_truth.get(True, other), other, missing
        )
    if kind == ex.NUMBER:
        return _of_numbers(name, places, other, missing)
    exact = [(identity(value), place) for value, place in places if index.exact or meaning(value).kind != "truth"]
    truths = [(identity(value).lower(), place) for value, place in places if meaning(value).kind == "truth"]
    return ex.Words(ex.Column(name, ex.TEXT), tuple(exact), () if index.exact else tuple(truths), other, missing)


def kind_of_values(index: CategoryIndex) -> str:
    """The kind of a column of categories: of numbers where all are, of truth values where all are, else of texts."""
    if index.exact and any(isinstance(value, str) for value in index.categories):
        return ex.TEXT
    kinds = {meaning(value).kind for value in index.categories}
    return ex.NUMBER if kinds == {"number"} else ex.TRUTH if kinds == {"truth"} else ex.TEXT


def _of_numbers(name: str, places: list[tuple[Value, int]], other: int, missing: int) -> ex.Expression:
    """Numbers that round to a declared one; between them others."""
    edges: list[float] = []
    values = [other]
    for number, place in sorted((float(meaning(value).value), place) for value, place in places):
        low, beyond = _first(number, reached=False), _first(number, reached=True)
        if edges and edges[-1] == low:
            values[-1] = place
        else:
            edges.append(low)
            values.append(place)
        edges.append(beyond)
        values.append(other)
    return ex.Steps(ex.Column(name, ex.NUMBER), tuple(edges), tuple(values), missing, False)


def _first(number: float, reached: bool) -> float:
    """The least float that counts as ``number`` or more, or as more, by bisection with the encoding as the judge."""

    def far(candidate: float) -> bool:
        distance = float(meaning(candidate).value)
        return distance > number if reached else distance >= number

    low, high = sorted((number * (1 - 1e-12), number * (1 + 1e-12))) if number else (-1e-300, 1e-300)
    while np.nextafter(low, high) < high:
        middle = low + (high - low) / 2
        low, high = (low, middle) if far(middle) else (middle, high)
    return high
