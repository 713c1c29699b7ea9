"""Boost-S and IterS (Algorithms 14 and 15): boosting any private learner, on samples from a measure.

The measure is lazy Bregman's, whose size is constant; or SmoothBoost's (Algorithm 13), which shrinks as the voters get
better: then every round begins with a noisy end test (Algorithms 10 to 12), and the run ends when the measure is small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.boosting.measures.smooth import SmoothMeasure
from tacit.curator.rows import PrivateRows
from tacit.curator.views.resample import MeasureSample
from tacit.curator.views.smooth_sample import CAP, SmoothSample
from tacit.curator.views.view import Plan, open_view
from tacit.encoding.values import LabelIndex
from tacit.models.base import ClassModel
from tacit.models.rule import VoteModel
from tacit.privacy.label import Label, Stage
from tacit.resampling.plan import ResamplingPlan
from tacit.theory.boosting import Analysis


@dataclass(frozen=True, eq=False)
class BaseLearner:
    """A private learner, ready to run under the rows' reservation, with its declared maximum."""

    plan: Plan
    learn: Callable[[PrivateRows], ClassModel]


def _drawing(subject: str, t: int) -> Label:
    return Label(Stage.ROWS, subject, t + 1, f"round {t + 1}: {subject}")


def iter_s(
    private_rows: PrivateRows,
    voters: list[ClassModel],
    base: BaseLearner,
    plan: ResamplingPlan,
    learning_rate: float,
    label_index: LabelIndex,
    analysis: Analysis,
) -> None:
    """``IterS``: draws rows from ``LB-NxM`` over the voters so far, and adds what the base learner makes of them."""
    view = MeasureSample(
        tuple(voters), plan.total, learning_rate, plan.size, label_index, base.plan, plan.base, analysis
    )
    (sample,) = open_view(private_rows, view, _drawing("rows drawn from the measure", len(voters)))
    voters.append(base.learn(sample))


def boost_s(
    private_rows: PrivateRows,
    base: BaseLearner,
    plan: ResamplingPlan,
    learning_rate: float,
    label_index: LabelIndex,
    analysis: Analysis = "sharp",
) -> VoteModel:
    """``Boost-S``: T rounds, then the majority of the voters (where Boost takes the average); under replace_one."""
    voters: list[ClassModel] = []
    for _ in range(plan.rounds):
        iter_s(private_rows, voters, base, plan, learning_rate, label_index, analysis)
    return VoteModel(tuple(label_index.names), tuple(voters))


def iter_tested(
    private_rows: PrivateRows,
    voters: list[ClassModel],
    base: BaseLearner,
    plan: ResamplingPlan,
    measure: SmoothMeasure,
    label_index: LabelIndex,
    analysis: Analysis,
) -> bool:
    """``Iter`` of Algorithm 11: ends the run, or adds what the base learner makes of draws from ``SB-NxM``."""
    t = len(voters)
    table = np.floor(measure.weights(np.arange(-t, t + 1.0), t) * CAP).astype(np.int64)
    view = SmoothSample(tuple(voters), table, plan.total, plan.size, label_index, base.plan, plan.base, analysis)
    sample = open_view(private_rows, view, _drawing("end test, and rows drawn from the measure", t))
    if not sample:
        return False
    voters.append(base.learn(sample[0]))
    return True


def boost_tested(
    private_rows: PrivateRows,
    base: BaseLearner,
    plan: ResamplingPlan,
    measure: SmoothMeasure,
    label_index: LabelIndex,
    analysis: Analysis = "sharp",
) -> VoteModel:
    """``Boost`` with a stopping rule (Algorithm 10), around any (epsilon, delta) learner; at most T rounds.

    Rows are under replace_one; ``plan.total`` is the size below which the run ends.
    """
    voters: list[ClassModel] = []
    while len(voters) < plan.rounds and iter_tested(private_rows, voters, base, plan, measure, label_index, analysis):
        pass
    return VoteModel(tuple(label_index.names), tuple(voters))
