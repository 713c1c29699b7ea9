"""The passes that the library registers."""

from __future__ import annotations

from tacit.engines.passes import dense, fourier, histogram, splits

LIBRARY = (dense, fourier, histogram, splits)
"""Importing this registers them."""
