"""`AdditiveBoostClassifier` and `AdditiveBoostRegressor`: the default learners as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.additive.boost import AdditiveBoost, learned_columns, parts_wanted
from tacit.additive.learn import learn
from tacit.additive.log_link_loss import LogLinkLoss
from tacit.additive.public_prior import priors_of
from tacit.additive.residual_loss import QuantileLoss, ResidualLoss, SquaredLoss
from tacit.additive.to_model import to_number_scores, to_rate_scores
from tacit.additive.tuning import TUNING, Tuning
from tacit.curator.rows import PrivateRows
from tacit.encoding.labels import NumericLabelIndex
from tacit.estimators.base import learner_of
from tacit.estimators.classifier import PrivateClassifier
from tacit.estimators.regressor import PrivateRegressor
from tacit.learning.checks import check_choice, check_number
from tacit.learning.learner import Learner, Task
from tacit.learning.weights import sealed
from tacit.models.additive_scores import POWERS, AdditiveRegressionModel, power_of
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.budget import Allowance
from tacit.privacy.charges import Charge
from tacit.privacy.request import Request, RequestError


class AdditiveBoostClassifier(AdditiveBoost, PrivateClassifier):
    """Private boosting of an additive model over public bins: interpretable, and the most accurate default.

    The boosting schema of Bun, Carmosino and Sorrell (2020) with a stateless measure: the weight of a row follows from
    its label and its margin under the released hypotheses alone, so a round needs no private state and costs one noisy
    sum. Bins, sweeps, smoothing and interactions follow from public numbers by a fixed rule; nothing is to be tuned.

    Args:
        epsilon: privacy parameter, positive; ``inf`` for no privacy.
        delta: additive slack of the guarantee, in [0, 1); 0 asks for pure differential privacy. With few rows times
            epsilon per column, two classes are then learned by trees alone, as by
            :class:`~tacit.BoostedTreesClassifier`, unless ``interactions`` leaves trees out or a column is declared to
            rise or to fall.
        neighbouring: ``"add_or_remove_one"`` (the number of rows is private) or ``"replace_one"``.
        schema: a :class:`~tacit.Schema`, its dict, or the path of its file. None: bounds are found with 5 % of the
            budget; where columns hold texts, bounds and categories with 10 % of it and up to half of delta.
        classes: the classes, of two the positive one last, when no schema names them; ``"public"`` takes them from y
            where they do not come from the rows. None: truth values are False and True, others are found, too, and
            sorted, which needs a positive delta; at ``delta=0`` they are refused.
        account: a :class:`~tacit.PrivacyAccount` that several fits share; None for a budget of this fit alone.
        random_state: None for fresh entropy; an integer makes the run repeatable and the certificate not releasable.
        interactions: where the budget allows: True boosts what single columns leave over. Two classes have
            pairs of columns, and trees too where these explain much; more classes have pairs and trees.
            ``"pairs"`` leaves trees out, so that every part can be drawn;
            False gives one curve per column and nothing else.
        class_weight: None; public positive weights by class, of which only ratios matter; or ``"balanced"``, by class
            counts that are released with 2 % of the budget. Probabilities are then those of a population in which
            classes occur so much more or less often. For those of the table's own, subtract ``log(w1 / w0)`` from
            ``decision_function(X)``, with ``w0`` and ``w1`` the weights of ``classes_[0]`` and ``classes_[1]``; of
            several classes, subtract each one's ``log(w)`` from its score. To predict by costs, a threshold on
            unweighted probabilities is the better way.
        ordered: whether to use the declared order of more than two classes, as in grades and answers from never to
            always: one score multiplies the odds of a higher class by the same factor at every cut (proportional
            odds). Better than a score per class with few rows or a small epsilon, worse with many rows where that
            assumption fails.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    More than two declared classes share one budget: a row's contribution to a round is one vector of norm at most 1,
    not one number for each class (:class:`~tacit.queries.score_rules.SoftmaxRule`).

    Attributes:
        model_: the frozen :class:`~tacit.models.additive.AdditiveModel`,
            :class:`~tacit.models.tree_ensemble.TreeEnsembleModel` of trees alone, or
            :class:`~tacit.models.additive_scores.AdditiveClassesModel` of more than two classes, or
            :class:`~tacit.models.additive_scores.AdditiveOrderedModel` of ordered ones.
        certificate_: what was spent, on what, by which theorem.
        classes_: the classes.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import AdditiveBoostClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> model = AdditiveBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(X, y)
        >>> print(model.certificate_.epsilon, model.certificate_.protected)
        1.0 one patient, at most 3 rows
        >>> model.predict_proba(X)[:3].shape
        (3, 2)
    """

    @property
    def tells_several_classes(self) -> bool:
        return self.classes is not None and len(self.classes) > 2


SQUARED, QUANTILE = "squared", "quantile"
LOSSES = (SQUARED, QUANTILE, *POWERS)


@dataclass(frozen=True, eq=False)
class AdditiveRegressionLearner(Learner):
    """Boosts an additive model of a number: what :class:`AdditiveBoostRegressor` says of itself holds here."""

    loss: str = SQUARED  # `"squared"`, `"quantile"`, `"poisson"`, `"gamma"` or `"tweedie"`
    quantile: float = 0.5  # which one, in (0, 1)
    interactions: bool | str = True  # True, False or `"pairs"`
    tuning: Tuning = TUNING  # the numbers of the learner
    power: float = 1.5  # of Tweedie's variance, in (1, 2)

    name = "AdditiveBoostRegressor"
    streams = True
    joins = True
    joins_noisy = True
    least_budget = 2e-5
    discovers = True
    holds_monotone = True

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)
        check_number("quantile", self.quantile, 0.0, 1.0)
        check_number("power", self.power, 1.0, 2.0)
        parts_wanted(self.interactions)

    def check(self, task: Task) -> None:
        """Raises :class:`RequestError` for counts and costs that are declared to be negative."""
        bounds = task.target.bounds
        if power_of(self.loss, self.power) is not None and bounds is not None and not 0 <= bounds.lower < bounds.upper:
            raise RequestError(
                f"loss={self.loss!r} learns the mean of a count or a cost, which is never negative: declare a lower "
                f"bound of at least 0, not {bounds.lower:g}"
            )

    def charges(self, allowance: Allowance, task: Task) -> list[Charge]:
        del task
        return [allowance.whole]

    def learn(self, rows: PrivateRows, allowance: Allowance, task: Task) -> AdditiveRegressionModel:
        budget, task = sealed(rows, allowance, task)
        columns, target = learned_columns(task), task.target
        loss, power = self._loss(len(columns), target.index), power_of(self.loss, self.power)
        pairs, trees = parts_wanted(self.interactions)
        assert task.encoding is not None
        priors = priors_of(task.schema, task.encoding)
        learned = learn(budget, columns, loss, pairs, trees, self.tuning, priors)
        if isinstance(loss, LogLinkLoss):
            scores = to_rate_scores(learned, task.encoding, loss, target.index)
        else:
            scores = to_number_scores(learned, task.encoding, loss, target.index)
        bounds = (target.index.lower, target.index.upper)
        return AdditiveRegressionModel(target.name, *bounds, self.loss, float(self.quantile), scores, power)

    def _loss(self, n_columns: int, label: NumericLabelIndex) -> ResidualLoss:
        numbers, power = self.tuning.residuals, power_of(self.loss, self.power)
        if power is not None:
            return LogLinkLoss(n_columns, power, label, numbers)
        if self.loss == QUANTILE:
            return QuantileLoss(n_columns, float(self.quantile), numbers)
        return SquaredLoss(n_columns, numbers)


@dataclass(eq=False, repr=False)
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
        loss: ``"squared"`` for means or ``"quantile"`` for a quantile; for means of counts and costs, whose effects
            multiply (a log link), ``"poisson"``, ``"gamma"`` or ``"tweedie"``: targets are then never negative.
        quantile: which one, in (0, 1).
        interactions: where the budget allows: True adds pairs of columns that interact, and trees on the residual;
            ``"pairs"`` leaves the trees out, so that every part can be drawn; False gives one curve per column and
            nothing else.
        power: of ``loss="tweedie"``, strictly between 1 (as Poisson) and 2 (as Gamma): variances are taken to grow as
            the mean to this power.
        dtypes: ``"public"`` where the dtypes of the table do not come from its rows. None: where no schema declares all
            columns and the label, the certificate is not releasable (docs/claims.md).

    Attributes:
        model_: the frozen :class:`~tacit.models.additive_scores.AdditiveRegressionModel`.
        certificate_: what was spent, on what, by which theorem.
        n_features_in_: number of columns seen by ``fit``.

    Example:
        >>> from tacit import AdditiveBoostRegressor
        >>> schema = {"columns": {"age": {"kind": "numeric", "lower": 0, "upper": 100}}}
        >>> ages = {"age": [20, 40, 60, 80] * 500}
        >>> cost = [100.0, 200.0, 300.0, 400.0] * 500
        >>> model = AdditiveBoostRegressor(epsilon=4.0, delta=1e-6, schema=schema, target_bounds=(0, 1000))
        >>> model = model.fit(ages, cost)
        >>> print(model.predict({"age": [80]}).shape, model.certificate_.releasable)
        (1,) True
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    neighbouring: str = "add_or_remove_one"
    schema: Any = None
    target_bounds: Sequence[float] | None = None
    account: PrivacyAccount | None = None
    random_state: int | None = None
    loss: str = SQUARED
    quantile: float = 0.5
    interactions: bool | str = True
    power: float = 1.5
    dtypes: str | None = None

    tuning: ClassVar[Tuning] = TUNING
    """The numbers of the learner."""

    def make_learner(self, request: Request) -> AdditiveRegressionLearner:
        return learner_of(AdditiveRegressionLearner, self, request)
