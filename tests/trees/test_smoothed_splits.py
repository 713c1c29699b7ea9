"""What the benchmark of smoothed splits charges its other risk for, and that only what scores splits differs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from benchmarks.smoothed_splits import AddedRows, told
from tacit.theory.trees import node_risk_range


@pytest.mark.parametrize("added", [0.3, 4.0, 50.0])
def test_a_row_moves_the_risk_with_added_rows_by_at_most_its_range(added: float) -> None:
    """Class weights clipped as scores clip them, rows of weight 1, .5, .1: one way, up to the range, no tenth less."""
    rows = 30
    risk, cap = AddedRows(added, rows), node_risk_range(AddedRows(added, rows).bayes_risk, rows)
    counts = np.array(list(product(range(40), repeat=2)), float)

    def node(positives: np.ndarray, negatives: np.ndarray) -> np.ndarray:
        kept, others = np.minimum(positives, rows - 1), np.minimum(negatives, rows - 1)
        return risk.node_risk(kept, kept + others)

    before = node(*counts.T)
    moves = np.concatenate([node(counts[:, 0] + w, counts[:, 1]) - before for w in (0.1, 0.5, 1.0)])
    assert moves.min() >= -1e-9
    assert 0.9 * cap < moves.max() <= cap + 1e-9


def test_what_is_told_counts_domains_by_sign() -> None:
    errors = {"gini": [0.3, 0.2, 0.1], "smoothed": [0.2, 0.2, 0.3]}
    assert told(errors, ["gini", "smoothed"]) == {"gini": (0.2, 0, 3), "smoothed": (0.2333, 1, 1)}
