"""Sums that are bounded together: many histograms to which no row adds much in all.

A row has one place in every column. A histogram of each column, one after the other, is usually charged as if the row
could be far out in all of them at once; no row is. Here every row is weighed down until what it adds to *all* the sums
stays below one public limit, and the noise follows from the limit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.arrays import Ints, added
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells, OneCell, ProductCells
from tacit.queries.histogram import Histogram, ReleaseMap, ScoreHistogram
from tacit.queries.query import Sensitivity, squarable
from tacit.queries.rules import N_LEVELS, OCTAVES, STEPS
from tacit.queries.score_rules import ResidualRule

FINE = 16  # parts of a squared integer unit in which lengths are added up
SLIGHTLY = 1e-12  # by this part of themselves floating-point factors are moved to the safe side


@dataclass(frozen=True, eq=False)
class JointPart:
    """One of the sums, with the charge of one release; columns of its map may have any length."""

    name: str
    cells: Cells
    release_map: ReleaseMap
    charge: Gaussian | Laplace

    def __post_init__(self) -> None:
        if not isinstance(self.charge, Gaussian | Laplace):
            raise TypeError(f"noise must be Gaussian or Laplace to follow lengths, got {type(self.charge).__name__}")
        if not isinstance(self.cells, ProductCells | OneCell):
            raise TypeError(f"parts are made of columns, got {type(self.cells).__name__}: other cells may change")
        self.release_map.check(self.cells)

    @property
    def precision(self) -> float:
        """What adds up over releases: the inverse squared multiplier of Gaussian noise, epsilon of Laplace noise."""
        return self.charge.precision if isinstance(self.charge, Gaussian) else self.charge.epsilon


@dataclass(frozen=True, eq=False)
class JointBound:
    """Parts, and how long a row may be in all of them together.

    A row with place ``k_j`` in part ``j`` has the squared length ``sum_j f_j ||A_j[:, k_j]||**2``, ``f_j`` the share of
    part ``j`` in the precision of all, ``A_j`` its map; under Laplace noise the length ``sum_j f_j ||A_j[:, k_j]||_1``.
    A row longer than the limit weighs less, by a factor that depends on its places alone: never on its label, its
    margin or another row.

    Guarantee (both relations; ``docs/theory/joint_bound.md``): release every part ``r`` times, in any order,
    adaptively, each as ``sum of weight * rule * A_j[:, k_j]`` with Gaussian noise of ``z_j W sqrt(limit)``, ``W`` the
    longest vector of the rule and ``1 / z_j**2`` the precision of the part's charge. For a row that is added or
    removed, the squared shifts over the noise add up to at most ``r * sum_j 1 / z_j**2``, as if each release had paid
    its charge alone; for one that is replaced, with twice the noise, too. Gaussian releases whose squared shifts have
    such a public bound compose to one (Dong, Roth and Su 2022, Theorem 4 and Corollary 2, pair by pair).

    Laplace noise has the scale ``z_j W limit``, ``W`` the largest L1 norm of the rule and ``1 / z_j`` the epsilon of
    the part's charge. The epsilons of all releases then add up to at most ``r * sum_j 1 / z_j``, row by row.
    """

    parts: tuple[JointPart, ...]  # the sums, all with noise of one kind
    # the largest squared length, in squared units of the maps; the largest length, in their units, if Laplace
    limit: int

    def __post_init__(self) -> None:
        if not self.parts or self.limit < 1:
            raise ValueError("sums that are bounded together need a part and a limit of at least 1")
        if len({part.release_map.unit for part in self.parts}) > 1:
            raise ValueError("the release maps must have one unit")
        if len({type(part.charge) for part in self.parts}) > 1:
            raise TypeError("parts that are bounded together have noise of one kind")
        images = max(int(self._norms(part).max(initial=0)) for part in self.parts)
        if max(images, self.limit << self._power * OCTAVES) * FINE >= 1 << 62:
            raise ValueError(
                "the limit or an image is too long for lengths of 64 bits: take a smaller unit of the maps"
            )

    @property
    def is_laplace(self) -> bool:
        """Whether lengths are L1 norms, not squared L2 norms."""
        return isinstance(self.parts[0].charge, Laplace)

    @property
    def _power(self) -> int:
        """Of a row's weight, in its length."""
        return 1 if self.is_laplace else 2

    def _norms(self, part: JointPart) -> Ints:
        """L1 norms of a part's images, or squared L2 norms."""
        matrix = squarable(part.release_map.matrix)
        return np.asarray((np.abs(matrix) if self.is_laplace else matrix**2).sum(axis=0))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that a row's length follows from: two bounds together bound nothing."""
        digest = hashlib.sha256(str(self.limit).encode())
        for part, costs in zip(self.parts, self.costs, strict=True):
            matrix, cells = part.release_map.matrix, part.cells
            digest.update(f"{part.charge} {matrix.shape} {part.release_map.unit} {cells.size}".encode())
            digest.update(np.ascontiguousarray(matrix, np.int64).tobytes() + costs.tobytes())
            if isinstance(cells, ProductCells):
                digest.update(f"{cells.columns} {cells.sizes}".encode())
                digest.update(b"".join(np.ascontiguousarray(each, np.int64).tobytes() for each in cells.maps))
        return digest.hexdigest()

    @cached_property
    def costs(self) -> tuple[Ints, ...]:
        """Per part and cell: what a row there adds to its length, in 1 / :data:`FINE`, rounded up."""
        total = added(part.precision for part in self.parts)
        costs = []
        for part in self.parts:
            share = part.precision / total * (1 + SLIGHTLY)
            costs.append(np.ceil(self._norms(part).astype(np.float64) * (share * FINE)).astype(np.int64))
        return tuple(costs)

    @cached_property
    def lengths(self) -> Ints:
        """The largest length, in 1 / :data:`FINE`, of a row that is weighed down by 0, 1, ... levels.

        The weight of level ``k`` from the top is ``2**(-k / STEPS)``; a row longer than the last has weight 0.
        """
        steps = np.arange(N_LEVELS - 1)
        return np.floor(self.limit * FINE * 2.0 ** (self._power * steps / STEPS) * (1 - SLIGHTLY)).astype(np.int64)

    def levels(self, lengths: Ints) -> Ints:
        """The level of weight (see ``queries.row_weights.level_weights``) of rows of these lengths."""
        return (N_LEVELS - 1) - np.searchsorted(self.lengths, lengths, side="left")


@dataclass(frozen=True, eq=False)
class JointHistogram:
    """One release of one part, by a rule or weights for labels ``class * N_LEVELS + level`` (``queries.row_weights``).

    It has no sensitivity of its own: a row may be far out in this part alone.
    """

    histogram: Histogram | ScoreHistogram
    bound: JointBound

    def __post_init__(self) -> None:
        rule = self.histogram.rule
        if isinstance(rule, ResidualRule) and rule.weighted_first:
            raise ValueError("rows that are bounded together are weighed down last, behind the clip of a residual")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.histogram.shape

    @property
    def unit(self) -> int:
        return self.histogram.unit

    def joint_sensitivity(self, neighbouring: Neighbouring) -> Sensitivity:
        """What noise is measured by: the longest vector of the rule times the root of the limit.

        It says how far a row moves *all* releases together, each in its own noise, so it stands only for as many
        releases of every part as are recorded at once: :meth:`tacit.curator.curator.Curator.open_jointly` sees to that.
        """
        return joint_sensitivity(self.bound, self.histogram.longest, neighbouring)


def joint_sensitivity(bound: JointBound, longest: tuple[int, int], neighbouring: Neighbouring) -> Sensitivity:
    """See :meth:`JointHistogram.joint_sensitivity`."""
    composed = (
        "the epsilons of Laplace noise add up, row by row: Dwork and Roth 2014"
        if bound.is_laplace
        else "Gaussian composition, row by row: Dong, Roth, Su 2022"
    )
    theorem = f"weighted histograms of {len(bound.parts)} parts, rows bounded together over all of them ({composed})"
    l1, l2_squared = longest
    if bound.is_laplace:
        l1 *= bound.limit
        l2_squared = l1**2
    else:
        l2_squared *= bound.limit
        l1 = l2_squared  # an integer vector is no longer in L1 than its square in L2
    if neighbouring is Neighbouring.ADD_OR_REMOVE_ONE:
        return Sensitivity(l1, l2_squared, theorem)
    return Sensitivity((2 if bound.is_laplace else 4) * l1, 4 * l2_squared, f"{theorem}; replace = remove + add")
