"""What a release is for: the facts that the ledger keeps of it, and how they read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from tacit.privacy.canonical import MOST


class Stage(StrEnum):
    """The part of a fit, or of other paid work, that a release belongs to. Reports group by it; files name it."""

    COUNTS = "counts"  # numbers of rows: of all, of each class, of a rule
    CLASSES = "classes"  # the classes themselves, and the rows of each within a column
    BOUNDS = "bounds"  # of columns and targets that nobody declared
    KEYS = "categories"  # of columns that nobody declared
    KINDS = "kinds"  # whether a column of texts holds numbers
    BINNING = "binning"  # counts by which a column is cut
    SCALING = "scaling"  # first and second moments of rows, before a halfspace
    INTERCEPT = "intercept"
    SWEEP = "sweeps"  # one term, or the intercept, refitted once
    JOINT_SWEEP = "joint sweeps"  # the same where each row's contribution to all terms together is bounded
    SCREENING = "pair screening"
    PAIR_COUNTS = "pair counts"
    RESIDUALS = "residual looks"  # from which a loss of numbers takes its scales and levels
    SPLITS = "splits"  # choices of the tests of a tree
    TREE = "trees"
    LEAVES = "leaves"
    ROUND = "rounds"
    END_TEST = "end tests"
    RULES = "rules"
    CONCEPT = "concepts"
    ROWS = "rows behind the gate"  # a view of the rows, on which a child learner runs
    FIT = "fits"  # whole fits with certificates of their own
    TRUSTED = "foreign learners"
    STREAM = "streams"
    CALIBRATION = "calibration"
    EVALUATION = "evaluation"
    SELECTION = "selection"
    BATCHES = "batches"
    OTHER = "other"  # what is known by its words alone


TEXTS: Mapping[Stage, str] = {
    Stage.BOUNDS: "bounds of {subject}",
    Stage.KEYS: "categories of {subject}",
    Stage.KINDS: "whether {subject} holds numbers",
    Stage.INTERCEPT: "intercept, step {round}",
    Stage.SWEEP: "{subject}, sweep {round}",
    Stage.JOINT_SWEEP: "{subject}, sweep {round}",
    Stage.SCREENING: "screening of {subject}",
    Stage.PAIR_COUNTS: "counts of {subject}",
    Stage.SPLITS: "tree {round}",
    Stage.TREE: "tree {round}",
    Stage.LEAVES: "tree {round}",
    Stage.ROUND: "round {round}: {subject}",
    Stage.END_TEST: "end test before round {round}",
    Stage.CONCEPT: "concept {round}",
    Stage.TRUSTED: "run of {subject}",
    Stage.BATCHES: "each batch of rows of {subject}: what its own certificate lists",
    Stage.FIT: "fit of {subject}",
}
"""How labels of a stage read; without a line here the subject alone. A subject that is not named goes to the end."""


@dataclass(frozen=True)
class Label:
    """What one release is for."""

    stage: Stage  # the part of the work it belongs to
    subject: str = ""  # what it is about within the stage: a column, a pair, a part of a tree; may be empty
    round: int | None = None  # which time it is, from 1; None where there is but one
    text: str = ""  # how the label reads; by default as the stage has it

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", self._read())

    @classmethod
    def of(cls, label: Label | str) -> Label:
        """A label as it is; words by themselves are of :attr:`Stage.OTHER`."""
        return label if isinstance(label, Label) else cls(Stage.OTHER, label, text=label)

    def with_text(self, text: str) -> Self:
        """The same facts in other words."""
        return type(self)(self.stage, self.subject, self.round, text)

    @property
    def pattern(self) -> str:
        """The text with ``#`` for every whole number in it: what long listings gather by."""
        return re.sub(r"\d+", "#", self.text)

    def facts(self) -> dict[str, Any]:
        """Plain JSON data beside the text: nothing for words by themselves."""
        if self.stage is Stage.OTHER:
            return {}
        facts: dict[str, Any] = {"stage": str(self.stage)}
        if self.subject:
            facts["subject"] = self.subject
        if self.round is not None:
            facts["round"] = self.round
        return facts

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`facts` with the text under ``label``; without facts, words by themselves.

        Raises ``KeyError`` or ``ValueError`` for what is no label.
        """
        text, round_ = str(data["label"]), data.get("round")
        if round_ is not None and not (type(round_) is int and 0 <= round_ <= MOST):
            raise ValueError(f"a round is a whole number, and not {round_!s:.40}")
        if "stage" not in data:
            return cls(Stage.OTHER, text, text=text)
        return cls(Stage(data["stage"]), str(data.get("subject", "")), round_, text)

    def __str__(self) -> str:
        return self.text

    def _read(self) -> str:
        form = TEXTS.get(self.stage, "{subject}")
        text = form.format(subject=self.subject, round="#" if self.round is None else self.round)
        return text if not self.subject or "{subject}" in form else f"{text}, {self.subject}"
