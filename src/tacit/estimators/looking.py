"""What a fitted estimator shows: drawings of its model, explanations of predictions, the report."""

from __future__ import annotations

import os
from copy import copy
from html import escape
from typing import TYPE_CHECKING, Any, Self

from tacit.models.base import Model, write_atomically
from tacit.privacy.certificate import Certificate

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame
    from tacit.models.edit import Edit
    from tacit.report.explanation import Explanation
    from tacit.report.figures import Figure, Figures
    from tacit.schema import Schema


class Page(str):
    """An HTML page as text; a notebook shows it in a frame of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<page of {len(self):,} characters: str() is its text>"

    def _repr_html_(self) -> str:
        frame = 'sandbox="" style="width:100%;height:720px;border:1px solid #bbb" title="report"'
        return f'<iframe srcdoc="{escape(self)}" {frame}></iframe>'


class Looking:
    """What an estimator shows after a fit. All of it follows from the model: no row is read and nothing is charged."""

    model_: Any
    certificate_: Certificate
    schema_: Schema | None

    def frame_for_model(self, X: Any) -> Frame:
        """The columns of a table to predict, as the model knows them."""
        raise NotImplementedError

    def _fitted_model(self) -> Model:
        """The model; before a fit scikit-learn's error."""
        raise NotImplementedError

    def plot(self, term: str | None = None) -> Figure | Figures:
        """The report's drawing of one term, or of all of them.

        Args:
            term: a column, such as ``"age"``, or two with ``" x "`` between them; None for all.

        Raises:
            RequestError: if there is no such drawing; it says which there are.

        Example:
            ``estimator.plot("age").save("age.svg")``; see :doc:`/look`.
        """
        return self._fitted_model().plot(term)  # type: ignore[no-any-return]

    def explain(self, X: Any) -> Explanation:
        """What moves the prediction of every row, by how much, and the noise in it.

        Args:
            X: a table of rows to explain. The explanation shows their values; it is no release of the model's data.

        Raises:
            RequestError: if the model is no sum of terms, as a list of rules is not.

        Example:
            ``print(estimator.explain(X[:3]))``; see :doc:`/look`.
        """
        from tacit.report.explanation import explain

        return explain(self._fitted_model(), self.frame_for_model(X))

    def edited(self, edit: Edit) -> Self:
        """The same estimator with a model that was edited by hand, and with the certificate that says so.

        Args:
            edit: of this estimator's model: ``estimator.model_.edit("age").flatten(60, 90)``.

        Raises:
            ClaimError: if it is of another model.
        """
        other = copy(self)
        other.model_, other.certificate_ = edit.model, edit.certificate(self.certificate_)
        other.describe()
        return other

    def describe(self) -> None:
        """Leaves behind what else is known after a fit."""

    def report(self, path: str | os.PathLike[str] | None = None, title: str | None = None) -> Page:
        """The report: one page that needs nothing but itself.

        Args:
            path: where to write it, too.
            title: its heading.

        Example:
            ``estimator.report("model.html")``; see :doc:`/look`.
        """
        from tacit.report.page import render

        schema = getattr(getattr(self, "best_", self), "schema_", None)
        text = Page(render(self._fitted_model(), self.certificate_.to_dict(), title, schema=schema))
        if path is not None:
            write_atomically(path, text)
        return text
