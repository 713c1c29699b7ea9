"""Everything that reads rows, each as a run from rows to all that it shows. Another learner is one more line here."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import tacit
from tacit.additive.tuning import Tuning
from tacit.closure import (
    AgnosticClassifier,
    ComposedClassifier,
    FiniteClassClassifier,
    Intervals,
    RawThresholds,
    Thresholds,
)
from tacit.growing.gradient_trees import choosing_plan
from tacit.growing.tuning import GRADIENT
from tacit.halfspaces.learn import is_long
from tacit.online import DecisionListWinnow, Winnow
from tests.habits import ADDITIVE, FEW_ROUNDS
from tests.replay.neighbours import COLUMNS, LOWER, UPPER, Rows, schema_of, table_of

ADD, REPLACE = "add_or_remove_one", "replace_one"
BOTH = (ADD, REPLACE)

TIMED = ("created", "digest")
"""What a certificate says of when it was made."""

THRESHOLDS = [Thresholds("a"), Intervals("b")]
RAW = [RawThresholds("a"), RawThresholds("b", "falling")]
UNDECLARED: dict[str, Any] = {"declared": False, "classes": ["no", "yes"]}


@dataclass(frozen=True)
class Case:
    """A learner, or a verb of the evaluation.

    Attributes:
        name: of the test.
        covers: public names of which this is a case.
        kind: of the label: see ``neighbours.table_of``.
        make: from the request (epsilon, delta, relation, seed) to a run from rows to what is shown.
        relations: those that it can have.
        deltas: those that it is run at.
        epsilon: of the request.
        n: rows.
        unit: whether persons are protected.
        few: how many neighbours are enough in the fast version.
        stream: whether a row is a round of a stream, so that one that is taken away becomes a null round.
    """

    name: str
    covers: tuple[str, ...]
    kind: str
    make: Callable[[dict[str, Any]], Callable[[Rows], Any]] = field(repr=False)
    relations: tuple[str, ...] = BOTH
    deltas: tuple[float, ...] = (1e-6,)
    epsilon: float = 1.0
    n: int = 90
    unit: bool = False
    few: int = 6
    stream: bool = False


def shown(fitted: Any) -> dict[str, Any]:
    """What a fit shows: the model, the certificate, and whatever else stands on the estimator."""
    certificate = {key: value for key, value in fitted.certificate_.to_dict().items() if key not in TIMED}
    heavy = ("model_", "certificate_", "certificates_", "best_")
    plain = {key: value for key, value in vars(fitted).items() if key.endswith("_") and key not in heavy}
    return {"model": fitted.model_.to_dict(None), "certificate": certificate, "attributes": plain}


def fits(
    kind: str, estimator: Any, weighted: bool = False, declared: bool = True, unit: bool = False, **more: Any
) -> Any:
    """Runs that fit an estimator."""
    schema: dict[str, Any] = {"schema": schema_of(kind, unit)} if declared else {}

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        def run(rows: Rows) -> Any:
            weights = {"sample_weight": rows.w} if weighted else {}
            return shown(estimator(**schema, **request, **more).fit(rows.X, rows.y, **weights))

        return run

    return make


def from_files(kind: str, estimator: Any, **more: Any) -> Any:
    """Runs that fit an estimator to two files, block by block."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        def run(rows: Rows) -> Any:
            full, half = rows.X.assign(label=rows.y), len(rows) // 2
            with tempfile.TemporaryDirectory() as place:
                for number, part in enumerate((full[:half], full[half:])):
                    part.to_csv(Path(place) / f"{number}.csv", index=False)
                source = tacit.read_source(place, directory=place)
                return shown(estimator(schema=schema_of(kind), **request, **more).fit(source))

        return run

    return make


def inside(kind: str, outer: Any, *estimators: Any, **more: Any) -> Any:
    """Runs of an estimator that holds others, which have the relation of the whole."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        def run(rows: Rows) -> Any:
            held = [one(schema=schema_of(kind), neighbouring=request["neighbouring"]) for one in estimators]
            return shown(outer(held, **more, **request).fit(rows.X, rows.y))

        return run

    return make


def resampled(held: list[Any], **more: Any) -> Any:
    return tacit.ResampledBoostClassifier(held[0], schema=schema_of("two"), **more)


def searched(held: list[Any], **more: Any) -> Any:
    return tacit.PrivateSelection(held, **more)


def gridded(held: list[Any], **more: Any) -> Any:
    return tacit.PrivateSelection.over_grid(held[0], {"n_trees": [1, 3]}, **more)


def agnostic(held: list[Any], **more: Any) -> Any:
    return AgnosticClassifier(held[0], THRESHOLDS[0], bins=8, patterns="sample", schema=schema_of("two"), **more)


def composed(held: list[Any], **more: Any) -> Any:
    return ComposedClassifier(THRESHOLDS, "or", held, bins=8, schema=schema_of("two"), **more)


def raw(held: list[Any], **more: Any) -> Any:
    return ComposedClassifier(RAW, "or", held, schema=schema_of("two"), **more)


def batches(kind: str, outer: Any, estimator: Any) -> Any:
    """Runs of rows that arrive in two batches."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        def run(rows: Rows) -> Any:
            fitted = outer(estimator(schema=schema_of(kind), **request))
            for batch in (rows.take(np.flatnonzero(rows.batch == k)) for k in (0, 1)):
                fitted.partial_fit(batch.X, batch.y)
            return [shown(fitted), fitted.charged_]

        return run

    return make


@cache
def judged(kind: str, seed: int, relation: str) -> Any:
    """A fitted model of other rows, to be judged."""
    rows = table_of(kind, 150, seed=seed + 100)
    estimator = tacit.AdditiveBoostRegressor if kind in ("number", "count") else tacit.AdditiveBoostClassifier
    arguments = {"epsilon": 3.0, "neighbouring": relation, "random_state": seed + 100}
    if kind == "count":
        arguments["loss"] = "poisson"
    return estimator(schema=schema_of(kind), **arguments).fit(rows.X, rows.y)


def judges(kind: str, ask: Callable[[list[Any], Rows, dict[str, Any]], Any]) -> Any:
    """Runs of the evaluation, on models that are there."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        models = [judged(kind, seed, request["neighbouring"]) for seed in (0, 2)]
        return lambda rows: ask(models, rows, request)

    return make


def score(models: list[Any], rows: Rows, request: dict[str, Any], **more: Any) -> Any:
    said = tacit.private_score(models[0], rows.X, rows.y, **more, **request).to_dict()
    return plain(said)


def plain(said: Any) -> Any:
    """Without the times of certificates."""
    if isinstance(said, dict):
        return {key: plain(value) for key, value in said.items() if key not in TIMED}
    return [plain(item) for item in said] if isinstance(said, list | tuple) else said


def select(models: list[Any], rows: Rows, request: dict[str, Any]) -> Any:
    selected = tacit.select_model(models, rows.X, rows.y, **request)
    return [selected.index, plain(selected.certificate.to_dict())]


def recalibrate(models: list[Any], rows: Rows, request: dict[str, Any]) -> Any:
    corrected = tacit.recalibrate(models[0], rows.X, rows.y, **request)
    return [corrected.model.to_dict(None), plain(corrected.certificate.to_dict())]


def discover(request: dict[str, Any]) -> Callable[[Rows], Any]:
    def run(rows: Rows) -> Any:
        schema, certificate = tacit.discover_schema(rows.X.assign(label=rows.y), "label", **request)
        return [schema.to_dict(), plain(certificate.to_dict())]

    return run


def streams(learner: Any, labels: tuple[str, ...] = ("no", "yes"), **more: Any) -> Any:
    """Runs over a stream of rounds; what is shown is the weights after every few of them."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        seeded = {("seed" if key == "random_state" else key): value for key, value in request.items()}

        def run(rows: Rows) -> Any:
            winnow = learner(schema={"columns": COLUMNS}, labels=labels, invalid="null", bins=4,
                             horizon=100_000, **seeded, **more)  # fmt: skip
            records = []
            for start in range(0, len(rows), 50):
                part = rows.take(np.arange(start, min(start + 50, len(rows))))
                winnow.learn_many(part.X, part.y)
                records.append(winnow.weights_)
            return [records, plain(winnow.certificate_.to_dict())]

        return run

    return make


def own(name: str, estimator: Any, kind: str, *, covers: tuple[str, ...] = (), **facts: Any) -> Case:
    """A case of an estimator; facts that are not a case's go to the estimator."""
    ours = {key: facts.pop(key) for key in list(facts) if key in Case.__dataclass_fields__}
    made = fits(kind, estimator, unit=ours.get("unit", False), **facts)
    return Case(name, (estimator.__name__, *covers), kind, made, **ours)


def explained(case: Case, least: float, asked: str, **numbers: float) -> Case:
    """The case where columns must explain so much for trees to follow, and with other numbers of the planning rule."""
    planning = replace(FEW_ROUNDS.planning, trees_explained_from=least, **numbers)
    return tuned(case, replace(FEW_ROUNDS, planning=planning), asked)


def tuned(case: Case, tuning: Tuning, asked: str) -> Case:
    """The case with other numbers, by which there are releases so named."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        run = case.make(request)

        def checked(rows: Rows) -> Any:
            with ExitStack() as stack:
                for learner in ADDITIVE:
                    stack.enter_context(patch.object(learner, "tuning", tuning))
                fitted = run(rows)
            labels = {entry["label"] for entry in fitted["certificate"]["entries"]}
            assert any(label.startswith(asked) for label in labels), "it was never asked"
            return fitted

        return checked

    return replace(case, make=make)


def chosen(case: Case) -> Case:
    """The case where trees choose their splits, as they do of very many rows; few trees."""
    plan = choosing_plan(1.0, replace(GRADIENT, choosing_trees=3, least_choosing_trees=3, choosing_depth=2))

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        run = case.make(request)

        def choosing(rows: Rows) -> Any:
            with patch("tacit.growing.gradient_trees.gaussian_plan", lambda *_: plan):
                fitted = run(rows)
            labels = {entry["label"] for entry in fitted["certificate"]["entries"]}
            assert any("split" in label for label in labels), "nothing was chosen"
            return fitted

        return choosing

    return replace(case, make=make)


def after_a_long_centre(case: Case) -> Case:
    """The case where a halfspace's first centre is long whatever its length, so that far rows are counted better."""

    def make(request: dict[str, Any]) -> Callable[[Rows], Any]:
        run = case.make(request)

        def asking(rows: Rows) -> Any:
            long: list[bool] = []

            def noted(first: Any, scaling: Any, tuning: Any) -> bool:
                long.append(is_long(first, scaling, replace(tuning, long_centre=-np.inf)))
                return long[-1]

            with patch("tacit.halfspaces.learn.is_long", noted):
                fitted = run(rows)
            assert long == [True], "it was never asked"
            return fitted

        return asking

    return replace(case, make=make)


def nested(name: str, outer: Any, *estimators: Any, kind: str = "two", **facts: Any) -> Case:
    """A case of an estimator that holds others."""
    covers = {
        resampled: "ResampledBoostClassifier",
        searched: "PrivateSelection",
        gridded: "PrivateSelection",
        agnostic: "AgnosticClassifier",
        composed: "ComposedClassifier",
        raw: "ComposedClassifier",
    }[outer]
    ours = {key: facts.pop(key) for key in list(facts) if key in Case.__dataclass_fields__}
    return Case(name, (covers,), kind, inside(kind, outer, *estimators, **facts), **ours)


two, several, number = tacit.AdditiveBoostClassifier, tacit.AdditiveBoostClassifier, tacit.AdditiveBoostRegressor
trees, forest, lists = tacit.BoostedTreesClassifier, tacit.RandomTreesClassifier, tacit.DecisionListClassifier
m_alpha, halfspace = tacit.MAlphaBoostClassifier, tacit.HalfspaceBoostClassifier
FEW_TREES: dict[str, Any] = {"n_trees": 3, "max_depth": 2}
small_trees, small_forest = partial(trees, **FEW_TREES), partial(forest, n_trees=3)
mains = partial(number, interactions=False)
EITHER = (1e-6, 0.0)

CASES = [
    own("two classes", two, "two", deltas=EITHER),
    own("two classes, larger epsilon", two, "two", epsilon=8.0, few=3),
    own("two classes, pairs", two, "two", interactions="pairs", few=3),
    own("two classes, mains", two, "two", interactions=False, few=3),
    Case("from files, two classes", ("read_source",), "two", from_files("two", two), few=4),
    Case("from files, halfspace", ("read_source",), "two", from_files("two", halfspace, measure="lazy_bregman"),
         relations=(REPLACE,), few=4),
    own("three classes", several, "three", deltas=EITHER),
    own("three classes, larger epsilon", several, "three", epsilon=8.0, few=3),
    own("ordered classes", several, "three", ordered=True, deltas=EITHER, few=4),
    own("ordered classes, larger epsilon", several, "three", ordered=True, epsilon=8.0, few=2),
    own("ordered classes, weights of rows", several, "three", ordered=True, weighted=True, few=3),
    explained(own("two classes, trees", two, "two", epsilon=95.0, relations=(ADD,), few=2), 0.0, "tree 1"),
    explained(own("two classes, pairs and trees", two, "two", epsilon=95.0, relations=(ADD,), few=2), 0.0, "tree 1",
              trees_full=1000.0),
    explained(own("two classes, pairs after columns", two, "two", epsilon=95.0, relations=(ADD,), few=2), np.inf,
              "screening of "),
    own("squared loss", number, "number", deltas=EITHER),
    own("quantile loss", number, "number", loss="quantile", quantile=0.8, few=4),
    own("Poisson loss", number, "count", loss="poisson", deltas=EITHER, few=4),
    own("Gamma loss", number, "count", loss="gamma", weighted=True, few=3),
    own("weights of rows and classes", two, "two", weighted=True, class_weight={"no": 1.0, "yes": 3.0}),
    own("weights of rows, three classes", several, "three", weighted=True, few=4),
    own("weights of rows, a number", number, "number", weighted=True, few=4),
    own("weights of rows, trees", trees, "two", weighted=True, few=3, **FEW_TREES),
    own("persons, two classes", two, "two", unit=True, few=3),
    own("persons, three classes", several, "three", unit=True, few=3),
    own("persons, a number", number, "number", unit=True, few=3),
    own("persons, trees", trees, "two", unit=True, few=3, **FEW_TREES),
    own("persons, random trees", forest, "two", unit=True, few=3, n_trees=5),
    own("persons, halfspace", halfspace, "two", unit=True, few=3),
    own("no schema, two classes", two, "two", declared=False, few=4),
    own("no schema, three classes", several, "three", declared=False, few=3),
    own("no bounds, a number", number, "number", declared=False, target_bounds=(LOWER, UPPER), few=3),
    own("no schema, trees", trees, "two", declared=False, few=3, **FEW_TREES),
    own("trees", trees, "two", deltas=EITHER, few=4, n_trees=6, max_depth=3),
    own("trees of three classes", trees, "three", deltas=EITHER, few=4, n_trees=6, max_depth=3),
    own("weights of rows, trees of three classes", trees, "three", weighted=True, few=3, **FEW_TREES),
    own("persons, trees of three classes", trees, "three", unit=True, few=3, **FEW_TREES),
    own("trees, M-alpha", m_alpha, "two", deltas=EITHER, few=4, alpha=0.5, **FEW_TREES),
    own("trees, M-alpha, calibrated", m_alpha, "two", few=3, alpha="calibrated", **FEW_TREES),
    own("trees, M-alpha, smoothed", m_alpha, "two", deltas=EITHER, few=3, alpha=1.0, criterion="smoothed", **FEW_TREES),
    own("trees, M-alpha, heaviest first", m_alpha, "two", few=3, alpha=0.9, criterion="gini", n_trees=2, max_leaves=5),
    own("trees, M-alpha, the paper's", m_alpha, "two", relations=(REPLACE,), deltas=(0.0,), few=4, alpha="calibrated",
        analysis="paper", **FEW_TREES),
    own("persons, trees, M-alpha", m_alpha, "two", unit=True, few=3, alpha=0.5, **FEW_TREES),
    chosen(own("trees, chosen splits", trees, "two", few=4)),
    chosen(own("weights of rows, trees, chosen splits", trees, "two", weighted=True, few=3)),
    chosen(own("persons, trees, chosen splits", trees, "two", unit=True, few=3)),
    own("random trees", forest, "two", deltas=EITHER, few=4, n_trees=7),
    own("random trees, permute and flip", forest, "two", few=3, n_trees=3, mechanism="exponential"),
    own("random trees, the paper's", forest, "two", relations=(REPLACE,), deltas=(0.0,), few=3, n_trees=3,
        max_depth=2, analysis="paper"),
    own("random trees, the paper's, permute and flip", forest, "two", relations=(REPLACE,), deltas=(0.0,), few=3,
        n_trees=2, max_depth=2, analysis="paper", mechanism="exponential"),
    own("decision list", lists, "two", deltas=EITHER, few=5),
    own("decision list, three classes", lists, "three", few=3),
    own("halfspace", halfspace, "two", deltas=EITHER, few=5),
    own("halfspace, lazy Bregman", halfspace, "two", measure="lazy_bregman", relations=(REPLACE,), few=5),
    own("halfspace, SmoothBoost", halfspace, "two", measure="smooth", few=4),
    own("halfspace, no constant coordinate", halfspace, "two", fit_intercept=False, deltas=EITHER, few=4),
    own("halfspace, no constant coordinate, little noise", halfspace, "two", fit_intercept=False, epsilon=60.0, few=3),
    after_a_long_centre(
        own("halfspace, a long first centre", halfspace, "two", fit_intercept=False, epsilon=30.0, few=3)
    ),
    nested("resampled, lazy Bregman", resampled, small_trees, rounds=3, relations=(REPLACE,), deltas=EITHER, few=4),
    nested("resampled, SmoothBoost", resampled, small_trees, rounds=2, measure="smooth", density=0.2, sample_size=15,
           relations=(REPLACE,), epsilon=60.0, few=6),
    Case("batches, classes", ("BatchwiseClassifier",), "two", batches("two", tacit.BatchwiseClassifier, two), few=3),
    Case("batches, a number", ("BatchwiseRegressor",), "number", batches("number", tacit.BatchwiseRegressor, number),
         few=3),
    nested("search, each", searched, small_forest, halfspace, strategy="each", few=4),
    nested("search, random stopping", searched, small_forest, halfspace, strategy="random_stopping", runs=3.0, few=4),
    nested("search over a grid", gridded, small_forest, strategy="each", few=3),
    nested("search over a grid, random stopping", gridded, small_forest, strategy="random_stopping", runs=3.0, few=3),
    nested("search among numbers", searched, number, mains, kind="number", strategy="each", few=2),
    Case("score, classes", ("private_score",), "two", judges("two", score), deltas=EITHER, few=5),
    Case("score, several classes", ("private_score",), "three", judges("three", score), few=4),
    Case("score, classes in an order", ("private_score",), "three", judges("three", lambda models, rows, request: score(
        models, rows, request, metrics=["log_loss", "ranked_probability_score"])), deltas=EITHER, few=4),
    Case("score, a number", ("private_score",), "number", judges("number", score), deltas=EITHER, few=4),
    Case("score, deviance", ("private_score",), "count", judges("count", lambda models, rows, request: score(
        models, rows, request, metrics=["deviance"])), deltas=EITHER, few=4),
    Case("score, subgroups", ("private_score",), "two", judges("two", lambda models, rows, request: score(
        models, rows, request, subgroups="c", categories=["u", "v", "w"])), few=4),
    Case("select", ("select_model",), "two", judges("two", select), few=9),
    Case("select among numbers", ("select_model",), "number", judges("number", select), few=6),
    Case("recalibrate", ("recalibrate",), "two", judges("two", recalibrate), few=4),
    Case("discover", ("discover_schema",), "two", discover, few=5),
    own("finite class", FiniteClassClassifier, "two", concepts=THRESHOLDS[0], bins=8, few=5),
    nested("agnostic", agnostic, partial(FiniteClassClassifier, THRESHOLDS[0]), epsilon=3.0, few=12),
    nested("agnostic, learned on a part", agnostic, partial(FiniteClassClassifier, THRESHOLDS[0]), analysis="part",
           relations=(ADD,), epsilon=3.0, few=12),
    own("composed", ComposedClassifier, "two", concepts=THRESHOLDS, bins=8, few=5),
    own("composed, best of two runs", ComposedClassifier, "two", concepts=THRESHOLDS, bins=8, repetitions=2, few=4),
    nested("composed, secret concepts", composed, *(partial(FiniteClassClassifier, one) for one in THRESHOLDS), few=5),
    own("finite class, raw", FiniteClassClassifier, "two", concepts=RAW[0], deltas=EITHER, few=5),
    own("finite class, raw, no schema", FiniteClassClassifier, "two", concepts=RAW[0], few=5, **UNDECLARED),
    own("composed, raw", ComposedClassifier, "two", concepts=RAW, few=5),
    own("composed, raw, no schema", ComposedClassifier, "two", concepts=RAW, few=5, **UNDECLARED),
    nested("composed, raw, patterns of the sample", raw, *(partial(FiniteClassClassifier, one) for one in RAW),
           patterns="sample", epsilon=12.0, few=5),
    nested("composed, raw, secret concepts", raw, *(partial(FiniteClassClassifier, one) for one in RAW), epsilon=12.0,
           few=6),
    Case("Winnow", ("Winnow",), "two", streams(Winnow), n=2000, epsilon=4.0, few=3, stream=True),
    Case("Winnow of mistakes", ("Winnow",), "two", streams(Winnow, update="batch"), n=2000, epsilon=4.0, few=3,
         stream=True),
    Case("Winnow of every round", ("Winnow",), "two", streams(Winnow, update="every", margin=1.0), n=2000, epsilon=8.0,
         few=3, stream=True),
    Case("Winnow with periods", ("Winnow",), "two", streams(Winnow, period=600, carried=0.5), n=2000, epsilon=4.0,
         few=3, stream=True),
    Case("Winnow, the paper's", ("Winnow",), "two", streams(Winnow, update="first"), n=1000, epsilon=8.0, few=3,
         stream=True),
    Case("Winnow of three classes", ("Winnow",), "three", streams(Winnow, ("x", "y", "z")), n=2000, epsilon=4.0, few=3,
         stream=True),
    Case("Winnow of a decision list", ("DecisionListWinnow",), "two", streams(DecisionListWinnow), n=1000, epsilon=4.0,
         few=3, stream=True),
]  # fmt: skip


def requests(case: Case, replacing: bool) -> list[dict[str, Any]]:
    """The requests that a case is run at under a relation."""
    relation = REPLACE if replacing else ADD
    if relation not in case.relations:
        return []
    return [
        {"epsilon": case.epsilon, "delta": delta, "neighbouring": relation, "random_state": 1} for delta in case.deltas
    ]
