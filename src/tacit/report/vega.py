"""Drawings as Vega-Lite specifications: plain data, for those who want to change a figure (https://vega.github.io)."""

from __future__ import annotations

from typing import Any

from tacit.privacy.request import RequestError
from tacit.report.drawing import Drawing

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
COLOUR, MINUS = "#0d6e6e", "#b4531a"


def vega_lite(drawing: Drawing) -> dict[str, Any]:
    """The specification of a drawing, with its numbers.

    Raises:
        RequestError: of a drawing that is no chart of numbers.
    """
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
