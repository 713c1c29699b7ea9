"""Winnow in theory: updates, samples and mistakes of the confident and of the private algorithm.

Source: Bun, Fang, "Privately learning decision lists and a differentially private Winnow", by its numbers, with ``c =
1/2`` as the confidence unless said otherwise; logarithms are natural. The statements marked *ours* are proven in
``docs/theory/winnow.md``. A target is a weight vector ``v >= 0`` with ``sum(v) = 1`` and ``y <v, x> >= margin`` in
every round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tacit.theory.checks import check_positive, check_probability

CONFIDENCES = tuple(place / 40.0 for place in range(2, 29))
"""Of the proof of Theorem 11, which is right for each: the least of what they promise is promised."""


def confident_updates(dimension: int, learning_rate: float, margin: float, confidence: float = 0.5) -> float:
    """Lemma 4.2: ConfidentWinnow makes at most ``log d / ((1 - c) eta rho - eta**2 / 2)`` updates.

    Nor does DP-Winnow make more, with enough samples (Lemma 4.7). Raises ``ValueError`` if the denominator is not
    positive: then the lemma promises nothing.
    """
    check_positive(dimension=dimension, margin=margin, learning_rate=learning_rate)
    gain = (1.0 - confidence) * learning_rate * margin - learning_rate**2 / 2.0
    if gain <= 0:
        raise ValueError(
            f"the learning rate {learning_rate} is too large for margin {margin}: it must be below "
            f"{2 * (1 - confidence) * margin:.4g}"
        )
    return math.log(dimension) / gain


def samples_for_agreement(margin: float, horizon: int, beta: float, confidence: float = 0.5) -> int:
    """Lemma 4.6: ``m = 2 / (c rho)**2 log(2 T / beta)`` samples of ``w`` agree with it on ``x`` up to ``beta / T``.

    For any ``x`` on which ``w`` is confident, ``|<w, x>| >= c rho``.
    """
    check_positive(margin=margin, horizon=horizon)
    check_probability(beta=beta)
    return math.ceil(2.0 / (confidence * margin) ** 2 * math.log(2.0 * horizon / beta))


def disagreement(n_samples: int, margin: float, confidence: float = 0.5) -> float:
    """Hoeffding: how likely ``m`` samples are to disagree on one such ``x`` (Lemma 4.6, from its proof)."""
    return min(1.0, 2.0 * math.exp(-n_samples * (confidence * margin) ** 2 / 2.0))


def theorem_4_4(epsilon: float, delta: float, epochs: int, n_samples: int) -> tuple[float, float]:
    """Theorem 4.4: ``(eps_hat, eta)`` that make DP-Winnow ``(epsilon, delta)``-private, for epsilon below 1.

    ``eps_hat = epsilon / (4 sqrt(2 K log(2/delta)))`` for each above-threshold and ``eta = epsilon / (8 sqrt(2 m K
    log(2/delta)))``. The proof counts ``2 eta`` per sample; replacing the row that drives an update moves log-weights
    by up to ``2 eta`` each, apart by ``4 eta``. The statement survives, because the K above-thresholds cost one
    together. Raises ``ValueError`` for an epsilon of 1 or more.
    """
    check_positive(epsilon=epsilon, epochs=epochs, n_samples=n_samples)
    check_probability(delta=delta)
    if epsilon >= 1:
        raise ValueError(f"Theorem 4.4 is about epsilon below 1, got {epsilon}")
    log = math.log(2.0 / delta)
    return epsilon / (4.0 * math.sqrt(2.0 * epochs * log)), epsilon / (8.0 * math.sqrt(2.0 * n_samples * epochs * log))


@dataclass(frozen=True)
class WinnowBound:
    """A schedule with a promise."""

    epochs: int  # updates `K` at most
    n_samples: int  # samples `m` per update
    learning_rate: float  # `eta` per update
    threshold: int  # mistakes `L` at which an epoch is to end
    threshold_epsilon: float  # privacy parameter of above-threshold
    mistakes: float  # at most so many, with probability `1 - 2 beta`


def theorem_4_5(
    dimension: int, margin: float, horizon: int, beta: float, epsilon: float, delta: float, confidence: float = 0.5
) -> WinnowBound:
    """Theorem 4.5: the schedule of DP-Winnow (``update="first"``) and its mistakes.

    As printed, ``K`` is defined by ``eta`` and ``eta`` by ``K``, the log in ``eta`` is not that of Theorem 4.4, and
    ``m`` lacks the ``1 / c**2`` of its proof. Its union (Lemma 4.7) is over rounds, and must be over pairs of a
    predictor and a round: which predictor is in use depends on how well it did. Here ``m = 2 log(2 P T / beta) / (c
    rho)**2`` for ``P = min(K + 1, T)`` predictors, ``eta = a / sqrt(K)`` with the ``a`` of Theorem 4.4, and ``K``
    solves ``K ((1 - c) eta rho - eta**2 / 2) = log d``: a quadratic in ``sqrt(K)``, solved again until ``P`` is what
    ``m`` took it for. Then ``L = 8 log(2 T**2 / beta) / eps_hat``, and an epoch costs at most ``2 L`` mistakes (Lemma
    4.3).
    """
    predictors, epochs = 0, 1
    while predictors < min(epochs + 1, horizon):  # more predictors take more samples, and those more updates
        predictors = min(epochs + 1, horizon)
        n_samples = samples_for_agreement(margin, horizon * predictors, beta, confidence)
        _, scale = theorem_4_4(epsilon, delta, 1, n_samples)
        root = (math.log(dimension) + scale**2 / 2.0) / ((1.0 - confidence) * margin * scale)
        epochs = max(1, math.ceil(root**2))
    threshold_epsilon, learning_rate = theorem_4_4(epsilon, delta, epochs, n_samples)
    threshold = math.ceil(8.0 * math.log(2.0 * horizon**2 / beta) / threshold_epsilon)
    return WinnowBound(epochs, n_samples, learning_rate, threshold, threshold_epsilon, 2.0 * threshold * (epochs + 1))


def batch_updates(dimension: int, margin: float, confidence: float = 1.0 / 3.0, least_share: float = 0.5) -> int:
    """*Ours*: updates of batch Winnow at ``eta = (1 - c) rho`` if every batch has ``share * B .. B`` mistakes.

    An update whose batch has ``r B`` mistakes lowers the potential by ``((1 - c) rho)**2 r (1 - r / 2)``, which grows
    with ``r`` up to 1.
    """
    gain = ((1.0 - confidence) * margin) ** 2 * least_share * (1.0 - least_share / 2.0)
    return max(1, math.ceil(math.log(dimension) / gain))


def batch_samples(margin: float, epochs: int, horizon: int, beta: float, confidence: float = 1.0 / 3.0) -> int:
    """*Ours*: samples with which no confident prediction of any of ``K + 1`` weight vectors is lost in ``T`` rounds.

    One-sided Hoeffding, ``exp(-m (c rho)**2 / 2)`` per vector and round; the union is over pairs of the two, as which
    vector is in use depends on how well it did.
    """
    return math.ceil(2.0 / (confidence * margin) ** 2 * math.log((epochs + 1.0) * horizon / beta))


def batch_theorem(
    dimension: int, margin: float, batch: int, slack: int, horizon: int, beta: float, confidence: float = 1.0 / 3.0
) -> tuple[int, int, int, float]:
    """*Ours*: ``(K, m, L, mistakes)`` of batch Winnow with batches of ``B`` mistakes, ``eta = (1 - c) rho``.

    ``batch`` is ``B``, large enough that the privacy budget pays for ``m K`` samples of range ``2 eta / B``
    (add/remove) or ``4 eta / B`` (replace); above-threshold errs by at most ``slack`` mistakes with probability ``1 -
    beta``; the whole fails with at most ``2 beta``. Raises ``ValueError`` if the batch is below four times the slack.
    """
    if batch < 4 * slack:
        raise ValueError(f"a batch of {batch} is below four times the slack {slack} of above-threshold")
    threshold = batch - slack
    epochs = batch_updates(dimension, margin, confidence, (threshold - slack) / batch)
    samples = batch_samples(margin, epochs, horizon, beta, confidence)
    return epochs, samples, threshold, float((epochs + 1) * batch)


def drawn_updates(dimension: int, drop: float, beta: float) -> int:
    """*Ours*, Theorem 12: with probability ``1 - beta`` fewer draws than this are found wrong.

    Each coordinate that errs as soon as the one that was drawn loses the factor ``exp(-drop)``: half of all weight in
    the mean, so that a draw takes the total down to ``(1 + exp(-drop)) / 2`` of it. That of the target stays.
    """
    check_positive(dimension=dimension, drop=drop)
    check_probability(beta=beta)
    return math.ceil(math.log(dimension / beta) / math.log(2.0 / (1.0 + math.exp(-drop))))


def public_times_mistakes(
    n_weights: int,
    margin: float,
    comparisons: int,
    interval: int,
    n_samples: int,
    rate: float,
    beta: float,
    unsure: float = 0.0,
) -> float:
    """*Ours* (Theorem 11): mistakes of Winnow that updates every ``n`` rounds, with probability ``1 - beta``.

    ``(log d / gamma + (e - 1) T kappa + n log(1 / beta)) / ((1 - c) rho - theta - gamma n / 2)``, ``kappa = c rho
    exp(-a) / (2 e a)``, ``a = m (c rho)**2 / 2``, at the best ``c`` of a grid: the learner does not know it; ``inf``
    where nothing is proved. ``comparisons`` are the rounds ``T``, times the rivals of a class, ``interval`` is ``n``,
    ``n_samples`` the draws ``m`` at each update, ``rate`` is ``gamma`` per round that counts, and a round counts if it
    is right by less than the share ``theta = unsure`` of the weights.
    """
    check_positive(margin=margin, interval=interval, n_samples=n_samples, rate=rate)
    check_probability(beta=beta)
    least = math.inf
    for confidence in CONFIDENCES:
        gain = (1.0 - confidence) * margin - unsure - rate * interval / 2.0
        exponent = n_samples * (confidence * margin) ** 2 / 2.0
        if gain > 0:
            excess = comparisons * confidence * margin * math.exp(-exponent) / (2.0 * math.e * exponent)
            regret = math.log(n_weights) / rate + (math.e - 1.0) * excess + interval * math.log(1.0 / beta)
            least = min(least, regret / gain)
    return least


# Decision lists as halfspaces (Lemma 4.10).


def list_weights(bits: Sequence[int]) -> list[float]:
    """Weights of a halfspace that computes a monotone decision list, one per rule and last the constant's, ``w_0``.

    "if x1 then bits[0], else if ... else bits[-1]", each bit -1 or 1: ``sign(sum_i w_i [x_i true] + w_0) = list(x)``
    and ``|...| >= 1``. Rules of one block of equal bits share a size; it outweighs all later rules of the other sign.
    Raises ``ValueError`` for no bits, or other ones.
    """
    if not bits or any(bit not in (-1, 1) for bit in bits):
        raise ValueError(f"bits must be -1 or 1, and at least one, got {list(bits)}")
    default = bits[-1]
    weights = [0.0] * (len(bits) - 1) + [float(default)]
    later = {default: 1.0, -default: 0.0}  # what rules further down, and the default, can sum up to, per sign
    size = 0.0
    for place in reversed(range(len(bits) - 1)):
        bit = bits[place]
        if bit != bits[place + 1]:  # a new block; it may count on the default where that is on its side
            size = later[-bit] + (0.0 if bit == default else 1.0)
        weights[place] = bit * size
        later[bit] += size
    return weights


def list_margin(bits: Sequence[int]) -> float:
    """The margin of that halfspace on points of ``{-1, 1}**d`` (true is 1) with a constant coordinate, L1-normalised.

    ``[x true] = (1 + x) / 2`` splits a weight between its variable and the constant. This is ``Omega(1 / r**D)`` for a
    list of length r with D alternations (Lemma 4.10).
    """
    weights = list_weights(bits)
    constant = weights[-1] + sum(weights[:-1]) / 2.0
    return 1.0 / (sum(abs(w) for w in weights[:-1]) / 2.0 + abs(constant))


def lemma_4_10(length: int, alternations: int) -> float:
    """A margin that every monotone list of ``r`` rules (the default is one) with ``D`` alternations has: Omega(1/r**D).

    ``1 / (2 (1 + (r - 1) / D)**D)``, and 1 without alternations. Proof: let ``a`` be the sum of all sizes so far, from
    the default up. A rule of the next block has size at most ``a + 1``, so a block of ``n`` rules multiplies ``a + 1``
    by at most ``1 + n``; it begins at 2, and the product is largest for equal blocks. The L1 norm is at most ``a``.
    Raises ``ValueError`` for more alternations than the list can have.
    """
    if not 0 <= alternations < length:
        raise ValueError(f"a list of {length} rules has 0 to {length - 1} alternations, got {alternations}")
    if alternations == 0:
        return 1.0
    return 1.0 / (2.0 * (1.0 + (length - 1) / alternations) ** alternations)


def theorem_4_11(
    dimension: int, length: int, alternations: int, horizon: int, beta: float, epsilon: float, delta: float
) -> WinnowBound:
    """Theorem 4.11: DP-Winnow on monotone 1-decision lists over ``d`` variables.

    Theorem 4.5 at the margin of Lemma 4.10, with ``2 (d + 1)`` weights: a constant, and every sign.
    """
    margin = lemma_4_10(length, alternations)
    return theorem_4_5(2 * (dimension + 1), margin, horizon, beta, epsilon, delta)
