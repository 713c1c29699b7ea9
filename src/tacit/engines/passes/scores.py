"""Sums over rows with several scores: by cell, and of rows by size of residual."""

from __future__ import annotations

from tacit.arrays import Codes, Ints
from tacit.engines.passes.base import LabelledPass, Pass, register
from tacit.engines.rows import Rows
from tacit.engines.score_rows import ScoreRows
from tacit.queries.histogram import ResidualLevels, ScoreHistogram


class ScorePass(LabelledPass[ScoreHistogram]):
    """Sums of shape ``(cells, channels)``."""

    def sums_under(self, query: ScoreHistogram, rows: Rows, labels: Codes) -> Ints:
        return ScoreRows.of(rows).histogram(query, labels)

    def finish(self, query: ScoreHistogram, sums: Ints) -> Ints:
        return query.finish(sums)


class ResidualPass(Pass[ResidualLevels]):
    """Rows between edges."""

    def sums(self, query: ResidualLevels, rows: Rows) -> Ints:
        return ScoreRows.of(rows).levels(query)


register(ScoreHistogram, ScorePass())
register(ResidualLevels, ResidualPass())
