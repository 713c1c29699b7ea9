"""What a file claims, and everything that is wrong with it: what `tacit verify` and the report stand on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.models.base import Model, checked_file
from tacit.models.binding import binding_problems, problem_of_model
from tacit.models.files import model_from_dict, schema_of
from tacit.models.plain import ModelError
from tacit.privacy.canonical import read_json
from tacit.privacy.certificate import Certificate
from tacit.privacy.verification import CertificateError
from tacit.schema import Schema, SchemaError

WITHOUT_SCHEMA = "without the schema that its certificate names: nobody can look at the bounds and categories declared"
"""What is said of a model file from which the schema was left out or taken away; what it claims may still hold."""


@dataclass(frozen=True)
class Claim:
    """A certificate, alone or in a model file, and what does not hold of it."""

    certificate: Certificate | None  # what is claimed; None if it cannot be read
    model: Model | None  # the model beside it; None if there is none, or if it cannot be read
    schema: Schema | None  # the schema beside it
    problems: tuple[str, ...]  # what is wrong, in sentences; empty if the claim is internally consistent
    remarks: tuple[str, ...] = ()  # what a reader must know, and is no fault

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.problems


def read_claim(path: str | os.PathLike[str], model_path: str | os.PathLike[str] | None = None) -> Claim:
    """Reads a certificate (and the model that it should be of) or a model file, and checks all but the data.

    Raises ``ModelError`` if the file holds no JSON object, or neither of the two.
    """
    data = _object(path)
    if data.get("format") == "tacit model":
        return claim_of_model(checked_file(path))
    if data.get("format") != "tacit certificate":
        raise ModelError(f"{path} is neither a certificate nor a model")
    certificate, problems = _read(data)
    if certificate is not None and model_path is not None:
        problems += problem_of_model(certificate, _object(model_path))
    return _claim(certificate, None, None, problems)


def claim_of_model(data: Mapping[str, Any]) -> Claim:
    """The claim in the plain data of a model file."""
    problems, remarks = binding_problems(data), []
    certificate = None if data.get("certificate") is None else _read(data["certificate"])[0]
    if certificate is not None:
        problems += [problem for problem in certificate.verify() if problem not in problems]
        if certificate.schema_digest is not None and data.get("schema") is None:
            remarks.append(WITHOUT_SCHEMA)
    model: Model | None = None
    schema: Schema | None = None
    try:
        model = model_from_dict(data)
    except (KeyError, ModelError, ValueError, AttributeError) as error:
        problems.append(f"the model cannot be read: {error}")
    try:
        schema = schema_of(data)
    except (SchemaError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        problems.append(f"the schema cannot be read: {error}")
    return _claim(certificate, model, schema, problems, *remarks)


def _claim(
    certificate: Certificate | None, model: Model | None, schema: Schema | None, problems: list[str], *remarks: str
) -> Claim:
    own = () if certificate is None else certificate.remarks
    return Claim(certificate, model, schema, tuple(problems), (*own, *remarks))


def _read(data: Any) -> tuple[Certificate | None, list[str]]:
    try:
        certificate = Certificate.from_dict(data)
    except CertificateError as error:
        return None, [str(error)]
    return certificate, certificate.verify()


def _object(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        data = read_json(Path(path).read_bytes())
    except ValueError as error:  # no JSON, no UTF-8, or numbers of too many digits
        raise ModelError(f"{path} is neither a certificate nor a model: {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} is neither a certificate nor a model")
    return data
