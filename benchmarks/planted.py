"""Bugs that are planted on purpose, and the learners and releases that have them: what audits are held against.

A bug is a patch of the way from a query to its release, or a class that a learner inherits from. Each breaks a claim.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

import tacit
import tacit.curator.curator as gate
from tacit.audit import Audit, audit_releases
from tacit.curator.curator import Curator
from tacit.curator.joint_clipping import JointWeights
from tacit.encoding.inputs import table_of
from tacit.engines.blocks import MemoryTable
from tacit.noise import make_source
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace
from tacit.privacy.ledger import Reservation
from tacit.privacy.unit import Neighbouring
from tacit.queries.cells import OneCell, column_cells
from tacit.queries.histogram import Histogram, ReleaseMap
from tacit.queries.joint_bound import JointBound, JointHistogram, JointPart
from tacit.queries.margins import Margins
from tacit.queries.query import Sensitivity
from tacit.queries.rules import class_count_rule, count_rule, fine_class_count_rule, signed_margin_rule
from tacit.queries.selection import Selection

ADD, REPLACE = Neighbouring.ADD_OR_REMOVE_ONE, Neighbouring.REPLACE_ONE
LABEL = {"column": "sick", "classes": ["no", "yes"]}
FLAG = {"label": LABEL, "columns": {"smokes": {"kind": "boolean"}}}
WIDE = {
    "label": LABEL,
    "columns": {
        "x": {"kind": "numeric", "lower": 0, "upper": 1e6},
        "kind": {"kind": "categorical", "categories": ["usual", "canary"]},
    },
}
UNIT = {**FLAG, "unit": {"column": "person", "max_rows": 3}}


@dataclass(frozen=True)
class Bug:
    """A bug.

    Attributes:
        patches: of the library, while it is there; none where the bug is in a learner.
        mixin: what a learner with the bug inherits from first.
        schema: that tables are made from.
        relation: of the claim.
        paths: the paths of releases that have it.
        runs: on each table, of an audit of releases.
    """

    patches: Callable[[], list[Any]] = list
    mixin: type = object
    schema: Any = None
    relation: Neighbouring = ADD
    paths: tuple[str, ...] = ()
    runs: int = 1500

    @contextmanager
    def planted(self) -> Iterator[None]:
        """The library with the bug."""
        with ExitStack() as stack:
            for one in self.patches():
                stack.enter_context(one)
            yield

    def learner(self, base: type, **parameters: Any) -> Any:
        """A learner with the bug."""
        kind = base if self.mixin is object else type(self.mixin.__name__, (self.mixin, base), {})
        return kind(schema=self.schema or FLAG, neighbouring=str(self.relation), **parameters)


# Bugs on the way from a query to its release.


def no_noise() -> list[Any]:
    return [patch.object(gate, "integer_noise", lambda _, __, ___, size: np.zeros(size, np.int64))]


def smaller_scale(share: float) -> Callable[[], list[Any]]:
    def patches() -> list[Any]:
        scale = gate.integer_scale
        return [patch.object(gate, "integer_scale", lambda *asked: share * scale(*asked))]

    return patches


class Stock:
    """A source of noise that hands out the same vector again where scale and size are the same."""

    def __init__(self, source: Any) -> None:
        self._source, self._kept = source, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def gaussian(self, *key: Any) -> Any:
        return self._kept.setdefault(("gaussian", *key), self._source.gaussian(*key)).copy()

    def laplace(self, *key: Any) -> Any:
        return self._kept.setdefault(("laplace", *key), self._source.laplace(*key)).copy()


def same_noise() -> list[Any]:
    made = Curator.__init__

    def init(self: Curator, table: Any, reservation: Any, noise: Any, *more: Any) -> None:
        made(self, table, reservation, Stock(noise), *more)

    return [patch.object(Curator, "__init__", init)]


def smaller_sensitivity(share: float) -> Callable[[], list[Any]]:
    def smaller(found: Sensitivity) -> Sensitivity:
        return replace(found, l1=int(found.l1 * share), l2_squared=int(found.l2_squared * share**2))

    def patches() -> list[Any]:
        one, jointly = Histogram.sensitivity, JointHistogram.joint_sensitivity
        return [
            patch.object(Histogram, "sensitivity", lambda *asked: smaller(one(*asked))),
            patch.object(JointHistogram, "joint_sensitivity", lambda *asked: smaller(jointly(*asked))),
        ]

    return patches


def wrong_relation() -> list[Any]:
    one, jointly = Histogram.sensitivity, JointHistogram.joint_sensitivity
    return [
        patch.object(Histogram, "sensitivity", lambda self, _: one(self, ADD)),
        patch.object(JointHistogram, "joint_sensitivity", lambda self, _: jointly(self, ADD)),
    ]


def units_as_rows() -> list[Any]:
    return [patch.object(Sensitivity, "times", lambda self, _: self)]


# Bugs in a learner.


class BoundsFromRows:
    """Takes the smallest and the largest value for bounds."""

    def fit(self, X: Any, y: Any) -> Any:
        values = np.asarray(table_of(X).column("x"), float)
        values = values[np.isfinite(values)]
        column = {"kind": "numeric", "lower": float(values.min()) - 1, "upper": float(values.max()) + 1}
        self.schema = {**WIDE, "columns": {**WIDE["columns"], "x": column}}
        return super().fit(X, y)


class CategoriesFromRows:
    """Takes the categories that occur."""

    def fit(self, X: Any, y: Any) -> Any:
        results = sorted({str(value) for value in np.asarray(table_of(X).column("kind")).tolist()})
        column = {"kind": "categorical", "categories": results}
        self.schema = {**WIDE, "columns": {**WIDE["columns"], "kind": column}}
        return super().fit(X, y)


class ChargesFromRows:
    """Asks for less where there are more rows, and its certificate tells."""

    def fit(self, X: Any, y: Any) -> Any:
        claimed = self.epsilon
        self.epsilon = claimed * 60 / max(60, len(y))
        super().fit(X, y)
        self.epsilon = claimed
        return self


class EightSoldAsOne:
    """Learns with eight times the epsilon that it claims."""

    def fit(self, X: Any, y: Any) -> Any:
        claimed, self.epsilon = self.epsilon, 8 * self.epsilon
        super().fit(X, y)
        self.epsilon = claimed
        return self


class Peek:
    """Reads a count that it does not pay for, and shows it."""

    def make_learner(self, request: Any) -> Any:
        learner = super().make_learner(request)
        seen, learn = copy.copy(learner), learner.learn

        def peeking(rows: Any, allowance: Any, task: Any) -> Any:
            count = Histogram(OneCell(), class_count_rule(2))
            self.rare_ = int(rows.seal(task.encoding, task.label_codes)._table.answer(count).min())
            return learn(rows, allowance, task)

        object.__setattr__(seen, "learn", peeking)
        return seen


class ExactAlpha:
    """Takes a parameter of its loss from the exact share of a class."""

    def fit(self, X: Any, y: Any) -> Any:
        self.alpha_ = float(np.mean(np.asarray(y) == "yes"))
        return super().fit(X, y)


PATHS_OF_NOISE = ("Laplace", "Gaussian", "joint", "replace_one", "unit")
BUGS: dict[str, Bug] = {
    "none": Bug(paths=(*PATHS_OF_NOISE, "choice")),
    "noise left out": Bug(no_noise, paths=PATHS_OF_NOISE),
    "noise of half the scale": Bug(smaller_scale(0.5), paths=PATHS_OF_NOISE, runs=6000),
    "noise a tenth too small": Bug(smaller_scale(0.9), paths=("Gaussian",), runs=10_000),
    "the same noise twice": Bug(same_noise, paths=("Laplace", "Gaussian", "joint")),
    "a sensitivity a fifth too small": Bug(smaller_sensitivity(0.8), runs=2500, paths=("Gaussian", "joint")),
    "half the sensitivity": Bug(smaller_sensitivity(0.5), paths=("Gaussian", "joint")),
    "noise for the other relation": Bug(wrong_relation, relation=REPLACE, paths=("replace_one",)),
    "a person's rows charged as one": Bug(units_as_rows, schema=UNIT, paths=("unit",)),
    "eight fits sold as one": Bug(mixin=EightSoldAsOne),
    "bounds from the rows": Bug(mixin=BoundsFromRows, schema=WIDE),
    "categories from the rows": Bug(mixin=CategoriesFromRows, schema=WIDE),
    "charges that follow from the number of rows": Bug(mixin=ChargesFromRows),
    "an uncharged peek, shown": Bug(mixin=Peek),
    "alpha without noise": Bug(mixin=ExactAlpha),
}

LEARNERS: dict[str, Callable[[Bug], Any]] = {
    "one random tree, delta 0": lambda bug: bug.learner(tacit.RandomTreesClassifier, n_trees=1, delta=0.0),
    "additive, columns alone": lambda bug: bug.learner(tacit.AdditiveBoostClassifier, interactions=False),
}


# Releases, without a learner: run on made tables, with what they charge.


@dataclass(frozen=True, eq=False)
class Path:
    """Releases that an audit looks at.

    Attributes:
        run: makes them.
        with_canary, without: the tables.
        charges: what they charge.
        delta: of the claim.
        relation: how the tables differ.
    """

    run: Callable[[MemoryTable, int | None], Any]
    with_canary: MemoryTable
    without: MemoryTable
    charges: list[Charge]
    delta: float = 1e-6
    relation: Neighbouring = ADD

    def audited(self, trials: int, **more: Any) -> Audit:
        """What an audit of these releases finds; ``more`` as for :func:`tacit.audit.audit_estimator`."""
        return audit_releases(
            self.run,
            self.with_canary,
            self.without,
            self.charges,
            delta=self.delta,
            neighbouring=str(self.relation),
            trials=trials,
            **more,
        )


CELLS = 4
FINE = fine_class_count_rule(2)
COUNTS = [Histogram(column_cells(place, CELLS), FINE) for place in (0, 1)]


def table(*canary: tuple[int, int, int]) -> MemoryTable:
    """Twenty rows in the first cell of two columns, and rows ``(first, second, label)`` after them."""
    codes = np.array([*[(0, 0, 0)] * 20, *canary], np.uint8)
    return MemoryTable([codes[:, 0].copy(), codes[:, 1].copy()], codes[:, 2].copy(), [CELLS, CELLS], 2)


def counts(charges: list[Charge], relation: Neighbouring = ADD, rows_per_unit: int = 1) -> Any:
    """Two histograms, each at its charge: the canary is far out in one of them."""

    def two_histograms(rows: MemoryTable, seed: int | None) -> Any:
        with Reservation(charges, relation, "audit") as paid:
            curator = Curator(rows, paid, make_source(seed), rows_per_unit)
            asks = [(query, charge, "counts") for query, charge in zip(COUNTS, charges, strict=True)]
            return np.stack([release.value for release in curator.measure_all(asks)])

    return two_histograms


PART = ReleaseMap.from_floats(np.eye(CELLS), 1 << 10)


MARGIN = signed_margin_rule(lambda margin: np.minimum(1.0, np.exp(-margin)))
WEIGHTS = JointWeights((1.0, 1.0))


def jointly(charge: Gaussian) -> Any:
    """One release of each of two parts that are bounded together."""
    parts = tuple(JointPart(f"c{place}", column_cells(place, CELLS), PART, charge) for place in (0, 1))
    bound = JointBound(parts, PART.unit**2)

    def joint_releases(rows: MemoryTable, seed: int | None) -> Any:
        with Reservation([charge] * 2, ADD, "audit") as paid:
            curator = Curator(rows, paid, make_source(seed))
            curator._weigh = WEIGHTS  # type: ignore[misc] # its rules take longer to make than a thousand releases
            releases = curator.open_jointly(bound, 1)
            return np.stack([releases.measure(place, MARGIN, Margins()).value for place in (0, 1)])

    return joint_releases


def choice(charge: BoundedRange) -> Any:
    """The cell with about the most rows."""
    rule = count_rule(2)
    query = Histogram(column_cells(0, CELLS), rule)
    cells = Selection(
        (query,), lambda answers: next(answers).reshape(1, -1), (1, CELLS), rule.unit, "counts: a row is in one cell"
    )

    def most_rows(rows: MemoryTable, seed: int | None) -> Any:
        with Reservation([charge], ADD, "audit") as paid:
            chosen = Curator(rows, paid, make_source(seed)).select(cells, charge, "cell").indices
            return np.eye(CELLS)[chosen]

    return most_rows


LAPLACE: list[Charge] = [Laplace(2.0), Laplace(2.0)]
GAUSSIAN: list[Charge] = [Gaussian(0.7), Gaussian(0.7)]
FAR, FEW = (CELLS - 1, 0, 1), (0, 0, 1)
PATHS: dict[str, Path] = {
    "Laplace": Path(counts(LAPLACE), table(FAR), table(), LAPLACE, 0.0),
    "Gaussian": Path(counts(GAUSSIAN), table(FAR), table(), GAUSSIAN),
    "joint": Path(jointly(Gaussian(0.7)), table(FAR), table(), GAUSSIAN),
    "replace_one": Path(counts(GAUSSIAN, REPLACE), table(FAR), table((0, 0, 0)), GAUSSIAN, relation=REPLACE),
    "unit": Path(counts(GAUSSIAN, rows_per_unit=3), table(FAR, FAR, FAR), table(), GAUSSIAN),
    "choice": Path(choice(BoundedRange(2.0)), table(*[(1, 0, 0)] * 21), table(*[(1, 0, 0)] * 20), [BoundedRange(2.0)],
                   0.0),
}  # fmt: skip
