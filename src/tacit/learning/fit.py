"""A fit: check, pay, seal, find, learn. `docs/how_a_fit_runs.md` tells the whole way, from ``fit(X, y)`` on.

What is public is checked, the whole charge is reserved in one durable write, and only then the learner may ask about
rows. What the rows hold never makes a fit fail. Nothing here loads scikit-learn, which takes as long as a fit of a
small table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, final

from threadpoolctl import ThreadpoolController

from tacit.curator.rows import PrivateRows
from tacit.discovery.bounds import BOUNDS_SHARE
from tacit.discovery.discover_schema import Undeclared
from tacit.encoding.values import LabelIndex
from tacit.errors import spending
from tacit.learning.declared import Declared
from tacit.learning.learner import FINE_CELLS, Learner, Task, monotone_of
from tacit.learning.supply import ReadySupply, Supply, check_keeping, pay_and_keep
from tacit.models.base import Model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Reservation
from tacit.privacy.progress import Keeping
from tacit.privacy.request import Request, RequestError, check_noise_fits
from tacit.privacy.spending import certified, check_account, reserve
from tacit.privacy.unit import Neighbouring
from tacit.schema import Schema
from tacit.schema.identifiers import refuse_identifiers

if TYPE_CHECKING:  # few fits have a tape
    from tacit.learning.tapes import Taping


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind, released: a frozen model, the task with what was found, and the certificate.

    ``declared`` is the schema that was given; None where there was none.
    """

    model: Model
    task: Task
    certificate: Certificate
    declared: Schema | None


def fit(
    learner: Learner,
    declared: Declared,
    supply: Supply,
    account: PrivacyAccount | None = None,
    keeping: Keeping | None = None,
    taping: Taping | None = None,
) -> Fitted:
    """Learns a model under the privacy that the learner's request asks for.

    ``account`` pays; None for a budget of this fit alone. ``keeping``: whether releases are kept so that the fit can go
    on later, or go on now. ``taping``: a tape beside the gate, which records what leaves, or answers in place of rows.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.
    """
    check_budget(learner, account)
    task = supply.task(declared, learner)
    task = task if taping is None else taping.task(task, learner)
    check(learner, task, account, keeping)
    if account is not None and keeping is None and not supply.in_memory:
        # making the rows ready may take hours: whether the account can pay is known before; one that goes on has paid
        account.check(whole_charge(learner, task), _work(learner), learner.request.neighbouring, task.unit)
    with supply.ready(task, learner) as rows, spending():
        if rows.task is not task:  # the number of rows is known now
            check(learner, rows.task, account, keeping)
        rows.agree(whole_charge(learner, rows.task))
        paying = pay(learner, rows, account, keeping)
        with paying as reservation, blas().limit(limits=1, user_api="blas"):  # small matrices: threads would wait
            private_rows = rows.sealed(reservation)
            private_rows = private_rows if taping is None else taping.rows(private_rows, rows.task)
            bounded, allowance = find(private_rows, rows.task, learner)
            model = learner.learn(private_rows, allowance, bounded)
        request, schema = learner.request, rows.task.schema
        kind, on_trust = learner.certified_as, learner.takes_on_trust
        certificate = certified(account, request, reservation, private_rows, kind, schema, unverified=on_trust)
        rows.end(certificate)
        return Fitted(model, bounded, certificate, rows.task.schema)


@cache
def blas() -> ThreadpoolController:
    """The BLAS of numpy and of scipy: found once, by a look through all libraries of the process."""
    import scipy.linalg  # noqa: F401 - loads scipy's

    return ThreadpoolController()


def check(learner: Learner, task: Task, account: PrivacyAccount | None = None, keeping: Keeping | None = None) -> None:
    """Raises :class:`RequestError` for what is public and wrong about a learner, its account and its task."""
    check_budget(learner, account)
    check_schema(task)
    if task.public_rows is not None and task.public_rows < learner.least_rows:
        raise too_few_rows(learner, task.public_rows)
    learner.check(task)
    if keeping is not None:
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


def too_few_rows(learner: Learner, rows: int) -> RequestError:
    """What is wrong with a public number of rows below :attr:`Learner.least_rows`."""
    return RequestError(
        f"{rows} rows are too few for the parts that {learner.name} makes of them: at least {learner.least_rows} are "
        "needed"
    )


def pay(learner: Learner, rows: ReadySupply, account: PrivacyAccount | None, keeping: Keeping | None) -> Reservation:
    """Reserves the whole charge, durably, before a row is read; a fit that goes on has reserved it before."""
    charges = whole_charge(learner, rows.task)
    if account is not None and keeping is not None:
        assert rows.task.schema is not None  # checked before
        schema = rows.task.schema
        return pay_and_keep(account, keeping, learner, charges, _work(learner), schema, rows.known_by)
    return reserve(account, learner.request, charges, _work(learner), rows.task.unit)


def _work(learner: Learner) -> str:
    return f"fit of {learner.name}"


def find(rows: PrivateRows, task: Task, learner: Learner) -> tuple[Task, Allowance]:
    """The task with what nobody declared, and what is left of the allowance."""
    allowance = allowance_of(learner.request, task)
    if task.undeclared is None:
        return task, allowance
    directed = any(monotone_of(task, name) for name in task.names)  # classes in no declared order have none
    most = 2 if directed else learner.most_classes
    discovered = task.undeclared.find(rows, task.label_codes, allowance, most)
    label = discovered.label_index if isinstance(discovered.label_index, LabelIndex) else task.label
    if discovered.schema is None:
        return replace(task, label=label), discovered.allowance
    names, encoding = discovered.schema.features, discovered.encoding(FINE_CELLS)
    return replace(task, schema=discovered.schema, names=names, label=label, encoding=encoding), discovered.allowance


# What a fit costs.


def allowance_of(request: Request, task: Task) -> Allowance:
    """What a fit may spend beside the parts of delta that find categories and classes."""
    allowance = request.allowance if task.undeclared is None else task.undeclared.allowance(request.epsilon)
    rows = 1 if task.unit is None else task.unit.max_rows
    sides = 2 if request.neighbouring is Neighbouring.REPLACE_ONE else 1  # a replaced row may change its sign
    return replace(allowance, reach=float(sides * rows))


def whole_charge(learner: Learner, task: Task) -> list[Charge]:
    """Everything that a fit may charge."""
    keys = [] if task.undeclared is None else task.undeclared.key_charges
    return [*learner.charges(allowance_of(learner.request, task), task), *keys]


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
        **({} if forecast is None else {"forecast": forecast}),
    }
