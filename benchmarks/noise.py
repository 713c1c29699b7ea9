"""What a draw of noise costs: ``python -m benchmarks.noise``. One JSON line, the figures last.

Nanoseconds of CPU time for each Gaussian and Laplace draw of every sampler, at scales as fits use them; what the
operating system's entropy takes of it, and what a keystream in its place would leave; other verbs as draws per second.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tacit.noise import NoiseSource, SeededSource, SystemSource
from tacit.noise.above_threshold import AboveThreshold
from tacit.noise.integer_sampler import Law, draw
from tacit.noise.opendp_source import OpenDPSource
from tacit.theory.above_threshold import Queries

SCALES = (3.7, 12345.6, 310262.4, 4.25e9)
"""The third takes most of the draws of a fit at epsilon 8."""

DRAWS = 1_000_000
SLOW_DRAWS = 30_000


def seconds(run: Callable[[], object], times: int = 3) -> float:
    """CPU time: the best of a few runs, after one that does not count, for imports, kernels and what is kept."""
    run()
    taken = []
    for _ in range(times):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def per_second(draws: int, run: Callable[[], object]) -> int:
    return round(draws / seconds(run, 1))


def keystream(size: int) -> npt.NDArray[np.uint64]:
    """Words of AES-256 in counter mode under a fresh key: what a draw would cost if entropy cost next to nothing."""
    words = np.zeros(size, np.uint64)
    stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(bytes(16))).encryptor()
    stream.update_into(words.view(np.uint8), words.view(np.uint8))
    return words


def nanoseconds(kind: str, scale: float) -> dict[str, float]:
    sources: tuple[tuple[NoiseSource, int], ...] = (
        (SystemSource(), DRAWS), (OpenDPSource(), SLOW_DRAWS), (SeededSource(1), DRAWS),
    )  # fmt: skip
    taken = {s.name: seconds(lambda s=s, n=n: getattr(s, kind)(scale, n)) / n * 1e9 for s, n in sources}  # type: ignore[misc]
    law = Law(kind == "gaussian", scale)
    taken["with a keystream"] = seconds(lambda: draw(law, DRAWS, keystream)) / DRAWS * 1e9
    small = SystemSource()
    taken["tacit, 48 at a time"] = seconds(lambda: [getattr(small, kind)(scale, 48) for _ in range(200)]) / 9_600 * 1e9
    return {name: round(value, 1) for name, value in taken.items()} | {
        "opendp / tacit": round(taken["opendp"] / taken["tacit"], 1)
    }


def entropy() -> dict[str, float]:
    """Nanoseconds for each 64-bit word."""
    size = 1 << 17
    return {
        "operating system": round(seconds(lambda: SystemSource().words(size)) / size * 1e9, 2),
        "keystream": round(seconds(lambda: keystream(size)) / size * 1e9, 2),
    }


def verbs(source: NoiseSource) -> dict[str, int]:
    few, large = -(np.arange(1_000) % 7), -(np.arange(100_000) % 7)
    rounds = np.zeros(500_000, np.int64)
    tester = AboveThreshold(source, 1.0, 10**6, Queries.RUNNING_COUNT)
    return {
        "exponential, 1,000 candidates": per_second(
            2_000, lambda: [source.exponential(few, 2.0) for _ in range(2_000)]
        ),
        "exponential, 100,000 candidates": per_second(50, lambda: [source.exponential(large, 2.0) for _ in range(50)]),
        "above-threshold, arrays": per_second(len(rounds), lambda: tester.test_many(rounds)),
        "above-threshold, one by one": per_second(50_000, lambda: [tester.test(0) for _ in range(50_000)]),
    }


def figures() -> dict[str, object]:
    return {
        "nanoseconds a draw": {
            kind: {f"scale {scale:g}": nanoseconds(kind, scale) for scale in SCALES} for kind in ("gaussian", "laplace")
        },
        "nanoseconds a word": entropy(),
        "per second": {source.name: verbs(source) for source in (SystemSource(), SeededSource(1))},
    }


if __name__ == "__main__":
    print(json.dumps(figures()))
