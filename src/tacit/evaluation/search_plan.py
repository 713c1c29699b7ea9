"""How the budget of a search is divided between fits and the choice among them: from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.gaussian import gaussian_epsilon
from tacit.privacy.promised_budget import compact
from tacit.privacy.random_stopping import RandomStopping
from tacit.privacy.request import Request, RequestError

AUTO, EACH, RANDOM_STOPPING = "auto", "each", "random_stopping"
STRATEGIES = (AUTO, EACH, RANDOM_STOPPING)

CHOICE = 0.1
"""What the choice costs, as a share of what the fits cost."""

RUNS_PER_CANDIDATE = 2.0


@final
@dataclass(frozen=True)
class SearchPlan:
    """A search, planned: the whole charge, what every fit is asked for, and what each candidate's charges then.

    ``scoring`` is what the choice costs, or under random stopping, whose ``rule`` is the number of runs, the score of
    one.
    """

    strategy: str
    charges: tuple[Charge, ...]
    fit_epsilon: float
    fit_delta: float
    declared: tuple[tuple[Charge, ...], ...]
    scoring: Charge
    rule: RandomStopping | None


def plan_search(
    candidates: Sequence[Any], request: Request, strategy: str, runs: float | None, shape: float, apart: bool
) -> SearchPlan:
    """The plan under which a fit gets the most; ``runs`` and ``shape`` are those of random stopping.

    ``apart``: whether no person's rows are both fitted and judged, so that a run costs the larger of the two.

    Raises:
        RequestError: for a strategy that does not exist or candidates that it does not suit.
    """
    if strategy not in STRATEGIES:
        raise RequestError(f"strategy must be 'auto', 'each' or 'random_stopping', got {strategy!r}")
    try:
        rule = RandomStopping(RUNS_PER_CANDIDATE * len(candidates) if runs is None else float(runs), float(shape))
    except (TypeError, ValueError) as error:
        raise RequestError(str(error)) from None
    if math.isinf(request.epsilon):
        if strategy == RANDOM_STOPPING:
            return _scaled(candidates, request, rule, apart, math.inf)
        return _scaled(candidates, request, None, apart, math.inf)
    wanted = {AUTO: (None, rule), EACH: (None,), RANDOM_STOPPING: (rule,)}[strategy]
    plans, refusal = [], RequestError("no search suits these candidates and this budget")
    for stopping in wanted:
        try:
            plans.append(_largest(candidates, request, stopping, apart))
        except RequestError as error:  # a candidate's own, about its parameters
            refusal = error
        except ValueError as error:
            if strategy != AUTO:
                raise RequestError(f"{strategy!r} does not suit these candidates: {error}") from None
    if not plans:
        raise refusal
    return max(plans, key=lambda plan: plan.fit_epsilon)


def _largest(candidates: Sequence[Any], request: Request, rule: RandomStopping | None, apart: bool) -> SearchPlan:
    def charges_at(noise: float) -> Sequence[Charge]:
        return _scaled(candidates, request, rule, apart, 1.0 / noise).charges

    start = math.sqrt(len(candidates)) * (4.0 if request.delta > 0 else 2.0) / request.epsilon
    noise = calibrate(charges_at, request.epsilon, request.delta, start=start, tolerance=1e-3)
    return _scaled(candidates, request, rule, apart, 1.0 / noise)


def _scaled(
    candidates: Sequence[Any], request: Request, rule: RandomStopping | None, apart: bool, strength: float
) -> SearchPlan:
    """The plan whose fits have a given strength: the Gaussian parameter mu, or epsilon at ``delta = 0``."""
    pure, count = request.delta == 0, len(candidates)
    delta = request.delta / (count + 1)  # a Gaussian fit of one strength costs the same whatever its delta
    epsilon = strength if pure or math.isinf(strength) else gaussian_epsilon(strength, delta)
    scoring = _scoring(strength, pure, count, rule, apart)
    declared = tuple(
        compact(_with_budget(candidate, epsilon, delta).declared_charge(str(request.neighbouring)))
        for candidate in candidates
    )
    whole: tuple[Charge, ...]
    if rule is None:
        whole = (*(charge for charges in declared for charge in charges), scoring)
    elif apart:
        whole = (rule.charge([*declared, (scoring,)], request.delta),)
    else:
        whole = (rule.charge([(*charges, scoring) for charges in declared], request.delta),)
    return SearchPlan(EACH if rule is None else RANDOM_STOPPING, whole, epsilon, delta, declared, scoring, rule)


def _scoring(strength: float, pure: bool, count: int, rule: RandomStopping | None, apart: bool) -> Charge:
    if math.isinf(strength):
        return NonPrivate()
    if rule is None:  # zCDP of a range r is r**2 / 8, of a Gaussian mu**2 / 2
        return BoundedRange(CHOICE * count * strength if pure else 2.0 * strength * math.sqrt(CHOICE * count))
    share = 1.0 if apart else CHOICE
    return Laplace(1.0 / (share * strength)) if pure else Gaussian(1.0 / (math.sqrt(share) * strength))


def _with_budget(candidate: Any, epsilon: float, delta: float) -> Any:
    from sklearn.base import clone

    return clone(candidate).set_params(epsilon=epsilon, delta=delta)
