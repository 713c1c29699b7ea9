"""`replay_audit`: does all that rows do go through the curator, and is it paid for?

A fit is recorded at the curator: what was asked, what rows said, what noise was added. Then it is repeated on
neighbours, with every recorded release forced. If rows reach the result through releases alone, the second fit asks
the same questions in the same order, at the same charges, and ends in the same model, and its exact answers are no
further away than declared. Anything else is a fault, whatever it would take to see it in a model.

Source: Cebere and others 2026, "Re:cord-play".
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, final

import numpy as np

from tacit.audit.canary import target_of
from tacit.audit.neighbours import Pool, beside, given_pool, made_pool, moved_places
from tacit.audit.plan import copied, declaring, number_bounds
from tacit.audit.recording import SLACK, Recording, hold, noise_faults
from tacit.audit.result import Replay
from tacit.audit.watch import Watch
from tacit.estimators.base import Estimator, request_of
from tacit.learning.learner import Learner
from tacit.privacy.request import RequestError, is_number

RUNS = 3
"""So many fits are recorded, each with another seed: their noise is looked at together."""


def replay_audit(
    estimator: Any, schema: Any = None, *, X: Any = None, y: Any = None, neighbours: int = 12, random_state: int = 0
) -> Replay:
    """Records a fit at the curator and repeats it on neighbours with the recorded releases forced.

    It is for learners of your own: an estimator that subclasses this library's, with a learner, queries or a fit of its
    own. It finds what depends on rows and was not released (a bound, a category, a number of rounds, a warning, an
    error), answers that move further than their sensitivity says, noise that is left out, used twice or too small,
    answers that are read past the curator, and a certificate of more than the estimator claims. It does not find a
    charge that is too small for its noise where both are of the library, which has tests of its own, nor what only rows
    that were not tried would show.

    Nothing is spent.

    Args:
        estimator: to be fitted; it is copied for every fit and left as it is.
        schema: what rows are made from; by default the estimator's own. One is needed.
        X: rows to take instead, a table. The result is then computed from these rows without any privacy.
        y: their labels.
        neighbours: so many are tried with each of three recorded fits.
        random_state: of rows and noise.

    Returns:
        The faults, and how close answers came to what is declared; ``print`` it.

    Raises:
        ValueError: for what cannot be replayed: no schema, no privacy, an account.

    Example:
        >>> from tacit import RandomTreesClassifier
        >>> from tacit.audit import replay_audit
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]}, "columns": {"smokes": {"kind": "boolean"}}}
        >>> print(replay_audit(RandomTreesClassifier(schema=schema, n_trees=2), neighbours=2).holds)
        True
    """
    if not is_number(neighbours) or neighbours != int(neighbours) or neighbours < 1:
        raise RequestError(f"neighbours must be a whole number of at least 1, got {neighbours!r}")
    estimator, pool_of = prepared(estimator, schema, X, y)
    result = Replay(type(estimator).__name__, str(request_of(estimator).neighbouring), RUNS, int(neighbours))
    recordings = []
    for run in range(RUNS):
        pool, seed = pool_of(random_state + run), random_state + run
        recorded = held(estimator, pool, pool.base, Recording(), seed)
        recordings.append(recorded)
        if not recorded.releases:
            raise RequestError(f"a fit of {result.estimator} asks nothing of its rows through a curator")
        result = result.and_more(recorded, pool.given)
        for name, places in islice(beside(pool, request_of(estimator).neighbouring, run), int(neighbours)):
            replayed = recorded.replay(name, moved_places(pool.base, places))
            result = result.and_more(held(estimator, pool, places, replayed, seed, recorded), pool.given)
    return result.and_faults(noise_faults(recordings))


def prepared(estimator: Any, schema: Any, X: Any, y: Any) -> Any:
    """The estimator, declaring everything, and a pool of rows for every seed."""
    name = type(estimator).__name__
    if not isinstance(estimator, Estimator):
        raise RequestError(f"{name} is no estimator of this library, whose curator could be watched")
    if estimator.account is not None:
        raise RequestError(f"{name} has an account, which a replay would spend from: leave it out (account=None)")
    if not request_of(estimator).allowance.is_private:
        raise RequestError("epsilon is inf: no privacy is claimed, so there is nothing to replay")
    if (X is None) != (y is None):
        raise RequestError("X and y belong together: give both, or none for rows made from the schema")
    estimator, declared, classes = declaring(estimator, schema)
    if declared is None:
        raise RequestError("a replay needs a schema: what a fit finds without one is found by the library's own code")
    bounds = number_bounds(estimator, declared)
    target = target_of(declared, classes, bounds)
    if declared.label is not None and not declared.label.is_numeric:
        classes = declared.label.classes
    elif classes is None and target.is_class:
        classes = (target.usual, target.canary)
        estimator = copied(estimator).set_params(classes=classes)
    names = None if classes is None else tuple(classes)
    if X is None:
        return estimator, lambda seed: made_pool(declared, target, names, seed)
    return estimator, lambda seed: given_pool(X, y, declared, seed)


def held(
    estimator: Any,
    pool: Pool,
    places: Any,
    recording: Recording,
    seed: int,
    recorded: Recording | None = None,
    *,
    watch: Callable[[Recording], Watch] = Watch,
) -> Recording:
    """A watched fit of a copy, which shows facts and predictions; the faults are with its recording."""

    def run() -> list[str]:
        model = copied(estimator).set_params(random_state=seed)
        make, witness = model.make_learner, watch(recording)
        model.make_learner = lambda request: _watched_learner(make(request), witness)
        fitted = model.fit(*pool.table(places)) or model
        claim, stated = request_of(estimator), fitted.certificate_
        if stated.epsilon > claim.epsilon * (1 + SLACK) or stated.delta > claim.delta:
            recording.fault(f"the certificate says epsilon {stated.epsilon:g} and delta {stated.delta:g}, more than "
                            f"the {claim.epsilon:g} and {claim.delta:g} that the estimator claims")  # fmt: skip
        predict = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
        predictions = enumerate(predict(pool.table(pool.base)[0]).ravel().tolist())
        return [*facts_of(fitted), *(f"prediction {k} is {value!r}" for k, value in predictions)]

    return hold(recording, run, recorded)


def _watched_learner(learner: Learner, watch: Watch) -> Learner:
    """The same learner, which gets watched rows."""
    watched, learn = copy.copy(learner), learner.learn
    object.__setattr__(watched, "learn", lambda rows, *more: learn(rows.with_witness(watch), *more))
    return watched


CLEAR = 0.9
"""By how much of the fits that choose, the two tables must differ in whether a fact is there.

With less it is mostly the luckiest of thousands."""

LEFT_OUT = ("created", "digest", "model_digest", "schema_digest", "ledger_digest", "versions", "schema_fingerprint")
"""Of a certificate: the time, and digests of what is looked at itself."""

ELSEWHERE = ("model_", "schema_", "certificate_", "summary_", "best_", "certificates_")
"""Attributes that are looked at themselves, or that follow from others and a time."""


@final
@dataclass
class Facts:
    """Chooses one fact on the first fits, and counts it on the others."""

    choosing: int  # so many fits to each table choose
    _seen: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    _fits: list[int] = field(default_factory=lambda: [0, 0])
    _guess: tuple[str, bool] | None = None

    def add(self, side: int, model: Any) -> bool | None:
        """Looks at a fit to the table without the canary (0) or with it (1).

        Returns:
            Whether the fact says "with" of it; None while none is chosen, or where none tells the tables apart.
        """
        self._fits[side] += 1
        if self._fits[side] <= self.choosing:
            self._seen[side].update(set(facts_of(model)))
            return None
        if self._guess is None:
            self._guess = self._chosen()
        fact, there = self._guess
        return (fact in set(facts_of(model))) == there if fact else None

    @property
    def leak(self) -> str | None:
        """The fact, if there is one: what it says of a model of the table with the canary."""
        if self._guess is None or not self._guess[0]:
            return None
        return self._guess[0] if self._guess[1] else f"not {self._guess[0]}"

    def _chosen(self) -> tuple[str, bool]:
        """The fact that tells most, and whether it speaks for the canary; no text where none tells enough."""
        without, with_canary = self._seen
        gaps = {fact: with_canary[fact] - without[fact] for fact in sorted({*without, *with_canary})}
        fact = max(gaps, key=lambda name: (abs(gaps[name]), gaps[name] > 0, -_rank(name)), default="")
        self._seen = Counter(), Counter()
        if not fact or abs(gaps[fact]) < CLEAR * self.choosing:
            return "", True
        return fact, gaps[fact] > 0


def _rank(fact: str) -> int:
    """Of facts that tell as much, the value that was read from rows is named rather than what followed from it."""
    places = ("schema", "classes", "model", "")
    return 2 * [fact.startswith(place) for place in places].index(True) + (" is " not in fact)


def facts_of(model: Any) -> Iterator[str]:
    """What a fitted estimator spells out: model, schema and certificate as plain data, place by place."""
    for place, method in (("model", "body"), ("schema", "to_dict"), ("certificate", "to_dict")):
        part: Any = getattr(model, f"{place}_", None)
        if hasattr(part, method):
            yield from _leaves(place, {k: v for k, v in getattr(part, method)().items() if k not in LEFT_OUT})
    for name, value in sorted(vars(model).items()):
        if name.endswith("_") and not name.startswith("_") and name not in ELSEWHERE:
            yield from _leaves(name.removesuffix("_"), value)


def _leaves(place: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(f"{place}.{key}", inner)
    elif isinstance(value, np.ndarray):
        yield from _leaves(place, value.tolist())
    elif isinstance(value, list | tuple):
        yield f"{place} has {len(value)}"
        for index, inner in enumerate(value):
            yield from _leaves(f"{place}[{index}]", inner)
    elif value is None or isinstance(value, str | bytes | bool | int | float | np.generic):
        yield f"{place} is {value!r}"
