"""Boosted private trees in theory: sensitivity of split scores, and when boosting is guaranteed.

Source of all statements: Nock, Henecka 2020, "Boosted and differentially private ensembles of decision trees", by
theorem number; each "sharp" function says how it differs and why it holds. A Bayes risk is a function ``L`` on [0, 1],
concave and symmetric, with ``L(0) = 0`` and ``L(1/2) = 1`` (:mod:`tacit.trees.losses` has them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats

Risk = Callable[[float], npt.ArrayLike]


def _value(risk: Risk, u: float) -> float:
    return float(np.asarray(risk(u)))


def m_alpha_inverse_link(alpha: float, z: npt.ArrayLike) -> Floats:
    """Theorem 8: the inverse canonical link of the M-alpha loss, shape as ``z``; 1/2 on ``|z| <= 2 (1 - alpha)``."""
    score = np.asarray(z, np.float64)
    beyond = np.maximum(0.5 * np.abs(score) - (1.0 - alpha), 0.0)
    step: Floats = beyond / np.hypot(alpha, beyond) if alpha > 0 else (beyond > 0).astype(np.float64)
    return 0.5 * (1.0 + np.sign(score) * step)


# Sensitivity of the unnormalised node risk ``w L(w1 / w)`` to one row of weight in (0, 1].


def paper_sensitivity(risk: Risk, rows: int) -> float:
    """Theorem 3: ``max(3, 1 + (m + 1) L(1 / (m + 1)))``, replace-one, at most ``m`` rows. Safe, not tight."""
    return max(3.0, 1.0 + (rows + 1) * _value(risk, 1.0 / (rows + 1)))


def paper_m_alpha_sensitivity(alpha: float, rows: int) -> float:
    """Corollary 7: ``3 + 2 alpha (sqrt(m) - 1)`` for the M-alpha loss."""
    return 3.0 + 2.0 * alpha * (math.sqrt(rows) - 1.0)


def node_risk_range(risk: Risk, rows: int) -> float:
    """Sharp: adding a row moves a node's risk by an amount in ``[0, n L(1/n)]``, ``n`` the rows after it.

    Proof: the risk is concave and homogeneous of degree 1, hence superadditive, so it does not fall; the increase is
    largest for a row of weight 1 whose class was absent (the paper's remark after Theorem 3 attains it). It is
    Matsushita ``2 sqrt(n - 1)``, 0/1 ``2``, Gini ``4 (n - 1) / n``. The same bound holds for any number of rows when
    each class weight is clipped at ``n - 1`` inside the risk.
    """
    return rows * _value(risk, 1.0 / rows) if rows >= 2 else 0.0


def perspective_slope(curvature: float, rows: int) -> float:
    """Lemma 4: by how much the sensitivity bound ``x L(1/x)`` grows per row at ``x = rows``: ``-L''(a) / (2 rows**2)``.

    ``curvature`` is ``-L''(a)`` at some ``a`` in ``[0, 1/rows]``: the larger the weight of a loss near 0, the dearer it
    is to make private. The paper's Eq. 9 leaves out the factor 1/2 of Taylor's formula.
    """
    return curvature / (2.0 * rows**2)


# When a tree boosts (section 5).


def edge(positives_right: float, positives: float, negatives_right: float, negatives: float) -> float:
    """Definition 9: the edge of a split under balanced weights, in [-1, 1].

    It is ``P(right | positive) - P(right | negative)``; the weak learning assumption asks for ``|edge| >= gamma``.
    """
    return positives_right / positives - negatives_right / negatives


def risk_factor(gamma: float) -> float:
    """The factor by which a split of edge ``gamma`` shrinks its leaf's Matsushita risk: at most ``sqrt(1 - gamma**2)``.

    Proof: the risk after over the risk before is the Bhattacharyya coefficient between the laws of "which child" given
    either class, which is at most ``sqrt(1 - TV**2)``, and their total variation is the edge. Attained at proportions
    1/2. The paper (Eq. 133, by way of Kearns and Mansour) has ``1 - gamma**2 / 16`` and needs small ``gamma``.
    """
    return math.sqrt(max(0.0, 1.0 - gamma**2))


def is_monotonic(alphas: Sequence[float], weights: Sequence[float], constant: float) -> bool:
    """Section 5: ``alpha_l <= alpha_{l-1} exp(K w_l (1 - alpha_{l-1}))`` from the second split on, ``K = constant``."""
    return all(
        after <= before * math.exp(constant * weight * (1.0 - before)) * (1.0 + 1e-12)
        for before, after, weight in zip(alphas[:-1], alphas[1:], weights[1:], strict=True)
    )


def grown_error_bound(shares: Sequence[float], gamma: float) -> float:
    """Theorem 10, exact product: ``1/2 prod (1 - share_l (1 - sqrt(1 - gamma**2)))`` if every split has edge ``gamma``.

    Matsushita's risk falls by these factors whatever scored the splits, so alpha does not matter here; the error is at
    most half of it, since ``2 sqrt(u (1 - u)) >= 2 min(u, 1 - u)``. Attained up to the factor 1/2 at full levels of
    leaves of proportion 1/2. ``shares`` as in :func:`tree_error_bound`.
    """
    return 0.5 * math.prod(1.0 - share * (1.0 - risk_factor(gamma)) for share in shares)


def tree_error_bound(shares: Sequence[float], alphas: Sequence[float], gamma: float, sharp: bool = True) -> float:
    """Theorem 10: a bound on the training error of a tree all of whose splits have edge ``gamma`` or more.

    ``exp(-K sum share_l alpha_l)`` for a K-monotonic sequence of alphas. ``sharp``: ``K = gamma**2 / 2``
    (:func:`risk_factor`) for the paper's ``gamma**2 / 16``, and half of ``prod (1 - share_l alpha_l (1 - sqrt(1 -
    gamma**2)))`` where alphas do not rise; then each split need only take the M-alpha risk of its leaf down as far as
    some split of edge ``gamma`` would. Else half of the paper's form.

    ``shares`` are those of each split leaf in the tree's Matsushita *risk* (not weight) when it was split. The paper
    writes weights; then the theorem fails: a heavy leaf that is almost pure can be split for ever while a light mixed
    one keeps its error. For full levels both readings agree. Raises ``ValueError`` if the sequence is not K-monotonic.
    """
    constant = gamma**2 / (2.0 if sharp else 16.0)
    if not is_monotonic(alphas, shares, constant):
        raise ValueError("the alphas grow too fast: the sequence is not monotonic in the sense of the theorem")
    products = [share * alpha for share, alpha in zip(shares, alphas, strict=True)]
    if sharp and all(after <= before for before, after in pairwise(alphas)):
        return 0.5 * math.prod(1.0 - part * (1.0 - risk_factor(gamma)) for part in products)
    return (0.5 if sharp else 1.0) * math.exp(-constant * math.fsum(products))


def splits_for_error(error: float, alpha: float, gamma: float, sharp: bool = True) -> float:
    """Eq. 13: splits of the leaf of largest risk after which the training error is at most ``error``.

    ``(1 / error) ** (16 / (alpha gamma**2))`` in the paper. ``sharp``: ``(1 / (2 error)) ** (1 / (alpha f))`` with
    ``f = 1 - sqrt(1 - gamma**2)``, as the ``t``-th split's leaf has at least ``1 / t`` of the risk.
    """
    if sharp:
        return math.pow(0.5 / error, 1.0 / (alpha * (1.0 - risk_factor(gamma))))
    return math.pow(1.0 / error, 16.0 / (alpha * gamma**2))


def levels_for_error(error: float, alpha: float, gamma: float) -> float:
    """Full levels after which the error is at most ``error``: each takes the risk to ``1 - alpha f`` of it or less.

    ``f = 1 - sqrt(1 - gamma**2)``; the error is at most half of the risk.
    """
    return math.log(0.5 / error) / -math.log1p(-alpha * (1.0 - risk_factor(gamma)))


# When a linear combination boosts (section 5, M-alpha-boost).


def leveraging_constant(alpha: float, bound: float, sharp: bool = False) -> float:
    """The ``a`` of M-alpha-boost, at the middle of its interval: ``alpha / M**2``.

    ``sharp`` gives ``4 alpha / M**2``: the surrogate's curvature is at most ``1 / (4 alpha)``, half of what Eq. 152
    prints, and Taylor's second term has a factor 1/2 that Eq. 154 leaves out. The larger step is the proof's best.
    """
    return (4.0 if sharp else 1.0) * alpha / bound**2


def ensemble_surrogate_bound(
    edges: Sequence[float], alpha: float, bound: float = 1.0, slack: float = 0.0, sharp: bool = False
) -> float:
    """Theorem 12's proof: the mean surrogate risk, hence the training error, after rounds of unnormalised ``edges``.

    ``1 - (1 - pi**2) alpha / (2 M**2) sum_t e_t**2`` where ``e_t = (1/m) sum_i w_i y_i h_t(x_i)``. ``bound`` is ``M``,
    the largest absolute output of a weak hypothesis; ``slack`` is ``pi`` in [0, 1), how far ``a`` may be from the
    middle of its interval. ``sharp``: four times the decrease, for the step of :func:`leveraging_constant` with
    ``sharp``.
    """
    gain = (2.0 if sharp else 0.5) * (1.0 - slack**2) * alpha / bound**2
    return 1.0 - gain * math.fsum(e * e for e in edges)


def ensemble_condition(
    mean_weights: Sequence[float], error: float, gamma: float, alpha: float, slack: float = 0.0, sharp: bool = False
) -> bool:
    """Theorem 12: whether rounds of these mean weights guarantee training error at most ``error``.

    ``sum_t w_t**2 >= 2 (1 - error) / ((1 - pi**2) gamma**2 alpha)``; a quarter of it suffices when ``sharp``.
    """
    threshold = (0.5 if sharp else 2.0) * (1.0 - error) / ((1.0 - slack**2) * gamma**2 * alpha)
    return math.fsum(w * w for w in mean_weights) >= threshold


# The exponential mechanism does not break boosting (section 6, Theorem 13).


def tree_efficiency(weight: float, error: float, depth: int) -> float:
    """Eq. 20: ``8 w err**2 / 2**depth`` of a node of normalised weight ``w``; falls along every path.

    In [0, 2], and not in [0, 1] as the paper has it: it is 2 at a root of error 1/2.
    """
    return 8.0 * weight * error**2 / 2.0**depth


def good_split_probability(gap: float, epsilon: float, sensitivity: float, good: int, lazy: int) -> float:
    """A lower bound on the chance that the exponential mechanism picks a good split (Eqs. 175 to 177).

    The score of each of the ``good`` splits exceeds that of every one of the ``lazy`` others by ``gap``;
    ``sensitivity`` is what the mechanism divides by, ``P(g) ~ exp(epsilon score / sensitivity)``; paper: ``2 Delta*``.
    """
    return 1.0 / (1.0 + lazy / good * math.exp(-epsilon * gap / sensitivity))


def assumed_gap(gamma: float, delta: float, alpha: float, weight: float, risk: float) -> float:
    """The gap of the delta-Gap model (Eqs. 173, 174): ``(1 - delta**2) gamma**2 alpha w / 16`` times ``L(h)``.

    ``weight`` is the leaf's normalised weight, ``risk`` the tree's unnormalised risk.
    """
    return (1.0 - delta**2) * gamma**2 * alpha * weight / 16.0 * risk


def selection_constant(gamma: float, delta: float, tree_share: float, mean_weight: float) -> float:
    """Theorem 13's hidden constant ``Q' = beta_tree xi' (1 - delta**2) gamma**2 / 256``, with ``xi' = w(S) / m``."""
    return tree_share * mean_weight * (1.0 - delta**2) * gamma**2 / 256.0


def smallest_efficiency(constant: float, epsilon: float, rows: int, splits: int, failure: float) -> float:
    """Theorem 13 (Eq. 207): the tree efficiency from which all ``splits`` are good with probability ``1 - failure``.

    ``log(m) / (Q' epsilon sqrt(m)) log(splits / failure)``; it asks for ``T d <= log m`` and ``m >= 3``. Raises
    ``ValueError`` for fewer than 3 rows.
    """
    if rows < 3:
        raise ValueError(f"the theorem asks for at least 3 rows, got {rows}")
    return math.log(rows) / (constant * epsilon * math.sqrt(rows)) * math.log(splits / failure)


def smallest_good_ratio(constant: float, efficiency: float, epsilon: float, rows: int) -> float:
    """Theorem 13 (Eq. 199): how few good splits per lazy one it stands."""
    return math.exp(-constant * efficiency * epsilon * math.sqrt(rows) / math.log(rows))
