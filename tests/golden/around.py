"""What stands around a fit: evaluation, search, discovery, streams, batches of rows, accounts, audits."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.case import Cases, Seen
from tests.golden.names import (
    AdditiveBoostClassifier,
    AdditiveBoostRegressor,
    BatchwiseClassifier,
    BatchwiseRegressor,
    BoostedTreesClassifier,
    ConfidentWinnow,
    DecisionListWinnow,
    HalfspaceBoostClassifier,
    PrivacyAccount,
    PrivateSelection,
    RandomTreesClassifier,
    Winnow,
    account_rows,
    audit_estimator,
    discover_schema,
    private_score,
    recalibrate,
    select_model,
)
from tests.golden.tables import persons, schema, table

RELATIONS: dict[str, dict[str, Any]] = {
    "epsilon 1": {},
    "delta 0": {"delta": 0.0},
    "replace_one": {"neighbouring": "replace_one"},
}


@cache
def learned(label: str, interactions: bool = True, neighbouring: str = "add_or_remove_one") -> Any:
    """A model to judge."""
    kind = AdditiveBoostRegressor if label == "number" else AdditiveBoostClassifier
    asked: dict[str, Any] = {"interactions": interactions, "neighbouring": neighbouring}
    made = kind(epsilon=4.0, schema=schema(label), random_state=2, **asked)
    return made.fit(table(1500).X, getattr(table(1500), label))


# Evaluation.


def score(label: str, **asked: Any) -> Seen:
    """One evaluation of a finished model on rows it was not made from."""
    rows = asked.pop("rows", table(2000).X)
    found = private_score(learned(label), rows, getattr(table(2000), label), random_state=1, **asked)
    return Seen(found.to_dict(), Seen.ledger_of(found))


def score_persons(label: str) -> Seen:
    rows, declares = persons(2000)
    return score(label, rows=rows, schema=schema(label, **declares))


def selected(label: str, **asked: Any) -> Seen:
    models = [learned(label, False), learned(label)]
    found = select_model(models, table(2000).X, getattr(table(2000), label), 0.5, random_state=1, **asked)
    return Seen(found.index, Seen.ledger_of(found))


def recalibrated(**asked: Any) -> Seen:
    """Labels are turned, so that there is something to put right."""
    turned = np.where(table(2000).number > 1.0, 1, 0)
    model = learned("two", neighbouring=asked.get("neighbouring", "add_or_remove_one"))
    found = recalibrate(model, table(2000).X, turned, 1.0, random_state=1, **asked)
    return Seen(found.model.to_dict(), [Seen.ledger_of(found), Seen.ledger_of(Combined(found.combined))])


class Combined:
    """The certificate of a model and its recalibration together."""

    def __init__(self, certificate: Any) -> None:
        self.certificate = certificate


def searched(label: str, strategy: str, **asked: Any) -> Seen:
    """A search among estimators, whose fits are paid for."""
    if label == "number":
        estimators = [AdditiveBoostRegressor(schema=schema(label), interactions=pairs) for pairs in (False, True)]
    else:
        estimators = [
            AdditiveBoostClassifier(schema=schema(label), interactions=False),
            RandomTreesClassifier(schema=schema(label), n_trees=5),
            HalfspaceBoostClassifier(schema=schema(label)),
        ]
    search = PrivateSelection(estimators, **{"epsilon": 4.0, "runs": 3, **asked}, strategy=strategy, random_state=1)
    search.fit(table(2000).X, getattr(table(2000), label))
    seen = Seen.of(search)
    return Seen([search.best_index_, seen.model], seen.ledger)


def searched_grid(strategy: str) -> Seen:
    """A search among settings of one estimator."""
    estimator = AdditiveBoostClassifier(schema=schema("two"))
    grid = {"interactions": [False, "pairs"]}
    search = PrivateSelection.over_grid(estimator, grid, epsilon=4.0, strategy=strategy, runs=3, random_state=1)
    seen = Seen.of(search.fit(table(2000).X, table(2000).two))
    return Seen([{"interactions": search.best_.interactions}, seen.model], seen.ledger)


def evaluation() -> Cases:
    """Scores, choices and searches."""
    found: Cases = {}
    for label in ("two", "three", "number"):
        for what, asked in RELATIONS.items():
            found[f"private_score: {label}, {what}"] = lambda t=label, a=asked: score(t, **a)
        found[f"private_score: {label}, persons"] = lambda t=label: score_persons(t)
        found[f"private_score: {label}, subgroups"] = lambda t=label: score(t, subgroups="c")
        found[f"select_model: {label}"] = lambda t=label: selected(t)
        found[f"select_model: {label}, delta 0, replace_one"] = lambda t=label: selected(
            t, delta=0.0, neighbouring="replace_one"
        )
    found["private_score: two, cost and threshold"] = lambda: score("two", cost=(1.0, 5.0), threshold=0.3)
    found["private_score: three, auc"] = lambda: score("three", metrics=("auc", "accuracy"))
    for what, asked in RELATIONS.items():
        found[f"private_score: three, ranked, {what}"] = lambda a=asked: score(
            "three", metrics=("accuracy", "ranked_probability_score"), **a
        )
    found["private_score: number, clip"] = lambda: score("number", error_clip=2.0, metrics=("mae", "pinball", "r2"))
    found["select_model: two, log_loss"] = lambda: selected("two", criterion="log_loss")
    for what, asked in RELATIONS.items():
        found[f"recalibrate: {what}"] = lambda a=asked: recalibrated(**a)
        for strategy in ("each", "random_stopping"):
            found[f"PrivateSelection: two, {strategy}, {what}"] = lambda s=strategy, a=asked: searched("two", s, **a)
    for strategy in ("each", "random_stopping"):
        found[f"PrivateSelection: over_grid, {strategy}"] = lambda s=strategy: searched_grid(s)
    found["PrivateSelection: number, each"] = lambda: searched("number", "each", criterion="mae")
    found["PrivateSelection: number, random_stopping"] = lambda: searched("number", "random_stopping")
    found["PrivateSelection: two, auto, judged on the rows of the fit"] = lambda: searched("two", "auto", holdout=0.0)
    return found


# Discovery.


def discovered(label: str, of_persons: bool = False, texts: bool = False, **asked: Any) -> Seen:
    """A schema found in the rows."""
    rows, declares = persons(2000) if of_persons else (table(2000).X, {})
    rows = rows.assign(y=getattr(table(2000), label))
    if of_persons:
        asked["unit"] = schema(label, **declares).unit
    if texts:
        rows = rows.assign(b=[f"{value:.3f}" for value in rows["b"]])
        asked["kinds"] = {"b": "ask"}
    if label == "number":
        asked["label_kind"] = "numeric"
    found, certificate = discover_schema(rows, "y", random_state=1, **asked)
    return Seen(found.to_dict(), Seen.ledger_of(Combined(certificate)))


def discovery() -> Cases:
    """Schemas of tables of all kinds."""
    return {
        "discover_schema: two classes": lambda: discovered("two"),
        "discover_schema: three classes, replace_one": lambda: discovered("three", neighbouring="replace_one"),
        "discover_schema: number": lambda: discovered("number"),
        "discover_schema: persons": lambda: discovered("two", of_persons=True),
        "discover_schema: texts that may be numbers": lambda: discovered("two", texts=True),
        "discover_schema: little budget": lambda: discovered("two", epsilon=0.05),
    }


# Streams.


@cache
def stream(rounds: int, columns: int) -> tuple[Any, Any]:
    """Rows of fair signs, and the majority of three of them."""
    draw = np.random.default_rng(columns).random((rounds, columns))
    points = np.where(draw < 0.5, -1, 1).astype(np.int8)
    return points, np.where(points[:, :3].sum(axis=1, dtype=np.int64) > 0, 1, -1).astype(np.int8)


def streamed(kind: Any, rounds: int = 8000, columns: int = 20, **asked: Any) -> Seen:
    points, labels = stream(rounds, columns)
    learner = kind(horizon=rounds, labels=(-1, 1), seed=1, **asked)
    for start in range(0, rounds, 1000):
        learner.learn_many(points[start : start + 1000], labels[start : start + 1000])
    said = learner.predict_many(points[:200])
    return Seen([learner.log_.to_dict(), [int(answer) for answer in said]], Seen.ledger_of(learner))


def streamed_table(kind: Any, **asked: Any) -> Seen:
    """Rows with names, one at a time, under a schema."""
    learner = kind(horizon=2000, labels=(0, 1), schema=schema("two"), bins=4, seed=1, **asked)
    rows = table(2000).X.to_dict("records")
    for row, label in zip(rows[:1000], table(2000).two[:1000].tolist(), strict=True):
        learner.learn_one(row, label)
    said = [learner.predict_one(row) for row in rows[1000:1200]]
    return Seen([learner.log_.to_dict(), said], Seen.ledger_of(learner))


def streamed_classes(**asked: Any) -> Seen:
    """Three classes: two coordinates name their own, in turn."""
    points, _ = stream(8000, 20)
    classes = np.where(points[:, 0] > 0, 0, np.where(points[:, 1] > 0, 1, 2))
    learner = Winnow(epsilon=4.0, horizon=8000, labels=(0, 1, 2), seed=1, **asked)
    for start in range(0, 8000, 1000):
        learner.learn_many(points[start : start + 1000], classes[start : start + 1000])
    said = learner.predict_many(points[:200])
    return Seen([learner.log_.to_dict(), [int(answer) for answer in said]], Seen.ledger_of(learner))


def moved(**asked: Any) -> Seen:
    """A stream that goes on elsewhere."""
    points, labels = stream(8000, 20)
    learner = Winnow(epsilon=4.0, horizon=8000, labels=(-1, 1), seed=1, **asked)
    learner.learn_many(points[:4000], labels[:4000])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream"
        learner.suspend(path)
        learner = Winnow.resume(path)
    learner.learn_many(points[4000:], labels[4000:])
    return Seen(learner.log_.to_dict(), Seen.ledger_of(learner))


def confident() -> Seen:
    """The algorithm without privacy, in units in which a last bit of a sum does not show."""
    points, labels = stream(8000, 20)
    learner = ConfidentWinnow(20, 1 / 3)
    updates = [
        learner.learn_one(x, int(y), bit=bool(t % 2)) for t, (x, y) in enumerate(zip(points, labels, strict=True))
    ]
    return Seen([[bool(update) for update in updates], [round(w, 9) for w in learner.weights.tolist()]], None)


def streams() -> Cases:
    """Winnow and its neighbours."""
    return {
        "Winnow: batch": lambda: streamed(Winnow, epsilon=2.0, update="batch"),
        "Winnow: batch, delta 0": lambda: streamed(Winnow, epsilon=4.0, delta=0.0, update="batch"),
        "Winnow: batch, replace_one": lambda: streamed(Winnow, epsilon=4.0, neighbouring="replace_one", update="batch"),
        "Winnow: margin": lambda: streamed(Winnow, rounds=2000, epsilon=4.0, margin=1 / 3),
        "Winnow: first": lambda: streamed(Winnow, epsilon=50.0, update="first", signed=False),
        "Winnow: no privacy": lambda: streamed(Winnow, epsilon=float("inf")),
        "Winnow: timed": lambda: streamed(Winnow, epsilon=2.0),
        "Winnow: timed, replace_one": lambda: streamed(Winnow, epsilon=4.0, neighbouring="replace_one"),
        "Winnow: timed, three classes": streamed_classes,
        "Winnow: timed, suspended": moved,
        "Winnow: timed, periods": lambda: streamed(Winnow, epsilon=4.0, period=3000, carried=0.5),
        "Winnow: three classes": lambda: streamed_classes(update="batch"),
        "Winnow: schema": lambda: streamed_table(Winnow, epsilon=8.0, invalid="null", update="batch"),
        "Winnow: suspended": lambda: moved(update="batch"),
        "Winnow: periods": lambda: streamed(Winnow, epsilon=4.0, period=3000, update="batch"),
        "Winnow: periods that carry": lambda: streamed(
            Winnow, epsilon=4.0, period=3000, carried=0.5, signed=False, update="batch"
        ),
        "DecisionListWinnow: literals": lambda: streamed(DecisionListWinnow, epsilon=4.0, update="batch"),
        "DecisionListWinnow: timed": lambda: streamed(DecisionListWinnow, epsilon=4.0),
        "DecisionListWinnow: pairs": lambda: streamed(DecisionListWinnow, epsilon=8.0, columns=8, k=2, update="batch"),
        "DecisionListWinnow: bounded": lambda: streamed(
            DecisionListWinnow, rounds=500, epsilon=8.0, length=3, alternations=1
        ),
        "DecisionListWinnow: named features": lambda: streamed_table(
            DecisionListWinnow,
            epsilon=8.0,
            invalid="null",
            features=["c is v and d is true", "b >= 0.25"],
            update="batch",
        ),
        "ConfidentWinnow: adversary's bits": confident,
    }


# Accounts and batches of rows.


@contextmanager
def account(neighbouring: str = "add_or_remove_one", epsilon: float = 10.0) -> Iterator[Any]:
    """A budget in a file that is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield PrivacyAccount.create(f"sqlite:///{folder}/budget.db", "people", epsilon, 1e-5, neighbouring)


def paid() -> Seen:
    """Fits, an evaluation and a refused fit under one account."""
    X, y = table(1500).X, table(1500).two
    with account(epsilon=2.5) as pays:
        asked: dict[str, Any] = {"schema": schema("two"), "account": pays, "random_state": 1}
        models = [
            AdditiveBoostClassifier(epsilon=1.0, **asked).fit(X, y),
            RandomTreesClassifier(epsilon=0.3, n_trees=3, **asked).fit(X, y),
        ]
        scored = private_score(models[0], X, y, 0.5, account=pays, random_state=1)
        refused = ""
        try:
            BoostedTreesClassifier(epsilon=2.0, **asked).fit(X, y)
        except ValueError as error:
            refused = type(error).__name__
        facts = [account_rows(pays), pays.epsilon, pays.delta, str(pays.neighbouring), pays.spent, refused]
    ledgers = [Seen.ledger_of(made) for made in (*models, scored)]
    return Seen([model.model_.to_dict() for model in models], [facts, ledgers])


def batches(kind: Any, estimator: Any, label: str, resumed: bool = False, **asked: Any) -> Seen:
    """Three batches of new persons, and what the account has of them; gone on with from the model if ``resumed``."""
    with account(**asked) as pays:
        inner = estimator(schema=schema(label), account=pays, random_state=1, **asked)
        learner = kind(inner)
        for n in (900, 1000, 1100):
            if resumed and n == 1100:
                learner = kind(inner).resume(learner.model_, learner.certificate_)
            learner.partial_fit(table(n).X, getattr(table(n), label))
        parts = [Seen.ledger_of(Combined(certificate)) for certificate in learner.certificates_]
        rows = account_rows(pays)
    return Seen(learner.model_.to_dict(), [rows, Seen.ledger_of(learner), parts])


def accounts() -> Cases:
    """What is stored of who spent what."""
    classes, numbers_ = AdditiveBoostClassifier, AdditiveBoostRegressor
    return {
        "PrivacyAccount: fits, an evaluation, a refusal": paid,
        "BatchwiseClassifier: two classes": lambda: batches(BatchwiseClassifier, classes, "two"),
        "BatchwiseClassifier: three classes": lambda: batches(BatchwiseClassifier, classes, "three"),
        "BatchwiseClassifier: trees, replace_one": lambda: batches(
            BatchwiseClassifier, BoostedTreesClassifier, "two", neighbouring="replace_one"
        ),
        "BatchwiseClassifier: resumed": lambda: batches(BatchwiseClassifier, classes, "two", resumed=True),
        "BatchwiseRegressor: squared": lambda: batches(BatchwiseRegressor, numbers_, "number"),
    }


# Audits.


def audited(estimator: Any, **asked: Any) -> Seen:
    """A few fits to two made-up tables: what an attack can show of so few is little, but always the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = audit_estimator(estimator, schema("two"), trials=12, random_state=1, **asked)
    return Seen(found.to_dict(), None)


def audits() -> Cases:
    return {
        "audit_estimator: forest": lambda: audited(
            RandomTreesClassifier(epsilon=8.0, n_trees=2, max_depth=2, classes=(0, 1))
        ),
        "audit_estimator: halfspaces, replace_one": lambda: audited(
            HalfspaceBoostClassifier(epsilon=8.0, rounds=2, neighbouring="replace_one", classes=(0, 1))
        ),
    }


def cases() -> Cases:
    """All of these."""
    return {**evaluation(), **discovery(), **streams(), **accounts(), **audits()}
