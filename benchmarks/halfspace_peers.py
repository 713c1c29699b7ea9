"""Private linear learners to compare with: what others do, written anew, over the same rows in the unit ball.

Each takes rows of norm at most 1, labels -1/+1, (epsilon, delta) under adding or removing a row, and a generator, and
returns a vector ``w`` that predicts ``sign(w . x)``. A method with a learning rate runs at one that does well over the
benchmark as a whole; with ``--hindsight`` it is given the best of three for each setting, *judged on the test rows*: a
favour that no one has who must pay for looking, and that the library's own learner does not get.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from tacit.privacy.calibration import gaussian_noise_multiplier

Rows = np.ndarray
Score = Callable[[np.ndarray], float]
"""Test error of a vector."""

RATES = (2.0, 8.0, 32.0)
DEFAULT_RATE = 8.0
EPOCHS = 20


def noisy_centre(X: Rows, y: Rows, epsilon: float, delta: float, rng: np.random.Generator) -> np.ndarray:
    """The sum of ``y x`` with Gaussian noise, for the whole budget: what a booster has to be worth its rounds over."""
    return y @ X + rng.normal(0, gaussian_noise_multiplier(epsilon, delta), X.shape[1])


def objective_perturbation(X: Rows, y: Rows, epsilon: float, delta: float, rng: np.random.Generator) -> np.ndarray:
    """Kifer, Smith, Thakurta (2012), Algorithm 1 with Gaussian noise; logistic loss (Lipschitz 1, smooth 1/4)."""
    scale = math.sqrt(8 * math.log(2 / delta) + 4 * epsilon) / epsilon
    tilt = rng.normal(0, scale, X.shape[1])
    ridge = 0.5 / epsilon

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margins = y * (X @ w)
        value = np.logaddexp(0, -margins).sum() + 0.5 * ridge * w @ w + tilt @ w
        return float(value), -((y * expit(-margins)) @ X) + ridge * w + tilt

    return minimize(loss, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x


@cache
def sgd_noise(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Noise multiplier of DP-SGD with Poisson batches, by dp-accounting's privacy-loss distributions."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def make(noise: float) -> dp_accounting.DpEvent:
        step = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(step, steps)

    return float(
        dp_accounting.calibrate_dp_mechanism(
            lambda: PLDAccountant(value_discretization_interval=1e-3), make, epsilon, delta, tol=1e-2
        )
    )


def dp_sgd(
    X: Rows, y: Rows, epsilon: float, delta: float, rng: np.random.Generator, score: Score,
    rates: tuple[float, ...] = (DEFAULT_RATE,),
) -> np.ndarray:  # fmt: skip
    """Logistic regression by noisy minibatch gradients: 20 epochs, batches of a twentieth, clipped at 1."""
    n, steps, rate = len(X), EPOCHS * 20, 0.05
    noise = sgd_noise(epsilon, delta, rate, steps)
    results = []
    for step in rates:
        w = np.zeros(X.shape[1])
        for _ in range(steps):
            batch = rng.random(n) < rate
            rows, labels = X[batch], y[batch]
            gradient = (labels * expit(-labels * (rows @ w))) @ rows + rng.normal(0, noise, X.shape[1])
            w = w + step * gradient / (rate * n)
        results.append((score(w), w))
    return min(results, key=lambda pair: pair[0])[1]


def random_projection(
    X: Rows, y: Rows, epsilon: float, delta: float, rng: np.random.Generator, score: Score, margin: float = 0.1,
    rates: tuple[float, ...] = (DEFAULT_RATE,),
) -> np.ndarray:  # fmt: skip
    """Nguyen, Ullman, Zakynthinou (2019): Johnson-Lindenstrauss to O(1/margin^2) dimensions, then a private hinge loss.

    The hinge loss is minimised by 40 noisy full gradients, and iterates are averaged; rows are clipped to norm 1 after
    projection. The halfspace is returned over the original rows.
    """
    n, d = X.shape
    k = min(d, math.ceil(8 * math.log(max(n, 3)) / margin**2 / 10))
    matrix = rng.normal(0, 1 / math.sqrt(k), (d, k)) if k < d else np.eye(d)
    rows = X @ matrix
    rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
    steps = 40
    noise = gaussian_noise_multiplier(epsilon, delta) * math.sqrt(steps)
    results = []
    for rate in rates:
        w, total = np.zeros(k), np.zeros(k)
        for _ in range(steps):
            wrong = y * (rows @ w) < 1
            w = w + rate / n * ((y * wrong) @ rows + rng.normal(0, noise, k))
            total += w
        results.append((score(matrix @ total), matrix @ total))
    return min(results, key=lambda pair: pair[0])[1]


PEER_PROGRAM = """
import json, signal, sys, warnings
import numpy as np
warnings.simplefilter("ignore")

class TooLong(Exception):
    pass

def stop(*_):
    raise TooLong

signal.signal(signal.SIGPROF, stop)
X = y = task = None

def diffprivlib(seed):
    from diffprivlib.models import LogisticRegression
    model = LogisticRegression(epsilon=task["epsilon"], data_norm=1.0, fit_intercept=False, max_iter=300,
                               random_state=seed)
    return model.fit(X.astype(float), y).coef_[0].tolist()

def opacus(seed):
    import torch
    from opacus import PrivacyEngine
    torch.manual_seed(seed)
    rows = torch.tensor(X, dtype=torch.float32); labels = torch.tensor((y > 0).astype("float32"))
    model = torch.nn.Linear(X.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=task["rate"])

    class Batches(torch.utils.data.TensorDataset):
        def __getitems__(self, chosen):  # a batch at a time: gathering it row by row takes longer than all the rest
            return rows[chosen], labels[chosen]

    dataset = Batches(rows, labels)
    loader = torch.utils.data.DataLoader(dataset, batch_size=task["batch"], collate_fn=lambda batch: batch)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=task["noise"], max_grad_norm=1.0)
    for _ in range(task["epochs"]):
        for batch_rows, batch_labels in loader:
            if len(batch_rows) == 0:
                continue
            optimizer.zero_grad()
            odds = model(batch_rows).squeeze(1)
            torch.nn.functional.binary_cross_entropy_with_logits(odds, batch_labels).backward()
            optimizer.step()
    return model._module.weight.detach().numpy()[0].astype(float).tolist()

for line in sys.stdin:
    task = json.loads(line)
    if task["fresh"]:
        data = np.load(task["data"])
        X, y = data["X"], data["y"]
    found = []
    signal.setitimer(signal.ITIMER_PROF, task["limit"])
    try:
        for seed in range(task["runs"]):
            found.append({"diffprivlib": diffprivlib, "opacus": opacus}[task["learner"]](seed))
    except TooLong:
        pass
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps(found), flush=True)
"""


class Foreign:
    """Another interpreter, started at the first task and kept: it imports torch once, and reads the same rows once."""

    def __init__(self, python: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._data = str(Path(self._folder.name) / "rows.npz")
        self._rows: Rows | None = None
        self._process = subprocess.Popen(
            [python, "-c", PEER_PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def vectors(self, X: Rows, y: Rows, task: dict[str, object]) -> list[np.ndarray]:
        """What a learner makes of rows: one vector per run that was done in time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        fresh = self._rows is not X
        if fresh:
            np.savez(self._data, X=X.astype(np.float32), y=y)
            self._rows = X
        self._process.stdin.write(json.dumps({**task, "data": self._data, "fresh": fresh}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("the other interpreter ended: it needs opacus, diffprivlib and an older scikit-learn")
        return [np.array(vector) for vector in json.loads(answer)]


@cache
def interpreter(python: str) -> Foreign:
    """The one process of an interpreter."""
    return Foreign(python)


def foreign(
    python: str, learner: str, X: Rows, y: Rows, epsilon: float, delta: float, runs: int, limit: int,
    rate: float = DEFAULT_RATE,
) -> list[np.ndarray]:  # fmt: skip
    """Vectors of diffprivlib's or opacus's learner, made in the environment of another interpreter.

    After ``limit`` seconds of the processor it is stopped: the runs that are done by then count, and there may be none.
    diffprivlib gives pure epsilon under replacement of a row; opacus (epsilon, delta) under adding or removing one, at
    the noise of :func:`sgd_noise` (its own search for it takes longer than the learning).
    """
    batch = max(1, len(X) // 20)
    batches = math.ceil(len(X) / batch)  # opacus samples every row at the rate 1 / batches
    noise = sgd_noise(epsilon, delta, 1 / batches, EPOCHS * batches) if learner == "opacus" else 0.0
    task = {
        "learner": learner, "epsilon": epsilon, "delta": delta, "runs": runs, "rate": rate, "batch": batch,
        "epochs": EPOCHS, "noise": noise, "limit": limit,
    }  # fmt: skip
    return interpreter(python).vectors(X, y, task)
