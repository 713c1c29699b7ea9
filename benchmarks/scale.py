"""How fits grow with the rows: `python -m benchmarks.scale`. Seconds and memory per engine, beside two peers.

Tables of 20 numeric columns (``--columns 100`` for more) are generated on disk, chunk by chunk, as Parquet files of a
million rows. Every fit runs
in a process of its own, which first fits a small table so that compiled code is loaded. What is measured begins with
the files and ends with the model: wall and processor seconds, and the peak of ``RssAnon`` (memory that is not a file's)
over what the process had when it began. Peers read the files into a matrix: LightGBM has no privacy (100 trees of 31
leaves, all defaults); ``dp-ebm`` is interpret's private additive model with the same epsilon, delta and bounds. Neither
reads what does not fit into memory: ask them for as many rows as do.

Engines: ``memory`` reads the files into an Arrow table and fits that; ``encoded`` is ``read_source(engine="memory")``,
and ``streamed`` is ``read_source()``. ``dask-1`` and ``dask-2`` are ``read_source(engine="dask")`` on one and two
processes of one thread each, which are there before the clock starts; their processor seconds are not counted.
``--kill 10`` kills one of them every ten seconds, and the table says how many.

Results are lines of ``benchmarks/results/scale.parquet``, by version of the library; ``--again`` measures anew.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.lines import Lines
from tools.fit_planning_rule import version

FILE_ROWS, CHUNK_ROWS = 1_000_000, 250_000
TEST_ROWS = 50_000
PEERS = ("lightgbm", "dp-ebm")
ENGINES = ("memory", "encoded", "streamed", "dask-1", "dask-2", *PEERS)
DELTA = 1e-6
BOUND = 4.0
PEAK = re.compile(r"RssAnon:\s+(\d+) kB")


def chunk(rows: int, columns: int, seed: int) -> pa.Table:
    """Rows whose label follows effects of nine columns and a product; columns from the twelfth on do nothing."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, columns))
    score = X[:, :8] @ np.linspace(1.0, 0.2, 8) + np.sin(2 * X[:, 8]) + 0.8 * X[:, 9] * X[:, 10 % columns]
    y = (score + 1.5 * generator.standard_normal(rows) > 0).astype(np.int8)
    return pa.table({**{f"x{j}": X[:, j] for j in range(columns)}, "y": y})


def generate(place: Path, rows: int, columns: int) -> Path:
    """A folder of files with so many rows and columns; made once."""
    folder = place / f"{rows}x{columns}"
    if (folder / "_done").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        count, writer = min(FILE_ROWS, rows - start), None
        for low in range(0, count, CHUNK_ROWS):
            table = chunk(min(CHUNK_ROWS, count - low), columns, seed=1 + (start + low) // CHUNK_ROWS)
            writer = writer or pq.ParquetWriter(folder / f"{number:05}.parquet", table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
    (folder / "_done").touch()
    return folder


def width(folder: Path) -> int:
    """Columns of a generated table, without the label."""
    return len(pq.read_schema(next(folder.glob("*.parquet")))) - 1


def schema(width: int) -> dict[str, Any]:
    """What is public: bounds, and the label's classes."""
    columns = {f"x{j}": {"kind": "numeric", "lower": -BOUND, "upper": BOUND} for j in range(width)}
    return {"columns": columns, "label": {"column": "y", "classes": [0, 1]}}


def anonymous() -> int:
    """Bytes of this process, and of its children, that belong to no file."""
    mine, total = os.getpid(), 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:
            continue
        parent = int(text.split("PPid:")[1].split()[0])
        if int(status.parent.name) == mine or parent == mine:
            result = PEAK.search(text)
            total += int(result[1]) << 10 if result else 0
    return total


class Peak(threading.Thread):
    """The largest value of :func:`anonymous` while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.bytes, self.done = 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.05):
            self.bytes = max(self.bytes, anonymous())


class Killer(threading.Thread):
    """Kills a worker every so many seconds.

    Args:
        client: of the cluster.
        seconds: between two.
    """

    def __init__(self, client: Any, seconds: float) -> None:
        super().__init__(daemon=True)
        self._client, self._seconds = client, seconds
        self.killed, self.done = 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(self._seconds):
            processes = sorted(self._client.run(os.getpid).values())
            os.kill(processes[self.killed % len(processes)], signal.SIGKILL)
            self.killed += 1


@contextmanager
def cluster(engine: str) -> Iterator[Any]:
    """A client of the processes that an engine needs; None of an engine that needs none."""
    if not engine.startswith("dask-"):
        yield None
        return
    from distributed import Client, LocalCluster

    workers = int(engine.removeprefix("dask-"))
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as there,
        Client(there) as client,
    ):
        yield client


def fit_peer(peer: str, folder: Path, epsilon: float) -> Any:
    """The same of a peer, through one matrix."""
    table = pq.read_table(folder)
    y = table["y"].to_numpy()
    X = np.empty((len(y), width(folder)), order="F")
    for j in range(X.shape[1]):
        X[:, j] = table[f"x{j}"].to_numpy()
    del table
    if peer == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=100, num_leaves=31, verbose=-1).fit(X, y)
    from interpret.privacy import DPExplainableBoostingClassifier

    bounds = dict.fromkeys(range(X.shape[1]), (-BOUND, BOUND))
    return DPExplainableBoostingClassifier(epsilon=epsilon, delta=DELTA, privacy_bounds=bounds).fit(X, y)


def fit(engine: str, folder: Path, directory: Path, epsilon: float, client: Any = None) -> Any:
    """From files to something that predicts."""
    if engine in PEERS:
        return fit_peer(engine, folder, epsilon)
    import tacit

    model = tacit.AdditiveBoostClassifier(epsilon=epsilon, delta=DELTA, schema=schema(width(folder)), random_state=0)
    if engine == "memory":
        table = pq.read_table(folder)
        return model.fit(table.drop_columns(["y"]), table["y"])
    if client is not None:
        return model.fit(tacit.read_source(folder, engine="dask", cluster=client))
    named = {"encoded": "memory"}.get(engine, engine)
    return model.fit(tacit.read_source(folder, engine=named, directory=None if named == "memory" else directory))


def measure(
    engine: str, folder: Path, small: Path, directory: Path, epsilon: float, kill: float = 0.0
) -> dict[str, float]:
    """One fit, in this process."""
    import warnings

    from sklearn.metrics import roc_auc_score

    warnings.simplefilter("ignore")
    with cluster(engine) as client:
        fit(engine, small, directory, epsilon, client)
        killer = Killer(client, kill) if kill and client is not None else None
        base, peak = anonymous(), Peak()
        peak.start()
        if killer is not None:
            killer.start()
        wall, cpu = time.perf_counter(), time.process_time()
        model = fit(engine, folder, directory, epsilon, client)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        for thread in filter(None, (killer, peak)):
            thread.done.set()
            thread.join()
    rows = chunk(TEST_ROWS, width(folder), seed=0)
    test = rows.drop_columns(["y"]).to_pandas()
    guess = model.predict_proba(test.to_numpy() if engine in PEERS else test)[:, 1]
    auc = roc_auc_score(rows["y"].to_numpy(), guess)
    grown = max(peak.bytes - base, 0) / 2**20
    return {"seconds": round(wall, 3), "cpu": round(cpu, 3), "mib": round(grown, 1), "auc": round(float(auc), 5),
            "mib_in_all": round(peak.bytes / 2**20, 1), "killed": 0 if killer is None else killer.killed}  # fmt: skip


def in_process(engine: str, rows: int, args: argparse.Namespace) -> dict[str, float]:
    """The same in a process of its own."""
    folder, small = (generate(args.place, count, args.columns) for count in (rows, 2_000))
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", engine, str(folder), str(small)]
    command += ["--place", str(args.place), "--epsilon", str(args.epsilon), "--kill", str(args.kill)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{engine} with {rows:,} rows failed:\n{result.stderr}")
    return dict(json.loads(result.stdout.splitlines()[-1]))


def exponent(found: dict[int, float]) -> float:
    """The slope of log seconds over log rows, least squares; nan of less than two sizes."""
    if len(found) < 2:
        return float("nan")
    return float(np.polyfit(np.log(list(found)), np.log(list(found.values())), 1)[0])


def run(args: argparse.Namespace) -> list[str]:
    """Measures all that was asked for; the lines of a markdown table."""
    lines, out = Lines("scale"), ["| rows | engine | seconds | processor seconds | MiB more | AUC |", "|---" * 6 + "|"]
    for engine in args.engines:
        seconds: dict[int, float] = {}
        for rows in args.rows:
            job = {"engine": engine, "rows": rows, "columns": args.columns, "epsilon": args.epsilon}
            job |= {"again": args.again, "version": args.version} | ({"kill": args.kill} if args.kill else {})
            result = lines.run(job, lambda engine=engine, rows=rows: in_process(engine, rows, args))
            if rows >= args.exponent_from:
                seconds[rows] = result["cpu"] if args.by_cpu else result["seconds"]
            cpu = "" if engine.startswith("dask-") else f"{result['cpu']:.1f}"  # of workers nobody counts them
            facts = f"{result['seconds']:.1f} | {cpu} | {result['mib']:,.0f} | {result['auc']:.4f}"
            killed = f", {result['killed']} killed" if args.kill else ""
            out.append(f"| {rows:,} x {args.columns} | {engine}{killed} | {facts} |")
            print(out[-1], flush=True)
        print(f"{engine}: exponent {exponent(seconds):.3f} from {args.exponent_from:,} rows", flush=True)
    return out


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--columns", type=int, default=20, help="at least 10")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=["memory", "streamed", "lightgbm"])
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--place", type=Path, default=None, help="where tables are generated; deleted unless given")
    parser.add_argument("--exponent-from", type=int, default=1_000_000)
    parser.add_argument("--by-cpu", action="store_true", help="the exponent of processor seconds, on a busy machine")
    parser.add_argument("--again", type=int, default=0, help="number of the repetition")
    parser.add_argument("--kill", type=float, default=0.0, help="seconds after which a worker of dask is killed")
    parser.add_argument("--version", default=None, help="name of the source's version; the last commit of src/tacit")
    parser.add_argument("--measure", nargs=3, metavar=("ENGINE", "FOLDER", "SMALL"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        engine, folder, small = args.measure
        with tempfile.TemporaryDirectory(dir=args.place) as directory:
            print(json.dumps(measure(engine, Path(folder), Path(small), Path(directory), args.epsilon, args.kill)))
        return
    args.version = args.version or version()
    with tempfile.TemporaryDirectory() as place:
        args.place = args.place or Path(place)
        table = run(args)
    print("\n".join(["", *table]))


if __name__ == "__main__":
    main()
