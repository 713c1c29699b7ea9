"""`replay_audit`: does all that rows do go through the curator, and is it paid for?

A fit is recorded at the curator: what was asked, what rows said, what noise was added. Then it is repeated on
neighbours, with every recorded release forced. If rows reach the result through releases alone, the second fit asks
the same questions in the same order, at the same charges, and ends in the same model, and its exact answers are no
further away than declared. Anything else is a fault, whatever it would take to see it in a model.

Source: Cebere and others 2026, "Re:cord-play".
"""

from __future__ import annotations

import copy
import warnings
from itertools import islice
from typing import Any

from tacit.audit.canary import target_of
from tacit.audit.facts import facts_of
from tacit.audit.neighbours import Pool, beside, given_pool, made_pool
from tacit.audit.plan import copied, declaring, number_bounds
from tacit.audit.result import Replay
from tacit.audit.watch import Watch, noise_faults
from tacit.curator.rows import HandedOnError
from tacit.curator.tape import Diverged
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
        ValueError: for what cannot be replayed: no schema, no privacy, an account, learners that hand rows on.
    """
    if not is_number(neighbours) or neighbours != int(neighbours) or neighbours < 1:
        raise RequestError(f"neighbours must be a whole number of at least 1, got {neighbours!r}")
    estimator, made = _prepared(estimator, schema, X, y)
    found = Replay(type(estimator).__name__, str(request_of(estimator).neighbouring), RUNS, int(neighbours))
    watches = []
    for run in range(RUNS):
        pool = made(random_state + run)
        watch = Watch()
        shown = _run(estimator, pool, pool.base, watch, random_state + run)
        watches.append(watch)
        if not watch.sights:
            raise RequestError(f"a fit of {found.estimator} asks nothing of its rows through a curator")
        found = found.and_more(watch, pool.given)
        for name, places in islice(beside(pool, request_of(estimator).neighbouring, run), int(neighbours)):
            again = _replayed(estimator, pool, places, watch, random_state + run, shown, name)
            found = found.and_more(again, pool.given)
    return found.and_faults(noise_faults(watches))


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
    known = None if classes is None else tuple(classes)
    if X is None:
        return estimator, lambda seed: made_pool(declared, target, known, seed)
    return estimator, lambda seed: given_pool(X, y, declared, seed)


def _replayed(
    estimator: Any, pool: Pool, places: Any, recorded: Watch, seed: int, shown: list[str], name: str
) -> Watch:
    """A fit to a neighbour with the recorded releases; the faults are with its watch."""
    watch = recorded.replay(name)
    try:
        now = _run(estimator, pool, places, watch, seed)
    except Diverged:
        return watch
    except (RequestError, HandedOnError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the recorded fit did not raise it
        watch.fault(f"the fit failed: {type(error).__name__}: {error}")
        return watch
    watch.finish()
    if now != shown:
        first = next((pair for pair in zip(shown, now, strict=False) if pair[0] != pair[1]), ("nothing", "something"))
        watch.fault(f"what the fit shows differs: {first[0]}, and on the neighbour {first[1]}")
    return watch


def _run(estimator: Any, pool: Pool, places: Any, watch: Watch, seed: int) -> list[str]:
    """Fits a watched copy, and returns all that it shows: facts, predictions, warnings."""
    model = copied(estimator).set_params(random_state=seed)
    made = model.make_learner
    model.make_learner = lambda request: _watched_learner(made(request), watch)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            fitted = model.fit(*pool.table(places)) or model
        except HandedOnError as error:
            raise RequestError(f"{type(estimator).__name__} cannot be replayed: {error}") from None
    shown = [*facts_of(fitted), *(f"warning: {one.category.__name__}: {one.message}" for one in said)]
    probes = pool.table(pool.base)[0]
    return [*shown, *(f"prediction {k} is {value!r}" for k, value in enumerate(_said(fitted, probes)))]


def _said(fitted: Any, probes: Any) -> list[Any]:
    ask = fitted.predict_proba if hasattr(fitted, "predict_proba") else fitted.predict
    return list(ask(probes).ravel().tolist())


def _watched_learner(learner: Learner, watch: Watch) -> Learner:
    """The same learner, which gets watched rows."""
    seen, learn = copy.copy(learner), learner.learn
    object.__setattr__(seen, "learn", lambda rows, *more: learn(rows.with_witness(watch), *more))
    return seen
