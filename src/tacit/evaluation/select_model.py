"""`select_model`: the best of a few finished models on private rows, by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from tacit.arrays import Ints
from tacit.curator.curator import Curator
from tacit.curator.rows import PrivateRows
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.evaluation.candidates import promised_schema
from tacit.evaluation.measure_scores import declared_unit, rows_and_labels, with_unit
from tacit.evaluation.utility import Criterion, Judge, judges_of, utility_encoding, utility_weights
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.calibration import calibrate
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import BoundedRange, Charge, NonPrivate
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import Request, RequestError
from tacit.privacy.spending import certified, reserve
from tacit.queries.cells import column_cells
from tacit.queries.histogram import Histogram
from tacit.queries.rules import count_rule
from tacit.queries.selection import Selection, per_query
from tacit.schema import Schema

THEOREM = "exponential mechanism over sums of utilities in [0, 1]: a row moves every sum by 0 to 1"


@final
@dataclass(frozen=True)
class Selected:
    """The choice.

    Attributes:
        index: which of the models.
        certificate: what the choice cost. The models' own certificates stand beside it.
    """

    index: int
    certificate: Certificate


def select_model(
    models: Sequence[Any],
    X: Any,
    y: Any,
    epsilon: float = 0.1,
    delta: float = 1e-6,
    *,
    criterion: str | None = None,
    quantile: float | None = None,
    target_bounds: Sequence[float] | None = None,
    error_clip: float | None = None,
    schema: Any = None,
    account: PrivacyAccount | None = None,
    neighbouring: str = "add_or_remove_one",
    random_state: int | None = None,
) -> Selected:
    """Chooses the model that does best on private rows, best rows that none of them was made from.

    Guarantee: the exponential mechanism over the models' sums of utilities: (epsilon, delta), and pure if ``delta`` is
    0. It finds a model whose share of rows called right is within about ``2 log(models) / (epsilon rows)`` of the best;
    of numbers: whose mean loss is within as much of the least, in units of the loss of an error as large as the clip.

    Args:
        models: finished models or fitted estimators, two or more, all with the same classes, or all of a number.
        X: the rows.
        y: their labels, or their targets; rows without one are dropped.
        epsilon: what to spend.
        delta: what to spend.
        criterion: of classes: ``"accuracy"``, or ``"log_loss"`` with probabilities clipped at 1 %. Of numbers:
            ``"mse"``, ``"mae"`` or ``"pinball"``, a row's loss over that of an error as large as the clip. None for
            accuracy, mean squared error, or the pinball loss of the models' quantile.
        quantile: of numbers: which one the pinball loss is about, by default the models' own.
        target_bounds: of numbers: public bounds of the target, by default the schema's or the models'. Targets and
            predictions are clipped into them.
        error_clip: of numbers: larger errors count as this large, in units of the target; it must not come from the
            rows. None for the whole range of the target. A narrow clip tells models apart from fewer rows.
        schema: declares classes with several values, bounds of the target, and a unit of several rows; by default that
            of the first model.
        account: pays, if given.
        neighbouring: the relation of the guarantee.
        random_state: None for fresh entropy; an integer makes the choice repeatable and not releasable.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.

    Example:
        >>> from tacit import AdditiveBoostClassifier, select_model
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> first = {name: values[:15_000] for name, values in X.items()}
        >>> second = {name: values[15_000:] for name, values in X.items()}
        >>> learners = [AdditiveBoostClassifier(epsilon=epsilon, schema=schema) for epsilon in (0.5, 1.0)]
        >>> models = [learner.fit(first, y[:15_000]) for learner in learners]
        >>> chosen = select_model(models, second, y[15_000:], epsilon=0.5)
        >>> print(chosen.index in (0, 1), chosen.certificate.epsilon)
        True 0.5
    """
    request = Request.of(epsilon, delta, neighbouring, random_state)
    declared = _checked(models, schema)
    judges = judges_of(models, declared, Criterion(criterion, quantile, target_bounds, error_clip))
    frame, labels = rows_and_labels(X, y)
    for judge in judges:
        judge.check(frame, X, labels)
    unit, identifiers = declared_unit(declared, frame)
    charge = selection_charge(request.epsilon, request.delta)
    with spending():
        with reserve(account, request, [charge], f"choice among {len(models)} models", unit) as reservation:
            columns = {f"model {index}": judge.utilities(frame, X, labels) for index, judge in enumerate(judges)}
            with_column, unit = with_unit(columns, frame.n_rows, unit, identifiers)
            private_rows = PrivateRows(with_column, judges[0].known(labels), reservation, request.random_state, unit)
            index = best_of(private_rows, tuple(columns), judges[0], charge, f"the best of {len(models)} models")
        unverified = not all(judge.verified for judge in judges)
        return Selected(
            index, certified(account, request, reservation, private_rows, "select_model", declared, unverified)
        )


def _checked(models: Sequence[Any], schema: Any) -> Schema | None:
    """The schema that is declared, after a look at whether there is anything to choose."""
    if not isinstance(models, Sequence):
        raise RequestError(f"models must be a list, which is chosen from by place, got {type(models).__name__}")
    if len(models) < 2:
        raise RequestError(f"a choice needs at least two models, got {len(models)}")
    declared = promised_schema(models[0], schema)
    for model in models[1:]:
        promised_schema(model, declared)
    return declared


def selection_charge(epsilon: float, delta: float) -> Charge:
    """The largest range that (epsilon, delta) buys."""
    if np.isinf(epsilon):
        return NonPrivate()
    if delta == 0:
        return BoundedRange(epsilon)
    return BoundedRange(1.0 / calibrate(lambda z: [BoundedRange(1.0 / z)], epsilon, delta, start=1.0 / epsilon))


def best_of(rows: PrivateRows, names: tuple[str, ...], judge: Judge, charge: Charge, what: str) -> int:
    """Seals a column of utilities for every candidate, and chooses one."""
    curator = rows.seal(utility_encoding(names, judge.levels), LabelIndex((0, 1)))
    label = Label(Stage.SELECTION, f"{what} by {judge.criterion}")
    return choose(curator, len(names), judge.levels, charge, label)


def choose(curator: Curator, candidates: int, levels: int, charge: Charge, label: Label) -> int:
    """The candidate with about the largest sum of utilities; one column of levels per candidate.

    The sums are integers in units of ``1 / levels``. Adding or removing a row moves each of them by 0 to ``levels`` the
    same way, so that they move by at most ``levels`` relative to each other; replacing one, by at most twice that.
    """
    weights = utility_weights(levels)
    queries = tuple(
        Histogram(column_cells(column, len(weights)), count_rule(curator.layout.n_labels))
        for column in range(candidates)
    )

    def score(_: int, answer: Ints) -> Ints:
        return (weights @ answer)[None, :]

    selection = Selection(queries, per_query(score), (1, candidates), levels, THEOREM)
    return int(curator.select(selection, charge, label).indices[0])
