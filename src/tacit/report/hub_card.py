"""A model card as Hugging Face reads it: Markdown with a header of YAML, from what the certificate shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.models.base import ClassModel
from tacit.privacy.strength import percent
from tacit.report.filing import filing
from tacit.report.page import limits, promise_of
from tacit.report.paperwork import Paperwork
from tacit.report.registry_entry import yaml_text

USE = """```python
from tacit import load_model  # pip install tacit-predict

model, certificate = load_model("{file}")
print(model.predict({{{columns}}}))
```"""


def hub_card(papers: Paperwork, file: str = "model.json") -> str:
    """The text of a ``README.md`` for a repository of models.

    Args:
        papers: the model, and what was stated about it.
        file: name of the model file in the repository.
    """
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
        metrics = [
            {"type": name, "value": figure["value"]}
            for name, figure in score["overall"].items()
            if isinstance(figure, dict) and isinstance(figure.get("value"), int | float)
        ]
        data = {"type": "private", "name": papers.meta.get("dataset", "rows that were kept apart")}
        results = [{"task": {"type": task}, "dataset": data, "metrics": metrics}]
        header["model-index"] = [{"name": papers.name, "results": results}]
    return header


def _body(papers: Paperwork, file: str) -> Iterator[str]:
    certificate = papers.certificate
    name = certificate.unit_name or ""
    promise, filed = promise_of(certificate), filing(papers.meta, papers.evaluation)
    yield f"# {_plain(papers.name)}\n\n{_plain(papers.description)}\n"
    yield from (f"**{key.capitalize()}:** {_plain(text)}\n" for key, text in filed.facts)
    yield "## How to use it\n"
    columns = ", ".join(f"{column!r}: [...]" for column in papers.model.feature_names)
    yield USE.format(file=file, columns=columns) + "\n"
    yield f"## Privacy\n\n{_plain(promise.headline)} {_plain(promise.who)}\n"
    yield f"| | |\n|---|---|\n| epsilon, delta | {certificate.epsilon:.6g}, {certificate.delta:g} |"
    guess = f"a guess about one {_plain(promise.whom)} is right at most {percent(promise.best)} of the time"
    yield f"| strength | {promise.strength}: {guess} |"
    yield f"| releases | {certificate.releases:,}, each with its theorem in the model file |"
    yield f"| certificate | `{certificate.digest}`; check it with `tacit verify {file}` |\n"
    if filed.figures:
        yield f"## Evaluation\n\n| figure | {' | '.join(map(_plain, filed.groups))} |"
        yield f"|{'---|' * (len(filed.groups) + 1)}"
        yield from (f"| {' | '.join(map(_plain, row))} |" for row in filed.figures)
        yield f"\nMeasured with noise on rows that were kept apart{': ' + filed.cost if filed.cost else ''}.\n"
    yield "## Limits\n"
    yield from (f"* {_plain(text)}" for text in limits(certificate, name))
    yield ""


def _plain(text: str) -> str:
    """A text of somebody else's without marks of Markdown or HTML."""
    marked = "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(text.split()))
    return marked.replace("&", "&amp;")
