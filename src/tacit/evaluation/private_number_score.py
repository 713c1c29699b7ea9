"""`private_score` for models of a number: one set of released sums, figures and intervals made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from tacit.display import Shown
from tacit.errors import spending
from tacit.evaluation.error_grid import ErrorGrid
from tacit.evaluation.measure_errors import ErrorSumRequest, measure_errors
from tacit.evaluation.measure_scores import declared_groups, rows_and_labels
from tacit.evaluation.number_performance import (
    NUMBER_METRICS,
    OF_MEANS,
    OF_QUANTILES,
    NumberPerformance,
    NumberQuestion,
    perform_numbers,
)
from tacit.evaluation.number_scorer import NumberScorer, clip_share
from tacit.evaluation.performance import Estimate
from tacit.learning.checks import check_number
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import Request, RequestError
from tacit.schema import Schema

DEVIANCE = "deviance"


@final
@dataclass(frozen=True, eq=False)
class PrivateNumberScore(Shown):
    """What an evaluation of a model of a number found out.

    Attributes:
        overall: performance on all rows.
        subgroups: performance by declared value of the subgroup column, ``(other)`` and ``(missing)``; empty if none
            was asked for.
        error_clip: larger errors count as this large, in units of the target.
        beyond: released number of rows with larger errors, and the standard deviation of its noise; None if the clip
            was declared.
        quantile: which one the pinball loss is about.
        certificate: what was spent.
    """

    overall: NumberPerformance
    subgroups: Mapping[Any, NumberPerformance]
    error_clip: float
    beyond: tuple[float, float] | None
    quantile: float
    certificate: Certificate

    def __getitem__(self, name: str) -> Estimate:
        return self.overall[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, without the certificate."""
        return {
            "overall": self.overall.to_dict(),
            "subgroups": {str(name): group.to_dict() for name, group in self.subgroups.items()},
            "error_clip": self.error_clip,
            "beyond": None if self.beyond is None else {"rows": self.beyond[0], "sd": self.beyond[1]},
            "quantile": self.quantile,
        }

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self.overall.metrics.items())
        clip = f"errors clipped at {self.error_clip:.3g}"
        if self.beyond is not None:
            rows, sd = self.beyond
            clip += f", about {max(rows, 0.0):,.0f} ± {2 * sd:,.0f} rows beyond"
        return f"PrivateNumberScore({figures}; {clip})"


@final
@dataclass(frozen=True)
class Asked:
    """What :func:`~tacit.evaluation.private_score.private_score` was asked, unchecked; attributes as its arguments."""

    metrics: Sequence[str] | None
    threshold: Any
    cost: Any
    subgroups: Any
    categories: Any
    clip: Any
    confidence: Any
    target_bounds: Any
    error_clip: Any
    quantile: Any

    def wanted(self, usual: Sequence[str]) -> tuple[str, ...]:
        """The names of the metrics; one alone may come as a text."""
        if self.metrics is None:
            return tuple(usual)
        return (self.metrics,) if isinstance(self.metrics, str) else tuple(self.metrics)


def score_numbers(
    model: Any,
    rows: tuple[Any, Any],
    asked: Asked,
    schema: Schema | None,
    request: Request,
    account: PrivacyAccount | None,
) -> PrivateNumberScore:
    """Judges a model of a number; ``rows`` and their targets are as they came."""
    if asked.cost is not None or asked.threshold != 0.5:
        raise RequestError("cost and threshold are about classes, and this is a model of a number")
    frame, targets = rows_and_labels(*rows)
    groups = declared_groups(asked.subgroups, asked.categories, schema, frame)
    scorer = NumberScorer.of(model, schema, asked.target_bounds)
    if asked.metrics is not None and DEVIANCE in asked.metrics:
        scorer = scorer.by_deviance()
    question = _question(asked, scorer)
    scorer.check(frame, rows[0], targets)
    clip = None if asked.error_clip is None else question.clip
    label = f"evaluation of {type(model).__name__}"
    wanted = ErrorSumRequest(frame, rows[0], targets, groups, clip, "r2" in question.metrics, schema, label)
    with spending():
        released = measure_errors(scorer, wanted, request, account)
        question = replace(question, clip=released.clip)
        *each, overall = (
            perform_numbers(group, question, released.generator) for group in (*released.groups, released.overall)
        )
        by_name = dict(zip(groups.names, each, strict=True))
        return PrivateNumberScore(
            overall, by_name, question.unit, released.beyond, question.quantile, released.certificate
        )


def _question(asked: Asked, scorer: NumberScorer) -> NumberQuestion:
    usual = OF_MEANS if scorer.quantile is None else OF_QUANTILES
    metrics = asked.wanted(usual)
    if scorer.of_deviance and len(metrics) > 1:
        raise RequestError("the deviance is a release of its own: ask for it alone")
    for name in metrics:
        if name not in NUMBER_METRICS:
            raise RequestError(f"metrics are among {', '.join(NUMBER_METRICS)} for numbers, got {name!r}")
    quantile = asked.quantile if asked.quantile is not None else (scorer.quantile or 0.5)
    for name, value in (("quantile", quantile), ("confidence", asked.confidence)):
        check_number(name, value, 0.0, 1.0)
    clip = 1.0
    if asked.error_clip is not None:
        clip = max(clip_share(asked.error_clip, scorer.range), float(ErrorGrid.of(1).clips[0]))
    lower, upper = (0.0, scorer.range) if scorer.of_deviance else (scorer.lower, scorer.upper)
    return NumberQuestion(metrics, float(quantile), float(asked.confidence), lower, upper, clip)
