"""The array types of this library, each defined once."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CODES = 256
"""Codes a column of trees may have: one byte."""


def added(numbers: Iterable[float]) -> float:
    """The sum, from left to right, each step rounded: from Python 3.12 on ``sum`` rounds otherwise than before.

    What a model is made of is added by this, so that every Python makes the same model of the same releases.
    """
    return reduce(operator.add, numbers, 0.0)
