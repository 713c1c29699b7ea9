"""Lazy Bregman boosting of halfspaces where the noise of the rounds averages out, with constants.

The theorem, its proof and what integers cost are in docs/theory/lazy_bregman.md. ``m`` is the least length of a centre,
``sigma`` the noise of one coordinate of it, ``Lambda = ln(1 / kappa) + ln(1 / beta)``; lengths are those of rows in the
unit ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.theory.checks import check_probability, require

LEVELS = 1 << 16  # levels of the weights of a run that a theorem is about
BITS = 14  # A weight of 1 has `2**BITS` units there
REACH = float(1 << 14)  # how far margins go there, in units of the margin: the levels are then half a unit wide
DEVIATIONS = 9.0  # standard deviations of noise that the score of no row leaves: at most `2 n exp(-40.5)` of all runs
MOST_ROWS = 2.0  # up to so many times the declared number of rows, the rounding of weights is what is counted here


def shortest_centre(margin: float, share: float) -> float:
    """Length of a centre whose measure gives at most ``share`` to rows that violate the margin: ``tau (1 - q) - q``."""
    return margin * (1 - share) - share


def averaged_rounds(potential: float, shortest: float, sigma: float, slack: float = 0.0) -> int:
    """``T = 2 (m^2 + sigma^2) Lambda / (m (m - slack))^2``, rounded up.

    Without slack, for ``sigma = s m`` and ``gamma = m / 2``: ``(1 + s^2) Lambda / (2 gamma^2)``. ``slack`` is what
    rounding and a margin take from the shortest centre ``m``; ``potential`` is ``Lambda``.
    """
    require(0 <= slack < shortest, f"the slack must lie in [0, {shortest:g}), got {slack:g}")
    return math.ceil(2 * (shortest**2 + sigma**2) * potential / (shortest * (shortest - slack)) ** 2)


def averaged_step(shortest: float, sigma: float, slack: float = 0.0) -> float:
    """``eta = m (m - slack) / (m^2 + sigma^2)``: log-weight per unit of margin under the sum of the noisy centres."""
    return shortest * (shortest - slack) / (shortest**2 + sigma**2)


def rounding_slack(step: float, rounds: int, sigma: float, density: float) -> float:
    """How far, in total variation times 2, the integer weights are from the real ones in any round.

    Scores are rounded to levels, by half a level at most; every round truncates twice in units of ``2**-16``; weights
    are whole units, and time runs in ticks of ``2**-14``.
    """
    reach = step * (rounds + DEVIATIONS * sigma * math.sqrt(rounds))
    scores = reach / LEVELS + rounds * 2.0**-16 * reach / REACH + 2.0**-15
    ticks = 2.0**-14
    units = MOST_ROWS / density * 2.0**-BITS
    return 2 * math.tanh(scores) + 2 * (units + (1 + units) * math.expm1(ticks))


@dataclass(frozen=True)
class AveragedRun:
    """A run that keeps the theorem's promise in integers."""

    density: float  # kappa
    rounds: int  # T
    sigma: float  # noise per coordinate of a centre, at most
    divisor: float  # what centres are divided by, so that margins fit the levels
    learning_rate: float  # lambda, for hypotheses so divided: log-weights are `lambda / 2` times their margins
    # what all but kappa n rows have at least, over the lengths of all exact centres; 0 for the signs alone
    margin: float = 0.0


def averaged_run(
    density: float, failure: float, shortest: float, ratio: float = 2.0, margin: float = 0.0, exact: bool = False
) -> AveragedRun:
    """Rounds, rate and noise for all but kappa n rows on their side, or with a margin, with probability 1 - failure.

    ``ratio`` is ``sigma / m``, ``m`` the shortest centre: much noise takes many rounds, little takes many rows.
    ``margin`` is a share of ``m``, over the lengths of all exact centres together; 0 for signs. ``exact``: weights are
    real numbers, as on no computer. Raises ``ValueError`` where the levels are too coarse for so short a centre.
    """
    check_probability(kappa=density, beta=failure, shortest=shortest)
    potential, sigma, slack = math.log(1 / density) + math.log(1 / failure), ratio * shortest, margin * shortest
    rounds, step, rounding = 0, 0.0, 0.0
    for _ in range(100):  # more rounds reach further, and levels are wider: rises until nothing moves
        if slack + rounding >= 0.9 * shortest:
            raise ValueError(f"centres of length {shortest:.3g} are too short for {LEVELS} levels of weights")
        more = averaged_rounds(potential, shortest, sigma, slack + rounding)
        if more == rounds:
            break
        rounds, step = more, averaged_step(shortest, sigma, slack + rounding)
        rounding = 0.0 if exact else max(rounding, rounding_slack(step, rounds, sigma, density))
    divisor = (rounds + DEVIATIONS * sigma * math.sqrt(rounds)) / REACH
    return AveragedRun(density, rounds, sigma, divisor, 2 * step * divisor, slack)


def noise_spread(run: AveragedRun, shortest: float, dimension: int, failure: float) -> float:
    """How long the sum of all noise is over the lengths of all exact centres, but for probability ``failure``.

    ``sigma (sqrt(d) + sqrt(2 ln(1 / failure))) / (m sqrt(T))``: a sub-Gaussian vector of deviation sigma is longer than
    ``sigma (sqrt(d) + sqrt(2 t))`` with probability at most ``exp(-t)`` (Hsu, Kakade, Zhang 2012).
    """
    length = math.sqrt(dimension) + math.sqrt(2 * math.log(1 / failure))
    return run.sigma * length / (shortest * math.sqrt(run.rounds))
