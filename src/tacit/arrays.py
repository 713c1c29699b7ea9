"""The array types of this library, each defined once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Numbers32 = npt.NDArray[np.int32]
Signs = npt.NDArray[np.int8]
Words = npt.NDArray[np.uint64]
