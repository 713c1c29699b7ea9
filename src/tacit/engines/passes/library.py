"""The passes that the library registers."""

from __future__ import annotations

from tacit.engines.passes import cell_function, dense, fourier, histogram, joint, scores, splits

LIBRARY = (cell_function, dense, fourier, histogram, joint, scores, splits)
"""Importing this registers them."""
