"""Sets of points that enough hypotheses hold: every one once, in order, and how many sets were looked at."""

from itertools import combinations

import numpy as np
import pytest

from tacit.theory.closure.block_search import _blocks
from tacit.theory.closure.vc_search import words_of


@pytest.mark.parametrize("slice_", [1, 7, 1000])
@pytest.mark.parametrize("room", [1, 64])
def test_every_set_that_enough_hypotheses_hold_is_found_once(slice_: int, room: int) -> None:
    generator = np.random.default_rng(3)
    for n_points, size, need, share in ((6, 3, 2, 0.7), (5, 1, 3, 0.5), (5, 5, 1, 1.0), (7, 4, 1, 0.6), (4, 2, 9, 0.5)):
        table = (generator.random((70, n_points)) < share).astype(np.uint8)  # 70 rows are two words

        def held(points: tuple[int, ...], table: np.ndarray = table, need: int = need) -> bool:
            return int(table[:, list(points)].all(axis=1).sum()) >= need

        # a set is looked at if it can grow to full size and all but its last point were enough
        looked_at = [
            points
            for length in range(1, size + 1)
            for points in combinations(range(n_points), length)
            if held(points[:-1]) and points[-1] < n_points - (size - length)
        ]
        columns = words_of(np.ascontiguousarray(table.T))
        extents = np.zeros((size + 1, columns.shape[1]), np.uint64)
        extents[0] = words_of(np.ones((1, len(table)), np.uint8))[0]
        chosen, level, work, results = np.full(size, -1), 0, 0, []
        while level >= 0:
            out = np.zeros((room, size), np.int64)
            level, visited, written = _blocks(columns, extents, chosen, level, need, slice_, out)
            assert visited <= slice_
            results += [tuple(block) for block in out[:written].tolist()]
            work += visited
        assert level == -1
        assert results == [points for points in combinations(range(n_points), size) if held(points)]
        assert work == len(looked_at)
