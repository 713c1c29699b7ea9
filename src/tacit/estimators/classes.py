"""Estimators of classes: their order for scikit-learn, and predictions with the uncertainty that known noise leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtri

from tacit.arrays import Floats
from tacit.encoding.inputs import label_vector
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.errors import warn
from tacit.estimators.base import Estimator, check_fitted
from tacit.learning.fit import Fitted
from tacit.learning.weights import refuse_unknown, row_weights_of
from tacit.models.base import Uncertain, UncertainClasses
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import RequestError, is_number
from tacit.schema import Schema
from tacit.schema.alike import difference


def in_order(names: Sequence[Any]) -> list[int]:
    """The places of classes in the order that scikit-learn takes for granted: sorted, where that means anything.

    A model keeps its classes as they were declared, of two the positive one last. In estimators the last of two
    ``classes_`` is what ``decision_function`` and ``predict_proba(X)[:, 1]`` are about.
    """
    try:
        return sorted(range(len(names)), key=names.__getitem__)
    except TypeError:  # texts beside numbers
        return list(range(len(names)))


def classes_in_order(classes: Sequence[Any]) -> npt.NDArray[Any]:
    """A model's classes, as ``classes_`` has them."""
    return np.asarray([classes[place] for place in in_order(classes)])


def scores_in_order(classes: Sequence[Any], scores: Floats) -> Floats:
    """A model's scores, of two classes ``(rows,)`` and of more ``(rows, classes)``, as ``classes_`` has them."""
    places = in_order(classes)
    if scores.ndim > 1:
        return scores[:, places]
    return scores if places == [0, 1] else -scores


def accuracy(model: Any, schema: Schema | None, predicted: npt.NDArray[Any], y: Any, sample_weight: Any) -> float:
    """The share of rows whose class was predicted, with labels read as a fit reads them. Not private.

    Rows of others than the declared labels are left out, as in a fit; refused if none is left. All vectors have shape
    ``(rows,)``; the schema's label says how labels are read, without one the model's classes.
    """
    declared = None if schema is None else schema.label
    index = LabelIndex(tuple(model.classes)) if declared is None or declared.is_numeric else LabelIndex.of(declared)
    truth, predictions = index.encode(label_vector(y)), index.encode(predicted.tolist())
    weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if len(truth) != len(predictions) or weights.shape != truth.shape:
        raise RequestError(f"X and y must have the same number of rows, got {len(predictions)} and {len(truth)}")
    _warn_of_look_alikes(y, truth == DROPPED, model.classes)
    counted = np.where(truth == DROPPED, 0.0, weights)
    if not counted.sum() > 0:
        raise RequestError(f"no label of y is one of the classes {', '.join(map(repr, model.classes))}")
    return float(np.average(truth == predictions, weights=counted))


def _warn_of_look_alikes(y: Any, dropped: npt.NDArray[np.bool_], classes: Sequence[Any]) -> None:
    """Warns of labels that are left out and differ from a class only in Unicode form, case or invisible characters."""
    others = (getattr(value, "as_py", lambda value=value: value)() for value in compress(y, dropped))
    texts = sorted({value for value in others if isinstance(value, str)})
    why = next(filter(None, (difference(value, map(str, classes)) for value in texts)), "")
    if why:
        warn(f"{dropped.sum()} of {len(dropped)} labels are none of the classes, and left out; one differs only {why}")


class ClassEstimator(Estimator):
    """Base of the estimators of classes. After ``fit`` there is also ``classes_``, sorted as scikit-learn has them."""

    classes: Sequence[Any] | None
    model_: Any

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of every row, shape ``(rows,)``."""
        check_fitted(self)
        classes: npt.NDArray[Any] = self.classes_[np.asarray(self.predict_proba(X)).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of ``classes_``, shape ``(rows, classes)``."""
        frame = self.frame_for_model(X)
        return scores_in_order(self.model_.classes, self.model_.predict_proba(frame))

    def describe(self, fitted: Fitted | None = None) -> None:
        del fitted
        self.classes_ = classes_in_order(self.model_.classes)


@dataclass(eq=False, repr=False)
class CommonParameters(ClassEstimator):
    """The parameters that most estimators of classes begin with: the promise, what is declared, who pays, a seed."""

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None


class ScoredClasses(ClassEstimator):
    """An estimator of classes whose models have scores."""

    def decision_function(self, X: Any) -> Floats:
        """The score of the last of two ``classes_``, shape ``(rows,)``; of more a score each, ``(rows, classes)``.

        Scores are log-odds, of more than two classes up to a constant per row: probabilities are their softmax. Those
        of random forests are votes.
        """
        frame = self.frame_for_model(X)
        return scores_in_order(self.model_.classes, self.model_.decision_function(frame))


class RowWeights(Estimator):
    """An estimator whose rows may have weights, which only shrink what a row contributes: a fit costs the same."""

    instead: ClassVar[str] = ""
    """What to do in place of what ``fit`` does not take."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, tape: Any = None, **unknown: Any) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``. Or what
                :func:`tacit.read_source` gives, which holds the labels, too.
            y: labels, shape ``(rows,)``: classes declared or found, or 0/1 with 1 the positive one; of regressors
                numbers, clipped into their bounds. Rows with others, or without one, are dropped.
            sample_weight: a weight in (0, 1] for every row, shape ``(rows,)``: divide by a bound that is public, not
                by the largest weight found. Weights are public, as all arguments are: one outside is refused, and
                the error shows it. Clip weights that follow from private columns, row by row, before they come here.
                A weight must be a matter of its own row (how it was sampled, how sure its label is) and must not be
                derived from other rows, or the guarantee fails: no weights by class counts, residuals of a model
                fitted to these rows, or ranks. Weights are kept to within 4 %, and below 1/4000 are 0. Bounds that
                nobody declared are found from unweighted rows. None: all rows count 1.
            tape: path of a file for the questions and what is released in answer, from which ``tacit verify --tape``
                learns the model again without rows (docs/tape.md); None for none.
            unknown: refused, with what to do instead.

        Raises:
            ValueError: for mistakes that are public: arguments, columns, dtypes, schema. Nothing was spent then.
            BudgetExceeded: if the account cannot pay for the fit; nothing was read.
        """
        refuse_unknown(unknown, self.instead)
        return self._fit(X, y, row_weights_of(sample_weight), tape)


class Weighting(RowWeights, ClassEstimator):
    """An estimator of classes whose rows may have weights. A subclass has a parameter ``class_weight``."""

    class_weight: Any


class Uncertainty(ScoredClasses):
    """An estimator of classes that knows how far off its log-odds may be."""

    def predict_std(self, X: Any) -> Floats:
        """Standard deviation that the privacy noise leaves in the log-odds of every row, shape ``(rows,)``.

        Of more than two classes: of the log-odds of each against all others together, shape ``(rows, classes)``.

        Curves and pairs: the posterior standard deviation of the effect given all releases, which includes sampling
        error and shrinkage and errs on the large side. Trees: the noise of every leaf's sum as it reaches the score,
        less what later trees correct. Effects count as independent, and bins, pairs and structures as given.

        Raises:
            ValueError: if the model does not know (trees chosen by the data).
        """
        return self._scores(X)[1]

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """An interval for ``predict_proba(X)[:, 1]`` of two classes, shape ``(rows, 2)``.

        Of more than two classes: for the probability of each of ``classes_``, shape ``(rows, classes, 2)``.

        It is meant to hold what fits to the same rows say on average over the noise, with about this confidence; see
        :meth:`predict_std`. It says nothing about how well a model of this kind describes the population.

        Args:
            X: a table.
            confidence: strictly between 0 and 1.
        """
        deviations = deviations_within(confidence)
        score, sd = self._scores(X)
        reach = deviations * sd
        return np.asarray(expit(np.stack([score - reach, score + reach], axis=-1)))

    def _scores(self, X: Any) -> tuple[Floats, Floats]:
        frame = self.frame_for_model(X)
        model = self.model_
        if not isinstance(model, Uncertain | UncertainClasses):
            raise RequestError("this model does not say how sure it is")
        try:
            if isinstance(model, UncertainClasses):
                log_odds, variance = model.log_odds(frame), model.log_odds_variance(frame)
                return scores_in_order(self.model_.classes, log_odds), np.sqrt(
                    scores_in_order(self.model_.classes, variance)
                )
            return scores_in_order(self.model_.classes, model.decision_function(frame)), np.sqrt(
                model.score_variance(frame)
            )
        except ValueError as error:
            raise RequestError(str(error)) from None


def deviations_within(confidence: float) -> float:
    """How many standard deviations an interval reaches to both sides; raises :class:`RequestError`."""
    if not is_number(confidence) or not 0 < confidence < 1:
        raise RequestError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    return float(ndtri(0.5 + confidence / 2))
