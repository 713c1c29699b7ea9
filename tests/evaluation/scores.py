"""Worlds with a known truth: scores, labels, and a classifier that answers with the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit


class Known:
    """A classifier whose probabilities stand in the data."""

    def __init__(self, classes: tuple[Any, ...] = (0, 1)) -> None:
        self.classes_ = np.array(classes)

    def predict_proba(self, rows: Any) -> np.ndarray:
        if len(self.classes_) > 2:
            return np.stack([np.asarray(rows[f"p{k}"]) for k in range(len(self.classes_))], axis=1)
        positive = np.asarray(rows["p"], np.float64)
        return np.stack([1 - positive, positive], axis=1)


def world(n: int, seed: int, steep: float = 1.0, shift: float = 0.0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows whose true log-odds are normal around -0.8, and what a model says that is steeper and shifted."""
    generator = np.random.default_rng(seed)
    odds = generator.normal(-0.8, 1.3, n)
    labels = (generator.random(n) < expit(odds)).astype(np.int64)
    return {"p": expit(steep * odds + shift), "g": generator.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])}, labels
