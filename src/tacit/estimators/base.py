"""The base class of the learners: the order in which a fit does things, and what it leaves behind.

A fit checks what is public, reserves its whole charge in one durable write, and only then lets the learner ask about
rows. What the rows hold never makes it fail. Nothing here loads scikit-learn, which takes as long as a fit of a small
table: :mod:`tacit.estimators.classifier` gives learners its conventions, and the command line does without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from threadpoolctl import threadpool_limits

from tacit.arrays import Floats
from tacit.curator.budget import Budget
from tacit.curator.rows import Vault
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.discovery.undeclared import Undeclared, label_kind, refuse_texts
from tacit.encoding.errors import FrameError
from tacit.encoding.frames import Frame, columns_of, numbered, without_rows
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import (
    by_number,
    by_position,
    is_boolean,
    label_vector,
    plain,
    table_of,
    warn_of_texts,
    warn_of_undeclared,
)
from tacit.encoding.numbers import as_numbers
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.errors import with_remark
from tacit.estimators.binding import bound, told
from tacit.models.base import Model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import LEAST_EPSILON, Request, RequestError, check_loudness, declared_schema
from tacit.privacy.spending import certified, check_account, reserve
from tacit.schema import NumericColumn, Schema


def common_schema(own: Any, inner: Sequence[Any], algorithm: str) -> Schema | None:
    """The schema of a learner: its own, or else that of the learners inside it.

    Raises:
        RequestError: if two of them differ.
    """
    declared = [declared_schema(given) for given in (own, *(getattr(learner, "schema", None) for learner in inner))]
    given = [schema for schema in declared if schema is not None]
    if any(schema != given[0] for schema in given):
        raise RequestError(
            f"the schema of {algorithm} and those of the learners inside it differ: declare one, by {algorithm}"
        )
    return given[0] if given else None


def common_classes(own: Any, inner: Sequence[Any], algorithm: str) -> Any:
    """The same for the parameter ``classes``."""
    declared = (own, *(getattr(learner, "classes", None) for learner in inner))
    given = [classes for classes in declared if classes is not None]
    if any(_listed(classes) != _listed(given[0]) for classes in given):
        raise RequestError(
            f"the classes of {algorithm} and those of the learners inside it differ: declare them once, by {algorithm}"
        )
    return given[0] if given else None


def check_label(label_names: Sequence[Any], inner: Sequence[Any], algorithm: str) -> None:
    """Raises :class:`RequestError` if learners inside declare other classes than the schema does."""
    for learner in inner:
        classes = getattr(learner, "classes", None)
        if classes is not None and set(_listed(classes)) != {str(name) for name in label_names}:
            raise RequestError(
                f"the schema's classes and those of {type(learner).__name__} inside {algorithm} differ: declare them "
                "in the schema alone"
            )


def _listed(classes: Any) -> list[str]:
    return [classes] if isinstance(classes, str | bytes) else [str(plain(value)) for value in classes]  # type: ignore[list-item]


FINE_CELLS = 65_535
"""Cells of a numeric column's public grid, where its schema does not fix them."""


@dataclass(frozen=True)
class Task:
    """The public side of a fit: which columns, how they are encoded, which classes.

    Attributes:
        schema: as given, or None.
        names: feature names, in order.
        label_index: classes and sides.
        encoding: the public encoding of the features; None until bounds are found.
        undeclared: what the fit finds out before it learns; None if nothing, or by the learner itself.
        public_rows: the number of rows, where the relation makes it public; None where it is private, or random.
    """

    schema: Schema | None
    names: tuple[str, ...]
    label_index: LabelIndex
    encoding: TableEncoding | None
    undeclared: Undeclared | None = None
    public_rows: int | None = None


class PrivateLearner:
    """Base of the private learners. A subclass lists its parameters, and implements :meth:`_learn`.

    After ``fit``: ``model_`` (public, frozen), ``certificate_``, ``summary_`` (what the fit saw), ``n_features_in_``,
    and ``schema_``, the schema declared or found (None where the learner looked for bounds itself).
    """

    epsilon: float
    delta: float
    neighbouring: str
    schema: Any
    account: PrivacyAccount | None
    random_state: int | None

    tells: bool = True
    """Whether a fit warns of a weak promise and of what it saw; not inside a search, where that would be a release."""

    least_budget: ClassVar[float] = LEAST_EPSILON
    """The smallest epsilon, or Gaussian privacy parameter, whose noise integers hold in the learner's units."""

    @property
    def _algorithm(self) -> str:
        """What certificates and messages call this learner: its public class."""
        return type(self).__name__

    def fit(self, X: Any, y: Any) -> Self:
        """Learns a model under the requested privacy.

        Args:
            X: a table: pandas, polars, pyarrow, a mapping of columns or a matrix; shape ``(rows, columns)``.
            y: labels, shape ``(rows,)``: classes declared or found, or 0/1 with 1 the positive one. Others are dropped.

        Raises:
            ValueError: for mistakes that are public: arguments, columns, dtypes, schema. Nothing was spent then.
            BudgetExceeded: if the account cannot pay for the fit; nothing was read.
        """
        return self._fit(X, y, None)

    def _checked(self, X: Any, y: Any) -> tuple[Request, Task, Frame, Any]:
        """All checks of what is public, before anything is spent."""
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        self._check_parameters(request)
        check_account(self.account)
        check_loudness(request.allowance, self.least_budget, self._algorithm)
        task, frame, labels = self._task(X, y)
        task = replace(task, public_rows=self._public_rows(request, task.schema, frame.n_rows))
        self._check_task(task)
        self._check_monotone(task)
        return request, task, frame, labels

    def _fit(self, X: Any, y: Any, row_weights: Floats | None) -> Self:
        request, task, frame, labels = self._checked(X, y)
        if row_weights is not None:
            self._check_weighted(task)
            if len(row_weights) != frame.n_rows:
                raise RequestError(f"there are {frame.n_rows} rows, and sample_weight has {len(row_weights)} weights")
        allowance = self._allowance(request, task)
        charges, label = self._whole_charge(allowance, task), f"fit of {self._algorithm}"
        unit = None if task.schema is None else task.schema.unit
        with reserve(self.account, request, charges, label, unit) as reservation:
            frame, labels = self._read(frame, labels, task)
            vault = Vault(frame, labels, reservation, request.random_state, unit, row_weights)
            with threadpool_limits(1, "blas"):  # many small matrices: threads of BLAS would only wait for each other
                known, left = self._discover(vault, allowance, task)
                model = self._learn_from(vault, left, known)
        self.model_ = model
        self.schema_ = known.schema
        self._describe(known)
        self.n_features_in_ = self._width(X)
        names = X.names if isinstance(X, Frame) else getattr(X, "columns", None)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self.certificate_ = bound(self, self._certify(request, task, reservation, vault), y)
        self.summary_ = told(self.model_, self.certificate_, task.schema, quiet=not self.tells)
        return self

    def dry_run(self, n: int | None = None, X: Any = None) -> dict[str, Any]:
        """What a fit would charge, before it does. Reads no rows and charges nothing.

        Args:
            n: the number of rows that is publicly expected. With a schema some learners then say in ``"outlook"`` what
                they could do with them.
            X: whose columns are meant where no schema names them.
        """
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        self._check_parameters(request)
        schema = self._declared_schema()
        names = () if schema is None else schema.features
        undeclared = None
        if not names and X is not None:
            frame = columns_of(X)
            names = frame.names
            if self._discovers:
                undeclared = Undeclared.of(frame, True, "numbers", False, request)
        rows = self._public_rows(request, schema, n)
        task = Task(schema, names, self._label_index(schema), None, undeclared, rows)
        share = BOUNDS_SHARE if undeclared is None else undeclared.share
        allowance = self._allowance(request, task)
        return {
            "estimator": self._algorithm,
            "epsilon": request.epsilon,
            "delta": request.delta,
            "neighbouring": str(request.neighbouring),
            "charges": [charge.to_dict() for charge in self._whole_charge(allowance, task)],
            "bounds_share": 0.0 if schema is not None else share,
            "columns": list(names),
            "n": n,
            **(self._outlook(allowance, task, n) if n is not None and schema is not None else {}),
        }

    def declared_charge(self, neighbouring: str) -> tuple[Charge, ...]:
        """The most a fit of this estimator costs under a relation: what a parent must reserve for it.

        Raises:
            RequestError: for parameters that a fit would refuse: a parent must hear of them before it pays.
        """
        request = Request.of(self.epsilon, self.delta, neighbouring, self.random_state)
        self._check_parameters(request)
        schema = self._declared_schema()
        task = Task(schema, () if schema is None else schema.features, self._label_index(schema), None)
        return tuple(self._planned_charges(request.allowance, task))

    @property
    def takes_on_trust(self) -> bool:
        """Whether it, or a learner inside it, is a foreign one, whose promise nobody verified."""
        return any(getattr(inner, "takes_on_trust", False) for inner in self._inner())

    def declared(self) -> tuple[Schema | None, Any]:
        """The schema and the classes that are declared: by this learner, or by those it is made of; None where none."""
        return self._declared_schema(), self._declared_classes()

    # What a subclass says.

    def _outlook(self, allowance: Allowance, task: Task, n: int) -> dict[str, Any]:
        """``{"outlook": ...}``, what a fit to ``n`` rows could do, where the learner knows."""
        del allowance, task, n
        return {}

    def _learn(self, budget: Budget, task: Task) -> Model:
        """Learns from measurements alone. ``task.encoding`` is set."""
        raise NotImplementedError

    def _describe(self, task: Task) -> None:
        """Leaves behind what else is known after a fit."""

    def _read(self, frame: Frame, labels: Any, task: Task) -> tuple[Frame, Any]:
        """Rows and labels as the vault takes them, once the charge is durable."""
        del task
        return frame, labels

    def _check_parameters(self, request: Request) -> None:
        """Checks the subclass's own parameters; raises :class:`RequestError`."""

    def _check_task(self, task: Task) -> None:
        """Checks the public side of the task; raises :class:`RequestError`."""

    def _holds_monotone(self, task: Task) -> bool:
        """Whether effects that the schema declares monotone come out so."""
        del task
        return False

    def _check_monotone(self, task: Task) -> None:
        declared = [name for name in task.names if monotone_of(task, name)]
        if declared and not self._holds_monotone(task):
            raise RequestError(
                f"column '{declared[0]}' is declared monotone, and {self._algorithm} cannot promise that "
                "here: use AdditiveBoostClassifier, or leave 'monotone' out of the schema"
            )

    def _check_weighted(self, task: Task) -> None:
        """Checks that this learner can weigh rows; raises :class:`RequestError`."""

    def _planned_charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        """The whole charge of a fit."""
        del task
        return [allowance.whole]

    @property
    def _discovers(self) -> bool:
        """Whether a fit without a schema finds categories and classes, too, not bounds alone."""
        return False

    def _most_classes(self) -> int:
        """How many classes are told apart, where classes are to be found."""
        return 2

    def _learn_from(self, vault: Vault, allowance: Allowance, task: Task) -> Model:
        """Seals the rows and learns; finds bounds first where none were declared."""
        if task.encoding is not None:
            return self._learn(Budget(vault.seal(task.encoding, task.label_index), allowance), task)
        bounds = find_bounds(vault, task.names, task.label_index, allowance, BOUNDS_SHARE)
        encoding = TableEncoding(task.names, tuple(NumericGrid(*bounds[name], FINE_CELLS) for name in task.names))
        found = replace(task, encoding=encoding)
        left = allowance.part(1 - BOUNDS_SHARE)
        return self._learn(Budget(vault.seal(encoding, task.label_index), left), found)

    def _allowance(self, request: Request, task: Task) -> Allowance:
        allowance = request.allowance if task.undeclared is None else task.undeclared.allowance(request.epsilon)
        unit = None if task.schema is None else task.schema.unit
        rows = 1 if unit is None else unit.max_rows
        sides = 2 if request.neighbouring is Neighbouring.REPLACE_ONE else 1  # a replaced row may change its sign
        return replace(allowance, reach=float(sides * rows))

    def _whole_charge(self, allowance: Allowance, task: Task) -> list[Charge]:
        keys = [] if task.undeclared is None else task.undeclared.key_charges
        return [*self._planned_charges(allowance, task), *keys]

    def _discover(self, vault: Vault, allowance: Allowance, task: Task) -> tuple[Task, Allowance]:
        """The task with what nobody declared, and what is left of the allowance."""
        if task.undeclared is None:
            return task, allowance
        directed = any(monotone_of(task, name) for name in task.names)  # classes in no declared order have none
        most = 2 if directed else self._most_classes()
        found = task.undeclared.find(vault, task.label_index, allowance, most)
        if found.schema is None:
            return replace(task, label_index=found.label_index), found.allowance
        names, encoding = found.schema.features, found.encoding(FINE_CELLS)
        known = replace(task, schema=found.schema, names=names, label_index=found.label_index, encoding=encoding)
        return known, found.allowance

    @staticmethod
    def _public_rows(request: Request, schema: Schema | None, n_rows: int | None) -> int | None:
        """The number of rows where it is public: where one is replaced, and not a unit of as many as it likes."""
        by_unit = schema is not None and schema.unit is not None
        return n_rows if request.neighbouring.n_is_public and not by_unit else None

    # The public checks.

    def _task(self, X: Any, y: Any) -> tuple[Task, Frame, Any]:
        if y is None:
            raise RequestError(f"{self._algorithm} requires y to be passed, but the target y is None")
        schema = self._declared_schema()
        label_index = self._label_index(schema)
        frame = table_of(X)
        labels = label_vector(y)
        if len(labels) != frame.n_rows:
            raise RequestError(f"X and y must have as many rows as each other, got {frame.n_rows} and {len(labels)}")
        if self._names_no_classes(schema) and is_boolean(labels):
            label_index = LabelIndex((False, True))  # the same sides as 0 and 1, by the names that the labels have
        named = "" if schema is None or schema.label is None else schema.label.column
        self._check_labels(without_rows(labels), label_index, named)
        if schema is None and not frame.names:
            raise RequestError("0 feature(s) (shape=(n, 0)) while a minimum of 1 is required")
        undeclared = self._undeclared(frame, y if isinstance(y, list | tuple) else labels, schema)
        if schema is None:
            if undeclared is not None:
                return Task(None, frame.names, label_index, None, undeclared), frame, labels
            public = frame.without_rows()
            for name in frame.names:
                try:
                    as_numbers(public.column(name), name, loose=True)  # one text made texts of all: no reason to stop
                except FrameError as error:
                    raise FrameError(
                        with_remark(
                            error.message,
                            "Without a schema every column must be numeric: declare categories in a schema",
                        )
                    ) from None
            warn_of_undeclared(frame, self._algorithm)
            return Task(None, frame.names, label_index, None), frame, labels
        encoding = TableEncoding.of(schema, FINE_CELLS)
        encoding.check(frame)
        warn_of_texts(frame, schema)
        if schema.unit is not None:
            frame.column(schema.unit.column)
        return Task(schema, schema.features, label_index, encoding, undeclared), frame, labels

    def _check_labels(self, nothing: Any, label_index: LabelIndex, name: str) -> None:
        """Raises for labels of a dtype that can hold none; ``nothing`` is their vector without rows."""
        label_index.encode(nothing, name or "label")

    def _undeclared(self, frame: Frame, labels: Any, schema: Schema | None) -> Undeclared | None:
        """What is to be found; None if nothing is, or if the learner looks for bounds itself."""
        classes = self._names_no_classes(schema)
        if not self._discovers:
            if classes:
                refuse_texts(labels, self._algorithm)
            return None
        if schema is not None and not classes:
            return None
        request = Request.of(self.epsilon, self.delta, self.neighbouring, self.random_state)
        undeclared = Undeclared.of(frame, schema is None, label_kind(labels, frame), classes, request)
        return undeclared if undeclared.unknowns.releases or schema is None else None

    def _names_no_classes(self, schema: Schema | None) -> bool:
        """Whether this learner could be told classes, and nobody did."""
        unnamed = hasattr(self, "classes") and self._declared_classes() is None
        return unnamed and (schema is None or schema.label is None)

    def _width(self, X: Any) -> int:
        """How many features ``X`` has."""
        return len(table_of(X).names)

    def _inner(self) -> Sequence[Any]:
        """The learners that this one is made of; what they declare holds for it, too."""
        return ()

    def _declared_schema(self) -> Schema | None:
        return common_schema(self.schema, self._inner(), self._algorithm)

    def _declared_classes(self) -> Any:
        return common_classes(getattr(self, "classes", None), self._inner(), self._algorithm)

    def _label_index(self, schema: Schema | None) -> LabelIndex:
        label = None if schema is None else schema.label
        if label is not None and not label.is_numeric:
            check_label(label.classes, self._inner(), self._algorithm)
            return LabelIndex.of(label)
        if label is not None:
            raise RequestError(f"label '{label.column}' is numeric, and {self._algorithm} learns classes")
        declared = self._declared_classes()
        if isinstance(declared, str | bytes):  # a sequence of letters otherwise
            raise RequestError(f"classes must list the classes, such as ('no', 'yes'), got the text {declared!r}")
        if declared is not None and len(declared) < 2:
            raise RequestError(f"classes must name at least two classes, got {declared!r}")
        return LabelIndex((0, 1) if declared is None else tuple(plain(value) for value in declared))

    def _certify(self, request: Request, task: Task, reservation: Reservation, vault: Vault) -> Certificate:
        trusted = self.takes_on_trust
        return certified(self.account, request, reservation, vault, self._algorithm, task.schema, unverified=trusted)

    def _check_fitted(self) -> None:
        """Raises scikit-learn's error before a fit."""
        if not hasattr(self, "model_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {self._algorithm} instance is not fitted yet. Call 'fit' first")

    def _frame_for_model(self, X: Any) -> Frame:
        self._check_fitted()
        frame = table_of(X)
        if len(frame.names) != self.n_features_in_ and frame.names == numbered(len(frame.names)):
            raise FrameError(
                f"X has {len(frame.names)} features, but {self._algorithm} is expecting {self.n_features_in_} "
                "features as input"
            )
        known = getattr(self, "feature_names_in_", None)
        if known is not None:
            return frame if hasattr(X, "columns") else by_position(frame, known, self._algorithm)
        of_matrix = set(self.model_.feature_names) <= set(numbered(self.n_features_in_))
        return by_number(frame, self.n_features_in_, self._algorithm) if of_matrix else frame


def monotone_of(task: Task, name: str) -> str | None:
    """How the effect of a column is declared to go: ``"increasing"``, ``"decreasing"`` or None."""
    column = None if task.schema is None else task.schema.columns.get(name)
    return column.monotone if isinstance(column, NumericColumn) else None


def check_fit(learner: PrivateLearner, X: Any, y: Any) -> None:
    """Raises what a fit would refuse for public reasons. Reads no row and charges nothing."""
    learner._checked(X, y)
