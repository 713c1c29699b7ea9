"""`BatchwiseClassifier` and `BatchwiseRegressor`: rows that arrive in batches, under the budget of one fit."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from tacit.arrays import Floats
from tacit.curator.options import fresh_key
from tacit.encoding.frames import Frame
from tacit.errors import spending
from tacit.estimators.binding import bound, summary_of
from tacit.estimators.classes import accuracy, classes_in_order, scores_in_order
from tacit.estimators.classifier import PrivateClassifier, PrivateEstimator
from tacit.estimators.regressor import PrivateRegressor, r_squared
from tacit.learning.supply import Begun, batch_fingerprint
from tacit.models.additive import AdditiveModel
from tacit.models.additive_scores import AdditiveClassesModel, AdditiveOrderedModel, AdditiveRegressionModel
from tacit.models.base import Model
from tacit.models.mean import MeanModel, MeanNumberModel
from tacit.models.tree_ensemble import TreeClassesModel, TreeEnsembleModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import Request, RequestError, declared_schema
from tacit.privacy.spending import check_declared, reserve

THEOREM = "parallel composition: batches hold different persons (McSherry 2009, Theorem 4)"


class _Batchwise(BaseEstimator):
    """What the two share: a fit for every batch, one charge for all."""

    model_: MeanModel | MeanNumberModel
    certificate_: Certificate
    certificates_: tuple[Certificate, ...]
    charged_: bool

    _kind: ClassVar[type[PrivateEstimator]]
    _mean: ClassVar[type[MeanModel] | type[MeanNumberModel]]

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def __setstate__(self, state: dict[str, Any]) -> None:
        gone = "_begun" in state and not vars(state["_begun"] or self)
        super().__setstate__({**state, "_begun": None} if gone else state)

    def fit(self, X: Any, y: Any) -> Self:
        """Forgets what there was, and learns from a first batch; it is charged.

        Raises:
            ValueError: for public mistakes; nothing was spent.
            BudgetExceeded: if the account cannot pay; nothing was read.
        """
        for name in ("model_", "certificate_", "certificates_", "charged_", "classes_", "n_features_in_", "_begun"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learns from the next batch: rows of persons that no earlier batch held.

        Args:
            X: the batch's rows.
            y: their labels.

        Raises:
            ValueError: for public mistakes; nothing was spent, and the model stays as it was.
            AccountError: if the account did not pay for the first batch, or saw these rows in an earlier one; nothing
                was spent.
            BudgetExceeded: if the account cannot pay for the first batch, or for one that was begun before; nothing
                was read.
        """
        fresh = self._fresh()
        learner, task, frame, labels = fresh.check_table(X, y)
        first = self._batches == 0
        if not first:
            self._check_same(fresh, self.certificate_)
        account: PrivacyAccount | None = self.estimator.account
        series = new_series() if first else series_of(self.certificate_)

        def known_by(key: bytes) -> str:
            return batch_fingerprint(task, frame, labels, key)

        # Rows of a later batch are read before anything is written down: it is not charged, or charged in full.
        with spending():
            with self._reserve(fresh, learner.request, account, series, known_by) as reservation:
                if first:
                    self._remember(account, reservation.label, known_by)
                for charge in reservation.charges:
                    reservation.record(charge, Label(Stage.BATCHES, series), THEOREM)
                fresh.warns = False  # the batches say it together
                fresh.fit(X, y)
                check_declared(fresh.declared_charge(fresh.neighbouring), fresh.certificate_)
            self._take(fresh, reservation if first else None, account)
            self.charged_ = bool(reservation.charges)
            self.summary_ = summary_of(fresh.model_, self.certificate_, fresh.schema_)
            return self

    def _remember(self, account: PrivacyAccount | None, label: str, known_by: Callable[[bytes], str]) -> None:
        """Keeps what the first batch is known by, once it is paid for."""
        if account is not None:
            account.take_batch(account.key(fresh_key()).fingerprint(known_by), label)
            return
        self._begun = Begun()
        self._begun.take(1, known_by(self._begun.key))

    def _reserve(
        self,
        fresh: Any,
        request: Request,
        account: PrivacyAccount | None,
        series: str,
        known_by: Callable[[bytes], str],
    ) -> Reservation:
        """Reserves the next batch: the first is paid for, and so are the later ones where this account has seen it."""
        charges, number = fresh.declared_charge(fresh.neighbouring), self._batches + 1
        labels = [f"batch {n} of {series} by {type(fresh).__name__}, one charge for all batches" for n in (1, number)]
        unit = fresh.declared()[0].unit
        if number == 1:
            if account is not None:
                account.key(fresh_key())  # what is wrong with its file costs nothing yet
            return reserve(account, request, charges, labels[1], unit)
        if account is not None:
            fingerprint = account.key(fresh_key()).fingerprint(known_by)
            return account.reserve_batch(charges, labels[1], labels[0], fingerprint, unit)
        beginning: Begun | None = getattr(self, "_begun", None)
        if beginning is None:
            raise RequestError(
                "a learner that was stored goes on only under the account that paid for its first batch: without one "
                "nobody can tell whether another copy went on, too"
            )
        beginning.take(number, known_by(beginning.key))
        return reserve(None, request, (), labels[1], unit)

    def declared(self) -> tuple[Any, Any]:
        """The schema and the classes that the estimator of the batches declares."""
        facts: tuple[Any, Any] = self.estimator.declared()
        return facts

    def resume(self, model: Model, certificate: Certificate) -> Self:
        """Goes on from a model that was written to a file: the next batch is not charged, if its number is a new one.

        An account remembers the batches of a series by their numbers. Who goes on from one file twice has two batches
        of one number, whose rows may be the same: the second is charged in full. So goes nobody on without an account.

        Args:
            model: ``model_`` of such a learner.
            certificate: ``certificate_`` of the same; ``certificates_`` holds those of the batches still to come.

        Raises:
            ValueError: if they are not from a learner like this one, with the same promise, schema and account.
        """
        fresh = self._fresh()
        if not isinstance(model, self._mean) or certificate.algorithm != self._algorithm(fresh):
            raise RequestError(
                f"this {model.kind!r} model was made by {certificate.algorithm}, not by {self._algorithm(fresh)}: only "
                "a model that was begun in batches was charged for all of them"
            )
        if certificate.verify():
            raise RequestError(f"the certificate does not hold: {'; '.join(certificate.verify())}")
        self._check_same(fresh, certificate)
        if self.estimator.account is None:
            raise RequestError(
                "going on from a stored model takes the account that paid for its first batch: without one the same "
                "rows could be added again and again, and nobody would notice. Make the first batch under an account"
            )
        self.model_, self.certificate_, self.certificates_ = model, certificate, ()
        self.schema_ = declared_schema(self.estimator.schema)
        self.__dict__.pop("_last", None)
        self.describe()
        return self

    @property
    def _batches(self) -> int:
        """How many batches were learned from."""
        return len(self.model_.members) if hasattr(self, "model_") else 0

    def _algorithm(self, fresh: Any) -> str:
        return f"{type(self).__name__} of {type(fresh).__name__}"

    def _check_same(self, fresh: Any, certificate: Certificate) -> None:
        """Later batches are paid for by the first one's charge: they must not cost more, or be about something else."""
        charges = tuple(fresh.declared_charge(fresh.neighbouring))
        schema = fresh.declared()[0]
        claim = (certificate.charges, str(certificate.neighbouring), certificate.schema_fingerprint)
        if claim != (charges, str(fresh.neighbouring), schema.fingerprint()):
            raise RequestError(
                "what was charged was for batches with the epsilon, delta, neighbouring and schema of the first one "
                f"(epsilon {certificate.epsilon:g}, delta {certificate.delta:g}, {certificate.neighbouring}): keep them"
            )
        dataset = None if self.estimator.account is None else self.estimator.account.dataset
        if dataset != certificate.dataset:
            said_of = [
                "no account" if name is None else f"the account of {name!r}" for name in (certificate.dataset, dataset)
            ]
            raise RequestError(
                f"the first batch was charged to {said_of[0]}, and this is {said_of[1]}: keep the first one"
            )
        if certificate.releasable and fresh.random_state is not None:
            raise RequestError("a random_state would make the model of all batches not releasable: leave it out")

    def _fresh(self) -> Any:
        """An unfitted estimator for the next batch, without an account."""
        if not isinstance(self.estimator, self._kind):
            what = "classifier" if self._kind is PrivateClassifier else "regressor"
            raise RequestError(f"estimator must be a private {what}, got {type(self.estimator).__name__}")
        schema = self.estimator.declared()[0]
        public = getattr(self.estimator, "classes" if self._kind is PrivateClassifier else "target_bounds", None)
        if schema is None or (schema.label is None and (public is None or isinstance(public, str))):
            raise RequestError("batches need one schema with columns and label for all of them: declare it")
        fresh = clone(self.estimator).set_params(account=None)
        if fresh.random_state is not None:  # the same noise twice would cancel
            fresh.set_params(random_state=int(fresh.random_state) + self._batches)
        return fresh

    def _take(self, fresh: Any, reservation: Reservation | None, account: PrivacyAccount | None) -> None:
        """Takes in the fit of a batch."""
        if reservation is not None:
            self.certificates_ = ()
            own = fresh.certificate_
            self.certificate_ = Certificate.of(
                reservation,
                epsilon=fresh.epsilon,
                delta=fresh.delta,
                noise_source=own.noise_source,
                noise_releasable=fresh.random_state is None,
                algorithm=self._algorithm(fresh),
                schema=fresh.declared()[0],
                account=account,
                unverified=fresh.takes_on_trust,
            )
        earlier: tuple[tuple[Model, ...], tuple[float, ...]] = ((), ())
        if reservation is None:
            earlier = (self.model_.members, self.model_.weights)
        members: tuple[Any, ...] = (*earlier[0], fresh.model_)
        self.model_ = self._mean(members, (*earlier[1], released_rows(fresh.model_)))
        self.certificates_, self._last = (*self.certificates_, fresh.certificate_), fresh
        self.describe()
        self.schema_ = fresh.schema_
        self.certificate_ = bound(self, self.certificate_.assuming(*fresh.certificate_.assumptions))

    def describe(self) -> None:
        """What scikit-learn wants to know, from the model."""
        self.n_features_in_ = len(self.model_.feature_names)

    def _frame(self, X: Any) -> Frame:
        """The columns of a table to predict: as the last batch's learner reads them, or the model from a file."""
        return self._last.frame_for_model(X) if hasattr(self, "_last") else self.model_.frame_of(X)


class BatchwiseClassifier(ClassifierMixin, _Batchwise):
    """Learns from rows as they arrive: every batch has a fit of its own, and the model is the mean of all.

    Guarantee: all fits together are as private as one of them, (epsilon, delta) of ``estimator``. Of two tables that
    differ in one person, who is in batch k, all other batches are equal. What is made of those is the same on both
    (fits see nothing of one another), and the fit to batch k is (epsilon, delta)-close: so is everything together.
    This holds only if **every person is in one batch**: who comes again, spends again. Only that a whole batch comes
    again, in whatever order, is noticed and refused.
    Under ``replace_one`` a person is replaced by another one who arrives in the same batch.

    The first batch is charged to the account; the later ones are written into its history, without a charge. A batch
    that was begun before (the fit failed, or two processes went on from one file) is charged again.

    Args:
        estimator: a classifier of this library with a schema that declares columns and classes. Its account pays;
            its ``class_weight`` and other parameters hold for every batch.

    Attributes:
        model_: a :class:`~tacit.models.mean.MeanModel`, weighted by released numbers of rows; the members are the
            batches' models, in their order.
        certificate_: of all batches together: what was charged once.
        certificates_: of each batch's fit.
        charged_: whether the last batch was charged.
        classes_: the classes.
        n_features_in_: number of columns.

    Example:
        >>> from tacit import AdditiveBoostClassifier, BatchwiseClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> half = {name: values[:10_000] for name, values in X.items()}
        >>> model = BatchwiseClassifier(AdditiveBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema))
        >>> model = model.partial_fit(half, y[:10_000])
        >>> print(model.charged_, len(model.model_.members))
        True 1
    """

    _kind, _mean = PrivateClassifier, MeanModel

    model_: MeanModel

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of every row, shape ``(rows,)``."""
        check_is_fitted(self, "model_")
        classes: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities in the order of ``classes_``, shape ``(rows, classes)``."""
        check_is_fitted(self, "model_")
        return scores_in_order(self.model_.classes, self.model_.predict_proba(self._frame(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, with labels read as ``fit`` reads them. Not private: never publish it for private rows."""
        predicted = self.predict(X)
        return accuracy(self.model_, self.schema_, predicted, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """Log-odds of the last of two ``classes_``, shape ``(rows,)``; of several classes log-probabilities."""
        check_is_fitted(self, "model_")
        return scores_in_order(self.model_.classes, self.model_.decision_function(self._frame(X)))

    def describe(self) -> None:
        super().describe()
        self.classes_ = classes_in_order(self.model_.classes)


class BatchwiseRegressor(RegressorMixin, _Batchwise):
    """The same for a number: the model is the mean of the batches' predictions, weighted by released numbers of rows.

    Guarantee: that of :class:`BatchwiseClassifier`, under the same condition: every person is in one batch.

    Args:
        estimator: a regressor of this library with a schema that declares columns, and the target's bounds there or by
            ``target_bounds``. Its account pays; its loss and other parameters hold for every batch.

    Attributes:
        model_: a :class:`~tacit.models.mean.MeanNumberModel`; the members are the batches' models, in their order.
        certificate_: of all batches together: what was charged once.
        certificates_: of each batch's fit.
        charged_: whether the last batch was charged.
        n_features_in_: number of columns.

    Example:
        >>> from tacit import AdditiveBoostRegressor, BatchwiseRegressor
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> learner = AdditiveBoostRegressor(epsilon=1.0, delta=1e-6, schema=schema, target_bounds=(0, 1000))
        >>> model = BatchwiseRegressor(learner).partial_fit({"age": [20, 40, 60, 80] * 500}, [1.0, 2.0, 3.0, 4.0] * 500)
        >>> print(model.charged_)
        True
    """

    _kind, _mean = PrivateRegressor, MeanNumberModel

    def predict(self, X: Any) -> Floats:
        """The prediction for every row, within the target's bounds, shape ``(rows,)``."""
        check_is_fitted(self, "model_")
        return self.model_.predict(self._frame(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R squared, with labels read as ``fit`` reads them. Not private: never publish it for private rows."""
        return r_squared(self.schema_, self.predict(X), y, sample_weight)


def new_series() -> str:
    """What no other series of batches is called: nobody begins two at once in one process."""
    origin = f"{time.time_ns()} {os.getpid()} {platform.node()}"
    return f"series {hashlib.sha256(origin.encode()).hexdigest()[:32]}"


def series_of(certificate: Certificate) -> str:
    """The series whose first batch a certificate is of; another, which no account knows, if it does not say."""
    first = certificate.entries[0] if certificate.entries else None
    return first.subject if first is not None and first.stage is Stage.BATCHES else new_series()


def released_rows(model: Model) -> float:
    """How many rows a model was made from, up to a factor that models of a kind share, as far as it was released."""
    if isinstance(model, AdditiveModel) and model.mains:
        return max(float(model.mains[0].counts.sum()), 1.0)
    of_scores = AdditiveClassesModel | AdditiveOrderedModel | AdditiveRegressionModel
    if isinstance(model, of_scores) and model.scores.mains:
        return max(float(model.scores.mains[0].counts.sum()), 1.0)
    if isinstance(model, TreeEnsembleModel | TreeClassesModel) and model.trees:
        return max(float(model.trees[0].support.sum()), 1.0)
    return 1.0
