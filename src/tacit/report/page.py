"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tacit.privacy.accountants import delta
from tacit.privacy.certificate import Certificate
from tacit.report.budget import stages, words
from tacit.report.drawing import Drawing
from tacit.report.portrait import Portrait, portrait
from tacit.report.promise import count, describe

if TYPE_CHECKING:
    from tacit.models.base import Model


def percent(share: float) -> str:
    """A share in per cent, never rounded up to a certainty it is not."""
    for digits in (1, 2, 3, 6):
        written = f"{100 * share:.{digits}f}"
        if share >= 1.0 or float(written) < 100.0:
            return f"{written} %"
    return "over 99.9999 %"


def share(part: float) -> str:
    """A part of the budget in per cent."""
    return f"{100 * part:.1f} %" if part >= 0.0005 else "< 0.1 %"


NESTED = ("Agnostic", "Batchwise", "Composed", "PrivateSelection", "ResampledBoost")
"""Names of learners made of others: their certificates list what those may cost, and not each release."""

MOST_NAMED = 5
"""Classes that a title names."""

EVERYBODY = (
    "Facts about everybody are not hidden. An effect that the model shows also holds for people whose data were never "
    "in the table, and the model can be used to guess facts about them."
)
ROWS = (
    "Somebody with several rows is protected for each row alone, not for all of them together; for k rows epsilon is k "
    "times as large. Declare a unit in the schema to change that."
)
OTHERS = "Other releases from the same data add up with this one. A budget account counts them; nothing else does."
DATA = "The data themselves, and whoever can read them, are not protected by this; nor are running times and memory."
QUALITY = (
    "Nothing is said about accuracy or fairness. A figure on a test set that is not public is a release of its own."
)


def limits(claim: Certificate | None) -> list[str]:
    """What a reader must not conclude."""
    if claim is None:
        return [EVERYBODY, OTHERS, DATA, QUALITY]
    family = f"for four relatives epsilon is {4 * claim.epsilon:.3g}, and delta grows too"
    group = f"A group is protected less than one person: {family}."
    dropped = f"Rows of one person beyond {claim.rows_per_unit} are dropped before anything is measured."
    several = ROWS if claim.rows_per_unit == 1 else dropped
    groups = [] if math.isinf(claim.epsilon) else [group]
    return [EVERYBODY, *groups, several, OTHERS, DATA, QUALITY]


def verdict(claim: Certificate | None) -> str:
    """The sentence beside the large letters."""
    if claim is None:
        return "There is no certificate with this model."
    if claim.releasable:
        return (
            "The noise came from the operating system, every release is accounted for, and the total is within what "
            "was granted. The model and this page may leave the room."
        )
    return f"The model and this page must not leave the room: {'; '.join(claim.reasons)}."


def public_facts(claim: Certificate | None, classes: Sequence[Any], label: str = "") -> list[str]:
    """Public facts beyond the columns; ``label`` says what they are about the label, if not its classes."""
    listed = ", ".join(f"“{c}”" for c in classes)
    about = "; the last one is what effects speak for" if len(classes) == 2 else ""
    said = [label or f"The classes: {listed}{about}."]
    if claim is not None:
        said.append(
            "The number of rows."
            if claim.n_public and claim.rows_per_unit == 1
            else "Not the number of rows: where it was needed it was measured."
        )
    return said


def versions(claim: Certificate) -> list[tuple[str, str]]:
    """What made the model, and when."""
    said = [("learner", claim.algorithm), ("made", claim.created), ("noise from", claim.noise_source)]
    if claim.dataset is not None:
        said.append(("paid from the account of", claim.dataset))
    if claim.schema_fingerprint is not None:
        said.append(("fingerprint of the schema", claim.schema_fingerprint))
    return [*said, *sorted(claim.versions.items()), ("digest of the certificate", claim.digest)]


def sharp_advantage(claim: Certificate) -> float | None:
    """Delta of the whole composition at epsilon 0: how well the two tables can be told apart at all."""
    if not claim.charges or math.isinf(claim.epsilon):
        return None
    return min(1.0, delta(claim.charges, 0.0))


def subject(model: Model, target: str | None = None) -> str:
    """What a model predicts, in few words."""
    if model.says_numbers:
        return target or str(getattr(model, "target", "a number"))
    *others, last = (str(name) for name in model.classes)
    said = f"{', '.join(others)} or {last}" if len(others) < MOST_NAMED else f"{len(model.classes)} classes"
    return said if target is None else f"{target}: {said}"


def render(
    model: Model, certificate: Mapping[str, Any] | None, title: str | None = None, target: str | None = None
) -> str:
    """The report of a model.

    Args:
        model: any model; a kind without a painter is described in words.
        certificate: the certificate as plain data, as it stands in the model file; None if there is none.
        title: heading of the page.
        target: name of what the model predicts, for the heading; a model does not know what its classes are classes of.

    Returns:
        A complete HTML document without references to anything outside itself.
    """
    claim = None if certificate is None else Certificate.from_dict(certificate)
    open_one = claim is not None and math.isinf(claim.epsilon)
    heading = title or f"{'A model without privacy' if open_one else 'A private model'} of {subject(model, target)}"
    return compose(portrait(model), model.classes, claim, heading)


def compose(painted: Portrait, classes: Sequence[Any], claim: Certificate | None, title: str) -> str:
    """The page from its parts."""
    environment = Environment(
        loader=PackageLoader("tacit.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    one_drawing = environment.get_template("drawing.html.j2")
    names = [column.name for column in painted.public]

    def shown(drawing: Drawing) -> Markup:
        return Markup(one_drawing.render(drawing=drawing, markup=Markup(drawing.markup)))  # noqa: S704 - rendered above

    style = resources.files("tacit.report").joinpath("templates/style.css").read_text("utf-8")
    promise = None
    if claim is not None:
        advantage = sharp_advantage(claim)
        promise = describe(claim.epsilon, claim.delta, claim.neighbouring, claim.rows_per_unit, advantage)
    return environment.get_template("page.html.j2").render(
        title=title,
        style=Markup(style),  # noqa: S704 - our own file
        portrait=painted,
        shown=shown,
        releasable=claim is not None and claim.releasable,
        verdict=verdict(claim),
        promise=promise,
        epsilon="∞" if claim is None or math.isinf(claim.epsilon) else f"{claim.epsilon:.4g}",
        delta="" if claim is None else _small(claim.delta),
        stages=[] if claim is None else stages(claim.entries, claim.charges, claim.delta, names),
        entries=() if claim is None else claim.entries,
        nested=claim is not None and claim.algorithm.startswith(NESTED),
        releases=0 if claim is None else claim.releases,
        declared=claim is None or claim.schema_fingerprint is not None,
        facts=public_facts(claim, classes, painted.label),
        limits=limits(claim),
        versions=() if claim is None else versions(claim),
        percent=percent,
        share=share,
        words=words,
        count=count,
    )


def _small(delta: float) -> Markup | str:
    """A small number as a power of ten."""
    if delta == 0 or delta >= 0.001:
        return f"{delta:g}"
    exponent = math.floor(math.log10(delta) + 1e-9)
    front = delta / 10.0**exponent
    times = "" if abs(front - 1) < 1e-6 else f"{front:.3g} × "
    return Markup("{}10<sup>−{}</sup>").format(times, -exponent)
