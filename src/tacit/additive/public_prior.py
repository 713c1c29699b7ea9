"""What the schema expects of effects, as prior means whose common size is learned from releases that are made anyway.

Column ``j`` with a prior has a shape ``s_j`` over its bins, of mean 0 and mean square 1 over the released counts, and a
weight ``w_j``, one over the root of its rank, with ``sum of w_j^2 = 1``. Its effect is thought to be ``c w_j s_j`` and
what the posterior of every term allows beside that. The size ``c`` is one number for the whole table: with ``b_j`` the
size of column j's effect along ``w_j s_j`` by its releases so far, and ``v_j`` its variance,

    b_j | c  ~  N(c, v_j + spread^2),    c  ~  N(likely, doubt^2),    at least 0.

All columns together say which way the shapes point long before any one of them stands out of the noise; where they do
not, ``c`` falls to 0, and little is lost. Everything is a function of released numbers and of the schema, so it costs
nothing (post-processing), and a prior that is wrong costs accuracy alone.

Limits: shapes that are right for some columns and wrong for as many others have a size near 0, and help none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.additive.posterior import DIRECTIONS
from tacit.additive.term import Directions, Term
from tacit.additive.tuning import Expecting
from tacit.arrays import Floats
from tacit.binning.measure import Bins
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.encoding.values import BooleanIndex, CategoryIndex
from tacit.schema import Schema
from tacit.schema.prior import Curve

NOTHING = 1e-12  # not tuned, of the arithmetic: a shape of a smaller mean square is flat


@dataclass(frozen=True)
class ColumnPrior:
    """The prior of one column: a direction (1 or -1) or a curve, and the rank if one was given."""

    encoder: Encoder
    prior: int | Curve
    rank: int | None

    def shape(self, bins: Bins) -> Floats | None:
        """Heights over the bins, of mean 0 and mean square 1 over the counts; None where all bins are alike.

        Rows without a value, and categories without a height, are thought to be average ones.
        """
        heights = self._ordered(bins) if isinstance(self.encoder, NumericGrid) else self._listed(bins)
        rows = np.where(np.isnan(heights), 0.0, bins.counts)
        if not rows.sum() > 0:
            return None
        centred = np.where(np.isnan(heights), 0.0, heights - float(rows @ np.nan_to_num(heights)) / float(rows.sum()))
        scale = float(rows @ centred**2 / bins.counts.sum())
        return centred / math.sqrt(scale) if scale > NOTHING else None

    def _ordered(self, bins: Bins) -> Floats:
        """Of a direction the share of rows below the middle of a bin, of a curve its height there; missing is NaN."""
        assert isinstance(self.encoder, NumericGrid)
        counts = bins.counts[:-1]
        if isinstance(self.prior, int):
            return np.append(self.prior * (np.cumsum(counts) - counts / 2), np.nan)
        _, first_cells = np.unique(bins.mapping[:-1], return_index=True)
        edges = np.append(self.encoder.edges(first_cells), self.encoder.upper)
        values, heights = np.array(self.prior, float).T
        return np.append(np.interp((edges[:-1] + edges[1:]) / 2, values, heights), np.nan)

    def _listed(self, bins: Bins) -> Floats:
        """The mean height of the codes in each bin; NaN where none has one."""
        assert isinstance(self.encoder, CategoryIndex | BooleanIndex)
        codes = np.full(self.encoder.n_codes, np.nan)
        if isinstance(self.prior, int):
            levels = len(self.encoder.categories) if isinstance(self.encoder, CategoryIndex) else 2
            codes[:levels] = self.prior * np.arange(levels)
        else:
            for value, height in self.prior:
                codes[self.encoder.code_of(value)] = height
        with_height = ~np.isnan(codes)
        sums = np.bincount(bins.mapping[with_height], codes[with_height], len(bins.counts))
        members = np.bincount(bins.mapping[with_height], minlength=len(bins.counts))
        return np.where(members > 0, sums / np.maximum(members, 1), np.nan)


def priors_of(schema: Schema | None, encoding: TableEncoding) -> dict[int, ColumnPrior]:
    """By the index of the column, what the schema expects of its effect."""
    priors: dict[int, ColumnPrior] = {}
    for index, (name, encoder) in enumerate(zip(encoding.names, encoding.encoders, strict=True)):
        column = None if schema is None else schema.columns.get(name)
        prior = getattr(column, "prior", None)
        if prior is not None:
            priors[index] = ColumnPrior(
                encoder, DIRECTIONS[prior] if isinstance(prior, str) else prior, getattr(column, "importance", None)
            )
    return priors


class PublicPrior:
    """The shapes of some terms, and the size that they have in common.

    Args:
        terms: the columns, each with its bins.
        priors: by the index of the column.
        numbers: of the size.
    """

    def __init__(
        self, terms: Sequence[tuple[Term, Bins]], priors: Mapping[int, ColumnPrior], numbers: Expecting
    ) -> None:
        self._numbers = numbers
        ranks = [each.rank for each in priors.values() if each.rank is not None]
        usual = float(np.mean(ranks)) if ranks else 1.0
        shapes: list[tuple[Term, Floats, float]] = []
        for index, each in priors.items():
            term, bins = terms[index]
            shape = each.shape(bins)
            if shape is not None:
                shapes.append((term, shape, 1.0 / math.sqrt(usual if each.rank is None else each.rank)))
        total = math.sqrt(sum(weight**2 for _, _, weight in shapes))
        self._shapes = [(term, shape * (weight / total)) for term, shape, weight in shapes]
        self._resize(numbers.likely)

    def learn(self, directions: Directions) -> None:
        """Takes the size from what was released of all its terms so far."""
        numbers = self._numbers
        weighted, precision = numbers.likely / numbers.doubt**2, 1.0 / numbers.doubt**2
        for term, shape in self._shapes:
            size, variance = term.size_along(shape, directions)
            more = 1.0 / (variance + numbers.spread**2)
            weighted, precision = weighted + more * size, precision + more
        self._resize(max(weighted / precision, 0.0))

    def _resize(self, size: float) -> None:
        for term, shape in self._shapes:
            term.prior_mean = size * shape
