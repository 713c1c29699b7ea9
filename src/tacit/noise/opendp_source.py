"""Integer Gaussian and Laplace noise from OpenDP, for whoever trusts a reviewed library more than this one's sampler.

Its samplers are exact on rationals too (Canonne, Kamath, Steinke 2020), and about a hundred times slower. The rest is
that of :class:`tacit.noise.system_source.SystemSource`; why the exponential mechanism is drawn in this library is said
in :mod:`tacit.noise.exponential`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from tacit.arrays import Ints
from tacit.noise.source import check_scale, check_size
from tacit.noise.system_source import SystemSource

Sampler = Callable[[list[int]], list[int]]


@cache
def _makers() -> tuple[Callable[[float], Sampler], Callable[[float], Sampler]]:
    """OpenDP's makers of the Gaussian and the Laplace mechanism on vectors of int64.

    Imported at the first draw, and from its own modules: the prelude also imports polars, pandas and scikit-learn
    when they are installed, which takes seconds where these take a tenth of one.
    """
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    integers = vector_domain(atom_domain(T="i64"))
    l1, l2 = l1_distance(T="i64"), l2_distance(T="f64")

    def gaussian(scale: float) -> Sampler:
        return make_gaussian(integers, l2, scale=scale)

    def laplace(scale: float) -> Sampler:
        return make_laplace(integers, l1, scale=scale)

    return gaussian, laplace


class OpenDPSource(SystemSource):
    """Noise that may be released, its Gaussian and Laplace draws from OpenDP."""

    name = "opendp"

    def gaussian(self, scale: float, size: int) -> Ints:
        return _draw(0, scale, size)

    def laplace(self, scale: float, size: int) -> Ints:
        return _draw(1, scale, size)


def _draw(which: int, scale: float, size: int) -> Ints:
    exact_scale, count = check_scale(scale), check_size(size)
    if count == 0:
        return np.zeros(0, np.int64)
    mechanism = _makers()[which](exact_scale)
    return np.asarray(mechanism([0] * count), dtype=np.int64)
