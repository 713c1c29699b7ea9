"""Who plays in the online benchmark: which rounds each learner errs on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.online import Winnow
from tacit.privacy.calibration import gaussian_noise_multiplier

Signs = np.ndarray

BLOCK = 50
"""Rounds predicted at a time: a predictor changes about once in hundreds."""

RATES = (0.003, 0.03, 0.3, 3.0)
"""Learning rates of gradient descent, of which the best counts."""


def winnow_mistakes(rows: Signs, labels: Signs, block: int = BLOCK, **parameters: Any) -> Signs:
    """Which rounds a private Winnow errs on."""
    model = Winnow(**{"horizon": len(rows), "labels": (-1, 1), **parameters})
    wrong = np.zeros(len(rows), bool)
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        wrong[part] = model.predict_many(rows[part]) != labels[part]
        model.learn_many(rows[part], labels[part])
    return wrong


def river_mistakes(rows: Signs, labels: Signs, make: Callable[[], Any]) -> Signs:
    """Which rounds a river classifier errs on (not private)."""
    model = make()
    names = [str(j) for j in range(rows.shape[1])]
    wrong = np.zeros(len(rows), bool)
    for t, (row, label) in enumerate(zip(rows.tolist(), (labels > 0).tolist(), strict=True)):
        x = dict(zip(names, row, strict=True))
        wrong[t] = bool(model.predict_one(x)) != label
        model.learn_one(x, label)
    return wrong


def private_descent_mistakes(rows: Signs, labels: Signs, epsilon: float, delta: float, seed: int, rate: float) -> Signs:
    """Private online gradient descent on the logistic loss: gradients of norm at most 1, summed by the tree mechanism.

    Follow-the-regularised-leader on noisy prefix sums (Jain, Kothari, Thakurta 2012; Smith, Thakurta 2013). A row is
    in one node of each level of a binary tree over the rounds, ``log2 T + 1`` of them, so each node's noise has the
    multiplier for as many releases; a row that becomes a null round moves a sum by at most 1. The noise is drawn by
    numpy: this is a peer, not something to release.
    """
    rounds, width = rows.shape[0], rows.shape[1] + 1
    depth = math.ceil(math.log2(rounds)) + 1
    sd = gaussian_noise_multiplier(epsilon, delta) * math.sqrt(depth)
    noise = np.random.default_rng([seed, 99])
    points = np.concatenate([rows, np.ones((rounds, 1), rows.dtype)], axis=1) / math.sqrt(width)
    nodes = np.zeros((depth, width))
    exact, weights = np.zeros(width), np.zeros(width)
    wrong = np.zeros(rounds, bool)
    for t in range(rounds):
        score = float(points[t] @ weights)
        wrong[t] = (1 if score > 0 else -1) != labels[t]
        exact += labels[t] * points[t] / (1.0 + math.exp(min(labels[t] * score, 50.0)))
        level = ((t + 1) & -(t + 1)).bit_length() - 1  # the node that ends here; lower ones are dropped
        nodes[:level] = 0.0
        nodes[level] = noise.normal(0.0, sd, width)
        weights = rate * (exact + nodes.sum(axis=0))
    return wrong


def best_descent(rows: Signs, labels: Signs, epsilon: float, delta: float, seed: int) -> Signs:
    """The best of four learning rates in hindsight, which is more than the budget would buy."""
    runs = [private_descent_mistakes(rows, labels, epsilon, delta, seed, rate) for rate in RATES]
    return min(runs, key=lambda wrong: int(wrong.sum()))
