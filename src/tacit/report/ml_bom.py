"""A bill of materials of a model (CycloneDX 1.6, JSON), with its certificate as evidence of a privacy claim.

Source: ECMA-424, CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): machine-learning-model, modelCard, declarations.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from tacit.models.base import ClassModel
from tacit.privacy.strength import attack_risks, percent
from tacit.report.page import limits
from tacit.report.paperwork import Paperwork, metrics

MODEL, DATA, CLAIM, EVIDENCE, ASSESSOR = "model", "training-data", "privacy-claim", "certificate", "tacit"


def ml_bom(papers: Paperwork) -> dict[str, Any]:
    """The bill of materials as plain data. The same model and statements give the same document."""
    certificate = papers.certificate
    library = {"type": "library", "name": "tacit", "version": certificate.versions["tacit"]}
    others = [
        {"type": "library", "bom-ref": name, "name": name, "version": version}
        for name, version in sorted(certificate.versions.items())
    ]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": _serial(certificate.digest),
        "version": 1,
        "metadata": {
            "timestamp": certificate.created,
            "tools": {"components": [library]},
            "component": _model(papers),
            **_manufacturer(papers),
        },
        "components": [_data(papers), *others],
        "dependencies": [{"ref": MODEL, "dependsOn": [DATA, *(other["bom-ref"] for other in others)]}],
        "declarations": _declarations(papers),
    }


def _serial(digest: str) -> str:
    """A UUID (RFC 9562, version 8: of the application's own making) from a digest in hexadecimal."""
    return f"urn:uuid:{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"


def _manufacturer(papers: Paperwork) -> dict[str, Any]:
    if "controller" not in papers.meta:
        return {}
    contact = {"contact": [{"name": papers.meta["contact"]}]} if "contact" in papers.meta else {}
    return {"manufacturer": {"name": papers.meta["controller"], **contact}}


def _model(papers: Paperwork) -> dict[str, Any]:
    certificate = papers.certificate
    (one, ten), model = attack_risks(certificate.charges), papers.model
    figures = {
        "epsilon": certificate.epsilon,
        "delta": certificate.delta,
        "neighbouring": certificate.neighbouring,
        "protected": certificate.protected,
        "noise-source": certificate.noise_source,
        "advantage:1": one.advantage,
        "advantage:10": ten.advantage,
        "model-digest": certificate.model_digest,
        "schema-digest": certificate.schema_digest,
        "ledger-digest": certificate.ledger_digest,
    }
    cases = {"useCases": [papers.meta["purpose"]]} if "purpose" in papers.meta else {}
    ethics = {"ethicalConsiderations": [{"name": papers.meta["fairness"]}]} if "fairness" in papers.meta else {}
    measured = list(_metrics(papers))
    return {
        "type": "machine-learning-model",
        "bom-ref": MODEL,
        "name": papers.name,
        "version": (certificate.model_digest or "")[:12],
        "description": papers.description,
        "hashes": [{"alg": "SHA-256", "content": papers.file_digest}],
        "modelCard": {
            "modelParameters": {
                "approach": {"type": "supervised"},
                "task": "classification" if isinstance(model, ClassModel) else "regression",
                "architectureFamily": model.kind.replace("_", " "),
                "modelArchitecture": certificate.algorithm,
                "datasets": [{"ref": DATA}],
                "inputs": [{"format": f"column {name}"} for name in model.feature_names],
                "outputs": [{"format": f"prediction of {certificate.target or 'the label'}"}],
            },
            **({"quantitativeAnalysis": {"performanceMetrics": measured}} if measured else {}),
            "considerations": {**cases, "technicalLimitations": limits(certificate), **ethics},
        },
        "properties": [{"name": f"tacit:{name}", "value": str(value)} for name, value in figures.items()],
    }


def _metrics(papers: Paperwork) -> Iterator[dict[str, Any]]:
    """The metrics of an evaluation, of all rows and of subgroups."""
    score = papers.evaluation or {}
    for group, figures in {"": score.get("overall", {}), **score.get("subgroups", {})}.items():
        for name, figure in metrics(figures):
            yield {
                "type": name,
                "value": str(figure["value"]),
                **({"slice": group} if group else {}),
                "confidenceInterval": {"lowerBound": str(figure["low"]), "upperBound": str(figure["high"])},
            }


def _data(papers: Paperwork) -> dict[str, Any]:
    certificate = papers.certificate
    who = [{"organization": {"name": papers.meta["controller"]}}] if "controller" in papers.meta else []
    return {
        "type": "data",
        "bom-ref": DATA,
        "name": papers.meta.get("dataset", certificate.data or "training data"),
        "data": [
            {
                "type": "dataset",
                "name": papers.meta.get("dataset", certificate.data or "training data"),
                "description": f"{papers.stated('dataset').rstrip('.')}. Not published. {papers.adjacent}",
                "classification": "personal data",
                **({"governance": {"custodians": who}} if who else {}),
            }
        ],
    }


def _declarations(papers: Paperwork) -> dict[str, Any]:
    """The privacy claim, with the certificate as its evidence."""
    certificate = papers.certificate
    (one,) = attack_risks(certificate.charges, (1,))
    content = base64.b64encode(certificate.to_json().encode()).decode()
    attachment = {"contentType": "application/json", "encoding": "base64", "content": content}
    return {
        "assessors": [
            {"bom-ref": ASSESSOR, "thirdParty": False, "organization": {"name": papers.stated("controller")}}
        ],
        "claims": [
            {
                "bom-ref": CLAIM,
                "target": MODEL,
                "predicate": f"The model is differentially private: epsilon {certificate.epsilon:.6g}, delta "
                f"{certificate.delta:g}, {certificate.neighbouring}; protected: {certificate.protected}.",
                "reasoning": f"{papers.accounting} Membership inference has an advantage of at most "
                f"{percent(one.advantage)}. Check: tacit verify MODEL.json",
                "evidence": [EVIDENCE],
            }
        ],
        "evidence": [
            {
                "bom-ref": EVIDENCE,
                "propertyName": "privacy certificate",
                "description": f"Certificate of the fit, SHA-256 {certificate.digest} in canonical form (RFC 8785).",
                "data": [{"name": "certificate.json", "contents": {"attachment": attachment}}],
                "created": certificate.created,
            }
        ],
    }
