"""What can be expected of a private halfspace before there is data: by theorem, and by simulation on synthetic rows.

Every figure says which it is. Theorems hold for every table with the margin, with constants that were never meant to be
small; simulations hold for one kind of made table, and are what practice looks like.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtri

from tacit.arrays import Floats, Ints
from tacit.halfspaces.estimator import HalfspaceBoostClassifier
from tacit.privacy.request import Request, RequestError
from tacit.theory.halfspaces import SampleSize, sample_size, sample_size_by_privacy

Source = Literal["theorem", "simulation"]

TEST_ROWS = 2000
"""Not tuned, of the simulation: rows that the error is counted on."""

MOST_CELLS = 40_000_000
"""Not tuned, of the simulation. Cells of a simulated table: beyond, it is not made, and the figure is missing."""

SIMULATED_ROWS = (250, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""Not tuned, of the simulation: sizes that are tried."""


@dataclass(frozen=True)
class Setting:
    """A question.

    Attributes:
        dimension: number of coordinates.
        margin: of the halfspace that labels the rows, which have norm at most 1.
        epsilon: privacy parameter; the noisy fits are real ones.
        delta: see ``epsilon``.
        failure: probability that a theorem's bound may fail.
        repeats: simulated tables per figure.
    """

    dimension: int
    margin: float
    epsilon: float
    delta: float
    failure: float = 0.05
    repeats: int = 3

    def check(self) -> None:
        """Raises :class:`RequestError` for a question that makes no sense."""
        Request.of(self.epsilon, self.delta, "add_or_remove_one", None)
        if self.dimension < 1:
            raise RequestError(f"dimension must be at least 1, got {self.dimension}")
        for name, value in (("margin", self.margin), ("failure", self.failure)):
            if not 0 < value < 1:
                raise RequestError(f"{name} must lie in (0, 1), got {value}")
        if self.repeats < 1:
            raise RequestError(f"repeats must be at least 1, got {self.repeats}")


@dataclass(frozen=True)
class Expectation:
    """One figure.

    Attributes:
        rows: number of rows.
        error: share of wrong predictions on new rows; 1 where a theorem says nothing.
        source: whether it is a bound that a theorem proves, or what was seen on synthetic rows.
        basis: which theorem, or how many synthetic tables.
        spread: of simulations, the standard deviation over tables.
    """

    rows: int
    error: float
    source: Source
    basis: str
    spread: float | None = None


def made_rows(n: int, dimension: int, margin: float, seed: int) -> tuple[Floats, Ints]:
    """Rows on the unit sphere and 0/1 labels of a halfspace through the origin, all at distance ``margin`` or more.

    Distances are uniform between the margin and its double; otherwise rows are spherical. Made of a hash, so that they
    are the same everywhere; they protect nobody.
    """
    name = f"rows {n} {dimension} {seed}".encode()
    words = np.frombuffer(hashlib.shake_256(name).digest(4 * n * (dimension + 2)), "<u4")
    uniform = (words.reshape(n, dimension + 2) + 0.5) / 2.0**32
    rows = ndtri(uniform[:, :dimension])
    labels = (uniform[:, dimension] < 0.5).astype(np.int64)
    distance = margin + uniform[:, dimension + 1] * (min(1.0, 2 * margin) - margin)
    direction = ndtri((np.arange(dimension) + 0.5) / dimension) if dimension > 1 else np.ones(1)
    direction = direction / np.linalg.norm(direction)
    rows -= np.outer(rows @ direction, direction)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    rows *= np.sqrt(1 - distance**2)[:, None] if dimension > 1 else 0.0
    rows += np.outer((2 * labels - 1) * distance, direction)
    return rows, labels


def minority_rows(n: int, dimension: int, margin: float, seed: int) -> tuple[Floats, Ints]:
    """Rows of margin exactly ``margin``, of which a fifth lies beyond the centre: the hard case, 2 dimensions or more.

    ``y x = margin u + sqrt(1 - margin^2) w`` with ``-w`` for the fifth, in two fixed orthogonal directions. The average
    of ``y x`` errs on all of the fifth.
    """
    name = f"minority {n} {dimension} {seed}".encode()
    words = np.frombuffer(hashlib.shake_256(name).digest(8 * n), "<u4").reshape(n, 2)
    labels = (words[:, 0] >> 31).astype(np.int64)
    side = np.where(words[:, 1] < 0.2 * 2.0**32, -1.0, 1.0)
    even = np.arange(dimension) % 2 == 0
    u, w = even / math.sqrt(even.sum()), ~even / math.sqrt((~even).sum())
    towards = margin * u + math.sqrt(1 - margin**2) * side[:, None] * w
    return (2 * labels - 1)[:, None] * towards, labels


FAMILIES = {"spherical": made_rows, "a fifth beyond the centre": minority_rows}
"""Kinds of synthetic rows: an easy one and a hard one."""

ONE_CENTRE: dict[str, Any] = {"measure": "smooth", "rounds": 1, "scaling": False, "calibrate": False}


def simulated_error(
    setting: Setting, n: int, family: str = "spherical", one_centre: bool = False
) -> Expectation | None:
    """The mean error on synthetic tables of a family; None where they would be too large, or have too few dimensions.

    ``one_centre``: whether to learn one noisy centre in place of the learner's default settings.
    """
    if (n + TEST_ROWS) * setting.dimension > MOST_CELLS or (family != "spherical" and setting.dimension < 2):
        return None
    errors = []
    for repeat in range(setting.repeats):
        rows, labels = FAMILIES[family](n + TEST_ROWS, setting.dimension, setting.margin, repeat)
        how = ONE_CENTRE if one_centre else {}
        learner = HalfspaceBoostClassifier(
            setting.epsilon, setting.delta, row_norm=1.0, fit_intercept=False, classes=(0, 1), **how
        )
        learner.fit(rows[:n], labels[:n])
        errors.append(float((learner.predict(rows[n:]) != labels[n:]).mean()))
    basis = f"{setting.repeats} synthetic tables, {'one noisy centre' if one_centre else 'default settings'}, {family}"
    return Expectation(n, float(np.mean(errors)), "simulation", basis, float(np.std(errors)))


def needed(setting: Setting, accuracy: float) -> dict[str, SampleSize]:
    """Rows that Theorems 25 and 34 ask for, with constants."""
    allowance = Request.of(setting.epsilon, setting.delta, "add_or_remove_one", None).allowance
    if not allowance.is_private or allowance.is_pure:
        raise RequestError("the theorems are about Gaussian noise: give a finite epsilon and a positive delta")
    return {
        "Theorem 25 (margins)": sample_size(
            accuracy, setting.failure, setting.margin, allowance.sd(1.0), dimension=setting.dimension
        ),
        "Theorem 34 (privacy alone)": sample_size_by_privacy(
            accuracy, setting.failure, setting.margin, setting.epsilon, setting.delta
        ),
    }


def proved_error(setting: Setting, n: int) -> Expectation:
    """The least error below 1/2 that one of the theorems proves for ``n`` rows; 1 if none proves any."""

    def enough(accuracy: float) -> Iterator[str]:
        return (name for name, size in needed(setting, accuracy).items() if size.rows <= n)

    if next(enough(0.5), None) is None:
        return Expectation(n, 1.0, "theorem", "no theorem says anything for so few rows")
    low, high = 0.0, 0.5
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (low, middle) if next(enough(middle), None) else (middle, high)
    return Expectation(n, high, "theorem", f"{next(enough(high))}, with probability {1 - setting.failure:g}")


def expect_error(setting: Setting, n: int) -> list[Expectation]:
    """What error to expect of ``n`` rows: proved, and seen."""
    setting.check()
    if n < 1:
        raise RequestError(f"rows must be at least 1, got {n}")
    seen = [simulated_error(setting, n, family, one) for family in FAMILIES for one in (False, True)]
    return [proved_error(setting, n), *(figure for figure in seen if figure is not None)]


def expect_rows(setting: Setting, accuracy: float, report: Callable[[str], None] = lambda _: None) -> list[Expectation]:
    """How many rows an error takes: proved, and seen on synthetic tables of growing size; ``report`` is told which.

    Returns one figure per theorem, then every simulated size up to the first that reaches the error.
    """
    setting.check()
    if not 0 < accuracy < 1:
        raise RequestError(f"error must lie in (0, 1), got {accuracy}")
    figures = [
        Expectation(size.rows, accuracy, "theorem", f"{name}, with probability {1 - setting.failure:g}")
        for name, size in needed(setting, accuracy).items()
    ]
    for n in SIMULATED_ROWS:
        report(f"{n} rows")
        seen = simulated_error(setting, n)
        if seen is None:
            break
        figures.append(seen)
        if seen.error <= accuracy:
            break
    return figures
