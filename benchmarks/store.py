"""Results of benchmarks: the stored ones, and those of runs since.

Stored results are ``benchmarks/results/NAME.parquet``, a few hundred kilobytes each. A run adds lines of JSON to
``benchmarks/cache/NAME.jsonl``, which git ignores, so that it can be interrupted. Both are read together:

    python -m benchmarks.store NAME [NAME ...]     moves the lines of runs into the stored files
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from benchmarks import program

HERE = Path(__file__).parent
DIGITS = 6
"""Significant digits of a stored figure."""

Line = dict[str, Any]


def read(name: str) -> list[Line]:
    """All lines of a benchmark, oldest first."""
    stored, fresh = HERE / "results" / f"{name}.parquet", fresh_path(name)
    lines: list[Line] = []
    if stored.exists():
        rows = parquet.read_table(stored).to_pylist()
        lines += [{field: json.loads(text) for field, text in row.items() if text is not None} for row in rows]
    if fresh.exists():
        lines += [json.loads(text) for text in fresh.read_text("utf-8").splitlines() if text]
    return lines


def add(name: str, line: Line) -> None:
    """Adds the line of a run, with the program that made it (:mod:`benchmarks.program`)."""
    path = fresh_path(name)
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, "program": program.name()}) + "\n")


def fresh_path(name: str) -> Path:
    """Where runs of a benchmark add their lines."""
    return HERE / "cache" / f"{name}.jsonl"


def write(name: str, lines: list[Line]) -> None:
    """Writes the stored file of a benchmark: a column of JSON texts for each field, compressed."""
    fields = list(dict.fromkeys(field for line in lines for field in line))
    columns = {}
    for field in fields:
        columns[field] = pa.array(
            [json.dumps(_short(line[field])) if field in line else None for line in lines], pa.string()
        )
    path = HERE / "results" / f"{name}.parquet"
    parquet.write_table(pa.table(columns), path, compression="zstd", compression_level=19, row_group_size=1_000_000)


def _short(value: Any) -> Any:
    """A value with its fractions shortened to :data:`DIGITS` digits."""
    if isinstance(value, dict):
        return {key: _short(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    for name in parser.parse_args().names:
        lines = read(name)
        write(name, lines)
        fresh_path(name).unlink(missing_ok=True)
        print(f"{name}: {len(lines)} lines")


if __name__ == "__main__":
    main()
