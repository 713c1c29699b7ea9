"""Small tables and their neighbours: rows taken away, added and replaced, ordinary ones and the strangest there are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

N = 90
UNIT_ROWS = 3
"""Rows of a person that count, where persons are protected."""

COLUMNS = {
    "a": {"kind": "numeric", "lower": -4, "upper": 4},
    "b": {"kind": "numeric", "lower": 0, "upper": 8},
    "c": {"kind": "categorical", "categories": ["u", "v", "w"]},
    "d": {"kind": "categorical", "categories": ["no", "yes"]},
}
CLASSES = {"two": ["no", "yes"], "three": ["x", "y", "z"]}
LOWER, UPPER = -10.0, 10.0
"""Declared bounds of the number that is learned."""


def schema_of(kind: str, unit: bool = False) -> dict[str, Any]:
    """What is public about :func:`table_of`."""
    label: dict[str, Any] = {"column": "target", "kind": "numeric", "lower": LOWER, "upper": UPPER}
    if kind == "count":
        label |= {"lower": 0.0}
    if kind in CLASSES:
        label = {"column": "label", "classes": CLASSES[kind]}
    results: dict[str, Any] = {"label": label, "columns": COLUMNS}
    if unit:
        results["unit"] = {"column": "who", "max_rows": UNIT_ROWS}
    return results


@dataclass(frozen=True, eq=False)
class Rows:
    """A table whose dtypes do not depend on what a row holds: texts and labels are objects, numbers are floats.

    Attributes:
        X: features.
        y: labels or numbers.
        w: weights of the rows.
        batch: in which of two batches a row arrives.
        kind: of the label: ``"two"``, ``"three"`` (classes), ``"number"`` or ``"count"`` (a number from 0 on).
    """

    X: pd.DataFrame
    y: np.ndarray
    w: np.ndarray
    batch: np.ndarray
    kind: str

    def __len__(self) -> int:
        return len(self.y)

    def take(self, places: Any) -> Rows:
        return replace(self, X=self.X.iloc[places].reset_index(drop=True), y=self.y[places], w=self.w[places],
                       batch=self.batch[places])  # fmt: skip

    def with_row(self, place: int, row: dict[str, Any], label: Any, weight: float, over: bool = False) -> Rows:
        """With a row before ``place``, or (``over``) in place of the one that is there."""
        after = place + 1 if over else place
        new = pd.DataFrame({name: pd.Series([row.get(name)], dtype=self.X[name].dtype) for name in self.X})
        X = pd.concat([self.X.iloc[:place], new, self.X.iloc[after:]], ignore_index=True).astype(
            self.X.dtypes.to_dict()
        )
        own = np.empty(1, self.y.dtype)
        own[0] = label
        return replace(self, X=X, y=np.concatenate([self.y[:place], own, self.y[after:]]),
                       w=np.concatenate([self.w[:place], [weight], self.w[after:]]),
                       batch=np.concatenate([self.batch[:place], [place % 2], self.batch[after:]]))  # fmt: skip


def table_of(kind: str, n: int = N, seed: int = 0, unit: bool = False) -> Rows:
    """Rows of four columns, with a label of two or three classes or a number, some of each column missing."""
    g = np.random.default_rng(seed)
    X = pd.DataFrame({"a": g.normal(size=n), "b": g.exponential(size=n)})
    X["c"], X["d"] = g.choice(["u", "v", "w"], n).astype(object), g.choice(["no", "yes"], n).astype(object)
    score = (X["a"] - X["b"] + (X["c"] == "v") * X["a"]).to_numpy() + g.normal(size=n)
    X.loc[g.choice(n, 3, replace=False), "a"] = np.nan
    X.loc[g.choice(n, 3, replace=False), "c"] = None
    if unit:
        X["who"] = np.array([f"p{k // 2}" for k in range(n)], object)
    if kind == "two":
        y = np.where(score > 0, "yes", "no").astype(object)
    elif kind == "three":
        y = np.array(["x", "y", "z"], object)[np.digitize(score, [-1.5, 0.0])]
    else:
        y = np.floor(np.exp(0.5 * score)) if kind == "count" else score
    return Rows(X, y, g.uniform(0.2, 1.0, n), np.arange(n) % 2, kind)


STRANGE: list[dict[str, Any]] = [
    {"a": 4.0, "b": 8.0, "c": "w", "d": "yes"},
    {"a": -4.0, "b": 0.0, "c": "u", "d": "no"},
    {"a": 1e300, "b": math.inf, "c": "unheard of", "d": "w"},
    {"a": -math.inf, "b": -1e300, "c": "", "d": "NO"},
    {"a": math.nan, "b": math.nan, "c": None, "d": None},
    {"a": 0.0, "b": 1e-300, "c": "v", "d": "unheard of"},
    {"a": math.nextafter(4.0, 0.0), "b": -0.0, "c": "v", "d": None},
]
LABELS: dict[str, list[Any]] = {
    "two": ["yes", "no", "perhaps", None],
    "three": ["z", "x", "perhaps", None],
    "number": [UPPER, LOWER, 1e300, math.nan],
    "count": [UPPER, 0.0, 1e300, math.nan],
}
WEIGHTS = [1.0, 0.01, 1.0, 0.5, 5e-324]


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A table beside another one, and the positions of the rows that differ (in the longer of the two)."""

    name: str
    rows: Rows
    moved: tuple[int, ...]


def neighbours(rows: Rows, replacing: bool, seed: int) -> Iterator[Neighbour]:
    """Neighbours without end: ordinary and strange ones in turn, so that any first few have both."""
    g = np.random.default_rng(seed)
    n = len(rows)
    strange = itertools.cycle(
        (row, label) for k, label in enumerate(LABELS[rows.kind] * 7) for row in [STRANGE[(k + seed) % len(STRANGE)]]
    )
    weights = itertools.cycle(WEIGHTS[seed % 5 :] + WEIGHTS[: seed % 5])
    places = itertools.cycle([0, n, int(g.integers(n))])
    for turn in itertools.count():
        row, label = next(strange)
        place, other = next(places), int(g.integers(n))
        ordinary = rows.X.iloc[other].to_dict()
        if not replacing:
            gone = [0, n - 1, int(g.integers(n))][turn % 3]
            yield Neighbour(
                f"with {row}, {label!r} at {place}", rows.with_row(place, row, label, next(weights)), (place,)
            )
            yield Neighbour(f"without row {gone}", rows.take(np.delete(np.arange(n), gone)), (gone,))
            yield Neighbour(f"with row {other} twice", rows.with_row(other, ordinary, rows.y[other], 1.0), (other,))
        else:
            at = min(place, n - 1)
            yield Neighbour(
                f"row {at} became {row}, {label!r}", rows.with_row(at, row, label, next(weights), True), (at,)
            )
            yield Neighbour(f"label of row {other} flipped", rows.with_row(
                other, ordinary, flipped(rows, other), rows.w[other], True), (other,))  # fmt: skip
            yield Neighbour(f"row {at} became row {other}", rows.with_row(
                at, ordinary, rows.y[other], rows.w[other], True), (at,))  # fmt: skip


def flipped(rows: Rows, place: int) -> Any:
    """The label farthest from a row's own."""
    if rows.kind == "number":
        return UPPER if rows.y[place] < 0 else LOWER
    if rows.kind == "count":
        return UPPER if rows.y[place] < 1 else 0.0
    first, *_, last = CLASSES[rows.kind]
    return last if rows.y[place] == first else first


def persons(rows: Rows, replacing: bool, seed: int) -> Iterator[Neighbour]:
    """Neighbours where persons are protected: one goes, or one with more rows than count comes, or one becomes another.

    Where the number of rows is public the rows of a person become others, of which those beyond the first few do not
    count.
    """
    g = np.random.default_rng(seed)
    names = rows.X["who"].unique()
    for turn in itertools.count():
        who = names[[0, -1, int(g.integers(len(names)))][turn % 3]]
        own = np.flatnonzero((rows.X["who"] == who).to_numpy())
        strange = STRANGE[(turn + seed) % len(STRANGE)]
        label = LABELS[rows.kind][turn % 2]
        if replacing:
            other = rows
            for place in own.tolist():
                other = other.with_row(place, {**strange, "who": "new"}, label, 1.0, over=True)
            yield Neighbour(f"{who} became {strange}, {label!r}", other, tuple(own.tolist()))
            other = rows
            for place in own.tolist():
                other = other.with_row(
                    place, {**rows.X.iloc[place].to_dict(), "who": who}, flipped(rows, place), 1.0, True
                )
            yield Neighbour(f"labels of {who} flipped", other, tuple(own.tolist()))
            continue
        yield Neighbour(f"without {who}", rows.take(np.setdiff1d(np.arange(len(rows)), own)), tuple(own.tolist()))
        more, moved = rows, []
        for k in range(UNIT_ROWS + 2):
            place = min(k * 7, len(more))
            more = more.with_row(place, {**strange, "who": "new"}, label, 1.0)
            moved.append(place)
        yield Neighbour(f"with a person of {UNIT_ROWS + 2} rows {strange}, {label!r}", more, tuple(moved))
        yield Neighbour("with a row of nobody", rows.with_row(0, {**STRANGE[0], "who": None}, rows.y[0], 1.0), (0,))


def rounds(rows: Rows, seed: int) -> Iterator[Neighbour]:
    """Neighbours of a stream: a round that is taken away is a null round (its label is neither class).

    The first positive rounds are mistakes for certain: a Winnow begins with weights that call nothing positive, and
    of several classes say the first.
    """
    g = np.random.default_rng(seed)
    early = np.flatnonzero(np.isin(rows.y, ["yes", "z"]))[:10].tolist()
    for turn in itertools.count():
        place = [early[turn % 10], int(g.integers(len(rows))), early[-1], len(rows) - 1][turn % 4]
        row = rows.X.iloc[place].to_dict()
        yield Neighbour(f"round {place} is null", rows.with_row(place, row, None, 1.0, over=True), (place,))
