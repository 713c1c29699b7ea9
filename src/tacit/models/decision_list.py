"""The decision list a user gets: "if ... then ..., else ...", with released support and precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tacit.arrays import Bools, Floats, Ints
from tacit.encoding.frames import Frame
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.models.base import ClassModel, of_any_table
from tacit.models.evidence import FAILURE, CountedErrors
from tacit.models.feature import code_names
from tacit.models.plain import classes_of, floats, items, number, require, table_encoding_of, whole

AT_LEAST, BELOW, IS, IS_NOT = "at_least", "below", "is", "is_not"
TESTS = (AT_LEAST, BELOW, IS, IS_NOT)

HAIR = 1e-9
"""By which share what a rule says is likelier than another class whose count is as large."""


@dataclass(frozen=True)
class Condition:
    """A literal: a test of the code of one feature. The thresholds do not hold for a missing number."""

    feature: int  # position among the model's features
    test: str  # `at_least`, `below`, `is` or `is_not`
    code: int  # what the code is compared with

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"unknown test {self.test!r}; known: {', '.join(TESTS)}")

    def holds(self, codes: npt.NDArray[Any], encoder: Encoder) -> Bools:
        """For which codes of the feature it holds."""
        if self.test == AT_LEAST:
            return np.asarray((codes >= self.code) & (codes != encoder.n_codes - 1))
        if self.test == BELOW:
            return np.asarray(codes < self.code)
        return np.asarray(codes == self.code if self.test == IS else codes != self.code)

    def text(self, name: str, encoder: Encoder) -> str:
        """The condition in words. A threshold is written with as few digits as tell its cell of the public grid."""
        if isinstance(encoder, NumericGrid):
            if self.test in (AT_LEAST, BELOW):
                return f"{name} {'>=' if self.test == AT_LEAST else '<'} {threshold_text(encoder, self.code)}"
            value = "missing" if self.code == encoder.missing else f"in cell {self.code}"
        else:
            value = code_names(encoder)[self.code]
        return f"{name} {'is' if self.test == IS else 'is not'} {value}"


def threshold_text(grid: NumericGrid, code: int) -> str:
    """The shortest decimal in cell ``code``: it differs from the threshold by less than a cell."""
    low = grid.edge(code)
    if grid.dates:
        return grid.text(low)
    high = grid.edge(code + 1) if code + 1 < grid.cells else grid.upper
    for digits in range(-math.floor(math.log10(max(abs(low), abs(high), 1e-300))), 320):
        rounded = math.ceil(low * 10.0**digits) / 10.0**digits if abs(low) * 10.0**digits < 2**52 else low
        if low <= rounded < high or rounded == low:
            return f"{rounded:.{max(digits, 0)}f}"
    return repr(low)


@dataclass(frozen=True, eq=False)
class ListRule:
    """One rule: a conjunction of conditions, and the class it says."""

    conditions: tuple[Condition, ...]  # all must hold; none at all is the last "else"
    outcome: int  # position of the class
    # released (noisy) rows of each class that reach this rule and meet it; None if nothing was released
    counts: Floats | None

    @property
    def support(self) -> float | None:
        """About how many rows the rule decides; never negative."""
        return None if self.counts is None else max(0.0, float(self.counts.sum()))

    @property
    def precision(self) -> float | None:
        """About which share of them has the rule's class."""
        if self.counts is None:
            return None
        counts = np.maximum(self.counts, 0.0)
        return float(counts[self.outcome] / counts.sum()) if counts.sum() > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "if": [{"feature": c.feature, "test": c.test, "code": c.code} for c in self.conditions],
            "then": self.outcome,
            "counts": None if self.counts is None else self.counts.tolist(),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ListRule:
        """The inverse of :meth:`to_dict`."""
        conditions = tuple(
            Condition(whole(c["feature"], "the number of a column"), str(c["test"]), whole(c["code"], "a code"))
            for c in items(data["if"], "conditions")
        )
        counts = None if data["counts"] is None else floats(data["counts"], "the counts of a rule")
        return ListRule(conditions, whole(data["then"], "the number of a class"), counts)


@dataclass(frozen=True, eq=False, repr=False)
class DecisionListModel(ClassModel):
    """A list of rules; the first whose conditions hold decides. Frozen; everything in it was released."""

    kind: ClassVar[str] = "decision_list"

    classes: tuple[Any, ...]  # the classes
    encoding: TableEncoding  # the features with their public encodings
    rules: tuple[ListRule, ...]  # the rules, in order; the last one has no conditions
    sd: float = 0.0  # standard deviation of the noise in each released count; 0 without noise
    evidence: CountedErrors | None = None  # the counted errors, where they prove something about new rows
    full: bool = False  # whether as many rules were chosen as `max_rules` allows; of a fit, and not in its file

    def __post_init__(self) -> None:
        if not self.rules or self.rules[-1].conditions:
            raise ValueError("a decision list ends with a rule without conditions")
        for rule in self.rules:
            if not 0 <= rule.outcome < len(self.classes):
                raise ValueError(f"a rule says class {rule.outcome}, and there are {len(self.classes)}")
            if any(not 0 <= c.feature < len(self.names) for c in rule.conditions):
                raise ValueError("a condition looks at a feature that the model does not have")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.encoding.names

    @property
    def encoders(self) -> tuple[Encoder, ...]:
        """Their encodings."""
        return self.encoding.encoders

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The features that any condition looks at."""
        return tuple(sorted({c.feature for rule in self.rules for c in rule.conditions}))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(self.names[feature] for feature in self.used)

    @property
    def matrix_names(self) -> tuple[str, ...]:
        """All columns that the list was learned from, whether or not a rule looks at them."""
        return self.names

    @of_any_table
    def decide(self, frame: Frame) -> Ints:
        """Which rule decides each row, shape ``(rows,)``."""
        codes = {j: self._codes(frame, j) for j in self.used}
        which = np.full(frame.n_rows, len(self.rules) - 1, np.int64)
        for place in reversed(range(len(self.rules) - 1)):
            truth = np.ones(frame.n_rows, np.bool_)
            for condition in self.rules[place].conditions:
                truth &= condition.holds(codes[condition.feature], self.encoders[condition.feature])
            which[truth] = place
        return which

    def _codes(self, frame: Frame, feature: int) -> npt.NDArray[Any]:
        name, encoder = self.names[feature], self.encoders[feature]
        if isinstance(encoder, NumericGrid):
            return encoder.codes(frame, name)
        return encoder.encode(frame.column(name), name)

    @cached_property
    def rule_probabilities(self) -> Floats:
        """Per rule, the probability of each class, shape ``(rules, classes)``.

        From the released counts with as much added to each class as the noise is large (at least 1); certain where
        nothing was released. What a rule says is its likeliest class, if only just, whatever its counts are.
        """
        out = np.zeros((len(self.rules), len(self.classes)))
        for row, rule in zip(out, self.rules, strict=True):
            if rule.counts is None:
                row[rule.outcome] = 1.0
            else:
                smoothed = np.maximum(rule.counts, 0.0) + max(1.0, self.sd)
                if smoothed.argmax() != rule.outcome:
                    smoothed[rule.outcome] = smoothed.max() * (1 + HAIR)
                row[:] = smoothed / smoothed.sum()
        return out

    def predict_proba(self, frame: Any) -> Floats:
        """Probabilities of the deciding rule, shape ``(rows, classes)``."""
        return self.rule_probabilities[self.decide(frame)]

    def predict(self, frame: Any) -> npt.NDArray[Any]:
        """What the deciding rule says, shape ``(rows,)``."""
        outcomes = np.asarray([self.classes[rule.outcome] for rule in self.rules])
        return outcomes[self.decide(frame)]

    def error_bound(self, failure: float = FAILURE) -> float | None:
        return None if self.evidence is None else self.evidence.bound(failure)

    def condition_text(self, conditions: Sequence[Condition]) -> str:
        """A conjunction in words."""
        return " and ".join(c.text(self.names[c.feature], self.encoders[c.feature]) for c in conditions)

    def lines(self) -> list[str]:
        """The list in words, a rule per line, with released support and precision."""
        out = []
        for place, rule in enumerate(self.rules):
            start = "else" if place else "always"
            if rule.conditions:
                start = f"{'else if' if place else 'if'} {self.condition_text(rule.conditions)} then"
            line = f"{start} {self.classes[rule.outcome]}"
            if rule.support is not None:
                share = "" if rule.precision is None else f", precision about {rule.precision:.0%}"
                line += f"  (about {rule.support:.0f} rows{share})"
            out.append(line)
        return out

    def to_text(self) -> str:
        """The list in words."""
        return "\n".join(self.lines())

    def body(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "encoding": self.encoding.to_dict(),
            "rules": [rule.to_dict() for rule in self.rules],
            "sd": self.sd,
            "text": self.lines(),
            **({} if self.evidence is None else {"evidence": self.evidence.to_dict()}),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> DecisionListModel:
        classes, encoding = classes_of(body), table_encoding_of(body["encoding"])
        rules = tuple(ListRule.from_dict(rule) for rule in items(body["rules"], "rules"))
        evidence = None if body.get("evidence") is None else CountedErrors.from_dict(body["evidence"])
        model = cls(classes, encoding, rules, number(body["sd"], "the deviation of a count", least=0.0), evidence)
        for rule in rules:
            require(rule.counts is None or rule.counts.shape == (len(classes),), "a rule needs a count for every class")
            for condition in rule.conditions:
                encoder = encoding.encoders[condition.feature]
                ordered = isinstance(encoder, NumericGrid) and condition.test in (AT_LEAST, BELOW)
                require(condition.code < encoder.n_codes - ordered, "a condition has a code that its column does not")
        return model
