"""All numbers by which bins are tuned: accuracy depends on them, and no promise does.

To vary a number, replace it::

    replace(Binning(), searching=replace(Searching(), histogram_from=20.0))
"""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_ROWS = 30.0  # A fit goes by at least so many rows, however few were released

MANY_ROWS = 80_000
"""Beyond this many rows noise hardly matters any more, and time does: splits are chosen where noise lets choices see,
additive trees have six levels at most and end where nothing is left to learn, sweeps end where effects have converged,
and nobody looks inside light cells."""


@dataclass(frozen=True)
class Smoothing:
    """How noisy histograms are smoothed (:mod:`tacit.binning.refine`)."""

    # Public shapes of densities, relative to the range.
    decay_rates: tuple[float, ...] = (4.0, 12.0, 40.0, 120.0, 400.0, 1200.0)
    bump_centres: tuple[float, ...] = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
    bump_widths: tuple[float, ...] = (0.02, 0.06, 0.15)
    floor_share: float = 0.03  # mass kept uniform, so that no cell is thought impossible
    relative_spread: float = 0.35  # prior standard deviation of a node's left share, relative to the node's mass


@dataclass(frozen=True)
class Refining:
    """How heavy cells of a histogram are split again (:mod:`tacit.binning.refine`)."""

    base_cells: int = 64  # uniform, of the first histogram
    sub_cells: int = 64  # parts of a cell at the second, at most
    fewer_sub_cells: tuple[int, ...] = (16, 8)  # of a cell with over a 16th of the rows, and with less
    last_cells: int = 16  # at the third
    clear_part: float = 0.5  # noise (standard deviations) that a part would hold, were all alike: spikes hold more
    heavy_leaf: float = 1 / 24  # share of the rows of a part that is looked at once more
    mass_mix: float = 0.75  # bins have equal parts of this much mass, and else of the root of mass times width

    @property
    def atoms(self) -> int:
        """The finest parts of a column's range; a public encoding need not have more codes."""
        return self.base_cells * self.sub_cells * self.last_cells


@dataclass(frozen=True)
class Searching:
    """How the shape of a column is searched for (:mod:`tacit.binning.shape_search`)."""

    histogram_from: float = 40.0  # rows over the noise of a count, below which a histogram is the worse question
    leaves: int = 4096  # parts of a column's range that shapes are drawn on
    misfit: float = 0.05  # by which share of the rows a contrast may be off: no column has one of the shapes exactly

    # Two neighbouring parts with nearly all rows are searched once more, unless a single code has a spike of them.
    narrow_parts: int = 64
    nearly_all: float = 0.7
    spike: float = 0.4

    least_mass: float = 1e-5  # of a group of leaves
    most_missing: float = 0.8  # of the rows, believed to have no value

    # The family of shapes and its priors.
    widths: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)  # standard deviations of bells
    bell_step: float = 1.25  # between bells, in those: one of them must overlap any column of that width
    rates: tuple[float, ...] = tuple(2.0**power for power in range(1, 14))  # of falls over the range
    spikes: tuple[float, ...] = (0.0, 0.3, 0.6, 0.9)  # parts of the rows at the end of a fall
    even_prior: float = 0.1
    bells_prior: float = 0.4  # all bells together
    falls_prior: float = 0.1  # falls (and humps) of each spike, from either end
    shape_weight: float = 0.97  # of a shape,
    even_weight: float = 0.03  # and of the uniform one in it, so that no leaf is thought impossible


@dataclass(frozen=True)
class Measuring:
    """What looking at columns may cost, and how many bins they get (:mod:`tacit.binning.measure`)."""

    looks: tuple[float, ...] = (0.6, 0.4)  # shares of a column's bins: coarse histogram, splitting its heavy cells
    later_look: float = 0.3  # cost of each further histogram beside that, relative to it
    most_looks: int = 6
    sure_of_rows: float = 10.0  # standard deviations of noise; with fewer rows, their number is released again,
    largest_rows_share: float = 0.08  # for at most this share of the budget

    # Bins of a column.
    most_bins: int = 48
    most_bins_of_many: int = 64  # where rows are very many
    least_bins: int = 6
    least_bins_of_shapes: int = 12


@dataclass(frozen=True)
class Releasing:
    """In which directions sums of a column are released (:mod:`tacit.binning.release_map`)."""

    kept: float = 0.02  # water-filled weight of a direction relative to the leading one, below which it is left out
    longest: float = 2.5  # length of an image (root mean square 1) where rows are bounded together
    bounded_noise: float = 0.25  # Laplace: variance where rows are bounded together, relative to alone
    noise_of_bins: float = 1.44  # Laplace: variance of bins relative to a direction, as these are longer on average


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

    grid_cells: int = 256  # of a numeric column, whose rows are counted
    heavy: float = 0.02  # share of the rows from which a cell is looked at once more,
    second_look: float = 0.45  # for this part of what the column's histogram may cost

    # The public prior. A bounded number is more often an amount or a count, crowded near its lower bound, than the
    # mirror image of one.
    tail_share: float = 0.4  # of a tail above the lower bound; the rest is uniform
    tail_parts: int = 4096  # of the range: the tail is flat within the lowest one
    prior_noise: float = 3.0  # the prior's weight in a split of mass, in standard deviations of the part's noise

    mass_bins: int = 200  # of equal mass, made of the cells
    public_cells: int = 254  # of a column of which nothing is known; categories beyond this number go together
    public_tail_share: float = 0.2  # of the tail then: all thresholds follow the prior, and not only what noise hides

    searching: Searching = Searching()


SMOOTHING, REFINING, SEARCHING, MEASURING, RELEASING = Smoothing(), Refining(), Searching(), Measuring(), Releasing()
BINNING, TREE_BINNING = Binning(), TreeBinning()  # as they were chosen
