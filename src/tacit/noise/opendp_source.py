"""Noise from the operating system's entropy: what may be released.

Integer Gaussian and Laplace vectors come from OpenDP, whose samplers are exact on rationals (Canonne, Kamath, Steinke
2020); the exponential mechanism is drawn exactly in :mod:`tacit.noise.exponential`, which says why.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import cache
from threading import Thread

import numpy as np
import numpy.typing as npt

from tacit.noise.checks import check_scale, check_scores, check_size
from tacit.noise.exponential import ScoreBlocks, exponential_index, exponential_place

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


class OpenDPSource:
    """Noise that may be released. Holds no state: safe to share between threads, and no two are ever alike."""

    name = "opendp"
    releasable = True

    def __init__(self) -> None:
        Thread(target=_makers, daemon=True).start()  # the library loads while rows are encoded

    def gaussian(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """``size`` draws of the discrete Gaussian, ``P(k) ~ exp(-k**2 / (2 scale**2))``; about 12 us each."""
        return _draw(0, scale, size)

    def laplace(self, scale: float, size: int) -> npt.NDArray[np.int64]:
        """``size`` draws of the discrete Laplace, ``P(k) ~ exp(-|k| / scale)``; about 7 us each."""
        return _draw(1, scale, size)

    def exponential(self, scores: npt.NDArray[np.int64], scale: float) -> int:
        """Index ``i`` with probability exactly proportional to ``exp(scores[i] / scale)``."""
        return exponential_index(check_scores(scores), check_scale(scale), secrets.randbelow)

    def exponential_place(self, blocks: ScoreBlocks, scale: float) -> tuple[int, int]:
        """The same from scores that are made in blocks: the block, and the index in it."""
        return exponential_place(blocks, check_scale(scale), secrets.randbelow)

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """``size`` uniform 64-bit words."""
        return np.frombuffer(secrets.token_bytes(8 * check_size(size)), dtype=np.uint64)

    def public_generator(self) -> np.random.Generator:
        """A fresh generator, seeded with 256 bits of the operating system's entropy."""
        return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(secrets.randbits(256))))


def _draw(which: int, scale: float, size: int) -> npt.NDArray[np.int64]:
    exact_scale, count = check_scale(scale), check_size(size)
    if count == 0:
        return np.zeros(0, np.int64)
    mechanism = _makers()[which](exact_scale)
    return np.asarray(mechanism([0] * count), dtype=np.int64)
