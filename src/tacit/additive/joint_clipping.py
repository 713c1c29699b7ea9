"""Sweeps that bound what a row contributes to all columns together: noise need not allow for rows extreme in each one.

Release maps are centred: what all rows have in common is left to the intercept, and rows in a bin that most rows share,
as in a column of rare diagnoses, contribute next to nothing. A row's squared length over all terms is therefore mostly
far below the number of terms, and so is the limit that the noise follows from. In Laplace noise lengths are L1 norms,
and the largest bin of an unordered column is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tacit.additive.tuning import CLIPPING, Clipping
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.joint_clipping import JointReleases
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian, Laplace
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap
from tacit.queries.joint_bound import JointBound, JointPart


class Bounded(Protocol):
    """A term over which rows can be bounded together."""

    name: str
    cells: Cells
    counts: Floats
    release_map: ReleaseMap | None

    @property
    def map_values(self) -> Floats:
        """The release map as numbers, shape ``(outputs, bins)``."""

    def expect(self, seen: Floats, noise: float) -> None:
        """Says what releases will be like; see :meth:`tacit.additive.term.Term.expect`."""


def bounds_jointly(allowance: Allowance, signal: float, numbers: Clipping = CLIPPING) -> bool:
    """Whether rows are to be bounded together: where noise matters.

    Args:
        allowance: of the fit.
        signal: ``q``, as for the plan.
        numbers: for up to which signal.
    """
    return allowance.is_private and signal <= numbers.joint_below


@dataclass(frozen=True, eq=False)
class Lengths:
    """What is expected of rows, from released bins alone.

    Attributes:
        limit: on a row's squared length, on the average of its parts; under Laplace noise on its L1 length.
        seen: per part and bin, the weight that is expected of its rows.
    """

    limit: float
    seen: list[Floats]

    @staticmethod
    def of(
        maps: Sequence[Floats],
        masses: Sequence[Floats],
        generator: np.random.Generator,
        numbers: Clipping = CLIPPING,
        laplace: bool = False,
    ) -> Lengths:
        """Looks at simulated rows.

        Args:
            maps: release maps, each ``(outputs, bins)``.
            masses: shares of the bins of each.
            generator: public randomness.
            numbers: of the tuning.
            laplace: whether noise is, and lengths are L1 norms.
        """
        count = numbers.simulated_rows
        places, lengths = [], np.zeros(count)
        for matrix, mass in zip(maps, masses, strict=True):
            place = generator.choice(len(mass), count, p=mass)
            places.append(place)
            lengths += 1.0 / len(maps) * (np.abs(matrix) if laplace else matrix**2).sum(axis=0)[place]
        limit = max(numbers.tightness * float(lengths.mean()), 1e-6)
        weights = np.minimum(1.0, limit / np.maximum(lengths, 1e-12)) ** (1.0 if laplace else 0.5)
        seen = [_means(place, weights, len(mass)) for place, mass in zip(places, masses, strict=True)]
        return Lengths(limit, seen)


def _means(places: Ints, weights: Floats, bins: int) -> Floats:
    """The mean weight in every bin, drawn to the mean of all where few rows fall."""
    counts, few = np.bincount(places, minlength=bins), 3.0
    sums = np.bincount(places, weights=weights, minlength=bins)
    return np.asarray((sums + few * weights.mean()) / (counts + few))


def open_sweeps(
    unit: Budget, sweeps: int, terms: Sequence[Bounded], stage: str = "", numbers: Clipping = CLIPPING
) -> JointReleases:
    """Opens the releases of all sweeps over the terms, and tells the terms what to expect of them.

    Args:
        unit: budget of a release of a term.
        sweeps: how many.
        terms: with release maps.
        stage: of the fit, for the ledger.
        numbers: how tightly.
    """
    power = 1 if unit.is_pure else 2  # of a map's unit in a length
    maps = [term.map_values for term in terms]
    masses = [np.maximum(term.counts, 0.0) / np.maximum(term.counts, 0.0).sum() for term in terms]
    lengths = Lengths.of(maps, masses, unit.public_generator, numbers, unit.is_pure)
    parts = []
    for term, seen in zip(terms, lengths.seen, strict=True):
        charge = unit.charge()
        assert isinstance(charge, Gaussian | Laplace)
        assert term.release_map is not None
        parts.append(JointPart(term.name, term.cells, term.release_map, charge))
        term.expect(seen, lengths.limit ** (2.0 / power))
    limit = max(math.floor(lengths.limit * parts[0].release_map.unit ** power), 1)
    return unit.open_jointly(JointBound(tuple(parts), limit), sweeps, stage)
