"""What a report says beyond the model file: what a person wrote about the model, and how well it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.report import svg
from tacit.report.meta import Meta

FIRST = ("controller", "contact", "purpose", "dataset", "legal_basis", "account_total")
"""Keys of ``--meta`` that a report begins with; "title" is its heading."""


@dataclass(frozen=True)
class Filing:
    """Facts that were stated, and figures that were measured.

    Attributes:
        title: the heading of the page; empty for the usual one.
        facts: what a person wrote: what it is about, and the text.
        groups: header of the table of figures: all rows, and subgroups.
        figures: a line per figure: its name, and the estimate with its interval in each group.
        cost: what the figures cost.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    groups: tuple[str, ...] = ()
    figures: tuple[tuple[str, ...], ...] = ()
    cost: str = ""


def filing(meta: Meta, evaluation: Mapping[str, Any] | None = None) -> Filing:
    """What is filed with a report, from the file of ``--meta`` and the output of ``tacit evaluate --json``."""
    keys = [key for key in (*FIRST, *meta) if key in meta and key != "title"]
    facts = tuple((key.replace("_", " "), meta[key].replace("\n", ", ")) for key in dict.fromkeys(keys))
    title = meta.get("title", "")
    if evaluation is None:
        return Filing(title, facts)
    groups = {"all rows": evaluation["overall"], **evaluation.get("subgroups", {})}
    names = [
        name for name, figure in evaluation["overall"].items() if isinstance(figure, Mapping) and "value" in figure
    ]
    figures = tuple((name.replace("_", " "), *(_said(group.get(name)) for group in groups.values())) for name in names)
    cost = f"epsilon {evaluation['epsilon']:.4g}, delta {evaluation['delta']:g}" if "epsilon" in evaluation else ""
    return Filing(title, facts, tuple(groups), figures, cost)


def _said(figure: Any) -> str:
    """An estimate with its interval."""
    if not isinstance(figure, Mapping) or figure.get("value") is None:
        return ""
    low, high = figure.get("low"), figure.get("high")
    text = svg.short(float(figure["value"]))
    return text if low is None or high is None else f"{text} ({svg.short(float(low))} to {svg.short(float(high))})"
