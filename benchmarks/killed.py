"""A fit of files that is killed amid its rounds and goes on: `python -m benchmarks.killed --rows 100000000`.

Three processes fit the files of :mod:`benchmarks.scale`, streamed and resumable: one that nobody kills, one that kills
itself (``SIGKILL``) before the release ``--at``, and one that goes on. Seconds, processor seconds, and the peaks of
``RssAnon`` and of all resident memory, which counts mapped files as long as there is room for them. The noise of a
release follows from what is asked, so that the models of the first and the last must be the same.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import tacit
from benchmarks.scale import DELTA, Peak, anonymous, generate, schema, width
from tacit.curator.gate import Gate
from tacit.models.binding import model_digest
from tacit.noise import SystemSource


class Following(SystemSource):
    """Noise and choices that follow from what is asked."""

    def ask(self, questions: Any) -> None:
        """What is drawn next is for these."""
        self._random = random.Random("; ".join(map(str, questions)))

    def words(self, size: int) -> np.ndarray:
        return np.frombuffer(self._random.randbytes(8 * size), np.uint64)

    def randbelow(self, limit: int) -> int:
        """Stands in for that of ``secrets``."""
        return self._random.randrange(limit)


def fit(folder: Path, store: Path, epsilon: float, die_at: int, number: int | None) -> dict[str, Any]:
    """One fit, in this process."""
    source, release, releases = Following(), Gate.release, [0]

    def following(self: Gate, questions: Any, make: Any) -> Any:
        source.ask(questions)
        return release(self, questions, make)

    def step(told: Any) -> None:
        releases[0] = told.releases
        if told.releases == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    account = tacit.PrivacyAccount(f"sqlite:///{store}", "rows")
    model = tacit.AdditiveBoostClassifier(epsilon=epsilon, delta=DELTA, schema=schema(width(folder)), account=account)
    with (
        patch.object(Gate, "release", following),
        patch("tacit.noise.system_source.secrets", source),
        patch("tacit.curator.rows.chosen_source", lambda _: source),
        patch("tacit.learning.supply.fresh_key", lambda: bytes(32)),
        tacit.options(resumable=number is None, resume=number, progress=step),
    ):
        model.fit(tacit.read_source(folder, directory=store.parent))
    return {"releases": releases[0], "digest": model_digest(model.model_)}


def in_process(folder: Path, store: Path, epsilon: float, die_at: int = 0, number: int = 0) -> dict[str, Any]:
    """The same in a process of its own, with what it took."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.killed",
        "--measure",
        str(folder),
        str(store),
        str(die_at),
        str(number),
    ]
    peak, own, begun = Peak(), anonymous(), time.perf_counter()
    peak.start()
    with subprocess.Popen([*command, "--epsilon", str(epsilon)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.read().splitlines()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    peak.done.set()
    peak.join()
    if process.returncode != (-signal.SIGKILL if die_at else 0):
        raise RuntimeError(f"the fit ended with {process.returncode}")
    facts = {"seconds": round(time.perf_counter() - begun, 1), "cpu": round(used.ru_utime + used.ru_stime, 1)}
    facts |= {"mib_anonymous": (peak.bytes - own) >> 20, "mib_resident": used.ru_maxrss >> 10}
    return facts | (json.loads(told[-1]) if told else {})


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10, help="at least 10")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--at", type=int, default=250, help="the release before which the fit is killed")
    parser.add_argument("--place", type=Path, default=None, help="where tables are generated; deleted unless given")
    parser.add_argument("--measure", nargs=4, metavar=("FOLDER", "STORE", "AT", "NUMBER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        folder, store, at, number = args.measure
        print(json.dumps(fit(Path(folder), Path(store), args.epsilon, int(at), int(number) or None)))
        return
    with tempfile.TemporaryDirectory(dir=args.place) as directory:
        folder = generate(args.place or Path(directory), args.rows, args.columns)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
        print(f"{args.rows:,} rows, {args.columns} columns, {size:,} bytes of Parquet", flush=True)
        digests = []
        for name, runs in (("killed", [(args.at, 0), (0, 1)]), ("whole", [(0, 0)])):
            store = Path(directory) / f"{name}.db"
            tacit.PrivacyAccount.create(f"sqlite:///{store}", "rows", 100.0, 1e-3)
            for die_at, number in runs:
                facts = in_process(folder, store, args.epsilon, die_at, number)
                print("gone on" if number else name, facts, flush=True)
            digests.append(facts["digest"])
        print("the models are the same" if digests[0] == digests[1] else "THE MODELS DIFFER")


if __name__ == "__main__":
    main()
