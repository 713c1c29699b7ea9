"""`ComposedClassifier`: a boolean function of k concepts, learned one after the other (Algorithm 5, Theorem 7.1)."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.closure.base import ClosureLearner, Setting
from tacit.closure.classes import ConceptClass
from tacit.closure.concepts import MOST_PATTERNS, ConceptSet
from tacit.closure.plan import PAPER_DRAWS, PAPER_SCORED, repeated_selection_range, selection_epsilon
from tacit.closure.raw import RAW_THEOREM, RawSet, RawThresholds, check_raw, raw_completions_on, raw_sets
from tacit.closure.relabel import Step, completions_on
from tacit.closure.search import Progress
from tacit.closure.unions import Stumps
from tacit.curator.choose import select_concept
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import Candidates, Points, Relabel
from tacit.curator.views.view import Parts, Plan, Sample, open_view
from tacit.errors import UNSPENT, TacitError, message_of
from tacit.estimators.base import learner_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.base import ClassModel
from tacit.models.rule import ComposedModel, RuleModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError
from tacit.theory.closure.formula import TruthTable, named_function

NAMES = ("or", "and", "majority", "maj", "xor")
Function = str | TruthTable | Sequence[int] | Callable[..., int]


def truth_table(function: Function, arity: int) -> TruthTable:
    """The truth table of a function of ``arity`` concepts, as :class:`ComposedClassifier` takes it.

    Raises :class:`TacitError` if it does not have that many inputs, or cannot be read. Nothing was spent.
    """
    if isinstance(function, str):
        table = named_function(function, arity) if function.lower() in NAMES else _expression(function, arity)
    elif isinstance(function, TruthTable):
        table = function
    else:
        table = _table_of(function, arity)
    if table.arity != arity:
        raise TacitError(f"the function has {table.arity} inputs, and there are {arity} concepts", UNSPENT)
    return table


def _table_of(function: Sequence[int] | Callable[..., int], arity: int) -> TruthTable:
    """The table of a Python function, or of listed values."""
    try:
        if callable(function):
            return TruthTable.of(lambda bits: function(*bits), arity)
        return TruthTable(tuple(int(value) for value in function))
    except TacitError:
        raise
    except Exception as error:
        kind = "cannot be asked about" if callable(function) else "cannot be read as a function of"
        raise TacitError(
            f"{function!r} {kind} {arity} concepts ({type(error).__name__}: {error}): give a name, an expression, the "
            "2^k values of its table, or a Python function of k bits",
            UNSPENT,
        ) from error


def in_words(function: Function, arity: int) -> str:
    """The function with ``x1, x2, ..`` for the concepts."""
    names = [f"x{i + 1}" for i in range(arity)]
    if isinstance(function, str):
        key = function.lower()
        if key in ("or", "and", "xor"):
            return f" {key} ".join(names)
        return f"the majority of {', '.join(names)}" if key in NAMES else function
    return f"a function of {', '.join(names)}"


def _expression(text: str, arity: int) -> TruthTable:
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise _unreadable(text, arity) from None
    free_names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = {f"x{i + 1}" for i in range(arity)}
    if free_names != names:
        raise TacitError(
            f"the expression {text!r} uses {', '.join(sorted(free_names)) or 'no inputs'}, and there are {arity} "
            f"concepts: it should use {', '.join(sorted(names))}",
            UNSPENT,
        )

    def value(bits: tuple[int, ...]) -> int:
        assignment = {f"x{i + 1}": bool(bit) for i, bit in enumerate(bits)}
        return int(_value(tree, assignment, text, arity))

    return TruthTable.of(value, arity)


def _value(node: ast.expr, assignment: Mapping[str, bool], text: str, arity: int) -> bool:
    match node:
        case ast.Name(id=name):
            return assignment[name]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, assignment, text, arity)
        case ast.BoolOp(op=op, values=values):
            parts = [_value(part, assignment, text, arity) for part in values]
            return all(parts) if isinstance(op, ast.And) else any(parts)
        case ast.BinOp(left=left, op=ast.BitXor(), right=right):
            return _value(left, assignment, text, arity) != _value(right, assignment, text, arity)
    raise _unreadable(text, arity)


def _unreadable(text: str, arity: int) -> TacitError:
    return TacitError(
        f"cannot read {text!r} as a function of {arity} concepts: give 'or', 'and', 'majority', 'xor', or an "
        "expression such as 'x1 and (x2 or not x3)'",
        UNSPENT,
    )


THEOREM = "relabelling by errors of the best completion: Alon et al. 2020, Lemma 5.3, sharpened"
OPEN_THEOREM = "errors of the best completion: a row adds an error or none"

AnySet = ConceptSet | RawSet

MOST_WORK = 10**6  # combinations of patterns that equation (17) may have to look at, the last class aside


@dataclass(frozen=True, eq=False)
class ComposedLearner(ClosureLearner):
    """Algorithm 5: what :class:`ComposedClassifier` says of itself holds here."""

    concepts: Sequence[ConceptClass] | None = None
    function: Function = "or"
    learners: Any = None
    progress: Progress | None = None

    name = "ComposedClassifier"
    theorem = "concepts one after the other, each by the errors of its best completion"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.concepts is not None:
            if not isinstance(self.concepts, list | tuple) or not all(
                isinstance(c, ConceptClass) for c in self.concepts
            ):
                raise RequestError("concepts must be a list of concept classes")
            if not self.concepts:
                raise RequestError("concepts must name at least one class")
        if self.analysis == "paper" and self.learners is None:
            raise RequestError("analysis='paper' needs learners: Algorithm 5 releases what they learn")
        if isinstance(self.learners, list | tuple) and len(self.learners) != self._count:
            raise RequestError(f"{len(self.learners)} learners are given for {self._count} concepts")
        try:
            truth_table(self.function, self._count)
        except ValueError as error:
            raise RequestError(message_of(error)) from None

    @property
    def _count(self) -> int:
        return 2 if self.concepts is None else len(self.concepts)

    @property
    def inner(self) -> Sequence[Any]:
        return listed(self.learners)

    @property
    def is_raw(self) -> bool:
        return self.concepts is not None and any(isinstance(one, RawThresholds) for one in self.concepts)

    @property
    def least_rows_of_a_run(self) -> int:
        if self.learners is None:
            return 1
        return self._count * (round(1 / (PAPER_DRAWS * PAPER_SCORED)) if self.analysis == "paper" else 1)

    def run(self, setting: Setting) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        table = truth_table(self.function, self._count)
        declared = self.concepts if self.concepts is not None else [Stumps(setting.task.names)] * 2
        if self.is_raw:
            return self._raw_run(setting, raw_sets(declared), table)
        sets = self._sets(declared, setting)
        public = self._is_public(sets)
        _check_work(sets, public)
        if self.learners is None:
            if not public:
                raise RequestError(
                    "concepts can be released only if they can be listed in public: use fewer bins, or give learners"
                )
            return self._open_run(setting, sets, table)
        return self._sealed_run(setting, sets, table, public)

    def _raw_run(
        self, setting: Setting, sets: Sequence[RawSet], table: TruthTable
    ) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        """All floats are candidates, and so are public, unless patterns of the sample are asked for."""
        check_raw(sets, setting.task, setting.neighbouring)
        if self.learners is None:
            return self._open_run(setting, sets, table)
        if setting.task.schema is None and not all(getattr(one, "is_raw", False) for one in self.inner):
            raise RequestError("without a schema raw thresholds are learned by learners of raw thresholds only")
        return self._sealed_run(setting, sets, table, self.patterns != "sample" and self.analysis != "paper")

    def _candidates(
        self, table: TruthTable, sets: Sequence[AnySet], public: bool, tell: Progress | None
    ) -> Callable[[Points], Candidates]:
        """Concepts of the first set, scored by the best of the others."""
        raw = [one for one in sets if isinstance(one, RawSet)]
        if raw:
            return raw_completions_on(table, raw, public)
        return completions_on(table, [one for one in sets if isinstance(one, ConceptSet)], public, tell)

    # Concepts released.

    def _open_run(
        self, setting: Setting, sets: Sequence[AnySet], table: TruthTable
    ) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        """All concepts chosen on all rows; every choice costs the same."""
        task, target = setting.task, setting.target
        private = not math.isinf(target.epsilon)
        span = math.inf
        charges: tuple[Charge, ...] = (NonPrivate(),)
        if private:
            span = repeated_selection_range(target, len(sets))
            charges = (BoundedRange(span),) * len(sets)

        def run(rows: PrivateRows) -> ClassModel:
            members: list[ClassModel] = []
            for i, concepts in enumerate(sets):
                choice = Relabel(
                    concepts.encoding,
                    task.label_index,
                    tuple(members),
                    self._candidates(table, sets[i:], True, self.progress),
                    selection_epsilon(span, setting.neighbouring) if private else math.inf,
                    span,
                    (),
                    RAW_THEOREM if self.is_raw else OPEN_THEOREM,
                    public=True,
                )
                index = select_concept(rows, choice, Label(Stage.CONCEPT, round=i + 1))
                columns, encoders, holds, text = concepts.concept(index)
                members.append(RuleModel(tuple(task.label_index.names), columns, encoders, holds, text))
            return self._model(setting, table, members)

        return charges, run

    # Concepts learned inside the curator.

    def _sealed_run(
        self, setting: Setting, sets: Sequence[AnySet], table: TruthTable, public: bool
    ) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        """Algorithm 5: a part of the rows for each concept, relabelled, and learned by its learner."""
        task, neighbouring, k = setting.task, setting.neighbouring, len(sets)
        plan = self._step_plan(setting.target, neighbouring, public, "completion")
        learners = list(self.learners) if isinstance(self.learners, list | tuple) else [self.learners] * k
        task = replace(task, public_rows=None)  # parts are random
        setting = replace(setting, task=task)
        children = {id(learner): setting.child(learner, plan) for learner in learners}
        steps = []
        for i, learner in enumerate(learners):
            tell = self.progress if public else None  # of patterns of the sample, how many there are is private
            candidates = self._candidates(table, sets[i:], public, tell)
            steps.append(
                Step.of(plan, children[id(learner)], sets[i].encoding, task, candidates, THEOREM, neighbouring)
            )
        inner_delta = setting.target.delta / plan.rate
        parts = Parts(task.label_index, tuple(step.charges(neighbouring) for step in steps), inner_delta)
        together = tuple(charge for charge, _ in parts.charges(neighbouring))
        sample = Sample(plan.rate, task.label_index, together, inner_delta, inside=THEOREM)

        def run(rows: PrivateRows) -> ClassModel:
            (part,) = open_view(rows, sample, Label(Stage.ROWS, "random part of the rows"))
            members: list[ClassModel] = []
            for i, own in enumerate(open_view(part, parts, Label(Stage.ROWS, "disjoint parts"))):
                members.append(steps[i].run(own, members, task, Label(Stage.CONCEPT, round=i + 1)))
            return self._model(setting, table, members)

        return tuple(charge for charge, _ in sample.charges(neighbouring)), run

    def _model(self, setting: Setting, table: TruthTable, members: Sequence[ClassModel]) -> ComposedModel:
        names = tuple(setting.task.label_index.names)
        return ComposedModel(names, table.values, tuple(members), in_words(self.function, self._count))


@dataclass(eq=False, repr=False)
class ComposedClassifier(PrivateClassifier):
    """Learns ``G(c_1, .., c_k)``, a disease caused by any of three markers, say, one concept after the other.

    Concept i is scored by the fewest errors that any choice of the concepts still to come can reach, given those
    already released. Without ``learners`` each concept is chosen among all concepts of its class, listed in public, and
    released, on all rows. With ``learners`` the curator relabels rows by the chosen concept, in a part of their own for
    each, and the i-th learner learns that.

    Args:
        concepts: the k classes, in order; None for stumps on all columns, twice. Up to three
            :class:`~tacit.closure.RawThresholds` need neither bins nor bounds.
        function: G: ``"or"``, ``"and"``, ``"majority"``, ``"xor"``, an expression in ``x1, x2, ..``, a truth table or
            a Python function of k bits.
        learners: k private classifiers, or one for all; None to release the concepts themselves.
        epsilon, account, random_state, bins, max_patterns: as in :class:`~tacit.closure.FiniteClassClassifier`.
        delta, neighbouring, schema, classes, relabel_share, patterns, repetitions, declared_rows: as in
            :class:`~tacit.closure.AgnosticClassifier`.
        analysis: ``"sharp"``, or ``"paper"`` for Algorithm 5 with the constants of Lemmas 3.12 and 5.3.
        progress: called with (done, all) patterns while a class is scored. For the operator's eyes: the numbers depend
            on the rows.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.rule.ComposedModel`; ``print(model_.to_text())``.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import ComposedClassifier, Thresholds
        >>> X = {"crp": np.arange(4000) % 80, "age": np.arange(4000) % 100}
        >>> tops = {"crp": 80, "age": 100}
        >>> columns = {name: {"kind": "numeric", "lower": 0, "upper": top, "bins": 10} for name, top in tops.items()}
        >>> markers = [Thresholds("crp", "rising"), Thresholds("age", "rising")]
        >>> model = ComposedClassifier(markers, "or", schema={"columns": columns}, classes=[False, True])
        >>> print(model.fit(X, (X["crp"] >= 40) | (X["age"] >= 80)).model_.to_text())
        True if x1 or x2, else False
          x1: crp >= 40
          x2: age >= 80
    """

    concepts: Sequence[ConceptClass] | None = None
    function: Function = "or"
    learners: Any = None
    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
    bins: int = 16
    max_patterns: int = MOST_PATTERNS
    relabel_share: float = 0.5
    patterns: str = "auto"
    analysis: str = "sharp"
    repetitions: int = 1
    declared_rows: int | None = None
    progress: Progress | None = None
    dtypes: str | None = None

    def _inner(self) -> Sequence[Any]:
        return listed(self.learners)

    def make_learner(self, request: Request) -> ComposedLearner:
        return learner_of(ComposedLearner, self, request)


def listed(learners: Any) -> Sequence[Any]:
    """The learners inside: several, one for all, or none."""
    if isinstance(learners, list | tuple):
        return learners
    return () if learners is None else (learners,)


def _check_work(sets: Sequence[ConceptSet], public: bool) -> None:
    """Refuses classes whose combinations could not be searched, from public facts."""
    work = 1
    for concepts in sets[:-1]:
        parts = concepts.bound.parts() if public else (concepts.bound,)
        n = concepts.bound.n_cells if concepts.n_points is None else concepts.n_points
        work *= sum(part.patterns_at_most(part.n_cells if public else n) for part in parts)
    if work > MOST_WORK:
        raise RequestError(
            f"the first {len(sets) - 1} classes have up to {work:.3g} combinations of patterns, more than "
            f"{MOST_WORK:.0g}: use fewer bins or smaller classes"
        )
