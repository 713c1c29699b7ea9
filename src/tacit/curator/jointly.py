"""Releases whose rows are bounded together: paid for at once, then made one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tacit.curator.measurement import Measurement
from tacit.privacy.charges import Gaussian
from tacit.queries.histogram import Histogram
from tacit.queries.joint_bound import JointBound, JointHistogram
from tacit.queries.margins import Margins
from tacit.queries.rules import RowRule
from tacit.queries.sensitivity import Sensitivity

Release = Callable[[JointHistogram, Gaussian, Sensitivity, str], Measurement]


class JointReleases:
    """Every part may be released ``rounds`` times; all of it is recorded already.

    Args:
        bound: the parts and what no row exceeds.
        rule: what a row contributes, by label and level of weight.
        rounds: how often each part may be released.
        sensitivity: what noise is measured by.
        release: the curator's way of adding noise to an answer that is paid for.
    """

    def __init__(
        self, bound: JointBound, rule: RowRule, rounds: int, sensitivity: Sensitivity, release: Release
    ) -> None:
        self._bound, self._rule, self._rounds = bound, rule, rounds
        self._sensitivity, self._release = sensitivity, release
        self._made: Counter[int] = Counter()

    def measure(self, part: int, margins: Margins) -> Measurement:
        """The next release of a part, at the margins as they are now.

        Raises:
            ValueError: if it has been released as often as was paid for; nothing is read then.
        """
        asked = self._bound.parts[part]
        if self._made[part] >= self._rounds:
            raise ValueError(f"{asked.name} was released {self._rounds} times, and no more is paid for")
        self._made[part] += 1
        query = JointHistogram(Histogram(asked.cells, self._rule, margins, asked.release_map), self._bound)
        return self._release(query, asked.charge, self._sensitivity, f"{asked.name}, sweep {self._made[part]}")
