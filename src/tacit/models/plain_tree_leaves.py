"""What :mod:`tacit.models.tree_leaves` computes, in numpy, for machines without a compiler: slower, the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.arrays import Bytes, Codes, Floats, Ints


def thresholds(right: Bytes) -> Ints:
    """Per packed set the last code that it lacks, if it holds all above and no other (255 if none); else -2."""
    bits = np.unpackbits(right, axis=1, bitorder="little").astype(np.int64)
    codes = bits.shape[1]
    last = np.where(bits.all(axis=1), -1, codes - 1 - np.argmin(bits[:, ::-1], axis=1))
    return np.where(bits.sum(axis=1) == codes - 1 - last, last, -2)


def find_leaves(shape: Any, codes: Sequence[Bytes], leaves: Codes) -> None:
    """Writes the leaf of every row of a tree with splits: all rows go from split to split together."""
    own = np.stack([codes[column] for column in shape.used_columns])
    place = np.searchsorted(shape.used_columns, shape.columns)
    every, node = np.arange(len(leaves)), np.zeros(len(leaves), np.int64)
    while (inside := node >= 0).any():
        split = np.maximum(node, 0)
        code = own[place[split], every]
        right = shape.right[split, code >> 3] >> (code & 7) & 1
        node = np.where(inside, shape.children[split, right], node)
    leaves[:] = -1 - node


def add_values(leaves: Codes, values: Floats, out: Floats, start: int, stop: int) -> None:
    """``out += values[leaves]``."""
    out[start:stop] += values[leaves[start:stop]]
