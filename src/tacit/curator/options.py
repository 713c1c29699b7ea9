"""What a caller may choose for a stretch of code: whose sampler draws the noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tacit.errors import UNSPENT
from tacit.noise import SAMPLERS, NoiseSource, make_source
from tacit.privacy.progress import WATCH, Watch

_SAMPLER: ContextVar[str] = ContextVar("tacit noise", default=SAMPLERS[0])


@contextmanager
def options(*, noise: str | None = None, progress: Watch | None = None) -> Iterator[None]:
    """Within ``with tacit.options(noise="opendp"):`` noise is drawn by OpenDP's samplers; certificates say so.

    Both samplers have the same exact distributions and the same entropy; OpenDP's take about a hundred times as long.
    The choice holds in the thread (or task) that makes it, and does not go along to worker processes. A seeded fit has
    a sampler of its own.

    Within ``with tacit.options(progress=print):`` fits tell how far they are
    (:class:`tacit.privacy.progress.Step`): nothing private, so no numbers of rows.

    Args:
        noise: ``"tacit"``, the default, or ``"opendp"``; None for what holds already.
        progress: called before every release, in the thread that fits. What it raises ends the fit; the charge stands.
            None for what holds already.

    Raises:
        ValueError: for another name, or what cannot be called; nothing was spent.
    """
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is called with every step, and {progress!r} cannot be. {UNSPENT}")
    if noise is not None:
        make_source(None, noise)
    sampler = _SAMPLER.set(_SAMPLER.get() if noise is None else noise)
    watch = WATCH.set(WATCH.get() if progress is None else progress)
    try:
        yield
    finally:
        _SAMPLER.reset(sampler)
        WATCH.reset(watch)


def chosen_source(random_state: object) -> NoiseSource:
    """The source of noise that ``random_state`` stands for, under the options that hold here."""
    return make_source(random_state, _SAMPLER.get())
