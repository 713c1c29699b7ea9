"""Whose arithmetic the digests are of: the last bits of floats depend on processor, BLAS and C library.

Runs take place in a process of their own whose numpy and BLAS use what every processor of the last ten years has, so
that most machines agree. Where one does not, by a probe that has nothing to do with this project, the net is skipped.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import version

PINNED = {
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL",
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_L2_SIZE": "256",  # blocks of one size, which no cache decides: with 1024, version 0.3.34 crashes
    "OPENBLAS_NUM_THREADS": "1",  # sums by two threads have other last bits
}
"""Read by numpy and OpenBLAS when they are imported. numpy ignores names that it does not know."""


LIBRARIES = ("numpy", "scipy", "numba", "pandas")
"""Special functions, and which types texts have, differ between their minor versions."""


def is_pinned() -> bool:
    """Whether this process runs as the digests want it."""
    return all(os.environ.get(name) == value for name, value in PINNED.items())


def pinned() -> dict[str, str]:
    """The environment of a process that does."""
    return {**os.environ, **PINNED}


def here() -> dict[str, str]:
    """What the last bits depend on."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {"machine": platform.machine(), "libc": " ".join(platform.libc_ver()), **libraries}


def is_of(made_with: dict[str, str]) -> bool:
    """Whether libraries are of the minor versions that digests were made with."""
    return all(version(name).split(".")[:2] == made_with[name].split(".")[:2] for name in LIBRARIES)


def probe() -> str:
    """A digest of functions of fixed numbers, as this process works them out."""
    import numpy as np
    from scipy import linalg, special

    draw = np.random.default_rng(0)
    x, square = draw.random(4096) * 8 - 4, draw.random((60, 60))
    positive = square @ square.T + np.eye(60)
    functions = (np.exp, np.expm1, np.sin, np.tanh, special.expit, special.ndtr, special.erf)
    of_positive = (np.log, np.log1p, np.sqrt, special.gammaln, special.log_ndtr)
    found = [f(x) for f in functions] + [f(np.abs(x) + 1e-3) for f in of_positive]
    found += [np.abs(x) ** 1.7, np.cumsum(x), x.reshape(64, 64).sum(axis=0), np.array([x.sum(), x @ x, x.std()])]
    found += [positive, linalg.cho_solve(linalg.cho_factor(positive), square), *np.linalg.eigh(positive)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in found)).hexdigest()[:16]
