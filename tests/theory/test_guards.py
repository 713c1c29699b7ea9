"""Guards of the room: bounds are refused just outside of what they were proved for, and answered just inside."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.theory import above_threshold, boosting, em_cover, generalisation, halfspaces, resampling, tree_rows, winnow
from tacit.theory.above_threshold import Queries
from tacit.theory.certified_error import HalfspaceCode
from tacit.theory.checks import Cost, check_positive, check_probability
from tacit.theory.closure import bounds, privacy, samples
from tacit.theory.closure.formula import TruthTable, named_function
from tacit.theory.closure.limit import Limit
from tacit.theory.decision_lists import conjunction_count, exponential_mechanism_loss, list_vc_bound, occam_sample_size
from tacit.theory.em_cover import PAPER_LIMIT, Shifts
from tacit.theory.trees import smallest_efficiency
from tests.theory.closure import extremal

TINY = 5e-324
HALF, ANY, OR = Cost(0.5, 0.0), Queries.ANY, TruthTable((0, 1, 1, 1))
COST = privacy.Cost(0.5, 0.0)


def above(number: float) -> float:
    return math.nextafter(number, math.inf)


def below(number: float) -> float:
    return math.nextafter(number, -math.inf)


def tree_bound(rows: int, gamma: float, failure: float) -> float:
    return tree_rows.private_error_bound(tree_rows.GINI, rows, 1.0, gamma, 10, failure, (1.0,))


def positive(value: float) -> None:
    check_positive(x=value)


def probability(value: float) -> None:
    check_probability(x=value)


Case = tuple[Callable[..., Any], tuple[Any, ...]]

OUTSIDE: list[Case] = [
    *((positive, (x,)) for x in (0.0, -TINY, math.nan)), *((probability, (x,)) for x in (0.0, 1.0, math.nan)),
    *((above_threshold.scales, (e, ANY)) for e in (0.0, math.inf, math.nan)), (above_threshold.scales, (1.0, ANY, 0)),
    *((above_threshold.paper_accuracy, (1.0, *pair)) for pair in ((0, 0.5), (9, 0.0), (9, 1.0))),
    *((boosting.lazy_bregman_rounds, pair) for pair in ((0.0, 0.5), (above(0.5), 0.5), (0.1, 0.0), (0.1, 1.0))),
    *((boosting.smooth_boost_rounds, (g, 0.1)) for g in (0.0, 0.5)),
    (boosting.lazy_bregman_rounds, (0.1, 0.1, "margin", "loose")), (boosting.lazy_bregman_learning_rate, (0.1, "all")),
    (bounds.littlestone_at_least, (0,)), (bounds.threshold_at_least, (0,)),
    *((bounds.weighted_majority_mistakes, (2, 1, w)) for w in (0.0, 1.0)), (bounds.weighted_majority_mistakes, (0, 1)),
    (bounds.littlestone_of_union_by_voting, ([],)), *((bounds.littlestone_of_majority, (n, 1)) for n in (0, 2, -1)),
    *((bounds.littlestone_of_composition, (OR, [1] * n)) for n in (1, 3)),
    (bounds.threshold_of_union_of_two_functions, (5,)), (extremal.hamming_balls, (1, 2, 3)),
    *((Limit, pair) for pair in ((0, 1.0), (1, 0.0), (1, math.nan))),
    *((TruthTable, (values,)) for values in ((1,), (0, 1, 1), (0, 2), (0,) * (1 << 17))),
    *((named_function, ("or", n)) for n in (0, 17)), (named_function, ("orr", 2)),
    *((privacy.relabel_range, (e, True)) for e in (-TINY, math.nan)),
    *((privacy.relabel_range, (1.0, False, "matched")),),
    (privacy.relabel_epsilon, (below(2 * math.log(2)), True)),
    *((made, (*first, rate)) for made, first in ((privacy.learned_on_part, (0.1, COST)), (privacy.amplified, (COST,)))
      for rate in (0.0, above(1.0))),
    *((samples.realizable_rows, (1, *pair)) for pair in ((0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0))),
    (samples.private_error_but_for, (0.1, 1.0, 0.0, 9, 0.5, 0.0)),
    *((samples.learned_on_part_rows, (1, 9, 0.1, 0.1, e)) for e in (0.0, above(1.0))),
    *((conjunction_count, pair) for pair in ((-1, 0), (0, -1))), (list_vc_bound, (0,)),
    *((exponential_mechanism_loss, (9, *pair)) for pair in ((0.0, 0.5), (1.0, 0.0), (1.0, 1.0))),
    *((occam_sample_size, (1.0, *pair)) for pair in ((0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, 1.0))),
    *((Shifts, pair) for pair in ((TINY, 1.0), (-1.0, -TINY), (-math.inf, 0.0), (0.0, math.inf), (math.nan, 0.0))),
    *((em_cover.paper_epsilon, (0.1, d)) for d in (0.0, 1.0)),
    *((em_cover.paper_epsilon, (e, 0.1)) for e in (0.0, above(PAPER_LIMIT))),
    (em_cover.paper_epsilon_twice, (0.5, 0.1)),
    *((generalisation.fat_shattering_halfspaces, (m,)) for m in (0.0, math.nan)),
    *((generalisation.pac_bayes_margin_bound, (m, 99, 0.5, 0.1)) for m in (-TINY, above(1.0))),
    *((generalisation.transfer_rows, pair) for pair in ((0.0, 0.0), (1 / 3, 0.01), (0.2, 0.0), (0.2, 0.05))),
    *((halfspaces.printed_run, given) for given in ((0.0, 0.1, 0.1), (0.1, 1.0, 0.1), (0.1, 0.1, 1.0))),
    (HalfspaceCode().log_halfspaces, (np.array([1 << 15]),)), (HalfspaceCode().log_halfspaces, (np.array([33]),)),
    (resampling.sampling_amplification, (Cost(above(0.5), 0.0), 0.1, 9)),
    *((resampling.sampled_round, (HALF, x, 9)) for x in (-TINY, above(1.0))),
    *((tree_rows.smoothed, (s,)) for s in (0.0, math.inf, math.nan)),
    *((tree_bound, given)
      for given in ((1, 0.5, 0.5), (9, 0.0, 0.5), (9, above(1.0), 0.5), (9, 0.5, 0.0), (9, 0.5, 1.0))),
    *((tree_rows.rows_for_error, (e, tree_rows.GINI, 1.0, 0.5, 9, 0.1)) for e in (0.0, 0.5)),
    (smallest_efficiency, (1.0, 1.0, 2, 1, 0.5)),
    (winnow.confident_updates, (9, 0.5, 0.5)), (winnow.theorem_4_4, (1.0, 0.1, 9, 9)),
    (winnow.batch_theorem, (9, 0.5, 39, 10, 9, 0.1)),
    *((winnow.list_weights, (bits,)) for bits in ((), (0,), (1, 2))), *((winnow.lemma_4_10, (3, d)) for d in (-1, 3)),
]  # fmt: skip

INSIDE: list[tuple[Callable[..., Any], tuple[Any, ...], float | None]] = [
    (positive, (TINY,), None), (positive, (math.inf,), None), (probability, (TINY,), None),
    (probability, (below(1.0),), None),
    (above_threshold.paper_accuracy, (8.0, 1, 0.5), math.log(4)),
    (boosting.lazy_bregman_rounds, (0.5, 0.1, "margin", "paper"), math.ceil(64 * math.log(10))),
    (bounds.littlestone_at_least, (1,), 0), (bounds.threshold_at_least, (1,), 0),
    (bounds.weighted_majority_mistakes, (1, 3), 3 / math.log2(4 / 3)), (bounds.littlestone_of_majority, (1, 5), 5),
    (bounds.littlestone_of_union_by_voting, ([2],), 2), (bounds.threshold_of_union_of_two_functions, (6,), 2),
    (privacy.relabel_range, (0.0, True), 2 * math.log(2)), (privacy.relabel_range, (0.0, False), math.log(2)),
    (privacy.relabel_range, (0.0, True, "matched"), math.log(4)),
    (privacy.relabel_epsilon, (2 * math.log(2), True), 0.0),
    (conjunction_count, (0, 0), 1), (conjunction_count, (3, 1), 7), (list_vc_bound, (1,), 1.0),
    (generalisation.pac_bayes_margin_bound, (1.0, 99, 0.5, 0.1), 1.0),
    (tree_bound, (2, 1.0, 0.5), 0.5), (winnow.lemma_4_10, (3, 0), 1.0), (winnow.lemma_4_10, (3, 2), 1 / 8),
    (winnow.batch_theorem, (9, 0.5, 40, 10, 9, 0.1), None), (smallest_efficiency, (1.0, 1.0, 3, 1, 0.5), None),
    (resampling.sampling_amplification, (HALF, 0.1, 1), None), (resampling.sampled_round, (HALF, 0.0, 9), None),
    (resampling.sampled_round, (HALF, 1.0, 9), None), (generalisation.transfer_rows, (below(1 / 3), 0.01), None),
    (em_cover.paper_epsilon, (PAPER_LIMIT, 0.1), 2 * PAPER_LIMIT * (1.5 + math.log(10))),
    (Shifts, (0.0, 0.0), None), (Limit, (1, TINY), None), (TruthTable, ((0, 1),), None),
    (TruthTable, ((0,) * (1 << 16),), None),
    (named_function, ("or", 1), None), (named_function, ("xor", 16), None),
    (HalfspaceCode().log_halfspaces, (np.array([31 << 10, 31]),), None), (extremal.hamming_balls, (1, 2, 4), None),
    (privacy.amplified, (COST, 1.0), None), (privacy.learned_on_part, (0.1, COST, 1.0), None),
    (samples.learned_on_part_rows, (1, 9, 0.1, 0.1, 1.0), None),
]  # fmt: skip


@pytest.mark.parametrize(("made", "given"), OUTSIDE)
def test_just_outside(made: Callable[..., Any], given: tuple[Any, ...]) -> None:
    with pytest.raises(
        ValueError,
        match=r"must|lie|need|holds|known|at (least|most)|below|has \d|rate|stated|analysis|aim|matched|reaches|share",
    ):
        made(*given)


@pytest.mark.parametrize(("made", "given", "found"), INSIDE)
def test_just_inside(made: Callable[..., Any], given: tuple[Any, ...], found: float | None) -> None:
    answer = made(*given)
    if found is not None:
        assert answer == pytest.approx(found)
