"""The report's drawings one by one, for notebooks, files and those who want to change them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tacit.display import shortened
from tacit.privacy.request import RequestError
from tacit.report.drawing import Drawing
from tacit.report.model_card import model_card
from tacit.schema.errors import nearest
from tacit.whole_files import write_text

if TYPE_CHECKING:
    from tacit.models.base import Model


MOST_SHOWN = 9
"""A notebook shows so many drawings of a model at first."""

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title></head>
<body style="margin:0">{body}</body>
</html>
"""


@cache
def environment() -> Environment:
    """The templates of the report; what is put into them is escaped."""
    return Environment(
        loader=PackageLoader("tacit.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


@cache
def style() -> str:
    """The page's style sheet as far as drawings and cards need it, under the class ``tacit``: notebooks have others."""
    whole = resources.files("tacit.report").joinpath("templates/style.css").read_text("utf-8")
    colours, rest = whole.split("* {", 1)
    rules = [line for line in rest.splitlines() if line.startswith(("svg", "figure", "h3", "details", "summary", "sup",
             ".scroll", ".data", ".cards", ".verdict", ".note", ".readable"))]  # fmt: skip
    scoped = [re.sub(r"(^|, )(?=[a-z.])", r"\1.tacit ", line.split("{", 1)[0]) + "{" + line.split("{", 1)[1]
              for line in rules if "{" in line and "}" in line]  # fmt: skip
    own = resources.files("tacit.report").joinpath("templates/notebook.css").read_text("utf-8")
    return colours.replace(":root", ".tacit") + "\n".join(scoped) + "\n" + own


def page(title: str, body: str) -> str:
    """A document of a card or of drawings: it needs nothing but itself."""
    return PAGE.format(title=escape(title), body=body)


@dataclass(frozen=True, repr=False)
class Figure:
    """One drawing of a model. A notebook shows it; it says nothing that the model does not hold."""

    drawing: Drawing

    @property
    def title(self) -> str:
        """What it is about: a column, two of them, or all parts."""
        return self.drawing.title

    def __repr__(self) -> str:
        return shortened(f"<Figure of {self.title}: {self.drawing.caption}>")

    def _repr_html_(self) -> str:
        return Figures("", "", (self,)).html()

    def to_svg(self) -> str:
        """The drawing as an SVG document with its own style, its title above it."""
        height = float(re.search(r'viewBox="0 0 \d+ (\d+)"', self.drawing.markup)[1])  # type: ignore[index]
        width = float(re.search(r'viewBox="0 0 (\d+) ', self.drawing.markup)[1])  # type: ignore[index]
        inside = self.drawing.markup.replace("<svg ", f'<svg y="26" width="{width:g}" height="{height:g}" ', 1)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tacit" viewBox="0 0 {width:g} {height + 26:g}" '
            f'width="{width:g}" height="{height + 26:g}"><style>{style()}</style>'
            f'<rect class="paper" width="100%" height="100%"/>'
            f'<text class="title" x="8" y="18">{escape(self.title)}</text>{inside}</svg>'
        )

    def to_vega_lite(self) -> dict[str, Any]:
        """The drawing as a Vega-Lite specification with its numbers, as plain data, to be changed and drawn elsewhere.

        Raises:
            RequestError: of a single tree or a list of rules, which are no chart.
        """
        return vega_lite(self.drawing)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as SVG or, by the ending of the name, as an HTML page.

        Raises:
            RequestError: for another ending. Nothing was written.
        """
        ending = Path(path).suffix.lower()
        if ending not in (".svg", ".html"):
            raise RequestError(f"{path}: a figure is written as .svg or .html; a browser prints either as PNG or PDF")
        write_text(path, self.to_svg() if ending == ".svg" else page(self.title, self._repr_html_()))


@dataclass(frozen=True, repr=False)
class Figures:
    """All drawings of a model, most important ones first, with how to read them; ``[title]`` is one of them."""

    heading: str
    reading: str
    figures: tuple[Figure, ...]

    def __getitem__(self, title: str) -> Figure:
        names = {title, title.replace(" x ", " × ")}
        for figure in self.figures:
            if figure.title in names:
                return figure
        titles = [figure.title for figure in self.figures]
        hint = nearest(title, titles) if titles else "the model is in words"
        raise RequestError(f"there is no drawing of {title!r}; {hint}")

    def __iter__(self) -> Iterator[Figure]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def __repr__(self) -> str:
        return shortened(f"<{len(self)} figures: {', '.join(figure.title for figure in self.figures)}>")

    def _repr_html_(self) -> str:
        return self.html(MOST_SHOWN)

    def html(self, most: int | None = None) -> str:
        """The drawings, or the first of them, as an HTML fragment with its own style."""
        one = environment().get_template("drawing.html.j2")
        parts = [
            Markup(one.render(drawing=figure.drawing, markup=Markup(_own_names(figure.drawing.markup))))  # noqa: S704 - rendered
            for figure in self.figures[:most]
        ]
        rest = [figure.title for figure in self.figures[len(parts) :]]
        template = environment().get_template("figures.html.j2")
        return template.render(style=Markup(style()), figures=self, shown=parts, rest=rest)  # noqa: S704 - our own file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an HTML page with all of them.

        Raises:
            RequestError: if the name does not end in ``.html``. Nothing was written.
        """
        if Path(path).suffix.lower() != ".html":
            raise RequestError(f"{path}: several figures are written as one .html page; save each as .svg")
        write_text(path, page(self.heading, self.html()))


def _own_names(markup: str) -> str:
    """A drawing whose identifiers no other drawing in a notebook has."""
    match = re.search(r'aria-labelledby="(\S+)-t \S+-d"', markup)
    if match is None:
        return markup
    old, own = match[1], f"f{sha256(markup.encode()).hexdigest()[:8]}"
    for place in (f'id="{old}-t"', f'id="{old}-d"', match[0]):
        markup = markup.replace(place, place.replace(f"{old}-", f"{own}-"), 1)
    return markup


def figures_of(model: Model, ordinals: Collection[str] = ()) -> Figures:
    """All drawings of a model; ``ordinals`` are columns whose categories keep their order."""
    card = model_card(model, ordinals)
    return Figures(card.summary, card.reading, tuple(Figure(drawing) for drawing in card.drawings))


SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
COLOUR, MINUS = "#0d6e6e", "#b4531a"


def vega_lite(drawing: Drawing) -> dict[str, Any]:
    """The specification of a drawing, with its numbers."""
    if not drawing.points:
        raise RequestError(f"{drawing.title!r} is a drawing of rules, not of numbers: save it as .svg")
    points = [dict(point) for point in drawing.points]
    effect = drawing.header[1] if len(drawing.header) > 1 else "effect"
    whole = {"$schema": SCHEMA, "title": drawing.title, "description": drawing.caption, "data": {"values": points}}
    if drawing.kind == "curve":
        return whole | _curve(drawing.title, effect, points)
    return whole | (_map(points[0], effect) if drawing.kind == "map" else _bars(drawing.title, effect, points))


def _by_outcome(points: list[dict[str, Any]]) -> dict[str, Any]:
    """The colour of a line: of its class, where there are several."""
    if "outcome" in points[0]:
        return {"color": {"field": "outcome", "type": "nominal"}}
    return {"color": {"value": COLOUR}}


def _tooltip(points: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"field": name} for name in ("outcome", "value", "effect", "sd", "rows") if name in points[0]]


def _curve(title: str, effect: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """Steps with a band; the missing bin is a point of its own at their right."""
    colour, tooltip = _by_outcome(points), _tooltip(points)
    x = {
        "x": {"field": "from", "type": "quantitative", "title": title, "scale": {"zero": False}},
        "x2": {"field": "to"},
    }
    band = {"y": {"field": "low", "type": "quantitative", "title": effect}, "y2": {"field": "high"}}
    y = {"y": {"field": "effect", "type": "quantitative", "title": effect}}
    steps = {
        "transform": [{"filter": "isValid(datum.from)"}],
        "layer": [
            {"mark": {"type": "rect", "opacity": 0.18}, "encoding": x | band | colour},
            {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": x | y | colour | {"tooltip": tooltip}},
        ],
    }
    place = {"x": {"field": "value", "type": "nominal", "title": None}}
    missing = {
        "transform": [{"filter": "!isValid(datum.from)"}],
        "layer": [
            {"mark": "rule", "encoding": place | band | colour},
            {"mark": {"type": "point", "filled": True}, "encoding": place | y | colour | {"tooltip": tooltip}},
        ],
    }
    alone = all("from" in point for point in points)
    return steps if alone else {"hconcat": [steps, missing], "resolve": {"scale": {"y": "shared"}}}


def _bars(title: str, effect: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """A bar per value with its noise; those of parts and weights, too."""
    order = list(dict.fromkeys(point["value"] for point in points))
    y: dict[str, Any] = {"y": {"field": "value", "type": "nominal", "title": title, "sort": order}}
    if "outcome" in points[0]:
        y["yOffset"] = {"field": "outcome"}
    x = {"x": {"field": "effect", "type": "quantitative", "title": effect}}
    layers: list[dict[str, Any]] = [
        {"mark": "bar", "encoding": y | x | _by_outcome(points) | {"tooltip": _tooltip(points)}}
    ]
    if "low" in points[0]:
        ends = {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}
        layers.append({"mark": "rule", "encoding": y | ends})
    return {"layer": layers}


def _map(point: dict[str, Any], effect: str) -> dict[str, Any]:
    return {
        "mark": "rect",
        "encoding": {
            "x": {"field": "column_value", "type": "ordinal", "sort": None, "title": point["column"]},
            "y": {"field": "row_value", "type": "ordinal", "sort": None, "title": point["row"]},
            "color": {
                "field": "effect",
                "type": "quantitative",
                "title": effect,
                "scale": {"domainMid": 0, "range": [MINUS, "#ffffff", COLOUR]},
            },
            "tooltip": [{"field": name} for name in ("row_value", "column_value", "effect", "sd", "rows")],
        },
    }
