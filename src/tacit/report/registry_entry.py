"""An entry of the Differential Privacy Deployments Registry, and a model card for Hugging Face.

Source: https://registry.opendp.org, schema of November 2025 (tier 3); Ghazi, Nanayakkara, Vadhan 2025.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tacit.models.base import ClassModel
from tacit.privacy.strength import percent
from tacit.report.meta import filing
from tacit.report.page import limits, promise_of
from tacit.report.paperwork import Paperwork, metrics, plain

DRAFT, TIER = "Draft", 3


def registry_entry(papers: Paperwork) -> dict[str, Any]:
    """The entry of a model as plain data; what nobody stated is marked TO FILL."""
    certificate = papers.certificate
    basic: dict[str, Any] = {
        "name": papers.name,
        "data_curators": [papers.stated("controller")],
        "description": papers.description,
        "intended_use": papers.stated("purpose"),
        "data_product_type": "Machine learning model",
        "data_product_region": papers.stated("region"),
        "publication_date": papers.meta.get("published", certificate.created[:10]),
    }
    if "sector" in papers.meta:
        basic["data_product_sector"] = papers.meta["sector"]
    slug = "_".join(re.sub(r"\W+", "_", part.lower())
                    for part in (basic["name"], basic["data_curators"][0], basic["publication_date"][:4]))  # fmt: skip
    sources = {"sources": "\n".join(f"- {line}" for line in papers.meta.lines("sources"))}
    return {
        "url_slug": slug.replace("_", "-"),
        "status": DRAFT,
        "tier": TIER,
        "deployment": {
            "basic": basic,
            **_privacy(papers),
            "deployment_model": _model(papers),
            **_making(papers),
            "administrative": {
                **(sources if "sources" in papers.meta else {}),
                "notes": f"Certificate of tacit, SHA-256 {certificate.digest}. Checked with: tacit verify MODEL.json",
                "registry_authors": papers.meta.lines("authors") or [papers.stated("authors")],
            },
        },
    }


def _privacy(papers: Paperwork) -> dict[str, Any]:
    certificate = papers.certificate
    return {
        "dp_variant": {
            "variant_name": "Approximate DP" if certificate.delta > 0 else "Pure DP",
            "data_domain": f"Tables whose columns a public schema declares (SHA-256 {certificate.schema_digest}).",
            "unprotected_quantities": papers.unprotected,
        },
        "privacy_loss": {
            "privacy_unit": certificate.protected,
            "privacy_unit_details": papers.adjacent,
            "privacy_parameters": {"epsilon": certificate.epsilon, "delta": certificate.delta},
        },
    }


def _model(papers: Paperwork) -> dict[str, Any]:
    who = papers.stated("controller")
    actors = f"The curator ({who}) holds the rows and runs the fit, and is trusted."
    if papers.sites:
        trusted = (
            "sees exact totals and draws the noise, and is trusted" if len(papers.sites) == 1 else "is not trusted"
        )
        actors = (
            f"Sites keep their rows and send sums under masks: {'; '.join(papers.sites)}. The coordinator {trusted}."
        )
    return {
        "model_name": "Federated" if papers.sites else "Central",
        "actors": f"{actors} Readers of the model, its report and its certificate are not trusted.",
        "release_type": "One release",
        "release_type_details": papers.stated("releases"),
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _making(papers: Paperwork) -> dict[str, Any]:
    certificate = papers.certificate
    theorems = "; ".join(dict.fromkeys(entry.theorem for entry in certificate.entries))
    return {
        "accounting": {
            "composition": papers.accounting,
            "post_processing": "The model is a function of the listed releases alone.",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": "No step of the fit reads rows outside of the ledger. The "
            f"schema comes from: {papers.stated('schema_sources')}",
            "mechanisms": f"Sensitivities by: {theorems}. Noise on integers, by exact samplers "
            f"({certificate.noise_source}) from the operating system's randomness; no floating-point noise. tacit "
            f"{certificate.versions['tacit']}. Timing is not protected. Access to the data: {papers.stated('access')}",
            "justification": papers.stated("justification"),
        },
    }


def yaml_text(entry: Mapping[str, Any]) -> str:
    """Plain data as YAML; texts are in double quotes, as JSON writes them."""
    return "\n".join(_lines(entry, "")) + "\n"


def _lines(data: Mapping[str, Any], margin: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield f"{margin}{key}:"
            yield from _lines(value, f"{margin}  ")
        elif isinstance(value, list):
            yield f"{margin}{key}:"
            yield from (f"{margin}  - {json.dumps(item, ensure_ascii=False)}" for item in value)
        else:
            yield f"{margin}{key}: {_scalar(value, key)}"


def _scalar(value: Any, key: str) -> str:
    if isinstance(value, str) and key in ("url_slug", "status"):  # the registry reads them as plain words
        return value
    text = json.dumps(value, ensure_ascii=False)
    bare = isinstance(value, float) and "." not in text
    return text.replace("e", ".0e") if bare else text  # YAML takes 1e-06 for a text, and 1.0e-06 for a number


USE = """```python
from tacit import load_model  # pip install tacit-predict

model, certificate = load_model("{file}")
print(model.predict({{{columns}}}))
```"""


def hub_card(papers: Paperwork, file: str = "model.json") -> str:
    """The text of a ``README.md`` for a repository of models, which has the model under the name ``file``."""
    return f"---\n{yaml_text(_header(papers))}---\n\n" + "\n".join(_body(papers, file))


def _header(papers: Paperwork) -> dict[str, Any]:
    certificate = papers.certificate
    task = "tabular-classification" if isinstance(papers.model, ClassModel) else "tabular-regression"
    header: dict[str, Any] = {
        "library_name": "tacit",
        "pipeline_tag": task,
        "tags": ["differential-privacy", "tabular", certificate.algorithm],
        "differential_privacy": {
            "epsilon": certificate.epsilon, "delta": certificate.delta, "unit": certificate.protected,
            "neighbouring": str(certificate.neighbouring), "certificate_sha256": certificate.digest,
        },
    }  # fmt: skip
    score = papers.evaluation
    if score is not None:
        figures = [{"type": name, "value": figure["value"]} for name, figure in metrics(score["overall"])]
        data = {"type": "private", "name": papers.meta.get("dataset", "rows that were kept apart")}
        results = [{"task": {"type": task}, "dataset": data, "metrics": figures}]
        header["model-index"] = [{"name": papers.name, "results": results}]
    return header


def _body(papers: Paperwork, file: str) -> Iterator[str]:
    certificate = papers.certificate
    promise, filed = promise_of(certificate), filing(papers.meta, papers.evaluation)
    yield f"# {plain(papers.name)}\n\n{plain(papers.description)}\n"
    yield from (f"**{key.capitalize()}:** {plain(text)}\n" for key, text in filed.facts)
    yield "## How to use it\n"
    columns = ", ".join(f"{column!r}: [...]" for column in papers.model.feature_names)
    yield USE.format(file=file, columns=columns) + "\n"
    yield f"## Privacy\n\n{plain(promise.headline)} {plain(promise.who)}\n"
    yield f"| | |\n|---|---|\n| epsilon, delta | {certificate.epsilon:.6g}, {certificate.delta:g} |"
    guess = f"a guess about one {plain(promise.whom)} is right at most {percent(promise.best)} of the time"
    yield f"| strength | {promise.strength}: {guess} |"
    yield f"| releases | {certificate.releases:,}, each with its theorem in the model file |"
    yield f"| certificate | `{certificate.digest}`; check it with `tacit verify {file}` |\n"
    if filed.figures:
        yield f"## Evaluation\n\n| figure | {' | '.join(map(plain, filed.groups))} |"
        yield f"|{'---|' * (len(filed.groups) + 1)}"
        yield from (f"| {' | '.join(map(plain, row))} |" for row in filed.figures)
        yield f"\nMeasured with noise on rows that were kept apart{': ' + filed.cost if filed.cost else ''}.\n"
    yield "## Limits\n"
    yield from (f"* {plain(text)}" for text in limits(certificate))
    yield ""
