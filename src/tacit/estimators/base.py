"""The base class of the estimators: parameters on one side, a learner and its fit on the other.

Nothing here loads scikit-learn, which takes as long as a fit of a small table: :mod:`tacit.estimators.classifier` gives
estimators its conventions, and the command line does without. What a fit does is in :mod:`tacit.learning.fit`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import fields, replace
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from tacit.arrays import Floats
from tacit.display import brief
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, numbered
from tacit.encoding.inputs import by_number, by_position, table_of
from tacit.errors import spending
from tacit.estimators.binding import bound, summary_of
from tacit.estimators.callers import assumptions_of, calling_context
from tacit.learning.declared import Declared, classes_declared, common_classes, common_schema
from tacit.learning.fit import Fitted, check, check_budget, dry_run, fit
from tacit.learning.learner import Learner, Task
from tacit.learning.supply import TableSupply, supply_of
from tacit.learning.tables import public_rows, task_of, undeclared_before
from tacit.learning.weights import refuse_unknown
from tacit.models.base import Model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.assumptions import check_dtypes
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.progress import OPTIONS
from tacit.privacy.request import Request, RequestError
from tacit.schema import Schema
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.models.edit import Edit
    from tacit.report.explanation import Explanation
    from tacit.report.figures import Figure, Figures


class Page(str):
    """An HTML page as text; a notebook shows it in a frame of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<page of {len(self):,} characters: str() is its text>"

    def _repr_html_(self) -> str:
        frame = 'sandbox="" style="width:100%;height:720px;border:1px solid #bbb" title="report"'
        return f'<iframe srcdoc="{escape(self)}" {frame}></iframe>'


class Looking:
    """What an estimator shows after a fit. All of it follows from the model: no row is read and nothing is charged."""

    model_: Any
    certificate_: Certificate
    schema_: Schema | None

    def frame_for_model(self, X: Any) -> Frame:
        """The columns of a table to predict, as the model knows them."""
        raise NotImplementedError

    def _fitted_model(self) -> Model:
        """The model; before a fit scikit-learn's error."""
        raise NotImplementedError

    def plot(self, term: str | None = None) -> Figure | Figures:
        """The report's drawing of one term, or of all of them.

        Args:
            term: a column, such as ``"age"``, or two with ``" x "`` between them; None for all.

        Raises:
            RequestError: if there is no such drawing; it says which there are.

        Example:
            ``estimator.plot("age").save("age.svg")``; see :doc:`/look`.
        """
        from tacit.report.figures import figures_of

        model = self._fitted_model()
        figures = figures_of(model, () if self.schema_ is None else self.schema_.ordinals)
        return figures if term is None else figures[term]

    def explain(self, X: Any) -> Explanation:
        """What moves the prediction of every row, by how much, and the noise in it.

        Args:
            X: a table of rows to explain. The explanation shows their values; it is no release of the model's data.

        Raises:
            RequestError: if the model is no sum of terms, as a list of rules is not.

        Example:
            ``print(estimator.explain(X[:3]))``; see :doc:`/look`.
        """
        from tacit.report.explanation import explain

        return explain(self._fitted_model(), self.frame_for_model(X))

    def edited(self, edit: Edit) -> Self:
        """The same estimator with a model that was edited by hand, and with the certificate that says so.

        Args:
            edit: of this estimator's model: ``estimator.model_.edit("age").flatten(60, 90)``.

        Raises:
            ClaimError: if it is of another model.
            RequestError: if it is no edit.
        """
        if not hasattr(edit, "certificate"):
            raise RequestError(f"edited takes an edit, such as model_.edit('age').smooth(), got {brief(edit)}")
        other = copy(self)
        other.model_, other.certificate_ = edit.model, edit.certificate(self.certificate_)
        other.describe()
        return other

    def describe(self) -> None:
        """Leaves behind what else is known after a fit."""

    def report(self, path: str | os.PathLike[str] | None = None, title: str | None = None) -> Page:
        """The report: one page that needs nothing but itself.

        Args:
            path: where to write it, too.
            title: its heading.

        Example:
            ``estimator.report("model.html")``; see :doc:`/look`.
        """
        from tacit.report.page import render

        schema = getattr(getattr(self, "best_", self), "schema_", None)
        text = Page(render(self._fitted_model(), self.certificate_.to_dict(), title, schema=schema))
        if path is not None:
            write_text(path, text, private=not self.certificate_.releasable)
        return text


L = TypeVar("L", bound=Learner)


class Estimator(Looking):
    """Base of the private estimators. A subclass lists its parameters, and implements :meth:`make_learner`.

    After ``fit``: ``model_`` (public, frozen), ``certificate_``, ``summary_`` (what the fit saw), ``n_features_in_``,
    and ``schema_``, the schema declared or found (None where the learner looked for bounds itself).
    """

    epsilon: float
    delta: float
    neighbouring: str
    schema: Any
    account: PrivacyAccount | None
    random_state: int | None

    warns: bool = True
    """Whether a fit warns of a weak promise and of what it saw; not inside a search, where that would be a release."""

    model_: Any
    certificate_: Certificate
    schema_: Schema | None
    n_features_in_: int

    def make_learner(self, request: Request) -> Learner:
        """What learns: the algorithm with this estimator's parameters, at a request for privacy.

        Raises:
            RequestError: for parameters that make no sense.
        """
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, tape: Any = None, **unknown: Any) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``. Or what
                :func:`tacit.read_source` or :func:`tacit.join_sites` gives, which hold the labels, too.
            y: labels, shape ``(rows,)``, in the order of the rows (an index is not read): classes declared or found, or
                booleans. Others are dropped. 0 and 1 stand for two classes that are declared, 1 for the positive one.
            tape: path of a file for the questions and what is released in answer, from which ``tacit verify --tape``
                learns the model again without rows (docs/tape.md); None for none.
            unknown: refused, with what to do instead.

        Raises:
            ValueError: for mistakes that are public: arguments, columns, dtypes, schema. Nothing was spent then.
            BudgetExceeded: if the account cannot pay for the fit; nothing was read.
        """
        refuse_unknown(unknown)
        return self._fit(X, y, tape=tape)

    def dry_run(self, n: int | None = None, X: Any = None, y: Any = None) -> dict[str, Any]:
        """What a fit would charge, before it does. Reads no rows and charges nothing.

        Args:
            n: the publicly expected number of rows. With a schema some learners then give an ``"forecast"``: what they
                would learn from so many.
            X: gives the columns where no schema does. A source is checked as in a fit.
            y: gives the dtype where no classes are declared: those of booleans are known, others are found.
        """
        learner, declared = self.make_learner(request_of(self)), self._declared(y)
        task = _task_without_rows(declared, learner.request, n)
        supply = supply_of(X, y, None, self.table_task)
        is_table = isinstance(supply, TableSupply)
        if not is_table:
            supply.task(declared, learner)
        frame = columns_of(X) if is_table and X is not None else None
        if not task.names and frame is not None:
            task = replace(task, names=frame.names)
        return dry_run(learner, replace(task, undeclared=undeclared_before(frame, y, declared, learner)), n)

    def declared_charge(self, neighbouring: str) -> tuple[Charge, ...]:
        """The most a fit of this estimator costs under a relation: what a parent must reserve for it.

        Raises:
            RequestError: for parameters that a fit would refuse: a parent learner must know of them before it pays.
        """
        learner = self.make_learner(request_of(self, neighbouring))
        task = _task_without_rows(self._declared(), learner.request, None)
        return tuple(learner.charges(learner.request.allowance, task))

    @property
    def algorithm(self) -> str:
        """What messages call this estimator: its public class."""
        return type(self).__name__

    @property
    def takes_on_trust(self) -> bool:
        """Whether it, or a learner inside it, is a foreign one, whose promise nobody verified."""
        return any(getattr(inner, "takes_on_trust", False) for inner in self._inner())

    def declared(self) -> tuple[Schema | None, Any]:
        """The schema and the classes that are declared: by this learner, or by those it is made of; None where none."""
        name, inner = self.algorithm, self._inner()
        return common_schema(self.schema, inner, name), common_classes(getattr(self, "classes", None), inner, name)

    # What a subclass may say.

    def _inner(self) -> Sequence[Any]:
        """The estimators that this one is made of; what they declare holds for it, too."""
        return ()

    def _declared(self, y: Any = None) -> Declared:
        """What is declared about the table; ``y`` are the labels, where their classes are said to be public."""
        return classes_declared(*self.declared(), self._inner(), self.algorithm, y)

    def table_task(self, X: Any, y: Any, declared: Declared, learner: Learner) -> tuple[Task, Frame, Any]:
        """The task of a fit to a table, the columns and the labels, after the checks of what is public about them."""
        return task_of(X, y, declared, learner)

    def describe(self, fitted: Fitted | None = None) -> None:
        """Leaves behind what else is known after a fit; None of one whose model came from a file."""

    def _width(self, X: Any) -> int:
        """How many features ``X`` has."""
        return len(table_of(X).names)

    # What all share.

    def check_table(self, X: Any, y: Any) -> tuple[Learner, Task, Frame, Any]:
        """The learner and task of a fit, the columns, the labels; refuses what a fit would. Reads no row."""
        learner, supply = self.make_learner(request_of(self)), TableSupply(X, y, None, self.table_task)
        check_budget(learner, self.account)
        task = supply.task(self._declared(y), learner)
        check(learner, task, self.account, OPTIONS.get().keeping)
        return learner, task, supply.frame, supply.labels

    def _fit(self, X: Any, y: Any, row_weights: Floats | None = None, tape: Any = None) -> Self:
        around = calling_context()
        with spending():
            learner, supply = self.make_learner(request_of(self)), supply_of(X, y, row_weights, self.table_task)
            taping = None if tape is None else import_module("tacit.learning.tapes").taping_of(tape)
            fitted = fit(learner, self._declared(y), supply, self.account, OPTIONS.get().keeping, taping)
            self.model_, self.schema_ = fitted.model, fitted.task.schema
            self.describe(fitted)
            self.n_features_in_ = self._width(supply.features)
            keep_names(self, supply.features)
            assumed = supply.assumed or assumptions_of(self, X, y, row_weights is not None)
            assumed += tuple(each.assumption for each in around)
            certificate = fitted.certificate.assuming(*assumed)
            self.certificate_ = bound(self, certificate, y, None if taping is None else taping.digest)
            warned = [each.warning for each in around if each.whoever_pays or self.account is None]
            self.summary_ = summary_of(self.model_, self.certificate_, fitted.declared, warned, quiet=not self.warns)
            if taping is not None:
                taping.end(self.certificate_)
        return self

    def _fitted_model(self) -> Model:
        check_fitted(self)
        model: Model = self.model_
        return model

    def frame_for_model(self, X: Any) -> Frame:
        """The columns of a table to predict, as the model knows them."""
        check_fitted(self)
        frame = table_of(X)
        if len(frame.names) != self.n_features_in_ and frame.names == numbered(len(frame.names)):
            raise wrong_width(self, len(frame.names))
        names, name = getattr(self, "feature_names_in_", None), self.algorithm
        if names is not None:
            return frame if hasattr(X, "columns") else by_position(frame, names, name)
        of_matrix = set(self.model_.feature_names) <= set(numbered(self.n_features_in_))
        return by_number(frame, self.n_features_in_, name) if of_matrix else frame


def request_of(estimator: Estimator, neighbouring: str | None = None) -> Request:
    """What privacy an estimator asks for, checked; under another relation, if one is given."""
    check_dtypes(getattr(estimator, "dtypes", None))
    relation = estimator.neighbouring if neighbouring is None else neighbouring
    return Request.of(estimator.epsilon, estimator.delta, relation, estimator.random_state)


def learner_of(kind: type[L], estimator: Estimator, request: Request) -> L:
    """A learner with those parameters of an estimator that are called as its own are."""
    names = [each.name for each in fields(kind) if each.name != "request" and hasattr(estimator, each.name)]
    return kind(request, **{name: getattr(estimator, name) for name in names})


def check_fitted(estimator: Any) -> None:
    """Raises scikit-learn's error before a fit."""
    if not hasattr(estimator, "model_"):
        from sklearn.exceptions import NotFittedError

        name = getattr(estimator, "algorithm", type(estimator).__name__)
        raise NotFittedError(f"This {name} instance is not fitted yet. Call 'fit' first")


def keep_names(estimator: Any, X: Any) -> None:
    """Leaves ``feature_names_in_`` if the columns of a table have names, as scikit-learn does, and no earlier one."""
    names = X.names if isinstance(X, Frame) else getattr(X, "columns", None)
    vars(estimator).pop("feature_names_in_", None)
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.asarray(names, dtype=object)


def wrong_width(estimator: Estimator, width: int) -> FrameError:
    """What is wrong with a table of so many columns."""
    return FrameError(
        f"X has {width} features, but {estimator.algorithm} is expecting {estimator.n_features_in_} features as input"
    )


def _task_without_rows(declared: Declared, request: Request, n: int | None) -> Task:
    """What is known of a task without a table."""
    schema = declared.schema
    names = () if schema is None else schema.features
    return Task(schema, names, declared.label, None, public_rows=public_rows(request, schema, n))
