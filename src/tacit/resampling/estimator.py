"""`ResampledBoostClassifier`: the scikit-learn estimator that boosts any private learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.estimators.base import learner_of, request_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.learning.fit import Fitted
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.request import Request, RequestError
from tacit.resampling.learner import ResampledBoostLearner, is_foreign
from tacit.theory.boosting import Analysis


@dataclass(eq=False, repr=False)
class ResampledBoostClassifier(PrivateClassifier):
    """Boosts a private learner: a majority of several, each learned on rows drawn from the lazy Bregman measure.

    Boost-S of Bun, Carmosino, Sorrell (2020). The base learner needs no support for weights and is used as it is;
    drawing few rows from a smooth measure makes it cheaper than it declares (Lemma 55). The same door boosts the
    accuracy of any private learner (Alon et al. 2020, Remark 7.4). The number of rows is public here: the analysis is
    for replacement.

    Args:
        base: a private classifier of this library, whose epsilon and delta are set to what a round leaves for it; or a
            foreign learner in an adapter (:mod:`tacit.resampling.learner`), whose claim is taken on trust: the
            certificate then says ``unverified`` and is not releasable.
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1).
        neighbouring: ``"replace_one"``; nothing else is analysed.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file; a foreign base needs one. None for the
            base's.
        classes: the two classes, the positive one last, when no schema names them; ``"public"`` takes them from y.
            None: the base's, or else labels must be booleans.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        rounds: T, the number of voters, or the most of them; odd numbers have no ties.
        measure: ``"lazy_bregman"``; or ``"smooth"`` for SmoothBoost's, with a noisy end test in every round (Appendix
            K): the run ends when the measure is smaller than ``density``. It needs a positive delta.
        density: kappa, of the measure.
        learning_rate: lambda, of lazy Bregman.
        advantage: gamma, of SmoothBoost: what a voter is trusted to achieve, in (0, 1/2).
        sample_size: draws per round; None for a quarter of ``density * rows``.
        analysis: ``"sharp"``, or ``"paper"`` for Lemma 55 as stated, which needs a base epsilon of at most 1/2.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.rule.VoteModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.
        plan_: how the budget was divided.

    Example:
        >>> from tacit import HalfspaceBoostClassifier, ResampledBoostClassifier
        >>> schema = {"label": {"column": "sick", "classes": ["no", "yes"]},
        ...           "columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> model = ResampledBoostClassifier(HalfspaceBoostClassifier(), epsilon=4.0, schema=schema, rounds=3)
        >>> model = model.fit({"age": [20, 40, 60, 80] * 500}, ["no", "no", "yes", "yes"] * 500)
        >>> print(model.certificate_.epsilon, model.certificate_.releasable)
        4.0 True
    """

    base: Any = None
    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "replace_one"
    schema: Any = None
    classes: Sequence[Any] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
    rounds: int = 5
    measure: str = "lazy_bregman"
    density: float = 0.5
    learning_rate: float = 0.5
    advantage: float = 0.2
    sample_size: int | None = None
    analysis: Analysis = "sharp"
    dtypes: str | None = None

    @property
    def takes_on_trust(self) -> bool:
        return is_foreign(self.base) or super().takes_on_trust

    def make_learner(self, request: Request) -> ResampledBoostLearner:
        learner = learner_of(ResampledBoostLearner, self, request)
        if learner.is_foreign and self.schema is None:
            raise RequestError("a foreign base needs a schema: it cannot find bounds in private")
        return learner

    def _inner(self) -> Sequence[Any]:
        return () if is_foreign(self.base) else (self.base,)

    def describe(self, fitted: Fitted | None = None) -> None:
        super().describe(fitted)
        if fitted is not None:
            self.plan_ = self.make_learner(request_of(self)).plan(fitted.task)
