"""What a notebook shows of models, certificates, schemas, ledgers, accounts and evaluations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from tacit.models.base import Model
from tacit.privacy.account import PrivacyAccount
from tacit.privacy.certificate import Certificate
from tacit.privacy.charges import Charge
from tacit.privacy.ledger import Entry, Reservation
from tacit.report.budget import stages, words
from tacit.report.figures import environment, figures_of, style
from tacit.report.page import promise_of, share, verdict
from tacit.schema import Schema
from tacit.schema.columns import Column

Cells = tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells, with a header where there is one."""

    header: Cells
    rows: tuple[Cells, ...]


@dataclass(frozen=True)
class Card:
    """An object in a few words and tables; ``verdict`` is said in large letters, and ``good`` or not."""

    title: str
    words: str = ""
    tables: tuple[Table, ...] = ()
    verdict: str = ""
    good: bool = True

    def html(self) -> str:
        """An HTML fragment with its own style; everything in it is escaped."""
        return environment().get_template("card.html.j2").render(card=self, style=Markup(style()))  # noqa: S704


def html_of(subject: Any) -> str:
    """An object as an HTML fragment."""
    if isinstance(subject, Model):
        return figures_of(subject)._repr_html_()
    return next((make for kind, make in CARDS.items() if isinstance(subject, kind)), _of_score)(subject).html()


def _of_certificate(claim: Certificate) -> Card:
    judged, promise = verdict(claim, claim.verify()), promise_of(claim)
    epsilon = "∞" if math.isinf(claim.epsilon) else f"{claim.epsilon:.4g}"
    facts = [
        ("epsilon, delta", f"{epsilon}, {claim.delta:g}"),
        ("protected", f"{claim.protected} ({claim.neighbouring})"),
        ("learner", claim.algorithm),
        ("releases", f"{claim.releases:,}"),
        ("noise from", claim.noise_source),
        ("made", claim.created),
        *([("paid from the account of", claim.dataset)] if claim.dataset else []),
        *([("model", claim.model_digest)] if claim.model_digest else []),
        *(("taken on trust", each.text) for each in claim.assumptions),
    ]
    budget = _budget(claim.entries, claim.charges, claim.delta)
    line = "; ".join(judged.problems) if judged.problems else promise.headline
    return Card("Privacy certificate", line, (Table((), tuple(facts)), *budget), judged.heading, judged.good)


def _budget(entries: Sequence[Entry], charges: Sequence[Charge], delta: float) -> list[Table]:
    lines = [(stage.name, share(stage.share), f"{stage.releases:,}") for stage in stages(entries, charges, delta)]
    return [Table(("released", "share of the budget", "releases"), tuple(lines))] if lines else []


def _of_reservation(ledger: Reservation) -> Card:
    reserved = ", ".join(words(charge) for charge in ledger.charges)
    tables = _budget(ledger.entries, ledger.charges, 0.0)
    return Card(f"Ledger: {ledger.outcome or 'open'}", f"Reserved: {reserved}.", tuple(tables))


def _of_account(account: PrivacyAccount) -> Card:
    lines = account.reservations()
    facts = [
        ("promise", f"epsilon {account.epsilon:.4g}, delta {account.delta:g}, {account.neighbouring}"),
        ("spent", f"epsilon {account.spent:.4g}"),
        ("affordable", f"epsilon {account.affordable():.4g}"),
    ]
    history = Table(("made", "what", "status"), tuple((line.created, line.label, line.status) for line in lines[-10:]))
    text = f"{len(lines)} reservations" + (", the last ten below" if len(lines) > 10 else "")
    return Card(f"Account of {account.dataset}", text, (Table((), tuple(facts)), *([history] if lines else [])))


MOST_COLUMNS, MOST_LISTED = 60, 8


def _of_schema(schema: Schema) -> Card:
    facts = []
    if schema.label is not None:
        facts.append(("label", _declared(schema.label.to_dict())))
    if schema.unit is not None:
        name = f"{schema.unit.name} (by {schema.unit.column})" if schema.unit.name else schema.unit.column
        facts.append(("protected unit", f"{name}, at most {schema.unit.max_rows} rows"))
    columns = [_column(name, column) for name, column in list(schema.columns.items())[:MOST_COLUMNS]]
    text = f"{len(schema.features)} features"
    if len(schema.columns) > len(columns):
        text += f"; the first {len(columns)} of {len(schema.columns)} columns below"
    tables = (Table((), tuple(facts)), Table(("column", "kind", "declared", "description"), tuple(columns)))
    return Card("Schema: what is public", text, tables)


def _column(name: str, column: Column) -> Cells:
    facts = {key: value for key, value in column.to_dict().items() if key not in ("kind", "description")}
    return name, column.kind, _declared(facts), column.description


def _declared(facts: Mapping[str, Any]) -> str:
    return "; ".join(f"{key.replace('_', ' ')} {_listed(value)}" for key, value in facts.items())


def _listed(value: Any) -> str:
    if not isinstance(value, list | tuple):
        return str(value)
    more = f" and {len(value) - MOST_LISTED} more" if len(value) > MOST_LISTED else ""
    return ", ".join(map(str, value[:MOST_LISTED])) + more


def _of_score(score: Any) -> Card:
    """An evaluation: figures of all rows, and of subgroups."""
    groups = {"all rows": score.overall, **{str(name): group for name, group in score.subgroups.items()}}
    figures = list(score.overall.metrics)
    rows = tuple((name, *(str(group.metrics[figure]) for figure in figures)) for name, group in groups.items())
    certificate = score.certificate
    claim = f"epsilon {certificate.epsilon:.4g}, delta {certificate.delta:g}"
    text = f"{claim}; intervals are for noise and for chance in the rows."
    return Card("Private evaluation", text, (Table(("rows", *(name.replace("_", " ") for name in figures)), rows),))


CARDS: Mapping[type[Any], Callable[[Any], Card]] = {
    Certificate: _of_certificate,
    PrivacyAccount: _of_account,
    Reservation: _of_reservation,
    Schema: _of_schema,
}
