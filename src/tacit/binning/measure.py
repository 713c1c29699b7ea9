"""Bins from noisy counts: where the rows are, so that every bin is worth its noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.binning.refine import AdaptiveHistogram, cut, in_pieces
from tacit.binning.shape_search import ShapeSearch
from tacit.binning.tuning import BINNING, FEWEST_ROWS, MANY_ROWS, MEASURING, Binning, Measuring
from tacit.curator.budget import Budget
from tacit.curator.measurement import LEAST_SD, Measurement
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell, mapped_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import RowRule, fine_count_rule

Question = tuple[Histogram, Charge, Label]  # what to release, for what, and what the ledger calls it

MAX_CATEGORIES = 256  # not tuned: a bin is one byte of a row. Of more categories the rarest share one bin.
PIECES = 8  # not tuned, of the arithmetic: bins end at pieces of a group that are no heavier than this part of a bin


LEAST_CATEGORY, LEAST_BIN, LEAST_PRESENT = 0.3, 1e-3, 0.2
"""Not tuned, guards against counts of nothing: no category holds less than this part of the smaller of its noise and an
even share, no bin less than this part of an even share, and no column has values in less than this part of the rows."""


@dataclass(frozen=True)
class Column:
    """A column as the learner knows it: its place, its name, and whether it is ordered with a missing code last.

    ``monotone`` is 1 or -1 where the effect is declared to rise or to fall, else 0.
    """

    index: int
    name: str
    ordered: bool
    monotone: int = 0


@dataclass(frozen=True, eq=False)
class Bins:
    """What was learned about a column's distribution: a bin for every code of the public encoding (``mapping``).

    Counts are released ones per bin, smoothed; they sum to the released number of rows. Where bins are ``ordered``,
    neighbours are alike and the last one is "missing".
    """

    mapping: Ints
    counts: Floats
    ordered: bool


def release_total(budget: Budget, numbers: Measuring = MEASURING) -> tuple[float, float]:
    """The number of rows with a known label, with noise and never absurdly small, and the share of the allowance spent.

    Rates are sums over it, so where a first release for the budget leaves it in doubt there is a second.
    """
    query = Histogram(OneCell(), fine_count_rule(budget.layout.n_labels))
    share, sd, sure = budget.share, budget.sd(), numbers.sure_of_rows
    released = budget.measure(query, 1.0, Label(Stage.COUNTS, "number of rows")).value.item()
    total = max(released, FEWEST_ROWS, 0.5 * sd)
    again = min(share * (sure * sd / total) ** 2, numbers.largest_rows_share) if math.isfinite(sd) else 0.0
    if sd < total / sure or again <= share:
        return total, share
    more = (
        replace(budget, share=again).measure(query, 1.0, Label(Stage.COUNTS, "number of rows, once more")).value.item()
    )
    both = (released * share + more * again) / (share + again)  # precision goes with the share
    return max(both, FEWEST_ROWS, replace(budget, share=share + again).sd()), share + again


@dataclass(frozen=True)
class _Means:
    """What one column's bins may cost, divided among the looks, and what they are made of."""

    budget: Budget
    total: float
    rule: RowRule
    tuning: Binning

    @property
    def numbers(self) -> Measuring:
        return self.tuning.measuring

    def planned(self, look: int) -> bool:
        """Whether the binning budget has a share for this look; further ones cost more."""
        return look < len(self.numbers.looks)

    def part(self, look: int) -> Budget:
        return self.budget.part(self.numbers.looks[look] if self.planned(look) else self.numbers.later_look)

    def sd(self, look: int) -> float:
        return max(self.part(look).sd(), LEAST_SD)

    @property
    def rows_per_bin(self) -> float:
        """So many rows stand out of the noise."""
        return 2 * self.sd(0)

    def bins(self, least: int) -> int:
        """How many bins a column may have: as many as stand out of the noise."""
        most = self.numbers.most_bins if self.total <= MANY_ROWS else self.numbers.most_bins_of_many
        return int(np.clip(self.total / self.rows_per_bin, least, most))

    def bins_of(self, masses: Floats, widths: Ints, least: int, missing: float) -> Bins:
        """Bins of a numeric column, at least so many, from rows that groups of neighbouring codes are believed to hold.

        ``widths`` are the codes in each group, ``missing`` the rows without a value.
        """
        bins = cut(masses, widths, self.bins(least), self.rows_per_bin, self.tuning.refining.mass_mix)
        counts = np.append(np.bincount(bins, weights=masses), max(missing, 1.0))
        return Bins(np.append(np.repeat(bins, widths), len(counts) - 1), _scaled(counts, self.total), ordered=True)

    @property
    def is_noisy(self) -> bool:
        """Whether noise exceeds what a cell can hold."""
        return self.total < self.tuning.searching.histogram_from * self.sd(0)


class _Looks(Protocol):
    """Some releases about a column, and the bins that follow from them."""

    def ask(self, look: int) -> Question | None:
        """What to release at this look; None for nothing."""

    def take(self, release: Measurement) -> None:
        """Takes in the answer."""

    def bins(self) -> Bins:
        """The bins, after the last look."""


class _Categories:
    """Counts of the categories, shrunk to uniform; the rarest share one bin when there are very many."""

    def __init__(self, column: Column, n_codes: int, means: _Means) -> None:
        self._column, self._n_codes, self._means = column, n_codes, means

    def ask(self, look: int) -> Question | None:
        if look:
            return None
        query = Histogram(mapped_cells(self._column.index, np.arange(self._n_codes)), self._means.rule)
        name = self._column.name
        return query, self._means.budget.charge(), Label(Stage.BINNING, name, text=f"counts of {name}")

    def take(self, release: Measurement) -> None:
        self._release = release

    def bins(self) -> Bins:
        counts: Floats = self._release.value[:, 0]
        total, n_codes, sd = self._means.total, len(counts), max(self._release.sd, LEAST_SD)
        mapping = np.arange(n_codes, dtype=np.int64)
        if n_codes > MAX_CATEGORIES:
            commonest = np.sort(np.argsort(-counts, kind="stable")[: MAX_CATEGORIES - 1])
            mapping = np.full(n_codes, MAX_CATEGORIES - 1, dtype=np.int64)
            mapping[commonest] = np.arange(len(commonest))
            counts = np.append(counts[commonest], max(total - np.maximum(counts[commonest], 0).sum(), 0.0))
        uniform = total / len(counts)
        trust = uniform**2 / (uniform**2 + sd**2)
        counts = np.maximum(trust * counts + (1 - trust) * uniform, min(LEAST_CATEGORY * sd, LEAST_CATEGORY * uniform))
        return Bins(mapping, _scaled(counts, total), ordered=False)


class _Counted:
    """Up to three noisy histograms of a numeric column: uniform cells, then the heavy ones split again."""

    def __init__(self, column: Column, n_codes: int, means: _Means) -> None:
        self._column, self._means, self._missing = column, means, 0.0
        self._counts = AdaptiveHistogram(n_codes, means.tuning)

    def ask(self, look: int) -> Question | None:
        means, counts = self._means, self._counts
        self._look = look
        if look == 1 and not counts.plan_second(means.sd(1), means.total):
            return None
        if look > 2 or (look == 2 and not counts.plan_third(means.sd(2), means.total)):
            return None
        cells = counts.cells() if look else counts.first_cells()
        query = Histogram(mapped_cells(self._column.index, cells), means.rule)
        name, how = self._column.name, ("coarse", "fine", "finest")[look]
        return query, means.part(look).charge(), Label(Stage.BINNING, name, look + 1, f"{how} counts of {name}")

    def take(self, release: Measurement) -> None:
        counts, sd = release.value[:-1, 0], max(release.sd, LEAST_SD)
        if self._look:
            self._counts.again(counts, sd)
            return
        total = self._means.total
        self._missing = max(float(release.value[-1, 0]) - 0.5 * sd, 0.0)
        self._counts.first(counts, sd, max(total - self._missing, LEAST_PRESENT * total))

    def bins(self) -> Bins:
        masses, widths = self._counts.by_codes()
        return self._means.bins_of(masses, widths, self._means.numbers.least_bins, self._missing)


class _Searched:
    """Two looks at the shape of a numeric column, where noise exceeds what a cell can hold; more where it is narrow."""

    def __init__(self, column: Column, n_codes: int, means: _Means) -> None:
        self._column, self._n_codes, self._means = column, n_codes, means
        self._searches = [self._search()]

    def _search(self, window: tuple[int, int] | None = None) -> ShapeSearch:
        means = self._means
        return ShapeSearch(self._column.index, self._n_codes, means.total, window, means.tuning.searching)

    def ask(self, look: int) -> Question | None:
        means, column = self._means, self._column
        if not means.planned(look) and look % 2 == 0:
            window = self._searches[-1].narrow if len(self._searches) == look // 2 else None
            if window is None:
                return None
            self._searches.append(self._search(window))
        if len(self._searches) <= look // 2:
            return None
        query = self._searches[-1].query(means.rule, means.sd(look), means.budget.is_pure)
        text = f"{('outline', 'shape')[look % 2]} of {column.name}" + ", nearer" * (look // 2)
        return query, means.part(look).charge(), Label(Stage.BINNING, column.name, look + 1, text)

    def take(self, release: Measurement) -> None:
        self._searches[-1].observe(release)

    def bins(self) -> Bins:
        mass, widths = self._searches[0].masses, self._searches[0].widths
        for search in self._searches[1:]:
            first, stop = np.searchsorted(np.append(0, np.cumsum(widths)), search.window)
            inside = search.masses[:-1]
            others = np.append(mass[:first], mass[stop:-1])
            outside = max(float(mass[:-1].sum() - inside.sum()), 0.0) / max(float(others.sum()), 1e-300)
            mass = np.concatenate([mass[:first] * outside, inside, mass[stop:-1] * outside, mass[-1:]])
            widths = np.concatenate([widths[:first], search.widths, widths[stop:]])
        least = self._means.numbers.least_bins_of_shapes
        masses, widths = in_pieces(mass[:-1], widths, PIECES * self._means.bins(least))
        return self._means.bins_of(masses, widths, least, float(mass[-1]))


def measure_bins(
    budget: Budget, columns: Sequence[Column], total: float, tuning: Binning = BINNING
) -> tuple[list[Bins], float]:
    """Bins of every column, each for the budget; the columns' codes in the table are replaced by them.

    The second number is what further looks took of the allowance beyond that, less what planned ones did not need.
    """
    layout = budget.layout
    means = _Means(budget, total, fine_count_rule(layout.n_labels), tuning)
    numeric = _Searched if means.is_noisy else _Counted
    looks: list[_Looks] = [
        (numeric if column.ordered else _Categories)(column, layout.n_codes[column.index], means) for column in columns
    ]
    more = 0.0
    for number in range(tuning.measuring.most_looks):
        questions = [(look, question) for look in looks if (question := look.ask(number)) is not None]
        for (look, _), release in zip(
            questions, budget.curator.measure_all([question for _, question in questions]), strict=True
        ):
            look.take(release)
        if number:  # the first look is at every column
            planned = sum(column.ordered for column in columns) if means.planned(number) else 0
            more += (len(questions) - planned) * means.part(number).share
    measured = [look.bins() for look in looks]
    for column, bins in zip(columns, measured, strict=True):
        budget.curator.coarsen(column.index, bins.mapping)
    return measured, more


def _scaled(counts: Floats, total: float) -> Floats:
    counts = np.maximum(counts, LEAST_BIN * total / len(counts))
    return np.asarray(counts * total / counts.sum())
