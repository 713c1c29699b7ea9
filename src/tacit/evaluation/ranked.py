"""The private columns of a score (of every row, one at a time), and the ranked probability score (Epstein 1969).

A row whose class is ``y``, of ``K`` in an order, scores ``sum over cuts k of (P(class <= k) - [y <= k])**2 / (K - 1)``:
0 for all chance at its class, 1 for all of it at the wrong end. Chances that lie near count for something, as no score
of the true class's chance alone would have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.curator.curator import Curator
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.grid import NumericGrid
from tacit.encoding.inputs import no_rows_of
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.evaluation.error_grid import log_odds
from tacit.evaluation.strategy import noise_draws, noises, shared, sums_by_group, views
from tacit.models.base import Model, NumberModel
from tacit.privacy.charges import Charge
from tacit.privacy.label import Label, Stage
from tacit.privacy.request import RequestError, is_number
from tacit.queries.rules import count_rule
from tacit.schema import Schema

RANKED_CELLS = 1024
"""Equal cells over scores of rows, from 0 to 1; fewer with many groups, as the release has a column for each."""

MOST_RANKED_CELLS = 8192
"""Of all groups together."""


def ranked_probability_scores(chances: npt.ArrayLike, places: npt.ArrayLike) -> Floats:
    """The score of every row, between 0 and 1 whatever the chances are; shape ``(rows,)``. A row's depends on it alone.

    ``chances``, shape ``(rows, K)``, have the classes in their order; what is no number counts as 0, and sums are cut
    off at 0 and 1. ``places`` are the classes of the rows, ``0 .. K - 1``, shape ``(rows,)``.
    """
    finite = np.nan_to_num(np.asarray(chances, np.float64), nan=0.0, posinf=1.0, neginf=0.0)
    upto = np.clip(np.cumsum(finite, axis=1)[:, :-1], 0.0, 1.0)
    below = np.asarray(places)[:, None] <= np.arange(upto.shape[1])
    return np.asarray(np.minimum(np.square(upto - below).mean(axis=1), 1.0))


def ranked_probability_score(labels: Any, probabilities: Any, classes: Sequence[Any]) -> float:
    """The mean ranked probability score, divided by the number of cuts: 0 is best, 1 the worst there is (Epstein 1969).

    Of two classes it is the Brier score. This is the exact figure, for rows that are public or for the holder of the
    data alone: :func:`tacit.private_score` releases it with noise, for a charge.

    Args:
        labels: the class of every row, shape ``(rows,)``, at least one row.
        probabilities: shape ``(rows, classes)``, columns as ``classes``.
        classes: two or more, in their order.

    Raises:
        ValueError: for a label that is no class, or shapes that do not fit.

    Example:
        >>> from tacit import ranked_probability_score
        >>> probabilities = [[0.8, 0.1, 0.1], [0.0, 0.0, 1.0]]
        >>> round(ranked_probability_score(["low", "high"], probabilities, ["low", "middle", "high"]), 4)
        0.0125
    """
    place = {value: k for k, value in enumerate(classes)}
    chances = np.asarray(probabilities, np.float64)
    codes = [place.get(label.item() if isinstance(label, np.generic) else label) for label in labels]
    if len(place) < 2 or len(place) != len(classes) or chances.shape != (len(codes), len(place)) or not codes:
        raise ValueError(
            f"need two or more different classes, a label for every row and a probability for every class, got "
            f"{len(classes)} classes, {len(codes)} labels and probabilities of shape {chances.shape}"
        )
    if None in codes:
        raise ValueError(f"labels must be among {', '.join(map(str, classes))}")
    return float(ranked_probability_scores(chances, np.array(codes)).mean())


def ranked_grid(groups: int) -> NumericGrid:
    """Cells over the scores of rows."""
    return NumericGrid(0.0, 1.0, max(min(RANKED_CELLS, MOST_RANKED_CELLS // groups), 64))


def ranked_matrix(cells: int) -> Floats:
    """What a row of each cell adds, shape ``(3, cells)``: of its score ``r``, ``(1 - r)**2, 2 r (1 - r), r**2``.

    They sum to 1 and none is negative, so that a row adds a vector of L1 norm 1, and of L2 norm at most 1. Rows, the
    sum of their scores and the sum of their squares follow from the three.
    """
    score = (np.arange(cells) + 0.5) / cells
    return np.array([(1 - score) ** 2, 2 * score * (1 - score), score**2])


ROWS, SCORES, SQUARES = np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0])
"""Linear forms over the three released numbers."""


@final
@dataclass(frozen=True, eq=False)
class RankedSums:
    """What was released of the scores of one group of rows: three noisy sums.

    ``noise`` has the standard deviations of the independent noises that add up in each, Laplace or Gaussian.
    """

    values: Floats
    noise: tuple[float, ...]
    laplace: bool

    def noise_draws(self, times: int, generator: np.random.Generator) -> Floats:
        """Noise as it might have been, shape ``(times, 3)``; public randomness."""
        return noise_draws(self.noise, self.laplace, (times, 3), generator)

    @property
    def rows_sd(self) -> float:
        """Standard deviation of the noise in the number of rows."""
        return float(np.linalg.norm(self.noise) * np.linalg.norm(ROWS)) if self.noise else 0.0


def release_ranked(curator: Curator, groups: int, norm: int, charge: Charge) -> list[RankedSums]:
    """The sums of all rows, then of each group, in one release over a table made by :meth:`ScoreGroups.encoding`.

    Guarantee: that of ``charge``. A row has one score and one group, so it moves the release by one column of its
    matrix, whose norm (1 for Laplace noise, 2 for Gaussian) is at most 1 (docs/theory/sensitivities.md, section 0).
    """
    by_group = shared(groups, norm)
    query = sums_by_group(ranked_matrix(ranked_grid(groups).cells), by_group, count_rule(2))
    release = curator.measure(query, charge, Label(Stage.EVALUATION, "sums of ranked probability scores, by group"))
    values = release.value.reshape(len(by_group.matrix), 3)
    return [RankedSums(line @ values, noises(line, release.sd), norm == 1) for line in views(by_group)]


def _plain(classes: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(value.item() if isinstance(value, np.generic) else value for value in classes)


@final
@dataclass(frozen=True, eq=False)
class Scorer:
    """A public function from rows to probabilities, by a model or an estimator that was fitted.

    ``verified``: whether those of a row are known to depend on that row alone. ``places``: which column of them is
    about each class of ``label_index``. ``in_order``: whether the classes stand in an order that somebody declared, or
    are numbers.
    """

    predictor: Any
    label_index: LabelIndex
    verified: bool
    places: tuple[int, ...]
    in_order: bool = True

    @staticmethod
    def of(predictor: Any, schema: Schema | None) -> Scorer:
        """The scorer of a model, of one of this library's estimators, or of any fitted classifier.

        Raises ``RequestError`` if it is none of them, or was not fitted.
        """
        if isinstance(getattr(predictor, "model_", predictor), NumberModel):
            raise RequestError("this is a model of a number, and what is evaluated here are models of classes")
        model = getattr(predictor, "model_", predictor)
        verified = isinstance(model, Model) and model.sees_rows_alone
        classes = getattr(predictor, "classes", None) if isinstance(predictor, Model) else None
        if classes is None:
            classes = getattr(predictor, "classes_", None)
        if classes is None or not hasattr(predictor, "predict_proba"):
            raise RequestError(
                f"a {type(predictor).__name__} cannot be judged: it has no predict_proba and classes (was it fitted?)"
            )
        names = _plain(classes)
        label = None if schema is None or schema.label is None or schema.label.is_numeric else schema.label
        if label is not None:
            label_index = LabelIndex.of(label)
            if sorted(map(str, label_index.names)) != sorted(map(str, names)):
                raise RequestError(f"the schema's classes are {label_index.names}, and the model's {names}")
        else:  # an estimator's classes are sorted, its model's have the positive one last
            label_index = LabelIndex(_plain(getattr(getattr(predictor, "model_", None), "classes", names)))
        columns = [str(name) for name in names]
        places = tuple(columns.index(str(name)) for name in label_index.names)
        in_order = label is not None or isinstance(model, Model) or all(is_number(name) for name in names)
        return Scorer(predictor, label_index, verified, places, in_order)

    @property
    def n_classes(self) -> int:
        return self.label_index.n_classes

    def check_order(self) -> None:
        """Raises for classes that stand in no order, where one is asked about."""
        if self.n_classes > 2 and not self.in_order:
            raise RequestError(
                "the ranked probability score is about classes in an order, and these are sorted by their names: give "
                "a schema whose label lists them in their order"
            )

    def check(self, frame: Frame, data: Any, labels: Any) -> None:
        """Raises for what is public: a column that is missing, or one or labels of the wrong kind. Reads no row."""
        if self.verified and frame.names:
            self.probabilities(frame.without_rows(), no_rows_of(data, frame))
        self.label_index.encode(without_rows(labels), "label")

    def columns(
        self, frame: Frame, data: Any, labels: Any, each_class: bool = False, ranked: bool = False
    ) -> dict[str, npt.NDArray[Any]]:
        """Private columns, shape ``(rows,)`` each.

        Returns:
            ``score`` (log-odds) and ``label`` (0, 1, or :data:`DROPPED`). With two classes the score is that of the
            positive one. With more, the score is the likeliest class's, the label says if that class was right, and
            ``truth`` is the score of the true class; with ``each_class``, ``class k`` is that of each, and ``is k``
            says whether it is true; with ``ranked``, that is the ranked probability score.
        """
        chances = self.probabilities(frame, data)
        codes = self.label_index.encode(labels).astype(np.int64)
        if self.n_classes == 2:
            return {"score": log_odds(chances[:, 1]), "label": codes}
        counted = codes != DROPPED
        truth = np.where(counted, codes, 0)
        right = np.where(counted, chances.argmax(axis=1) == truth, DROPPED)
        of_truth = np.take_along_axis(chances, truth[:, None], axis=1)[:, 0]
        columns = {"score": log_odds(chances.max(axis=1)), "label": right, "truth": log_odds(of_truth)}
        if ranked:
            columns["ranked"] = ranked_probability_scores(chances, truth)
        for k in range(self.n_classes) if each_class else ():
            columns |= {f"class {k}": log_odds(chances[:, k]), f"is {k}": np.where(counted, codes == k, DROPPED)}
        return columns

    def probabilities(self, frame: Frame, data: Any) -> Floats:
        """Probabilities, shape ``(rows, classes)``."""
        takes_frame = isinstance(self.predictor, Model)
        chances = np.asarray(self.predictor.predict_proba(frame if takes_frame else data), np.float64)
        if chances.shape != (frame.n_rows, self.n_classes):
            raise RequestError(f"predict_proba gave shape {chances.shape[1:]} per row for {self.n_classes} classes")
        return chances[:, self.places]
