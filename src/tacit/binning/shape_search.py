"""Where a column's rows lie, where noise is large: which of many public shapes it has.

A histogram measures every cell alike; where the noise of a cell exceeds what it may hold, it is of no use.
What separates shapes are a few broad contrasts: the principal modes of the family under what is believed of it so
far, released together as one vector of norm at most 1 per row. A first release finds the outline, a second one asks
what is still in doubt. Beliefs follow from releases alone.

Limits: a column that has none of the shapes gets the nearest one: gaps, and spikes away from the ends, are smoothed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.release_map import principal_modes, with_missing
from tacit.binning.tuning import SEARCHING, Searching
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.queries.cells import mapped_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import RowRule


@lru_cache(maxsize=2)
def _family(numbers: Searching = SEARCHING) -> tuple[Floats, Floats]:
    """Log prior weights and densities on the leaves: flat, bells, falls from either end, with and without spikes."""
    leaves = numbers.leaves
    x = (np.arange(leaves) + 0.5) / leaves
    first = (np.arange(leaves) == 0).astype(float)
    # closer together where narrow: one of them must overlap any column of that width
    bells = [
        [np.exp(-0.5 * ((x - c) / w) ** 2) for c in np.arange(0, 1 + 1e-4, numbers.bell_step * w)]
        for w in numbers.widths
    ]
    falls = [np.exp(-rate * x) for rate in numbers.rates]
    humps = [x * fall for fall in falls]
    falling, bell = numbers.falls_prior, numbers.bells_prior / len(bells)
    kinds = [(numbers.even_prior, [np.ones(leaves)]), *((bell, some) for some in bells), *_both_ways(falling, humps)]
    for spike in numbers.spikes:
        kinds += _both_ways(falling, [(1 - spike) * fall / fall.sum() + spike * first for fall in falls])
    shapes = [line / line.sum() for _, members in kinds for line in members]
    logs = [np.log(weight / len(members)) for weight, members in kinds for _ in members]
    table = numbers.shape_weight * np.array(shapes) + numbers.even_weight / leaves
    table.flags.writeable = False
    return np.array(logs), table


def _both_ways(weight: float, members: list[Floats]) -> list[tuple[float, list[Floats]]]:
    return [(weight / 2, members), (weight / 2, [line[::-1] for line in members])]


@lru_cache(maxsize=2)
def _group_of_leaf(leaves: int) -> Ints:
    """Leaves in groups that are narrow at either end, where skewed columns have their rows, and wide between."""
    near = np.concatenate([[0], 2 ** np.arange(6)])
    edges = np.unique(np.concatenate([near, np.arange(64, leaves - 63, 64), leaves - near[1:], [leaves]]))
    return np.searchsorted(edges, np.arange(leaves), side="right") - 1


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The family on the codes of one encoding: codes in every part, the group of every code, and shares of the rows."""

    widths: Ints
    group: Ints
    by_part: Floats
    by_group: Floats


# one fit has windows of six sizes (32,768 codes, then 2048 or 1536, then 128, 96 or 72), other encodings of others
@lru_cache(maxsize=8)
def _drawn(n_values: int, numbers: Searching) -> _Drawn:
    starts, widths = np.unique(np.arange(n_values) * numbers.leaves // n_values, return_counts=True)
    by_part = np.add.reduceat(_family(numbers)[1], starts, axis=1)
    group_of_part = np.unique(_group_of_leaf(numbers.leaves)[starts], return_inverse=True)[1].astype(np.int64)
    first = np.searchsorted(group_of_part, np.arange(group_of_part[-1] + 1))
    return _Drawn(widths, np.repeat(group_of_part, widths), by_part, np.add.reduceat(by_part, first, axis=1))


def _contrasts(sample: _Drawn, weights: Floats, numbers: Searching, noise_to_signal: float) -> Floats:
    """The contrasts that separate the shapes of the family best, under these posterior weights."""
    shapes = sample.by_group
    mean = np.maximum(weights @ shapes, numbers.least_mass)
    away = (shapes - weights @ shapes) / mean
    covariance = (away * weights[:, None]).T @ away
    return with_missing(principal_modes(mean / mean.sum(), covariance, noise_to_signal))


@lru_cache(maxsize=8)  # columns of one table are asked the same at first
def _first_contrasts(n_values: int, numbers: Searching, noise_to_signal: float) -> Floats:
    contrasts = _contrasts(_drawn(n_values, numbers), _normalised(_family(numbers)[0]), numbers, noise_to_signal)
    contrasts.flags.writeable = False
    return contrasts


class ShapeSearch:
    """Beliefs about where the rows of one numeric column lie, and what to ask next.

    ``n_codes`` are those of its public encoding, in order, and then "missing"; ``rows`` is their released number;
    ``window`` the first code, and the one behind the last, of the codes to look at: all others count as missing.
    """

    def __init__(
        self,
        column: int,
        n_codes: int,
        rows: float,
        window: tuple[int, int] | None = None,
        numbers: Searching = SEARCHING,
    ) -> None:
        self._column, self._rows, self._n_codes, self._numbers = column, rows, n_codes, numbers
        self.window = window or (0, n_codes - 1)
        self._drawn = _drawn(self.window[1] - self.window[0], numbers)
        self._prior = _family(numbers)[0]
        self._evidence = np.zeros(len(self._prior))
        self._asked: list[ReleaseMap] = []
        self._missing, self._precision = 0.0, 0.0

    def query(self, rule: RowRule, sd: float, pure: bool) -> Histogram:
        """The next query: contrasts between shapes that are still likely, under noise of ``sd`` in an output.

        If ``pure``, noise follows the L1 norm of a row's image; that is at most 1 then, else its L2 norm.
        """
        noise, numbers = (sd / self._rows) ** 2, self._numbers
        if not self._asked:
            contrasts = _first_contrasts(self.window[1] - self.window[0], numbers, noise)
        else:
            contrasts = _contrasts(self._drawn, self._weights, numbers, noise)
        if pure:
            contrasts = contrasts / np.maximum(np.abs(contrasts).sum(axis=0), 1.0)
        self._asked.append(ReleaseMap.from_floats(contrasts))
        group = self._drawn.group
        cells = np.full(self._n_codes, group[-1] + 1)
        cells[self.window[0] : self.window[1]] = group
        return Histogram(mapped_cells(self._column, cells), rule, release_map=self._asked[-1])

    def observe(self, release: Measurement) -> None:
        """Takes in the answer to the last :meth:`query`."""
        contrasts, sd = self._asked[-1], max(release.sd, LEAST_SD)
        self._missing += float(release.value[-1, 0]) / sd**2
        self._precision += 1.0 / sd**2
        expected = self._drawn.by_group @ (contrasts.matrix[:-1, :-1] / contrasts.unit).T
        rows = self._rows - self.missing
        variance = sd**2 + (self._numbers.misfit * rows) ** 2
        self._evidence -= 0.5 * ((release.value[:-1, 0] - rows * expected) ** 2).sum(axis=1) / variance

    @property
    def widths(self) -> Ints:
        """Codes in every part of the window."""
        return self._drawn.widths

    @property
    def masses(self) -> Floats:
        """Rows that each part of the window is believed to hold, and then those outside it or missing."""
        return np.append((self._rows - self.missing) * (self._weights @ self._drawn.by_part), self.missing)

    @property
    def narrow(self) -> tuple[int, int] | None:
        """A window for another search, if nearly all rows are believed to lie in a small part of this one.

        A spike is none: it has no inside.
        """
        (first, stop), numbers, count = self.window, self._numbers, self._numbers.narrow_parts
        if stop - first < 2 * count:
            return None
        shares = self._weights @ self._drawn.by_part
        starts = np.cumsum(self.widths) - self.widths
        by_part = np.bincount(starts * count // (stop - first), weights=shares, minlength=count)
        two = by_part[:-1] + by_part[1:]  # two neighbouring parts together
        best = int(two.argmax())
        if two[best] < numbers.nearly_all or (shares / self.widths).max() > numbers.spike:
            return None
        from_part, upto_part = max(best - 1, 0), min(best + 3, count)
        return first - (-from_part * (stop - first) // count), first - (-upto_part * (stop - first) // count)

    @property
    def missing(self) -> float:
        """Rows believed to have no value: what was released of them, beyond half its noise."""
        if not self._precision:
            return 0.0
        mean = self._missing / self._precision - 0.5 / math.sqrt(self._precision)
        return min(max(mean, 0.0), self._numbers.most_missing * self._rows)

    @property
    def _weights(self) -> Floats:
        return _normalised(self._prior + self._evidence)


def _normalised(logs: Floats) -> Floats:
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
