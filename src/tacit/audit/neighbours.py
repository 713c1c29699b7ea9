"""Tables and their neighbours, for replays: rows or persons that come, go or become others, ordinary and strange ones.

All are taken from one pool of rows, whose dtypes are those of every table: what differs is which rows are there.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import narwhals as nw
import numpy as np

from tacit.arrays import Floats, Ints
from tacit.audit.canary import Target, ends_of
from tacit.encoding.frames import Frame
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.schema import BooleanColumn, IdColumn, NumericColumn, Schema

ROWS, STRANGERS = 60, 14
"""Ordinary rows of a made table, and rows beside it that may come."""

HELD_OUT = 10
"""Of given rows one person in so many may come, and is not in the table."""


class Arbitrary:
    """Numbers that follow from a seed and look like nothing in particular: they choose made rows, and hide nobody."""

    def __init__(self, seed: int) -> None:
        self._seed, self._taken = seed, 0

    def fractions(self, size: int) -> Floats:
        """Numbers in [0, 1), shape ``(size,)``."""
        begin, self._taken = self._taken, self._taken + size
        texts = (f"neighbours {self._seed} {place}".encode() for place in range(begin, begin + size))
        return np.array([int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48 for text in texts])

    def below(self, end: int, size: int) -> Ints:
        """Whole numbers in ``[0, end)``, shape ``(size,)``."""
        return np.floor(end * self.fractions(size)).astype(np.int64)


@final
@dataclass(frozen=True, eq=False)
class Pool:
    """Rows that tables are made of: whose each is (``persons``), and which are the table's (``base``).

    ``given``: whether somebody gave the rows.
    """

    X: Any
    y: Any
    persons: Ints
    base: Ints
    given: bool = False

    def table(self, places: Ints) -> tuple[Any, Any]:
        """Features and labels of these rows, in this order."""
        return taken(self.X, places), taken(self.y, places)


def made_pool(schema: Schema, target: Target, classes: tuple[Any, ...] | None, seed: int) -> Pool:
    """A pool from what is public: ordinary rows anywhere within their columns, strangers at the ends and beyond."""
    draws = Arbitrary(seed)
    size = ROWS + STRANGERS
    unit = schema.unit
    each = 1 if unit is None else max(2, unit.max_rows + 1)  # strangers have more rows than count
    persons = np.arange(size) if unit is None else np.concatenate(
        [np.arange(ROWS) // 2, ROWS + np.arange(STRANGERS) // each]
    )  # fmt: skip
    columns: dict[str, Any] = {}
    for name, column in schema.columns.items():
        columns[name] = _values(column, draws) if not isinstance(column, IdColumn) else _names(np.arange(size))
    if unit is not None:
        columns[unit.column] = _names(persons)
    if classes is None:
        low, high = float(target.usual), float(target.canary)
        labels: Any = np.concatenate([low + (high - low) * draws.fractions(ROWS), np.resize([high, low], STRANGERS)])
    else:
        labels = np.empty(size, object)
        labels[:] = [*(classes[k] for k in draws.below(len(classes), ROWS)),
                     *itertools.islice(itertools.cycle(classes[::-1]), STRANGERS)]  # fmt: skip
    return Pool(Frame(columns, size), labels, persons, np.arange(ROWS))


def given_pool(X: Any, y: Any, schema: Schema, seed: int) -> Pool:
    """A pool of rows that somebody gives: one person in :data:`HELD_OUT` is not in the table, and may come."""
    labels = np.asarray(y)
    if schema.unit is None:
        persons = np.arange(len(labels))
    else:
        _, persons = np.unique(np.asarray(taken(X, None, schema.unit.column), str), return_inverse=True)
    names = np.unique(persons)
    if len(names) < 2 * HELD_OUT:
        raise RequestError(f"a replay needs rows of at least {2 * HELD_OUT}, got {len(names)}")
    out = names[Arbitrary(seed).below(len(names), len(names) // HELD_OUT)]
    return Pool(X, labels, persons, np.flatnonzero(~np.isin(persons, out)), given=True)


def beside(pool: Pool, relation: Neighbouring, seed: int) -> Iterator[tuple[str, Ints]]:
    """Neighbours of the base table without end: a name and the places of their rows."""
    draws = Arbitrary(seed)
    base = pool.base
    inside = np.unique(pool.persons[base])
    outside = np.setdiff1d(np.unique(pool.persons), inside)
    for turn in itertools.count():
        stranger = np.flatnonzero(pool.persons == outside[turn % len(outside)])
        person = inside[[0, -1, int(draws.below(len(inside), 1)[0])][turn % 3]]
        own = np.flatnonzero(pool.persons[base] == person)
        if relation is Neighbouring.REPLACE_ONE:
            changed = base.copy()
            changed[own] = np.resize(stranger, len(own))
            yield f"rows {own.tolist()} are another's", changed
            continue
        at = sorted(int(place) for place in draws.below(len(base) + 1, len(stranger)))
        yield f"with row {stranger.tolist()} of the pool", np.insert(base, at, stranger)
        yield f"without rows {own.tolist()}", np.delete(base, own)


def moved_places(base: Ints, places: Ints) -> tuple[int, ...]:
    """Where a neighbour differs from the base table: positions in the longer of the two, or in both."""
    if len(base) == len(places):
        return tuple(np.flatnonzero(base != places).tolist())
    longer, shorter = (base, places) if len(base) > len(places) else (places, base)
    return tuple(np.flatnonzero(~np.isin(longer, shorter)).tolist())


def taken(rows: Any, places: Ints | None, column: str | None = None) -> Any:
    """Rows of a table or a vector, all of them if ``places`` is None; of one column, if there is one."""
    if isinstance(rows, Frame):
        rows = rows.columns if column is None else rows.columns[column]
        columns = {name: taken(values, places) for name, values in rows.items()} if column is None else None
        height = len(next(iter(rows.values()))) if places is None else len(places)
        return taken(rows, places) if columns is None else Frame(columns, height)
    if column is not None:
        return taken(rows[column], places)
    if places is None:
        return rows
    if isinstance(rows, Mapping):
        return {name: taken(values, places) for name, values in rows.items()}
    native = nw.from_native(rows, allow_series=True, eager_only=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        subset = native[places.tolist()].to_native()
        return subset.reset_index(drop=True) if hasattr(subset, "reset_index") else subset
    if isinstance(rows, np.ndarray):
        return rows[places]
    raise RequestError(f"rows to replay must be a table or arrays, got {type(rows).__name__}")


def _values(column: Any, draws: Arbitrary) -> Any:
    """A column of the pool: its ordinary values, and of strangers the ends and what is beyond."""
    low, high = ends_of(column)
    if isinstance(column, NumericColumn):
        strange = [1e300, high, math.nan, low, -math.inf, math.nextafter(high, low), low - 1.0]
        ordinary = low + (high - low) * draws.fractions(ROWS)
        ordinary[draws.below(ROWS, 3)] = math.nan
        return np.concatenate([ordinary, np.resize(strange, STRANGERS)])
    values = [False, True] if isinstance(column, BooleanColumn) else list(getattr(column, "categories", (low, high)))
    cells = np.empty(ROWS + STRANGERS, object)
    cells[:ROWS] = [values[k] for k in draws.below(len(values), ROWS)]
    cells[ROWS:] = list(itertools.islice(itertools.cycle(["unheard of", high, None, low, ""]), STRANGERS))
    return cells


def _names(numbers: Ints) -> Any:
    return np.array([f"person {number}" for number in numbers], object)
