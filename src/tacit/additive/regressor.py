"""`AdditiveBoostRegressor`: the flagship for numeric targets, learner and face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.additive.boost import learned_columns, parts_wanted
from tacit.additive.learn import learn
from tacit.additive.residual_loss import QuantileLoss, ResidualLoss, SquaredLoss
from tacit.additive.to_model import regression_scores
from tacit.additive.tuning import TUNING, Tuning
from tacit.curator.rows import PrivateRows
from tacit.estimators.regressor import PrivateRegressor
from tacit.learning.checks import check_choice, check_number
from tacit.learning.learner import Learner
from tacit.learning.sealing import sealed
from tacit.learning.task import Task
from tacit.models.additive_scores import AdditiveRegressionModel
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request

SQUARED, QUANTILE = "squared", "quantile"


@dataclass(frozen=True, eq=False)
class AdditiveRegressionLearner(Learner):
    """Boosts an additive model of a number: what :class:`AdditiveBoostRegressor` says of itself holds here.

    Attributes:
        loss: ``"squared"`` or ``"quantile"``.
        quantile: which one, in (0, 1).
        interactions: True, False or ``"pairs"``.
        tuning: the numbers of the learner.
    """

    loss: str = SQUARED
    quantile: float = 0.5
    interactions: bool | str = True
    tuning: Tuning = TUNING

    name = "AdditiveBoostRegressor"
    streams = True
    joins = True
    least_budget = 2e-5
    discovers = True
    holds_monotone = True

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, (SQUARED, QUANTILE))
        check_number("quantile", self.quantile, 0.0, 1.0)
        parts_wanted(self.interactions)

    def check(self, task: Task) -> None:
        """There is nothing that it cannot learn."""

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del task
        return [allowance.whole]

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> AdditiveRegressionModel:
        budget, task = sealed(rows, allowance, task)
        columns, target = learned_columns(task), task.target
        loss: ResidualLoss = SquaredLoss(len(columns), self.tuning.residuals)
        if self.loss == QUANTILE:
            loss = QuantileLoss(len(columns), float(self.quantile), self.tuning.residuals)
        pairs, trees = parts_wanted(self.interactions)
        learned = learn(budget, columns, loss, pairs, trees, self.tuning)
        assert task.encoding is not None
        return AdditiveRegressionModel(
            target.name,
            target.index.lower,
            target.index.upper,
            self.loss,
            float(self.quantile),
            regression_scores(learned, task.encoding, loss, target.index),
        )


class AdditiveBoostRegressor(PrivateRegressor):
    """Private boosting of an additive model of a number: a curve per column, pairs and trees where the budget allows.

    The engine of :class:`~tacit.AdditiveBoostClassifier` with clipped residuals in place of signed weights: a row
    contributes one bounded number to a round, so a round costs one noisy sum. Where the clip lies follows from noisy
    histograms of the residuals, which are paid for and released.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file, with a label of kind ``numeric``. None:
            bounds are found with 5 % of the budget; where columns hold texts, bounds and categories with 10 % of it
            and up to half of delta.
        target_bounds: public bounds of the target, ``(lower, upper)``, where no schema declares them. Targets outside
            are clipped; rows without a target are dropped. None: found with 5 % of what finding columns leaves.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        loss: ``"squared"`` for means or ``"quantile"`` for a quantile.
        quantile: which one, in (0, 1).
        interactions: where the budget allows: True looks for pairs of columns that act together, and boosts what is
            left over by trees; ``"pairs"`` leaves the trees out, so that every part can be drawn; False gives
            one curve per column and nothing else.

    Attributes:
        model_: the frozen :class:`~tacit.models.additive_scores.AdditiveRegressionModel`.
        certificate_: what was spent, on what, by which theorem.
        n_features_in_: number of columns seen by ``fit``.
    """

    tuning: ClassVar[Tuning] = TUNING
    """The numbers of the learner."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        neighbouring: str = "add_or_remove_one",
        schema: Any = None,
        target_bounds: Sequence[float] | None = None,
        account: PrivacyAccount | None = None,
        random_state: int | None = None,
        loss: str = SQUARED,
        quantile: float = 0.5,
        interactions: bool | str = True,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.neighbouring = neighbouring
        self.schema = schema
        self.target_bounds = target_bounds
        self.account = account
        self.random_state = random_state
        self.loss = loss
        self.quantile = quantile
        self.interactions = interactions

    def make_learner(self, request: Request) -> AdditiveRegressionLearner:
        return AdditiveRegressionLearner(request, self.loss, self.quantile, self.interactions, self.tuning)
