"""Sums of vectors that follow from a row's codes: random Fourier features, and products of scores."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.fourier_rows import fourier_of
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.base import PassOf, register
from tacit.engines.rows import Rows
from tacit.engines.score_rows import ScoreRows
from tacit.queries.fourier import FourierSum, ScatterSum, ScoreFourierSum


def fourier_sums(query: FourierSum, rows: Rows) -> Ints:
    """Weighted sums of features."""
    return fourier_of(rows).sums(query, MarginRows.of(rows).caught_up(query.margins)[0])


register(FourierSum, PassOf(fourier_sums))
register(ScoreFourierSum, PassOf(lambda query, rows: ScoreRows.of(rows).features(query)))
register(ScatterSum, PassOf(lambda query, rows: fourier_of(rows).scatter(query)))
