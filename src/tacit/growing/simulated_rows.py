"""Simulated rows: drawn from released counts, column by column, and scored by the released model.

They tell how scores are spread over rows, which no release says, without asking about any row: post-processing. Columns
are drawn independently of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tacit.arrays import Bytes, Floats, Ints
from tacit.queries.cells import Cells, OneCell, ProductCells
from tacit.queries.tree_cells import TreeCells


class SimulatedRows:
    """Rows that follow the released distribution of every column, with their scores.

    Args:
        counts: released counts per bin, of every column of the table.
        n_scores: scores per row.
        generator: public randomness.
        rows: how many.
    """

    def __init__(self, counts: Sequence[Floats], n_scores: int, generator: np.random.Generator, rows: int) -> None:
        spread = (np.arange(rows) + 0.5) / rows  # one row in every such part of the mass, in random order
        self._codes = []
        for count in counts:
            upto = np.cumsum(count) / count.sum()
            codes = np.searchsorted(upto, generator.permutation(spread), side="right")
            self._codes.append(np.minimum(codes, len(count) - 1))
        self.scores: Floats = np.zeros((rows, n_scores))

    @cached_property
    def _bytes(self) -> list[Bytes]:
        return [codes.astype(np.uint8) for codes in self._codes]

    def add(self, cells: Cells, values: Floats) -> None:
        """Adds ``values[cell]`` to the scores of every row."""
        self.scores += values[self.places(cells)]

    def places(self, cells: Cells) -> Ints:
        """The cell of every row."""
        if isinstance(cells, OneCell):
            return np.zeros(len(self.scores), np.int64)
        if isinstance(cells, ProductCells):
            parts = [offsets[self._codes[column]] for column, offsets in zip(cells.columns, cells.offsets, strict=True)]
            return np.asarray(np.sum(parts, axis=0), np.int64)
        assert isinstance(cells, TreeCells)
        return cells.shape.find(self._bytes).astype(np.int64)

    def probabilities(self) -> Floats:
        """Softmax of the scores, shape ``(ROWS, n_scores)``."""
        powers = np.exp(self.scores - self.scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
