"""A dossier of a model for those who decide about it: headings of the authorities, filled from what can be checked.

Under every heading stands what the certificate, the schema, audits and evaluations show, or the words of the person who
wrote ``--meta``; what is neither is marked as left to a person.

Source of the headings: EDPB Opinion 28/2024, section 3.2; Regulation (EU) 2024/1689, Annex IV, points 2, 3 and 5; NIST
SP 800-226; SATRE 2.0, 3.3.04 to 3.3.07.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from tacit.report.dossier_answers import Answers
from tacit.report.meta import KEYS
from tacit.report.paperwork import Paperwork
from tacit.report.promise import risk_rows


@dataclass(frozen=True)
class Point:
    """One heading of an authority: what can be said of it, and the keys of ``--meta`` that complete it."""

    heading: str
    answer: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """The headings of one authority."""

    title: str
    points: tuple[Point, ...]


HEADINGS: tuple[tuple[str, tuple[tuple[str, str, tuple[str, ...]], ...]], ...] = (
    (
        "EDPB Opinion 28/2024: can personal data be extracted from the model?",
        (
            ("Design: sources of the data", "", ("dataset", "collection")),
            ("Design: preparation and minimisation", "minimisation", ()),
            ("Design: choices of the training", "method", ()),
            ("Design: measures about outputs", "outputs", ()),
            ("Analysis of the model", "analysis", ()),
            ("Testing and resistance to attacks", "attacks", ()),
            ("Documentation: impact assessment", "", ("impact_assessment",)),
            ("Documentation: legal basis", "", ("legal_basis",)),
            ("Documentation: why these parameters", "", ("justification",)),
        ),
    ),
    (
        "EU AI Act, Annex IV, point 2: development",
        (
            ("(a) Methods and steps", "method", ()),
            ("(b) Logic and main choices", "logic", ("justification",)),
            ("(c) Architecture", "architecture", ()),
            ("(d) Data", "data", ("dataset", "collection", "schema_sources")),
            ("(e) Human oversight", "", ("oversight",)),
            ("(f) Changes that are planned", "changes", ("releases",)),
            ("(g) Validation and testing", "evaluation", ()),
            ("(h) Cybersecurity", "security", ("access",)),
        ),
    ),
    (
        "EU AI Act, Annex IV, point 3: functioning and control",
        (
            ("Intended purpose", "", ("purpose",)),
            ("Accuracy, also for groups", "groups", ("fairness",)),
            ("Limits and unintended outcomes", "limits", ()),
            ("Input data", "inputs", ()),
            ("Monitoring", "", ("monitoring",)),
        ),
    ),
    ("EU AI Act, Annex IV, point 5: risk management", (("System", "", ("risk_management",)),)),
    (
        "NIST SP 800-226: hazards",
        (
            ("Parameters too large", "parameters", ("justification",)),
            ("Unit of privacy", "unit", ()),
            ("Composition with other releases", "composition", ("account_total", "releases")),
            ("Sensitivities and bounds", "bounds_of_rows", ("schema_sources",)),
            ("Implementation", "implementation", ()),
            ("Side channels", "side_channels", ()),
            ("Access to the data", "", ("access",)),
            ("Exposure when data are collected", "", ("collection",)),
            ("Accuracy and bias", "evaluation", ("fairness",)),
        ),
    ),
    (
        "SATRE 3.3: output control",
        (
            ("3.3.04 Disclosure control", "checks", ()),
            ("3.3.05 Who checks outputs", "", ("output_checker",)),
            ("3.3.06 Statistical basis of the decision", "attacks", ()),
            ("3.3.07 Outputs that nobody can check by hand", "by_hand", ()),
        ),
    ),
)
"""Title of a section -> headings: the answer of :class:`Answers`, if any, and the keys of ``--meta`` for it."""


def sections(papers: Paperwork) -> tuple[Section, ...]:
    """All headings with what fills them."""
    say = Answers(papers)
    return tuple(
        Section(
            title, tuple(Point(heading, getattr(say, name) if name else "", keys) for heading, name, keys in points)
        )
        for title, points in HEADINGS
    )


def missing(papers: Paperwork) -> list[str]:
    """Keys of ``--meta`` that a heading needs and nobody filled, in the order of the headings."""
    keys = [key for section in sections(papers) for point in section.points for key in point.keys]
    return [key for key in dict.fromkeys(("controller", "contact", *keys)) if key not in papers.meta]


def dossier(papers: Paperwork) -> str:
    """The dossier in Markdown."""
    return "\n".join(_document(papers)) + "\n"


def _document(papers: Paperwork) -> Iterator[str]:
    open_keys = missing(papers)
    yield f"# Dossier: {_plain(papers.name)}\n"
    yield (
        f"{_plain(papers.description)} This document collects what authorities ask for. Statements about the model "
        "follow from its certificate, which anyone can check with `tacit verify`; statements in quotation marks were "
        "written by a person.\n"
    )
    if open_keys:
        yield f"**Left to a person: {len(open_keys)} items.** Write them into the file of `--meta`:\n"
        yield from (f"- `{key}`: {KEYS[key]}" for key in open_keys)
        yield ""
    yield from _facts(papers)
    yield from _risks(papers)
    for section in sections(papers):
        yield f"## {section.title}\n"
        for point in section.points:
            yield f"**{point.heading}.** {_answer(papers, point)}\n"


def _facts(papers: Paperwork) -> Iterator[str]:
    certificate = papers.certificate
    signed = "no" if certificate.signature is None else f"yes, with the key {certificate.signature['key']}"
    facts = {
        "controller": papers.meta.get("controller", "left to a person"),
        "contact": papers.meta.get("contact", "left to a person"),
        "trained": f"{certificate.created[:10]}, with {certificate.algorithm} of tacit {certificate.versions['tacit']}",
        "privacy guarantee": f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g} "
        f"({certificate.neighbouring})",
        "protected": certificate.protected,
        "model (SHA-256)": certificate.model_digest or "",
        "certificate (SHA-256)": certificate.digest,
        "signed": signed,
    }
    yield "## The model\n\n| fact | value |\n|---|---|"
    yield from (f"| {name} | {_plain(value)} |" for name, value in facts.items())
    yield ""


def _risks(papers: Paperwork) -> Iterator[str]:
    yield "## What an attacker can achieve at most\n"
    yield (
        "The attacker knows all other data, the model and this document. The figures are upper bounds from the "
        "charges; real attacks achieve less.\n"
    )
    yield "| attack | one person | ten people together | without the model |\n|---|---|---|---|"
    yield from (f"| {' | '.join(row)} |" for row in risk_rows(papers.certificate.charges))
    yield ""


def _answer(papers: Paperwork, point: Point) -> str:
    lines = [_plain(point.answer)] if point.answer else []
    lines += [f"“{_plain(' '.join(papers.meta[key].split()))}”" for key in point.keys if key in papers.meta]
    open_keys = [f"{KEYS[key]} (`{key}`)" for key in point.keys if key not in papers.meta]
    return " ".join([*lines, *([f"*Left to a person:* {'; '.join(open_keys)}."] if open_keys else [])])


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)


def html(papers: Paperwork) -> str:
    """The dossier as a page that opens offline."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(dossier(papers))
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;"
        "border-bottom:1px solid #ccc;overflow-wrap:anywhere}h2{margin-top:2rem}"
        "td:first-child{overflow-wrap:normal;min-width:9rem}@media print{h2{break-after:avoid}}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Dossier: {escape(papers.name)}</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width">'
        f"<style>{style}</style></head><body>\n{body}</body></html>\n"
    )
