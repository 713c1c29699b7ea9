"""A guess which table a model was made from: chosen on some fits, counted on later ones.

A model says one number at each of a few rows. A guess is a weighted sum of them and a threshold. Both are chosen on the
fits so far, for the bound that they give there, so that what is counted on the next ones is a fixed test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.arrays import Floats
from tacit.audit.bound import Counts

Measure = Callable[[Counts], float]

CUT = 0.02
"""Share of the fits on either side beyond which a number counts as this far and no farther, in weighted sums."""

RIDGE = 0.001
"""Share of the variance that is added to it, so that weights of numbers that hang together stay small."""

CLEAR = 2.0
"""So many standard errors apart, the means of a number differ clearly."""

THRESHOLDS = 200
"""So many places are tried for a threshold."""


@final
@dataclass(frozen=True, eq=False)
class Guess:
    """A fixed test: "with" if the weighted sum of what a model says, clipped per probe, exceeds the threshold."""

    weights: Floats
    lower: Floats
    upper: Floats
    threshold: float

    def sums(self, values: Floats) -> Floats:
        """The weighted sums of what models say, ``values`` of shape ``(models, probes)``."""
        return np.clip(values, self.lower, self.upper) @ self.weights

    def count(self, with_canary: Floats, without: Floats) -> Counts:
        """How often it says "with", of models of the two tables, shapes ``(trials, probes)``."""
        return _counted(self.sums(with_canary), self.sums(without), self.threshold)


def _counted(ours: Floats, theirs: Floats, threshold: float) -> Counts:
    first, second = ours > threshold, theirs > threshold
    return Counts(int(first.sum()), int(second.sum()), len(ours), int((first & second).sum()))


def choose(with_canary: Floats, without: Floats, measure: Measure, in_the_middle: bool = False) -> Guess:
    """The guess that does best by a measure on these models, among sums, directions and thresholds.

    What models say has shape ``(trials, probes)``. With ``in_the_middle`` the median of all is the only threshold:
    between two shifted Gaussians none is better for counting, and the best of many that are seen with few models is
    mostly a lucky one.
    """
    best: tuple[float, Guess | None] = (-np.inf, None)
    for weights, lower, upper in _sums(with_canary, without):
        guess = Guess(weights, lower, upper, 0.0)
        ours, theirs = guess.sums(with_canary), guess.sums(without)
        pooled = np.concatenate([ours, theirs])
        for threshold in [float(np.median(pooled))] if in_the_middle else _thresholds(pooled):
            value = measure(_counted(ours, theirs, threshold))
            if best[1] is None or value > best[0]:
                best = value, Guess(weights, lower, upper, threshold)
    assert best[1] is not None
    return best[1]


def _sums(with_canary: Floats, without: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
    """What is said at the canary, in either direction, and the sum that tells the two best apart."""
    probes = with_canary.shape[1]
    free = np.full(probes, np.inf)
    for sign in (1.0, -1.0):
        yield sign * np.eye(probes)[0], -free, free
    if probes > 1:
        pooled = np.concatenate([with_canary, without])
        lower, upper = np.quantile(pooled, CUT, axis=0), np.quantile(pooled, 1 - CUT, axis=0)
        yield _discriminant(np.clip(with_canary, lower, upper), np.clip(without, lower, upper)), lower, upper
        yield from _windows(with_canary, without)


def _windows(with_canary: Floats, without: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
    """The sum of numbers that differ clearly, each between its two medians: so Laplace noise is told apart."""
    ours, theirs = np.median(with_canary, axis=0), np.median(without, axis=0)
    noise = np.sqrt((with_canary.var(axis=0) + without.var(axis=0)) / len(with_canary))
    clear = np.abs(ours - theirs) > CLEAR * noise
    if clear.any():
        width = np.where(clear, ours - theirs, 1.0)
        yield np.where(clear, 1.0 / width, 0.0), np.minimum(ours, theirs), np.maximum(ours, theirs)


def _discriminant(first: Floats, second: Floats) -> Floats:
    """Fisher's linear discriminant with a ridge, in units of each number's own spread."""
    spread = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 2)
    spread = np.where(spread > 0, spread, 1.0)
    a, b = first / spread, second / spread
    within = (np.cov(a, rowvar=False) + np.cov(b, rowvar=False)) / 2 + RIDGE * np.eye(a.shape[1])
    return np.linalg.solve(within, a.mean(axis=0) - b.mean(axis=0)) / spread


def _thresholds(sums: Floats) -> Floats:
    """Places between the values that occur, all of them or so many of all ranks."""
    values = np.unique(sums)
    if len(values) == 1:
        return values
    between = (values[:-1] + values[1:]) / 2
    if len(between) <= THRESHOLDS:
        return np.asarray(between)
    places = np.linspace(0, len(between) - 1, THRESHOLDS).round().astype(int)
    some: Floats = between[np.unique(places)]
    return some


def scores(model: Any, probes: Any, label: Any) -> Floats:
    """What a fitted estimator says at the probes: a number, or the log-odds of the canary's class; ``(probes,)``."""
    if label is None or not (hasattr(model, "decision_function") or hasattr(model, "predict_proba")):
        return _number_of(model.predict(probes), label)
    if hasattr(model, "decision_function"):
        decisions = np.asarray(model.decision_function(probes), np.float64)
        if decisions.ndim == 1:
            return np.nan_to_num(decisions)
    chances = np.asarray(model.predict_proba(probes), np.float64)
    classes = [str(value) for value in getattr(model, "classes_", ())]
    place = classes.index(str(label)) if str(label) in classes else chances.shape[1] - 1
    chance = chances[:, place]
    rest = chances.sum(axis=1) - chance
    tiny = np.finfo(np.float64).tiny
    odds: Floats = np.log(np.maximum(chance, tiny)) - np.log(np.maximum(rest, tiny))
    return np.nan_to_num(odds)


def _number_of(predictions: Any, label: Any) -> Floats:
    if label is None:
        return np.nan_to_num(np.asarray(predictions, np.float64))
    return np.asarray([str(value) == str(label) for value in predictions], np.float64)
