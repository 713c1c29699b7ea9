"""Thresholds among all floats: scores, privacy, what is found, and what is refused before anything is spent."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.closure import (
    AgnosticClassifier,
    ComposedClassifier,
    ConceptError,
    FiniteClassClassifier,
    RawThresholds,
    Stumps,
    Thresholds,
    Union,
)
from tacit.closure.raw import COPIES, FALLING, RISING, ROUND_CUTS, RawScored, RawSet, raw_completions
from tacit.closure.search import error_table
from tacit.curator.views.relabel import Points
from tacit.encoding.order import CUTS, LARGEST_CUT, MISSING, FloatOrder, float_of, key_of, keys_of
from tacit.encoding.values import LabelIndex
from tacit.estimators.base import request_of
from tacit.learning.learner import Task
from tacit.models.files import load_model, save_model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import BoundedRange
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring
from tacit.theory.closure.formula import TruthTable
from tests.closure.scripted import private_rows_of

COLUMNS = ("ferritin", "crp", "albumin")
MARKERS = [RawThresholds(name) for name in COLUMNS]
ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
NAMED: dict[str, Any] = {"classes": (0, 1), "random_state": 0}


def patients(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Three markers without bounds, any of which tells the disease."""
    g = np.random.default_rng(seed)
    X = pd.DataFrame({"ferritin": g.gamma(4, 50, n), "crp": g.lognormal(1, 1.5, n), "albumin": g.normal(40, 5, n)})
    return X, ((X.ferritin > 400) | (X.crp > 20) | (X.albumin < 32)).to_numpy().astype(int)


# ---- scores


def sets_of(directions: Sequence[str]) -> list[RawSet]:
    order = FloatOrder(tuple("abc"[: len(directions)]))
    return [RawSet(RawThresholds("abc"[i], d), order) for i, d in enumerate(directions)]  # type: ignore[arg-type]


def points_of(rows: Sequence[tuple[tuple[float, ...], int]], width: int = 1, said: Sequence[int] = ()) -> Points:
    """Rows as points of their own, with one earlier model that says ``said``, if any."""
    values = np.array([row for row, _ in rows], float).reshape(len(rows), width)
    codes = np.column_stack([keys_of(values[:, j]) for j in range(width)])
    labels = np.array([label for _, label in rows], np.int64)
    model = np.array(said, np.uint8).reshape(len(rows), len(said) // max(len(rows), 1))
    return Points(codes, model, np.column_stack([labels == 0, labels == 1]).astype(np.int64))


def sides_of(one: RawSet, codes: np.ndarray) -> list[np.ndarray]:
    """All patterns of a class on points, by trying a cut at every value and above all."""
    keys = codes[:, one.position]
    known = keys != MISSING
    cuts = [*np.unique(keys[known]).tolist(), LARGEST_CUT + 2]
    rising = [(keys >= cut) & known for cut in cuts] if one.kinds & RISING else []
    falling = [(keys < cut) & known for cut in cuts] if one.kinds & FALLING else []
    return rising + falling


def test_scores_are_minima_over_all_completions() -> None:
    g = np.random.default_rng(0)
    for _ in range(25):
        k, n, earlier = int(g.integers(1, 4)), int(g.integers(1, 7)), int(g.integers(0, 2))
        sets = sets_of(g.choice(["rising", "falling", "both"], k))
        values = g.integers(0, 5, (n, k)).astype(float)
        values[g.random((n, k)) < 0.15] = math.nan
        rows = [(tuple(row), int(label)) for row, label in zip(values, g.integers(0, 2, n), strict=True)]
        points = points_of(rows, k, g.integers(0, 2, n * earlier).tolist())
        function = TruthTable(tuple(g.integers(0, 2, 1 << (k + earlier)).tolist()))
        table = error_table(function, points.said, points.counts)
        expected = [
            min(
                int(table[np.arange(n), sum(side.astype(int) << i for i, side in enumerate((own, *later)))].sum())
                for later in product(*(sides_of(one, points.codes) for one in sets[1:]))
            )
            for own in sides_of(sets[0], points.codes)
        ]
        result = raw_completions(function, sets, True, points)
        directions = 2 if sets[0].kinds == RISING | FALLING else 1
        round_ones = directions * len(ROUND_CUTS)
        assert result.scores[:-round_ones].tolist() == expected
        assert set(result.scores[-round_ones:].tolist()) <= set(expected)
        assert sum(map(int, result.lengths)) == directions * (CUTS + COPIES * len(ROUND_CUTS))


def test_a_run_holds_the_cuts_that_say_the_same() -> None:
    points = points_of([((1.0,), 0), ((2.0,), 1), ((math.nan,), 1), ((1e300,), 0)])
    (one,) = sets_of(["both"])
    result = raw_completions(TruthTable((0, 1)), [one], True, points)
    assert sum(map(int, result.lengths[: -2 * len(ROUND_CUTS)])) == 2 * CUTS
    for cut in (-1e280, 1.0, math.nextafter(1.0, 2), 2.0, math.nextafter(2.0, 3), 1e280):
        for falling in (0, 1):
            number = falling * CUTS + key_of(cut) + LARGEST_CUT
            values = np.array([1.0, 2.0, math.nan, 1e300])
            expected = ((values < cut) if falling else (values >= cut)) & ~np.isnan(values)
            assert result.labels(number).tolist() == expected.tolist()
            ((name,), (grid,), holds, text) = one.concept(number)
            assert holds[grid.encode(values)].tolist() == expected.tolist()
            assert (name, text) == ("a", f"a {'<' if falling else '>='} {cut!r}")


@pytest.mark.parametrize(("direction", "falling"), [("rising", False), ("falling", True)])
def test_a_class_of_one_direction_has_concepts_of_that_one(direction: str, falling: bool) -> None:
    (one,) = sets_of([direction])
    points = points_of([((1.0,), 0), ((2.0,), 1)])
    result = raw_completions(TruthTable((0, 1)), [one], True, points)
    number = key_of(1.5) + LARGEST_CUT
    _, (grid,), holds, _ = one.concept(number)
    assert result.labels(number).tolist() == holds[grid.encode([1.0, 2.0])].tolist() == [falling, not falling]


def test_patterns_of_the_sample_are_listed_once() -> None:
    for direction, count in (("rising", 4), ("falling", 4), ("both", 6)):
        points = points_of([((1.0,), 0), ((2.0,), 1), ((3.0,), 1), ((math.inf,), 1)])
        result = raw_completions(TruthTable((0, 1)), sets_of([direction]), False, points)
        patterns = {result.labels(k).tobytes() for k in range(len(result.scores))}
        assert len(result.scores) == len(patterns) == count
        assert result.lengths.tolist() == [1] * count


# ---- privacy


def test_round_cuts_have_half_of_the_chances_and_say_what_they_say() -> None:
    """By value: 0, and 16 cuts from each of 61 powers of two to the next, of either sign."""
    assert len(ROUND_CUTS) == 2 * 61 * 16 + 1
    assert (ROUND_CUTS[0], ROUND_CUTS[976], ROUND_CUTS[977], ROUND_CUTS[-1]) == (
        -1.9375 * 2**40,
        0.0,
        2**-20,
        1.9375 * 2**40,
    )
    assert 0.9999 < COPIES * len(ROUND_CUTS) / CUTS <= 1
    values = np.array([-3.0, -0.5, 0.0, 1.0, 1.03, 2.0, math.nan, 700.0])
    points = points_of([((float(v),), int(v > 1)) for v in values])
    for direction, ways in (("both", 2), ("rising", 1), ("falling", 1)):
        (one,) = sets_of([direction])
        result = raw_completions(TruthTable((0, 1)), [one], True, points)
        for way in range(ways):
            for place in (0, 500, 976, 1297, 1298, 1299, 1952):
                first = ways * CUTS + (way * len(ROUND_CUTS) + place) * COPIES
                cut, falling = ROUND_CUTS[place], direction == "falling" or way == 1
                expected = ((values < cut) if falling else (values >= cut)) & ~np.isnan(values)
                wrong = int((expected != (values > 1)).sum())
                for number in (first, first + COPIES - 1):
                    assert one.concept(number)[3] == f"a {'<' if falling else '>='} {cut!r}"
                    assert result.labels(number).tolist() == expected.tolist()
                    assert result.scores[result.run_of(number)] == wrong


def steps(found: RawScored) -> Callable[[int], int]:
    ends = list(accumulate(map(int, found.lengths)))
    return lambda number: int(found.scores[bisect_right(ends, number)])


def moves(a: RawScored, b: RawScored) -> set[int]:
    """By how much scores differ, over all candidates: one in each stretch where neither changes."""
    first = {end - 1 for found in (a, b) for end in accumulate(map(int, found.lengths)) if end}
    before, after = steps(a), steps(b)
    return {after(number) - before(number) for number in first}


def random_row(g: np.random.Generator, k: int) -> tuple[tuple[float, ...], int]:
    values = g.choice([-1e300, -1.0, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 7.0, 1e300, math.inf, math.nan], k)
    return tuple(values.tolist()), int(g.integers(2))


def test_a_row_adds_an_error_or_none_to_every_cut() -> None:
    """So scores move by at most 1 apart, which some pair of neighbours does: a constant of 0.9 would be too small."""
    g = np.random.default_rng(1)
    widest = 0
    for _ in range(120):
        k = int(g.integers(1, 4))
        sets = sets_of(g.choice(["rising", "falling", "both"], k))
        function = TruthTable(tuple(g.integers(0, 2, 1 << k).tolist()))
        rows = [random_row(g, k) for _ in range(int(g.integers(0, 6)))]
        more = [*rows, random_row(g, k)]
        before, after = (raw_completions(function, sets, True, points_of(table, k)) for table in (rows, more))
        moved = moves(before, after)
        assert moved <= {0, 1}
        widest = max(widest, max(moved) - min(moved))
    assert widest == 1


class Watching:
    """Noise that writes down what it is asked, and answers with the first candidate."""

    name, releasable = "watching", False

    def __init__(self) -> None:
        self.asked: list[tuple[np.ndarray, np.ndarray, float]] = []

    def exponential_runs(self, scores: np.ndarray, lengths: np.ndarray, scale: float) -> int:
        self.asked.append((scores, lengths, scale))
        return 0


def log_densities(rows: Sequence[tuple[float, int]], relation: Neighbouring, factor: float) -> tuple[Any, Any]:
    """Where runs end, and the log-probability of each of their candidates, for the learner at epsilon 1."""
    estimator = FiniteClassClassifier(
        RawThresholds("x", "rising"), counts_share=0.0, neighbouring=str(relation), delta=0.0
    )
    private_rows = private_rows_of(rows, [BoundedRange(1.0)], relation)  # type: ignore[arg-type]
    noise = Watching()
    private_rows._noise = noise  # type: ignore[assignment]
    fit_on(estimator, private_rows)
    ((scores, lengths, scale),) = noise.asked
    logs = scores / (scale * factor)
    total = math.log((lengths.astype(float) * np.exp(logs - logs.max())).sum())
    return list(accumulate(map(int, lengths))), logs - logs.max() - total


def fit_on(estimator: Any, private_rows: Any) -> Any:
    learner = estimator.make_learner(request_of(estimator))
    task = Task(None, ("x",), LabelIndex((0, 1)), None)
    learner.check(task)
    return learner.learn(private_rows, learner.request.allowance, task)


def worst(relation: Neighbouring, factor: float) -> float:
    """The largest log-ratio of the probabilities of a candidate, over neighbours."""
    value = [(x, y) for x in (float_of(-LARGEST_CUT), 3.0) for y in (0, 1)]
    tables = [rows for size in range(3) for rows in product(value, repeat=size)]
    pairs = [(rows, (*rows, row)) for rows in tables for row in value]
    if relation is REPLACE:
        pairs = [((*rows, a), (*rows, b)) for rows in tables for a in value for b in value]
    result = 0.0
    for one, other in pairs:
        (ends, logs), (more_ends, more_logs) = (log_densities(rows, relation, factor) for rows in (one, other))
        floats = {end for end in (*ends, *more_ends) if 0 < end <= CUTS}
        for number in {*floats, *ends[-len(ROUND_CUTS) :: 61]}:
            here, there = logs[bisect_left(ends, number)], more_logs[bisect_left(more_ends, number)]
            result = max(result, abs(here - there))
    return result


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_a_released_cut_costs_what_is_charged_and_a_smaller_scale_is_caught(relation: Neighbouring) -> None:
    """A row at the lowest cut is right for that cut and wrong for nearly all others, which is nearly the worst."""
    assert 0.95 < worst(relation, 1.0) <= 1.0 + 1e-9
    assert worst(relation, 0.9) > 1.0


# ---- what is learned


def test_models_are_saved_and_counts_are_released(tmp_path: Any) -> None:
    X, y = patients(3000, 2)
    model = FiniteClassClassifier(MARKERS[0], **NAMED).fit(X, y)
    assert [entry.charge.__class__.__name__ for entry in model.certificate_.entries] == ["BoundedRange", "Laplace"]
    save_model(model.model_, tmp_path / "m.json", model.certificate_.to_dict())
    again, _ = load_model(tmp_path / "m.json")
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert model.predict_proba(X)[:, 1].max() > 0.9


def test_a_cut_without_counts_says_either_class_for_sure() -> None:
    X, y = patients(300, 3)
    model = FiniteClassClassifier(RawThresholds("crp"), counts_share=0.0, epsilon=10.0, **NAMED).fit(X, y)
    assert np.unique(model.predict_proba(X)[:, 1]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("n", [0, 1, 40])
def test_no_content_stops_a_fit(n: int) -> None:
    strange = np.resize([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0], n)
    X = pd.DataFrame(dict.fromkeys(COLUMNS, strange))
    for y in (np.zeros(n, int), np.ones(n, int), np.resize([0, 1, 7], n)):
        for inside, patterns in ((None, "auto"), (FiniteClassClassifier(RawThresholds("crp")), "auto"),
                                 (FiniteClassClassifier(RawThresholds("crp")), "sample")):  # fmt: skip
            model = ComposedClassifier(MARKERS, "or", inside, patterns=patterns, **NAMED).fit(X, y)
            assert len(model.predict(X)) == n


# ---- what is refused


DECLARED = {
    "label": {"column": "ill", "kind": "classes", "classes": [0, 1]},
    "columns": {**{c: {"kind": "numeric", "lower": 0, "upper": 1} for c in COLUMNS},
                "ward": {"kind": "categorical", "categories": ["n", "s"]}},
}  # fmt: skip
PERSONS = {**DECLARED, "unit": {"column": "who", "max_rows": 2}}


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (ComposedClassifier([MARKERS[0], Thresholds("crp")], schema=DECLARED), "only"),
        (ComposedClassifier([*MARKERS, MARKERS[0]], "or", classes=(0, 1)), "at most 3"),
        (FiniteClassClassifier(RawThresholds("nowhere"), classes=(0, 1)), "'nowhere'"),
        (FiniteClassClassifier(RawThresholds("ward"), schema=DECLARED), "categorical"),
        (FiniteClassClassifier(RawThresholds("crp", "up"), classes=(0, 1)), "direction"),  # type: ignore[arg-type]
        (FiniteClassClassifier(RawThresholds("crp"), schema=PERSONS), "single rows"),
        (FiniteClassClassifier(Union((MARKERS[0],)), schema=DECLARED), "no cells"),
        (AgnosticClassifier(None, MARKERS[0], schema=DECLARED), "no cells"),
        (ComposedClassifier(MARKERS, "or", FiniteClassClassifier(Stumps(COLUMNS)), classes=(0, 1)), "without a schema"),
    ],
)  # fmt: skip
def test_what_cannot_be_learned_is_refused_before_anything_is_spent(estimator: Any, said: str, tmp_path: Any) -> None:
    X, y = patients(50, 0)
    X["ward"], X["who"] = "n", "p"
    account = PrivacyAccount.create(f"sqlite:///{tmp_path}/budget.tacit.db", "people", 9.0, 1e-5, "add_or_remove_one")
    if estimator.schema is None:
        X = X[list(COLUMNS)]
    with pytest.raises((ConceptError, RequestError), match=said) as caught:
        estimator.set_params(account=account).fit(X, y)
    assert "Nothing was spent" in str(caught.value)
    assert not account.charges
