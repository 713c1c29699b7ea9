"""Voters and rows for views that draw rows by what voters say of them."""

from __future__ import annotations

import numpy as np

from tacit.curator.views.view import Rows
from tacit.encoding.frames import Frame
from tacit.encoding.values import DROPPED
from tacit.models.base import ClassModel


class Voter(ClassModel):
    """Says the positive class where a column is positive."""

    kind = "voter"

    def __init__(self, name: str) -> None:
        self.name = name
        self.classes = (0, 1)

    def predict_proba(self, frame: Frame) -> np.ndarray:
        positive = np.asarray(frame.column(self.name)) > 0
        return np.column_stack([~positive, positive]).astype(float)


def random_rows(rng: np.random.Generator, n: int, n_voters: int) -> Rows:
    frame = Frame({f"v{j}": rng.choice([-1.0, 1.0], n) for j in range(n_voters)}, n)
    return Rows(frame, rng.choice(np.array([0, 1, DROPPED], np.uint8), n, p=[0.45, 0.45, 0.1]))


def changed(rows: Rows, place: int, rng: np.random.Generator) -> Rows:
    """The same rows with another one in one place."""
    columns = {name: np.array(rows.frame.column(name)) for name in rows.frame.names}
    for values in columns.values():
        values[place] = rng.choice([-1.0, 1.0])
    labels = rows.labels.copy()
    labels[place] = rng.choice(np.array([0, 1, DROPPED], np.uint8))
    return Rows(Frame(columns, rows.frame.n_rows), labels)
