"""`tacit demo`: a private model of a real survey, beside one without privacy."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, finite, progress, table
from tacit.cli.failures import Mistake
from tacit.cli.files import write_text, write_with

TARGET = "affair"
"""Name of the answers in the written table."""

HELD_OUT = 4
"""Every fourth woman is kept for the comparison."""

FILES = {
    "data": "survey.csv",
    "schema": "survey.toml",
    "model": "model.json",
    "certificate": "certificate.json",
    "report": "report.html",
}
"""What the demo writes."""


def survey() -> tuple[dict[str, Any], Any]:
    """The columns of the survey and the answers, ``"yes"`` where a woman reported an affair.

    Raises:
        Mistake: if the package that carries the data is not installed.
    """
    try:
        from statsmodels.datasets import fair
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("statsmodels"):  # something that it needs itself is broken
            raise
        raise Mistake(
            'the demo\'s survey comes with statsmodels, which is not installed: pip install "tacit[demo]"'
        ) from None
    import numpy as np

    data = fair.load_pandas().data
    answers = np.where(data["affairs"].to_numpy() > 0, "yes", "no")
    return {name: data[name].to_numpy() for name in data.columns if name != "affairs"}, answers


@dataclass(frozen=True, kw_only=True)
class DemoArguments:
    """What the command line asked for."""

    folder: Annotated[Path, typer.Option("--folder", help="Output folder.")] = Path("demo")
    epsilon: shared.Epsilon = 1.0
    delta: shared.Delta = 1e-6
    as_json: shared.Json = False


def run(asked: DemoArguments) -> None:
    """Learn from a real survey (6,366 women, 1974) with and without privacy, and compare the two."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv
    from sklearn.metrics import roc_auc_score

    from tacit.additive.estimator import AdditiveBoostClassifier
    from tacit.estimators.files import save
    from tacit.report.page import render
    from tacit.schema import Schema

    folder, epsilon, delta = asked.folder, asked.epsilon, asked.delta
    columns, answers = survey()
    folder.mkdir(parents=True, exist_ok=True)
    with resources.as_file(resources.files("tacit.cli.demo_data").joinpath("survey.toml")) as path:
        schema = Schema.from_toml(path)
        write_text(folder / FILES["schema"], path.read_text("utf-8"))
    write_with(
        folder / FILES["data"], lambda temporary: csv.write_csv(pa.table({**columns, TARGET: answers}), temporary)
    )
    held_out = np.arange(len(answers)) % HELD_OUT == HELD_OUT - 1
    train = {name: values[~held_out] for name, values in columns.items()}
    test = {name: values[held_out] for name, values in columns.items()}
    with progress("learning from the survey", quiet=asked.as_json) as tell:
        tell(f"epsilon {epsilon:g}")
        private = AdditiveBoostClassifier(epsilon=epsilon, delta=delta, schema=schema).fit(train, answers[~held_out])
        tell("without privacy")
        open_one = AdditiveBoostClassifier(epsilon=float("inf"), schema=schema).fit(train, answers[~held_out])
    scores = [float(roc_auc_score(answers[held_out], m.predict_proba(test)[:, 1])) for m in (private, open_one)]
    certificate = private.certificate_.to_dict()
    written = {name: folder / file for name, file in FILES.items()}
    save(private, written["model"])
    write_text(written["certificate"], json.dumps(certificate, indent=1) + "\n")
    write_text(written["report"], render(private.model_, certificate, "Who reported an affair, 1974"))
    if asked.as_json:
        auc = {"private_auc": round(scores[0], 4), "non_private_auc": round(scores[1], 4)}
        as_json({**auc, "epsilon": finite(epsilon), "delta": delta, "written": _texts(written)})
        return
    table(
        "A survey of 6,366 women, 1974: who reported an affair?",
        {
            f"private, epsilon {epsilon:g}": f"AUC {scores[0]:.3f} ± {auc_error(scores[0], answers[held_out]):.3f}",
            "without privacy": f"AUC {scores[1]:.3f} ± {auc_error(scores[1], answers[held_out]):.3f}",
            "": f"on {held_out.sum():,} women kept apart, with the standard error of so few",
            **_texts(written),
            "next": f"open {written['report']} in a browser",
        },
    )


def auc_error(auc: float, answers: Any) -> float:
    """Standard error of an AUC on as many positive and negative answers as these (Hanley, McNeil 1982)."""
    positive = int((answers == "yes").sum())
    negative = len(answers) - positive
    first, second = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positive - 1) * (first - auc**2) + (negative - 1) * (second - auc**2)
    return math.sqrt(spread / (positive * negative))


def _texts(paths: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in paths.items()}
