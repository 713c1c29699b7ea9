"""Histograms over rows that are bounded together: the same sums under labels that weigh rows down."""

from __future__ import annotations

from tacit.arrays import Ints
from tacit.engines.passes.base import LabelledPass, Pass, register, row_pass
from tacit.engines.rows import Rows
from tacit.queries.joint_bound import JointHistogram


class JointPass(Pass[JointHistogram]):
    """What the histogram's own pass makes of the bounded labels."""

    def sums(self, query: JointHistogram, rows: Rows) -> Ints:
        own = row_pass(query.histogram)
        if not isinstance(own, LabelledPass):
            raise TypeError(f"rows cannot be bounded together in a {type(query.histogram).__name__}")
        return own.sums_under(query.histogram, rows, rows.bounded_labels(query.bound))

    def finish(self, query: JointHistogram, sums: Ints) -> Ints:
        return row_pass(query.histogram).finish(query.histogram, sums)


register(JointHistogram, JointPass())
