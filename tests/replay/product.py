"""What planted faults take of the product, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import tacit.closure.finite as finite
import tacit.closure.raw as raw
import tacit.curator.cover as covering
import tacit.curator.curator as gate
import tacit.curator.select as selecting
from tacit.curator.gate import NOBODY
from tacit.curator.rows import PrivateRows
from tacit.curator.streams.winnow import WinnowStream, _Winnow
from tacit.curator.views.resample import MeasureSample
from tacit.curator.views.view import Parts, Rows
from tacit.encoding.frames import columns_of
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import column_cells
from tacit.queries.dense.vector_sum import VectorSum
from tacit.queries.histogram import Histogram
from tacit.queries.joint_bound import JointHistogram
from tacit.queries.keys import KeyCounts
from tacit.queries.query import Sensitivity
from tacit.queries.rules import count_rule
from tacit.schema import Schema

__all__ = [
    "COUNTS",
    "NOBODY",
    "Gaussian",
    "Histogram",
    "JointHistogram",
    "KeyCounts",
    "MeasureSample",
    "Neighbouring",
    "Parts",
    "Reservation",
    "Rows",
    "SeededSource",
    "Sensitivity",
    "VectorSum",
    "WinnowStream",
    "_Winnow",
    "covering",
    "curator_of",
    "finite",
    "gate",
    "raw",
    "selecting",
]

COUNTS = Histogram(column_cells(0, 5), count_rule(2))
"""Rows by category, the last two of which are "other" and "missing"."""


def curator_of(X: pd.DataFrame, y: np.ndarray, schema: dict[str, Any], seed: int) -> Any:
    """A curator over one categorical column of three."""
    (name,) = X.columns
    known = Schema.from_dict({**schema, "columns": {name: schema["columns"][name]}})
    encoding = TableEncoding.of(known)
    reservation = Reservation([Gaussian(0.5)], Neighbouring.ADD_OR_REMOVE_ONE, "planted")
    return PrivateRows(columns_of(X), y, reservation, seed).seal(encoding, LabelIndex(("no", "yes")))
