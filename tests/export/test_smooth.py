"""Cosines that data bases compute are those of the table of the model."""

from __future__ import annotations

import math

import numpy as np

from tacit.models.fourier_features import ANGLE_BITS, COSINES, LENGTH, SINES


def test_no_cosine_is_near_an_integer() -> None:
    angles = (np.arange(1 << ANGLE_BITS) + 0.5) * (2.0 * math.pi / (1 << ANGLE_BITS))
    for table, function in ((COSINES, np.cos), (SINES, np.sin)):
        exact = LENGTH * function(angles)
        assert np.array_equal(np.trunc(exact), table)
        assert np.abs(exact - np.rint(exact)).min() > 1e-6
