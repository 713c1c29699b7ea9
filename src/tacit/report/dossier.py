"""A dossier of a model for those who decide about it: headings of the authorities, filled from what can be checked.

Under every heading stands what the certificate, the schema, audits and evaluations show, or the words of the person who
wrote ``--meta``; what is neither is marked as left to a person.

Source of the headings: EDPB Opinion 28/2024, section 3.2; Regulation (EU) 2024/1689, Annex IV, points 2, 3 and 5; NIST
SP 800-226; SATRE 2.0, 3.3.04 to 3.3.07.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from tacit.privacy.strength import attack_risks, percent, strength_of
from tacit.report.budget import checked_share
from tacit.report.meta import KEYS, estimate
from tacit.report.page import limits
from tacit.report.paperwork import Paperwork, plain
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


HEADINGS: dict[str, tuple[tuple[str, str, tuple[str, ...]], ...]] = {
    "EDPB Opinion 28/2024: can personal data be extracted from the model?": (
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
    "EU AI Act, Annex IV, point 2: development": (
        ("(a) Methods and steps", "method", ()),
        ("(b) Logic and main choices", "logic", ("justification",)),
        ("(c) Architecture", "architecture", ()),
        ("(d) Data", "data", ("dataset", "collection", "schema_sources")),
        ("(e) Human oversight", "", ("oversight",)),
        ("(f) Changes that are planned", "changes", ("releases",)),
        ("(g) Validation and testing", "evaluation", ()),
        ("(h) Cybersecurity", "security", ("access",)),
    ),
    "EU AI Act, Annex IV, point 3: functioning and control": (
        ("Intended purpose", "", ("purpose",)),
        ("Accuracy, also for groups", "groups", ("fairness",)),
        ("Limits and unintended outcomes", "limits", ()),
        ("Input data", "inputs", ()),
        ("Monitoring", "", ("monitoring",)),
    ),
    "EU AI Act, Annex IV, point 5: risk management": (("System", "", ("risk_management",)),),
    "NIST SP 800-226: hazards": (
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
    "SATRE 3.3: output control": (
        ("3.3.04 Disclosure control", "checks", ()),
        ("3.3.05 Who checks outputs", "", ("output_checker",)),
        ("3.3.06 Statistical basis of the decision", "attacks", ()),
        ("3.3.07 Outputs that nobody can check by hand", "by_hand", ()),
    ),
}
"""Title of a section -> headings: the answer of :func:`answers`, if any, and the keys of ``--meta`` for it."""


NOT_EVALUATED = "No evaluation was given: run tacit evaluate --json on rows that the model was not trained on."
NOT_AUDITED = "No audit was given: tacit audit --json attacks the learner, and replay_audit repeats its fits."
MOST_NAMED = 12


def sections(papers: Paperwork) -> tuple[Section, ...]:
    """All headings with what fills them."""
    say = {"": ""} | answers(papers)
    return tuple(
        Section(title, tuple(Point(heading, say[name], keys) for heading, name, keys in points))
        for title, points in HEADINGS.items()
    )


def answers(papers: Paperwork) -> dict[str, str]:
    """What the certificate, the schema, audits and evaluations of a model say, by the names in :data:`HEADINGS`."""
    return _of_model(papers) | _of_claim(papers) | _of_privacy(papers) | _of_evaluation(papers)


def _of_model(papers: Paperwork) -> dict[str, str]:
    certificate, names, schema = papers.certificate, papers.model.feature_names, papers.schema
    listed = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    dropped = (
        f" At most {certificate.rows_per_unit} rows of each {certificate.unit_name or certificate.unit} were used."
    )
    versions = ", ".join(
        f"{name} {version}" for name, version in sorted(certificate.versions.items()) if version[:1].isdigit()
    )
    kind, signed = papers.model.kind.replace("_", " "), "is" if certificate.signature is not None else "is not"
    inputs = f"Columns: {', '.join(names)}."
    if schema is not None:
        columns = [f"{name} ({schema.columns[name].kind})" for name in names if name in schema.columns]
        inputs = f"Columns, as the schema declares them: {', '.join(columns)}."
    return {
        "minimisation": f"The model uses {len(names)} columns: {listed}. Values outside of the declared bounds and "
        f"categories are clipped or treated as missing.{'' if certificate.unit is None else dropped} "
        + (
            "The rows stayed at their sites, which sent masked sums."
            if papers.sites
            else "Only noisy statistics left the table."
        ),
        "method": f"{certificate.algorithm} asked for {certificate.releases:,} statistics of the table; each was "
        "answered with noise, and the model was computed from the answers alone. The order and the number of the "
        "questions do not depend on the rows except through earlier answers.",
        "outputs": "The model, its predictions and its report are functions of the noisy answers. They need no further "
        "protection, whatever is computed from them and however often.",
        "logic": f"The model is of the kind “{kind}”. Its report (tacit report) shows all of it, with the uncertainty.",
        "architecture": f"One JSON file without executable code, made with {versions}. "
        + ("It was trained at several sites." if papers.sites else "Training and predictions need one computer."),
        "data": f"The data are not part of the model. Public and not protected: {papers.unprotected}",
        "changes": "The model does not learn in use. A new fit to the same data is a release of its own, and its cost "
        "adds up.",
        "security": f"The model file contains no code. Digests reveal every change; the certificate {signed} signed.",
        "inputs": inputs,
    }


def _of_claim(papers: Paperwork) -> dict[str, str]:
    certificate = papers.certificate
    share = checked_share(certificate.entries, certificate.charges, certificate.delta)
    replays = " ".join(_replay(audit) for audit in papers.audits if "runs" in audit)
    audits = " ".join(_audit(audit) for audit in papers.audits if "epsilon_lower" in audit) or NOT_AUDITED
    (one,) = attack_risks(certificate.charges, (1,))
    return {
        "analysis": "The certificate was checked when this document was made: the model belongs to it, the charges "
        "cost at most what is promised, and they pay for every release. Sensitivities behind "
        f"{share:.0%} of the charges rest on machine-checked lemmas. {replays}",
        "attacks": "A membership inference attack on one person has an advantage of at most "
        f"{percent(one.advantage)}, and detects at most {percent(one.true_positives_at_1_percent)} of those present if "
        "1 % of those absent are accused. A secret that is one of ten equally likely values is guessed at most "
        f"{percent(one.reconstruction)} of the time. {audits}",
        "limits": " ".join(limits(certificate)),
        "checks": "Commands: tacit verify MODEL.json --key SIGNER.pub, and tacit report MODEL.json for people.",
        "by_hand": "A model has more numbers than a person can check. Its certificate takes the place of that check: "
        "it bounds what all numbers together reveal about one person, including memorised records.",
    }


def _of_privacy(papers: Paperwork) -> dict[str, str]:
    certificate, strength = papers.certificate, strength_of(papers.certificate)
    warned = "".join(f" Warning: {words}." for words in strength.warnings)
    name, count = certificate.dataset, len({entry.theorem for entry in certificate.entries})
    payment = f"Paid from the account “{name}”, which adds up releases." if name else "Paid from no account."
    return {
        "parameters": f"Epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}: the guarantee is "
        f"{strength.word}.{warned}",
        "unit": f"Protected: {certificate.protected}. {papers.adjacent}",
        "composition": f"{papers.accounting} {payment}",
        "bounds_of_rows": f"Bounds and categories are declared in the schema; {count} "
        f"{'theorem bounds' if count == 1 else 'theorems bound'} how far one row moves an answer.",
        "implementation": "Sums are integers and noise is drawn exactly on the integers "
        f"({certificate.noise_source}), from the randomness of the operating system. No floating-point number is "
        "noised.",
        "side_channels": "Errors and warnings do not depend on the contents of rows. Timing and memory of the fit are "
        "not protected.",
    }


def _of_evaluation(papers: Paperwork) -> dict[str, str]:
    score = papers.evaluation
    if score is None:
        return {"evaluation": NOT_EVALUATED, "groups": NOT_EVALUATED}
    cost = f"epsilon {score['epsilon']:.4g}, delta {score['delta']:g}" if "epsilon" in score else "a charge of its own"
    text = f"On held-out rows: {_figures(score['overall'])}. The evaluation was a noisy release itself, for {cost}."
    groups = "Subgroups were not evaluated: tacit evaluate --subgroups COLUMN does so."
    if score.get("subgroups"):
        lines = [f"{name}: {_figures(figures)}" for name, figures in score["subgroups"].items()]
        groups = f"By subgroup: {'; '.join(lines)}."
    return {"evaluation": text, "groups": f"{text} {groups}"}


def _figures(group: Mapping[str, Any]) -> str:
    figures = {name.replace("_", " "): estimate(figure) for name, figure in group.items()}
    return ", ".join(f"{name} {text}" for name, text in figures.items() if text)


def _audit(audit: Mapping[str, Any]) -> str:
    verdict = "does not contradict" if audit["holds"] else "CONTRADICTS"
    return (
        f"An audit of {audit['estimator']} shows an epsilon of at least {_number(audit['epsilon_lower'])} at "
        f"{100 * audit['confidence']:g} % confidence, which {verdict} the claim of {audit['epsilon']:g}."
    )


def _replay(audit: Mapping[str, Any]) -> str:
    verdict = "no fault" if audit["holds"] else f"faults: {'; '.join(map(str, audit['faults']))}"
    fits = f"{audit['runs']} fits of {audit['estimator']}"
    return f"A replay of {fits} on {audit['neighbours']} neighbouring tables each found {verdict}."


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else str(value)


def missing(papers: Paperwork) -> list[str]:
    """Keys of ``--meta`` that a heading needs and nobody filled, in the order of the headings."""
    keys = [key for section in sections(papers) for point in section.points for key in point.keys]
    return [key for key in dict.fromkeys(("controller", "contact", *keys)) if key not in papers.meta]


def dossier(papers: Paperwork) -> str:
    """The dossier in Markdown."""
    return "\n".join(_document(papers)) + "\n"


def _document(papers: Paperwork) -> Iterator[str]:
    open_keys = missing(papers)
    yield f"# Dossier: {plain(papers.name)}\n"
    yield (
        f"{plain(papers.description)} This document collects what authorities ask for. Statements about the model "
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
    yield from (f"| {name} | {plain(value)} |" for name, value in facts.items())
    yield ""


def _risks(papers: Paperwork) -> Iterator[str]:
    yield "## What an attacker can achieve at most\n"
    yield (
        "The attacker knows all other data, the model and this document. The figures are upper bounds from the "
        "charges; real attacks achieve less.\n"
    )
    yield f"| attack | {papers.certificate.protected} | ten of them | without the model |\n|---|---|---|---|"
    yield from (f"| {' | '.join(row)} |" for row in risk_rows(papers.certificate.charges))
    yield ""


def _answer(papers: Paperwork, point: Point) -> str:
    lines = [plain(point.answer)] if point.answer else []
    lines += [f"“{plain(papers.meta[key])}”" for key in point.keys if key in papers.meta]
    open_keys = [f"{KEYS[key]} (`{key}`)" for key in point.keys if key not in papers.meta]
    return " ".join([*lines, *([f"*Left to a person:* {'; '.join(open_keys)}."] if open_keys else [])])


def html(papers: Paperwork) -> str:
    """The dossier as a page that opens offline."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(dossier(papers))
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b}"
        "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;"
        "border-bottom:1px solid #ccc;overflow-wrap:anywhere}p,li{overflow-wrap:anywhere}h2{margin-top:2rem}"
        "td:first-child{overflow-wrap:normal;min-width:min(9rem,28vw)}@media print{h2{break-after:avoid}}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Dossier: {escape(papers.name)}</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width">'
        f"<style>{style}</style></head><body>\n{body}</body></html>\n"
    )
