"""The array types of this library, each defined once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CODES = 256
"""Codes a column of trees may have: one byte."""
