"""Speed of whole fits against peers, size by size, in one run: `python -m benchmarks.speed`.

Tables of 20 numeric columns from 1,000 to 1,000,000 rows (`--sizes 1e7` for more), as a pandas frame that every learner
is handed as it is, all cores. Seconds are by the clock, the best of a few fits after a warm-up; beside them the
processor's seconds of that fit, which a busy machine leaves as they are. Then what one core predicts a second, the
first fit of a fresh process, the bare round, what of a fit's processor seconds passes and noise take, and memory. The
last line printed is one JSON object with all figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from tacit.engines.blocks import BlockTable
from tacit.noise import SystemSource

COLUMNS = 20

CORES = os.cpu_count() or 1
"""What peers may use; ours uses all there are."""


def table(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Normal features, column by column in memory, with curved effects and an interaction."""
    generator = np.random.default_rng(seed)
    x = np.asfortranarray(generator.normal(size=(rows, COLUMNS)))
    score = x[:, 0] - 0.5 * x[:, 1] ** 2 + np.sin(3 * x[:, 2]) + 0.5 * x[:, 3] * x[:, 4]
    return x, (generator.random(rows) < 1 / (1 + np.exp(-score))).astype(np.int64)


def schema() -> dict[str, Any]:
    """Public bounds of the synthetic columns."""
    columns = {f"x{j}": {"kind": "numeric", "lower": -5.0, "upper": 5.0} for j in range(COLUMNS)}
    return {"label": {"column": "y", "classes": [0, 1], "positive": 1}, "columns": columns}


def frame_of(x: np.ndarray) -> pd.DataFrame:
    """The matrix as people have it."""
    return pd.DataFrame(x, columns=[f"x{j}" for j in range(COLUMNS)])


def fit_flagship(x: Any, y: np.ndarray, epsilon: float = 1.0, interactions: bool = True) -> Any:
    """The default learner with default settings."""
    from tacit.additive.estimator import AdditiveBoostClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a million rows, delta is a weak promise
        learner = AdditiveBoostClassifier(epsilon=epsilon, schema=schema(), interactions=interactions)
        return learner.fit(x, y)


def fit_trees(x: Any, y: np.ndarray) -> Any:
    """A hundred private trees of depth 6."""
    from tacit.trees.estimator import BoostedTreesClassifier

    return BoostedTreesClassifier(epsilon=1.0, schema=schema(), n_trees=100, max_depth=6).fit(x, y)


def fit_lightgbm(x: Any, y: np.ndarray) -> Any:
    """LightGBM: 100 trees of 31 leaves."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=CORES, verbose=-1).fit(x, y)


def fit_dp_ebm(x: Any, y: np.ndarray) -> Any:
    """interpret's DP-EBM with default settings and the same bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = dict.fromkeys(range(COLUMNS), (-5.0, 5.0))
        return DPExplainableBoostingClassifier(epsilon=1.0, delta=1e-6, privacy_bounds=bounds, n_jobs=CORES).fit(x, y)


PEERS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "trees": fit_trees,
    "lightgbm": fit_lightgbm,
    "dp_ebm": fit_dp_ebm,
}


def processor_seconds() -> float:
    """Of this process and the ones that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def best_of(repeats: int, work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock of the fastest run, and of the processor of the one that took least of it."""
    clock, processor = [], []
    for _ in range(repeats):
        start, used = time.perf_counter(), processor_seconds()
        work()
        clock.append(time.perf_counter() - start)
        processor.append(processor_seconds() - used)
    return min(clock), min(processor)


def whole_fits(rows: int, epsilons: list[float], peers: list[str], repeats: int) -> dict[str, Any]:
    """Seconds of whole fits on so many rows, ours and the peers', one after the other; printed as they come."""
    x, y = table(rows)
    frame, few = frame_of(x), 1 if rows > 1_000_000 else repeats
    seconds, processor = {}, {}

    def run(name: str, times: int, work: Callable[[], Any]) -> None:
        clock, used = best_of(times, work)
        seconds[name], processor[name] = round(clock, 3), round(used, 3)

    for epsilon in epsilons:
        run(f"epsilon {epsilon:g}", few, lambda epsilon=epsilon: fit_flagship(frame, y, epsilon))
    for peer in peers:
        run(peer, few if peer == "lightgbm" else 1, lambda peer=peer: PEERS[peer](frame, y))
    ours = [f"epsilon {epsilon:g}" for epsilon in epsilons]
    times = {peer: [round(seconds[peer] / seconds[name], 2) for name in ours] for peer in peers}
    less = {peer: [round(processor[peer] / processor[name], 2) for name in ours] for peer in peers}
    shown = ", ".join(f"{name} {seconds[name]} s ({processor[name]})" for name in seconds)
    print(f"{rows:>10,} rows: {shown}; times faster {times}, of the processor {less}", flush=True)
    return {"seconds": seconds, "processor_seconds": processor, "times_faster": times, "times_less_work": less}


def predictions(rows: int = 200_000) -> dict[str, float]:
    """Millions of rows that a second of one processor predicts, from a frame of raw floats."""
    x, y = table(30_000)
    asked, results = frame_of(table(rows, 1)[0]), {}
    for interactions in (False, True):
        model = fit_flagship(frame_of(x), y, 8.0, interactions)
        trees = model.model_.trees
        name = f"{len(trees)} trees of depth {trees[0].shape.depth}" if trees else "columns alone"
        _, used = best_of(3, lambda model=model: model.decision_function(asked))
        results[name] = round(rows / used / 1e6, 2)
    return results


def first_fit(rows: int) -> float:
    """Seconds from the import to the end of a fit; to be called in a fresh process."""
    x, y = table(rows)
    frame, start = frame_of(x), time.perf_counter()
    fit_flagship(frame, y)
    return time.perf_counter() - start


def bare_round(rows: int) -> tuple[float, float]:
    """Cells of the fused round (apply an update, look up weights, scatter), over 20 columns of bytes.

    A second by the clock, and a second of one processor.
    """
    from tacit.engines.blocks import MemoryTable
    from tacit.queries.cells import column_cells
    from tacit.queries.histogram import Histogram
    from tacit.queries.margins import Margins
    from tacit.queries.rules import signed_margin_rule

    generator = np.random.default_rng(0)
    columns = [generator.integers(0, 32, rows).astype(np.uint8) for _ in range(COLUMNS)]
    sealed = MemoryTable(columns, generator.integers(0, 2, rows).astype(np.uint8), [32] * COLUMNS, 2)
    rule, margins = signed_margin_rule(lambda m: np.minimum(1.0, np.exp(-m))), Margins()

    def sweep() -> None:
        for column in range(COLUMNS):
            cells = column_cells(column, 32)
            sealed.answer(Histogram(cells, rule, margins))
            margins.add(cells, generator.normal(0, 0.05, 32))

    sweep()
    clock, processor = best_of(7, sweep)
    return round(rows * COLUMNS / clock), round(rows * COLUMNS / processor)


def parts_of_a_fit(rows: int, epsilon: float) -> dict[str, float]:
    """Processor seconds of a fit: in passes over the rows, in draws of noise, and in all."""
    seconds, inside = {"passes": 0.0, "noise": 0.0}, []

    def timed(kind: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            start = time.process_time()
            inside.append(kind)
            try:
                return work(*given)
            finally:
                inside.pop()
                if not inside:
                    seconds[kind] += time.process_time() - start

        return run

    (x, y), small = table(rows), table(3000)
    fit_flagship(frame_of(small[0]), small[1], epsilon)
    with ExitStack() as stack:
        for kind, owner, names in (
            ("passes", BlockTable, ("answer", "answer_all", "coarsen", "derive")),
            ("noise", SystemSource, ("gaussian", "laplace", "exponential")),
        ):
            for name in names:
                stack.enter_context(patch.object(owner, name, timed(kind, getattr(owner, name))))
        start = time.process_time()
        fit_flagship(frame_of(x), y, epsilon)
        seconds["all"] = time.process_time() - start
    return {kind: round(used, 3) for kind, used in seconds.items()}


def peak_above_input(rows: int) -> float:
    """Bytes per row that a fit takes above its input, by the peak of the process."""
    return in_fresh_process(f"peak_of_this_process({rows})")


def bytes_per_further_row(rows: int, at_first: float) -> float:
    """The same of rows beyond the first: what depends on codes and not on rows is left out."""
    return (4 * peak_above_input(4 * rows) - at_first) / 3


def in_fresh_process(call: str) -> Any:
    """What a function of this module returns where no peer has left threads or memory behind."""
    code = f"import benchmarks.speed as s, json; print(json.dumps(s.{call}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(out.stdout.splitlines()[-1])


def peak_of_this_process(rows: int) -> float:
    """Bytes per row above the input; to be called in a fresh process."""
    fit_flagship(*table(20_000))
    x, y = table(rows)
    before, peak, result = resident_bytes(), [0], threading.Event()

    def watch() -> None:
        while not result.wait(0.005):
            peak[0] = max(peak[0], resident_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    fit_flagship(x, y)
    result.set()
    watcher.join()
    return (peak[0] - before) / rows


def resident_bytes() -> int:
    """Memory of this process that is resident now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=float, default=[1e3, 1e4, 3e4, 1e5, 1e6])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0, 8.0])
    parser.add_argument("--peers", nargs="*", default=["lightgbm", "dp_ebm"], choices=list(PEERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--cores", type=int, default=CORES, help="that peers may use: threads that wait use the processor"
    )
    args = parser.parse_args()
    globals()["CORES"] = args.cores
    small = table(3000)
    for epsilon in (1.0, 8.0):  # kernels are compiled, or read, once
        fit_flagship(frame_of(small[0]), small[1], epsilon)
    for peer in args.peers:
        PEERS[peer](frame_of(small[0]), small[1])
    sizes = {str(int(size)): whole_fits(int(size), args.epsilons, args.peers, args.repeats) for size in args.sizes}
    rows = int(min(max(args.sizes), 1_000_000))
    figures: dict[str, Any] = {"benchmark": "speed", "cores": os.cpu_count(), "sizes": sizes}
    figures["million_rows_predicted_per_second"] = predictions()
    figures["first_fit_of_a_process"] = round(in_fresh_process("first_fit(10_000)"), 2)
    cells = in_fresh_process(f"bare_round({rows})")
    figures["cells_per_second"], figures["cells_per_processor_second"] = cells
    figures["processor_seconds_of_parts"] = {
        f"{int(size)} rows, epsilon {epsilon:g}": in_fresh_process(f"parts_of_a_fit({int(size)}, {epsilon})")
        for size in args.sizes
        for epsilon in args.epsilons
    }
    peak = peak_above_input(rows)
    figures["bytes_per_row_above_input"] = round(peak, 1)
    figures["bytes_per_further_row"] = round(bytes_per_further_row(rows, peak), 1)
    figures["allowed_bytes_per_row"] = 2 * COLUMNS + 32
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
