"""Made-up tables for documentation and tests."""

from __future__ import annotations

from tacit.examples.stays import TARGET, hospital

__all__ = ["TARGET", "hospital"]
