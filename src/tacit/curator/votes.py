"""What released models of two classes say of rows behind the gate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.curator.view_base import IntArray, Rows
from tacit.encoding.frames import Frame
from tacit.encoding.values import DROPPED
from tacit.models.base import Model


def said_by(models: Sequence[Model], frame: Frame) -> IntArray:
    """The side that each model puts each row on, shape ``(rows, models)``."""
    said = np.zeros((frame.n_rows, len(models)), np.int64)
    for j, model in enumerate(models):
        said[:, j] = model.predict_proba(frame)[:, 1] >= 0.5
    return said


def vote_margins(models: Sequence[Model], rows: Rows) -> tuple[IntArray, IntArray]:
    """The rows that no rule drops, by position, and their margins: how many more models are right than wrong."""
    kept = np.flatnonzero(rows.labels != DROPPED)
    signs = 2 * rows.labels[kept].astype(np.int64) - 1
    votes = 2 * said_by(models, rows.frame)[kept] - 1
    return kept, signs * votes.sum(axis=1, dtype=np.int64)
