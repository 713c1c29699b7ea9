"""Sums of vectors that follow from a row's codes: random Fourier features, and products of scores."""

from __future__ import annotations

from tacit.engines.fourier_rows import fourier_of
from tacit.engines.passes.base import PassOf, register
from tacit.engines.score_rows import ScoreRows
from tacit.queries.fourier import ScatterSum, ScoreFourierSum

register(ScoreFourierSum, PassOf(lambda query, rows: ScoreRows.of(rows).features(query)))
register(ScatterSum, PassOf(lambda query, rows: fourier_of(rows).scatter(query)))
