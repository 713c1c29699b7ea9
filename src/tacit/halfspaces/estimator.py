"""`HalfspaceBoostClassifier`: the scikit-learn estimator of private halfspaces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, cast

import numpy as np

from tacit.boosting.game import Diagnosis, diagnose
from tacit.boosting.schema import Ensemble
from tacit.encoding.dense import RowClipper
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import label_vector
from tacit.encoding.matrix_rows import ROWS, MatrixEncoder, matrix_frame
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.estimators.base import request_of, wrong_width
from tacit.estimators.classes import CommonParameters, ScoredClasses
from tacit.estimators.classifier import PrivateClassifier
from tacit.halfspaces.centering import Centre
from tacit.halfspaces.learner import HalfspaceLearner, MatrixTask
from tacit.halfspaces.plan import DEFAULTS, PROMISED, Options
from tacit.learning.checks import check_choice, check_integer
from tacit.learning.declared import Declared
from tacit.learning.learner import Learner, Task
from tacit.learning.tables import check_as_many, check_labels, check_labels_given, label_of, refuse_open_classes
from tacit.models.halfspace import HalfspaceModel
from tacit.privacy.request import Request, RequestError, check_noise_fits
from tacit.queries.dense.halfspace_log import RADIUS_16, RADIUS_32
from tacit.theory.boosting import Analysis
from tacit.theory.halfspaces import DIMENSION, cheapest_promise, promise_on_training_rows, violating_share

ERRORS_ON = ("new_rows", "training_rows")

OF_THEOREM: dict[str, Any] = {
    "row_norm": 1.0,
    "fit_intercept": False,
    "measure": "lazy_bregman",
    "scaling": False,
    "calibrate": False,
}
"""What Algorithm 4 settles."""

WIDE = 2048  # not tuned: full matrices wider than this are kept in 32 bits, as their coordinates are too small for 16


WIDE_BUDGET = 1e-2
"""Not tuned: the smallest noise parameter at 32 bits: rows are 128 times as long there, and so is the noise."""

PARAMETERS = tuple(each.name for each in fields(Options) if each.name not in ("constant", "tuning"))
"""What a user may choose of it."""


@dataclass(eq=False, repr=False)
class HalfspaceBoostClassifier(ScoredClasses, CommonParameters, PrivateClassifier):
    """Private boosting of a halfspace: a proper linear classifier, with noise that does not grow with the dimension.

    Bun, Carmosino, Sorrell (2020). In every round rows are weighted by a rule over the hypotheses released so far, and
    one noisy weighted sum of rows is the next hypothesis; the average is a halfspace. A round costs what its one sum
    costs.

    Args:
        epsilon, delta, neighbouring, schema, classes, account, random_state, dtypes: as in
            :class:`~tacit.RandomTreesClassifier`.
        row_norm: a public bound on the length of a row; longer rows are shortened. Without a schema ``X`` is then a
            numeric matrix, full or sparse (CSR), taken as it is, and no bounds are found. Beside a schema it is about
            encoded rows: numbers go from -1 to 1 between their bounds, a category is a vector of length 1. None: a
            length that few rows exceed is found with 2 % of the budget.
        fit_intercept: whether rows get a constant coordinate.
        measure: how rows are weighted. ``"smooth"``: SmoothBoost's rule; ``"lazy_bregman"``: multiplicative weights,
            projected once per round (Algorithm 3); ``"logistic"``: gradient descent on the logistic loss; ``"auto"``:
            logistic where there is little noise for the rows and the dimension, or where a noisy count says that many
            rows are far on the wrong side of the first average; smooth otherwise.
        rounds: number of rounds; None for 40 (smooth: 80 from 100 columns on; lazy Bregman: 200; 8 with ``delta=0``).
        density: of lazy Bregman, kappa: the share of rows that a round's weights add up to; None for .15.
        learning_rate: of lazy Bregman, lambda; None for .2.
        advantage: of SmoothBoost, gamma: what a round is trusted to achieve; None for .4, or .2 where rows have a
            constant coordinate.
        stop_density: end the run when the measure's size is below this share of the rows, by a noisy test in every
            round that takes a tenth of the budget (Appendix K); None for a fixed number of rounds.
        scaling: whether to scale the row space by released moments, for a tenth of the budget at most. Off, it is the
            paper's learner; rows of very different spread are then learned badly.
        calibrate: whether to release counts by score and class, for a twentieth of the budget, to give probabilities;
            without a constant coordinate for a fiftieth, and not where noise would hide them.
        analysis: ``"sharp"``, or ``"paper"`` for Theorem 22's constant (lazy Bregman only; twice the noise).
        divisor: of lazy Bregman, what every average is divided by; margins are then not clipped, as the theorem of
            :meth:`from_theorem` needs it. 0 for the average's own length, and clipped margins.
        promise: what :meth:`from_theorem` promises; leave it to that.

    Attributes:
        model_: the frozen :class:`~tacit.models.halfspace.HalfspaceModel`.
        certificate_: what was spent, on what, by which theorem.
        classes_: the two classes.
        n_features_in_: number of columns seen by ``fit``.
        ensemble_: the released hypotheses, round by round; the model is their combination.

    Example:
        >>> from tacit import HalfspaceBoostClassifier
        >>> from tacit.examples import hospital
        >>> X, y, schema = hospital()
        >>> model = HalfspaceBoostClassifier(epsilon=1.0, delta=1e-6, schema=schema).fit(X, y)
        >>> print(model.predict(X).shape)
        (20000,)
    """

    row_norm: float | None = None
    fit_intercept: bool = True
    measure: str = DEFAULTS.measure
    rounds: int | None = DEFAULTS.rounds
    density: float | None = DEFAULTS.density
    learning_rate: float | None = DEFAULTS.learning_rate
    advantage: float | None = DEFAULTS.advantage
    stop_density: float | None = DEFAULTS.stop_density
    scaling: bool = DEFAULTS.scaling
    calibrate: bool = DEFAULTS.calibrate
    analysis: Analysis = DEFAULTS.analysis
    divisor: float = DEFAULTS.divisor
    promise: Mapping[str, Any] | None = DEFAULTS.promise
    dtypes: str | None = None

    @classmethod
    def from_theorem(
        cls,
        alpha: float,
        beta: float,
        margin: float,
        n: int,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        errors_on: str = "new_rows",
        columns: int = DIMENSION,
        **others: Any,
    ) -> Self:
        """The learner of Algorithm 4 for an (alpha, beta)-PAC guarantee at margin ``margin`` (Theorem 25).

        Lazy Bregman without scaling or calibration, whose noise averages out over the rounds: the theorem of
        docs/theory/lazy_bregman.md. Rows are taken from the unit ball; ``alpha margin / 16 * n`` may violate the
        margin, which random label noise at half that rate stays below.

        Args:
            alpha: error to reach, in (0, 1).
            beta: probability of failure, in (0, 1).
            margin: tau, of the halfspace that labels the rows, in (0, 1).
            n: the declared (public) number of rows, at least; not read from the data. Where the released number is
                less, or more than twice as much, the promise is withdrawn.
            epsilon: privacy parameter.
            delta: in (0, 1).
            errors_on: ``"new_rows"``, or ``"training_rows"`` for a promise about these alone.
            columns: the most columns; a promise about training rows has no such limit.
            others: further parameters, such as ``random_state``; ``analysis="paper"`` takes constants, rounds and
                learning rate as printed.

        Raises:
            RequestError: if ``n`` is too small for what is promised; names the ``n`` that would do, and why.
        """
        check_choice("errors_on", errors_on, ERRORS_ON)
        check_integer("columns", columns)
        estimator = cls(epsilon, delta, **OF_THEOREM, **others)
        analysis = estimator.analysis
        noise = estimator.make_learner(request_of(estimator)).rounds_noise()
        of_new_rows = errors_on == "new_rows"
        try:
            parameters = (
                cheapest_promise(alpha, beta, margin, (epsilon, delta), noise, analysis, columns)
                if of_new_rows
                else promise_on_training_rows(alpha, beta, margin, noise, analysis)
            )
        except ValueError as error:
            raise RequestError(str(error)) from None
        if n < parameters.rows:
            parts = ", ".join(f"{what}: {rows}" for what, rows in parameters.needed.items())
            raise RequestError(
                f"n = {n} is too small for alpha={alpha}, beta={beta}, margin={margin} at epsilon={epsilon}, "
                f"delta={delta}: {parameters.rows} rows would do ({parts})"
            )
        settled = {name: getattr(parameters.run, name) for name in ("rounds", "density", "learning_rate", "divisor")}
        violating = violating_share(alpha, margin)
        facts = (alpha, beta, margin, violating, errors_on, int(n), parameters.dimension)
        estimator.set_params(**settled, promise=dict(zip(PROMISED, facts, strict=True)))
        return estimator

    def diagnose(self, X: Any, y: Any, density: float = 0.1) -> Diagnosis:
        """How the ensemble did as a game on labelled rows: Pythia's bad set and its margin (Algorithm 8, Lemma 38).

        **Not private**: it reads rows and labels and nothing is charged. For the operator, never for release.

        Args:
            X: rows, as for ``fit``.
            y: labels as for ``fit``, shape ``(rows,)``; rows with other labels are left out.
            density: kappa, the share of rows in the bad set.
        """
        model = cast(HalfspaceModel, self.model_)
        rows = model.encoder.encode(self.frame_for_model(X))
        label = self._declared(list(model.classes)).label
        assert isinstance(label, LabelIndex)
        codes = label.encode(label_vector(y))
        labelled = codes != DROPPED
        signs = 2 * codes.astype(np.int64) - 1
        values = [
            np.clip(np.asarray(rows @ hypothesis.direction).reshape(-1) / model.encoder.clipper.radius, -1, 1)
            for hypothesis in self.ensemble_.hypotheses
        ]
        return diagnose((signs * np.array(values))[:, labelled], density)

    def make_learner(self, request: Request) -> HalfspaceLearner:
        options = Options(**{name: getattr(self, name) for name in PARAMETERS})
        return HalfspaceLearner(request, self.row_norm, self.fit_intercept, options, self._keep)

    @property
    def _takes_matrices(self) -> bool:
        """Whether ``X`` is a matrix of rows in a ball: where their length is declared, and no column is."""
        return self.row_norm is not None and self.schema is None

    def _keep(self, ensemble: Ensemble[Centre]) -> None:
        self.ensemble_ = ensemble

    def table_task(self, X: Any, y: Any, declared: Declared, learner: Learner) -> tuple[Task, Frame, Any]:
        if not self._takes_matrices:
            return super().table_task(X, y, declared, learner)
        check_labels_given(y, learner.name)
        frame, labels = matrix_frame(X), label_vector(y)
        check_as_many(frame, labels)
        label = label_of(declared, labels)
        check_labels(without_rows(labels), label, "", learner.name)
        refuse_open_classes(declared, labels, learner.name)
        matrix = frame.column(ROWS)
        norm = float(cast(float, self.row_norm))
        constant = norm if self.fit_intercept else 0.0
        wide = hasattr(matrix, "tocsr") or matrix.shape[1] > WIDE
        if wide:  # rows are of a length 128 times as large, and so is the noise
            check_noise_fits(learner.request.allowance, WIDE_BUDGET, learner.name)
        clipper = RowClipper(math.hypot(norm, constant), RADIUS_32 if wide else RADIUS_16)
        encoder = MatrixEncoder(int(matrix.shape[1]), clipper, constant)
        return MatrixTask(None, (ROWS,), label, None, encoder=encoder), frame, labels

    def _width(self, X: Any) -> int:
        return int(np.shape(X)[1]) if self._takes_matrices else super()._width(X)

    def frame_for_model(self, X: Any) -> Frame:
        if not isinstance(getattr(getattr(self, "model_", None), "encoder", None), MatrixEncoder):
            return super().frame_for_model(X)
        frame = matrix_frame(X)
        if self._width(X) != self.n_features_in_:
            raise wrong_width(self, self._width(X))
        return frame

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_matrices
        return tags
