"""`PrivateSelection`: the best of a few private estimators or settings, with the search paid for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Bools, Floats
from tacit.curator.options import chosen_source
from tacit.curator.random_stopping import best_of_random_runs
from tacit.curator.rows import PrivateRows
from tacit.curator.views.view import random_part
from tacit.discovery.discover_schema import label_kind, refuse_undeclared
from tacit.encoding.frames import Frame, take, take_rows
from tacit.encoding.inputs import numbers_of
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.estimators.base import keep_names
from tacit.estimators.binding import bound, summary_of
from tacit.estimators.callers import assumptions_of, calling_context
from tacit.evaluation.candidates import EACH, SearchPlan, about_numbers, measure_of, plan_search
from tacit.evaluation.measure_scores import declared_unit, rows_and_labels, with_unit
from tacit.evaluation.select_model import best_of
from tacit.evaluation.utility import Criterion, Judge, judges_of, utility_encoding, utility_weights
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.promised_budget import EphemeralAccount
from tacit.privacy.request import Request, RequestError, is_number
from tacit.privacy.spending import certified, check_declared, reserve
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import count_rule
from tacit.schema import Schema
from tacit.schema.cell_format import PLAIN_CELLS

NEEDED = ("epsilon", "delta", "neighbouring", "account", "random_state")
"""Parameters that a candidate must have: the search sets them."""


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows for fitting and rows for judging; ``data`` as an estimator takes it."""

    data: Any
    labels: Any
    frame: Frame
    unit: Any

    def where(self, mask: Bools) -> _Rows:
        index = np.flatnonzero(mask)
        frame = take_rows(self.frame, index)
        data = dict(frame.columns) if isinstance(self.data, dict) else self.data[index]
        unit = None if self.unit is None else take(self.unit, index)
        return _Rows(data, take(self.labels, index), frame, unit)


@dataclass(eq=False, repr=False)
class PrivateSelection(BaseEstimator):
    """Fits private estimators, judges them on rows set aside, and keeps the best; everything is charged.

    A classifier if its candidates are, and a regressor if those are.

    Two ways to search. *Each*: every candidate is fitted once and the exponential mechanism chooses; the fits' costs
    add up. *Random stopping*: randomly chosen candidates are fitted and scored a random number of times, and only the
    best is seen; this costs two to three times one fit, however many there are (Papernot, Steinke 2022). With few
    candidates the first is better. The number of runs of the second is secret, and so is how long it took.

    Args:
        candidates: unfitted estimators of this library, two or more, all of classes or all of numbers, whose targets
            have declared bounds (a schema's, or ``target_bounds``), the same for all. Their ``epsilon``, ``delta``,
            ``neighbouring`` and ``random_state`` are set by the search; they must have no account of their own.
        epsilon: privacy parameter of the whole search.
        delta: the same.
        neighbouring: the relation of the guarantee.
        strategy: ``"each"``, ``"random_stopping"``, or ``"auto"`` for the one that leaves more to a fit.
        runs: mean number of runs under random stopping; None for two per candidate.
        shape: of the number of runs: 1 geometric, 0 logarithmic; see
            :class:`tacit.privacy.random_stopping.RandomStopping`.
        holdout: share of the rows set aside for judging, by one coin per row; 0 judges on the rows of the fit.
        criterion: of classes: ``"accuracy"``, or ``"log_loss"`` with probabilities clipped at 1 %. Of numbers:
            ``"mse"``, ``"mae"`` or ``"pinball"``, a row's loss over that of an error as large as the clip. None for
            accuracy, mean squared error, or the pinball loss of the candidates' quantile.
        quantile: of numbers: which one the pinball loss is about, by default the candidates' own.
        error_clip: of numbers: larger errors count as this large, in units of the target; it must not come from the
            rows. None for the whole range of the target. A narrow clip tells candidates apart from fewer rows.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this search alone.
        random_state: None for fresh entropy; an integer makes the search repeatable and not releasable.

    Attributes:
        best_: the best estimator, fitted; its certificate is that of the search.
        best_index_: which candidate it is.
        model_: its model.
        certificate_: what was spent.
        classes_: its classes, if it is about classes.

    Example:
        >>> from tacit import BoostedTreesClassifier, PrivateSelection
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital(4000)
        >>> trees = [BoostedTreesClassifier(schema=schema, max_depth=depth) for depth in (2, 4)]
        >>> search = PrivateSelection(trees, epsilon=2.0, delta=1e-6).fit(X, y)
        >>> print(search.certificate_.epsilon, search.best_index_ in (0, 1))
        2.0 True
    """

    candidates: Sequence[Any] = ()
    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    strategy: str = "auto"
    runs: float | None = None
    shape: float = 1.0
    holdout: float = 0.2
    criterion: str | None = None
    quantile: float | None = None
    error_clip: float | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None

    @classmethod
    def over_grid(
        cls,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        **options: Any,
    ) -> Self:
        """A search among settings of one estimator, as :class:`sklearn.model_selection.GridSearchCV` has it.

        Args:
            estimator: an unfitted estimator of this library, without an account.
            param_grid: names of parameters -> the values to try. Values must not come from the rows.
            **options: those of the class but for ``candidates``.

        Raises:
            RequestError: if the estimator is none.
            ValueError: if it has no such parameter.
        """
        if not hasattr(estimator, "get_params"):
            raise RequestError(f"estimator must be an estimator of this library, got {estimator!r}")
        return cls([clone(estimator).set_params(**setting) for setting in ParameterGrid(param_grid)], **options)

    def fit(self, X: Any, y: Any) -> Self:
        """Searches.

        Raises:
            ValueError: for public mistakes; nothing was spent.
            BudgetExceeded: if the account cannot pay; nothing was read.
        """
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        schema = self._check()
        frame, labels = rows_and_labels(X, y)
        classes = (0, 1) if self._numbers else self.candidates[0].declared()[1]
        kind = label_kind(y if isinstance(y, list | tuple) else labels, frame)
        refuse_undeclared(None if hasattr(X, "tocsr") else frame, kind, schema, classes)
        unit = declared_unit(schema, frame)[1]
        plan = self._plan(request, unit is not None)
        data = X.tocsr() if hasattr(X, "tocsr") else X if isinstance(X, np.ndarray) else dict(frame.columns)
        for candidate in self.candidates:
            fresh_candidate(candidate, plan, request, None).check_table(data, labels)
        EphemeralAccount(request.epsilon, request.delta, request.neighbouring).reserve(plan.charges, "dry run")
        around = calling_context()
        label, protected = f"search of {len(self.candidates)} candidates", None if schema is None else schema.unit
        # How long a search takes tells how many candidates it tried, which is not released.
        with spending():
            with reserve(self.account, request, plan.charges, label, protected, timeless=True) as reservation:
                search = _Search(self, plan, request, schema, reservation)
                rows = _Rows(data, self._labels(labels, schema), frame, unit)
                index, best = search.each(rows) if plan.strategy == EACH else search.random_stopping(rows)
            algorithm = f"PrivateSelection of {type(best).__name__}"
            trusted = any(candidate.takes_on_trust for candidate in self.candidates)
            certificate = certified(self.account, request, reservation, search, algorithm, schema, trusted)
            self.best_, self.best_index_ = best, index
            self.model_, self.n_features_in_ = best.model_, best.n_features_in_
            for estimator in (self, best):
                keep_names(estimator, X)
            if not self._numbers:
                self.classes_ = best.classes_
            certificate = certificate.assuming(*assumptions_of(best, X, y), *(each.assumption for each in around))
            self.certificate_ = best.certificate_ = bound(best, certificate, y)
            best.warns = True
            warned = [each.warning for each in around if each.whoever_pays or self.account is None]
            self.summary_ = best.summary_ = summary_of(best.model_, certificate, schema, warned)
            return self

    def _labels(self, labels: Any, schema: Schema | None) -> Any:
        """The labels; of numbers, numbers as the schema has them written."""
        label = None if schema is None else schema.label
        cell_format = PLAIN_CELLS if label is None else label.cell_format
        return numbers_of(labels, cell_format=cell_format) if self._numbers else labels

    def declared(self) -> tuple[Schema | None, Any]:
        """The schema and the classes that all candidates declare; None where there are none."""
        return self._check(), self.candidates[0].declared()[1]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of every row, or its number, shape ``(rows,)``."""
        check_is_fitted(self, "best_")
        predicted: npt.NDArray[Any] = self.best_.predict(X)
        return predicted

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R2 of numbers, as scikit-learn has them. Not private: never publish it for private rows."""
        check_is_fitted(self, "best_")
        return float(self.best_.score(X, y, sample_weight))

    @available_if(lambda search: not search._numbers)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of ``classes_``, shape ``(rows, classes)``."""
        check_is_fitted(self, "best_")
        chances: Floats = self.best_.predict_proba(X)
        return chances

    def dry_run(self) -> dict[str, Any]:
        """How a search would go and what it would charge. Reads no rows and charges nothing."""
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        schema = self._check()
        plan = self._plan(request, schema is not None and schema.unit is not None)
        return {
            "strategy": plan.strategy,
            "epsilon_per_fit": plan.fit_epsilon,
            "delta_per_fit": plan.fit_delta,
            "charges": [charge.to_dict() for charge in plan.charges],
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.candidates:
            of = get_tags(self.candidates[0])
            tags.estimator_type, tags.target_tags = of.estimator_type, of.target_tags
            tags.classifier_tags, tags.regressor_tags = of.classifier_tags, of.regressor_tags
            tags.input_tags, tags.non_deterministic = of.input_tags, of.non_deterministic
        return tags

    @property
    def _numbers(self) -> bool:
        """Whether the candidates are about numbers."""
        return about_numbers(self.candidates)

    def _measure(self) -> Criterion:
        """By what to judge, checked."""
        return measure_of(self.candidates, Criterion(self.criterion, self.quantile, None, self.error_clip))

    def _plan(self, request: Request, several_rows: bool) -> SearchPlan:
        return plan_search(
            self.candidates, request, self.strategy, self.runs, self.shape, self.holdout > 0 and not several_rows
        )

    def _check(self) -> Schema | None:
        """Checks what is public; returns the candidates' schema."""
        if not is_number(self.holdout) or not 0 <= self.holdout < 1:
            raise RequestError(f"holdout must lie in [0, 1), got {self.holdout!r}")
        if not isinstance(self.candidates, Sequence) or isinstance(self.candidates, str):
            raise RequestError(
                f"candidates must be a list of estimators, such as [first, second], got a "
                f"{type(self.candidates).__name__}"
            )
        if len(self.candidates) < 2:
            raise RequestError(f"a search needs at least two candidates, got {len(self.candidates)}")
        facts = []
        for candidate in self.candidates:
            parameters = candidate.get_params(deep=False) if hasattr(candidate, "get_params") else {}
            lacking = [name for name in NEEDED if name not in parameters]
            if lacking or not hasattr(candidate, "declared_charge"):
                raise RequestError(f"{type(candidate).__name__} is no private estimator of this library")
            if parameters["account"] is not None:
                raise RequestError("a candidate has an account of its own; give the account to the search instead")
            schema, classes = candidate.declared()
            sides = (None, None) if schema is None else (schema.label, schema.unit)
            facts.append((schema, sides, str(classes)))
        self._measure()
        if any(fact[1:] != facts[0][1:] for fact in facts):
            raise RequestError("the candidates must declare the same label, classes and unit")
        shared: Schema | None = facts[0][0]
        return shared


def fresh_candidate(candidate: Any, plan: SearchPlan, request: Request, seed: int | None) -> Any:
    """A candidate, unfitted, with what the search leaves for one fit; ``seed`` None for fresh entropy."""
    fresh = clone(candidate).set_params(
        epsilon=plan.fit_epsilon,
        delta=plan.fit_delta,
        neighbouring=str(request.neighbouring),
        account=None,
        random_state=seed,
    )
    fresh.warns = False  # what a candidate warns of would be a release of its own, and tell how many there were
    return fresh


@dataclass(eq=False)
class _Search:
    """One search under a reservation."""

    _owner: PrivateSelection
    _plan: SearchPlan
    _request: Request
    _schema: Schema | None
    _reservation: Reservation

    def __post_init__(self) -> None:
        owner = self._owner
        self._measure = measure_of(owner.candidates, Criterion(owner.criterion, owner.quantile, None, owner.error_clip))
        judge = PrivateRows(Frame({}, 0), np.empty(0), self._reservation, self._request.random_state)
        self.noise_name, self.releasable = judge.noise_name, judge.releasable

    def each(self, rows: _Rows) -> tuple[int, Any]:
        """Fits every candidate and chooses by the exponential mechanism."""
        training, judging = self._split(rows)
        fitted = []
        for index in range(len(self._owner.candidates)):
            for charge in self._plan.declared[index]:
                label = Label(Stage.FIT, f"candidate {index}")
                self._reservation.record(charge, label, "what the fit's own certificate says")
            seed = None if self._request.random_state is None else self._request.random_state + 1 + index
            fitted.append(self._fit(index, training, seed))
        judges = judges_of(fitted, self._schema, self._measure)
        columns: dict[str, Any] = {
            f"candidate {index}": judge.utilities(judging.frame, judging.data, judging.labels)
            for index, judge in enumerate(judges)
        }
        private_rows = self._private_rows(columns, judges[0], judging, self._reservation, self._request.random_state)
        best = best_of(private_rows, tuple(columns), judges[0], self._plan.scoring, "the best candidate")
        return best, fitted[best]

    def random_stopping(self, rows: _Rows) -> tuple[int, Any]:
        """Fits and scores randomly chosen candidates a random number of times; only the best is ever seen."""
        assert self._plan.rule is not None
        training, judging = self._split(rows)

        def run(index: int, seed: int | None) -> tuple[tuple[int, Any], float]:
            with warnings.catch_warnings():  # how often a fit warns would tell how many there were
                warnings.simplefilter("ignore")
                estimator = self._fit(index, training, seed)
            inner = Reservation([self._plan.scoring], self._request.neighbouring, "the score of one run")
            (judge,) = judges_of([estimator], self._schema, self._measure)
            columns = {"levels": judge.utilities(judging.frame, judging.data, judging.labels)}
            noise_seed = None if seed is None else seed + 1
            curator = self._private_rows(columns, judge, judging, inner, noise_seed).seal(
                utility_encoding(("levels",), judge.levels), LabelIndex((0, 1))
            )
            weights = utility_weights(judge.levels)
            released = ReleaseMap(weights[None, :], judge.levels)
            query = Histogram(column_cells(0, len(weights)), count_rule(2), None, released)
            score = curator.measure(query, self._plan.scoring, Label(Stage.EVALUATION, "score")).value
            return (index, estimator), float(score[0, 0])

        best = f"the best of a random number of fits of {len(self._owner.candidates)} candidates"
        return best_of_random_runs(
            self._plan.rule,
            len(self._owner.candidates),
            run,
            self._reservation,
            self._plan.charges[0],
            self._request.random_state,
            Label(Stage.SELECTION, best),
        )

    def _split(self, rows: _Rows) -> tuple[_Rows, _Rows]:
        """Rows to fit and rows to judge by, separated by a secret coin per row.

        The coins are as secret as noise: a row that is added or removed moves the places of all behind it, so parts
        that are known by place would tell more than the parallel composition pays for.
        """
        if self._owner.holdout == 0:
            return rows, rows
        source = chosen_source(self._request.random_state)
        aside = random_part(source, self._owner.holdout, rows.frame.n_rows)
        return rows.where(~aside), rows.where(aside)

    def _fit(self, index: int, rows: _Rows, seed: int | None) -> Any:
        """One fit under its own small budget. What it may spend was reserved."""
        estimator = fresh_candidate(self._owner.candidates[index], self._plan, self._request, seed)
        estimator.fit(rows.data, rows.labels)
        check_declared(self._plan.declared[index], estimator.certificate_)
        return estimator

    def _private_rows(
        self, columns: dict[str, Any], judge: Judge, rows: _Rows, reservation: Reservation, seed: int | None
    ) -> PrivateRows:
        unit = None if self._schema is None else self._schema.unit
        with_column, unit = with_unit(columns, rows.frame.n_rows, unit, rows.unit)
        return PrivateRows(with_column, judge.known(rows.labels), reservation, seed, unit)
