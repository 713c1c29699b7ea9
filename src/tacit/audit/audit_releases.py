"""`audit_releases`: is there as much noise in a release as its charge needs?

Where releases are looked at themselves, and not through a model, thousands of trials cost seconds, and an attack that
knows both tables comes near to what the proof allows. It is meant for queries, mechanisms and joint releases of your
own, and tests those of the library (tests/audit/test_releases.py).

Source: Jagielski, Ullman, Oprea 2020; Nasr and others 2023; see :mod:`tacit.audit.bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.audit.audit_estimator import Progress, seed_of
from tacit.audit.judge import Judge, is_gaussian
from tacit.audit.plan import check_trials
from tacit.audit.result import Audit
from tacit.privacy import accountants
from tacit.privacy.charges import Charge
from tacit.privacy.request import RequestError
from tacit.privacy.unit import Neighbouring

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
    """
    trials, confidence = check_trials(trials, confidence)
    relation, name = Neighbouring(neighbouring), getattr(run, "__name__", type(run).__name__)
    epsilon = accountants.epsilon(list(charges), delta)
    if not np.isfinite(epsilon):
        raise RequestError(f"the charges have no finite epsilon at delta={delta:g}, so there is nothing to audit")
    judge = Judge(epsilon, delta, confidence, trials, is_gaussian(charges, epsilon, delta), earlier)
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
