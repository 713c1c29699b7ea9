"""Private peers that live in another Python: diffprivlib's learners, and DP-SGD by Opacus.

`benchmarks.outside` starts this file with that Python and writes one JSON object per line to it: a learner, its
parameters, and the names of two files, numpy arrays in (`X`, `y`, `X_test`, cells in [-1, 1]) and log-odds out. One
line comes back per job. It imports nothing of this project. Needs torch, opacus, diffprivlib and scikit-learn before
1.6.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from typing import Any

import numpy as np

SMALLEST_PROBABILITY = 1e-6
RATES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Learning rates that DP-SGD chooses among."""

WORST_LOSS = 2.0
"""Losses of rows are clipped here for the score, which is then a sum with sensitivity 1."""

HIDDEN = 32


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    clipped = np.clip(probabilities, SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return np.log(clipped / (1 - clipped))


def diffprivlib_logistic(job: dict[str, Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """diffprivlib's logistic regression (objective perturbation); pure epsilon."""
    from diffprivlib.models import LogisticRegression

    norm = math.sqrt(job["columns"])  # of a row: every column is one number, or one category out of several
    model = LogisticRegression(epsilon=job["epsilon"], data_norm=norm, max_iter=500, random_state=job["seed"])
    return log_odds(model.fit(X, y).predict_proba(X_test)[:, 1])


def diffprivlib_forest(job: dict[str, Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """diffprivlib's random forest with default settings; pure epsilon."""
    from diffprivlib.models import RandomForestClassifier

    model = RandomForestClassifier(epsilon=job["epsilon"], bounds=(-1.0, 1.0), classes=[0, 1], random_state=job["seed"])
    return log_odds(model.fit(X, y).predict_proba(X_test)[:, 1])


def dp_sgd(job: dict[str, Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """DP-SGD with a learning rate chosen privately: a geometric number of runs at random rates, of which the one with
    the best noisy loss is kept (Papernot and Steinke 2022). The caller has calibrated both noises to the whole.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(job["seed"])
    generator = np.random.default_rng(job["seed"])
    inputs, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
    best, answer = -math.inf, np.zeros(len(X_test))
    for _ in range(generator.geometric(1.0 / job["mean_runs"])):
        model = _trained(job, inputs, labels, float(generator.choice(RATES)))
        with torch.no_grad():
            losses = torch.nn.functional.softplus(-(2 * labels - 1) * model(inputs)[:, 0]).numpy()
            score = -float(np.minimum(losses, WORST_LOSS).sum()) / WORST_LOSS
            score += generator.normal(0.0, job["score_noise"])
            if score > best:
                best = score
                answer = model(torch.tensor(X_test, dtype=torch.float32))[:, 0].numpy().astype(float)
    return answer


def _trained(job: dict[str, Any], inputs: Any, labels: Any, rate: float) -> Any:
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    width = inputs.shape[1]
    if job["hidden"]:
        plain: Any = torch.nn.Sequential(torch.nn.Linear(width, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1))
    else:
        plain = torch.nn.Linear(width, 1)
        torch.nn.init.zeros_(plain.weight)
        torch.nn.init.zeros_(plain.bias)
    model = GradSampleModule(plain)
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=rate),
        noise_multiplier=job["noise"],
        max_grad_norm=1.0,
        expected_batch_size=max(int(job["sampling"] * len(inputs)), 1),
    )
    for _ in range(job["steps"]):
        batch = torch.rand(len(inputs)) < job["sampling"]
        optimizer.zero_grad()
        logits = model(inputs[batch])[:, 0]
        torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[batch]).backward()
        optimizer.step()
    return plain


LEARNERS = {"diffprivlib_logistic": diffprivlib_logistic, "diffprivlib_forest": diffprivlib_forest, "dp_sgd": dp_sgd}


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        job = json.loads(line)
        arrays = np.load(job["arrays"])
        scores = LEARNERS[job["learner"]](job, arrays["X"], arrays["y"], arrays["X_test"])
        np.save(job["scores"], scores)
        print("done", flush=True)


if __name__ == "__main__":
    main()
