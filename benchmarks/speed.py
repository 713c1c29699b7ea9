"""Speed of the flagship against its peers in one process: `python -m benchmarks.speed`.

1,000,000 rows of 20 numeric features, all cores. Fit times are the best of a few, encoding included; peers get the same
matrix. The last line printed is one JSON object with the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 20


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


def fit_flagship(x: np.ndarray, y: np.ndarray) -> Any:
    """The flagship with default settings."""
    from tacit.additive.estimator import AdditiveBoostClassifier

    return AdditiveBoostClassifier(epsilon=1.0, schema=schema()).fit(x, y)


def fit_trees(x: np.ndarray, y: np.ndarray) -> Any:
    """A hundred private trees of depth 6."""
    from tacit.trees.estimator import BoostedTreesClassifier

    return BoostedTreesClassifier(epsilon=1.0, schema=schema(), n_trees=100, max_depth=6).fit(x, y)


def fit_lightgbm(x: np.ndarray, y: np.ndarray) -> Any:
    """LightGBM: 100 trees of 31 leaves."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, num_leaves=31, n_jobs=os.cpu_count(), verbose=-1).fit(x, y)


def fit_dp_ebm(x: np.ndarray, y: np.ndarray) -> Any:
    """interpret's DP-EBM with default settings and the same bounds."""
    from interpret.privacy import DPExplainableBoostingClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = dict.fromkeys(range(COLUMNS), (-5.0, 5.0))
        return DPExplainableBoostingClassifier(epsilon=1.0, delta=1e-6, privacy_bounds=bounds, n_jobs=-1).fit(x, y)


FITS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "flagship": fit_flagship,
    "trees": fit_trees,
    "lightgbm": fit_lightgbm,
    "dp_ebm": fit_dp_ebm,
}


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def bare_round(rows: int) -> float:
    """Cells per second of the fused round (apply an update, look up weights, scatter), over 20 columns of bytes."""
    from tacit.engines.memory import MemoryTable
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
    return rows * COLUMNS / best_of(7, sweep)


def peak_above_input(rows: int) -> float:
    """Bytes per row that a fit takes above its input, by the peak of the process."""
    return in_fresh_process(f"peak_of_this_process({rows})")


def in_fresh_process(call: str) -> float:
    """What a function of this module returns where no peer has left threads or memory behind."""
    code = f"import benchmarks.speed as s; print(s.{call})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(out.stdout.splitlines()[-1])


def peak_of_this_process(rows: int) -> float:
    """Bytes per row above the input; to be called in a fresh process."""
    fit_flagship(*table(20_000))
    x, y = table(rows)
    before, peak, done = resident_bytes(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], resident_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    fit_flagship(x, y)
    done.set()
    watcher.join()
    return (peak[0] - before) / rows


def resident_bytes() -> int:
    """Memory of this process that is resident now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--who", nargs="+", default=["flagship", "lightgbm", "dp_ebm"], choices=list(FITS))
    args = parser.parse_args()
    x, y = table(args.rows)
    small = table(5000)
    seconds = {}
    for who in args.who:
        FITS[who](*small)
        repeats = 1 if who == "dp_ebm" else args.repeats
        seconds[who] = round(best_of(repeats, lambda who=who: FITS[who](x, y)), 3)
        print(who, seconds[who], "s", flush=True)
    figures: dict[str, Any] = {"benchmark": "speed", "rows": args.rows, "seconds": seconds}
    ours = seconds.get("flagship", seconds.get("trees"))
    figures["times_faster"] = {who: round(value / ours, 2) for who, value in seconds.items() if ours}
    figures["cells_per_second"] = round(in_fresh_process(f"bare_round({args.rows})"))
    figures["bytes_per_row_above_input"] = round(peak_above_input(args.rows), 1)
    figures["allowed_bytes_per_row"] = 2 * COLUMNS + 32
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
