"""Private synthetic rows as peers, and LightGBM trained on what they make.

smartnoise-synth and dpmm have a Python of their own, made when a peer is first asked for (:data:`ENVIRONMENTS`, under
``benchmarks/cache``); dpsynth and private-evolution, which the package index does not have, need one that has them,
LightGBM and pandas, by ``--peer-python`` (:data:`GIVEN`). Every fit is one process of it with a limit on its time:
`benchmarks.synthetic_worker`.
Categories are the declared ones and numbers fall into bins of equal width between the declared bounds, both public,
and every column has one more code for what is missing. As many rows are made as there are, so their number is public,
in the peers' favour. Tab-PE has the numbers themselves (:func:`cells`).
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
from tacit.privacy.budget import Allowance

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
    "dpmm_mst": ("dpmm", "mst"),
    "dpmm_privbayes": ("dpmm", "privbayes"),
    "dpsynth_swift": ("dpsynth", "swift"),
    "tab_pe": ("pe", "tab_pe"),
    "binned_rows": ("dpmm", "none"),
}
"""Name -> library and synthesizer. The last one has no privacy: the rows themselves, in the same bins."""

VERSIONS = {"dpsynth_swift": "0.3.0", "tab_pe": "0.0.1"}
"""Of dpsynth and of private-evolution."""

GIVEN = tuple(VERSIONS)
DEEP = ("nursery_priority", "krk_win10", "skin_pixel")
"""Tables with deep interactions, of :func:`benchmarks.data.rich_tasks`."""

EPSILONS = ("1", "4")
DATA = ("titanic", "e401k", "adult", *DEEP)
"""Those of ``--synthetic``."""

ROUNDS, MADE = 15, 1000
"""Of Tab-PE: rounds, and rows made at most; its examples have 1,000, or a third of the rows of a small table."""

ADULT_ROUNDS = 30
"""Of its example with ``adult``."""

NOT_PRIVATE = "binned_rows"
BINS = 16
"""Of a number."""

SECONDS = 600.0
"""Of the processor, for one fit, by default."""

CLOCK = 10.0
"""How many times as long a fit may take by the clock."""


def python_of(library: str, folder: Path = CACHE) -> Path:
    """The Python of a library of :data:`ENVIRONMENTS`, which is made when it is not there."""
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


def cells(train: Table, test: Table) -> tuple[list[tuple[str, dict[str, Any]]], np.ndarray, np.ndarray]:
    """The columns as Tab-PE has them, and the cells of both tables: a number within its bounds, or a code.

    A missing number lies at its lower bound, as for DP-EBM. Whether a column has gaps, and whether its numbers are
    whole, is taken from the training rows and so is public, in the peer's favour.
    """
    info, rows, others = [], *(coded(table)[0].astype(float) for table in (train, test))
    for place, (name, column) in enumerate(train.schema.columns.items()):
        if column.kind != "numeric":
            gap = bool((rows[:, place] == len(column.categories)).any())
            info.append(("cat", {"categories": list(range(len(column.categories) + gap))}))
            continue
        for table, out in ((train, rows), (test, others)):
            out[:, place] = table.X[name].fillna(column.lower).clip(column.lower, column.upper)
        whole = not (rows[:, place] % 1).any()
        info.append(("int" if whole else "float", {"min": column.lower, "max": column.upper}))
    return info, rows, others


class SyntheticLearner:
    """One of the peers, as a function of tables.

    Args:
        library, kind: see :data:`PEERS`.
        seconds: of the processor, for one fit. One that needs more is ended, and raises `TimeoutError`.
        python: the one that has the library; the one of :data:`ENVIRONMENTS` where it is None.
    """

    def __init__(self, library: str, kind: str, seconds: float = SECONDS, python: Path | None = None) -> None:
        self._library, self._kind, self._seconds, self._python = library, kind, seconds, python

    def __call__(self, train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
        codes, sizes, ordered = coded(train)
        job: dict[str, Any] = {"library": self._library, "kind": self._kind, "seed": seed, "delta": delta}
        job |= {"seconds": self._seconds, "epsilon": epsilon, "mu": Allowance.of(epsilon, delta).mu}
        job |= {"sizes": [*sizes, 2], "ordered": ordered}
        others = coded(test)[0]
        if self._kind == "tab_pe":
            rounds = ADULT_ROUNDS if train.name.startswith("adult") else ROUNDS
            job["info"], codes, others = cells(train, test)
            job |= {"rounds": rounds, "made": min(MADE, len(train.y) // 3)}
        return self._asked(job, rows=np.column_stack([codes, train.y]), test=others)

    def _asked(self, job: dict[str, Any], **arrays: np.ndarray) -> np.ndarray:
        python = self._python or python_of(self._library, CACHE)
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


def learners(seconds: float = SECONDS, python: Path | None = None) -> dict[str, SyntheticLearner]:
    """Name -> learner; ``python`` is that of :data:`GIVEN`, and of the one without privacy."""
    given = dict.fromkeys((*GIVEN, NOT_PRIVATE), python)
    return {name: SyntheticLearner(*which, seconds=seconds, python=given.get(name)) for name, which in PEERS.items()}
