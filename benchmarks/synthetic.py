"""Private synthetic rows as peers: smartnoise-synth's and dpmm's, and LightGBM trained on what they make.

Each library has a Python of its own, made when a peer is first asked for (:data:`ENVIRONMENTS`, under
``benchmarks/cache``), and every fit is one process of it with a limit on its time: `benchmarks.synthetic_worker`.
Categories are the declared ones and numbers fall into bins of equal width between the declared bounds, both public,
and every column has one more code for what is missing. As many rows are made as there are, so their number is public,
in the peers' favour.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Table

HERE = Path(__file__).resolve().parent
WORKER = HERE / "synthetic_worker.py"
CACHE = HERE / "cache"

ENVIRONMENTS = {
    "smartnoise": ("torch==2.13.0", "smartnoise-synth==1.0.8", "lightgbm==4.7.0"),
    "dpmm": ("dpmm==0.1.9", "lightgbm==4.7.0"),
}
"""Library -> what pip installs for it; a CPU build of torch is enough."""

PEERS = {
    "smartnoise_aim": ("smartnoise", "aim"),
    "smartnoise_mst": ("smartnoise", "mst"),
    "dpmm_aim": ("dpmm", "aim"),
    "dpmm_mst": ("dpmm", "mst"),
    "dpmm_privbayes": ("dpmm", "privbayes"),
    "binned_rows": ("dpmm", "none"),
}
"""Name -> library and synthesizer. The last one has no privacy: the rows themselves, in the same bins."""

NOT_PRIVATE = "binned_rows"
BINS = 16
"""Of a number."""

SECONDS = 600.0
"""Of the processor, for one fit, by default."""

CLOCK = 10.0
"""How many times as long a fit may take by the clock."""


def python_of(library: str, folder: Path = CACHE) -> Path:
    """The Python of a library, which is made when it is not there."""
    place, wanted = folder / f"python-{library}", ENVIRONMENTS[library]
    python, ready = place / "bin" / "python", place / "ready.json"
    if not ready.exists() or tuple(json.loads(ready.read_text())) != wanted:
        print(f"making {place} with {', '.join(wanted)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
        ready.write_text(json.dumps(wanted))
    return python


def coded(table: Table, bins: int = BINS) -> tuple[np.ndarray, list[int], list[bool]]:
    """Public codes of the columns, shape ``(rows, columns)``; how many codes each has; whether they are ordered.

    The last code of a column is what is missing, and what was not declared.
    """
    codes, sizes, ordered = [], [], []
    for name, column in table.schema.columns.items():
        if column.kind == "numeric":
            share = (table.X[name].to_numpy(float) - column.lower) / (column.upper - column.lower)
            place = np.floor(np.clip(share, 0.0, 1.0) * bins).clip(max=bins - 1)
            codes.append(np.where(np.isnan(share), bins, place))
            sizes.append(bins + 1)
        else:
            places = {str(value): place for place, value in enumerate(column.categories)}
            codes.append(table.X[name].map(places).fillna(len(places)).to_numpy())
            sizes.append(len(places) + 1)
        ordered.append(column.kind == "numeric")
    return np.column_stack(codes).astype(np.int64), sizes, ordered


class SyntheticLearner:
    """One of the peers, as a function of tables.

    Args:
        library, kind: see :data:`PEERS`.
        seconds: of the processor, for one fit. One that needs more is ended, and raises `TimeoutError`.
        folder: where the Pythons are.
    """

    def __init__(self, library: str, kind: str, seconds: float = SECONDS, folder: Path = CACHE) -> None:
        self._library, self._kind, self._seconds, self._folder = library, kind, seconds, folder

    def __call__(self, train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
        codes, sizes, ordered = coded(train)
        job: dict[str, Any] = {"library": self._library, "kind": self._kind, "seed": seed, "delta": delta}
        job |= {"seconds": self._seconds, "epsilon": epsilon, "sizes": [*sizes, 2], "ordered": ordered}
        return self._asked(job, rows=np.column_stack([codes, train.y]), test=coded(test)[0])

    def _asked(self, job: dict[str, Any], **arrays: np.ndarray) -> np.ndarray:
        python = python_of(self._library, self._folder)
        with tempfile.TemporaryDirectory() as name:
            paths = [Path(name, part) for part in ("job.json", "in.npz", "out.npy")]
            paths[0].write_text(json.dumps(job))
            np.savez(paths[1], **arrays)
            command = [str(python), str(WORKER), *map(str, paths)]
            one_core = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            try:
                subprocess.run(command, check=True, timeout=CLOCK * self._seconds, env={**os.environ, **one_core})
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"longer than {CLOCK * self._seconds:g} s by the clock") from None
            except subprocess.CalledProcessError as error:
                if error.returncode == -signal.SIGXCPU:
                    raise TimeoutError(f"longer than {self._seconds:g} s of the processor") from None
                raise SystemExit(f"{python} ended with {error.returncode}") from None
            return np.asarray(np.load(paths[2]))


def learners(seconds: float = SECONDS) -> dict[str, SyntheticLearner]:
    """Name -> learner."""
    return {name: SyntheticLearner(*which, seconds=seconds) for name, which in PEERS.items()}
