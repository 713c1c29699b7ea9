"""The benchmark of deep random trees that are cut back: the cut, and the search for populated nodes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.pruned_forest import CLEAR, cut_back, populated
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.models.tree import TreeShape, complete_shape, threshold_sets
from tacit.noise.seeded_source import SeededSource
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.trees.budget import SplitBudget

pytestmark = pytest.mark.slow  # of the benchmarks, which are not shipped

HEIGHT = 6


def random_tree(generator: np.random.Generator) -> TreeShape:
    splits = (1 << HEIGHT) - 1
    return complete_shape(generator.integers(0, 3, splits), threshold_sets(generator.integers(0, 9, splits)))


def test_a_tree_is_cut_where_its_paths_end_or_part_from_those_that_go_on() -> None:
    generator = np.random.default_rng(0)
    for _ in range(30):
        whole, ends = random_tree(generator), generator.integers(0, HEIGHT + 1, 1 << HEIGHT)
        shape, leaf = cut_back(whole, ends)
        codes = [generator.integers(0, 10, 300).astype(np.uint8) for _ in range(3)]
        assert np.array_equal(leaf[whole.find(codes)], shape.find(codes))
        for path, end in enumerate(ends):
            depth = int(shape.depths[leaf[path]])
            assert depth >= end
            sibling = path >> (HEIGHT - depth) ^ 1
            beside = ends[sibling << (HEIGHT - depth) : (sibling + 1) << (HEIGHT - depth)]
            assert depth == end or (ends >= depth)[leaf == leaf[path]].any() or (beside >= depth).any()
    assert cut_back(whole, np.zeros(1 << HEIGHT, np.int64))[0].n_leaves == 1


def test_without_noise_the_search_finds_the_deepest_populated_node_of_every_path() -> None:
    generator, paths = np.random.default_rng(1), np.arange(1 << HEIGHT)
    for rows in (0, 40, 400):
        whole = random_tree(generator)
        codes = [generator.integers(0, 10, rows).astype(np.uint8) for _ in range(3)]
        world = MemoryTable([c.copy() for c in codes], generator.integers(0, 2, rows).astype(np.uint8), [10] * 3, 2)
        pool = SplitBudget.of(math.inf, 0.0)
        reservation = Reservation([pool.whole], Neighbouring.ADD_OR_REMOVE_ONE, "test")
        result = populated(Curator(world, reservation, SeededSource(0)), pool, whole, 1.0, 1)
        reached = whole.find(codes)
        wanted = np.zeros(len(paths), np.int64)
        for depth in range(1, HEIGHT + 1):
            counts = np.bincount(reached >> (HEIGHT - depth), minlength=1 << depth)
            wanted = np.where(counts[paths >> (HEIGHT - depth)] >= CLEAR, depth, wanted)
        assert np.array_equal(result, wanted)
        assert len(reservation.entries) == 3
