"""What the candidates of a search have in common, and how its budget is divided: from what is public before a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from sklearn.base import is_regressor

from tacit.errors import UNSPENT, TacitError
from tacit.evaluation.number_scorer import clip_share
from tacit.evaluation.utility import PINBALL, Criterion
from tacit.learning.checks import check_number
from tacit.privacy.calibration import calibrate
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import BoundedRange, Charge, Gaussian, Laplace, NonPrivate
from tacit.privacy.gaussian import gaussian_epsilon
from tacit.privacy.ledger import Reservation
from tacit.privacy.promised_budget import compact
from tacit.privacy.random_stopping import RandomStopping
from tacit.privacy.request import Request, RequestError, declared_schema, two_bounds
from tacit.privacy.unit import describe_unit, unit_key
from tacit.privacy.verification import BOTH, RELEASABLE_SOURCES, UNVERIFIED
from tacit.schema import Schema


def about_numbers(candidates: Sequence[Any]) -> bool:
    """Whether the first candidate, and with it all of them, learns numbers."""
    return len(candidates) > 0 and is_regressor(candidates[0])


def measure_of(candidates: Sequence[Any], criterion: Criterion) -> Criterion:
    """By what to judge the fitted candidates: nothing is left to refuse once fits have been paid for.

    Raises ``RequestError`` if the candidates cannot be judged by one measure, or nobody declares the bounds of the
    target.
    """
    numbers = about_numbers(candidates)
    criterion.checked(numbers)
    if any(is_regressor(candidate) != numbers for candidate in candidates):
        raise RequestError("some of the candidates are of classes and some of numbers: search among one kind")
    if not numbers:
        return criterion
    bounds = [declared_bounds(candidate) for candidate in candidates]
    for pair in bounds:
        if pair != bounds[0]:
            raise RequestError(
                f"the candidates declare different bounds of the target, {bounds[0]} and {pair}: give all the same"
            )
    clip_share(criterion.error_clip, bounds[0][1] - bounds[0][0])
    name, quantile = criterion.of_quantiles([declared_quantile(candidate) for candidate in candidates])
    return Criterion(name, quantile if name == PINBALL else None, bounds[0], criterion.error_clip)


def declared_bounds(candidate: Any) -> tuple[float, float]:
    """The declared bounds of the target of a candidate; raises :class:`RequestError` where there are none."""
    parameters = candidate.get_params(deep=False)
    schema = declared_schema(parameters.get("schema"))
    label = None if schema is None else schema.label
    if label is not None:
        if not label.is_numeric:
            raise RequestError(f"the candidates are of numbers, and the schema's label '{label.column}' has classes")
        return label.bounds
    if parameters.get("target_bounds") is None:
        raise RequestError(
            "a search among models of numbers needs bounds of the target, and does not look for them: give every "
            "candidate the same target_bounds=(lower, upper), or a schema with a numeric label"
        )
    return two_bounds(parameters["target_bounds"], "target_bounds")


def declared_quantile(candidate: Any) -> float | None:
    """Which quantile a candidate is about; None for a mean. Raises :class:`RequestError` for one that is none."""
    parameters = candidate.get_params(deep=False)
    if parameters.get("loss") != "quantile":
        return None
    quantile = parameters.get("quantile")
    check_number("a candidate's quantile", quantile, 0.0, 1.0)
    return float(quantile)


def promised_schema(model: Any, declared: Any) -> Schema | None:
    """The schema of an evaluation: the one that is given, in any of its forms, or by default that of the estimator.

    Raises ``RequestError`` if the model's certificate protects persons of more rows than this schema does.
    """
    if declared is None:
        declared = model.declared()[0] if hasattr(model, "declared") else getattr(model, "schema", None)
    schema = declared_schema(declared)
    own = getattr(model, "certificate_", None)
    if isinstance(own, Certificate):
        check_unit(own, schema)
    return schema


def check_unit(own: Certificate, schema: Schema | None) -> None:
    """Raises unless a schema protects the persons that a model's certificate does, with as many rows."""
    unit = None if schema is None else schema.unit
    rows = 1 if unit is None else unit.max_rows
    if rows < own.rows_per_unit:
        raise RequestError(
            f"the model's certificate protects all {own.rows_per_unit} rows that a person may have, and this "
            f"evaluation would protect {rows}: give a schema with a unit of as many"
        )
    if own.unit is not None and (unit is None or unit.column != own.unit):
        raise RequestError(
            f"the model's certificate protects {own.protected}, and this evaluation would protect "
            f"{describe_unit(unit_key(unit))}: give a schema with the unit {own.unit!r}"
        )


def check_combinable(first: Certificate, neighbouring: str, unit: tuple[str, int]) -> None:
    """Raises ``ValueError`` unless a certificate speaks of a relation and of a unit, as :func:`unit_key` gives it."""
    if first.neighbouring != neighbouring:
        raise TacitError(
            f"the model's certificate is about {first.neighbouring}, and the request about {neighbouring}: the two do "
            "not add up",
            UNSPENT,
        )
    if (first.unit or "", first.rows_per_unit) != unit:
        raise TacitError(
            f"the model's certificate protects {first.protected}, and the request {describe_unit(unit)}: costs of the "
            "two do not add up. Give the schema of the model",
            UNSPENT,
        )


def combined_certificate(first: Certificate, second: Certificate, algorithm: str) -> Certificate:
    """What two certificates say together: charges and entries of both, accounted for as one composition.

    Where the two are about different people it claims more than was spent, which is safe. Raises ``ValueError`` if they
    are about different relations or units.
    """
    check_combinable(first, second.neighbouring, (second.unit or "", second.rows_per_unit))
    reservation = Reservation((*first.charges, *second.charges), first.neighbouring, algorithm)
    for entry in (*first.entries, *second.entries):
        reservation.record(entry.charge, entry.what, entry.theorem)
    reservation.close()
    sources = sorted({*first.noise_source.split(BOTH), *second.noise_source.split(BOTH)})
    combined = Certificate.of(
        reservation,
        epsilon=0.0,
        delta=max(first.delta, second.delta),
        noise_source=BOTH.join(sources),
        noise_releasable=all(source in RELEASABLE_SOURCES for source in sources),
        algorithm=algorithm,
        unverified=any(UNVERIFIED in part.reasons for part in (first, second)),
    ).about_people_of(first, first.dataset or second.dataset)
    return combined.assuming(*first.assumptions, *second.assumptions)


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

    ``apart``: whether no person's rows are both fitted and judged, so that a run costs the larger of the two. Raises
    ``RequestError`` for a strategy that does not exist or candidates that it does not suit.
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
    rules = {AUTO: (None, rule), EACH: (None,), RANDOM_STOPPING: (rule,)}[strategy]
    plans, refusal = [], RequestError("no search suits these candidates and this budget")
    for stopping in rules:
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
