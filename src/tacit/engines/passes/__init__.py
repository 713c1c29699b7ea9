"""Passes over rows: one file a kind, registered by the type of query that they answer when this is imported."""

from __future__ import annotations

from tacit.engines.passes import dense, histogram, splits

__all__ = ["dense", "histogram", "splits"]
