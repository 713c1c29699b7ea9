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
    n, steps, rate = len(X), 400, 0.05
    noise = sgd_noise(epsilon, delta, rate, steps)
    found = []
    for step in rates:
        w = np.zeros(X.shape[1])
        for _ in range(steps):
            batch = rng.random(n) < rate
            rows, labels = X[batch], y[batch]
            gradient = (labels * expit(-labels * (rows @ w))) @ rows + rng.normal(0, noise, X.shape[1])
            w = w + step * gradient / (rate * n)
        found.append((score(w), w))
    return min(found, key=lambda pair: pair[0])[1]


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
    found = []
    for rate in rates:
        w, total = np.zeros(k), np.zeros(k)
        for _ in range(steps):
            wrong = y * (rows @ w) < 1
            w = w + rate / n * ((y * wrong) @ rows + rng.normal(0, noise, k))
            total += w
        found.append((score(matrix @ total), matrix @ total))
    return min(found, key=lambda pair: pair[0])[1]


PEER_PROGRAM = """
import json, sys
import numpy as np
task = json.load(open(sys.argv[1]))
data = np.load(task["data"])
X, y = data["X"].astype(float), data["y"]
out = {}
for name in task["names"]:
    found = []
    for seed in range(task["repeats"]):
        if name == "diffprivlib":
            from diffprivlib.models import LogisticRegression
            import warnings; warnings.simplefilter("ignore")
            model = LogisticRegression(epsilon=task["epsilon"], data_norm=1.0, fit_intercept=False,
                                       max_iter=300, random_state=seed)
            found.append(model.fit(X, y).coef_[0].tolist())
        if name == "opacus":
            import torch, warnings
            from opacus import PrivacyEngine
            warnings.simplefilter("ignore")
            torch.manual_seed(seed)
            rows = torch.tensor(X, dtype=torch.float32); labels = torch.tensor((y > 0).astype("float32"))
            model = torch.nn.Linear(X.shape[1], 1, bias=False)
            torch.nn.init.zeros_(model.weight)
            optimizer = torch.optim.SGD(model.parameters(), lr=task["rate"])
            batch = max(1, len(X) // 20)
            loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows, labels), batch_size=batch)
            model, optimizer, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
                module=model, optimizer=optimizer, data_loader=loader, target_epsilon=task["epsilon"],
                target_delta=task["delta"], epochs=20, max_grad_norm=1.0)
            for _ in range(20):
                for batch_rows, batch_labels in loader:
                    if len(batch_rows) == 0:
                        continue
                    optimizer.zero_grad()
                    odds = model(batch_rows).squeeze(1)
                    torch.nn.functional.binary_cross_entropy_with_logits(odds, batch_labels).backward()
                    optimizer.step()
            found.append(model._module.weight.detach().numpy()[0].astype(float).tolist())
    out[name] = found
json.dump(out, open(task["out"], "w"))
"""


def foreign(
    python: str,
    names: list[str],
    X: Rows,
    y: Rows,
    epsilon: float,
    delta: float,
    repeats: int,
    rate: float = DEFAULT_RATE,
) -> dict[str, list[np.ndarray]]:
    """diffprivlib's and opacus's learners, in the environment of another interpreter (``--peer-python``).

    diffprivlib gives pure epsilon under replacement of a row; opacus (epsilon, delta) under adding or removing one.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, task, out = (Path(folder) / name for name in ("rows.npz", "task.json", "out.json"))
        np.savez(data, X=X.astype(np.float32), y=y)
        facts = {
            "data": str(data), "out": str(out), "names": names, "epsilon": epsilon, "delta": delta,
            "repeats": repeats, "rate": rate,
        }  # fmt: skip
        task.write_text(json.dumps(facts))
        subprocess.run([python, "-c", PEER_PROGRAM, str(task)], check=True, capture_output=True)
        found = json.loads(out.read_text())
    return {name: [np.array(w) for w in vectors] for name, vectors in found.items()}
