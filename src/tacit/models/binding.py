"""Whether a model, its schema and its certificate belong together, by the digests in the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.errors import UNSPENT
from tacit.models.base import Model
from tacit.models.plain import ModelError
from tacit.privacy.canonical import sha256
from tacit.privacy.certificate import Certificate
from tacit.privacy.verification import CertificateError

PARTS = ("format", "version", "kind", "model", "schema", "certificate")
"""What a model file may hold."""


class ClaimError(ModelError):
    """A model whose certificate is not its own, or was changed. Nothing was spent."""

    usual = UNSPENT


def model_digest(model: Model) -> str:
    """SHA-256 of a model: its kind and its body, in canonical form."""
    return sha256({"kind": model.kind, "model": model.body()})


def problem_of_model(certificate: Certificate, data: Mapping[str, Any]) -> list[str]:
    """Why a certificate is not that of the model in the plain data of a file; empty if it is."""
    if certificate.model_digest is None:
        return [f"the certificate belongs to no model, but to {certificate.algorithm}"]
    if certificate.model_digest != _digest({"kind": data.get("kind"), "model": data.get("model")}):
        return ["the certificate belongs to another model"]
    return []


def binding_problems(data: Mapping[str, Any]) -> list[str]:
    """What does not belong together in the plain data of a model file. Accounts for nothing, and is quick.

    A file without a certificate claims nothing, so that nothing is wrong with it.
    """
    problems = [f"the file holds {name!r}, which no model file does" for name in data if name not in PARTS]
    section = data.get("certificate")
    if section is None:
        return problems if "certificate" in data else [*problems, "the file lacks its certificate"]
    try:
        certificate = Certificate.from_dict(section)
    except CertificateError as error:
        return [*problems, str(error)]
    problems += certificate.integrity()
    return [*problems, *problem_of_model(certificate, data), *_schema_problems(certificate, data.get("schema"))]


def _schema_problems(certificate: Certificate, schema: Any) -> list[str]:
    if schema is None:
        return []
    if certificate.schema_digest != _digest(schema):
        return ["the certificate belongs to another schema"]
    return []


def _digest(data: Any) -> str | None:
    """SHA-256 of what a file holds; None for what no model file has, such as NaN, or lists in lists without end."""
    try:
        return sha256(data)
    except (ValueError, RecursionError):
        return None
