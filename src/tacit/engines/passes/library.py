"""The passes that the library registers."""

from __future__ import annotations

from tacit.engines.passes import dense, histogram, splits

LIBRARY = (dense, histogram, splits)
"""Importing this registers them."""
