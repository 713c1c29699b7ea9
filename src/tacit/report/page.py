"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from tacit.models.base import ClassModel
from tacit.models.claims import Claim, claim_of_model
from tacit.models.summary import Summary, seen
from tacit.privacy.assumptions import EDIT
from tacit.privacy.certificate import Certificate
from tacit.privacy.label import Stage
from tacit.privacy.strength import group_epsilon, percent, sharp_advantage
from tacit.privacy.unit import unit_question
from tacit.report.budget import by_theorem, stages
from tacit.report.drawing import Drawing
from tacit.report.figures import environment
from tacit.report.meta import Filing
from tacit.report.model_card import ModelCard, model_card
from tacit.report.promise import Promise, count, describe, risk_rows, unit_word

if TYPE_CHECKING:
    from tacit.models.base import Model
    from tacit.schema import Schema


def share(part: float) -> str:
    """A part of the budget in per cent."""
    return f"{100 * part:.1f} %" if part >= 0.0005 else "< 0.1 %"


WHOLE = frozenset({Stage.ROWS, Stage.FIT, Stage.TRUSTED, Stage.BATCHES})
"""Stages whose charges are the most that a learner inside may cost, and not each of its releases."""

MOST_NAMED = 5
"""Classes that a title names."""

EVERYBODY = (
    "Facts about everybody are not hidden. An effect that the model shows also holds for people whose data were never "
    "in the table, and the model can be used to guess facts about them."
)
ROWS = (
    "Somebody with several rows is protected for each row alone, and less for all of them together. Declare a unit in "
    "the schema to change that."
)
OTHERS = "Other releases from the same data add up with this one. A budget account counts them; nothing else does."
DATA = "The data themselves, and whoever can read them, are not protected by this; nor are running times and memory."
QUALITY = (
    "The guarantee says nothing about accuracy or fairness. A figure on a test set that is not public is a release of "
    "its own."
)


def limits(claim: Certificate | None, name: str = "") -> list[str]:
    """What a reader must not conclude; ``name`` is what the schema calls a protected unit."""
    if claim is None:
        return [EVERYBODY, OTHERS, DATA, QUALITY]
    four = group_epsilon(claim.charges, claim.delta, 4)
    family = "for four relatives " + ("nothing is promised" if math.isinf(four) else f"epsilon is {four:.3g}")
    by_row = claim.unit is None and claim.rows_per_unit == 1
    name = unit_word(claim.unit, claim.rows_per_unit, name or claim.unit_name or "")
    group = f"A group is protected less than one {name}: {family}."
    dropped = f"Rows of one {name} beyond {claim.rows_per_unit} are dropped before anything is measured."
    several = ROWS if by_row else dropped
    groups = [] if math.isinf(claim.epsilon) else [group]
    return [EVERYBODY, *groups, several, OTHERS, DATA, QUALITY]


@dataclass(frozen=True)
class Verdict:
    """What the top of the page says, in a few large letters and in words; ``problems`` are what does not hold."""

    good: bool
    heading: str
    words: str
    problems: tuple[str, ...] = ()


def verdict(claim: Certificate | None, problems: Sequence[str] = ()) -> Verdict:
    """The verdict on a claim, after its ``problems``: the report verifies before it praises."""
    if problems:
        return Verdict(
            False, "Does not hold", "The claim of this model does not hold. Do not rely on it:", tuple(problems)
        )
    if claim is None:
        return Verdict(False, "Not releasable", "There is no certificate with this model.")
    if not claim.releasable:
        return Verdict(
            False, "Not releasable", f"The model and this page must not leave the room: {'; '.join(claim.reasons)}."
        )
    remark = "".join(f" It is {remark}." for remark in claim.remarks)
    bound = "" if claim.model_digest is None else "The certificate belongs to this model; "
    begin = f"{bound}the charges cost at most what is promised, and every release is paid for by them."
    return Verdict(
        True,
        "Internally consistent",
        f"{begin[0].upper()}{begin[1:]}{remark} That says nothing about who made it, nor whether the bounds in the "
        "schema came from the data.",
    )


def checks(claim: Certificate | None) -> list[tuple[str, str]]:
    """How readers check the claim themselves: commands, and what each shows."""
    if claim is None:
        return []
    commands = [
        ("tacit verify MODEL.json", "does model, schema and certificate belong together, and do the sums add up?")
    ]
    if claim.signature is not None:
        commands.append(("tacit verify MODEL.json --key SIGNER.pub", "was it signed by somebody whose key you know?"))
    if claim.dataset is not None:
        commands.append(
            ("tacit budget show --account URL --dataset NAME", "what else was released from the same data?")
        )
    return commands


def public_facts(claim: Certificate | None, classes: Sequence[Any], label: str = "") -> list[str]:
    """Public facts beyond the columns; ``label`` says what they are about the label, if not its classes."""
    listed = ", ".join(f"“{c}”" for c in classes)
    about = "; effects are on the last one" if len(classes) == 2 else ""
    facts = [label or f"The classes: {listed}{about}."]
    if claim is not None:
        facts.append(
            "The number of rows."
            if claim.n_public and claim.unit is None and claim.rows_per_unit == 1
            else "Not the number of rows: where it was needed it was measured."
        )
        public = [each.text for each in claim.assumptions if each.accepted and each.subject not in ("rows", EDIT)]
        facts += [f"{text[0].upper()}{text[1:]}." for text in public]
    return facts


def versions(claim: Certificate) -> list[tuple[str, str]]:
    """What made the model, and when."""
    rows = [("learner", claim.algorithm), ("made", claim.created), ("noise from", claim.noise_source)]
    if claim.data is not None:
        rows.append(("learned from", claim.data))
    if claim.dataset is not None:
        rows.append(("paid from the account of", claim.dataset))
    if claim.schema_fingerprint is not None:
        rows.append(("fingerprint of the schema", claim.schema_fingerprint))
    if claim.signature is not None:
        rows.append(("signed with the key", str(claim.signature["key"])))
    digests = [
        ("digest of the model", claim.model_digest),
        ("digest of the ledger", claim.ledger_digest or None),
        ("digest of the certificate", claim.digest),
    ]
    return [*rows, *sorted(claim.versions.items()), *((name, text) for name, text in digests if text is not None)]


def subject(model: Model, target: str | None = None) -> str:
    """What a model predicts, in few words."""
    if not isinstance(model, ClassModel):
        return target or str(getattr(model, "target", model.says))
    *others, last = (str(name) for name in model.classes)
    listing = f"{', '.join(others)} or {last}" if len(others) < MOST_NAMED else f"{len(model.classes)} classes"
    return listing if target is None else f"{target}: {listing}"


def render(
    model: Model,
    certificate: Mapping[str, Any] | None,
    title: str | None = None,
    target: str | None = None,
    schema: Schema | None = None,
) -> str:
    """The report of a model: a complete HTML document without references to anything outside itself.

    Args:
        model: any model; a kind without a drawing is described in words.
        certificate: as plain data, as it stands in the model file; None if there is none.
        title: heading of the page.
        target: name of what the model predicts, for the heading; by default the one that the certificate remembers.
        schema: what was known about the columns, for their descriptions.
    """
    data = {**model.to_dict(certificate), **({} if schema is None else {"schema": json.loads(schema.canonical_json())})}
    return render_claim(claim_of_model(data), title, target, model)


def render_claim(
    claim: Claim,
    title: str | None = None,
    target: str | None = None,
    model: Model | None = None,
    papers: Filing | None = None,
) -> str:
    """The report of what is in a model file, whether its claim holds or not; ``model`` if it is at hand as learned."""
    certificate, model = claim.certificate, model if model is not None else claim.model
    if model is None:
        nothing = ModelCard("The model in the file cannot be read.", "There is nothing to draw.", ())
        return compose(nothing, (), certificate, title or "A model that cannot be read", claim.problems)
    if target is None and certificate is not None:
        target = certificate.target
    open_one = certificate is not None and math.isinf(certificate.epsilon)
    heading = (
        title
        or (papers and papers.title)
        or f"{'A model without privacy' if open_one else 'A private model'} of {subject(model, target)}"
    )
    ordinals = frozenset() if claim.schema is None else claim.schema.ordinals
    card = model_card(model, ordinals) if claim.holds else _card_of_a_doubtful(model)
    saw, public = _seen(model, certificate), described(card, claim.schema)
    classes = model.classes if isinstance(model, ClassModel) else ()
    return compose(public, classes, certificate, heading, claim.problems, saw, claim.schema, papers)


def _seen(model: Model, certificate: Certificate | None) -> Summary | None:
    """What the fit saw; None if a forged model does not even have the shape of one."""
    try:
        return seen(model, certificate)
    except Exception:  # noqa: BLE001 - as below
        return None


def _card_of_a_doubtful(model: Model) -> ModelCard:
    """The model card of a model that was perhaps edited by hand, and may not be drawn at all."""
    try:
        return model_card(model)
    except Exception as error:  # noqa: BLE001 - whatever a forged model makes a drawing do, the page says that it is one
        return ModelCard(f"The model cannot be drawn: {type(error).__name__}.", "There is nothing to draw.", ())


def described(card: ModelCard, schema: Schema | None) -> ModelCard:
    """The card with what the schema says of columns in words."""
    if schema is None:
        return card
    words = {name: column.description for name, column in schema.columns.items() if column.description}
    public = []
    for column in card.public:
        declared = schema.columns.get(column.name)
        texts = [text for text in (column.facts, words.get(column.name, "")) if text]
        public.append(replace(column, facts=". ".join(texts), kind=declared.kind if declared else column.kind))
    return replace(card, public=tuple(public))


def compose(
    card: ModelCard,
    classes: Sequence[Any],
    claim: Certificate | None,
    title: str,
    problems: Sequence[str] | None = None,
    summary: Summary | None = None,
    schema: Schema | None = None,
    papers: Filing | None = None,
) -> str:
    """The page from its parts; without ``problems`` the certificate alone is asked what does not hold.

    ``summary`` is what the fit saw, ``papers`` what was stated about the model by a person and by an evaluation.
    """
    one_drawing = environment().get_template("drawing.html.j2")
    if problems is None:
        problems = () if claim is None else tuple(claim.verify())

    def shown(drawing: Drawing) -> Markup:
        return Markup(one_drawing.render(drawing=drawing, markup=Markup(drawing.markup)))  # noqa: S704 - rendered above

    question = "" if schema is None else unit_question(schema)
    name = "" if claim is None else claim.unit_name or ""
    style = resources.files("tacit.report").joinpath("templates/style.css").read_text("utf-8")
    page = environment().get_template("page.html.j2")
    return page.render(
        **_checker(claim),
        title=title,
        style=Markup(style),  # noqa: S704 - our own file
        card=card,
        shown=shown,
        verdict=verdict(claim, problems),
        checks=checks(claim),
        seen=() if summary is None else summary.sentences,
        question=f"{question[:1].upper()}{question[1:]}.",
        facts=public_facts(claim, classes, card.label),
        limits=limits(claim, name),
        filing=papers,
        percent=percent,
        share=share,
        count=count,
        **_claimed(claim, None if summary is None or summary.rows is None else summary.rows.value),
    )


def _checker(claim: Certificate | None) -> dict[str, Any]:
    """The script that checks the claim again in the reader's browser, the hash that allows it alone, and the claim."""
    script = resources.files("tacit.report").joinpath("templates/check.js").read_text("utf-8")
    claim_json = "" if claim is None else json.dumps(claim.to_dict(), allow_nan=False).replace("<", "\\u003c")
    return {
        "script": Markup(script),  # noqa: S704 - our own file
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "claim_json": Markup(claim_json),  # noqa: S704 - no text in it can end the element
    }


def _claimed(claim: Certificate | None, rows: float | None) -> dict[str, Any]:
    """What the page says of a claim; of a model without one that nothing is promised."""
    if claim is None:
        return {
            "remarks": (), "promise": None, "risks": (),
            "epsilon": "∞", "delta": "", "stages": [], "theorems": (), "nested": False,
            "releases": 0, "declared": True, "versions": (),
        }  # fmt: skip
    return {
        "remarks": claim.remarks,
        "promise": promise_of(claim, rows),
        "risks": _risks(claim),
        "epsilon": "∞" if math.isinf(claim.epsilon) else f"{claim.epsilon:.4g}",
        "delta": _small(claim.delta),
        "stages": stages(claim.entries, claim.charges, claim.delta),
        "theorems": by_theorem(claim.entries),
        "nested": any(entry.stage in WHOLE for entry in claim.entries),
        "releases": claim.releases,
        "declared": claim.schema_fingerprint is not None,
        "versions": versions(claim),
    }


def _risks(claim: Certificate) -> list[tuple[str, str, str, str]]:
    """What attackers achieve at most; nothing of a claim without a limit, or of a forged one."""
    with contextlib.suppress(ValueError):  # charges that no accountant takes
        return risk_rows(claim.charges) if claim.charges and math.isfinite(claim.epsilon) else []
    return []


def promise_of(claim: Certificate, rows: float | None = None) -> Promise:
    """The promise of a certificate in words."""
    advantage = None
    with contextlib.suppress(ValueError):  # of a forged one, whose charges no accountant takes
        advantage = sharp_advantage(claim.charges, claim.epsilon)
    facts = (claim.epsilon, claim.delta, claim.neighbouring, claim.rows_per_unit)
    return describe(*facts, advantage, claim.unit, rows, claim.unit_name or "")


def _small(delta: float) -> Markup | str:
    """A small number as a power of ten."""
    if delta == 0 or delta >= 0.001:
        return f"{delta:g}"
    exponent = math.floor(math.log10(delta) + 1e-9)
    front = delta / 10.0**exponent
    times = "" if abs(front - 1) < 1e-6 else f"{front:.3g} × "
    return Markup("{}10<sup>−{}</sup>").format(times, -exponent)
