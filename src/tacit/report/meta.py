"""What only a person knows about a model: the file of ``--meta``, which every paper about a model is filled from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from tacit.errors import TacitError, problem_list
from tacit.report import svg
from tacit.whole_files import read_toml

KEYS: Mapping[str, str] = {
    "title": "name of the model for people",
    "controller": "the organisation that decides why and how the data are used",
    "contact": "where questions and requests about the data go",
    "purpose": "what the model is for, and who uses it",
    "dataset": "the data set: where it came from, which people, which years",
    "legal_basis": "the legal basis of the processing, such as Article 6(1)(e) GDPR with the national law",
    "account_total": "the budget that all releases from these data may cost together",
    "region": "the region that the data describe, or whose law applies",
    "sector": "Technology, Healthcare, Education, Government, Energy or Finance",
    "published": "day of publication, as YYYY-MM-DD",
    "authors": "who filled in this file",
    "sources": "links to descriptions, and to the model where it is public",
    "schema_sources": "where bounds, categories and classes of the schema come from, if not from these rows",
    "justification": "why this epsilon, this unit and this delta were chosen, and who decided",
    "releases": "further releases that are planned or were made from the same data",
    "access": "who can read the data, and how they are secured",
    "collection": "how the data were collected, selected, labelled and cleaned",
    "impact_assessment": "the data protection impact assessment, and the advice of the data protection officer",
    "oversight": "who supervises the use of the model, and how a person can overrule it",
    "monitoring": "how performance is watched in use, and what happens when it falls",
    "risk_management": "the risk management system (Article 9 AI Act)",
    "fairness": "for which groups the model works less well, and what follows from that",
    "output_checker": "who checks outputs before they leave, and by which process",
}
"""Key of the file -> what to write there. All are texts; ``authors`` and ``sources`` may be lists of texts."""

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
LISTS = ("authors", "sources")


class MetaError(TacitError):
    """A file of ``--meta`` that cannot be used. The message names the line or the key."""


class Meta(dict[str, str]):
    """What a person wrote, by key of :data:`KEYS`; a key that is missing was left out. Lists are lines of text."""

    def lines(self, key: str) -> list[str]:
        """The texts of a key that may hold several; empty if it was left out."""
        return self[key].split("\n") if key in self else []


SPACES = set("\n\r\t\u200c\u200d")
"""What is not printable and may be in a text: line breaks, and the joiners of some scripts."""


def read_meta(path: str | os.PathLike[str] | None) -> Meta:
    """Reads a TOML file of texts; without one, nothing is stated."""
    if path is None:
        return Meta()
    try:
        document = read_toml(path)
    except ValueError as error:
        raise MetaError(f"{path} is no TOML file: {error}") from None
    meta, problems = Meta(), []
    for key, value in document.items():
        try:
            meta[key] = _text(path, key, value)
        except MetaError as error:
            problems.append(error.message)
    if problems:
        raise MetaError(problem_list(problems))
    return meta


def _text(path: str | os.PathLike[str], key: str, value: Any) -> str:
    if key not in KEYS:
        alike = difflib.get_close_matches(key, KEYS, 1)
        hint = f"did you mean {alike[0]!r}?" if alike else f"the keys are {', '.join(KEYS)}"
        raise MetaError(f"{path}: the key {key!r} is unknown; {hint}")
    if isinstance(value, date) and key == "published":
        value = value.isoformat()[:10]
    if isinstance(value, int | float) and not isinstance(value, bool) and key == "account_total":
        value = f"epsilon {value:g}"
    if isinstance(value, list) and key in LISTS and value and all(isinstance(each, str) for each in value):
        value = "\n".join(" ".join(each.split()) for each in value)
    if not isinstance(value, str) or not value.strip():
        kind = "a text, or a list of texts" if key in LISTS else "a text"
        raise MetaError(f"{path}: {key} must be {kind} in quotes: {KEYS[key]}")
    if strange := sorted({sign for sign in value if not sign.isprintable()} - SPACES):
        raise MetaError(f"{path}: {key} must hold no control characters, got {', '.join(map(ascii, strange))}")
    if key == "sector" and value not in SECTORS:
        raise MetaError(f"{path}: sector must be one of {', '.join(SECTORS)}, got {value!r}")
    if key == "published":
        _check_day(path, value)
    return value.strip()


def _check_day(path: str | os.PathLike[str], value: str) -> None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = None
    if day is None or day.isoformat() != value:
        raise MetaError(f"{path}: published must be a day as YYYY-MM-DD, got {value!r}")


FIRST = ("controller", "contact", "purpose", "dataset", "legal_basis", "account_total")
"""Keys of ``--meta`` that a report begins with; "title" is its heading."""


@dataclass(frozen=True)
class Filing:
    """Facts that a person stated, and figures that were measured at a cost.

    ``groups`` head the table of figures: all rows, and subgroups; a line of it is a name and an estimate per group.
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
    figures = tuple(
        (name.replace("_", " "), *(estimate(group.get(name)) for group in groups.values())) for name in names
    )
    cost = f"epsilon {evaluation['epsilon']:.4g}, delta {evaluation['delta']:g}" if "epsilon" in evaluation else ""
    return Filing(title, facts, tuple(groups), figures, cost)


def estimate(figure: Any) -> str:
    """An estimate with its interval; empty where there is none."""
    if not isinstance(figure, Mapping) or figure.get("value") is None:
        return ""
    low, high = figure.get("low"), figure.get("high")
    text = svg.short(float(figure["value"]))
    return text if low is None or high is None else f"{text} ({svg.short(float(low))} to {svg.short(float(high))})"
