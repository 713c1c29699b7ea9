"""`tacit demo`: a private model of a made-up hospital, beside one without privacy."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from tacit.cli import arguments as shared
from tacit.cli.console import answer, finite, progress
from tacit.cli.outputs import check_outputs
from tacit.whole_files import write_text, write_with

HELD_OUT = 4
"""Every fourth patient is kept for the comparison."""

FILES = {
    "data": "stays.csv",
    "held-out data": "held_out.csv",
    "schema": "schema.toml",
    "model": "model.json",
    "certificate": "certificate.json",
    "report": "report.html",
}
"""What the demo writes."""


@dataclass(frozen=True, kw_only=True)
class DemoArguments(shared.WritingArguments):
    folder: Annotated[Path, "Output folder."] = Path("demo")
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6


def run(arguments: DemoArguments) -> None:
    """Learn from made-up hospital stays with and without privacy, and compare the two."""
    from sklearn.metrics import roc_auc_score

    from tacit.additive.estimator import AdditiveBoostClassifier
    from tacit.estimators.files import save
    from tacit.examples import hospital
    from tacit.report.page import render

    folder, epsilon = arguments.folder, arguments.epsilon
    columns, answers, schema = hospital()
    held_out = _held_out(columns["patient_id"])
    files = {name: folder / file for name, file in FILES.items()}
    folder.mkdir(parents=True, exist_ok=True)
    text = resources.files("tacit.examples").joinpath("hospital.toml").read_text("utf-8")
    # a folder with the demo's own schema is that of an earlier demo, which this one replaces
    is_own = files["schema"].is_file() and files["schema"].read_text("utf-8") == text
    check_outputs(files, {}, force=arguments.force or is_own)
    _write_rows(files["data"], columns, answers, ~held_out)
    _write_rows(files["held-out data"], columns, answers, held_out)
    write_text(files["schema"], text)
    train, test = _rows(columns, ~held_out), _rows(columns, held_out)
    with progress("learning from the stays", quiet=arguments.as_json) as tell:
        tell(f"epsilon {epsilon:g}")
        private = AdditiveBoostClassifier(epsilon=epsilon, delta=arguments.delta, schema=schema)
        private.fit(train, answers[~held_out])
        tell("without privacy")
        non_private = AdditiveBoostClassifier(epsilon=float("inf"), schema=schema).fit(train, answers[~held_out])
    truth = answers[held_out]
    scores = [float(roc_auc_score(truth, model.predict_proba(test)[:, 1])) for model in (private, non_private)]
    certificate = private.certificate_.to_dict()
    save(private, files["model"])
    write_text(files["certificate"], json.dumps(certificate, indent=1) + "\n")
    write_text(files["report"], render(private.model_, certificate, "Which patients came back within 30 days?"))
    auc = {"private_auc": round(scores[0], 4), "non_private_auc": round(scores[1], 4)}
    answer(
        arguments.as_json,
        {**auc, "epsilon": finite(epsilon), "delta": arguments.delta, "written": _texts(files)},
        "Made-up hospital stays: who came back within 30 days?",
        {
            f"private, epsilon {epsilon:g}": f"AUC {scores[0]:.3f} ± {auc_error(scores[0], truth):.3f}",
            "without privacy": f"AUC {scores[1]:.3f} ± {auc_error(scores[1], truth):.3f}",
            "": f"on {held_out.sum():,} held-out stays; ± is one standard error",
            **_texts(files),
            "next": f"open {files['report']} in a browser",
        },
    )


def _held_out(patients: Any) -> Any:
    """The mask of the stays of every fourth patient, shape ``(stays,)``."""
    import numpy as np

    numbers = np.unique(patients, return_inverse=True)[1]
    return numbers % HELD_OUT == HELD_OUT - 1


def _rows(columns: dict[str, Any], mask: Any) -> dict[str, Any]:
    return {name: values[mask] for name, values in columns.items()}


def _write_rows(path: Path, columns: dict[str, Any], answers: Any, mask: Any) -> None:
    """Writes stays as CSV; a gap is an empty cell."""
    import pyarrow as pa
    from pyarrow import csv

    from tacit.examples import TARGET

    table = pa.table({name: pa.array(values, from_pandas=True) for name, values in _rows(columns, mask).items()})
    table = table.append_column(TARGET, pa.array(answers[mask]))
    write_with(path, lambda file: csv.write_csv(table, file))


def auc_error(auc: float, answers: Any) -> float:
    """Standard error of an AUC on as many positive and negative answers as these (Hanley, McNeil 1982)."""
    positive = int((answers == "yes").sum())
    negative = len(answers) - positive
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positive - 1) * (first - auc**2) + (negative - 1) * (second - auc**2)
    return math.sqrt(spread / (positive * negative))


def _texts(paths: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in paths.items()}
