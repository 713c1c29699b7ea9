"""Where noise comes from: the operating system's entropy, or a seed that makes a run repeatable and not releasable."""

from __future__ import annotations

from numbers import Integral

from tacit.noise.opendp_source import OpenDPSource
from tacit.noise.seeded_source import SeededSource
from tacit.noise.source import NoiseSource

__all__ = ["NoiseSource", "OpenDPSource", "SeededSource", "make_source"]


def make_source(random_state: object) -> NoiseSource:
    """The source that an estimator's ``random_state`` stands for.

    Args:
        random_state: None for the operating system's entropy; a non-negative integer for repeatable noise, which marks
            everything it touches as not releasable.

    Raises:
        TypeError: for anything else: a generator object could be shared or copied, and its noise repeated.
        ValueError: for a negative integer.
    """
    if random_state is None:
        return OpenDPSource()
    if not isinstance(random_state, bool) and isinstance(random_state, Integral):
        return SeededSource(int(random_state))
    raise TypeError(
        "random_state must be None (fresh entropy, releasable) or a non-negative integer (repeatable, not releasable), "
        f"got {type(random_state).__name__}; nothing was spent"
    )
