"""Synthetic tables that the planning rule is fitted on: many shapes of truth, sizes and widths, none from real data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from tacit.arrays import Floats
from tacit.schema import Schema

Truth = Callable[[Floats, np.random.Generator], Floats]

TEST_ROWS = 8000


@dataclass(frozen=True)
class Setting:
    """One table and one budget.

    Attributes:
        truth: a key of :data:`TRUTHS`.
        rows, columns, epsilon: sizes and budget.
        seed: of truth and rows.
        factors: how many common factors the columns hang on, each column with half or more of its variance; 0 for one
            factor that they depend on a little.
        rare: whether every column is a flag that .5 to 10 % of the rows have.
        heavy: whether columns have far outliers, long tails or many zeros, as counts and amounts have.
    """

    truth: str
    rows: int
    columns: int
    epsilon: float
    seed: int
    factors: int = 0
    rare: bool = False
    heavy: bool = False


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows to learn from, rows to test on with their true probabilities, and the public schema."""

    X: pd.DataFrame
    y: npt.NDArray[np.int64]
    X_test: pd.DataFrame
    y_test: npt.NDArray[np.int64]
    chances: Floats
    schema: Schema


def _curve(x: Floats, generator: np.random.Generator) -> Floats:
    """A random curve on [0, 1]: a line, a wave, a hinge or a step."""
    kind, place = generator.integers(0, 4), generator.uniform(0.2, 0.8)
    if kind == 0:
        return x - 0.5
    if kind == 1:
        return np.sin(2 * math.pi * (generator.uniform(0.5, 1.5) * x + place))
    if kind == 2:
        return np.maximum(x - place, 0.0)
    return np.where(x > place, 0.5, -0.5)


def _standard(score: Floats) -> Floats:
    spread = float(score.std())
    return (score - score.mean()) / spread if spread > 0 else score


def linear(u: Floats, generator: np.random.Generator) -> Floats:
    """A random direction."""
    return np.asarray(u @ generator.normal(size=u.shape[1]))


def additive(u: Floats, generator: np.random.Generator) -> Floats:
    """A random curve of every column, of random sizes."""
    sizes = generator.exponential(size=u.shape[1])
    return np.sum([size * _standard(_curve(u[:, j], generator)) for j, size in enumerate(sizes)], axis=0)


def sparse(u: Floats, generator: np.random.Generator) -> Floats:
    """Curves of a tenth of the columns; the others say nothing."""
    chosen = generator.permutation(u.shape[1])[: max(2, u.shape[1] // 10)]
    return np.sum([_standard(_curve(u[:, j], generator)) for j in chosen], axis=0)


def pairs(u: Floats, generator: np.random.Generator) -> Floats:
    """An additive part and products of pairs of the columns, of the same variance."""
    score = _standard(additive(u, generator))
    products = np.zeros(len(u))
    for _ in range(max(2, u.shape[1] // 3)):
        a, b = generator.choice(u.shape[1], 2, replace=False)
        products += generator.normal() * (u[:, a] - 0.5) * (u[:, b] - 0.5)
    return score + _standard(products)


def trees(u: Floats, generator: np.random.Generator) -> Floats:
    """A sum of 30 random trees of depth 4 over few columns: interactions of up to four."""
    strong = generator.permutation(u.shape[1])[: max(4, u.shape[1] // 4)]
    score = np.zeros(len(u))
    for _ in range(30):
        leaf = np.zeros(len(u), dtype=np.int64)
        for level in range(4):
            columns = generator.choice(strong, 1 << level)[leaf]
            leaf = 2 * leaf + (u[np.arange(len(u)), columns] > generator.uniform(0.15, 0.85, 1 << level)[leaf])
        score += generator.normal(size=16)[leaf]
    return score


def distance(u: Floats, generator: np.random.Generator) -> Floats:
    """A smooth bump around a few centres: nothing additive."""
    near = u[:, : min(u.shape[1], 5)]
    centres = generator.uniform(0.2, 0.8, (3, near.shape[1]))
    return np.sum([-np.sqrt(((near - centre) ** 2).sum(axis=1)) for centre in centres], axis=0) + 0.3 * _standard(
        linear(u, generator)
    )


def network(u: Floats, generator: np.random.Generator) -> Floats:
    """Twelve smooth ridges in random directions: every column interacts with every other, a little."""
    hidden = 12
    weights = generator.normal(size=(u.shape[1], hidden)) * generator.exponential(size=(u.shape[1], 1))
    weights *= 2.0 / np.sqrt((weights**2).sum(axis=0))
    ridges = np.tanh(math.sqrt(12) * (u - 0.5) @ weights + generator.normal(size=hidden))
    return np.asarray(ridges @ generator.normal(size=hidden))


def forest(u: Floats, generator: np.random.Generator) -> Floats:
    """A sum of 20 random trees of depth 5 over all columns, some of which are used more than others."""
    use = generator.exponential(size=u.shape[1])
    score = np.zeros(len(u))
    for _ in range(20):
        leaf = np.zeros(len(u), dtype=np.int64)
        for level in range(5):
            columns = generator.choice(u.shape[1], 1 << level, p=use / use.sum())[leaf]
            leaf = 2 * leaf + (u[np.arange(len(u)), columns] > generator.uniform(0.15, 0.85, 1 << level)[leaf])
        score += generator.normal(size=32)[leaf]
    return score


TRUTHS: dict[str, Truth] = {
    "linear": linear,
    "additive": additive,
    "sparse": sparse,
    "pairs": pairs,
    "trees": trees,
    "distance": distance,
    "network": network,
    "forest": forest,
}
PLAIN = ("linear", "additive", "sparse", "pairs", "trees", "distance")
DENSE = ("linear", "additive", "pairs", "network", "forest", "distance")
FLAGS = ("linear", "pairs", "sparse")
"""The truths of the families."""

IMBALANCED = -4.6
"""Log-odds around which one table in six lies: about 1 to 3 % positives."""


def _tied(setting: Setting, generator: np.random.Generator, rows: int) -> Floats:
    """Normal columns that hang on common factors."""
    width = setting.columns
    if not setting.factors:
        common = generator.normal(size=(rows, 1))
        tie = generator.uniform(0.0, 0.6, width)
    else:
        weights = generator.normal(size=(setting.factors, width)) * generator.exponential(size=(setting.factors, 1))
        common = generator.normal(size=(rows, setting.factors)) @ (weights / np.sqrt((weights**2).sum(axis=0)))
        tie = np.sqrt(generator.uniform(0.5, 0.98, width))
    return np.asarray(tie * common + np.sqrt(1 - tie**2) * generator.normal(size=(rows, width)))


def _amount(normal: Floats, generator: np.random.Generator) -> Floats:
    """A number with a long tail, many zeros or some outliers, in the order of ``normal``."""
    kind, spread = generator.integers(0, 4), generator.uniform(0.5, 2.0)
    if kind == 0:
        return np.exp(spread * normal)
    if kind == 1:  # a count, mostly small
        return np.floor(generator.uniform(0.3, 5.0) * np.exp(spread * normal))
    if kind == 2:  # nothing, or some amount
        zeros = generator.uniform(0.3, 0.95)
        least = float(np.quantile(normal, zeros))
        return np.where(normal > least, np.exp(spread * (normal - least)), 0.0)
    far = generator.random(len(normal)) < 0.002
    return np.where(far, normal * generator.uniform(10.0, 100.0), normal)


def draw(setting: Setting) -> Drawn:
    """Draws a table.

    A third of the columns are skewed, some are rounded, some are cut into categories, unless all are rare flags; all
    depend on common factors.
    Declared bounds are wider than what occurs.
    """
    generator = np.random.default_rng(setting.seed)
    rows, width = setting.rows + TEST_ROWS, setting.columns
    normal = _tied(setting, generator, rows)
    uniform = np.argsort(np.argsort(normal, axis=0), axis=0) / rows
    if setting.rare:
        uniform = (uniform > 1 - np.exp(generator.uniform(math.log(0.005), math.log(0.1), width))).astype(np.float64)
    strength = generator.choice([1.0, 2.0, 4.0])
    base = IMBALANCED if generator.random() < 1 / 6 else generator.normal(0.0, 0.7)
    chances = expit(base + strength * _standard(TRUTHS[setting.truth](uniform, generator)))
    y = (generator.random(rows) < chances).astype(np.int64)
    X, columns = {}, {}
    categorical = generator.uniform(0.0, 0.6)
    for j in range(width):
        name, shape = f"x{j}", generator.integers(0, 3)
        if setting.rare or generator.random() < categorical:
            levels = 2 if setting.rare else int(generator.integers(2, 12))
            codes = generator.permutation(levels)[np.minimum(uniform[:, j] * levels, levels - 1).astype(np.int64)]
            X[name] = codes.astype(str)
            columns[name] = {"kind": "categorical", "categories": [str(level) for level in range(levels)]}
            continue
        if setting.heavy:
            values = _amount(normal[:, j], generator)
        else:
            values = np.exp(normal[:, j]) if shape == 0 else normal[:, j] if shape == 1 else uniform[:, j]
        X[name] = np.round(values, 1) if generator.random() < 0.3 else values
        low, high = float(values.min()), float(values.max())
        columns[name] = {"kind": "numeric", "lower": low - 0.2 * (high - low), "upper": high + 0.2 * (high - low)}
    schema = Schema.from_dict(
        {"label": {"column": "y", "kind": "classes", "classes": [0, 1], "positive": 1}, "columns": columns}
    )
    frame, cut = pd.DataFrame(X), setting.rows
    test = frame.iloc[cut:].reset_index(drop=True)
    return Drawn(frame.iloc[:cut], y[:cut], test, y[cut:], chances[cut:], schema)


def _log_uniform(generator: np.random.Generator, low: float, high: float) -> float:
    """A number between two positive ones, uniform in its logarithm."""
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def _sizes(
    generator: np.random.Generator,
    rows: tuple[float, float],
    columns: tuple[float, float],
    epsilon: tuple[float, float],
) -> tuple[int, int, float]:
    """Rows, columns and epsilon between these bounds."""
    return (
        round(_log_uniform(generator, *rows)),
        round(_log_uniform(generator, *columns)),
        round(_log_uniform(generator, *epsilon), 3),
    )


def family(size: int, seed: int = 0, most_rows: int = 100_000) -> list[Setting]:
    """Settings: plain truths in turn, rows from 500 to ``most_rows``, columns from 4 to 100, epsilon from .05 to 16."""
    generator, out = np.random.default_rng(seed), []
    for number in range(size):
        rows = round(_log_uniform(generator, 500, most_rows))
        columns = round(_log_uniform(generator, 4, 100 if rows < 30_000 else 30))
        epsilon = round(_log_uniform(generator, 0.05, 16.0), 3)
        out.append(Setting(PLAIN[number % len(PLAIN)], rows, columns, epsilon, seed=1000 * seed + number * 7))
    return out


def flag_family(size: int, seed: int = 0, most_rows: int = 100_000) -> list[Setting]:
    """Settings of rare flags, 10 to 200 of them; the rest as :func:`dense_family` has it."""
    generator, out = np.random.default_rng(seed), []
    for number in range(size):
        rows, columns, epsilon = _sizes(generator, (1000, most_rows), (10, 200), (0.1, 8.0))
        truth = FLAGS[number % len(FLAGS)]
        out.append(Setting(truth, rows, columns, epsilon, 1000 * seed + number * 7, rare=True))
    return out


def heavy_family(size: int, seed: int = 0, most_rows: int = 100_000) -> list[Setting]:
    """Settings of amounts and counts, 4 to 60 columns that hang together a little; the rest as in :func:`family`."""
    generator, out = np.random.default_rng(seed), []
    for number in range(size):
        rows, columns, epsilon = _sizes(generator, (500, most_rows), (4, 60), (0.05, 4.0))
        truth, factors = PLAIN[number % len(PLAIN)], int(generator.integers(0, 3))
        out.append(Setting(truth, rows, columns, epsilon, 1000 * seed + number * 7, factors, heavy=True))
    return out


def dense_family(size: int, seed: int = 0, most_rows: int = 100_000) -> list[Setting]:
    """Settings where columns hang together and much interacts: 4 to 40 columns, the rest as :func:`family` has it."""
    return _tied_family(size, seed, (1000, most_rows), (4, 40), (0.1, 16.0))


def large_family(size: int, seed: int = 0, most_rows: int = 1_000_000) -> list[Setting]:
    """Settings of very many rows: 100,000 at least, 5 to 40 columns; the rest as :func:`dense_family` has it."""
    return _tied_family(size, seed, (100_000, most_rows), (5, 40), (0.5, 8.0))


def _tied_family(
    size: int, seed: int, rows: tuple[float, float], columns: tuple[float, float], epsilon: tuple[float, float]
) -> list[Setting]:
    """Settings of the dense truths in turn, sizes between these bounds, columns that hang on one to four factors."""
    generator, out = np.random.default_rng(seed), []
    for number in range(size):
        sizes = _sizes(generator, rows, columns, epsilon)
        truth, factors = DENSE[number % len(DENSE)], int(generator.integers(1, 5))
        out.append(Setting(truth, *sizes, 1000 * seed + number * 7, factors))
    return out
