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

from tacit.additive.term import AVERAGING_LOSS
from tacit.additive.tuning import CLIPPING, Clipping
from tacit.arrays import Floats, Ints
from tacit.curator.budget import Budget
from tacit.curator.joint_clipping import JointReleases
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Gaussian, Laplace
from tacit.queries.cells import Cells
from tacit.queries.histogram import ReleaseMap
from tacit.queries.joint_bound import JointBound, JointPart
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import RowRule
from tacit.queries.score_rules import ScoreRule


class Bounded(Protocol):
    """A term over which rows can be bounded together."""

    name: str
    cells: Cells
    counts: Floats
    release_map: ReleaseMap | None

    @property
    def map_values(self) -> Floats:
        """The release map as numbers, shape ``(outputs, bins)``."""

    def expect(self, weight: Floats, coming: float) -> None:
        """Says what releases will be like; see :meth:`tacit.additive.term.Term.expect`."""


def bounds_jointly(allowance: Allowance, signal: float, numbers: Clipping = CLIPPING) -> bool:
    """Whether rows are to be bounded together: where noise matters."""
    return allowance.is_private and signal <= numbers.joint_below


@dataclass(frozen=True, eq=False)
class Lengths:
    """What is expected of rows, from released bins alone."""

    limit: float  # on a row's squared length, on the average of its parts; under Laplace noise on its L1 length
    seen: list[Floats]  # per part and bin, the weight that is expected of its rows

    @staticmethod
    def of(maps: Sequence[Floats], places: Sequence[Ints], shares: Floats, tightness: float, laplace: bool) -> Lengths:
        """Looks at simulated rows.

        Release maps have shape ``(outputs, bins)`` each; ``places`` are the bins of simulated rows for each of them,
        and ``shares``, which sum to 1, those in the precision of all. Under Laplace noise lengths are L1 norms.
        """
        lengths = np.zeros(len(places[0]))
        for matrix, place, share in zip(maps, places, shares, strict=True):
            lengths += share * (np.abs(matrix) if laplace else matrix**2).sum(axis=0)[place]
        limit = max(tightness * float(lengths.mean()), 1e-6)
        weights = np.minimum(1.0, limit / np.maximum(lengths, 1e-12)) ** (1.0 if laplace else 0.5)
        return Lengths(limit, [_means(place, weights, m.shape[1]) for place, m in zip(places, maps, strict=True)])


def _means(places: Ints, weights: Floats, bins: int) -> Floats:
    """The mean weight in every bin, drawn to the mean of all where few rows fall."""
    counts, few = np.bincount(places, minlength=bins), 3.0
    sums = np.bincount(places, weights=weights, minlength=bins)
    return np.asarray((sums + few * weights.mean()) / (counts + few))


class JointSweeps:
    """The releases of sweeps over terms, which are opened for some sweeps at a time.

    Args:
        unit: budget of a release of a term, on the average of the terms.
        longest: the length of the rule's longest vector.
        terms: with release maps.
        stage: of the fit, for the ledger.
        numbers: how tightly rows are bounded.
    """

    def __init__(
        self, unit: Budget, longest: float, terms: Sequence[Bounded], stage: str = "", numbers: Clipping = CLIPPING
    ) -> None:
        self._unit, self._longest, self._terms, self._stage, self._numbers = unit, longest, terms, stage, numbers
        generator, masses = unit.public_generator, [np.maximum(term.counts, 0.0) for term in terms]
        self._places = [generator.choice(len(mass), numbers.simulated_rows, p=mass / mass.sum()) for mass in masses]
        self._lengths, self._opened = self._lengths_of(np.ones(len(terms))), 0
        self._releases: JointReleases | None = None

    @property
    def precision(self) -> float:
        """Of the noise in one release of a term that spends a unit, with rows bounded as they were last."""
        longest = self._lengths.limit ** (2 if self._unit.is_pure else 1)  # squared already where noise is Gaussian
        variance = self._unit.sd(1.0, self._longest) ** 2 * longest
        return 1.0 / max(float(variance), LEAST_SD**2)

    def open(self, sweeps: int, remaining: int, shares: Floats | None = None) -> None:
        """Pays for the next sweeps over all terms, and tells the terms what to expect of the releases of all sweeps.

        Args:
            sweeps: how many.
            remaining: how many are still to come with these.
            shares: what a release of each term may spend, in units; at most 1 on the average. They may follow from
                what was released. None for a unit each, as the first sweeps have.
        """
        if shares is None:
            shares = np.ones(len(self._terms))  # which lengths are of to begin with
        else:
            self._lengths = self._lengths_of(shares)
        unit, parts = self._unit, []
        for share, term, seen in zip(shares.tolist(), self._terms, self._lengths.seen, strict=True):
            charge = unit.charge(share)
            assert isinstance(charge, Gaussian | Laplace)
            assert term.release_map is not None
            parts.append(JointPart(term.name, term.cells, term.release_map, charge))
            term.expect(seen, AVERAGING_LOSS / (remaining * share * self.precision))
        limit = self._lengths.limit * parts[0].release_map.unit ** (1 if unit.is_pure else 2)
        bound = JointBound(tuple(parts), max(math.floor(limit), 1))
        self._releases = unit.open_jointly(bound, sweeps, self._stage, self._opened)
        self._opened += sweeps

    def measure(self, term: int, rule: RowRule | ScoreRule, state: Margins | Scores) -> Measurement:
        """The next release of a term; see :meth:`tacit.curator.joint_clipping.JointReleases.measure`."""
        assert self._releases is not None
        return self._releases.measure(term, rule, state)

    def _lengths_of(self, shares: Floats) -> Lengths:
        maps = [term.map_values for term in self._terms]
        return Lengths.of(maps, self._places, shares / shares.sum(), self._numbers.tightness, self._unit.is_pure)
