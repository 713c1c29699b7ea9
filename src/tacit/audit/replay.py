"""`replay_audit`: does all that rows do go through the curator, and is it paid for?

A fit is recorded at the curator: what was asked, what rows said, what noise was added. Then it is repeated on
neighbours, with every recorded release forced. If rows reach the result through releases alone, the second fit asks
the same questions in the same order, at the same charges, and ends in the same model, and its exact answers are no
further away than declared. Anything else is a fault, whatever it would take to see it in a model.

Source: Cebere and others 2026, "Re:cord-play".
"""

from __future__ import annotations

import copy
from itertools import islice
from typing import Any

from tacit.audit.canary import target_of
from tacit.audit.facts import facts_of
from tacit.audit.neighbours import Pool, beside, given_pool, made_pool, moved_places
from tacit.audit.plan import copied, declaring, number_bounds
from tacit.audit.recording import Recording, hold, noise_faults
from tacit.audit.result import Replay
from tacit.audit.watch import Watch
from tacit.estimators.base import Estimator, request_of
from tacit.learning.learner import Learner
from tacit.privacy.request import RequestError, is_number

RUNS = 3
"""So many fits are recorded, each with another seed: their noise is looked at together."""


def replay_audit(
    estimator: Any,
    schema: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    neighbours: int = 12,
    random_state: int = 0,
) -> Replay:
    """Records a fit at the curator and repeats it on neighbours with the recorded releases forced.

    It is for learners of your own: an estimator that subclasses this library's, with a learner, queries or a fit of its
    own. It finds what depends on rows and was not released (a bound, a category, a number of rounds, a warning, an
    error), answers that move further than their sensitivity says, noise that is left out, used twice or too small, and
    answers that are read past the curator. It does not find a charge that is too small for its noise where both are of
    the library, which has tests of its own, nor what only rows that were not tried would show.

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
    """
    if not is_number(neighbours) or neighbours != int(neighbours) or neighbours < 1:
        raise RequestError(f"neighbours must be a whole number of at least 1, got {neighbours!r}")
    estimator, pool_of = _prepared(estimator, schema, X, y)
    result = Replay(type(estimator).__name__, str(request_of(estimator).neighbouring), RUNS, int(neighbours))
    recordings = []
    for run in range(RUNS):
        pool, seed = pool_of(random_state + run), random_state + run
        recorded = _held(estimator, pool, pool.base, Recording(), seed)
        recordings.append(recorded)
        if not recorded.releases:
            raise RequestError(f"a fit of {result.estimator} asks nothing of its rows through a curator")
        result = result.and_more(recorded, pool.given)
        for name, places in islice(beside(pool, request_of(estimator).neighbouring, run), int(neighbours)):
            replayed = recorded.replay(name, moved_places(pool.base, places))
            result = result.and_more(_held(estimator, pool, places, replayed, seed, recorded), pool.given)
    return result.and_faults(noise_faults(recordings))


def _prepared(estimator: Any, schema: Any, X: Any, y: Any) -> Any:
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


def _held(
    estimator: Any, pool: Pool, places: Any, recording: Recording, seed: int, recorded: Recording | None = None
) -> Recording:
    """A watched fit of a copy, which shows facts and predictions; the faults are with its recording."""

    def run() -> list[str]:
        model = copied(estimator).set_params(random_state=seed)
        make, watch = model.make_learner, Watch(recording)
        model.make_learner = lambda request: _watched_learner(make(request), watch)
        fitted = model.fit(*pool.table(places)) or model
        predictions = enumerate(_predictions(fitted, pool.table(pool.base)[0]))
        return [*facts_of(fitted), *(f"prediction {k} is {value!r}" for k, value in predictions)]

    return hold(recording, run, recorded)


def _predictions(fitted: Any, probes: Any) -> list[Any]:
    predict = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
    return list(predict(probes).ravel().tolist())


def _watched_learner(learner: Learner, watch: Watch) -> Learner:
    """The same learner, which gets watched rows."""
    watched, learn = copy.copy(learner), learner.learn
    object.__setattr__(watched, "learn", lambda rows, *more: learn(rows.with_witness(watch), *more))
    return watched
