"""Predictions explained: the contribution of every term, with the uncertainty due to noise."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import expit

from tacit.arrays import Floats
from tacit.display import shortened
from tacit.encoding.frames import Frame
from tacit.encoding.matrix_rows import ROWS
from tacit.models.base import ClassModel, Model
from tacit.models.binding import model_digest
from tacit.models.summary import CLEAR
from tacit.models.terms import LOG_ODDS, LOG_RATIO, Terms, terms_of
from tacit.report import svg
from tacit.report.figures import environment, page, style
from tacit.report.places import factor, signed
from tacit.whole_files import write_text

INTERCEPT = "(intercept)"
"""What the start of the sum is called."""

RANGE = "within two standard deviations of the noise"
"""The head of the column of ranges."""


@dataclass(frozen=True)
class Contribution:
    """What one term adds to the prediction of one row.

    Attributes:
        row: number of the row, from :attr:`Explanation.first`.
        outcome: the class that the score speaks for, or the target.
        term: a column, two of them, trees together; or the intercept.
        value: of the row in the term's columns, in words.
        contribution: to the score, in the explanation's unit.
        sd: standard deviation of the noise in it; NaN where it is not known.
    """

    row: int
    outcome: str
    term: str
    value: str
    contribution: float
    sd: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What moved the predictions of some rows. ``to_dict()`` is a table; a notebook shows it as one.

    Attributes:
        terms: the sums, as arrays.
        values: per row and term, the value that counts, in words.
        chances: of classes their probabilities, shape ``(rows, classes)``; of a number the predictions, ``(rows, 1)``.
        classes: of the model, the positive one last; nothing where it predicts a number.
        first: number of the first row.
        digest: of the model, SHA-256.
        title: what a page is called.
    """

    terms: Terms
    values: tuple[tuple[str, ...], ...]
    chances: Floats
    classes: tuple[str, ...]
    first: int = 0
    digest: str = ""
    title: str = "Predictions explained"

    @property
    def unit(self) -> str:
        """Of contributions: log-odds, the logarithm of the mean, or the target's own."""
        return self.terms.unit

    def rows(self) -> list[Contribution]:
        """All contributions: row by row, and of each first the intercept, then the terms in their order."""
        listed = []
        for row, score in np.ndindex(*self.terms.start.shape):
            outcome, number = self.terms.outcomes[score], self.first + row
            listed.append(Contribution(number, outcome, INTERCEPT, "", float(self.terms.start[row, score]), math.nan))
            for place, name in enumerate(self.terms.names):
                part, sd = (float(array[row, place, score]) for array in (self.terms.parts, self.terms.sd))
                listed.append(Contribution(number, outcome, name, self.values[row][place], part, sd))
        return listed

    def to_dict(self) -> dict[str, list[Any]]:
        """The same as columns of a table: ``pandas.DataFrame(explanation.to_dict())``."""
        rows, names = self.rows(), ("row", "outcome", "term", "value", "contribution", "sd")
        return {name: [getattr(row, name) for row in rows] for name in names}

    def strongest(self, row: int) -> list[Contribution]:
        """The contributions to a row's likeliest outcome, largest first, the intercept at the head."""
        score = self._shown_score(row)
        outcome = self.terms.outcomes[score]
        mine = [each for each in self.rows() if each.row == self.first + row and each.outcome == outcome]
        return [mine[0], *sorted(mine[1:], key=lambda each: -abs(each.contribution))]

    def says(self, row: int) -> str:
        """The prediction of a row in words, with its range within the noise."""
        score = self._shown_score(row)
        if not self.classes:
            text = f"{self.terms.outcomes[0]} {svg.short(float(self.chances[row, 0]))}"
        else:
            likely = int(self.chances[row].argmax()) if len(self.classes) > 2 else 1
            text = f"{self.classes[likely]} {100 * self.chances[row, likely]:.1f} %"
        sd = float(self.terms.total_sd[row, score])
        if math.isnan(sd):
            return f"{text}; the size of the noise in it is not known"
        if len(self.classes) > 2:
            return f"{text}; the noise in its log-odds has a standard deviation of {sd:.2g}"
        low, high = (float(self.terms.scores[row, 0]) + side * CLEAR * sd for side in (-1.0, 1.0))
        if self.classes:
            ends = f"{100 * float(expit(low)):.1f} to {100 * float(expit(high)):.1f} %"
        else:
            ends = " to ".join(svg.short(math.exp(v) if self._multiplies else v) for v in (low, high))
        return f"{text} ({ends} within two standard deviations of the noise)"

    def words(self, each: Contribution) -> tuple[str, str]:
        """A contribution, and its range within the noise."""

        def said(value: float) -> str:
            return factor(value) if self._multiplies else signed(value)

        if math.isnan(each.sd):
            return said(each.contribution), "" if each.term == INTERCEPT else "not known"
        low, high = (each.contribution + side * CLEAR * each.sd for side in (-1.0, 1.0))
        alone = abs(each.contribution) < CLEAR * each.sd
        return said(each.contribution), f"{said(low)} to {said(high)}{', may be noise alone' if alone else ''}"

    @property
    def _multiplies(self) -> bool:
        return self.unit.startswith((LOG_ODDS, LOG_RATIO))

    @property
    def _effect(self) -> str:
        """The head of the column of contributions."""
        return "adds" if not self._multiplies else "odds" if self.unit == LOG_ODDS else "mean"

    def _shown_score(self, row: int) -> int:
        return int(self.terms.scores[row].argmax())

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return shortened(f"<Explanation of {len(self)} rows by {len(self.terms.names)} terms, in {self.unit}>")

    def __str__(self) -> str:
        lines = []
        unit, effect = ("log-odds" if self.unit == LOG_ODDS else "log"), self._effect
        for row in range(len(self)):
            lines.append(f"Row {self.first + row}: {self.says(row)}")
            lines.append(f"  {'term':<28} {'value':<20} {unit if self._multiplies else '':>8}  {effect:<8} {RANGE}")
            for each in self.strongest(row):
                text, remainder = self.words(each)
                lines.append(
                    f"  {each.term:<28} {each.value:<20.20} {each.contribution:+8.3f}  {text:<8} {remainder}".rstrip()
                )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        indices = range(min(len(self), MOST_SHOWN))
        reach = max((_farthest(e) for row in indices for e in self.strongest(row)[1:]), default=1.0) or 1.0
        rows = [
            (self.first + row, self.says(row), [self._line(each, reach) for each in self.strongest(row)])
            for row in indices
        ]
        template = environment().get_template("explanation.html.j2")
        return template.render(
            style=Markup(style()),  # noqa: S704 - our own file
            rows=rows,
            effect=self._effect,
            range=RANGE,
            multiplies=self._multiplies,
            unit=self.unit,
            rest=len(self) - len(indices),
            digest=self.digest,
        )

    def _line(self, each: Contribution, reach: float) -> dict[str, Any]:
        """A contribution as a bar from the middle, its noise as a line; ends in per cent of the width."""
        text, remainder = self.words(each)
        ends = sorted((50.0, 50.0 + 48.0 * each.contribution / reach))
        sd = 0.0 if math.isnan(each.sd) else each.sd
        noise = [50.0 + 48.0 * (each.contribution + side * CLEAR * sd) / reach for side in (-1.0, 1.0)]
        return {
            "term": each.term, "value": each.value, "says": text, "open": remainder,
            "amount": f"{each.contribution:+.3f}",
            "bar": None if each.term == INTERCEPT else (ends[0], ends[1] - ends[0]),
            "noise": (noise[0], noise[1] - noise[0]), "up": each.contribution >= 0,
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an HTML page that only its owner can read: it shows the values of the rows."""
        text = page(self.title, f"<h2>{escape(self.title)}</h2>{self._repr_html_()}")
        write_text(path, text, private=True)


MOST_SHOWN = 20
"""A page shows so many rows."""


def explain(model: Model, data: Any) -> Explanation:
    """What moves the predictions of a table's rows.

    Raises:
        RequestError: if the model is no sum of terms.
    """
    terms = terms_of(model, data)
    frame = data if isinstance(data, Frame) else model.frame_of(data) if model.feature_names != (ROWS,) else None
    texts = {} if frame is None else {name: _texts(frame.column(name)) for name in model.feature_names if name != ROWS}
    values = tuple(
        tuple(", ".join(texts[name][row] for name in columns if name in texts) for columns in terms.columns)
        for row in range(len(terms.start))
    )
    digest = model_digest(model)
    if isinstance(model, ClassModel):
        return Explanation(terms, values, model.predict_proba(data), tuple(map(str, model.classes)), digest=digest)
    return Explanation(terms, values, np.asarray(model.predict(data))[:, None], (), digest=digest)


def _farthest(each: Contribution) -> float:
    """How far a contribution or its noise reaches from 0."""
    return abs(each.contribution) + (0.0 if math.isnan(each.sd) else CLEAR * each.sd)


def _texts(column: Any) -> list[str]:
    """The values of a native vector in words."""
    listing = next(
        (getattr(column, name) for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)), None
    )
    values = list(column) if listing is None else listing()
    return ["missing" if value is None or value != value else _text(value) for value in values]


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
