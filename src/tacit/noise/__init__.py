"""Where noise comes from: the operating system's entropy, or a seed that makes a run repeatable and not releasable."""

from __future__ import annotations

from importlib.util import find_spec
from numbers import Integral

from tacit.errors import TacitError, missing
from tacit.noise.public_choices import PublicChoices
from tacit.noise.seeded_source import SeededSource
from tacit.noise.source import NoiseSource
from tacit.noise.system_source import SystemSource

__all__ = ["SAMPLERS", "NoiseSource", "PublicChoices", "SeededSource", "SystemSource", "make_source"]

OPENDP = "opendp"
SAMPLERS = (SystemSource.name, OPENDP)  # whose samplers draw what may be released: ours, or OpenDP's


def make_source(random_state: object, noise: str = SystemSource.name) -> NoiseSource:
    """The source that an estimator's ``random_state`` stands for.

    Args:
        random_state: None for the operating system's entropy; a non-negative integer for repeatable noise, which marks
            everything it touches as not releasable.
        noise: whose sampler turns entropy into noise, one of ``SAMPLERS``; a seed has a sampler of its own.

    Raises:
        TypeError: for anything else: a generator object could be shared or copied, and its noise repeated.
        ValueError: for a negative integer, or an unknown sampler.
    """
    if noise not in SAMPLERS:
        raise TacitError(f"noise comes from {' or '.join(map(repr, SAMPLERS))}, got {noise!r}", "; nothing was spent")
    if noise == OPENDP and find_spec("opendp") is None:
        raise missing("opendp", "opendp")
    if random_state is None and noise == OPENDP:
        from tacit.noise.opendp_source import OpenDPSource

        return OpenDPSource()
    if random_state is None:
        return SystemSource()
    if not isinstance(random_state, bool) and isinstance(random_state, Integral):
        return SeededSource(int(random_state))
    raise TypeError(
        "random_state must be None (fresh entropy, releasable) or a non-negative integer (repeatable, not releasable), "
        f"got {type(random_state).__name__}; nothing was spent"
    )
