"""What a released list proves about new rows: its counts, its code length, and that the bound holds."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit import DecisionListClassifier, PrivateSelection, load, save
from tacit.decision_lists.learn import Learned, counted_errors, list_model, log_lists
from tacit.decision_lists.literals import candidates
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import BooleanIndex
from tacit.models.decision_list import IS, IS_NOT, Condition, ListRule
from tacit.models.summary import seen

COLUMNS = [f"x{j}" for j in range(12)]
SCHEMA: dict[str, Any] = {
    "label": {"column": "y", "classes": [0, 1]},
    "columns": {name: {"kind": "boolean"} for name in COLUMNS},
}


def table(n: int, seed: int, noise: float = 0.1) -> tuple[pd.DataFrame, np.ndarray]:
    source = np.random.default_rng(seed)
    X = pd.DataFrame(source.random((n, len(COLUMNS))) < 0.5, columns=COLUMNS)
    return X, ((X.x0 & X.x1) | X.x2).to_numpy().astype(int) ^ (source.random(n) < noise)


A, B, C = ((Condition(j, IS, 1),) for j in range(3))


def test_rows_of_a_rule_that_was_left_out_count_as_wrong_where_nobody_knows_who_decides_them() -> None:
    counts = np.array([[1.0, 20.0], [3.0, 2.0], [30.0, 4.0], [6.0, 7.0]])
    kept = [ListRule(A, 1, counts[0]), ListRule(C, 0, counts[2]), ListRule((), 1, counts[3])]
    result = counted_errors([A, B, C], counts, 2.0, kept, 9.0)
    assert (result.wrong, result.right) == (1 + 5 + 4 + 6, 20 + 30 + 7)
    assert (result.wrong_cells, result.right_cells) == (1 + 2 + 1 + 1, 3)
    assert (result.sd, result.log_models) == (2.0, 9.0)


def test_rows_of_rules_at_the_end_are_decided_by_else() -> None:
    counts = np.array([[1.0, 20.0], [3.0, 2.0], [30.0, 4.0], [6.0, 7.0]])
    result = counted_errors([A, B, C], counts, 2.0, [ListRule(A, 1, None), ListRule((), 0, None)], 9.0)
    assert (result.wrong, result.right) == (1 + 2 + 4 + 7, 20 + 3 + 30 + 6)
    assert (result.wrong_cells, result.right_cells) == (4, 4)


def test_what_comes_after_a_rule_for_everybody_is_noise_and_is_not_counted() -> None:
    counts = np.array([[1.0, 20.0], [9.0, 2.0], [0.5, -0.5]])
    result = counted_errors([A, ()], counts, 2.0, [ListRule(A, 1, None), ListRule((), 0, None)], 9.0)
    assert (result.wrong, result.right) == (1 + 2, 20 + 9)


@pytest.mark.parametrize("k", [1, 2])
def test_the_code_of_a_list_by_value(k: int) -> None:
    """4 Boolean columns: 4 (is, is not, of two values) + "is missing" each, so 20 literals, and pairs over columns."""
    chosen = candidates((BooleanIndex(),) * 4, k, 16, 2, False)
    n_pairs = len(chosen.conjunctions) - 20
    lengths = math.log(k)
    kept = [ListRule(A, 1, None), ListRule((), 0, None)]
    one = log_lists(kept, chosen.conjunctions, 8, 2)
    assert one == pytest.approx(math.log(9) + lengths + math.log(20) + 2 * math.log(2))
    if k == 2:
        pair = (Condition(0, IS, 1), Condition(1, IS_NOT, 0))
        longer = log_lists([ListRule(pair, 0, None), *kept], chosen.conjunctions, 8, 2)
        assert longer - one == pytest.approx(math.log(2) + math.log(n_pairs) + math.log(2))


def test_the_prior_of_all_lists_is_at_most_one() -> None:
    chosen = candidates((BooleanIndex(),) * 2, 2, 16, 3, False)
    n, total = chosen.conjunctions, 0.0
    one = ListRule((), 0, None)
    rules = [ListRule(chosen.conditions_of(i), 0, None) for i in range(len(n))]
    total += 3 * math.exp(-log_lists([one], n, 2, 3))
    each = [math.exp(-log_lists([rule, one], n, 2, 3)) for rule in rules]
    total += 9 * sum(each)
    total += 27 * sum(math.exp(-log_lists([rule, rules[0], one], n, 2, 3)) for rule in rules) * sum(each) / each[0]
    assert total == pytest.approx(1.0)


def test_without_noise_errors_are_counted_exactly() -> None:
    X, y = table(1500, 1)
    fitted = DecisionListClassifier(epsilon=math.inf, schema=SCHEMA).fit(X, y)
    result = fitted.model_.evidence
    assert (result.sd, result.wrong) == (0.0, (fitted.predict(X) != y).sum())
    assert result.wrong + result.right == 1500


def test_the_bound_holds_where_labels_are_noise_and_would_not_without_the_code_of_the_list() -> None:
    """Every list errs on half of all new rows. On its own rows the list that was chosen looks better than that."""
    holds = without = 0
    for seed in range(40):
        source = np.random.default_rng(seed)
        X = pd.DataFrame(source.random((150, len(COLUMNS))) < 0.5, columns=COLUMNS)
        y = (source.random(150) < 0.5).astype(int)
        result = DecisionListClassifier(epsilon=math.inf, schema=SCHEMA).fit(X, y).model_.evidence
        holds += result.bound() >= 0.5
        without += replace(result, log_models=0.0).bound() >= 0.5
    assert holds == 40
    assert without < 30  # 95 % would have to hold


def test_a_bound_is_said_and_survives_a_file(tmp_path: Any) -> None:
    X, y = table(6000, 0)
    fitted = DecisionListClassifier(epsilon=1.0, schema=SCHEMA, random_state=0).fit(X, y)
    bound = fitted.model_.error_bound()
    assert 0.1 < bound < 0.17
    assert fitted.summary_.error_bound == bound == fitted.summary_.to_dict()["error_bound"]
    assert fitted.summary_.sentences[-1].startswith(f"on new rows it errs on at most {100 * bound:.1f} %: proved")
    assert fitted.model_.error_bound(1e-6) > bound > fitted.model_.error_bound(0.5)
    save(fitted, tmp_path / "list.json")
    assert load(tmp_path / "list.json").model_.error_bound() == bound


def test_nothing_is_proved_where_the_theorem_does_not_hold() -> None:
    X, y = table(3000, 0)
    model = DecisionListClassifier(epsilon=1.0, classes=(0, 1), random_state=0).fit(X, y)  # the schema was found
    assert model.model_.error_bound() is None
    assert model.summary_.error_bound is None
    persons = {**SCHEMA, "unit": {"column": "who", "max_rows": 2}}
    of_persons = DecisionListClassifier(epsilon=1.0, schema=persons, random_state=0)
    assert of_persons.fit(X.assign(who=np.arange(3000) // 2), y).model_.error_bound() is None
    uncounted = DecisionListClassifier(epsilon=1.0, schema=SCHEMA, counts_share=0.0, random_state=0).fit(X, y)
    assert uncounted.model_.error_bound() is None
    guess = DecisionListClassifier(epsilon=0.01, schema=SCHEMA, random_state=0).fit(X, y)
    assert guess.summary_.error_bound is None  # no better than guessing


def test_a_model_that_was_chosen_by_its_rows_proves_nothing() -> None:
    X, y = table(3000, 0)
    candidate = [DecisionListClassifier(epsilon=0.5, schema=SCHEMA, k=k) for k in (1, 2)]
    search = PrivateSelection(candidate, epsilon=3.0, random_state=0).fit(X, y)
    assert search.summary_.error_bound is None
    alone = DecisionListClassifier(epsilon=0.5, schema=SCHEMA, random_state=0).fit(X, y)
    assert seen(alone.model_, alone.certificate_).error_bound is not None


@pytest.mark.parametrize(
    ("counts", "rules"),
    [
        # the noise of a sum of two counts is 2 sqrt(2), and a rule needs 1.5 times that: 4.24 rows
        ([[1.0, 3.3], [1.0, 3.1], [30.0, 10.0]], [(A, 1, [1.0, 3.3]), ((), 0, [30.0, 10.0])]),
        ([[1.0, 3.3], [5.0, 1.0], [30.0, 10.0]], [(A, 1, [1.0, 3.3]), ((), 0, [35.0, 11.0])]),  # says what else says
        ([[9.0, 1.0], [1.0, 7.0], [30.0, 10.0]], [(A, 0, [9.0, 1.0]), (B, 1, [1.0, 7.0]), ((), 0, [30.0, 10.0])]),
        # "else" of half a row says what 22 of 33 rows do, and is joined by the rule before it, which says the same
        ([[1.0, 9.0], [20.0, 2.0], [1.0, -0.5]], [(A, 1, [1.0, 9.0]), ((), 0, [20 + 1 / 3, 2 + 1 / 6])]),
    ],
)
def test_which_rules_stay_and_what_they_say_by_hand(counts: list[list[float]], rules: list[Any]) -> None:
    learned = Learned((0, 1), (1, 0), np.array(counts), 2.0)
    chosen: Any = SimpleNamespace(conditions_of=lambda conjunction: (A, B)[conjunction])
    encoding = TableEncoding(("a", "b"), (BooleanIndex(), BooleanIndex()))
    model = list_model(learned, chosen, ("no", "yes"), encoding, 1.5)
    assert [(rule.conditions, rule.outcome) for rule in model.rules] == [rule[:2] for rule in rules]
    for rule, (_, _, expected) in zip(model.rules, rules, strict=True):
        assert rule.counts == pytest.approx(expected)
