"""Tables and curators for the tests of boosting: exact answers, or noise that repeats."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.boosting.game import capped_scaling
from tacit.curator.curator import Curator
from tacit.encoding.dense import RowClipper
from tacit.engines.blocks import MemoryTable
from tacit.engines.dense import DenseRows
from tacit.noise import make_source
from tacit.privacy.charges import Charge, NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.dense.halfspace_log import RADIUS_16


def curator_over(
    rows: np.ndarray,
    labels: np.ndarray,
    charges: tuple[Charge, ...] = (NonPrivate(),),
    neighbouring: Neighbouring = Neighbouring.ADD_OR_REMOVE_ONE,
    seed: int = 0,
) -> tuple[Curator, Reservation]:
    """A curator over real rows in the unit ball with 0/1 labels."""
    dense = DenseRows(RowClipper(1.0, RADIUS_16).clip(rows), RADIUS_16, rows.shape[1])
    table = MemoryTable([], labels.astype(np.uint8), (), 2, threads=1, dense=dense)
    reservation = Reservation(charges, neighbouring)
    return Curator(table, reservation, make_source(seed)), reservation


def margin_rows(
    n: int, dimension: int, margin: float, seed: int, spread: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows on the unit sphere with ``|u . x| >= margin``, their 0/1 labels, and ``u``.

    ``spread`` makes coordinates unequal: coordinate ``j`` has scale ``j**(-spread / 2)``.
    """
    rng = np.random.default_rng(seed)
    unit = rng.normal(size=dimension)
    unit /= np.linalg.norm(unit)
    rows = rng.normal(size=(n, dimension)) * np.arange(1, dimension + 1) ** (-spread / 2)
    rows -= np.outer(rows @ unit, unit)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = rng.integers(0, 2, n)
    distance = rng.uniform(margin, min(1.0, 2 * margin), n)
    rows = rows * np.sqrt(1 - distance[:, None] ** 2) + np.outer((2 * labels - 1) * distance, unit)
    return rows, labels, unit


def minority_rows(n: int, dimension: int, margin: float, minority: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``x`` and signs ``y`` with ``y x = margin u +- sqrt(1 - margin^2) w``; minus for the minority."""
    rng = np.random.default_rng(seed)
    u, w = np.linalg.qr(rng.normal(size=(dimension, 2)))[0].T
    signs = rng.choice([-1, 1], n)
    side = np.where(rng.random(n) < minority, -1.0, 1.0)
    return signs[:, None] * (margin * u + (np.sqrt(1 - margin**2) * side)[:, None] * w), signs


def project(measure: Floats, total: float) -> Floats:
    """The Bregman projection onto measures of size ``total`` or more (Lemma 9): ``min(1, c m)`` with the least ``c``.

    The measure is positive and at most 1, shape ``(n,)`` as the result; the size is at most n.
    """
    return measure if measure.sum() >= total else capped_scaling(np.log(measure), total)


def lazy_measures(losses: Floats, density: float, learning_rate: float) -> Floats:
    """The measures of Algorithm 3 in real numbers, of density kappa, before each of ``T + 1`` rounds.

    Losses are in [0, 1], shape ``(T, n)``; ``learning_rate`` is lambda.
    """
    n = losses.shape[1]
    summed = np.vstack([np.zeros(n), np.cumsum(losses, axis=0)])
    return np.array([capped_scaling(-learning_rate * past, density * n) for past in summed])


def bregman_measures(losses: Floats, density: float, learning_rate: float) -> Floats:
    """The measures of BregBoost (Barak, Hardt, Kale 2009): each projection starts the next update. Not private."""
    n = losses.shape[1]
    measures = [np.full(n, density)]
    for loss in losses:
        measures.append(project(measures[-1] * np.exp(-learning_rate * loss), density * n))
    return np.array(measures)
