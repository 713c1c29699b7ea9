"""Where a numeric column's rows lie: a histogram of uniform cells, then again inside the heavy ones, and once more.

A column with far outliers, or a long tail, has nearly all of its rows in a few of its cells; looking again where the
rows are gives it as many bins as any other column has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.binning.density import smooth_histograms
from tacit.binning.tuning import BINNING, MANY_ROWS, REFINING, Binning


@dataclass(frozen=True, eq=False)
class Atoms:
    """A column's public codes on the atoms of its range; missing comes last.

    An encoding with fewer codes than atoms leaves some atoms empty; ``reachable`` says which are not.
    """

    of_code: Ints
    reachable: Bools

    @staticmethod
    @lru_cache(maxsize=4)
    def of(n_codes: int, atoms: int = REFINING.atoms) -> Atoms:
        """The atoms of an encoding with ``n_codes`` codes, "missing" among them."""
        atom = np.arange(n_codes - 1) * atoms // (n_codes - 1)
        reachable = np.zeros(atoms, bool)
        reachable[atom] = True
        return Atoms(np.append(atom, atoms), reachable)


class AdaptiveHistogram:
    """Groups of neighbouring atoms, and the rows that each is believed to hold; heavy groups are split again.

    Attributes:
        starts: first atom of every group, shape ``(groups,)``, increasing from 0.
        masses: rows in every group, shape ``(groups,)``.
    """

    def __init__(self, tuning: Binning = BINNING) -> None:
        self.numbers, self._smoothing = tuning.refining, tuning.smoothing
        self.starts: Ints = np.arange(self.numbers.base_cells) * (self.numbers.atoms // self.numbers.base_cells)
        self.masses: Floats = np.zeros(self.numbers.base_cells)
        self._parts: Ints = np.zeros(0, np.int64)

    @property
    def widths(self) -> Ints:
        """Atoms in every group."""
        return np.diff(np.append(self.starts, self.numbers.atoms))

    @property
    def group_of_atom(self) -> Ints:
        """The group of every atom, shape ``(atoms,)``."""
        return np.repeat(np.arange(len(self.starts)), self.widths)

    def first_cells(self, atoms: Atoms) -> Ints:
        """Code -> uniform cell, "missing" last: what the first look counts."""
        return np.append(self.group_of_atom, self.numbers.base_cells)[atoms.of_code]

    def first(self, counts: Floats, sd: float, total: float) -> None:
        """Takes in the first look: noisy counts of the uniform cells, without "missing"."""
        self.masses = smooth_histograms(counts[None, :], sd, np.array([total]), self._smoothing)[0]

    def plan_second(self, sd: float, total: float) -> bool:
        """Chooses how to split heavy cells for a look with noise of ``sd``; False if there is none to split."""
        masses, sizes = self.masses, [self.numbers.sub_cells, *self.numbers.fewer_sub_cells]
        by_share = np.select(
            [masses <= 4 * sd, masses > total / 8, masses > total / 16, masses > total / 48],
            [0, *sizes],
            0,
        )
        # in little noise even light cells are worth it: spikes may stand side by side
        seen = masses / (self.numbers.clear_part * sd)
        by_noise = np.select([seen >= size for size in sizes], sizes, 0)
        self._parts = np.maximum(by_share, by_noise) if total <= MANY_ROWS else by_share  # there it takes too long
        return bool(self._parts.any())

    def plan_third(self, sd: float, total: float) -> bool:
        """The same for the parts that the second look found to be heavy."""
        heavy = (self.masses > max(4 * sd, self.numbers.heavy_leaf * total)) & (self.widths > 1)
        self._parts = np.where(heavy, np.minimum(self.widths, self.numbers.last_cells), 0)
        return bool(heavy.any())

    def cells(self, atoms: Atoms) -> Ints:
        """Code -> part of a heavy group, numbered from 0; all other codes share the last number."""
        parts, widths = self._parts, self.widths
        first, others = np.cumsum(parts) - parts, parts.sum()
        cell = np.full(self.numbers.atoms + 1, others)
        for group in np.flatnonzero(parts):
            inside = slice(self.starts[group], self.starts[group] + widths[group])
            cell[inside] = first[group] + np.arange(widths[group]) * parts[group] // widths[group]
        return cell[atoms.of_code]

    def again(self, counts: Floats, sd: float) -> None:
        """Takes in noisy counts of the parts that were planned."""
        parts, widths = self._parts, self.widths
        first, copies = np.cumsum(parts) - parts, np.maximum(parts, 1)
        group = np.repeat(np.arange(len(parts)), copies)
        place = np.arange(len(group)) - np.repeat(np.cumsum(copies) - copies, copies)
        masses = self.masses[group]
        for size in np.unique(parts[parts > 0]):
            split = np.flatnonzero(parts == size)
            found = smooth_histograms(
                counts[first[split][:, None] + np.arange(size)], sd, self.masses[split], self._smoothing
            )
            masses[np.isin(group, split)] = found.ravel()
        self.starts = self.starts[group] + place * (widths[group] // copies[group])
        self.masses = masses

    def bins(self, wanted: int, rows_per_bin: float) -> Ints:
        """The bin of every atom, non-decreasing from 0, without gaps; see :func:`cut`."""
        return cut(self.masses, self.widths, wanted, rows_per_bin, self.numbers.mass_mix)[self.group_of_atom]


def cut(masses: Floats, widths: Ints, wanted: int, rows_per_bin: float, mass_mix: float = REFINING.mass_mix) -> Ints:
    """Neighbouring groups in bins of equal ``.75 mass + .25 sqrt(mass x width)``; shape of ``masses``.

    A group worth more than a bin stands alone and takes no more than one: where nine rows of ten hold a 0, all bins
    but one are for the tenth.

    Args:
        masses: rows in every group.
        widths: atoms in every group.
        wanted: how many bins, roughly.
        rows_per_bin: bins that lone groups do not take go to the others as far as these have so many rows for each.
        mass_mix: the weight of the mass, beside that of ``sqrt(mass x width)``.
    """
    spread = np.sqrt(masses * widths)
    measure = mass_mix * masses / masses.sum() + (1 - mass_mix) * spread / spread.sum()
    alone = _lone(measure, wanted, masses >= rows_per_bin)
    share = max(float(measure[~alone].sum()), 1e-300)
    left = min(wanted - alone.sum(), max(masses[~alone].sum() / rows_per_bin, share * wanted))
    units = np.where(alone, 1.0, measure * left / share)
    bins, known = np.zeros(len(masses), np.int64), 0
    for run in np.split(np.arange(len(masses)), np.flatnonzero(alone[1:] | alone[:-1]) + 1):
        upto = np.cumsum(units[run])
        size = round(float(upto[-1])) or int(masses[run].sum() >= rows_per_bin)
        if size:
            bins[run] = known + np.minimum(((upto - units[run] / 2) * size / upto[-1]).astype(np.int64), size - 1)
            known += size
        else:  # next to nothing between spikes belongs to the one before
            bins[run] = max(known - 1, 0)
    return np.unique(bins, return_inverse=True)[1].astype(np.int64)


def _lone(measure: Floats, wanted: int, seen: Bools) -> Bools:
    """Groups, among those ``seen``, worth more than a bin even where others share the bins that these leave over."""
    alone = np.zeros(len(measure), bool)
    while (left := wanted - int(alone.sum())) > 1:
        heavy = seen & ~alone & (measure * left > measure[~alone].sum())
        if not heavy.any():
            break
        alone |= heavy
    return alone
