"""`private_score`: how good a model is on private rows, for one charge and with intervals that can be believed.

One noisy histogram of (score, label, subgroup) is released; every figure follows from it, for every threshold and cost,
now and later. Of a model of a number, sums of powers of its errors are released.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, final

from tacit.display import Shown
from tacit.errors import spending
from tacit.evaluation.candidates import promised_schema
from tacit.evaluation.error_grid import ErrorGrid
from tacit.evaluation.measure_errors import ErrorSumRequest, measure_errors
from tacit.evaluation.measure_scores import (
    CountRequest,
    Released,
    ScoreGroups,
    declared_groups,
    measure_scores,
    rows_and_labels,
)
from tacit.evaluation.number_performance import (
    NUMBER_METRICS,
    OF_MEANS,
    OF_QUANTILES,
    NumberPerformance,
    NumberQuestion,
    perform_numbers,
)
from tacit.evaluation.number_scorer import NumberScorer, clip_share, predicts_numbers
from tacit.evaluation.performance import RANKED, Estimate, Performance, Question, perform
from tacit.evaluation.ranked import Scorer
from tacit.learning.checks import check_number
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import Request, RequestError, is_number
from tacit.schema import Schema

DEVIANCE = "deviance"

Figures = TypeVar("Figures", Performance, NumberPerformance)
Release = TypeVar("Release")


@dataclass(frozen=True, eq=False)
class Evaluation(Shown, Generic[Figures]):
    """What an evaluation found out.

    Attributes:
        overall: performance on all rows.
        subgroups: performance by declared value of the subgroup column, ``(other)`` and ``(missing)``; empty if none
            was asked for.
        certificate: what was spent.
    """

    overall: Figures
    subgroups: Mapping[Any, Figures]
    certificate: Certificate

    def __getitem__(self, name: str) -> Estimate:
        return self.overall[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, without the certificate."""
        groups = {str(name): group.to_dict() for name, group in self.subgroups.items()}
        return {"overall": self.overall.to_dict(), "subgroups": groups}

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value}" for name, value in self.overall.metrics.items())
        return f"{type(self).__name__}({figures})"


def _figures(
    released: Released[Release], groups: ScoreGroups, perform: Callable[[Release], Figures]
) -> tuple[Figures, dict[Any, Figures], Certificate]:
    """The figures of all rows and of each group, from what was released of them."""
    *each, overall = map(perform, (*released.groups, released.overall))
    return overall, dict(zip(groups.names, each, strict=True)), released.certificate


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrivateNumberScore(Evaluation[NumberPerformance]):
    """What an evaluation of a model of a number found out, beside the attributes of :class:`Evaluation`.

    Attributes:
        error_clip: larger errors count as this large, in units of the target.
        beyond: released number of rows with larger errors, and the standard deviation of its noise; None if the clip
            was declared.
        quantile: which one the pinball loss is about.
    """

    error_clip: float
    beyond: tuple[float, float] | None
    quantile: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, without the certificate."""
        beyond = None if self.beyond is None else {"rows": self.beyond[0], "sd": self.beyond[1]}
        return super().to_dict() | {"error_clip": self.error_clip, "beyond": beyond, "quantile": self.quantile}

    def __repr__(self) -> str:
        clip = f"errors clipped at {self.error_clip:.3g}"
        if self.beyond is not None:
            rows, sd = self.beyond
            clip += f", about {max(rows, 0.0):,.0f} ± {2 * sd:,.0f} rows beyond"
        return f"{super().__repr__()[:-1]}; {clip})"


@final
@dataclass(frozen=True)
class ScoreArguments:
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
    arguments: ScoreArguments,
    schema: Schema | None,
    request: Request,
    account: PrivacyAccount | None,
) -> PrivateNumberScore:
    """Judges a model of a number; ``rows`` and their targets are as they came."""
    if arguments.cost is not None or arguments.threshold != 0.5:
        raise RequestError("cost and threshold are about classes, and this is a model of a number")
    frame, targets = rows_and_labels(*rows)
    groups = declared_groups(arguments.subgroups, arguments.categories, schema, frame)
    scorer = NumberScorer.of(model, schema, arguments.target_bounds)
    if arguments.metrics is not None and DEVIANCE in arguments.metrics:
        scorer = scorer.by_deviance()
    question = _number_question(arguments, scorer)
    scorer.check(frame, rows[0], targets)
    clip = None if arguments.error_clip is None else question.clip
    label = f"evaluation of {type(model).__name__}"
    sums = ErrorSumRequest(frame, rows[0], targets, groups, clip, "r2" in question.metrics, schema, label)
    with spending():
        released = measure_errors(scorer, sums, request, account)
        clipped = replace(question, clip=released.clip)
        figures = _figures(released, groups, lambda group: perform_numbers(group, clipped, released.generator))
        return PrivateNumberScore(*figures, clipped.unit, released.beyond, clipped.quantile)


def _number_question(arguments: ScoreArguments, scorer: NumberScorer) -> NumberQuestion:
    usual = OF_MEANS if scorer.quantile is None else OF_QUANTILES
    metrics = arguments.wanted(usual)
    if scorer.of_deviance and len(metrics) > 1:
        raise RequestError("the deviance is a release of its own: ask for it alone")
    for name in metrics:
        if name not in NUMBER_METRICS:
            raise RequestError(f"metrics are among {', '.join(NUMBER_METRICS)} for numbers, got {name!r}")
    quantile = arguments.quantile if arguments.quantile is not None else (scorer.quantile or 0.5)
    for name, value in (("quantile", quantile), ("confidence", arguments.confidence)):
        check_number(name, value, 0.0, 1.0)
    clip = 1.0
    if arguments.error_clip is not None:
        clip = max(clip_share(arguments.error_clip, scorer.range), float(ErrorGrid.of(1).clips[0]))
    lower, upper = (0.0, scorer.range) if scorer.of_deviance else (scorer.lower, scorer.upper)
    return NumberQuestion(metrics, float(quantile), float(arguments.confidence), lower, upper, clip)


USUAL = ("auc", "accuracy", "log_loss", "calibration")
METRICS = (*USUAL, RANKED)
"""Of classes: ``calibration`` is the expected calibration error, of more than two classes that of the likeliest;
``ranked_probability_score`` is of classes in an order: of two the Brier score, which costs nothing more, of more a
release of its own. Of more than two classes ``auc`` is the mean over every class against the rest, each a release."""

OF_SEVERAL_CLASSES = ("accuracy", "log_loss", "calibration")
"""What is given of more than two classes unless the AUC, or the ranked probability score, is asked for, too."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrivateScore(Evaluation[Performance]):
    """What an evaluation of a model of classes found out, beside the attributes of :class:`Evaluation`.

    Attributes:
        threshold: the threshold that the accuracy is about; says nothing where there are more than two classes.
    """

    threshold: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data, without the certificate."""
        return super().to_dict() | {"threshold": self.threshold}


def private_score(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    metrics: Sequence[str] | None = None,
    *,
    threshold: float = 0.5,
    cost: tuple[float, float] | None = None,
    subgroups: str | None = None,
    categories: Sequence[Any] | None = None,
    clip: float = 0.01,
    confidence: float = 0.95,
    target_bounds: Sequence[float] | None = None,
    error_clip: float | None = None,
    quantile: float | None = None,
    schema: Any = None,
    account: PrivacyAccount | None = None,
    neighbouring: str = "add_or_remove_one",
    random_state: int | None = None,
) -> PrivateScore | PrivateNumberScore:
    """Judges a model on private rows, best on rows it was not made from.

    One noisy histogram of (score, label, subgroup) is released; every figure follows from it, for every threshold and
    cost, now and later. Of a model of a number, sums of powers of its errors are released.

    Guarantee: (epsilon, delta) under ``neighbouring`` for the rows given here, if the model's answer to a row depends
    on nothing but that row. That is so for this library's models; for others it is taken on trust and the certificate
    says so.

    Args:
        model: a model, an estimator after ``fit``, or any fitted classifier with ``predict_proba`` and ``classes_``.
        X: the rows; see ``fit``.
        y: their labels; rows with a label that is no class of the model are dropped.
        epsilon: what to spend.
        delta: what to spend. At 0 the noise is Laplace; otherwise the better of both, or Gaussian if
            an account pays, because that composes better with the rest.
        metrics: among ``auc``, ``accuracy``, ``log_loss`` and ``calibration`` (expected calibration error); None for
            all of these. And ``ranked_probability_score``, of classes in an order: of two it is the Brier score and
            costs nothing more, of more it is a release of its own. With more than two classes calibration is that of
            the likeliest class, and ``auc`` has to be asked for: it is the mean over every class against the rest, each
            of which is a release of its own.
            Of numbers: among ``mae``, ``mse``, ``rmse``, ``r2``, ``bias`` (mean of prediction minus target),
            ``pinball`` and ``below`` (share of targets below the prediction); None for what suits the model's loss.
            Of counts and costs ``deviance``, a release of its own, can be asked for alone; ``error_clip`` is then its.
        threshold: of two classes: probability from which a row counts as positive in the accuracy.
        cost: of two classes: what a false positive and a false negative cost; adds ``cost``, per row at the least
            costly threshold.
        subgroups: name of a column; metrics are also given for each of its declared values.
        categories: those values, unless the schema declares the column.
        clip: log loss clips probabilities to ``[clip, 1 - clip]``: one row can cost no more than ``-log(clip)``.
        confidence: of the intervals.
        target_bounds: of numbers: public bounds of the target, by default the schema's or the model's.
        error_clip: of numbers: larger errors count as this large. None: found with 15 % of the budget, so that hardly
            any error is larger, and given with the result.
        quantile: of numbers: which one the pinball loss is about, by default the model's own or the median.
        schema: declares classes with several values, the subgroup column, and a unit of several rows; by default that
            of the estimator.
        account: pays, if given.
        neighbouring: the relation of the guarantee.
        random_state: None for fresh entropy; an integer makes the result repeatable and not releasable.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.

    Example:
        >>> from tacit import AdditiveBoostClassifier, private_score
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> first = {name: values[:15_000] for name, values in X.items()}
        >>> second = {name: values[15_000:] for name, values in X.items()}
        >>> model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(first, y[:15_000])
        >>> score = private_score(model, second, y[15_000:], epsilon=0.5, metrics=["auc"])
        >>> print(0.5 < score.overall.metrics["auc"].value < 1, score.certificate.epsilon)
        True 0.5
    """
    arguments = ScoreArguments(
        metrics, threshold, cost, subgroups, categories, clip, confidence, target_bounds, error_clip, quantile
    )
    request = Request.of(epsilon, delta, neighbouring, random_state)
    declared = promised_schema(model, schema)
    score = score_numbers if predicts_numbers(model) else score_classes
    return score(model, (X, y), arguments, declared, request, account)


def score_classes(
    model: Any,
    rows: tuple[Any, Any],
    arguments: ScoreArguments,
    schema: Schema | None,
    request: Request,
    account: PrivacyAccount | None,
) -> PrivateScore:
    """Judges a model of classes; ``rows`` and their labels are as they came."""
    for name in ("target_bounds", "error_clip", "quantile"):
        if getattr(arguments, name) is not None:
            raise RequestError(f"{name} is about numbers, and this is a model of classes")
    scorer = Scorer.of(model, schema)
    question = _question(arguments, scorer.n_classes)
    frame, labels = rows_and_labels(*rows)
    groups = declared_groups(arguments.subgroups, arguments.categories, schema, frame)
    scorer.check(frame, rows[0], labels)
    if RANKED in question.metrics:
        scorer.check_order()
    own = ("log_loss", "auc", RANKED)  # of more than two classes, each a release of its own
    with_truth, each_class, ranked = (scorer.n_classes > 2 and name in question.metrics for name in own)
    what = f"evaluation of {type(model).__name__}"
    counts = CountRequest(
        frame, rows[0], labels, groups, question.threshold, with_truth, schema, what, each_class, ranked
    )
    with spending():
        released = measure_scores(scorer, counts, request, account)
        figures = _figures(released, groups, lambda group: perform(group, question, released.generator))
        return PrivateScore(*figures, question.threshold)


def _question(arguments: ScoreArguments, n_classes: int) -> Question:
    usual = USUAL if n_classes == 2 else OF_SEVERAL_CLASSES
    metrics = arguments.wanted(usual)
    for name in metrics:
        if name not in METRICS:
            raise RequestError(f"metrics are among {', '.join(METRICS)} for classes, got {name!r}")
    for name, most in (("threshold", 1.0), ("clip", 0.5), ("confidence", 1.0)):
        value = getattr(arguments, name)
        if not is_number(value) or not 0 < value < most:
            raise RequestError(f"{name} must lie between 0 and {most:g}, got {value!r}")
    costs = None if arguments.cost is None else _costs(arguments.cost)
    if costs is not None and n_classes != 2:
        raise RequestError(f"cost is about two classes, and there are {n_classes}")
    if arguments.threshold != 0.5 and n_classes != 2:
        raise RequestError(
            f"threshold is about two classes, and there are {n_classes}: the likeliest is said, so leave it at 0.5"
        )
    return Question(
        metrics, float(arguments.threshold), costs, float(arguments.clip), float(arguments.confidence), n_classes == 2
    )


def _costs(cost: Any) -> tuple[float, float]:
    costs = tuple(cost) if isinstance(cost, Sequence) else ()
    if len(costs) != 2 or not all(is_number(c) and 0 <= c < 1e9 for c in costs) or max(costs) <= 0:
        raise RequestError(f"cost must be what a false positive and a false negative cost, got {cost!r}")
    return float(costs[0]), float(costs[1])
