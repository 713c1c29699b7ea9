"""What is done with a model once there is one: `tacit predict`, `tacit report`, `tacit verify`."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.console import as_json, finite, progress, releasable, table
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, write_text, write_with
from tacit.cli.options import costs_of
from tacit.cli.tables import model_table

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.models.base import Model


def predict(
    model_path: Path, data: Path, output: Path, json: bool, threshold: float | None = None, cost: str | None = None
) -> None:
    """Writes one line per row: the class decided for and the probability of each class, or the number predicted."""
    from pyarrow import csv

    from tacit.models.files import load_model

    check_outputs({"--output": output}, {"the data": data, "the model": model_path})
    if output.suffix.lower() in (".parquet", ".pq"):
        raise Mistake(f"--output: predictions are written as CSV, and {output} would be taken for Parquet")
    model, _ = load_model(model_path)
    least = _threshold(model, threshold, cost)
    with progress(data.name, quiet=json) as tell:
        predictions = predicted(model, model_table(data, model, tell), least)
        tell("writing")
        write_with(output, lambda temporary: csv.write_csv(predictions, temporary))
    if json:
        as_json({"written": str(output), "columns": predictions.column_names})
        return
    table("Predictions", {"written": str(output), "columns": ", ".join(predictions.column_names)})


def _threshold(model: Model, threshold: float | None, cost: str | None) -> float | None:
    """From which probability on the positive class is predicted; None for the likeliest class."""
    if threshold is None and cost is None:
        return None
    if model.says_numbers or len(model.classes) != 2:
        raise Mistake("--threshold and --cost are about two classes, and this model does not tell two apart")
    if cost is None:
        if threshold is None or not 0 <= threshold <= 1:
            raise Mistake(f"--threshold: give a probability, got {threshold:g}")
        return threshold
    if threshold is not None:
        raise Mistake("give --threshold or --cost, not both")
    positive, negative = costs_of(cost)
    if not (min(positive, negative) >= 0 and 0 < positive + negative < float("inf")):
        raise Mistake(f"--cost: costs are at least 0, and not both 0; got {cost!r}")
    return positive / (positive + negative)


def predicted(model: Model, frame: Any, threshold: float | None = None) -> pa.Table:
    """A table with the column ``prediction``, and one column ``p(CLASS)`` per class if there are classes."""
    import numpy as np
    import pyarrow as pa

    if model.says_numbers:
        return pa.table({"prediction": np.asarray(model.predict(frame), np.float64)})
    chances = model.predict_proba(frame)
    names = [str(name) for name in model.classes]
    chosen = chances.argmax(axis=1) if threshold is None else (chances[:, 1] >= threshold).astype(int)
    columns = {"prediction": pa.array(np.asarray(names, dtype=object)[chosen], pa.string())}
    return pa.table({**columns, **{f"p({name})": chances[:, i] for i, name in enumerate(names)}})


def report(model_path: Path, output: Path | None, title: str | None) -> None:
    """Writes the page of a model."""
    from tacit.models.files import load_model
    from tacit.report.page import render

    target = output if output is not None else model_path.with_suffix(".html")
    check_outputs({"--output": target}, {"the model": model_path})
    model, certificate = load_model(model_path)
    write_text(target, render(model, certificate, title))
    table("Report", {"written": str(target)})


def read_certificate(path: Path) -> dict[str, Any]:
    """The certificate in a file: of its own, or embedded in a model.

    Raises:
        Mistake: if there is none.
    """
    try:
        data = json_module.loads(path.read_text("utf-8"))
    except (json_module.JSONDecodeError, UnicodeDecodeError) as error:
        raise Mistake(f"{path} is neither a certificate nor a model: {error}") from None
    if isinstance(data, dict) and data.get("format") == "tacit model":
        from tacit.models.base import checked_file

        data = checked_file(path).get("certificate")
        if data is None:
            raise Mistake(f"{path} is a model without a certificate")
    if not isinstance(data, dict):
        raise Mistake(f"{path} is neither a certificate nor a model")
    return data


def verify(path: Path, json: bool) -> None:
    """Accounts for a certificate again, from its charges alone, and compares with its claim."""
    from tacit.privacy.certificate import Certificate

    certificate = Certificate.from_dict(read_certificate(path))
    findings = certificate.verify()
    holds = not findings
    facts = {
        "claim": f"epsilon {certificate.epsilon:.6g}, delta {certificate.delta:g}, {certificate.neighbouring}",
        "releases": str(certificate.releases),
        "releasable": releasable(certificate),
        "verdict": "the claim holds" if holds else "the claim does NOT hold: " + "; ".join(findings),
    }
    if json:
        claim = {"epsilon": finite(certificate.epsilon), "delta": certificate.delta}
        as_json({**claim, "holds": holds, "findings": list(findings), "releasable": certificate.releasable})
    else:
        table("Certificate", facts)
    if not holds:
        import typer

        raise typer.Exit(1)
