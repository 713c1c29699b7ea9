"""How fast a table of floats becomes codes: ``python -m benchmarks.encode``. Prints one JSON line, its figure last."""

from __future__ import annotations

import argparse
import json
import os
import time

import numpy as np

from tacit.encoding.table import TableEncoding
from tacit.schema import NumericColumn, Schema


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--layout", choices=["columns", "rows", "float32"], default="columns")
    parser.add_argument("--spacing", choices=["linear", "log"], default="linear")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    matrix = rng.gamma(2.0, size=(arguments.columns, arguments.rows)).T
    if arguments.layout == "rows":
        matrix = np.ascontiguousarray(matrix)
    if arguments.layout == "float32":
        matrix = matrix.astype(np.float32)
    column = NumericColumn(0.01, 10.0, spacing=arguments.spacing)
    encoding = TableEncoding.of(Schema({f"x{j}": column for j in range(arguments.columns)}))
    encoding.encode(matrix[:1000])
    seconds = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        encoding.encode(matrix)
        seconds.append(time.perf_counter() - start)
    facts = {**vars(arguments), "cores": os.cpu_count(), "slowest_ms": round(1e3 * max(seconds), 1)}
    print(json.dumps({**facts, "median_ms": round(1e3 * float(np.median(seconds)), 1)}))


if __name__ == "__main__":
    main()
