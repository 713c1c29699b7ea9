"""A secret that nobody knows, from the operating system's entropy as noise is."""

from __future__ import annotations

from tacit.noise import make_source


def fresh_key() -> bytes:
    """32 bytes."""
    return make_source(None).words(4).tobytes()
