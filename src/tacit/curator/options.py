"""What a caller may choose for a stretch of code: whose sampler draws the noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tacit.noise import SAMPLERS, NoiseSource, make_source

_SAMPLER: ContextVar[str] = ContextVar("tacit noise", default=SAMPLERS[0])


@contextmanager
def options(*, noise: str) -> Iterator[None]:
    """Within ``with tacit.options(noise="opendp"):`` noise is drawn by OpenDP's samplers; certificates say so.

    Both samplers have the same exact distributions and the same entropy; OpenDP's take about a hundred times as long.
    The choice holds in the thread (or task) that makes it, and does not go along to worker processes. A seeded fit has
    a sampler of its own.

    Args:
        noise: ``"tacit"``, the default, or ``"opendp"``.

    Raises:
        ValueError: for another name; nothing was spent.
    """
    make_source(None, noise)
    token = _SAMPLER.set(noise)
    try:
        yield
    finally:
        _SAMPLER.reset(token)


def chosen_source(random_state: object) -> NoiseSource:
    """The source of noise that ``random_state`` stands for, under the options that hold here."""
    return make_source(random_state, _SAMPLER.get())
