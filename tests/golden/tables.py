"""Made-up tables and their schemas. Made of uniform numbers and sums alone, which are the same on every machine."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tests.golden.names import Schema

COLUMNS: dict[str, Any] = {
    "a": {"kind": "numeric", "lower": -2, "upper": 2},
    "b": {"kind": "numeric", "lower": 0, "upper": 1},
    "c": {"kind": "categorical", "categories": ["u", "v", "w"]},
    "d": {"kind": "boolean"},
    "e": {"kind": "numeric", "lower": 0, "upper": 50, "bins": 8},
}
"""Of a table with values beyond the bounds, of no declared category, and missing ones."""


class Table(NamedTuple):
    """Columns, and four targets that depend on the same score.

    Attributes:
        X: columns ``a`` to ``e``, and ``who``, persons of up to four rows.
        two: 0 or 1.
        three: 0, 1 or 2.
        number: a number, mostly between -6 and 6.
        n: rows.
    """

    X: pd.DataFrame
    two: npt.NDArray[np.int64]
    three: npt.NDArray[np.int64]
    number: npt.NDArray[np.float64]
    n: int

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Public weights of the rows."""
        return np.arange(1, self.n + 1) / self.n


@cache
def table(n: int) -> Table:
    """The same table whenever it is asked for; nobody changes it."""
    draw = np.random.default_rng(n).random((n, 12))
    a = draw[:, 0] + draw[:, 1] + draw[:, 2] + draw[:, 3] - 2.0
    a *= 1.3  # some lie beyond the bounds
    b = draw[:, 4] * draw[:, 4]
    kind = np.minimum((draw[:, 5] * 3.1).astype(int), 3)  # some have a category that nobody declared
    d = draw[:, 6] < 0.3
    e = np.floor(draw[:, 7] * 50)
    noise = draw[:, 8] + draw[:, 9] + draw[:, 10] - 1.5
    score = 1.5 * a - 2 * b + 2 * (kind == 1) * a + d + 2 * (a * a > 1) * (b > 0.3) + 0.04 * e - 1
    missing = draw[:, 11] < 0.03
    X = pd.DataFrame(
        {
            "a": np.where(missing, np.nan, a),
            "b": b,
            "c": np.where(draw[:, 11] > 0.98, None, np.array(["u", "v", "w", "x"], dtype=object)[kind]),
            "d": d,
            "e": e,
        }
    )
    number = score + noise
    two, three = (number + noise > 0).astype(np.int64), np.digitize(number, [-1.0, 1.0]).astype(np.int64)
    return Table(X, two, three, number, n)


@cache
def numbers(n: int) -> Table:
    """The columns of numbers alone, none missing: for fits without a schema."""
    full = table(n)
    return full._replace(X=full.X[["b", "e"]].assign(a=full.X["a"].fillna(0.0)))


def schema(label: str, **changes: Any) -> Schema:
    """The public schema for one of the targets; ``changes`` to columns, or ``unit``."""
    labels: dict[str, Any] = {
        "two": {"column": "y", "classes": [0, 1]},
        "three": {"column": "y", "classes": [0, 1, 2]},
        "number": {"column": "y", "kind": "numeric", "lower": -8, "upper": 8},
    }
    written: dict[str, Any] = {"label": labels[label], "columns": COLUMNS | changes.pop("columns", {})}
    return Schema.from_dict(written | changes)


def persons(n: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The columns with whose rows they are, and what a schema says of that: four rows each count, some have more."""
    X = table(n).X.assign(who=[f"p{(row * row) % (n // 3)}" for row in range(n)])
    return X, {"unit": {"column": "who", "max_rows": 4}, "columns": {"who": {"kind": "id"}}}
