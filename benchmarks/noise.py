"""Draws per second of both sources of noise: ``python -m benchmarks.noise``. One JSON line, the figures last."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import numpy as np

from tacit.noise import NoiseSource, make_source
from tacit.noise.above_threshold import AboveThreshold
from tacit.theory.above_threshold import Queries


def per_second(draws: int, run: Callable[[], object]) -> int:
    run()  # imports, and the bounds that are kept
    start = time.perf_counter()
    run()
    return round(draws / (time.perf_counter() - start))


def figures(source: NoiseSource) -> dict[str, int]:
    many = 50_000 if source.releasable else 1_000_000
    few, large = -(np.arange(1_000) % 7), -(np.arange(100_000) % 7)
    rounds = np.zeros(500_000, np.int64)
    tester = AboveThreshold(source, 1.0, 10**6, Queries.RUNNING_COUNT)
    return {
        "gaussian": per_second(many, lambda: source.gaussian(12345.6, many)),
        "laplace": per_second(many, lambda: source.laplace(12345.6, many)),
        "exponential, 1,000 candidates": per_second(
            2_000, lambda: [source.exponential(few, 2.0) for _ in range(2_000)]
        ),
        "exponential, 100,000 candidates": per_second(50, lambda: [source.exponential(large, 2.0) for _ in range(50)]),
        "above-threshold, arrays": per_second(len(rounds), lambda: tester.test_many(rounds)),
        "above-threshold, one by one": per_second(50_000, lambda: [tester.test(0) for _ in range(50_000)]),
    }


if __name__ == "__main__":
    print(json.dumps({"unit": "per second", "opendp": figures(make_source(None)), "seeded": figures(make_source(1))}))
