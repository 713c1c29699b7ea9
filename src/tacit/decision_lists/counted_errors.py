"""How many rows a released list gets wrong, by its released counts, and how long a public code of the list is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tacit.arrays import Floats
from tacit.decision_lists.literals import sizes_by_length
from tacit.models.decision_list import Condition, ListRule
from tacit.models.evidence import CountedErrors
from tacit.queries.covers.candidates import Conjunctions, StreamedConjunctions


def counted_errors(
    chosen: Sequence[tuple[Condition, ...]], counts: Floats, sd: float, kept: Sequence[ListRule], log_models: float
) -> CountedErrors:
    """The errors of a list on the rows that it was learned from.

    A rule that was left out passes its rows on. Where only "else" is left for them it is known what they are told;
    elsewhere they count as wrong.

    Args:
        chosen: the conditions of every rule that was counted, in order; "else" comes after them.
        counts: noisy rows by the rule that decides them and by class, shape ``(rules + 1, classes)``.
        sd: standard deviation of their noise.
        kept: the rules of the list.
        log_models: from :func:`log_lists`.
    """
    said = {rule.conditions: rule.outcome for rule in kept[:-1]}
    last = max((place for place, rule in enumerate(chosen) if rule in said), default=-1)
    wrong = right = 0.0
    wrong_cells = right_cells = 0
    for place, conditions in enumerate([*chosen, ()]):
        outcome = said.get(conditions, kept[-1].outcome if place > last else None)
        every, hit = counts[place].sum(), 0.0 if outcome is None else counts[place, outcome]
        wrong, right = wrong + float(every - hit), right + float(hit)
        wrong_cells += counts.shape[1] - (outcome is not None)
        right_cells += outcome is not None
        if not conditions:
            break
    return CountedErrors(wrong, right, wrong_cells, right_cells, sd, log_models)


def log_lists(
    kept: Sequence[ListRule], conjunctions: Conjunctions | StreamedConjunctions, most: int, n_labels: int
) -> float:
    """The nats that say which list it is: a prior over all lists, fixed before any row is read.

    All lengths of the list from 0 to ``most`` have the same probability; then every rule says how many conditions it
    has, which of the candidates with so many, and which class; and "else" says a class.
    """
    sizes = sizes_by_length(conjunctions)
    lengths = int(np.count_nonzero(sizes[1:]))
    nats = math.log(most + 1) + math.log(n_labels)
    for rule in kept[:-1]:
        nats += math.log(lengths) + math.log(float(sizes[len(rule.conditions)])) + math.log(n_labels)
    return nats
