"""EM-cover as a general mechanism: any public predicates, any scores with the property of Lemma A.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from tacit import DecisionListClassifier, Schema
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise import SeededSource
from tacit.privacy import accountants
from tacit.privacy.charges import NonPrivate
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.candidates import Conjunctions
from tacit.queries.covers.charges import Accounting, cover_charge
from tacit.queries.covers.cover import Cover, CoverStep, ScoredStep, widest_shifts
from tacit.theory.em_cover import Shifts
from tests.chance import within_law
from tests.decision_lists import cover_reference as reference

UNIT = Shifts(-1.0, 1.0)
ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


@dataclass(frozen=True)
class Capped:
    """Rows that a rule gets right, up to a cap that falls with every rule, less those it gets wrong."""

    cap: int = 3
    shifts: Shifts = UNIT

    def scores(self, counts: np.ndarray, chosen: Sequence[tuple[int, int]]) -> np.ndarray:
        wrong = counts.sum(axis=1, keepdims=True) - counts
        return np.minimum(counts, max(0, self.cap - len(chosen))) - wrong


@dataclass(frozen=True)
class Margin:
    """The distance of the classes: not linear, and twice as sensitive as it says."""

    shifts: Shifts = UNIT

    def scores(self, counts: np.ndarray, chosen: Sequence[tuple[int, int]]) -> np.ndarray:
        return 2 * np.abs(counts[:, :1] - counts[:, 1:]) * np.ones((1, 2), np.int64)


def test_shifts_are_searched_for() -> None:
    for chosen in ((), ((0, 1),), ((0, 1), (1, 0), (2, 1))):
        result = widest_shifts(Capped(), 2, 6, chosen)
        assert result.low == -1.0
        assert result.high == (1.0 if len(chosen) < 3 else 0.0)
    assert widest_shifts(CoverStep(1.0, 3, 5), 3, 4) == Shifts(-5.0, 3.0)
    assert widest_shifts(Margin(), 2, 5).high > Margin().shifts.high  # the search finds a broken promise


ROWS: list[reference.Row] = [((0, 1), 0), ((1, 1), 1), ((1, 0), 1), ((0, 1), 1), ((0, 0), 0)]
TRUE = np.array([False, True])


def table_of(rows: list[reference.Row]) -> MemoryTable:
    features = np.array([row[0] for row in rows], np.uint8).reshape(len(rows), 2)
    labels = np.array([row[1] for row in rows], np.uint8)
    return MemoryTable([features[:, 0].copy(), features[:, 1].copy()], labels, (2, 2), 2)


XOR = Conjunctions((0, (0, 1)), (TRUE, np.array([[False, True], [True, False]])), np.array([[-1], [0], [1]], np.int32))
"""The constant, a column, and the exclusive or of two columns: a predicate that is no conjunction."""


def exact_law(rows: list[reference.Row], scale: float, steps: int) -> dict[tuple[tuple[int, int], ...], float]:
    """What :class:`Capped` scores make of XOR's candidates, by enumeration; nothing is let out after the constant."""
    holds = [lambda x: True, lambda x: x[0] == 1, lambda x: x[0] != x[1]]
    law: dict[tuple[tuple[int, int], ...], float] = {}

    def walk(left: list[reference.Row], free: list[int], chosen: tuple[tuple[int, int], ...], p: float) -> None:
        if len(chosen) == steps or not free or (chosen and chosen[-1][0] == 0):
            law[chosen] = law.get(chosen, 0.0) + p
            return
        counts = np.array([[sum(holds[c](x) and y == label for x, y in left) for label in (0, 1)] for c in free])
        weights = np.exp(scale * Capped().scores(counts, chosen))
        for place, c in enumerate(free):
            for said in (0, 1):
                rest = [row for row in left if not holds[c](row[0])]
                share = float(weights[place, said] / weights.sum())
                walk(rest, [f for f in free if f != c], (*chosen, (c, said)), p * share)

    walk(rows, [0, 1, 2], (), 1.0)
    return law


def test_any_candidates_and_scores_are_drawn_by_the_law_of_em_cover() -> None:
    n = 2_500
    curator = Curator(table_of(ROWS), Reservation([NonPrivate()], ADD, "x"), SeededSource(5))
    cover = Cover(XOR, 2, (ScoredStep(0.7, Capped()),) * 3)
    result = Counter(curator.cover(cover, "rules").rules for _ in range(n))
    law = exact_law(ROWS, 0.7, 3)
    assert within_law(result, law)
    for factor in (0.9, 1.1):
        other = exact_law(ROWS, 0.7 * factor, 3)
        assert sum(times * math.log(law[output] / other[output]) for output, times in result.items()) > 0


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_no_tiny_table_exceeds_the_charge_of_such_scores(relation: Neighbouring) -> None:
    steps = (ScoredStep(0.7, Capped()),) * 3
    worst: dict[float, float] = {}
    charge = cover_charge(steps, relation, Accounting.MOMENTS)
    claimed = {delta: accountants.epsilon([charge], delta) for delta in (0.2, 0.02)}
    laws: dict[tuple[reference.Row, ...], dict] = {}
    for pair in reference.neighbours(2, 1, relation is REPLACE):
        one, two = (laws.setdefault(tuple(rows), exact_law(rows, 0.7, 3)) for rows in pair)
        for delta, epsilon in claimed.items():
            worst[delta] = max(worst.get(delta, 0.0), reference.hockey_stick(one, two, epsilon))
    for delta, found in worst.items():
        assert found <= delta


def test_an_ending_step_chooses_what_the_constant_says() -> None:
    steps = (CoverStep(math.inf, 1, 1), CoverStep(math.inf, 1, 1, ending=True))
    curator = Curator(table_of(ROWS), Reservation([NonPrivate()], ADD, "x"), SeededSource(1))
    assert curator.cover(Cover(XOR, 2, steps, constant_last=True), "rules").rules == ((1, 1), (0, 0))
    with pytest.raises(ValueError, match="needs the constant"):
        Cover(XOR.take([1, 2]), 2, steps)


def test_without_counts_the_default_is_learned() -> None:
    schema = Schema.from_dict(
        {
            "label": {"column": "y", "classes": [0, 1], "positive": 1},
            "columns": {"a": {"kind": "boolean"}, "b": {"kind": "boolean"}},
        }
    )
    generator = np.random.default_rng(0)
    columns = generator.random((3_000, 2)) < 0.3
    rows = {"a": columns[:, 0], "b": columns[:, 1]}
    labels = np.where(columns[:, 0], 0, np.where(columns[:, 1], generator.random(3_000) < 0.1, 1)).astype(int)
    arguments = {"schema": schema, "k": 1, "max_rules": 2, "counts_share": 0.0, "random_state": 1}
    model = DecisionListClassifier(**arguments).fit(pd.DataFrame(rows), labels)
    assert model.model_.rules[-1].conditions == ()
    assert model.score(pd.DataFrame(rows), labels) > 0.9
    errors = DecisionListClassifier(objective="errors", **arguments).fit(pd.DataFrame(rows), labels)
    assert errors.model_.rules[-1].conditions == ()
