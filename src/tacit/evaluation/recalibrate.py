"""`recalibrate`: a small paid histogram of the score that puts probabilities right, if that helps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit

from tacit.arrays import Floats
from tacit.errors import spending
from tacit.evaluation.calibration import Groups, equal_groups
from tacit.evaluation.candidates import check_combinable, combined_certificate, promised_schema
from tacit.evaluation.measure_scores import CountRequest, ScoreCounts, ScoreGroups, measure_scores, rows_and_labels
from tacit.evaluation.ranked import Scorer
from tacit.models.base import ClassModel, Model
from tacit.models.binding import model_digest
from tacit.models.recalibrated import RecalibratedModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.request import Request, RequestError
from tacit.privacy.unit import unit_key

SHIFTS = (0.0, 0.1, 0.3, 0.8)
SLOPES = (0.0, 0.1, 0.3, 0.8)
BUMPS = (0.0, 0.1, 0.3)
"""Prior scales of the correction, in log-odds: a shift of all, a change of slope, and what is left, group by group."""

CONVINCING = 2.0
"""Logarithm of the Bayes factor from which a correction is made at all."""

MOST_NOISE = 0.25
"""No correction is made where noise alone shifts all log-odds by this much (one standard deviation)."""

LEAST_SLOPE = 0.05
STEPS = 40


@final
@dataclass(frozen=True, eq=False)
class Recalibration:
    """What came of it.

    Attributes:
        model: the model to use: recalibrated, or as it was where the counts do not speak clearly against it.
        changed: which of the two.
        certificate: what the recalibration spent.
        combined: the certificate of the model and its recalibration together, to be saved with the model; the same as
            ``certificate`` if the model brought none.
        counts: the released counts.
    """

    model: Model
    changed: bool
    certificate: Certificate
    combined: Certificate
    counts: ScoreCounts


def recalibrate(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float = 0.1,
    delta: float = 1e-6,
    *,
    schema: Any = None,
    account: PrivacyAccount | None = None,
    neighbouring: str = "add_or_remove_one",
    random_state: int | None = None,
) -> Recalibration:
    """Corrects the probabilities of a model of two classes from noisy counts of (score, label).

    The counts are what :func:`~tacit.evaluation.private_score.private_score` releases. A correction of the log-odds is
    fitted to them: a shift, a slope and a remainder by score group with normal priors, whose scales (0 among them) the
    counts choose by marginal likelihood under the known noise; then made increasing, so that the order of rows stays.

    Args:
        model: a model of this library, or an estimator of it after ``fit``.
        X: rows, best ones that the model was not made from; if it was, both charges are about the same people, and
            belong in one account.
        y: their labels.
        epsilon: what to spend.
        delta: what to spend.
        schema: declares classes with several values and a unit of several rows; by default that of the estimator.
        account: pays, if given.
        neighbouring: the relation of the guarantee.
        random_state: None for fresh entropy; an integer makes the result repeatable and not releasable.

    Raises:
        ValueError: for public mistakes; nothing was spent.
        BudgetExceeded: if the account cannot pay; nothing was read.

    Example:
        >>> from tacit import AdditiveBoostClassifier, recalibrate
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> first = {name: values[:15_000] for name, values in X.items()}
        >>> second = {name: values[15_000:] for name, values in X.items()}
        >>> model = AdditiveBoostClassifier(epsilon=1.0, schema=schema).fit(first, y[:15_000])
        >>> corrected = recalibrate(model, second, y[15_000:], epsilon=0.5)
        >>> print(corrected.certificate.epsilon)
        0.5
    """
    request = Request.of(epsilon, delta, neighbouring, random_state)
    base = model if isinstance(model, Model) else getattr(model, "model_", None)
    if not isinstance(base, Model):
        raise RequestError(f"a {type(model).__name__} is no model of this library, or was not fitted")
    declared = promised_schema(model, schema)
    scorer = Scorer.of(model, declared)
    if scorer.n_classes != 2:
        raise RequestError(f"recalibration is for two classes, and there are {scorer.n_classes}")
    assert isinstance(base, ClassModel)  # the scorer is one of classes
    frame, labels = rows_and_labels(X, y)
    scorer.check(frame, X, labels)
    own = getattr(model, "certificate_", None)
    if isinstance(own, Certificate):
        check_combinable(own, request.neighbouring, unit_key(None if declared is None else declared.unit))
    label = f"recalibration of {type(model).__name__}"
    question = CountRequest(frame, X, labels, ScoreGroups(), 0.5, False, declared, label)
    with spending():
        released = measure_scores(scorer, question, request, account)
        counts = released.overall.counts
        curve = fitted_curve(counts)
        better = base if curve is None else RecalibratedModel(base, *curve)
        combined = _combined(own, released.certificate, better)
        return Recalibration(better, curve is not None, released.certificate, combined, counts)


def _combined(own: Any, added: Certificate, model: Model) -> Certificate:
    """The certificate of a model and its recalibration, bound to the model that came of it."""
    if not isinstance(own, Certificate):
        return added.bound(model_digest(model))
    whole = combined_certificate(own, added, f"{own.algorithm}, recalibrated")
    digest, schema = model_digest(model), own.schema_digest
    return whole.bound(digest, schema, target=own.target, columns=own.columns, parameters=own.parameters)


def fitted_curve(counts: ScoreCounts) -> tuple[Floats, Floats] | None:
    """Knots and values of the corrected log-odds; None if the counts do not ask for a correction.

    A shift, a slope and a remainder by score group have normal priors, whose scales (0 among them) the counts choose by
    marginal likelihood under the known noise; the sum is made increasing, so that the order of rows stays.
    """
    groups = equal_groups(counts)
    likely = counts.likely.sum(axis=1)
    sizes = groups.sizes(counts.likely)
    if likely.sum() < 1 or len(sizes) == 0:
        return None
    scores = (groups.members @ (likely * counts.grid.middles)) / np.maximum(sizes, 1e-9)
    centred = scores - np.average(scores, weights=np.maximum(sizes, 1e-9))
    gaps, slopes, covariance = _gaps(counts, groups, likely, np.zeros(len(scores)))
    chances = counts.grid.probabilities
    if np.hypot(counts.sd_of(chances), counts.sd_of(1.0 - chances)) > MOST_NOISE * slopes.sum():
        return None
    best, prior = 0.0, None
    for shift, slope, bump in product(SHIFTS, SLOPES, BUMPS):
        candidate = shift**2 + slope**2 * np.outer(centred, centred) + bump**2 * np.eye(len(scores))
        gain = _evidence(gaps, slopes, candidate, covariance) - _evidence(gaps, slopes, 0 * candidate, covariance)
        if gain > best:
            best, prior = gain, candidate
    if prior is None or best < CONVINCING:
        return None
    correction = _posterior(counts, groups, likely, prior)
    filled = sizes > 1e-6  # a group without rows has no score of its own
    scores, sizes = scores[filled], sizes[filled]
    rising = isotonic_regression((1 - LEAST_SLOPE) * scores + correction[filled], weights=sizes).x
    return scores, rising + LEAST_SLOPE * scores


def _gaps(counts: ScoreCounts, groups: Groups, likely: Floats, correction: Floats) -> tuple[Floats, Floats, Floats]:
    """Gaps under a correction, how fast they close as it grows, and their covariance (noise and chance)."""
    chances = expit(counts.grid.middles + correction @ groups.members)
    gaps = groups.gaps(counts.estimate, chances)
    variance = likely * chances * (1.0 - chances)
    closing = groups.members @ variance
    inverse = counts.strategy.inverse
    noise = [(groups.members * weight) @ inverse for weight in (chances, 1.0 - chances)]
    covariance = counts.sd**2 * sum(part @ part.T for part in noise) + np.diag(closing + 1e-9)
    return gaps, closing, covariance


def _evidence(gaps: Floats, closing: Floats, prior: Floats, covariance: Floats) -> float:
    """Log marginal likelihood of the gaps, up to a constant."""
    total = closing[:, None] * prior * closing[None, :] + covariance
    _, determinant = np.linalg.slogdet(total)
    return -0.5 * float(determinant + gaps @ np.linalg.solve(total, gaps))


def _posterior(counts: ScoreCounts, groups: Groups, likely: Floats, prior: Floats) -> Floats:
    """The most probable correction: a damped Newton iteration, because gaps are not linear in it."""
    correction = np.zeros(len(prior))
    for _ in range(STEPS):
        gaps, closing, covariance = _gaps(counts, groups, likely, correction)
        response = prior * closing[None, :]
        target = response @ np.linalg.solve(closing[:, None] * response + covariance, gaps + closing * correction)
        correction = np.clip(0.5 * (correction + target), -4.0, 4.0)
    return correction
