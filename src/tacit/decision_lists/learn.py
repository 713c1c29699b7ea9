"""DP-GreedyCover: rules from a cover, counts of what they decide, and a list made of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.decision_lists.literals import Candidates, length_prior, sizes_by_length
from tacit.decision_lists.plan import Plan
from tacit.decision_lists.tuning import TUNING
from tacit.encoding.table import TableEncoding
from tacit.models.decision_list import Condition, DecisionListModel, ListRule
from tacit.models.evidence import CountedErrors
from tacit.privacy.charges import Laplace, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.queries.cells import OneCell
from tacit.queries.covers.candidates import Conjunctions, FirstMatch, StreamedConjunctions
from tacit.queries.covers.cover import Cover
from tacit.queries.histogram import Histogram
from tacit.queries.rules import class_count_rule


def counted_errors(
    candidates: Sequence[tuple[Condition, ...]], counts: Floats, sd: float, rules: Sequence[ListRule], log_models: float
) -> CountedErrors:
    """The errors of a list on the rows that it was learned from.

    A rule that was left out passes its rows on. Where only "else" is left for them it is known what they are told;
    elsewhere they count as wrong.

    ``candidates`` are the conditions of every rule that was counted, in order ("else" comes after them); ``counts``
    noisy rows by the rule that decides them and by class, shape ``(rules + 1, classes)``; ``log_models`` is from
    :func:`log_lists`.
    """
    outcomes = {rule.conditions: rule.outcome for rule in rules[:-1]}
    last = max((place for place, rule in enumerate(candidates) if rule in outcomes), default=-1)
    wrong = right = 0.0
    wrong_cells = right_cells = 0
    for place, conditions in enumerate([*candidates, ()]):
        outcome = outcomes.get(conditions, rules[-1].outcome if place > last else None)
        every, hit = counts[place].sum(), 0.0 if outcome is None else counts[place, outcome]
        wrong, right = wrong + float(every - hit), right + float(hit)
        wrong_cells += counts.shape[1] - (outcome is not None)
        right_cells += outcome is not None
        if not conditions:
            break
    return CountedErrors(wrong, right, wrong_cells, right_cells, sd, log_models)


def log_lists(
    rules: Sequence[ListRule], conjunctions: Conjunctions | StreamedConjunctions, most: int, n_labels: int
) -> float:
    """The nats that say which list it is: a prior over all lists, fixed before any row is read.

    All lengths of the list from 0 to ``most`` have the same probability; then every rule says how many conditions it
    has, which of the candidates with so many, and which class; and "else" says a class.
    """
    sizes = sizes_by_length(conjunctions)
    lengths = int(np.count_nonzero(sizes[1:]))
    nats = math.log(most + 1) + math.log(n_labels)
    for rule in rules[:-1]:
        nats += math.log(lengths) + math.log(float(sizes[len(rule.conditions)])) + math.log(n_labels)
    return nats


@dataclass(frozen=True, eq=False)
class Learned:
    """Rules before they are cut: conjunctions (positions among the candidates), and the class each says."""

    conjunctions: tuple[int, ...]
    outcomes: tuple[int, ...]
    counts: Floats | None
    sd: float


def learn_list(curator: Curator, plan: Plan, candidates: Candidates, idle: bool, delta: float) -> Learned:
    """Chooses rules and counts what they decide; everything returned is released.

    If ``idle``, "no rule" is among the candidates, with score 0, and short rules are preferred: for short lists. The
    constant then comes at the end, by a step of its own or by the counts. ``delta`` is for the paper's bound.
    """
    for column, mapping in enumerate(candidates.maps):
        if mapping is not None:
            curator.coarsen(column, mapping)
    n_labels = curator.layout.n_labels
    prior = length_prior(candidates.conjunctions, n_labels) if idle else None
    steps = plan.steps
    if plan.rows is not None:
        query = Histogram(OneCell(), class_count_rule(n_labels))
        steps = plan.steps_for(
            float(curator.measure(query, plan.rows, Label(Stage.COUNTS, "number of rows")).value.sum())
        )
    cover = Cover(candidates.conjunctions, n_labels, steps, 0 if idle else None, prior, constant_last=idle)
    covering = curator.cover(cover, Label(Stage.RULES, "rules"), plan.accounting, delta)
    conjunctions = [conjunction for conjunction, _ in covering.rules]
    outcomes = [outcome for _, outcome in covering.rules]
    if plan.counts is None:
        return Learned(tuple(conjunctions), tuple(outcomes), None, 0.0)
    assert isinstance(plan.counts, Laplace | NonPrivate)
    cells = FirstMatch(candidates.conjunctions.take(conjunctions))
    release = curator.measure(
        Histogram(cells, class_count_rule(n_labels)), plan.counts, Label(Stage.COUNTS, "rows that each rule decides")
    )
    return Learned(tuple(conjunctions), tuple(outcomes), release.value, release.sd)


def list_model(
    learned: Learned,
    candidates: Candidates,
    classes: Sequence[Any],
    encoding: TableEncoding,
    least_support: float = TUNING.least_support,
    most: int | None = None,
) -> DecisionListModel:
    """The model: what was released, made as short as it can be without another look at the rows.

    With counts, every rule says the class that most of its rows have; rules that decide hardly a row, and rules at the
    end that say what "else" says, are left out. Their rows are counted with the rule that decides them now only where
    that is known: at the end. An "else" of hardly a row says the most frequent class of all; its rows are divided among
    the classes as all are.

    Rules of fewer rows than ``least_support`` standard deviations of their noise are left out. ``most`` is how many
    rules a list may have, where candidates were fixed before the rows were read: what is counted then proves something
    about new rows. None where it does not.
    """
    rules = [
        ListRule(candidates.conditions_of(conjunction), outcome, None)
        for conjunction, outcome in zip(learned.conjunctions, learned.outcomes, strict=True)
    ]
    remaining = _without_repeats(rules) if learned.counts is None else _with_counts(rules, learned, least_support)
    model = DecisionListModel(tuple(classes), encoding, tuple(remaining), learned.sd)
    if learned.counts is None or most is None:
        return model
    nats = log_lists(remaining, candidates.conjunctions, most, len(classes))
    conditions = [rule.conditions for rule in rules]
    return replace(model, evidence=counted_errors(conditions, learned.counts, learned.sd, remaining, nats))


def _without_repeats(rules: list[ListRule]) -> list[ListRule]:
    """Without the rules at the end that say what the default says."""
    *others, last = rules
    while others and others[-1].outcome == last.outcome:
        others.pop()
    return [*others, last]


def _with_counts(rules: list[ListRule], learned: Learned, least_support: float) -> list[ListRule]:
    counts, sd = learned.counts, learned.sd
    assert counts is not None
    n_labels = counts.shape[1]
    everything = np.maximum(counts, 0.0).sum(axis=0)
    counted = []
    for rule, support in zip([*rules, ListRule((), int(everything.argmax()), None)], counts, strict=True):
        enough = support.sum() > least_support * sd * np.sqrt(n_labels) or sd == 0.0
        if enough and support.sum() > 0:
            counted.append(ListRule(rule.conditions, int(support.argmax()), support))
        elif not rule.conditions:  # too few rows to ask: it says, and promises, what all released rows do
            shares = everything / max(everything.sum(), 1.0)
            counted.append(ListRule((), rule.outcome, shares * max(float(support.sum()), 0.0)))
            break
        if counted and not counted[-1].conditions:
            break
    last = counted.pop()
    while counted and counted[-1].outcome == last.outcome:
        last = ListRule((), last.outcome, _sum(last.counts, counted.pop().counts))
    return [*counted, last]


def _sum(first: Floats | None, second: Floats | None) -> Floats | None:
    return None if first is None or second is None else first + second
