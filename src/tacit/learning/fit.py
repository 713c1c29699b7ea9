"""A fit: check, pay, seal, find, learn. `docs/how_a_fit_runs.md` tells the whole way, from ``fit(X, y)`` on.

What is public is checked, the whole charge is reserved in one durable write, and only then the learner may ask about
rows. What the rows hold never makes a fit fail. Nothing here loads scikit-learn, which takes as long as a fit of a
small table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, final

from threadpoolctl import ThreadpoolController

from tacit.arrays import Floats
from tacit.curator.cluster_rows import prepare_on_cluster
from tacit.curator.rows import PrivateRows
from tacit.curator.source_rows import prepare
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.discovery.undeclared import Undeclared
from tacit.encoding.frames import Frame
from tacit.encoding.source import CLUSTERS, DeclaredSource
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.learning.learner import Learner
from tacit.learning.resumable import (
    RowsKnownBy,
    check_keeping,
    pay_and_keep,
    rows_of_source,
    rows_of_table,
    unknown_rows,
)
from tacit.learning.tables import labels_of
from tacit.learning.task import FINE_CELLS, Task, monotone_of
from tacit.models.base import Model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.neighbouring import Neighbouring
from tacit.privacy.request import Request, RequestError, check_noise_fits
from tacit.privacy.resumable import KEEPING
from tacit.privacy.spending import certified, check_account, reserve
from tacit.schema import Unit
from tacit.schema.identifiers import refuse_identifiers


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind, released: a frozen model, the task with what was found, and the certificate."""

    model: Model
    task: Task
    certificate: Certificate


def fit(
    learner: Learner,
    task: Task,
    frame: Frame,
    labels: Any,
    account: PrivacyAccount | None = None,
    row_weights: Floats | None = None,
) -> Fitted:
    """Learns a model under the privacy that the learner's request asks for.

    Args:
        learner: with its parameters checked.
        task: the public side, from :func:`tacit.learning.tables.task_of`.
        frame: the columns.
        labels: the label vector, shape ``(rows,)``.
        account: pays; None for a budget of this fit alone.
        row_weights: public weights in (0, 1], shape ``(rows,)``; None if all rows count alike.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    check(learner, task, account)
    check_weights(learner, row_weights, frame)
    return learned(
        learner,
        task,
        account,
        lambda paid: seal(frame, labels, task, paid, learner.request, row_weights),
        rows_of_table(frame, labels, task, row_weights),
    )


def fit_source(learner: Learner, task: Task, source: DeclaredSource, account: PrivacyAccount | None = None) -> Fitted:
    """As :func:`fit`, from rows that are read in chunks, by a learner that streams.

    They are read, and encoded by public rules, before the charge: what is wrong with files is found while it is free,
    and nothing of the rows can get out until they are sealed.
    """
    check(learner, task, account)
    # reading may take hours: whether the account pays as it is now is known before; a fit that goes on has paid
    if account is not None and KEEPING.get() is None:
        account.check(
            whole_charge(learner, task), f"fit of {learner.name}", learner.request.neighbouring, unit_of(task)
        )
    assert task.encoding is not None
    making = prepare_on_cluster if source.source.engine in CLUSTERS else prepare
    with making(source, task.encoding, task.label_codes) as ready:
        return learned(
            learner,
            task,
            account,
            lambda paid: ready.rows(paid, learner.request.random_state),
            rows_of_source(source.state),
        )


def learned(
    learner: Learner,
    task: Task,
    account: PrivacyAccount | None,
    seal_under: Callable[[Reservation], PrivateRows],
    rows_known_by: RowsKnownBy = unknown_rows,
) -> Fitted:
    """Pays, seals, finds, learns: ``seal_under`` gives the rows once the charge is durable.

    ``rows_known_by`` tells whether they are the same when a fit goes on.
    """
    with spending():
        paying = pay(learner, task, account, rows_known_by)
        with paying as paid, blas().limit(limits=1, user_api="blas"):  # small matrices: threads would wait
            rows = seal_under(paid)
            known, left = find(rows, task, learner)
            model = learner.learn(rows, left, known)
        return Fitted(model, known, certify(learner, task, paid, rows, account))


@cache
def blas() -> ThreadpoolController:
    """The BLAS of numpy and of scipy: found once, by a look through all libraries of the process."""
    import scipy.linalg  # noqa: F401 - loads scipy's

    return ThreadpoolController()


def check(learner: Learner, task: Task, account: PrivacyAccount | None = None) -> None:
    """Raises :class:`RequestError` for what is public and wrong about a learner, its account and its task."""
    check_budget(learner, account)
    check_schema(task)
    if task.public_rows is not None and task.public_rows < learner.least_rows:
        raise too_few_rows(learner, task.public_rows)
    learner.check(task)
    check_keeping(learner, task, account)
    declared = [name for name in task.names if monotone_of(task, name)]
    if declared and not learner.holds_monotone:
        raise RequestError(
            f"column '{declared[0]}' is declared monotone, and {learner.name} cannot promise that "
            "here: use AdditiveBoostClassifier, or leave 'monotone' out of the schema"
        )


def check_schema(task: Task) -> None:
    """Raises :class:`SchemaError` for a declared feature that looks like an identifier."""
    if task.schema is not None:
        refuse_identifiers(task.schema)


def check_budget(learner: Learner, account: PrivacyAccount | None) -> None:
    """Raises :class:`RequestError` for what is no account, or a budget whose noise cannot be drawn."""
    check_account(account)
    check_noise_fits(learner.request.allowance, learner.least_budget, learner.name)


def check_weights(learner: Learner, row_weights: Floats | None, frame: Frame) -> None:
    """Raises :class:`RequestError` for weights that the learner cannot use, or that are not one for every row."""
    if row_weights is None:
        return
    if learner.refuses_weights:
        raise RequestError(learner.refuses_weights)
    if len(row_weights) != frame.n_rows:
        raise RequestError(f"there are {frame.n_rows} rows, and sample_weight has {len(row_weights)} weights")


def too_few_rows(learner: Learner, rows: int) -> RequestError:
    """What is wrong with a public number of rows below :attr:`Learner.least_rows`."""
    return RequestError(
        f"{rows} rows are too few for the parts that {learner.name} makes of them: at least {learner.least_rows} are "
        "needed"
    )


def pay(learner: Learner, task: Task, account: PrivacyAccount | None, rows_known_by: RowsKnownBy) -> Reservation:
    """Reserves the whole charge, durably, before a row is read; a fit that goes on has reserved it before."""
    charges, label = whole_charge(learner, task), f"fit of {learner.name}"
    if account is not None and KEEPING.get() is not None:
        assert task.schema is not None  # checked before
        return pay_and_keep(account, learner, charges, label, task.schema, rows_known_by)
    return reserve(account, learner.request, charges, label, unit_of(task))


def seal(
    frame: Frame, labels: Any, task: Task, paid: Reservation, request: Request, row_weights: Floats | None
) -> PrivateRows:
    """The rows, on their way into the curator."""
    return PrivateRows(frame, labels_of(labels, task), paid, request.random_state, unit_of(task), row_weights)


def find(rows: PrivateRows, task: Task, learner: Learner) -> tuple[Task, Allowance]:
    """The task with what nobody declared, and what is left of the allowance."""
    allowance = allowance_of(learner.request, task)
    if task.undeclared is None:
        return task, allowance
    directed = any(monotone_of(task, name) for name in task.names)  # classes in no declared order have none
    most = 2 if directed else learner.most_classes
    found = task.undeclared.find(rows, task.label_codes, allowance, most)
    label = found.label_index if isinstance(found.label_index, LabelIndex) else task.label
    if found.schema is None:
        return replace(task, label=label), found.allowance
    names, encoding = found.schema.features, found.encoding(FINE_CELLS)
    return replace(task, schema=found.schema, names=names, label=label, encoding=encoding), found.allowance


def certify(
    learner: Learner, task: Task, paid: Reservation, rows: PrivateRows, account: PrivacyAccount | None
) -> Certificate:
    """The certificate of a fit, once its reservation is closed."""
    return certified(
        account, learner.request, paid, rows, learner.certified_as, task.schema, unverified=learner.takes_on_trust
    )


# What a fit costs.


def allowance_of(request: Request, task: Task) -> Allowance:
    """What a fit may spend beside the parts of delta that find categories and classes."""
    allowance = request.allowance if task.undeclared is None else task.undeclared.allowance(request.epsilon)
    unit = unit_of(task)
    rows = 1 if unit is None else unit.max_rows
    sides = 2 if request.neighbouring is Neighbouring.REPLACE_ONE else 1  # a replaced row may change its sign
    return replace(allowance, reach=float(sides * rows))


def whole_charge(learner: Learner, task: Task) -> list[Charge]:
    """Everything that a fit may charge."""
    keys = [] if task.undeclared is None else task.undeclared.key_charges
    return [*learner.charges(allowance_of(learner.request, task), task), *keys]


def unit_of(task: Task) -> Unit | None:
    """Who is protected, if it is not a row."""
    return None if task.schema is None else task.schema.unit


def dry_run(learner: Learner, task: Task, n: int | None) -> dict[str, Any]:
    """What a fit would charge, before it does, to ``n`` rows if so many are expected. Reads none, charges nothing."""
    check_schema(task)
    request, allowance = learner.request, allowance_of(learner.request, task)
    undeclared: Undeclared | None = task.undeclared
    share = (0.0 if task.schema is not None else BOUNDS_SHARE) if undeclared is None else undeclared.share
    forecast = None if n is None or task.schema is None else learner.forecast(allowance, task, n)
    return {
        "estimator": learner.name,
        "epsilon": request.epsilon,
        "delta": request.delta,
        "neighbouring": str(request.neighbouring),
        "charges": [charge.to_dict() for charge in whole_charge(learner, task)],
        "bounds_share": share,
        "columns": list(task.names),
        "n": n,
        **({} if forecast is None else {"forecast": forecast, "outlook": forecast}),  # the second name until 0.2
    }
