"""Releases whose rows are bounded together: paid for at once, then made one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Protocol

from tacit.curator.measurement import Measurement
from tacit.privacy.charges import Gaussian, Laplace
from tacit.privacy.label import Label, Stage
from tacit.queries.histogram import Histogram, ScoreHistogram
from tacit.queries.joint_bound import JointBound, JointPart
from tacit.queries.margins import Margins, Scores
from tacit.queries.rules import LabelWeights, RowRule, level_weights, weighted_rule
from tacit.queries.score_rules import ResidualRule, ScoreRule


class JointWeights:
    """How rows count whose label holds a level of weight beside the class; ``classes`` are their weights in [0, 1]."""

    def __init__(self, classes: Sequence[float]) -> None:
        self._classes = classes
        self._weights = LabelWeights.of(classes, level_weights())

    def histogram(
        self, part: JointPart, rule: RowRule | ScoreRule, state: Margins | Scores
    ) -> Histogram | ScoreHistogram:
        """What is asked about a part."""
        if isinstance(state, Scores):
            if isinstance(rule, RowRule):
                raise TypeError("rows with scores need a rule of scores")
            if isinstance(rule, ResidualRule):
                # a row is weighed down so that what it adds stays short: that must be the last that is done to it
                rule = replace(rule, weighted_first=False)
            return ScoreHistogram(part.cells, rule, state, part.release_map, self._weights)
        if not isinstance(rule, RowRule):
            raise TypeError("rows with one margin need a rule of margins")
        weighted = weighted_rule(rule, self._classes, level_weights())
        return Histogram(part.cells, weighted, state, part.release_map)


class Release(Protocol):
    """The curator's way of answering what is paid for."""

    def __call__(
        self, bound: JointBound, part: JointPart, rule: RowRule | ScoreRule, state: Margins | Scores, label: Label
    ) -> Measurement: ...


class JointReleases:
    """Every part of a bound may be released ``rounds`` times, after so many before; all of it is recorded already."""

    def __init__(self, bound: JointBound, rounds: int, stage: str, release: Release, before: int = 0) -> None:
        self._bound, self._rounds, self._stage, self._release = bound, rounds, stage, release
        self._labels = [[self._label(part, before + number) for part in bound.parts] for number in range(rounds)]
        self._made: Counter[int] = Counter()
        self._lock = Lock()

    def charges(self) -> list[tuple[Gaussian | Laplace, Label]]:
        """Charge and label of every release, in the order of the rounds."""
        return [
            (part.charge, label)
            for labels in self._labels
            for part, label in zip(self._bound.parts, labels, strict=True)
        ]

    def measure(self, part: int, rule: RowRule | ScoreRule, state: Margins | Scores) -> Measurement:
        """The next release of a part, under a rule by class and margin, or one computed from scores.

        Raises:
            ValueError: if it has been released as often as was paid for; nothing is read then.
            IndexError: if there is no such part.
        """
        if not 0 <= part < len(self._bound.parts):
            raise IndexError(f"there are parts 0 to {len(self._bound.parts) - 1}, and no part {part}")
        joint_part = self._bound.parts[part]
        with self._lock:
            number = self._made[part]
            if number >= self._rounds:
                raise ValueError(f"{joint_part.name} was released {self._rounds} times, and no more is paid for")
            self._made[part] += 1
        return self._release(self._bound, joint_part, rule, state, self._labels[number][part])

    def _label(self, part: JointPart, number: int) -> Label:
        text = f"{part.name}, {self._stage}sweep {number + 1}"
        return Label(Stage.JOINT_SWEEP, part.name, number + 1, text)
