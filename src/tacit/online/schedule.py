"""How a private Winnow spends its budget: the paper's schedule, ours with its theorem, and those that do best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from tacit.curator.streams.winnow import WinnowStream, draws_charge
from tacit.curator.streams.winnow_log import Marks
from tacit.privacy.calibration import calibrate
from tacit.privacy.charges import Charge, Pure
from tacit.privacy.unit import Neighbouring
from tacit.theory import winnow as theory
from tacit.theory.above_threshold import Queries, accuracy, scales

THRESHOLD_SHARE = 0.15
"""Share of epsilon for above-threshold: few mistakes more or less at the end of an epoch matter little."""

USUAL_BUDGET = 40_000.0
"""Rounds times epsilon for which the usual numbers of updates and samples below were found."""

USUAL_EPOCHS, USUAL_SAMPLES = 64, 15
STEP = 0.7
"""Learning rate per update, were all mistakes of the epoch to point the same way."""

NOISE_LEVELS = 11.0
"""The threshold is at least so many scales of its noise: in forty thousand rounds the count alone stays below that."""

FIRST_UPDATE, NEXT_UPDATE = 16.0, 1.2
"""Rounds times epsilon (at most 1) before the first update at a public time, and the factor from one to the next."""

UNSURE = 0.2
"""Share of the weights by which a round has to be right in order not to count."""

DECAY = 0.95
"""What released weights keep with every update after them."""

UNSURE_OF_MARGIN = 0.3
"""The same where a margin is told, as a share of it: the theorem pays for it, and what is learned gains more."""

COARSE, FINE = 1.5, 1.05
"""Factors between the intervals, and between the samples, of which those with the smallest bound are taken."""

EXACT_RATE = 0.2
"""Learning rate per mistake where there is no privacy, and no margin that says it."""


DROPS = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Of Theorem 12, which is right for each: by how much the log of a weight falls that is found wrong."""

CARRIED_WEIGHTS, SHORTEST_INTERVAL = 1.2, 40.0
"""Of Theorem 9: carried weights, rounded, count for a fifth more, for rates as of at least so long intervals."""

USUAL_WEIGHTS, POOREST, RICHEST = 400.0, 0.4, 1.5
"""Weights for which the usual numbers were found, and bounds of how much a stream's wealth changes them."""

LARGEST_EPSILON = 0.999
"""Theorem 4.5 is about an epsilon below 1."""

LONGEST_INTERVAL = 1_000.0
"""Times one over the squared margin: an interval of so many rounds is longer than any that promises least."""

TOLERANCE = 1e-3
"""Of the search for the largest range of a draw, relative: schedules need no more, and it is run for every one."""


@dataclass(frozen=True)
class WinnowRequest:
    """Everything that decides a schedule; public."""

    dimension: int
    signed: bool
    update: str  # `"batch"`, `"every"`, `"first"` or `"timed"`
    epsilon: float
    delta: float
    neighbouring: Neighbouring
    horizon: int  # rounds
    margin: float | None = None  # of the target, for the schedules with a theorem; None for the usual schedule
    beta: float = 0.05  # the theorems may fail with about this probability
    classes: int = 2
    carried: float = 0.0  # share of released weights in those that a period begins with

    @property
    def n_weights(self) -> int:
        return Marks(self.dimension, self.classes).n_weights * (2 if self.signed else 1)

    @property
    def potential(self) -> int:
        """The number of weights whose log bounds the potential at the start of a period (Theorem 9)."""
        return (
            self.n_weights if self.carried == 0 else math.ceil(CARRIED_WEIGHTS * self.n_weights / (1.0 - self.carried))
        )

    @property
    def comparisons(self) -> int:
        """Rounds times rivals: how often samples may fail to agree with the weights they come from."""
        return self.horizon * (self.classes - 1)


@dataclass(frozen=True)
class Promise:
    """A bound on the mistakes of a schedule, for a target of a margin in rows that were fixed beforehand.

    At most so many, with at least this probability, in the rounds of the stream or of each of its periods.
    """

    mistakes: float
    probability: float
    rounds: int
    margin: float

    @property
    def is_proved(self) -> bool:
        """Whether anything is proved: fewer mistakes than there are rounds."""
        return self.mistakes < self.rounds

    def __str__(self) -> str:
        if not self.is_proved:
            return f"nothing is proved: the bound on mistakes is not below the {self.rounds:,} rounds"
        return (
            f"at most {math.floor(self.mistakes):,} mistakes in {self.rounds:,} rounds with probability "
            f"{self.probability:g}, for a target of margin {self.margin:.4g}"
        )


def of_the_smaller_promise(request: WinnowRequest) -> WinnowRequest:
    """The request with the update, at public times or after mistakes, of which the theorem promises less."""
    if request.margin is None or math.isinf(request.epsilon):
        return request
    updates = ("timed", "batch", "every") if request.margin == 1 and request.classes == 2 else ("timed", "batch")
    return min((replace(request, update=update) for update in updates), key=bound_of)


def promise_of(request: WinnowRequest) -> Promise | None:
    """What is proved of :func:`schedule_of`; None without a margin, and without privacy."""
    if request.margin is None or math.isinf(request.epsilon):
        return None
    failures = 1 if request.update == "timed" else 2
    mistakes = _paper_bound(request).mistakes if request.update == "first" else bound_of(request)
    return Promise(mistakes, 1.0 - failures * request.beta, request.horizon, request.margin)


@lru_cache(maxsize=64)
def schedule_of(request: WinnowRequest) -> WinnowStream:
    """The stream that spends the request; a :class:`ValueError` says why there is none for it."""
    if math.isinf(request.epsilon):
        exact = replace(request, update="batch") if request.update == "timed" else request
        return _stream(exact, math.inf, 1, 10**6, 1, request.margin or EXACT_RATE)  # Lemma 4.2 at c = 0
    if request.update == "first":
        return paper_schedule(request)
    if request.update == "timed":
        return timed_schedule(request) if request.margin is None else theorem_schedule(request)
    return (
        usual_schedule(request) if request.margin is None and request.update == "batch" else theorem_schedule(request)
    )


def usual_schedule(request: WinnowRequest) -> WinnowStream:
    """The rule that simulations favour: few samples per update, as wrong ones are soon found out, and many updates.

    The numbers of updates and of samples grow with what the stream can bear, ``sqrt(horizon * epsilon)``, and the
    number of updates with the log of the number of weights. The learning rate per mistake is what the draws may cost;
    the threshold follows from it.
    """
    wealth = _wealth(request)
    size = min(max(math.log(max(request.n_weights, 2)) / math.log(USUAL_WEIGHTS), 0.5), 2.0)
    epochs = max(4, round(USUAL_EPOCHS * min(max(wealth, POOREST), RICHEST) * size))
    samples = _samples(wealth)
    threshold_epsilon = THRESHOLD_SHARE * request.epsilon
    draw_range = largest_range(request, threshold_epsilon, epochs * samples)
    spec = _stream(request, threshold_epsilon, 1, epochs, samples, draw_range / _score_range(request))
    threshold = math.ceil(max(STEP / spec.rate, NOISE_LEVELS / threshold_epsilon))
    return _stream(request, threshold_epsilon, threshold, epochs, samples, spec.rate)


def timed_schedule(request: WinnowRequest) -> WinnowStream:
    """Updates at public times, each a fifth later than the one before: all of epsilon is for draws.

    Rounds that are right by little count as well as mistakes, and the predictor is a sum of what was drawn, the latest
    heaviest. There are about ``log(T min(epsilon, 1) / 16) / log 1.2`` updates, few enough for a short stream.
    """
    times: list[int] = []
    due = FIRST_UPDATE / min(request.epsilon, 1.0)
    while due < request.horizon or not times:
        times.append(max(round(due), 1))
        due = max(due * NEXT_UPDATE, times[-1] + 1.0)
    samples = _samples(_wealth(request))
    draw_range = largest_range(request, 0.0, len(times) * samples)
    spec = _stream(request, 0.0, 1, len(times), samples, draw_range / _score_range(request))
    return replace(spec, times=tuple(times), unsure=UNSURE, decay=DECAY)


def _wealth(request: WinnowRequest) -> float:
    """What the stream can bear, next to the one that the usual numbers were found on."""
    return math.sqrt(request.horizon * request.epsilon / USUAL_BUDGET)


def _samples(wealth: float) -> int:
    return 2 * round(USUAL_SAMPLES * min(max(wealth, 0.5), 2.0) / 2.0 - 0.5) + 1


def theorem_schedule(request: WinnowRequest) -> WinnowStream:
    """Winnow with a mistake bound: :func:`bound_of` says what it promises."""
    return _theorem(request)[0]


def bound_of(request: WinnowRequest) -> float:
    """Mistakes of :func:`theorem_schedule` at most, on a target of the margin.

    With probability ``1 - 2 beta`` where mistakes decide when to update, ``1 - beta`` at public times.
    """
    return _theorem(request)[1]


def paper_schedule(request: WinnowRequest) -> WinnowStream:
    """Theorem 4.5, its fixed point solved; accounted for as one above-threshold and draws of range ``4 eta``.

    That costs less than the request, since the paper pays for every above-threshold.
    """
    bound = _paper_bound(request)
    return _stream(
        request, bound.threshold_epsilon, bound.threshold, bound.epochs, bound.n_samples, bound.learning_rate
    )


def _paper_bound(request: WinnowRequest) -> theory.WinnowBound:
    margin = 1.0 / 3.0 if request.margin is None else request.margin
    return theory.theorem_4_5(
        request.n_weights, margin, request.horizon, request.beta, min(request.epsilon, LARGEST_EPSILON), request.delta
    )


@lru_cache(maxsize=64)
def _theorem(request: WinnowRequest) -> tuple[WinnowStream, float]:
    if request.margin is None:
        raise ValueError("the schedule with a theorem needs a margin")
    if request.update == "every":
        return _every_theorem(request)
    theorem = _timed_theorem if request.update == "timed" else _batch_theorem
    return theorem(request, request.margin)


def _timed_theorem(request: WinnowRequest, margin: float) -> tuple[WinnowStream, float]:
    """Theorem 11: an update every ``n`` rounds, with ``n`` and the number of samples that promise the least."""
    unsure = UNSURE_OF_MARGIN * margin

    def rate_for(interval: int, draw_range: float) -> float:
        """What is paid for, or less where steps would be too long, or carried weights rounded too much."""
        most = margin / (2.0 * interval) if request.carried == 0 else margin / max(2.0 * interval, SHORTEST_INTERVAL)
        return min(draw_range / _score_range(request), most)

    def promised(interval: int, samples: int, draw_range: float) -> float:
        return theory.public_times_mistakes(
            request.potential, margin, request.comparisons, interval, samples, rate_for(interval, draw_range),
            request.beta, unsure,
        )  # fmt: skip

    interval, samples, draws = 1, 1, 1 << 14
    within: tuple[float, float] = (request.horizon, LONGEST_INTERVAL / margin**2)
    factor = COARSE
    for _ in range(2):  # ranges are scaled from those of so many draws, and then from about as many as there are
        range_of_draws, power = largest_range(request, 0.0, draws), 0.5 if request.delta > 0 else 1.0
        _, interval, samples = min(
            (promised(n, m, range_of_draws * (draws / (m * _updates(n, request.horizon))) ** power), n, m)
            for n in _grid(interval / within[0], min(interval * within[0], request.horizon), factor)
            for m in _grid(samples / within[1], samples * within[1], factor)
        )
        draws, within, factor = samples * _updates(interval, request.horizon), (COARSE, COARSE), FINE
    draw_range = largest_range(request, 0.0, draws)
    rate = rate_for(interval, draw_range)
    times = tuple(interval * (place + 1) for place in range(_updates(interval, request.horizon)))
    spec = _stream(request, 0.0, 1, len(times), samples, rate)
    return replace(spec, times=times, unsure=unsure, decay=0.0), promised(interval, samples, draw_range)


def _updates(interval: int, horizon: int) -> int:
    """Updates after every so many rounds, none after the last."""
    return max(math.ceil(horizon / interval) - 1, 1)


def _grid(first: float, last: float, factor: float) -> list[int]:
    """Whole numbers from 1 on, each by about a factor larger than the one before it."""
    first = max(first, 1.0)
    steps = math.ceil(math.log(max(last / first, 1.0)) / math.log(factor))
    return sorted({round(min(first * factor**step, max(last, first))) for step in range(steps + 1)})


def _batch_theorem(request: WinnowRequest, margin: float) -> tuple[WinnowStream, float]:
    """Half of epsilon for above-threshold; the smallest batch for which the other half pays for the draws."""
    threshold_epsilon = request.epsilon / 2.0
    noise = scales(threshold_epsilon, Queries.RUNNING_COUNT)
    confidence = 1.0 / 3.0
    most = theory.batch_updates(request.potential, margin, confidence) + 1  # above-thresholds, one after another
    slack = accuracy(noise, request.horizon, request.beta / most) + 1  # the round of the stop may add a mistake
    rate = (1.0 - confidence) * margin  # per update

    def planned(batch: int) -> tuple[int, int, int, float]:
        return theory.batch_theorem(
            request.potential, margin, batch, slack, request.comparisons, request.beta, confidence
        )

    def is_paid_for(batch: int) -> bool:
        """True from some batch on: larger ones have fewer updates, and a mistake moves weights by less."""
        epochs, samples, _, _ = planned(batch)
        return largest_range(request, threshold_epsilon, epochs * samples) / _score_range(request) * batch >= rate

    too_small, batch = 4 * slack - 1, 4 * slack
    while not is_paid_for(batch):
        too_small, batch = batch, 2 * batch
    while batch - too_small > 1:
        middle = (too_small + batch) // 2
        too_small, batch = (too_small, middle) if is_paid_for(middle) else (middle, batch)
    epochs, samples, threshold, mistakes = planned(batch)
    stream = _stream(request, threshold_epsilon, threshold, epochs, samples, rate / batch)
    return stream, mistakes


def _every_theorem(request: WinnowRequest) -> tuple[WinnowStream, float]:
    """Theorem 12: half of epsilon for above-threshold, the other for one draw after as many mistakes as tell it apart.

    So many that a coordinate which made them, less those that noise may hide, loses the factor ``exp(-drop)``.
    """
    threshold_epsilon = request.epsilon / 2.0
    noise = scales(threshold_epsilon, Queries.RUNNING_COUNT)

    def planned(drop: float) -> tuple[float, WinnowStream]:
        draws = theory.drawn_updates(request.potential, drop, request.beta)
        rate = largest_range(request, threshold_epsilon, draws) / _score_range(request)
        rate = rate if request.carried == 0 else min(rate, math.log(CARRIED_WEIGHTS))  # scores are rounded
        hidden = accuracy(noise, request.horizon, request.beta / (draws + 1))
        threshold = math.ceil(drop / (2.0 * rate)) + hidden
        stream = _stream(request, threshold_epsilon, threshold, draws, 1, rate)
        return (draws + 1) * (threshold + hidden + 1.0), stream

    mistakes, stream = min((planned(drop) for drop in DROPS), key=lambda plan: plan[0])
    return stream, mistakes


@lru_cache(maxsize=256)
def _largest_range(epsilon: float, delta: float, threshold_epsilon: float, draws: int) -> float:
    if delta == 0:
        return (epsilon - threshold_epsilon) / draws

    def charges_at(noise: float) -> tuple[Charge, ...]:
        return Pure(threshold_epsilon), draws_charge(1.0 / noise, draws)

    start = 3.0 * math.sqrt(draws) / epsilon
    return 1.0 / calibrate(charges_at, epsilon, delta, start=start, tolerance=TOLERANCE)


def largest_range(request: WinnowRequest, threshold_epsilon: float, draws: int) -> float:
    """The largest range per draw that is paid for, beside one above-threshold."""
    return _largest_range(request.epsilon, request.delta, threshold_epsilon, draws)


def _score_range(request: WinnowRequest) -> int:
    return _stream(request, 1.0, 1, 1, 1, 1.0).score_range


def _stream(
    request: WinnowRequest, threshold_epsilon: float, threshold: int, epochs: int, samples: int, rate: float
) -> WinnowStream:
    """The stream at a learning rate per unit of the scores."""
    spec = WinnowStream(
        request.dimension,
        request.signed,
        request.update,
        request.neighbouring,
        threshold_epsilon,
        threshold,
        epochs,
        samples,
        1.0,
        request.horizon,
        request.classes,
        times=tuple(range(1, epochs + 1)) if request.update == "timed" else (),
        decay=DECAY if request.update == "timed" else 0.0,
    )
    return replace(spec, draw_range=rate * spec.score_range)
