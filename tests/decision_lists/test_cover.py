"""The cover behind the gate: its counts, the law of what it chooses, its charges, and the order of things."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.curator.cover import cover_scale
from tacit.curator.curator import Curator
from tacit.engines.blocks import MemoryTable
from tacit.noise import SeededSource
from tacit.privacy import accountants
from tacit.privacy.charges import NonPrivate
from tacit.privacy.ledger import BudgetExceeded, Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, TooManyCandidates
from tacit.queries.covers.charges import Accounting, cover_charge, exact_charge
from tacit.queries.covers.cover import Cover, CoverStep
from tacit.queries.histogram import Histogram
from tacit.queries.rules import class_count_rule
from tacit.theory import em_cover as theory
from tests.chance import within_law
from tests.decision_lists import cover_reference as reference

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE


def conjunctions_of(n_codes: list[int], generator: np.random.Generator, n: int, width: int) -> Conjunctions:
    columns = tuple(int(c) for c in generator.integers(0, len(n_codes), 3 * len(n_codes)))
    truths = tuple(generator.random(n_codes[c]) < 0.5 for c in columns)
    members = generator.integers(-1, len(columns), (n, width)).astype(np.int32)
    return Conjunctions(columns, truths, -np.sort(-members, axis=1))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 200), st.integers(1, 3), st.integers(2, 4))
def test_counts_are_those_of_the_rows_that_are_left(seed: int, n_rows: int, width: int, n_labels: int) -> None:
    generator = np.random.default_rng(seed)
    n_codes = [3, 300, 5]
    columns = [generator.integers(0, n, n_rows).astype(np.uint16 if n > 256 else np.uint8) for n in n_codes]
    labels = generator.integers(0, n_labels, n_rows).astype(np.uint8)
    conjunctions = conjunctions_of(n_codes, generator, 40, width)
    table = MemoryTable(columns, labels, n_codes, n_labels, threads=2)
    rows = table.open_cover(conjunctions)
    truth = np.array(
        [
            np.logical_and.reduce(
                [np.ones(n_rows, bool)]
                + [conjunctions.truths[i][columns[conjunctions.columns[i]]] for i in conjunctions.literals_of(c)]
            )
            for c in range(40)
        ]
    )
    left = np.ones(n_rows, bool)
    order = generator.permutation(40)[:6]
    first = np.full(n_rows, 6)
    for place, chosen in enumerate(order):
        expected = [[(truth[c] & left & (labels == y)).sum() for y in range(n_labels)] for c in range(40)]
        assert np.array_equal(rows.counts, np.array(expected).reshape(40, n_labels))
        first[truth[chosen] & left] = place
        rows.remove(int(chosen))
        left &= ~truth[chosen]
    result = table.answer(Histogram(FirstMatch(conjunctions.take(order.tolist())), class_count_rule(n_labels)))
    assert np.array_equal(result, [[((first == p) & (labels == y)).sum() for y in range(n_labels)] for p in range(7)])


# A tiny table for exact laws: two Boolean columns and the constant.

TINY = Conjunctions((0, 1), (np.array([False, True]),) * 2, np.array([[-1], [0], [1]], np.int32))
ROWS: list[reference.Row] = [((0, 1), 0), ((1, 1), 1), ((1, 0), 1), ((0, 1), 1), ((0, 0), 0)]


def tiny_table(rows: list[reference.Row]) -> MemoryTable:
    features = np.array([row[0] for row in rows], np.uint8).reshape(len(rows), 2)
    labels = np.array([row[1] for row in rows], np.uint8)
    return MemoryTable([features[:, 0].copy(), features[:, 1].copy()], labels, (2, 2), 2)


def truncated(output: reference.Output) -> reference.Output:
    """What a cover lets out: nothing after the constant."""
    constant = next((i for i, (feature, _) in enumerate(output) if feature < 0), len(output))
    return output[: constant + 1]


def law(steps: tuple[CoverStep, ...], factor: float = 1.0) -> dict[reference.Output, float]:
    scales = [factor * step.scale for step in steps]
    result: dict[reference.Output, float] = {}
    distribution = reference.distribution(ROWS, 2, scales, float(steps[0].reward), float(steps[0].penalty))
    for output, probability in distribution.items():
        result[truncated(output)] = result.get(truncated(output), 0.0) + probability
    return result


def log_likelihood_gain(draws: list[reference.Output], law_a: dict, law_b: dict) -> float:
    return sum(math.log(law_a[draw]) - math.log(law_b[draw]) for draw in draws)


@pytest.mark.parametrize(
    "steps", [(CoverStep(0.9, 0, 1),) * 2, pytest.param((CoverStep(0.5, 1, 2),) * 3, marks=pytest.mark.slow)]
)
def test_rules_are_drawn_by_the_law_of_em_cover(steps: tuple[CoverStep, ...]) -> None:
    n = 4_000
    curator = Curator(tiny_table(ROWS), Reservation([NonPrivate()], ADD, "test"), SeededSource(5))
    cover = Cover(TINY, 2, steps)
    draws = []
    for _ in range(n):
        rules = curator.cover(cover, "rules").rules
        draws.append(tuple((conjunction - 1, said) for conjunction, said in rules))
    claimed = law(steps)
    assert within_law(Counter(draws), claimed)
    for factor in (0.9, 1.1):
        assert log_likelihood_gain(draws, claimed, law(steps, factor)) > 0


def test_no_rule_is_a_candidate_with_a_public_score() -> None:
    """Without noise: rules until none is better than nothing."""
    steps = (CoverStep(math.inf, 1, 1),) * 2
    curator = Curator(tiny_table(ROWS), Reservation([NonPrivate()], ADD, "x"), SeededSource(1))
    covering = curator.cover(Cover(TINY.take([1, 2]), 2, steps, idle_score=0), "rules")
    # "if x0 then 1" gets two rows right; of the three rows left x1 then covers one of each class: no gain
    assert covering.rules == ((0, 1),)
    assert covering.idle == 1
    assert isinstance(covering.charge, NonPrivate)


def test_a_prior_moves_the_odds_by_its_nats_and_nothing_else() -> None:
    step = CoverStep(0.01, 0, 1)
    prior = np.array([0.0, 1.5, -2.0])
    assert Cover(TINY, 2, (step,), log_prior=prior).offsets(step).tolist() == [0, 150, -200]
    curator = Curator(tiny_table([]), Reservation([NonPrivate()], ADD, "x"), SeededSource(3))
    cover = Cover(TINY, 2, (step,), log_prior=prior)
    draws = Counter(int(curator.cover(cover, "x").rules[0][0]) for _ in range(3_000))
    assert within_law(draws, dict(enumerate(np.exp(prior) / np.exp(prior).sum())))


def test_the_whole_charge_is_entered_before_a_row_is_read() -> None:
    class Unread(MemoryTable):
        def open_cover(self, conjunctions: Conjunctions) -> None:  # type: ignore[override]
            raise OSError("read")

    cover = Cover(TINY, 2, (CoverStep(0.3, 0, 1),) * 2)
    charge = cover_charge(cover.steps, ADD)
    table = Unread([np.zeros(3, np.uint8)] * 2, np.zeros(3, np.uint8), (2, 2), 2)
    reservation = Reservation([charge], ADD, "test")
    curator = Curator(table, reservation, SeededSource(1))
    with pytest.raises(OSError, match="read"):
        curator.cover(cover, "rules")
    [entry] = reservation.entries
    assert entry.charge == charge
    assert "EM-cover" in entry.theorem
    with pytest.raises(BudgetExceeded):  # and it is spent: a second run is refused, unread
        curator.cover(cover, "rules")


def test_what_a_cover_is_not_made_for_costs_nothing() -> None:
    reservation = Reservation([NonPrivate()], ADD, "test")
    curator = Curator(tiny_table(ROWS), reservation, SeededSource(1), rows_per_unit=2)
    with pytest.raises(ValueError, match="single rows"):
        curator.cover(Cover(TINY, 2, (CoverStep(0.3, 0, 1),)), "rules")
    assert curator.cover(Cover(TINY, 2, (CoverStep(0.3, 0, 1),)), "rules", Accounting.RANGES).rules
    reservation = Reservation([NonPrivate()], ADD, "test")
    curator = Curator(tiny_table(ROWS), reservation, SeededSource(1))
    with pytest.raises(ValueError, match="one-sided"):
        curator.cover(Cover(TINY, 2, (CoverStep(0.3, 1, 1),)), "rules", Accounting.EXACT)
    with pytest.raises(ValueError, match="used twice"):
        cover_charge([CoverStep(0.7, 0, 1)], REPLACE, Accounting.PAPER, 0.3)
    with pytest.raises(ValueError, match=r"1\.2564"):
        curator.cover(Cover(TINY, 2, (CoverStep(1.3, 0, 1),)), "rules", Accounting.PAPER, 1e-6)
    assert reservation.entries == ()


def test_too_many_candidates_are_refused_before_anything_is_spent() -> None:
    many = Conjunctions((0,), (np.array([False, True]),), np.zeros((1 << 21, 1), np.int32))
    with pytest.raises(TooManyCandidates, match="shorter conjunctions"):
        Cover(many, 2, (CoverStep(0.1, 0, 1),))


def worst_delta(steps: tuple[CoverStep, ...], epsilon: float, replace: bool) -> float:
    """The largest hockey stick over all pairs of tiny neighbours."""
    scales = [step.scale for step in steps]
    worst = 0.0
    known: dict[tuple[reference.Row, ...], dict[reference.Output, float]] = {}
    for pair in reference.neighbours(2, 1, replace):
        for rows in pair:
            if tuple(sorted(rows)) not in known:
                known[tuple(sorted(rows))] = reference.distribution(
                    rows, 2, scales, float(steps[0].reward), float(steps[0].penalty)
                )
        p, q = (known[tuple(sorted(rows))] for rows in pair)
        worst = max(worst, reference.hockey_stick(p, q, epsilon))
    return worst


PENALTIES, GAINS = (CoverStep(0.7, 0, 1),) * 3, (CoverStep(0.35, 1, 2),) * 3
SMALL = (CoverStep(0.3, 0, 1),) * 3


@pytest.mark.parametrize(
    ("steps", "accounting", "replace"),
    [
        (PENALTIES, Accounting.MOMENTS, False),
        (PENALTIES, Accounting.MOMENTS, True),
        (PENALTIES, Accounting.CURVE, False),
        (PENALTIES, Accounting.CURVE, True),
        (PENALTIES, Accounting.EXACT, False),
        (PENALTIES, Accounting.PAPER, False),
        (SMALL, Accounting.PAPER, True),
        (PENALTIES, Accounting.PURE, False),
        (PENALTIES, Accounting.PURE, True),
        (GAINS, Accounting.MOMENTS, False),
        (GAINS, Accounting.MOMENTS, True),
        (GAINS, Accounting.CURVE, False),
        (GAINS, Accounting.PAPER, False),
        (GAINS, Accounting.PURE, True),
        (GAINS, Accounting.RANGES, True),
    ],
)
def test_no_tiny_table_costs_more_than_its_charge(
    steps: tuple[CoverStep, ...], accounting: Accounting, replace: bool
) -> None:
    for delta in (0.3, 0.05, 0.003):
        charge = cover_charge(steps, REPLACE if replace else ADD, accounting, delta)
        epsilon = accountants.epsilon([charge], delta)
        if math.isfinite(epsilon):
            assert worst_delta(steps, epsilon, replace) <= delta
        else:
            assert accounting is Accounting.PAPER


def test_the_exact_charge_is_the_closed_hockey_stick() -> None:
    for scale in (0.02, 0.1, 0.5):
        charge = exact_charge([CoverStep(scale, 0, 1)] * 7)
        for delta in (1e-3, 1e-6, 1e-9):
            claimed = theory.adding_epsilon(scale, delta)
            assert claimed <= accountants.epsilon([charge], delta) <= 1.01 * claimed


def test_the_scale_of_the_draw_never_costs_more_than_the_step() -> None:
    for value in (0.1, 1 / 3, 0.7, 1e-5, 2.3):
        scale = cover_scale(CoverStep(value, 0, 1))
        assert scale is not None
        assert 1 / scale <= value < 1.000001 / scale
    assert cover_scale(CoverStep(math.inf, 0, 1)) is None


@pytest.mark.parametrize(
    "bad", [lambda: CoverStep(0.0, 0, 1), lambda: CoverStep(1.0, 0, 0), lambda: Cover(TINY, 2, ())]
)
def test_impossible_descriptions_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        bad()  # type: ignore[operator]


def test_all_orders_of_rows_and_threads_give_the_same_counts() -> None:
    rows = ROWS * 3
    for order in itertools.islice(itertools.permutations(range(len(rows))), 0, 5000, 1000):
        counts = tiny_table([rows[i] for i in order]).open_cover(TINY).counts
        assert np.array_equal(counts, tiny_table(rows).open_cover(TINY).counts)
