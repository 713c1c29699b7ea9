"""diffprivlib's learners of several classes and of numbers, under a Python of their own.

``python score_worker.py JOB.json IN.npz OUT.npy``: a learner and its parameters; arrays ``X``, ``y``, ``X_test`` with
cells in [-1, 1]; probabilities or predictions come out. It imports nothing of this project, and needs diffprivlib with
scikit-learn before 1.6.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def predict(job: dict[str, Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """What the learner of the job says about the test rows."""
    from diffprivlib import models

    epsilon, seed, norm = job["epsilon"], job["seed"], job["columns"] ** 0.5
    if job["learner"] == "linear":
        bounds = (job["lower"], job["upper"])
        model = models.LinearRegression(epsilon=epsilon, bounds_X=(-1, 1), bounds_y=bounds, random_state=seed)
        return np.clip(model.fit(X, y).predict(X_test), *bounds)
    if job["learner"] == "logistic":
        model = models.LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=300, random_state=seed)
    elif job["learner"] == "forest":
        model = models.RandomForestClassifier(
            epsilon=epsilon, bounds=(-1, 1), classes=list(range(job["classes"])), random_state=seed
        )
    else:
        model = models.GaussianNB(epsilon=epsilon, bounds=(-1, 1), random_state=seed)
    model.fit(X, y)
    result = np.zeros((len(X_test), job["classes"]))
    result[:, model.classes_] = model.predict_proba(X_test)
    return result


def main() -> None:
    """The command."""
    warnings.simplefilter("ignore")
    job, arrays = json.loads(Path(sys.argv[1]).read_text()), np.load(sys.argv[2])
    np.save(sys.argv[3], predict(job, arrays["X"], arrays["y"], arrays["X_test"]))


if __name__ == "__main__":
    main()
