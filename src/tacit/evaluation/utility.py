"""What one row says for a model: a few public levels between 0 and 1, so that one row counts no more than another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.encoding.frames import Frame
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import DROPPED, CategoryIndex
from tacit.evaluation.scored_rows import Scorer
from tacit.faces.request import RequestError

LEVELS = 64
"""Utilities are multiples of ``1 / LEVELS``."""

CLIP = 0.01
"""Probabilities below this one lose no more."""

CRITERIA = ("accuracy", "log_loss")


def check_criterion(criterion: object) -> str:
    """The criterion; raises :class:`RequestError` for an unknown one."""
    if criterion not in CRITERIA:
        raise RequestError(f"criterion must be 'accuracy' or 'log_loss', got {criterion!r}")
    return str(criterion)


def utilities(scorer: Scorer, frame: Frame, data: object, labels: object, criterion: str) -> npt.NDArray[np.int64]:
    """The level of every row, shape ``(rows,)``; 0 for rows whose label is no class. A row's depends on it alone.

    ``accuracy``: all or nothing. ``log_loss``: how much of the loss at probability :data:`CLIP` the row does not make,
    rounded down.
    """
    chances = scorer.probabilities(frame, data)
    codes = scorer.label_index.encode(labels).astype(np.int64)
    known = codes != DROPPED
    truth = np.where(known, codes, 0)
    if criterion == "accuracy":
        level = LEVELS * (chances.argmax(axis=1) == truth)
    else:
        chance = np.nan_to_num(np.take_along_axis(chances, truth[:, None], axis=1)[:, 0])
        level = np.floor(LEVELS * (1.0 - np.log(np.clip(chance, CLIP, 1.0)) / np.log(CLIP)) + 1e-9)
    out: npt.NDArray[np.int64] = np.where(known, level, 0).astype(np.int64)
    return out


def utility_encoding(names: tuple[str, ...]) -> TableEncoding:
    """Columns of levels: code ``k`` is level ``k``."""
    index = CategoryIndex(tuple(range(LEVELS + 1)))
    return TableEncoding(names, (index,) * len(names))


def utility_weights() -> npt.NDArray[np.int64]:
    """What each code of such a column is worth, in units of ``1 / LEVELS``; nothing for "other" and missing."""
    return np.concatenate([np.arange(LEVELS + 1), [0, 0]]).astype(np.int64)
