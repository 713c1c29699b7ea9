"""Private peers that need another Python, as learners of the benchmark: see `benchmarks.accuracy_worker`.

A Python for them: ``python3 -m venv PATH; PATH/bin/pip install torch opacus diffprivlib "scikit-learn<1.6"``.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Table

WORKER = Path(__file__).with_name("accuracy_worker.py")
STEPS = 150
MEAN_RUNS = 4.0
"""Expected number of runs among which DP-SGD's learning rate is chosen (a geometric number)."""

BATCHES = (512.0, 1024.0)
"""Least and largest expected batch of DP-SGD; in between a tenth of the rows."""

SCORE_NOISE = 3.0
"""Noise of a run's score, relative to that of its training as one Gaussian release."""


class Worker:
    """The other Python, started at the first job and kept."""

    def __init__(self, python: Path) -> None:
        self._python = python
        self._process: subprocess.Popen[str] | None = None

    def ask(self, job: dict[str, Any], **arrays: np.ndarray) -> np.ndarray:
        """Log-odds of the test rows."""
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self._python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            inputs, outputs = Path(folder, "in.npz"), Path(folder, "out.npy")
            np.savez(inputs, **arrays)
            process.stdin.write(json.dumps({**job, "arrays": str(inputs), "scores": str(outputs)}) + "\n")
            process.stdin.flush()
            if process.stdout.readline().strip() != "done":
                raise SystemExit(f"{self._python} ended: it needs torch, opacus, diffprivlib and scikit-learn<1.6")
            return np.asarray(np.load(outputs))


def scaled(table: Table) -> np.ndarray:
    """Numbers mapped from their public bounds to [-1, 1], gaps to 0; one 0/1 column per declared category."""
    out = []
    for name, column in table.schema.columns.items():
        if column.kind == "numeric":
            middle, half = (column.lower + column.upper) / 2, (column.upper - column.lower) / 2
            out.append(np.clip((table.X[name].fillna(middle).to_numpy() - middle) / half, -1.0, 1.0))
        else:
            out += [(table.X[name] == str(value)).to_numpy(float) for value in column.categories]
    return np.column_stack(out)


@cache
def dp_sgd_noise(epsilon: float, delta: float, sampling: float, steps: int) -> tuple[float, float]:
    """Noise multipliers of a step and of a run's score, so that the choice of the best run is (epsilon, delta)-DP."""
    import dp_accounting
    from dp_accounting import rdp

    def event(noise: float) -> Any:
        whole = noise / (sampling * math.sqrt(steps))
        step = dp_accounting.PoissonSampledDpEvent(sampling, dp_accounting.GaussianDpEvent(noise))
        run = [dp_accounting.SelfComposedDpEvent(step, steps), dp_accounting.GaussianDpEvent(SCORE_NOISE * whole)]
        return dp_accounting.dp_event.RepeatAndSelectDpEvent(dp_accounting.ComposedDpEvent(run), MEAN_RUNS, 1.0)

    orders = [2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128, 256, 512]
    noise = dp_accounting.calibrate_dp_mechanism(
        lambda: rdp.RdpAccountant(orders),
        event,
        epsilon,
        delta,
        dp_accounting.LowerEndpointAndGuess(0.3, 4.0),
        tol=1e-3,
    )
    return noise, SCORE_NOISE * noise / (sampling * math.sqrt(steps))


class OutsideLearner:
    """One of the peers, as a function of tables.

    Args:
        learner: its name in the other Python.
        worker: the other Python.
        hidden: for DP-SGD, whether there is a hidden layer.
    """

    def __init__(self, learner: str, worker: Worker, hidden: bool = False) -> None:
        self._learner, self._worker, self._hidden = learner, worker, hidden

    def __call__(self, train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
        job = {"learner": self._learner, "epsilon": epsilon, "seed": seed, "columns": len(train.schema.columns)}
        if self._learner == "dp_sgd":
            rows = len(train.y)  # taken as public, in the peer's favour
            sampling = min(float(np.clip(rows / 10, *BATCHES)) / rows, 1.0)
            noise, score_noise = dp_sgd_noise(epsilon, delta, round(sampling, 3), STEPS)
            job |= {"noise": noise, "score_noise": score_noise, "sampling": round(sampling, 3), "steps": STEPS}
            job |= {"mean_runs": MEAN_RUNS, "hidden": self._hidden}
        return self._worker.ask(job, X=scaled(train), y=train.y, X_test=scaled(test))


def learners(python: Path) -> dict[str, OutsideLearner]:
    """Name -> learner."""
    worker = Worker(python)
    return {
        "diffprivlib_forest": OutsideLearner("diffprivlib_forest", worker),
        "diffprivlib_logistic": OutsideLearner("diffprivlib_logistic", worker),
        "dp_sgd_logistic": OutsideLearner("dp_sgd", worker),
        "dp_sgd_mlp": OutsideLearner("dp_sgd", worker, hidden=True),
    }


NAMES = ("diffprivlib_forest", "diffprivlib_logistic", "dp_sgd_logistic", "dp_sgd_mlp")
