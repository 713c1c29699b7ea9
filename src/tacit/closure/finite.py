"""`FiniteClassClassifier`: the exponential mechanism over all concepts of a class (Alon et al. 2020, Alg. 1).

The learner of Kasiviswanathan and others 2011: proper, agnostic, for any class that can be listed on public cells.
Printed with exponents of opposite sign in Algorithm 1 and in the proof of Lemma 5.3; here scores are errors, and fewer
errors are likelier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.arrays import Bools, Floats, Ints
from tacit.closure.classes import BoundClass, ConceptClass, ConceptError
from tacit.closure.concepts import MOST_CANDIDATES, MOST_PATTERNS, ConceptSet, concept_sets
from tacit.closure.plan import SLACK, selection_epsilon
from tacit.closure.raw import RAW_THEOREM, RawSet, RawThresholds, check_raw, raw_completions_on, raw_sets
from tacit.closure.search import own_errors
from tacit.closure.unions import Stumps
from tacit.curator.choose import select_concept
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.curator.views.relabel import Relabel
from tacit.discovery.bounds import BOUNDS_SHARE, find_bounds
from tacit.encoding.grid import NumericGrid
from tacit.encoding.table import Encoder, TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.estimators.base import learner_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.learning.checks import check_integer, check_number, check_two_classes
from tacit.learning.learner import Learner, Task
from tacit.models.base import ClassModel
from tacit.models.rule import RuleModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import BoundedRange, Charge, Laplace, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import Cells, ProductCells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.rules import class_count_rule
from tacit.queries.selection import Selection, per_query
from tacit.schema import NumericColumn
from tacit.theory.closure.formula import TruthTable

CHOSEN = Label(Stage.SELECTION, "concept with the fewest errors")


def coarse_encoding(task: Task, names: Sequence[str], bins: int) -> TableEncoding:
    """The encoding of some columns, numeric ones in ``bins`` cells unless the schema fixes theirs."""
    encoding = task.encoding
    assert encoding is not None

    def coarse(name: str) -> Encoder:
        if name not in encoding.names:
            raise ConceptError(f"a concept class needs column '{name}', which is not among the features")
        encoder = encoding.encoders[encoding.names.index(name)]
        declared = None if task.schema is None else task.schema.columns[name]
        fixed = isinstance(declared, NumericColumn) and declared.bins is not None
        if fixed or not isinstance(encoder, NumericGrid) or not isinstance(encoder.spacing, str) or encoder.dates:
            return encoder
        return NumericGrid(encoder.lower, encoder.upper, bins, encoder.spacing, format=encoder.format)

    return TableEncoding(tuple(names), tuple(coarse(name) for name in names))


@dataclass(frozen=True, eq=False)
class FiniteClassLearner(Learner):
    """The exponential mechanism over a class: what :class:`FiniteClassClassifier` says of itself holds here."""

    concepts: ConceptClass | None = None
    bins: int = 32
    max_patterns: int = MOST_PATTERNS
    counts_share: float = 0.1

    name = "FiniteClassClassifier"

    def __post_init__(self) -> None:
        check_integer("bins", self.bins, 2)
        check_integer("max_patterns", self.max_patterns, 1, MOST_CANDIDATES)
        check_number("counts_share", self.counts_share, 0.0, 1.0, with_low=True)
        if self.concepts is not None and not isinstance(self.concepts, ConceptClass):
            raise RequestError(f"concepts must be a concept class, got {type(self.concepts).__name__}")

    @property
    def _raw(self) -> list[RawSet]:
        return [] if self.concepts is None else raw_sets([self.concepts])

    def check(self, task: Task) -> None:
        check_two_classes(task, self.name)
        if self._raw:
            check_raw(self._raw, task, self.request.neighbouring)
            return
        self._set(task if task.encoding is not None else _with_bounds(task, dict.fromkeys(task.names, (0.0, 1.0))))

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        if not allowance.is_private:
            return [NonPrivate()]
        if task.schema is not None or not task.names or self._raw:
            return self._split(allowance.epsilon)
        bounds = Allowance.of(allowance.epsilon * BOUNDS_SHARE, allowance.delta)
        return [bounds.whole, *self._split(allowance.epsilon * (1 - BOUNDS_SHARE))]

    def _split(self, epsilon: float) -> list[Charge]:
        """The selection, and the counts if any."""
        share = float(self.counts_share)
        charges: list[Charge] = [BoundedRange(epsilon * (1 - share) * (1 - SLACK))]
        if share:
            charges.append(Laplace(1 / (epsilon * share * (1 - SLACK))))
        return charges

    def _set(self, task: Task) -> ConceptSet:
        concepts = self.concepts if self.concepts is not None else Stumps(task.names)
        coarse = coarse_encoding(task, concepts.columns, int(self.bins))
        (concept_set,) = concept_sets([concepts], coarse, int(self.max_patterns), None)
        if not concept_set.is_public:
            bound = concept_set.bound
            raise ConceptError(
                f"the class over {', '.join(bound.columns)} is too large to list on its {bound.n_cells} cells: "
                "use fewer bins or columns"
            )
        return concept_set

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> ClassModel:
        epsilon = allowance.epsilon
        if self._raw:
            charges = self._split(epsilon) if allowance.is_private else [NonPrivate(), NonPrivate()]
            return learn_raw_threshold(rows, self._raw[0], charges, task.label_index, self.request.neighbouring)
        if task.encoding is None:
            slice_ = Allowance.of(allowance.epsilon * BOUNDS_SHARE, allowance.delta)
            task = _with_bounds(task, find_bounds(rows, task.names, task.label_index, slice_, 1.0))
            epsilon = allowance.epsilon * (1 - BOUNDS_SHARE)
        concepts = self._set(task)
        charges = self._split(epsilon) if allowance.is_private else [NonPrivate(), NonPrivate()]
        curator = rows.seal(concepts.encoding, task.label_index)
        return learn_concept(curator, concepts, charges, task.label_index.names)


@dataclass(eq=False, repr=False)
class FiniteClassClassifier(PrivateClassifier):
    """The concept of a finite class with (about) the fewest errors, by the exponential mechanism.

    Args:
        concepts: the class; None for stumps on all columns. :class:`~tacit.closure.RawThresholds` need no bounds.
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); used only to find bounds without a schema.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: all columns are numeric, and their
            bounds are found with 5 % of the budget.
        classes: the classes, when no schema names them; ``"public"`` takes them from y. None: labels must be
            booleans; others are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        bins: cells of a numeric column, where the schema does not fix them.
        max_patterns: the most concepts that may be listed.
        counts_share: share of epsilon for the class counts inside and outside the concept, in [0, 1); 0 for none.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.rule.RuleModel`; ``print(model_.to_text())``.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> import numpy as np
        >>> from tacit.closure import FiniteClassClassifier, Thresholds
        >>> X = {"age": np.arange(4000) % 100}
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100, "bins": 20}}}
        >>> model = FiniteClassClassifier(Thresholds("age", "rising"), schema=schema, classes=(0, 1))
        >>> print(model.fit(X, X["age"] >= 60).model_.to_text())
        1 if age >= 60, else 0
    """

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
    counts_share: float = 0.1
    dtypes: str | None = None

    def make_learner(self, request: Request) -> FiniteClassLearner:
        return learner_of(FiniteClassLearner, self, request)

    @property
    def is_raw(self) -> bool:
        """Whether it cuts a column as it is, and so needs no bounds."""
        return isinstance(self.concepts, RawThresholds)


def _with_bounds(task: Task, bounds: Mapping[str, tuple[float, float]]) -> Task:
    encoding = TableEncoding(task.names, tuple(NumericGrid(*bounds[name]) for name in task.names))
    return replace(task, encoding=encoding)


def learn_concept(
    curator: Curator, concepts: ConceptSet, charges: Sequence[Charge], classes: Sequence[Any]
) -> RuleModel:
    """Chooses a concept, and counts classes inside and outside of it if a second charge says so."""
    parts, patterns = concepts.bound.parts(), concepts.listed.parts
    histograms = tuple(_histogram(concepts, part) for part in parts)

    def score(position: int, answer: Ints) -> Ints:
        return -own_errors(patterns[position], answer)[None, :]

    selection = Selection(
        histograms,
        per_query(score),
        (1, len(concepts.listed)),
        movement=1,
        theorem="error counts of concepts: a row adds an error or none",
    )
    index = int(curator.select(selection, charges[0], CHOSEN).indices[0])
    columns, encoders, holds, text = concepts.concept(index)
    rates = (0.0, 1.0)
    if len(charges) > 1:
        rates = _counted(curator, histograms[concepts.listed.place(index)[0]].cells, holds, charges[1])
    return RuleModel(tuple(classes), columns, encoders, holds, text, rates)


def learn_raw_threshold(
    rows: PrivateRows, concepts: RawSet, charges: Sequence[Charge], label_index: LabelIndex, neighbouring: Neighbouring
) -> RuleModel:
    """Chooses a cut among all floats, and counts classes on its two sides if a second charge says so."""
    span = charges[0].range if isinstance(charges[0], BoundedRange) else math.inf
    epsilon = math.inf if math.isinf(span) else selection_epsilon(span, neighbouring)
    candidates = raw_completions_on(TruthTable((0, 1)), [concepts], True)
    choice = Relabel(concepts.encoding, label_index, (), candidates, epsilon, span, (), RAW_THEOREM, public=True)
    columns, encoders, holds, text = concepts.concept(select_concept(rows, choice, CHOSEN))
    rates = (0.0, 1.0)
    if len(charges) > 1:
        curator = rows.seal(TableEncoding(columns, encoders), label_index)
        cells = ProductCells((0,), (np.arange(3, dtype=np.int64),), (3,))
        rates = _counted(curator, cells, holds, charges[1])
    return RuleModel(tuple(label_index.names), columns, encoders, holds, text, rates)


def _counted(curator: Curator, cells: Cells, holds: Bools, charge: Charge) -> tuple[float, float]:
    """The share of the positive class outside and inside a concept, from noisy counts."""
    sums = np.vstack([~holds, holds]).astype(np.int64)
    query = Histogram(cells, class_count_rule(2), release_map=ReleaseMap(sums, 1))
    return _rates(curator.measure(query, charge, Label(Stage.COUNTS, "classes outside and inside the concept")).value)


def _histogram(concepts: ConceptSet, part: BoundClass) -> Histogram:
    positions = tuple(concepts.positions(part))
    maps = tuple(np.arange(n, dtype=np.int64) for n in part.n_codes)
    return Histogram(ProductCells(positions, maps, part.n_codes), class_count_rule(2))


BELOW, ABOVE = 0.49, 0.51
"""Not tuned: shares on either side of one half, whatever noise makes of them, so that labels and chances agree."""


def _rates(counts: Floats) -> tuple[float, float]:
    """Shares of the positive class from noisy counts ``(side, class)``, each kept on its side of one half."""
    counts = np.maximum(counts, 0.0)
    share = (counts[:, 1] + 1.0) / (counts.sum(axis=1) + 2.0)
    return float(min(share[0], BELOW)), float(max(share[1], ABOVE))
