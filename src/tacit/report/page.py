"""The report: one HTML page that needs nothing but itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tacit.privacy.charges import charge_from_dict
from tacit.report.budget import Release, shortened, stages, words
from tacit.report.drawing import Drawing
from tacit.report.portrait import Portrait, portrait
from tacit.report.promise import count, describe

if TYPE_CHECKING:
    from tacit.models.base import Model


@dataclass(frozen=True)
class Claim:
    """What the page needs of a certificate.

    Attributes:
        epsilon, delta, neighbouring, rows_per_unit: the guarantee.
        releasable: whether the model may be released.
        reasons: why not, if not.
        n_is_public: whether the number of rows is.
        releases: the ledger's entries.
        charges: what was reserved; the guarantee is their composition.
        versions: names and values to print.
    """

    epsilon: float
    delta: float
    neighbouring: str
    rows_per_unit: int
    releasable: bool
    reasons: tuple[str, ...]
    n_is_public: bool
    releases: tuple[Release, ...]
    charges: tuple[Any, ...]
    versions: tuple[tuple[str, str], ...]


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


EVERYBODY = (
    "Facts about everybody are not hidden. If the model shows an effect in the population, then it is so for "
    "people whose data were never in the table too, and the model may be used to guess about them."
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


def limits(claim: Claim | None) -> list[str]:
    """What a reader must not conclude."""
    if claim is None:
        return [EVERYBODY, OTHERS, DATA, QUALITY]
    family = f"for four relatives epsilon is {4 * claim.epsilon:.3g}, and delta grows too"
    group = f"A group is protected less than one person: {family}."
    dropped = f"Rows of one person beyond {claim.rows_per_unit} are dropped before anything is measured."
    several = ROWS if claim.rows_per_unit == 1 else dropped
    groups = [] if math.isinf(claim.epsilon) else [group]
    return [EVERYBODY, *groups, several, OTHERS, DATA, QUALITY]


def verdict(claim: Claim | None) -> str:
    """The sentence beside the large letters."""
    if claim is None:
        return "There is no certificate with this model."
    if claim.releasable:
        return (
            "The noise came from the operating system, every release is accounted for, and the total is within what "
            "was granted. The model and this page may leave the room."
        )
    return " ".join(claim.reasons) or "The certificate does not allow it."


def public_facts(claim: Claim | None, classes: Sequence[Any]) -> list[str]:
    """Public facts beyond the columns."""
    listed = ", ".join(f"“{c}”" for c in classes)
    said = [f"The classes: {listed}; the last one is what effects speak for."]
    if claim is not None:
        said.append(
            "The number of rows."
            if claim.n_is_public
            else "Not the number of rows: where it was needed it was measured."
        )
    return said


def sharp_advantage(claim: Claim) -> float | None:
    """Delta of the whole composition at epsilon 0: how well the two tables can be told apart at all."""
    from tacit.privacy.accountants import delta

    if not claim.charges or math.isinf(claim.epsilon):
        return None
    return min(1.0, delta(list(claim.charges), 0.0))


def render(model: Model, certificate: Mapping[str, Any] | None, title: str | None = None) -> str:
    """The report of a model.

    Args:
        model: any model; a kind without a painter is described in words.
        certificate: the certificate as plain data, as it stands in the model file; None if there is none.
        title: heading of the page.

    Returns:
        A complete HTML document without references to anything outside itself.
    """
    claim = None if certificate is None else read_claim(certificate)
    heading = title or "A private model of " + " or ".join(str(c) for c in model.classes)
    return compose(portrait(model), model.classes, claim, heading)


def compose(painted: Portrait, classes: Sequence[Any], claim: Claim | None, title: str) -> str:
    """The page from its parts."""
    environment = Environment(
        loader=PackageLoader("tacit.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    one_drawing = environment.get_template("drawing.html.j2")

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
        stages=[] if claim is None else stages(claim.releases),
        entries=() if claim is None else claim.releases,
        releases=0 if claim is None else len(claim.releases),
        facts=public_facts(claim, classes),
        limits=limits(claim),
        versions=() if claim is None else claim.versions,
        percent=percent,
        share=share,
        some=shortened,
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


def read_claim(certificate: Mapping[str, Any]) -> Claim:
    """The claim in a certificate's plain data."""
    raise NotImplementedError


def _releases(entries: Sequence[Mapping[str, Any]]) -> tuple[Release, ...]:
    return tuple(Release(e["label"], charge_from_dict(dict(e["charge"])), e["theorem"]) for e in entries)
