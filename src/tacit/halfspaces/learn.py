"""The strong halfspace learner: boosting with centering (Algorithm 4 and its kin), on measurements alone.

Boosting starts where one centre ends, if many rows lie far on the wrong side of the first centre. Noise in the rounds
makes rows wrong that lie near the boundary: it is normal, and about as large as the scores where it decides, so that
few are wrong by two typical scores. Rows that are, no mean of rows can get right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.boosting.measures import DENSE_WEIGHT_UNIT, LazyBregman
from tacit.boosting.schema import Ensemble, Stop, boost, iterate
from tacit.boosting.stopping import EndTest
from tacit.curator.budget import Budget
from tacit.curator.curator import Curator
from tacit.halfspaces.calibration import DEFAULT, BaseRate, Calibration, calibrate, count_rows, prior_of, spread_of
from tacit.halfspaces.centering import Centering, Centre, DenseEmbedding
from tacit.halfspaces.plan import Options
from tacit.halfspaces.scaling import Scaling, measure_scaling
from tacit.halfspaces.tuning import Tuning
from tacit.models.evidence import CountedErrors
from tacit.privacy.charges import Charge, Gaussian, Laplace
from tacit.privacy.label import Label, Stage
from tacit.queries.dense.halfspace_log import VECTOR_NORM, HalfspaceLog, Levels, MarginCounts, MeasureSize
from tacit.theory.averaged_noise import DEVIATIONS
from tacit.theory.certified_error import CODE

REACH, LEVELS = 4.0, 16  # not tuned: scores are told apart up to four typical ones, on levels of half of one


def is_long(first: Centre, scaling: Scaling, tuning: Tuning) -> bool:
    """Whether the first centre is longer, by the scaling, than any mean of signed rows that the scaling is right about.

    ``E[y x]^T A^-1 E[y x] <= 1`` where ``A = E[x x^T]``, so more says that most rows lie along one direction.
    """
    scores = spread_of(first.direction, scaling, 0.0).width ** 2
    noise = (scaling.noise_spread(False) * first.noise_sd) ** 2
    return first.divisor**2 * (scores - 2 * noise) > tuning.long_centre


def many_far_rows(
    budget: Budget, radius: int, share: float, hypotheses: Sequence[Centre], scaling: Scaling, rows: float,
    tuning: Tuning,
) -> bool:  # fmt: skip
    """Releases how many rows are wrong by ``tuning.far_scores`` typical scores, and compares it with the noise.

    One count, of sensitivity 1. ``rows`` is their released number, ``radius`` the integer length of a row of norm 1.
    """
    direction = hypotheses[0].direction
    log, levels = HalfspaceLog(len(direction), radius), Levels.covering(1.0, LEVELS)
    log.add(direction / (REACH * spread_of(direction, scaling, 0.0).width))
    table = np.where(levels.middles * REACH < -tuning.far_scores, DENSE_WEIGHT_UNIT, 0)
    query = MeasureSize(log, levels, table, DENSE_WEIGHT_UNIT)
    release = budget.measure(query, share, Label(Stage.ROUND, "rows far on the wrong side of the first centre"))
    return bool(release.value[0] > tuning.far_rows * rows + tuning.far_deviations * release.sd)


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned halfspace; released."""

    weights: Floats  # shape `(d,)`, over rows of norm at most 1
    noise_sd: Floats  # standard deviations of the noise in the weights, shape `(d,)`
    calibration: Calibration  # scores to log-odds
    n_rows: float  # the released number of rows
    ensemble: Ensemble[Centre]  # the hypotheses whose average (or sum of gradient steps) the weights are
    errors: CountedErrors | None = None  # its errors on its own rows, where they were counted


def learn_halfspace(budget: Budget, radius: int, options: Options) -> Learned:
    """Count, scale, boost, calibrate: everything but the releases is post-processing.

    ``radius`` is the integer length of a row of norm 1.
    """
    width = budget.layout.n_dense
    base_rate = count_rows(budget, options)
    n_rows = base_rate.rows
    signal = signal_of(n_rows, budget.sd(), width)
    shares = options.shares_for(signal, width)
    if budget.is_pure and "far" in shares:  # every round divides epsilon itself, and one alone would be an eighth
        shares["rounds"] += shares.pop("far")
    scaling = Scaling.none(width)
    if options.scaling:
        half = budget.charge(shares["scaling"] / 2)
        longest = options.longest_squares(width, signal)
        scaling = measure_scaling(budget.curator, radius, n_rows, (half, half), longest, options.tuning)

    run = chosen(budget, radius, base_rate, shares, scaling, options)
    ensemble, weights, noise_sd = run.ensemble, run.weights, run.noise_sd * run.scaling.noise_profile
    if not options.calibrate:
        calibration = Calibration(1.0, 0.0) if run.descends else DEFAULT
        return Learned(weights, noise_sd, calibration, n_rows, ensemble)
    spread = spread_of(weights, scaling, options.constant)
    believed = prior_of(
        spread, run.noise_sd * run.scaling.noise_spread(options.constant != 0), base_rate, options.tuning
    )
    if "calibration" not in shares:
        slope = max(believed.slope, 1.0 / options.tuning.most_slope)  # never 0, so that scores keep their sign
        return Learned(weights, noise_sd, Calibration(slope / spread.width, 0.0), n_rows, ensemble)
    charge = budget.charge(shares["calibration"])
    calibration = calibrate(budget.curator, weights, radius, spread, charge, options.constant, believed, options.tuning)
    plain = plain_halfspace(weights, calibration, scaling, options)
    errors = count_errors(budget.curator, plain, radius, budget.charge(shares["errors"]))
    noise_sd = noise_sd * (calibration.slope / plain.calibration.slope)  # in the units of the plain weights
    return Learned(plain.weights, noise_sd, plain.calibration, n_rows, ensemble, errors)


@dataclass(frozen=True, eq=False)
class Run:
    """Hypotheses, where they lead and with how much noise per coordinate, and the scaling they were learned with.

    ``descends``: whether they are gradient steps.
    """

    ensemble: Ensemble[Centre]
    weights: Floats
    noise_sd: float
    descends: bool
    scaling: Scaling


def chosen(
    budget: Budget, radius: int, base_rate: BaseRate, shares: dict[str, float], scaling: Scaling, options: Options
) -> Run:
    """The rounds under the measure asked for, or that of the rule.

    The rule asks, after one round, how many rows are far on the wrong side. Where they are many, the logistic measure
    takes the rest of the budget; if not, the rounds go on.
    """
    width = budget.layout.n_dense
    name = options.measure_for(signal_of(base_rate.rows, budget.sd(shares["rounds"]), width))
    if "far" not in shares:
        rounds = options.rounds_for(name, width, budget.is_pure)
        return boosted(budget, radius, base_rate, shares, scaling, replace(options, measure=name, rounds=rounds))
    numbers = options.tuning
    rounds = options.rounds_for("smooth", width, False)
    smooth = replace(options, measure="smooth", rounds=rounds)
    rest = {**shares, "rounds": shares["rounds"] * (1 - 1 / rounds)}
    far: list[bool] = []

    def ask(hypotheses: Sequence[Centre]) -> int:
        """How many rounds there are to be: as many as what the count took leaves, or the first alone."""
        long, sd, share, tuning = is_long(hypotheses[0], scaling, numbers), budget.sd(), shares["far"], numbers
        if long:
            share = options.far_share(base_rate.rows / sd if sd else math.inf, long)
            tuning = replace(numbers, far_scores=numbers.long_scores, far_deviations=numbers.long_deviations)
        rest["rounds"] -= share - shares["far"]
        far.append(many_far_rows(budget, radius, share, hypotheses, scaling, base_rate.rows, tuning))
        return 1 if far[0] or name != "smooth" else 1 + int(rest["rounds"] * rounds / shares["rounds"] + 1e-9)

    first = boosted(budget, radius, base_rate, shares, scaling, smooth, ask)
    if far[0]:
        least = numbers.far_rounds_from * budget.sd()
        more = numbers.rounds if base_rate.rows < least else numbers.far_rounds
        if base_rate.rows >= 10 * least:
            more = numbers.most_far_rounds
        logistic = replace(options, measure="logistic", rounds=more, scaling=False)
        return boosted(budget, radius, base_rate, rest, Scaling.none(width), logistic)
    if name == "smooth":
        return first
    logistic = replace(options, measure="logistic", rounds=options.rounds_for("logistic", width, False))
    return boosted(budget, radius, base_rate, rest, scaling, logistic)


def boosted(
    budget: Budget, radius: int, base_rate: BaseRate, shares: dict[str, float], scaling: Scaling, options: Options,
    after_one: Callable[[Sequence[Centre]], int] | None = None,
) -> Run:  # fmt: skip
    """The rounds of a measure that was chosen; ``after_one`` is asked after the first how many there are to be."""
    width, n_rows, rounds, name = budget.layout.n_dense, base_rate.rows, options.rounds, options.measure
    assert rounds is not None
    measure = options.make_measure(name, n_rows)
    descent = options.descent(width, rounds) if name == "logistic" else None
    log = HalfspaceLog(width, radius)
    embedding = DenseEmbedding(log, clips=not options.divisor)
    charge = round_charge(budget, shares["rounds"] / rounds, options)
    start = options.start(measure, base_rate.log_odds)
    if start:
        log.add(constant_direction(width, math.copysign(1.0 / options.constant, start)), abs(start))
    reach = measure.step * rounds + abs(start)
    if isinstance(measure, LazyBregman) and measure.fine:
        sigma = 2 * getattr(charge, "noise_multiplier", 0.0) / measure.rows_at_cap
        reach = (rounds + DEVIATIONS * sigma * math.sqrt(rounds)) / options.divisor
    learner = Centering(
        embedding, charge, n_rows, reach, scaling, descent,
        even_steps=name == "smooth", divisor=options.divisor, tuning=options.tuning,
    )  # fmt: skip
    stop: Stop | None = None
    if options.stop_density is not None:
        test = budget.charge(shares["stopping"] / rounds)
        stop = EndTest(log, max(1.0, options.stop_density * n_rows), test, reach)
    if after_one is None:
        ensemble = boost(budget.curator, embedding, measure, learner, rounds, stop)
    else:
        hypotheses: list[Centre] = []
        iterate(budget.curator, embedding, measure, learner, hypotheses)
        fewer = after_one(hypotheses)
        while len(hypotheses) < fewer:
            iterate(budget.curator, embedding, measure, learner, hypotheses)
        ensemble = Ensemble(tuple(hypotheses), fewer == 1)
    if descent is None:
        weights, noise_sd = average(ensemble, width)
        start /= max(1, len(ensemble.hypotheses))
    else:
        weights, noise_sd = sum_of_steps(ensemble, width, measure.step, descent.momentum)
    if start:
        weights = weights + constant_direction(width, start / options.constant)
    return Run(ensemble, weights, noise_sd, descent is not None, scaling)


def signal_of(n_rows: float, noise: float, width: int) -> float:
    """Rows per unit of noise and root of dimension; inf without noise."""
    return n_rows / (noise * math.sqrt(width)) if noise else math.inf


def constant_direction(width: int, weight: float) -> Floats:
    """A vector of this weight for the constant coordinate, which comes last, and of none for the others."""
    direction = np.zeros(width)
    direction[-1] = weight
    return direction


def round_charge(budget: Budget, share: float, options: Options) -> Charge:
    """The charge of one round. ``analysis="paper"`` takes Theorem 22's constant, 4 for 2: twice the noise."""
    charge = budget.charge(share)
    if options.analysis == "paper" and isinstance(charge, Gaussian):
        return Gaussian(2 * charge.noise_multiplier)
    if options.analysis == "paper" and isinstance(charge, Laplace):
        return Laplace(2 * charge.noise_multiplier)
    return charge


def average(ensemble: Ensemble[Centre], width: int) -> tuple[Floats, float]:
    """The average of the hypotheses' vectors, unclipped: a proper halfspace; and its noise per coordinate."""
    hypotheses = ensemble.hypotheses
    if not hypotheses:
        return np.zeros(width), 0.0
    each = 1 / len(hypotheses)
    weights: Floats = each * np.sum([h.direction for h in hypotheses], axis=0)
    return weights, each * math.sqrt(math.fsum(h.noise_sd**2 for h in hypotheses))


def sum_of_steps(ensemble: Ensemble[Centre], width: int, step: float, momentum: float) -> tuple[Floats, float]:
    """Where gradient steps with momentum lead, and its noise per coordinate: a gradient moves all later steps too."""
    hypotheses = ensemble.hypotheses
    if not hypotheses:
        return np.zeros(width), 0.0
    weights: Floats = step * np.sum([h.direction for h in hypotheses], axis=0)
    to_go = len(hypotheses) - np.arange(len(hypotheses))
    moved = (1 - momentum**to_go) / (1 - momentum) + momentum**to_go
    noise = step * np.array([h.noise_sd for h in hypotheses]) * moved
    return weights, float(np.sqrt(noise @ noise))


def rounded(weights: Floats, squares: Floats, mean: Floats, constant: float, price: float) -> Ints:
    """Rounds weights to integers in proportion, less what rows do not tell, that ``CODE`` says in few nats.

    Every weight takes the number of digits that is cheapest: ``price`` nats per unit of variance that the change of it
    gives to scores, in units of the variance that they have, and the nats of its shape and digits, in four passes, the
    first with shapes of equal probability. The weight of the last coordinate, whose value is ``constant`` (0 for none),
    takes in what the change of the others does to the mean score. ``squares`` are variances of coordinates (of the
    constant one, its square), ``mean`` their means. Integers have a length of at most ``VECTOR_NORM``, and are all 0
    only for weights of 0.
    """
    length = float(np.linalg.norm(weights))
    if length == 0:
        return np.zeros(len(weights), np.int64)
    scaled = weights * (VECTOR_NORM / 2 / length)
    free = slice(None, -1) if constant else slice(None)
    spread = float(squares[free] @ scaled[free] ** 2) or 1.0
    choices = np.stack([_with_digits(scaled, digits) for digits in range(CODE.digits + 1)])
    costs = price * squares / spread * (choices - scaled) ** 2
    nats = np.full(CODE.n_shapes, math.log(CODE.n_shapes))
    for _ in range(4):
        shapes = CODE.shapes(choices)
        cheapest = np.argmin(costs + nats[shapes] + CODE.tail_nats(shapes), axis=0)
        integers: Ints = choices[cheapest, np.arange(len(weights))].astype(np.int64)
        frequencies = np.bincount(CODE.shapes(integers), minlength=CODE.n_shapes) + CODE.concentration
        nats = -np.log(frequencies / frequencies.sum())
    if constant:
        moved = float(mean[:-1] @ (scaled[:-1] - integers[:-1])) / constant
        integers[-1] = int(_with_digits(np.array([scaled[-1] + moved]), CODE.digits)[0])
    if not integers.any():
        most = int(np.argmax(np.abs(scaled)))
        integers[most] = int(_with_digits(scaled[most : most + 1], 1)[0])
    return integers


def _with_digits(values: Floats, digits: int) -> Floats:
    """Rounded to so many binary digits, and to integers below ``2**15``; 0 for none."""
    if digits == 0:
        return np.zeros(len(values))
    _, exponents = np.frexp(values)
    steps = np.exp2(np.maximum(exponents - digits, 0))
    most = 2.0 ** (CODE.places - 1)
    nearest: Floats = np.clip(np.rint(values / steps) * steps, -most, most)
    return nearest


@dataclass(frozen=True, eq=False)
class Plain:
    """A halfspace through 0 of few digits, and its scores to log-odds, which cross one half where the score is 0.

    Integers are multiplied by a power of 2, so that the sign of a product with a row is exact.
    """

    integers: Ints
    unit: float
    calibration: Calibration

    @property
    def weights(self) -> Floats:
        """Shape ``(d,)``, over rows of norm at most 1."""
        return self.integers * np.float64(self.unit)


def plain_halfspace(weights: Floats, calibration: Calibration, scaling: Scaling, options: Options) -> Plain:
    """The halfspace of few digits next to a learned one: its offset goes into the weight of the constant coordinate.

    Released moments of the rows (``scaling``) say which digits change no score, and are left out.
    """
    constant = options.constant
    squares, mean, weights = scaling.variances.copy(), scaling.mean, weights.copy()
    if constant:
        weights[-1] += calibration.offset / (calibration.slope * constant)
    else:
        squares += mean**2
    integers = rounded(weights, squares, mean, constant, options.tuning.rounding_price * len(weights))
    longest = float(np.linalg.norm(integers))
    if longest == 0:
        return Plain(integers, 1.0, Calibration(calibration.slope, 0.0))
    ratio = float(np.linalg.norm(weights)) / longest
    unit = 2.0 ** round(math.log2(ratio))
    return Plain(integers, unit, Calibration(calibration.slope * ratio / unit, 0.0))


def count_errors(curator: Curator, plain: Plain, radius: int, charge: Charge) -> CountedErrors:
    """Releases the rows by side and class.

    A row on the boundary is told the first class, as by the model: the other way round, it is on the side of margins
    that are not negative. ``radius`` is the integer length of a row of norm 1.
    """
    log = HalfspaceLog(len(plain.integers), radius)
    log.add_sign(-plain.integers)
    query = MarginCounts(log, Levels.covering(1.0, 2))
    release = curator.measure(query, charge, Label(Stage.CALIBRATION, "rows by side and class"))
    (told_1_is_0, told_1_is_1), (told_0_is_0, told_0_is_1) = release.value
    wrong, right = float(told_1_is_0 + told_0_is_1), float(told_1_is_1 + told_0_is_0)
    return CountedErrors(wrong, right, 2, 2, release.sd, CODE.log_halfspaces(plain.integers))
