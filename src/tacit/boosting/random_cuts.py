"""The cuts of a complete random tree, node by node: compiled, as deep trees have many."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(nogil=True, cache=True)
def cut_nodes(picks, places, upto, first, last, chosen, cuts):  # type: ignore[no-untyped-def]
    """Chooses column and threshold of every node of a complete tree, numbered level by level.

    Args:
        picks: per node, the columns that are tried in turn; the first that can still be cut there is, else the last.
        places: per node, where between the ends of its box the cut is, by mass, in [0, 1).
        upto: of all columns one after another, the mass before each place and all of it.
        first: where each column's part of ``upto`` begins.
        last: the last place of each column.
        chosen: receives the column of each node.
        cuts: receives its threshold, below the upper end of the node's box; that end where there is nothing to cut.
    """
    splits, columns = len(places), len(last)
    low = np.zeros((2 * splits + 1, columns), np.int64)
    high = np.zeros((2 * splits + 1, columns), np.int64)
    high[0] = last
    for node in range(splits):
        pick = picks[node, picks.shape[1] - 1]
        for k in range(picks.shape[1]):
            if high[node, picks[node, k]] > low[node, picks[node, k]]:
                pick = picks[node, k]
                break
        start, stop = low[node, pick], high[node, pick]
        cut = stop
        if start < stop:
            base = first[pick]
            below, above = upto[base + start], upto[base + stop + 1]
            wanted = below + places[node] * (above - below)
            a, b = 0, last[pick] + 2  # the first place at or above the wanted mass, by bisection
            while a < b:
                middle = (a + b) // 2
                if upto[base + middle] < wanted:
                    a = middle + 1
                else:
                    b = middle
            cut = min(max(a - 1, start), stop - 1)
        chosen[node], cuts[node] = pick, cut
        left, right = 2 * node + 1, 2 * node + 2
        low[left], high[left], low[right], high[right] = low[node], high[node], low[node], high[node]
        high[left, pick] = min(cut, stop)
        low[right, pick] = min(cut + 1, stop)
