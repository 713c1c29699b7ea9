"""From the values of a column to the integer that a model knows them by, as the public encodings define it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.export.expression import DATE, NUMBER, TEXT, TRUTH, WEEKDAY, Column, Expression, Steps, Truths, Words
from tacit.models.feature import Feature
from tacit.schema.values import Value, identity, meaning

DAYS = 7


def bins(feature: Feature) -> Expression:
    """The bin of a feature of a model."""
    return code(feature.name, feature.encoder, feature.mapping)


def code(name: str, encoder: Encoder, mapping: Ints) -> Expression:
    """``mapping[code]`` of a column's values under an encoding."""
    if isinstance(encoder, NumericGrid):
        return _of_grid(name, encoder, mapping)
    if isinstance(encoder, BooleanIndex):
        false, true, missing = mapping.tolist()
        return Truths(Column(name, TRUTH), false, true, missing, missing)
    return _of_categories(name, encoder, mapping)


def _of_grid(name: str, grid: NumericGrid, mapping: Ints) -> Expression:
    starts = np.flatnonzero(np.diff(mapping[:-1])) + 1
    values = tuple(mapping[np.append(0, starts)].tolist())
    missing = int(mapping[grid.missing])
    if not grid.dates:
        return Steps(Column(name, NUMBER), tuple(grid.edges(starts).tolist()), values, missing, True)
    if grid.dates == "weekday":
        codes = grid.encode(np.array(["2024-01-01"], "M8[D]") + np.arange(DAYS))
        edges = tuple(float(np.argmax(codes >= start)) for start in starts)
        return Steps(Column(name, WEEKDAY), edges, values, missing, True)
    return Steps(Column(name, DATE), _first_days(grid, starts), values, missing, True)


def _first_days(grid: NumericGrid, starts: Ints) -> tuple[float, ...]:
    """The first day, in days since 1970, of each of some cells of years or months."""
    first, last = math.floor(grid.lower), math.ceil(grid.upper)
    months: npt.NDArray[np.datetime64] = np.arange(f"{first:04d}-01", f"{last:04d}-02", dtype="M8[M]")
    codes = grid.encode(months.astype("M8[D]"))
    days = months.astype("M8[D]").astype(np.int64)
    return tuple(float(days[np.argmax(codes >= start)]) for start in starts)


def _of_categories(name: str, index: CategoryIndex, mapping: Ints) -> Expression:
    kind = kind_of_values(index)
    places = [(value, int(mapping[k])) for k, value in enumerate(index.categories)]
    other, missing = int(mapping[index.other]), int(mapping[index.missing])
    if kind == TRUTH:
        of_truth = {meaning(value).value: place for value, place in places}
        return Truths(Column(name, TRUTH), of_truth.get(False, other), of_truth.get(True, other), other, missing)
    if kind == NUMBER:
        return _of_numbers(name, places, other, missing)
    exact = [(identity(value), place) for value, place in places if index.exact or meaning(value).kind != "truth"]
    truths = [(identity(value).lower(), place) for value, place in places if meaning(value).kind == "truth"]
    return Words(Column(name, TEXT), tuple(exact), () if index.exact else tuple(truths), other, missing)


def kind_of_values(index: CategoryIndex) -> str:
    """The kind of a column of categories: of numbers where all are, of truth values where all are, else of texts."""
    if index.exact and any(isinstance(value, str) for value in index.categories):
        return TEXT
    kinds = {meaning(value).kind for value in index.categories}
    return NUMBER if kinds == {"number"} else TRUTH if kinds == {"truth"} else TEXT


def _of_numbers(name: str, places: list[tuple[Value, int]], other: int, missing: int) -> Expression:
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
    return Steps(Column(name, NUMBER), tuple(edges), tuple(values), missing, False)


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
