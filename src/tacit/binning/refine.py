"""Where a numeric column's rows lie: a histogram of uniform cells, then again inside the heavy ones, and once more.

A column with far outliers, or a long tail, has nearly all of its rows in a few of its cells; looking again where the
rows are gives it as many bins as any other column has.
"""

from __future__ import annotations

from functools import lru_cache

import numba as nb
import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.binning.tuning import BINNING, MANY_ROWS, REFINING, SMOOTHING, Binning, Smoothing


@lru_cache(maxsize=8)
def public_shapes(cells: int, numbers: Smoothing = SMOOTHING) -> Floats:
    """Densities of columns, ``(shapes, cells)``: flat, falling from either end (also with a spike at 0), bumps."""
    x = (np.arange(cells) + 0.5) / cells
    first = (np.arange(cells) == 0).astype(float)
    shapes = [np.ones(cells)]
    for rate in numbers.decay_rates:
        fall = np.exp(-rate * x)
        shapes += [fall, fall[::-1], 0.5 * fall / fall.sum() + 0.5 * first]
    shapes += [np.exp(-0.5 * ((x - c) / w) ** 2) + 1e-4 for c in numbers.bump_centres for w in numbers.bump_widths]
    table = np.array([shape / shape.sum() for shape in shapes])
    table.flags.writeable = False
    return table


def _outline(noisy: Floats, sd: float, total: Floats, numbers: Smoothing) -> Floats:
    """Posterior mean over the public shapes of the share per cell, given the noise; one histogram per line."""
    shapes = public_shapes(noisy.shape[1], numbers)
    fit = total[:, None] * (noisy @ shapes.T) - 0.5 * total[:, None] ** 2 * (shapes**2).sum(axis=1)
    weights = np.exp((fit - fit.max(axis=1, keepdims=True)) / sd**2)
    share: Floats = (weights / weights.sum(axis=1, keepdims=True)) @ shapes
    mixed: Floats = (1 - numbers.floor_share) * share + numbers.floor_share / noisy.shape[1]
    return mixed


LEAST_SIDE = 0.02
"""Not tuned, a guard: no side of a node holds less than this part of what shapes expect there, so later ones divide."""


@nb.njit(nogil=True, cache=True)
def _distribute(noisy, outline, codes, sd, total, mass, relative_spread):  # type: ignore[no-untyped-def]
    """Splits ``total`` top-down, line by line: sums of both trees first, each level behind the one below.

    Cells are copied one by one: assigning whole slices would take numba three seconds more to compile.
    """
    cells = noisy.shape[1]
    observed, shares, mass_of = np.empty(2 * cells), np.empty(2 * cells), np.empty(2 * cells)
    room = np.empty(2 * cells, np.int64)
    for line in range(len(noisy)):
        for cell in range(cells):  # the halves of node i are 2 i and 2 i + 1
            leaf = cells + cell
            observed[leaf], shares[leaf], room[leaf] = noisy[line, cell], outline[line, cell], codes[line, cell]
        for node in range(cells - 1, 0, -1):
            observed[node] = observed[2 * node] + observed[2 * node + 1]
            shares[node] = shares[2 * node] + shares[2 * node + 1]
            room[node] = room[2 * node] + room[2 * node + 1]
        mass_of[1], below, left_of_level = total[line], cells // 2, 1
        for node in range(1, cells):
            if node == 2 * left_of_level:
                left_of_level, below = node, below // 2
            here, child = mass_of[node], 2 * node
            expected = here * shares[child] / shares[node]
            measured = 0.5 * (observed[child] + here - observed[child + 1])
            prior_variance = (relative_spread * here) * (relative_spread * here)
            gain = prior_variance / (prior_variance + 0.5 * (sd * sd) * below + 1e-300)
            guess = expected + gain * (measured - expected)
            guess = min(max(guess, LEAST_SIDE * expected), here - LEAST_SIDE * (here - expected))
            if room[child + 1] == 0:
                guess = here
            elif room[child] == 0:
                guess = 0.0
            mass_of[child], mass_of[child + 1] = guess, here - guess
        for cell in range(cells):
            mass[line, cell] = mass_of[cells + cell]


def smooth_histograms(
    noisy: Floats, sd: float, total: Floats, numbers: Smoothing = SMOOTHING, codes: Ints | None = None
) -> Floats:
    """Non-negative masses that sum to ``total`` from noisy histograms, ``(histograms, cells)``.

    Top-down over the dyadic tree: a node's known mass is split by a Kalman step between the outline's split (prior
    spread ``relative_spread`` of the mass) and the noisy sums of the two halves. Cells are a power of two. ``codes``
    are public, of every cell: a cell of none has no mass. None for one each.
    """
    mass = np.empty(noisy.shape)
    outline = _outline(noisy, sd, total, numbers)
    codes = np.ones(noisy.shape, np.int64) if codes is None else codes
    _distribute(noisy, outline, codes, float(sd), np.asarray(total, np.float64), mass, numbers.relative_spread)
    return mass


class AdaptiveHistogram:
    """Groups of neighbouring atoms (from ``starts`` on), and the rows that each is believed to hold (``masses``).

    Atoms are equal parts of the range. A public encoding has at most as many codes, "missing" apart, and code ``k`` of
    ``m`` is on atom ``k atoms // m``; groups between them hold none. Heavy groups are split again.
    """

    def __init__(self, n_codes: int, tuning: Binning = BINNING) -> None:
        self.numbers, self._smoothing, self._values = tuning.refining, tuning.smoothing, n_codes - 1
        if self._values > self.numbers.atoms:
            raise ValueError(f"{self._values} codes need as many atoms, and there are {self.numbers.atoms}")
        self.starts: Ints = np.arange(self.numbers.base_cells) * (self.numbers.atoms // self.numbers.base_cells)
        self.masses: Floats = np.zeros(self.numbers.base_cells)
        self._parts: Ints = np.zeros(0, np.int64)

    @property
    def widths(self) -> Ints:
        """Atoms in every group."""
        return np.diff(np.append(self.starts, self.numbers.atoms))

    def _codes_in(self, starts: Ints) -> Ints:
        """How many codes there are from each of some atoms up to the next one."""
        below = -(-starts * self._values // self.numbers.atoms)
        return np.diff(np.append(below, self._values))

    def first_cells(self) -> Ints:
        """Code -> uniform cell, "missing" last: what the first look counts."""
        return _runs(np.arange(len(self.starts)), self._codes_in(self.starts), self.numbers.base_cells)

    def first(self, counts: Floats, sd: float, total: float) -> None:
        """Takes in the first look: noisy counts of the uniform cells, without "missing"."""
        codes = self._codes_in(self.starts)
        self.masses = smooth_histograms(counts[None, :], sd, np.array([total]), self._smoothing, codes[None, :])[0]

    def plan_second(self, sd: float, total: float) -> bool:
        """Chooses how to split heavy cells for a look with noise of ``sd``; False if there is none to split."""
        masses, sizes = self.masses, [self.numbers.sub_cells, *self.numbers.fewer_sub_cells]
        by_share = np.select(
            [masses <= 4 * sd, masses > total / 8, masses > total / 16, masses > total / 48], [0, *sizes], 0
        )
        # in little noise even light cells are worth it: spikes may stand side by side
        clearness = masses / (self.numbers.clear_part * sd)
        by_noise = np.select([clearness >= size for size in sizes], sizes, 0)
        self._parts = np.maximum(by_share, by_noise) if total <= MANY_ROWS else by_share  # there it takes too long
        return bool(self._parts.any())

    def plan_third(self, sd: float, total: float) -> bool:
        """The same for the parts that the second look found to be heavy."""
        heavy = (self.masses > max(4 * sd, self.numbers.heavy_leaf * total)) & (self.widths > 1)
        self._parts = np.where(heavy, np.minimum(self.widths, self.numbers.last_cells), 0)
        return bool(heavy.any())

    def cells(self) -> Ints:
        """Code -> part of a heavy group, numbered from 0; all other codes share the last number."""
        starts, group, place = self._split()
        parts, others = self._parts, self._parts.sum()
        numbers = np.where(parts[group] > 0, (np.cumsum(parts) - parts)[group] + place, others)
        return _runs(numbers, self._codes_in(starts), others)

    def again(self, counts: Floats, sd: float) -> None:
        """Takes in noisy counts of the parts that were planned."""
        starts, group, _ = self._split()
        parts, masses, codes = self._parts, self.masses[group], self._codes_in(starts)
        first = np.cumsum(parts) - parts
        for size in np.unique(parts[parts > 0]):
            split, own = np.flatnonzero(parts == size), parts[group] == size
            noisy = counts[first[split][:, None] + np.arange(size)]
            smoothed = smooth_histograms(noisy, sd, self.masses[split], self._smoothing, codes[own].reshape(-1, size))
            masses[own] = smoothed.ravel()
        self.starts, self.masses = starts, masses

    def _split(self) -> tuple[Ints, Ints, Ints]:
        """Of the pieces that groups are split into: the first atom, the group, and the place there."""
        copies = np.maximum(self._parts, 1)
        group, place = _places(copies)
        return self.starts[group] + place * (self.widths // copies)[group], group, place

    def by_codes(self) -> tuple[Floats, Ints]:
        """Rows, and number of codes, of every group that has any."""
        codes = self._codes_in(self.starts)
        return self.masses[codes > 0], codes[codes > 0]


def _runs(values: Ints, lengths: Ints, missing: int) -> Ints:
    """Each value as often as its length says, and one more at the end: made at once, as codes are many."""
    return np.repeat(np.append(values, missing), np.append(lengths, 1))


def cut(masses: Floats, widths: Ints, n_bins: int, rows_per_bin: float, mass_mix: float = REFINING.mass_mix) -> Ints:
    """Neighbouring groups in bins of equal ``.75 mass + .25 sqrt(mass x width)``: the bin of each, without gaps.

    A group worth more than a bin stands alone and takes no more than one: where nine rows of ten hold a 0, all bins but
    one are for the tenth. Bins that lone groups do not take go to the others as far as these have ``rows_per_bin`` rows
    for each. ``widths`` are codes in every group, ``mass_mix`` is the weight of the mass.
    """
    spread = np.sqrt(masses * widths)
    measure = mass_mix * masses / masses.sum() + (1 - mass_mix) * spread / spread.sum()
    alone = _lone(measure, n_bins, masses >= rows_per_bin)
    share = max(float(measure[~alone].sum()), 1e-300)
    remaining = min(n_bins - alone.sum(), max(masses[~alone].sum() / rows_per_bin, share * n_bins))
    units = np.where(alone, 1.0, measure * remaining / share)
    bins, next_bin = np.zeros(len(masses), np.int64), 0
    ends = [*(np.flatnonzero(alone[1:] | alone[:-1]) + 1).tolist(), len(masses)]
    for first, end in zip([0, *ends], ends, strict=False):
        if alone[first]:
            bins[first], next_bin = next_bin, next_bin + 1
            continue
        own = units[first:end]
        upto = np.cumsum(own)
        size = round(float(upto[-1])) or int(masses[first:end].sum() >= rows_per_bin)
        if size:
            bins[first:end] = next_bin + np.minimum(((upto - own / 2) * size / upto[-1]).astype(np.int64), size - 1)
            next_bin += size
        else:  # next to nothing between spikes belongs to the one before
            bins[first:end] = max(next_bin - 1, 0)
    return np.cumsum(np.append(0, np.diff(bins) > 0)).astype(np.int64)  # a run before the first spike may hold none


def in_pieces(masses: Floats, widths: Ints, pieces: int) -> tuple[Floats, Ints]:
    """Splits heavy groups evenly, so that none of several codes holds more than one of ``pieces`` parts of the rows."""
    copies = np.clip(np.ceil(masses * (pieces / masses.sum())).astype(np.int64), 1, widths)
    group, place = _places(copies)
    whole, split = widths[group], copies[group]
    codes = (place + 1) * whole // split - place * whole // split
    return masses[group] * codes / whole, codes


def _places(copies: Ints) -> tuple[Ints, Ints]:
    """Of pieces, so many of each group: the group, and the place there."""
    group = np.repeat(np.arange(len(copies)), copies)
    return group, np.arange(len(group)) - np.repeat(np.cumsum(copies) - copies, copies)


def _lone(measure: Floats, n_bins: int, clear: Bools) -> Bools:
    """Groups, among those ``clear``, worth more than a bin even where others share the bins that these leave over."""
    alone = np.zeros(len(measure), bool)
    while (remaining := n_bins - int(alone.sum())) > 1:
        heavy = clear & ~alone & (measure * remaining > measure[~alone].sum())
        if not heavy.any():
            break
        alone |= heavy
    return alone
