"""`audit_estimator`: does a learner keep what it claims, as far as an attack can tell?

The learner is fitted many times to each of two neighbouring tables, an attack guesses from the models alone which one
each was made from, and how often it is right bounds epsilon from below, with a confidence level.

Source: Jagielski, Ullman, Oprea 2020, "Auditing differentially private machine learning"; Nasr and others 2021,
"Adversary instantiation"; for the bounds see :mod:`tacit.audit.bound`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tacit.audit.guess import scores
from tacit.audit.judge import Judge, first_choice, gaussian_claim
from tacit.audit.plan import Plan, check_trials, copied, named, planned
from tacit.audit.replay import Facts
from tacit.audit.result import Audit
from tacit.privacy import accountants
from tacit.privacy.charges import Charge
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring

Progress = Callable[[int, int], None]
"""Hears of how many fits are done, and of how many there are."""


def audit_estimator(
    estimator: Any,
    schema: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    canary: tuple[Any, Any] | None = None,
    trials: int = 300,
    confidence: float = 0.95,
    neighbouring: str | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
    earlier: Sequence[Audit] = (),
) -> Audit:
    """A lower bound on the epsilon of an estimator, to hold against its claim.

    A bound above the claim refutes it, with this confidence. A bound below it proves nothing: another attack, or other
    tables, might do better. No budget is spent: the tables are made from the schema and hold nobody's rows.

    Args:
        estimator: any estimator of this library, or any object with ``fit``, ``predict_proba`` (or ``predict``),
            ``epsilon`` and, unless it is 0, ``delta``. It is copied for every fit and left as it is. Other libraries'
            estimators get matrices of numbers.
        schema: what the tables are made from, and what the estimator then declares; by default its own. Without one,
            the tables have one column of numbers, and the fit looks for its bounds as usual.
        X: rows to take instead, a table. The result is then computed from these rows without any privacy, and says so:
            give public rows, or keep it to yourself.
        y: their labels.
        canary: one more row, or one unit's rows, as ``(X, y)`` of the same kinds. Under ``replace_one`` its label
            changes.
        trials: fits to each of the two tables at most: the audit stops when the claim is refuted. The first 12 choose
            a guess, which is counted on the others, and chosen again whenever there are twice as many.
        confidence: with which all bounds hold together, whenever the audit stops.
        neighbouring: the relation of the claim, of an estimator that does not name it; ``add_or_remove_one`` if None.
        random_state: None for fresh noise; an integer makes the audit repeatable: every fit gets another seed that
            follows from it.
        progress: is told after every fit how many are done, and of how many. An exception or an interruption ends the
            audit, and leaves nothing behind.
        earlier: audits of earlier versions of this learner, with the same claim. Evidence that was too weak in each
            counts together.

    Returns:
        The bounds, the counts and the claim; ``print`` it.

    Raises:
        ValueError: for what cannot be audited: no privacy, an account, a seed of the estimator's own.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import audit_estimator
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
        >>> audit = audit_estimator(RandomTreesClassifier(delta=0.0, schema=schema, n_trees=1), trials=20)
        >>> print(audit.epsilon, audit.trials)
        1.0 20
    """
    plan = planned(estimator, schema, (X, y, canary), trials, confidence, neighbouring, random_state)
    facts, judge, answers, leaks = Facts(first_choice(plan.trials)), None, [], []
    for count, (side, model) in enumerate(_fits(plan, random_state), 1):
        leaks.append(facts.add(side, model))
        answers.append(scores(model, plan.pair.probes, plan.pair.label))
        if progress is not None:
            progress(count, 2 * plan.trials)
        judge = judge or _judge(plan, model, earlier)
        judge.gaussian = judge.gaussian and _names_gaussian(plan, model)
        if side == 1:
            judge.add(answers.pop(), answers.pop(), _pair(leaks.pop(), leaks.pop()))
            if judge.decided:
                break
    assert judge is not None
    return judge.audit(type(plan.estimator).__name__, str(plan.request.neighbouring), plan.rows_per_unit,
                       from_rows=plan.pair.from_rows, leak=facts.leak)  # fmt: skip


def _judge(plan: Plan, model: Any, earlier: Sequence[Audit]) -> Judge:
    """The judge of a claim; whether it is about Gaussian noise alone shows in the first fit."""
    claim = plan.request
    return Judge(claim.epsilon, claim.delta, plan.confidence, plan.trials, _names_gaussian(plan, model), earlier)


def _names_gaussian(plan: Plan, model: Any) -> bool:
    entries = getattr(getattr(model, "certificate_", None), "entries", ())
    return gaussian_claim([entry.charge for entry in entries], plan.request.epsilon, plan.request.delta) is not None


def _pair(first: bool | None, second: bool | None) -> tuple[bool, bool] | None:
    return None if first is None or second is None else (first, second)


def _fits(plan: Plan, random_state: int | None) -> Iterator[tuple[int, Any]]:
    """Fitted copies, of the table without the canary (0) and with it (1) in turn."""
    for trial in range(plan.trials):
        for side, (X, y) in enumerate((plan.pair.without, plan.pair.with_canary)):
            model = copied(plan.estimator)
            if random_state is not None:
                seed = seed_of(random_state, trial, side)
                model.set_params(**dict.fromkeys(named(model, "random_state"), seed))
            model.warns = False  # synthetic rows are nothing to warn of
            yield side, model.fit(X, y) or model


def seed_of(random_state: int, trial: int, side: int) -> int:
    """A seed for one fit: no two of an audit, and none of two audits, are alike."""
    text = f"audit {random_state} {trial} {side}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")


Run = Callable[[Any, int | None], Any]
"""From one of the two tables and a seed (None for fresh noise) to what is released: numbers, always as many."""


def audit_releases(
    run: Run,
    with_canary: Any,
    without: Any,
    charges: Sequence[Charge],
    *,
    delta: float = 0.0,
    neighbouring: str = str(Neighbouring.ADD_OR_REMOVE_ONE),
    trials: int = 3000,
    confidence: float = 0.95,
    random_state: int | None = None,
    progress: Progress | None = None,
    earlier: Sequence[Audit] = (),
) -> Audit:
    """A lower bound on the epsilon of releases, to hold against what they are charged.

    Args:
        run: makes the releases. What it releases are numbers in any shape, always as many.
        with_canary: a table, as ``run`` takes it. Nobody looks into it here, so it may be anything: made-up rows, or a
            number of a table.
        without: its neighbour.
        charges: what ``run`` charges. The claim is the epsilon of all of them together at ``delta``; where they are
            Gaussian noise alone, the Gaussian claim is audited, too.
        delta: 0 for pure noise; with Gaussian noise it must be positive.
        neighbouring: how the two tables differ, for the record.
        trials: runs on each of the two tables at most: the audit stops when the claim is refuted. The first 12 choose
            a guess, which is counted on the others, and chosen again whenever there are twice as many.
        confidence: with which all bounds hold together, whenever the audit stops.
        random_state: None for fresh noise; an integer gives every run another seed that follows from it.
        progress: is told after every run how many are done, and of how many.
        earlier: audits of earlier versions with the same claim; their evidence counts as well.

    Returns:
        The bounds, the counts and the claim; ``print`` it. The tables are taken to be made up; of private ones keep
        the result to yourself.

    Raises:
        ValueError: for arguments that make no sense, or a run that releases no numbers.

    Example:
        >>> import numpy as np
        >>> from tacit.audit import audit_releases
        >>> from tacit.privacy.charges import Gaussian
        >>> def run(table, seed):  # with a tenth of the noise that is charged
        ...     return np.sum(table) + np.random.default_rng(seed).normal(scale=0.1)
        >>> audit = audit_releases(run, np.ones(21), np.ones(20), [Gaussian(1.0)], delta=1e-6, random_state=0)
        >>> print(audit.refuted)
        True
    """
    trials, confidence = check_trials(trials, confidence)
    relation, name = Neighbouring(neighbouring), getattr(run, "__name__", type(run).__name__)
    epsilon = accountants.epsilon(list(charges), delta)
    if not np.isfinite(epsilon):
        raise RequestError(f"the charges have no finite epsilon at delta={delta:g}, so there is nothing to audit")
    judge = Judge(epsilon, delta, confidence, trials, gaussian_claim(charges, epsilon, delta) is not None, earlier)
    size = 0
    for trial in range(trials):
        releases = []
        for side, table in enumerate((without, with_canary)):
            seed = None if random_state is None else seed_of(random_state, trial, side)
            releases.append(np.asarray(run(table, seed), np.float64).ravel())
            size = size or releases[-1].size
            if releases[-1].size != size or not size:
                raise RequestError(f"{name} must release numbers, always as many, got {releases[-1].size} of them")
            if progress is not None:
                progress(2 * trial + side + 1, 2 * trials)
        judge.add(releases[1], releases[0])
        if judge.decided:
            break
    return judge.audit(name, str(relation), 1)
