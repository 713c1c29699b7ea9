"""The cost of a round of boosting, against the machine's copy bandwidth."""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tacit.boosting.measures import LazyBregman, SmoothMeasure
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.engines.dense import DenseRows
from tacit.noise import make_source
from tacit.privacy.charges import Gaussian
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.halfspace_log import HalfspaceLog

WIDTHS = (10, 20, 50, 100, 300, 1000)
MEASURES = ("lazy_bregman", "smooth")
ROUNDS = 40
CORES = os.cpu_count() or 1


def copy_seconds(values: np.ndarray, target: np.ndarray, threads: int) -> tuple[float, float]:
    """Seconds that one copy of a matrix by so many threads takes, and seconds that each of them works."""
    bounds = [len(values) * part // threads for part in range(threads + 1)]

    def copy(part: int) -> None:
        np.copyto(target[bounds[part] : bounds[part + 1]], values[bounds[part] : bounds[part + 1]])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(copy, range(threads)))  # starts the threads
        start, used = time.perf_counter(), time.process_time()
        list(pool.map(copy, range(threads)))
        return time.perf_counter() - start, (time.process_time() - used) / threads


def make_measure(name: str, n: int) -> LazyBregman | SmoothMeasure:
    """Lazy Bregman, which needs two passes over the rows, or SmoothBoost, which needs one."""
    return LazyBregman(0.5, 1.0, n) if name == "lazy_bregman" else SmoothMeasure(0.4)


def round_against_copies(megabytes: int, d: int, measure_name: str = "lazy_bregman") -> dict[str, float | str]:
    """A round of boosting over a matrix of fixed-point rows, and two copies of it, by turns.

    Best of several, as others may use the machine too, and only ever make things slower; the median is of the same
    rounds over the best copy. A copy is as fast as one thread or all make it, whichever is faster. ``ratio`` is of time
    that went by; ``ratio_alone`` is of the time that each core works, noise included: what goes by on a machine that
    does nothing else.
    """
    n, rng = megabytes * 500_000 // d, np.random.default_rng(0)
    most = 400 // int(d**0.5)
    values = rng.integers(-most, most + 1, (n, d)).astype(np.int16)
    values *= 20
    table = MemoryTable([], rng.integers(0, 2, n).astype(np.uint8), (), 2, dense=DenseRows(values, 32767, d))
    curator = Curator(table, Reservation([Gaussian(0.1)], Neighbouring.ADD_OR_REMOVE_ONE), make_source(None))
    log, measure, target = HalfspaceLog(d), make_measure(measure_name, n), np.empty_like(values)
    rounds, busy, copies = [], [], []
    for t in range(ROUNDS):
        start, used = time.perf_counter(), time.process_time()
        release = curator.measure(measure.weighted_sum(log, t, float(ROUNDS)), Gaussian(10.0), "round")
        rounds.append(time.perf_counter() - start)
        busy.append((time.process_time() - used) / CORES)
        log.add(release.value / np.linalg.norm(release.value))
        copies += [copy_seconds(values, target, threads) for threads in {1, CORES}]
    copied, worked = (min(times) for times in zip(*copies, strict=True))
    value, two = min(rounds[2:]), 2 * copied
    return {
        "measure": measure_name, "d": d, "n": n, "round_ms": round(1e3 * value, 1),
        "two_copies_ms": round(1e3 * two, 1),
        "copied_gigabytes_per_second": round(values.nbytes / copied / 1e9, 2), "ratio": round(value / two, 2),
        "ratio_median": round(statistics.median(rounds[2:]) / two, 2),
        "ratio_alone": round(min(busy[2:]) / (2 * worked), 2),
    }  # fmt: skip


def speed(megabytes: int, repeats: int = 3, widths: Sequence[int] = ()) -> dict[str, object]:
    """Prints a line per measure, width and repetition; returns the best and the median ratio of every width."""
    results: dict[str, dict[int, list[float]]] = {}
    for name in MEASURES:
        for d in widths or WIDTHS:
            for _ in range(repeats):
                line = round_against_copies(megabytes, d, name)
                results.setdefault(name, {}).setdefault(d, []).append(float(line["ratio"]))
                print(json.dumps(line), flush=True)
    best = {name: {d: min(ratios) for d, ratios in by_width.items()} for name, by_width in results.items()}
    median = {name: {d: statistics.median(r) for d, r in by_width.items()} for name, by_width in results.items()}
    return {"cores": CORES, "ratio_best": best, "ratio_median": median}
