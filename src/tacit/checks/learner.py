"""`check_learner`: the contract of a learner and its estimator."""

from __future__ import annotations

import tempfile
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from tacit.audit.canary import target_of
from tacit.audit.neighbours import Pool, made_pool
from tacit.audit.plan import copied, declaring, number_bounds
from tacit.audit.replay import replay_audit
from tacit.checks.failures import Failures, is_frozen
from tacit.estimators.base import Estimator, request_of
from tacit.learning.learner import Learner
from tacit.models.files import load_model, save_model
from tacit.privacy import accountants
from tacit.privacy.label import Label, Stage
from tacit.privacy.ledger import Reservation
from tacit.privacy.request import RequestError

ROWS = 240
"""Rows of the tables that are fitted."""

SLACK = 1e-9
"""Relative, between two accountants."""

STRANGE_LABELS = ("maybe", "", "no such class")
STRANGE_NUMBERS = (np.nan, np.inf, -1e9)
"""Labels that nobody declared."""

FACTS = ("least_budget", "discovers", "most_classes", "holds_monotone", "refuses_weights")
"""What a learner says of itself."""


def check_learner(
    estimator: Any, schema: Any = None, *, neighbours: int = 3, public_rows: bool = False, random_state: int = 3
) -> None:
    """Checks that a learner of your own, with its estimator, keeps the contract of the library's.

    On rows made from the schema: copies are alike and the same seed gives the same model; the certificate verifies, its
    charges cover every entry and cost no more than was promised; a model survives a file, and an estimator a deep
    copy; cells and labels that nobody declared, one row or none, raise nothing and cost the same; the learner is a
    frozen dataclass with the name of its estimator. Then :func:`tacit.audit.replay_audit` looks for what reaches the
    result past the curator. Quality and proofs of sensitivity are yours to look at.

    Args:
        estimator: an estimator with all the parameters that it needs, not fitted; it is copied. Give it no account.
        schema: what rows are made from; by default the estimator's own. One is needed, with a label.
        neighbours: tables that a replay holds each recorded fit against; 0 leaves the replay out,
            and so does an estimator that is no :class:`Estimator`.
        public_rows: whether the estimator takes the number of rows for public, so that tables of one row or none may be
            refused.
        random_state: of rows and noise.

    Raises:
        CheckError: with all that failed.
        ValueError: without a schema, or for an estimator with an account.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.checks import check_learner
        >>> label = {"column": "sick", "classes": ["no", "yes"]}
        >>> schema = {"label": label, "columns": {"smokes": {"kind": "boolean"}}}
        >>> check_learner(RandomTreesClassifier(schema=schema, n_trees=1), neighbours=1)
    """
    failures = Failures(type(estimator).__name__)
    if getattr(estimator, "account", None) is not None:
        raise RequestError(f"{failures.of} has an account, which checks would spend from: leave it out (account=None)")
    estimator, pool = _prepared(estimator, schema, random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows, and so strange ones, are worth a warning
        with failures.during("its learner"):
            _check_facts(estimator, failures)
        with failures.during("a fit"):
            _check_fit(estimator, pool, failures)
        for n in (ROWS,) if public_rows else (0, 1, ROWS):
            with failures.during(f"strange cells in {n} rows"):
                _check_strange(estimator, pool, n, failures)
    if neighbours and isinstance(estimator, Estimator):
        with failures.during("a replay"):
            replay = replay_audit(estimator, schema, neighbours=neighbours, random_state=random_state)
            for fault in replay.faults:
                failures.expect(False, fault)
    failures.raise_any()


def _prepared(estimator: Any, schema: Any, seed: int) -> tuple[Any, Pool]:
    """A seeded copy that declares everything, and the rows that tables are made of."""
    estimator, declared, classes = declaring(copied(estimator), schema)
    if declared is None:
        raise RequestError("checks need a schema, from which rows are made")
    target = target_of(declared, classes, number_bounds(estimator, declared))
    if declared.label is not None and not declared.label.is_numeric:
        classes = declared.label.classes
    elif classes is None and target.is_class:
        raise RequestError("checks need a label in the schema, or classes")
    if "random_state" in estimator.get_params(deep=False):
        estimator = estimator.set_params(random_state=seed)
    return estimator, made_pool(declared, target, None if classes is None else tuple(classes), seed)


def _usual(pool: Pool, n: int = ROWS) -> tuple[Any, Any]:
    return pool.table(np.resize(pool.base, n))


def _strange(pool: Pool, n: int) -> tuple[Any, Any]:
    """Rows at the ends of their columns and beyond, half of them with labels that nobody declared."""
    X, y = pool.table(np.resize(np.setdiff1d(np.arange(len(pool.persons)), pool.base), n))
    values = STRANGE_NUMBERS if np.issubdtype(y.dtype, np.floating) else np.array(STRANGE_LABELS, object)
    return X, np.where(np.arange(n) % 2 == 0, np.resize(values, n), y)


def _check_facts(estimator: Any, failures: Failures) -> None:
    """What a learner says of itself."""
    if not hasattr(estimator, "make_learner"):
        return
    learner, expect = estimator.make_learner(request_of(estimator)), failures.expect
    expect(isinstance(learner, Learner), f"make_learner makes a {type(learner).__name__}, and no Learner")
    expect(is_frozen(learner), f"{type(learner).__name__} is no frozen dataclass")
    expect(learner.name == type(estimator).__name__, f"its learner is called {learner.name!r}")
    for fact in FACTS:
        kind = type(getattr(Learner, fact))
        expect(isinstance(getattr(learner, fact), kind), f"{fact} must be of type {kind.__name__}, as a Learner's is")


def _fitted(estimator: Any, rows: tuple[Any, Any]) -> Any:
    """A fitted copy."""
    model = copied(estimator)
    return model.fit(*rows) or model


def _check_fit(estimator: Any, pool: Pool, failures: Failures) -> None:
    """Copies, certificate, files."""
    X, y = _usual(pool)
    expect = failures.expect
    expect(copied(estimator).get_params().keys() == estimator.get_params().keys(), "a copy has other parameters")
    fitted, again = _fitted(estimator, (X, y)), _fitted(estimator, (X, y))
    predictions, certificate = fitted.predict(X), fitted.certificate_
    expect(np.array_equal(again.predict(X), predictions), "the same seed and rows give another model")

    expect(certificate.verify() == [], f"its certificate does not verify: {certificate.verify()}")
    cost = accountants.epsilon(certificate.charges, certificate.delta)
    expect(
        cost <= certificate.epsilon * (1 + SLACK), f"it charges epsilon {cost:.6g} and promises {certificate.epsilon}"
    )
    with failures.during("its charges do not cover its entries"):
        covered = Reservation(certificate.charges, certificate.neighbouring, "what was reserved")
        for entry in certificate.entries:
            covered.record(entry.charge, Label(Stage.FIT, text="what was charged"), "")
    if hasattr(estimator, "declared_charge"):
        declared = accountants.epsilon(estimator.declared_charge(str(certificate.neighbouring)), certificate.delta)
        expect(declared >= cost * (1 - SLACK), f"it declares epsilon {declared:.6g} and charges {cost:.6g}")

    with failures.during("a copy of the fitted estimator"):
        twin = deepcopy(fitted)  # by its state, as a pickle is made
        same = twin.model_.to_dict() == fitted.model_.to_dict()
        same = same and twin.certificate_.to_dict() == certificate.to_dict()
        expect(same and np.array_equal(twin.predict(X), predictions), "a deep copy is another model")
        expect(getattr(twin, "schema_", None) == getattr(fitted, "schema_", None), "a deep copy has another schema")
    with failures.during("a file of the model"), tempfile.TemporaryDirectory() as folder:
        save_model(fitted.model_, Path(folder) / "model.json", certificate)
        model, _ = load_model(Path(folder) / "model.json")
        same = model.to_dict() == fitted.model_.to_dict()
        expect(same and np.array_equal(model.predict(X), predictions), "a model that is read is another one")


def _check_strange(estimator: Any, pool: Pool, n: int, failures: Failures) -> None:
    """What rows hold raises nothing, and costs the same."""
    usual, strange = (_fitted(estimator, rows(pool, n)) for rows in (_usual, _strange))
    costs = usual.certificate_.charges, strange.certificate_.charges
    failures.expect(costs[0] == costs[1], f"cells that nobody declared change what {n} rows cost")
    failures.expect(strange.certificate_.verify() == [], f"strange cells in {n} rows: the certificate does not verify")
