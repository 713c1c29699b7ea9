"""TabPATE's idea as a peer (Wahdany and others 2026): teachers vote under noise on made rows, a student learns.

The rows are drawn column by column from noisy one-way marginals over public codes. Each of the disjoint parts of the
private rows has a teacher. Adding or removing a row changes one teacher, so every one of the counts of votes by at most
1: all counts together are one Gaussian release. The paper's teachers and student are a foundation model; here they are
forests, and the student sees the noisy shares of the votes, which say more than the label that has more of them. The
number of rows is public.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.data import Table
from benchmarks.synthetic import coded
from tacit.privacy.budget import Allowance

TEACHERS, PART = 200, 20
"""The number of teachers at most, and the rows of each at least."""

QUERIES = 2000
"""Made rows that the teachers label."""

MARGINALS = 0.1
"""The share of mu squared that pays for the marginals."""


def noises(columns: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Standard deviations of a count of a marginal, and of a count of votes; a row adds 1 to one count of a column."""
    mu = Allowance.of(epsilon, delta).mu
    return float(np.sqrt(columns / MARGINALS) / mu), float(np.sqrt(QUERIES / (1.0 - MARGINALS)) / mu)


def tabpate(train: Table, test: Table, epsilon: float, delta: float, seed: int) -> np.ndarray:
    """The student's log-odds of the test rows."""
    generator = np.random.default_rng(seed)
    (rows, sizes, _), others = coded(train), coded(test)[0]
    of_count, of_votes = noises(len(sizes), epsilon, delta)
    counts = [np.bincount(column, minlength=size) for column, size in zip(rows.T, sizes, strict=True)]
    queries = np.column_stack([_drawn(count, of_count, generator) for count in counts])
    teachers = max(min(TEACHERS, len(rows) // PART), 1)
    votes, parts = np.zeros(QUERIES), generator.integers(teachers, size=len(rows))
    for part in np.unique(parts):
        teacher = RandomForestClassifier(20, min_samples_leaf=2, random_state=seed)
        votes += teacher.fit(rows[parts == part], train.y[parts == part]).predict(queries)
    votes += generator.normal(0.0, of_votes, QUERIES)
    student = RandomForestRegressor(200, min_samples_leaf=20, random_state=seed).fit(queries, votes / teachers)
    shares = student.predict(others).clip(1e-6, 1 - 1e-6)
    return np.asarray(np.log(shares / (1.0 - shares)))


def _drawn(counts: np.ndarray, sd: float, generator: np.random.Generator) -> np.ndarray:
    """Codes of one column, by its noisy counts."""
    noisy = np.maximum(counts + generator.normal(0.0, sd, len(counts)), 0.0) + 1e-9
    return generator.choice(len(counts), QUERIES, p=noisy / noisy.sum())
