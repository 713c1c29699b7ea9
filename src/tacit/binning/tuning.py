"""All numbers by which bins are tuned: accuracy depends on them, and no promise does.

To vary a number, replace it::

    replace(Binning(), searching=replace(Searching(), histogram_from=20.0))
"""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_ROWS = 30.0
"""A fit goes by at least so many rows, however few were released."""

MANY_ROWS = 80_000
"""Beyond this many rows noise hardly matters any more, and time does: splits are chosen where noise lets choices see,
additive trees have six levels at most and end where nothing is left to learn, sweeps end where effects have converged,
and nobody looks inside light cells."""


@dataclass(frozen=True)
class Smoothing:
    """How noisy histograms are smoothed (:mod:`tacit.binning.refine`)."""

    # Public shapes: rates at which densities fall over the range, and centres and widths of bumps relative to it.
    decay_rates: tuple[float, ...] = (4.0, 12.0, 40.0, 120.0, 400.0, 1200.0)
    bump_centres: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
    bump_widths: tuple[float, ...] = (0.02, 0.06, 0.15)

    # Mass kept uniform, so that no cell is thought impossible.
    floor_share: float = 0.03

    # Prior standard deviation of a node's left share, relative to the node's mass.
    relative_spread: float = 0.35


@dataclass(frozen=True)
class Refining:
    """How heavy cells of a histogram are split again (:mod:`tacit.binning.refine`)."""

    # Uniform cells of the first look, and the most parts of a cell at the second and third.
    base_cells: int = 64
    sub_cells: int = 64
    last_cells: int = 16

    # Parts of a cell of over a 16th of the rows, and of one of less: not so heavy that spikes in it are worth finding.
    fewer_sub_cells: tuple[int, ...] = (16, 8)

    # A cell of any mass is split into parts that would hold so many standard deviations of the noise each, were they
    # alike: a few spikes hold many times that.
    clear_part: float = 0.5

    # A part of the second look with more than this share of the rows is looked at once more.
    heavy_leaf: float = 1 / 24

    # Bins have equal parts of mass and of the root of mass times width; this is the weight of the mass.
    mass_mix: float = 0.75

    @property
    def atoms(self) -> int:
        """The finest parts of a column's range; a public encoding need not have more codes."""
        return self.base_cells * self.sub_cells * self.last_cells


@dataclass(frozen=True)
class Searching:
    """How the shape of a column is searched for (:mod:`tacit.binning.shape_search`)."""

    # Rows to the noise of a count, below which a histogram is the worse question.
    histogram_from: float = 40.0

    # Parts of a column's range that shapes are drawn on.
    leaves: int = 4096

    # No column has one of the shapes exactly: a contrast may be off by this share of the rows.
    misfit: float = 0.05

    # Two neighbouring ones of so many parts with this share of the rows are worth a search of their own, unless a
    # single code has that much.
    narrow_parts: int = 64
    nearly_all: float = 0.7
    spike: float = 0.4

    # No group of leaves is believed to be emptier than this.
    least_mass: float = 1e-5

    # The family: standard deviations of bells and rates of falls, relative to the range, and parts of the rows that
    # may lie in a spike at its end.
    widths: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    rates: tuple[float, ...] = tuple(2.0**power for power in range(1, 14))
    spikes: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9)


@dataclass(frozen=True)
class Measuring:
    """What looking at columns may cost, and how many bins they get (:mod:`tacit.binning.measure`)."""

    # Shares of a column's binning budget for the coarse histogram and for splitting its heavy cells.
    looks: tuple[float, ...] = (0.6, 0.4)

    # What each further look costs beyond the binning budget, relative to it; and how many looks there can be.
    later_look: float = 0.3
    most_looks: int = 6

    # The number of rows is in doubt below the first many standard deviations; a second release takes at most the
    # second of the allowance.
    sure_of_rows: float = 10.0
    largest_rows_share: float = 0.08

    # Bins of a column: at most, at most where rows are very many, and at least.
    most_bins: int = 48
    most_bins_of_many: int = 64
    least_bins: int = 6
    least_bins_of_shapes: int = 12


@dataclass(frozen=True)
class Releasing:
    """In which directions sums of a column are released (:mod:`tacit.binning.release_map`)."""

    # Directions whose water-filled weight is below this share of the first one's are not released.
    kept: float = 0.02

    # Length of an image beyond which it is shortened, where rows are bounded together; 1 is the root mean square.
    longest: float = 2.5

    # In Laplace noise: its variance where rows are bounded together, relative to rows that are bounded alone, by which
    # directions are counted; and that of bins relative to that of a direction, which are longer on the average.
    bounded_noise: float = 0.25
    noise_of_bins: float = 1.44


@dataclass(frozen=True)
class Binning:
    """All numbers behind the bins of the additive learners."""

    measuring: Measuring = Measuring()
    refining: Refining = Refining()
    searching: Searching = Searching()
    smoothing: Smoothing = Smoothing()


@dataclass(frozen=True)
class TreeBinning:
    """How bins for trees are made (:mod:`tacit.binning.tree_bins`)."""

    # Cells of a numeric column whose rows are counted.
    grid_cells: int = 256

    # A cell with this part of the rows is looked at once more, for this part of what a column's histogram may cost.
    heavy: float = 0.02
    second_look: float = 0.45

    # How much of the public prior lies along a tail above the lower bound; the rest is uniform. A bounded number is
    # more often an amount or a count, crowded near its lower bound, than the mirror image of one. The tail is flat
    # within one of so many parts of the range, next to the bottom.
    tail_share: float = 0.4
    tail_parts: int = 4096

    # The prior's weight in a split of mass, in standard deviations of the noise in the part's sum.
    prior_noise: float = 3.0

    # Bins of equal mass made of the cells.
    mass_bins: int = 200

    # Bins of a numeric column of which nothing is known; categories beyond this number go together. All thresholds
    # follow the prior then, and not only what is lost: the tail has this share.
    public_cells: int = 254
    public_tail_share: float = 0.2

    searching: Searching = Searching()


SMOOTHING, REFINING, SEARCHING, MEASURING, RELEASING = Smoothing(), Refining(), Searching(), Measuring(), Releasing()
BINNING, TREE_BINNING = Binning(), TreeBinning()
"""As they were chosen."""
