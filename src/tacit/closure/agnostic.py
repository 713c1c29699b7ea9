"""`AgnosticClassifier`: a private learner for labels of a class, made to tolerate other labels (Alg. 4, Thm 6.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tacit.closure.base import ANALYSES, ClosureLearner, Setting
from tacit.closure.classes import ConceptClass
from tacit.closure.concepts import MOST_PATTERNS
from tacit.closure.finite import FiniteClassClassifier
from tacit.closure.plan import PAPER_DRAWS, PAPER_SCORED, part_plan
from tacit.closure.relabel import Child, Step, child_rows, errors_on
from tacit.closure.unions import Stumps
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import RelabelPart
from tacit.curator.views.view import Plan, Sample, open_view
from tacit.estimators.base import learner_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.models.base import ClassModel, of_classes
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError

PART_THEOREM = "patterns of a random part, scored on all rows, then the learner on the relabelled part"
THEOREM = "relabelling by error counts: Alon et al. 2020, Lemma 5.3, sharpened"


@dataclass(frozen=True, eq=False)
class AgnosticLearner(ClosureLearner):
    """Algorithm 4: what :class:`AgnosticClassifier` says of itself holds here."""

    learner: Any = None
    concepts: ConceptClass | None = None

    name = "AgnosticClassifier"
    theorem = THEOREM
    analyses = (*ANALYSES, "part")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.concepts is not None and not isinstance(self.concepts, ConceptClass):
            raise RequestError(f"concepts must be a concept class, got {type(self.concepts).__name__}")
        if self.analysis == "part" and self.request.neighbouring.n_is_public:
            raise RequestError("analysis='part' is for neighbouring='add_or_remove_one', for which it is proved")
        if self.analysis == "part" and self.patterns == "public":
            raise RequestError("analysis='part' uses the patterns of a part of the sample: leave patterns out")

    @property
    def inner(self) -> Sequence[Any]:
        return () if self.learner is None else (self.learner,)

    @property
    def least_rows_of_a_run(self) -> int:
        return round(1 / (PAPER_DRAWS * PAPER_SCORED)) if self.analysis == "paper" else 1

    def _learner(self, concepts: ConceptClass) -> Any:
        """The learner inside, which by default chooses among the same concepts."""
        if self.learner is not None:
            return self.learner
        return FiniteClassClassifier(concepts, bins=self.bins, max_patterns=self.max_patterns, counts_share=0.0)

    def _part_run(self, setting: Setting, concepts: ConceptClass) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        """Scores of all rows, and the learner on a random part (docs/theory/agnostic_part.md)."""
        (concept_set,) = self._sets([concepts], setting)
        plan = part_plan(setting.target, float(self.relabel_share))
        task = replace(setting.task, public_rows=None)
        child = Child.of(self._learner(concepts), plan.child, setting.neighbouring, task)
        view = RelabelPart(
            concept_set.encoding,
            task.label_index,
            (),
            errors_on(concept_set, False),
            2 * plan.scoring,
            plan.scoring,
            child.plan,
            PART_THEOREM,
            rate=plan.rate,
            delta=plan.child.delta,
        )

        def run(rows: PrivateRows) -> ClassModel:
            (part,) = open_view(rows, view, Label(Stage.ROWS, "relabel a part and learn"))
            return of_classes(child.learn(part, task))

        return tuple(charge for charge, _ in view.charges(setting.neighbouring)), run

    def run(self, setting: Setting) -> tuple[Plan, Callable[[PrivateRows], ClassModel]]:
        task, neighbouring = setting.task, setting.neighbouring
        concepts = self.concepts if self.concepts is not None else Stumps(task.names)
        if self.analysis == "part":
            return self._part_run(setting, concepts)
        (concept_set,) = self._sets([concepts], setting)
        public = self._is_public([concept_set])
        plan = self._step_plan(setting.target, neighbouring, public, "errors")
        learner = self._learner(concepts)
        task = replace(task, public_rows=child_rows(plan, task.public_rows))
        child = replace(setting, task=task).child(learner, plan)
        step = Step.of(plan, child, concept_set.encoding, task, errors_on(concept_set, public), THEOREM, neighbouring)
        sample = Sample(
            plan.rate, task.label_index, step.charges(neighbouring), setting.target.delta / plan.rate, inside=THEOREM
        )

        def run(rows: PrivateRows) -> ClassModel:
            (part,) = open_view(rows, sample, Label(Stage.ROWS, "random part of the rows"))
            return step.run(part, (), task, Label(Stage.ROWS, "relabel and learn"))

        return tuple(charge for charge, _ in sample.charges(neighbouring)), run


@dataclass(eq=False, repr=False)
class AgnosticClassifier(PrivateClassifier):
    """Relabels the rows by a concept with few errors, chosen inside the curator, and lets a private learner learn that.

    The learner only ever sees labels that its class can explain. Nothing is released but what it releases.

    Args:
        learner: a private classifier, proper or not; its budget, relation and schema are set by this one. None for
            :class:`FiniteClassClassifier` over the same concepts.
        concepts: the class; None for stumps on all columns.
        epsilon, account, random_state, bins, max_patterns: as in :class:`FiniteClassClassifier`.
        delta: additive slack of the guarantee, in [0, 1).
        neighbouring: ``"add_or_remove_one"`` or ``"replace_one"``; the paper's analysis needs the latter.
        schema, classes: as there; None: the learner's, where it has some.
        relabel_share: share of epsilon for the relabelling; the rest is the learner's.
        patterns: ``"public"`` lists the class on all cells, ``"sample"`` takes the sample's patterns (which costs ln 2,
            or ln 4 under replace), ``"auto"`` the first where it can.
        analysis: ``"sharp"``, or ``"paper"`` for Algorithm 4 with the constants of Lemmas 3.12 and 5.3. ``"part"``
            scores patterns on all rows and gives the learner a random part: for a small epsilon, and much noise.
        repetitions: runs on disjoint parts, of which the best is chosen: fewer failures, fewer rows each.
        declared_rows: a public number of rows, if there is one, no smaller than the true one: is checked against the
            parts, and where rows are replaced bounds patterns.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: what the learner released.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> import numpy as np
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.closure import AgnosticClassifier, Thresholds
        >>> X = {"age": np.arange(4000) % 100}
        >>> columns = {"age": {"kind": "numeric", "lower": 0, "upper": 100, "bins": 20}}
        >>> learner = RandomTreesClassifier(n_trees=3)
        >>> model = AgnosticClassifier(learner, Thresholds("age"), schema={"columns": columns}, classes=[False, True])
        >>> print(model.fit(X, X["age"] >= 60).certificate_.epsilon <= 1)
        True
    """

    learner: Any = None
    concepts: ConceptClass | None = None
    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
    bins: int = 32
    max_patterns: int = MOST_PATTERNS
    relabel_share: float = 0.5
    patterns: str = "auto"
    analysis: str = "sharp"
    repetitions: int = 1
    declared_rows: int | None = None
    dtypes: str | None = None

    def _inner(self) -> Sequence[Any]:
        return () if self.learner is None else (self.learner,)

    def make_learner(self, request: Request) -> AgnosticLearner:
        return learner_of(AgnosticLearner, self, request)
