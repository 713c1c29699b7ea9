"""From a model and rows to two private columns: the score of every row and its label. One row at a time, by rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.encoding.frames import Frame, without_rows
from tacit.encoding.inputs import no_rows_of
from tacit.encoding.values import DROPPED, LabelIndex
from tacit.evaluation.error_grid import log_odds
from tacit.evaluation.ranked import ranked_probability_scores
from tacit.models.base import Model, NumberModel
from tacit.privacy.request import RequestError, is_number
from tacit.schema import Schema


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

        Raises:
            RequestError: if it is none of them, or was not fitted.
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
        known = codes != DROPPED
        truth = np.where(known, codes, 0)
        right = np.where(known, chances.argmax(axis=1) == truth, DROPPED)
        of_truth = np.take_along_axis(chances, truth[:, None], axis=1)[:, 0]
        columns = {"score": log_odds(chances.max(axis=1)), "label": right, "truth": log_odds(of_truth)}
        if ranked:
            columns["ranked"] = ranked_probability_scores(chances, truth)
        for k in range(self.n_classes) if each_class else ():
            columns |= {f"class {k}": log_odds(chances[:, k]), f"is {k}": np.where(known, codes == k, DROPPED)}
        return columns

    def probabilities(self, frame: Frame, data: Any) -> Floats:
        """Probabilities, shape ``(rows, classes)``."""
        takes_frame = isinstance(self.predictor, Model)
        chances = np.asarray(self.predictor.predict_proba(frame if takes_frame else data), np.float64)
        if chances.shape != (frame.n_rows, self.n_classes):
            raise RequestError(f"predict_proba gave shape {chances.shape[1:]} per row for {self.n_classes} classes")
        return chances[:, self.places]
