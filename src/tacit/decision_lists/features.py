"""Candidates written by the user: conjunctions of conditions, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tacit.decision_lists.literals import Candidates
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder
from tacit.errors import UNSPENT, TacitError
from tacit.models.decision_list import AT_LEAST, BELOW, IS, IS_NOT, Condition
from tacit.queries.covers.candidates import Conjunctions

CONDITION = re.compile(r"^(?P<name>.+?)\s*(?P<test>>=|<|==|!=|\bis\s+not\b|\bis\b)\s*(?P<value>.+)$")
TESTS = {">=": AT_LEAST, "<": BELOW, "==": IS, "is": IS, "!=": IS_NOT, "is not": IS_NOT}


class FeatureError(TacitError):
    """A feature that cannot be read. Nothing was spent."""

    def __init__(self, feature: str, problem: str) -> None:
        super().__init__(f"feature {feature!r}: {problem}", UNSPENT)


def read_condition(text: str, feature: str, names: Sequence[str], encoders: Sequence[Encoder]) -> Condition:
    """One condition: ``"age >= 40"``, ``"age < 40"``, ``"sex is Male"``, ``"sex is not Male"``, ``"age is missing"``.

    Raises:
        FeatureError: says what could not be read.
    """
    match = CONDITION.match(text.strip())
    if match is None:
        raise FeatureError(feature, f"{text!r} is not a condition; write 'column >= number' or 'column is value'")
    name, value = match["name"].strip(), match["value"].strip()
    test = TESTS[re.sub(r"\s+", " ", match["test"])]
    if name not in names:
        raise FeatureError(feature, f"there is no column {name!r}; known: {', '.join(names)}")
    column = list(names).index(name)
    encoder = encoders[column]
    if value == "missing":
        code = encoder.missing
    elif isinstance(encoder, NumericGrid):
        code = _threshold(encoder, value, feature)
    else:
        code = encoder.code_of(value)
        if value != "other" and code in (encoder.missing, getattr(encoder, "other", encoder.missing)):
            raise FeatureError(feature, f"{value!r} is not declared for column {name!r}")
    ordered = test in (AT_LEAST, BELOW)
    if ordered != (isinstance(encoder, NumericGrid) and value != "missing"):
        raise FeatureError(feature, f"column {name!r} is tested with {'is or is not' if ordered else '>= or <'} here")
    return Condition(column, test, code)


def _threshold(grid: NumericGrid, value: str, feature: str) -> int:
    try:
        number = float(value)
    except ValueError:
        raise FeatureError(feature, f"{value!r} is not a number") from None
    if not grid.lower < number < grid.upper:
        raise FeatureError(feature, f"{number:g} is not between the bounds {grid.lower:g} and {grid.upper:g}")
    return max(1, int(grid.encode(np.array([number]))[0]))


def feature_candidates(
    features: Sequence[str], names: Sequence[str], encoders: Sequence[Encoder], constant: bool
) -> Candidates:
    """The user's features, each a conjunction: ``"age >= 40 and sex is Male"``.

    Raises:
        FeatureError: names the feature and what is wrong with it.
    """
    lines = [
        [read_condition(part, feature, names, encoders) for part in re.split(r"\s+and\s+", feature)]
        for feature in features
    ]
    conditions = list(dict.fromkeys(condition for line in lines for condition in line))
    cuts = {
        column: np.unique([c.code for c in conditions if c.feature == column and c.test in (AT_LEAST, BELOW)])
        for column, encoder in enumerate(encoders)
        if isinstance(encoder, NumericGrid)
    }
    maps = []
    truths: list[np.ndarray[tuple[int], np.dtype[np.bool_]]] = [np.zeros(0, np.bool_)] * len(conditions)
    for column, encoder in enumerate(encoders):
        mapping, codes = None, np.arange(encoder.n_codes)
        if isinstance(encoder, NumericGrid):
            where = np.asarray(cuts[column], np.int64)
            mapping = np.append(np.searchsorted(where, np.arange(encoder.cells), side="right"), len(where) + 1)
            codes = np.array([0, *where.tolist(), encoder.missing])
        maps.append(None if mapping is None else mapping.astype(np.int64))
        for place, condition in enumerate(conditions):
            if condition.feature == column:
                truths[place] = condition.holds(codes, encoder)
    width = max(len(line) for line in lines)
    members = np.full((len(lines) + constant, width), -1, np.int32)
    for row, line in enumerate(lines):
        members[row + constant, : len(line)] = [conditions.index(condition) for condition in line]
    where_literals = tuple(condition.feature for condition in conditions)
    return Candidates(tuple(maps), tuple(conditions), Conjunctions(where_literals, tuple(truths), members))
