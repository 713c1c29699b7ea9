"""What papers about a model are filled from: its file, what a person wrote, and results of other commands."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import TacitError
from tacit.models.base import Model
from tacit.models.binding import ClaimError
from tacit.models.claims import read_claim
from tacit.privacy.canonical import read_json
from tacit.privacy.certificate import Certificate
from tacit.report.budget import together
from tacit.report.meta import KEYS, Meta, read_meta
from tacit.report.page import promise_of
from tacit.schema import Schema


class PaperError(TacitError):
    """A paper that cannot be written. Nothing was spent."""


@dataclass(frozen=True)
class Paperwork:
    """A model that may be released, with all that is stated about it.

    ``evaluation`` is the result of ``tacit evaluate --json``; ``audits`` are of ``tacit audit --json`` or of
    ``Replay.to_dict()``.
    """

    certificate: Certificate
    model: Model
    schema: Schema | None
    file_digest: str
    meta: Meta
    evaluation: Mapping[str, Any] | None = None
    audits: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The model in a few words: its title, or what it predicts."""
        return self.meta.get("title") or f"Model of {self.certificate.target or 'a label'}"

    @property
    def description(self) -> str:
        """What the model is, in a sentence, and one for every edit by hand or other remark."""
        certificate, columns = self.certificate, len(self.model.feature_names)
        about = f"A model that predicts {certificate.target}" if certificate.target else "A predictive model"
        remarks = "".join(f" {remark[:1].upper()}{remark[1:]}." for remark in certificate.remarks)
        inputs = "column" if columns == 1 else "columns"
        return f"{about} from {columns} {inputs}, trained with {certificate.algorithm}.{remarks}"

    @property
    def accounting(self) -> str:
        """How the privacy loss was added up."""
        certificate = self.certificate
        return (
            f"{certificate.releases:,} noisy releases, charged together as: {together(certificate.charges)}. "
            f"Every release is listed with its charge and theorem (ledger, SHA-256 {certificate.ledger_digest})."
        )

    @property
    def unprotected(self) -> str:
        """What is published without noise."""
        certificate = self.certificate
        whom = "rows" if certificate.unit is None else f"different values of {certificate.unit}"
        count = f"the number of {whom}" if certificate.n_public else f"not the number of {whom}, which is protected"
        assumed = "".join(f"; {text}" for text in certificate.taken_as_public)
        return f"The schema: names, bounds and categories of the columns, and the classes; {count}{assumed}."

    @property
    def adjacent(self) -> str:
        """Which tables are compared."""
        return promise_of(self.certificate).who

    @property
    def sites(self) -> tuple[str, ...]:
        """What a joined fit assumes of its sites: which they are, and how many draw noise; nothing for another."""
        return tuple(each.text for each in self.certificate.assumptions if each.subject in ("sites", "honest sites"))

    def stated(self, key: str) -> str:
        """What a person wrote about a key of :data:`tacit.report.meta.KEYS`, or what is to be written there."""
        return self.meta.get(key, f"TO FILL: {KEYS[key]}")


SHARES = ("auc", "accuracy")  # figures between 0 and 1: an interval of all of it says nothing

COUNTS = ("rows", "positives")  # figures of an evaluation that say nothing about the model


def metrics(group: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The figures of an evaluation that measure a model, but for those whose interval says nothing."""
    for name, figure in group.items():
        whole = isinstance(figure, Mapping) and {"value", "low", "high"} <= set(figure) and figure["value"] is not None
        if whole and name not in COUNTS and not (figure["low"] <= 0 and figure["high"] >= 1 and name in SHARES):
            yield name, figure


def read_paperwork(
    model: str | os.PathLike[str],
    meta: str | os.PathLike[str] | None = None,
    evaluation: str | os.PathLike[str] | None = None,
    audits: Sequence[str | os.PathLike[str]] = (),
) -> Paperwork:
    """Reads a model file and what belongs to it; :class:`ClaimError` if its claim does not hold or forbids release."""
    claim = read_claim(model)
    if claim.problems:
        raise ClaimError(f"the claim of {model} does not hold: {'; '.join(claim.problems)}")
    if claim.certificate is None or claim.model is None:
        raise PaperError(f"{model} must hold a model with its certificate, as tacit fit writes it")
    if not claim.certificate.releasable:
        raise ClaimError(f"{model} must not be released: {'; '.join(claim.certificate.reasons)}")
    digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    score = None if evaluation is None else read_evaluation(evaluation)
    results = tuple(_result(path, "holds", "tacit audit --json") for path in audits)
    return Paperwork(claim.certificate, claim.model, claim.schema, digest, read_meta(meta), score, results)


def read_evaluation(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The result of ``tacit evaluate --json``, unless it must not be released."""
    score = _result(path, "overall", "tacit evaluate --json")
    if not score.get("releasable", True):
        raise PaperError(f"{path}: the evaluation must not be released")
    return score


def _result(path: str | os.PathLike[str], key: str, command: str) -> Mapping[str, Any]:
    try:
        data = read_json(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise PaperError(f"{path} is no JSON document: {error}") from None
    if not isinstance(data, dict) or key not in data:
        raise PaperError(f"{path} is not what {command} prints")
    return data


def plain(text: str) -> str:
    """A text of somebody else's on one line, without marks of Markdown or HTML."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in " ".join(text.split()))
    return marked.replace("&", "&amp;")


def json_text(data: Mapping[str, Any]) -> str:
    """A JSON document as papers are written."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
