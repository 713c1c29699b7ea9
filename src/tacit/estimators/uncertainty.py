"""How sure a prediction is: standard deviations and intervals from the known noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from tacit.arrays import Floats
from tacit.estimators.classes import ScoredClasses, scores_in_order
from tacit.models.base import Uncertain, UncertainClasses
from tacit.privacy.request import RequestError, is_number


class Uncertainty(ScoredClasses):
    """An estimator of classes that knows how far off its log-odds may be."""

    def predict_std(self, X: Any) -> Floats:
        """Standard deviation that the privacy noise leaves in the log-odds of every row, shape ``(rows,)``.

        Of more than two classes: of the log-odds of each against all others together, shape ``(rows, classes)``.

        Curves and pairs: the posterior standard deviation of the effect given all releases, which includes sampling
        error and shrinkage and errs on the large side. Trees: the noise of every leaf's sum as it reaches the score,
        less what later trees correct. Effects count as independent, and bins, pairs and structures as given.

        Raises:
            ValueError: if the model does not know (trees chosen by the data).
        """
        return self._scores(X)[1]

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """An interval for ``predict_proba(X)[:, 1]`` of two classes, shape ``(rows, 2)``.

        Of more than two classes: for the probability of each of ``classes_``, shape ``(rows, classes, 2)``.

        It is meant to hold what fits to the same rows say on average over the noise, with about this confidence; see
        :meth:`predict_std`. It says nothing about how well a model of this kind describes the population.

        Args:
            X: a table.
            confidence: strictly between 0 and 1.
        """
        deviations = deviations_within(confidence)
        score, sd = self._scores(X)
        reach = deviations * sd
        return np.asarray(expit(np.stack([score - reach, score + reach], axis=-1)))

    def _scores(self, X: Any) -> tuple[Floats, Floats]:
        frame = self.frame_for_model(X)
        model = self.model_
        if not isinstance(model, Uncertain | UncertainClasses):
            raise RequestError("this model does not say how sure it is")
        try:
            if isinstance(model, UncertainClasses):
                log_odds, variance = model.log_odds(frame), model.log_odds_variance(frame)
                return scores_in_order(self.model_.classes, log_odds), np.sqrt(
                    scores_in_order(self.model_.classes, variance)
                )
            return scores_in_order(self.model_.classes, model.decision_function(frame)), np.sqrt(
                model.score_variance(frame)
            )
        except ValueError as error:
            raise RequestError(str(error)) from None


def deviations_within(confidence: float) -> float:
    """How many standard deviations an interval reaches to both sides; raises :class:`RequestError`."""
    if not is_number(confidence) or not 0 < confidence < 1:
        raise RequestError(f"confidence must lie strictly between 0 and 1, got {confidence!r}")
    return float(ndtri(0.5 + confidence / 2))
