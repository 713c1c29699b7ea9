"""The passes that the library registers."""

from __future__ import annotations

from tacit.engines.passes import dense, fourier, histogram, joint, scores, splits

LIBRARY = (dense, fourier, histogram, joint, scores, splits)
"""Importing this registers them."""
