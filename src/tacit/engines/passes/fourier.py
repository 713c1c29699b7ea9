"""Sums of vectors that follow from a row's codes: random Fourier features, and products of scores."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.fourier_rows import fourier_of
from tacit.engines.margin_rows import MarginRows
from tacit.engines.passes.base import Pass, register
from tacit.engines.rows import Rows
from tacit.engines.score_rows import ScoreRows
from tacit.queries.fourier import FourierSum, ScatterSum, ScoreFourierSum


class FourierPass(Pass[FourierSum]):
    """Weighted sums of features."""

    def sums(self, query: FourierSum, rows: Rows) -> Ints:
        return fourier_of(rows).sums(query, MarginRows.of(rows).caught_up(query.margins)[0])


class ScoreFourierPass(Pass[ScoreFourierSum]):
    """Features times what rows with several scores contribute."""

    def sums(self, query: ScoreFourierSum, rows: Rows) -> Ints:
        return ScoreRows.of(rows).features(query)


class ScatterPass(Pass[ScatterSum]):
    """Products of two columns' scores."""

    def sums(self, query: ScatterSum, rows: Rows) -> Ints:
        return fourier_of(rows).scatter(query)


register(FourierSum, FourierPass())
register(ScoreFourierSum, ScoreFourierPass())
register(ScatterSum, ScatterPass())
