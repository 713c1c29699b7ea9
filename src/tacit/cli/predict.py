"""`tacit predict`: what a model says of rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.console import as_json, progress, table
from tacit.cli.failures import Mistake
from tacit.cli.files import check_outputs, write_with
from tacit.cli.options import costs_of, listed
from tacit.cli.tables import STREAM, model_table, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.models.base import Model


@dataclass(frozen=True, kw_only=True)
class PredictArguments:
    """What the command line asked for."""

    model: shared.ModelFile
    data: shared.Data
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Write predictions here: Parquet if it ends so, else CSV; - is a stream."),
    ]
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Of two classes, predict the positive one from this probability."),
    ] = None
    cost: Annotated[
        str | None, typer.Option("--cost", help="Or by the cost of a false positive and a false negative: 1,5.")
    ] = None
    keep: Annotated[
        str | None, typer.Option("--keep", help="Columns of the data to write beside predictions, comma-separated.")
    ] = None
    encoding: shared.Encoding = "utf-8"
    as_json: shared.Json = False


def run(asked: PredictArguments) -> None:
    """Predict classes with probabilities, or numbers, for new rows."""
    from tacit.models.files import load_model

    streamed = asked.output == STREAM
    if streamed and asked.as_json:
        raise Mistake("--json and -o - both write to standard output: leave one of them out")
    if not streamed:
        check_outputs({"--output": asked.output}, {"the data": asked.data, "the model": asked.model})
    model, _ = load_model(asked.model)
    least = threshold_of(model, asked.threshold, asked.cost)
    kept = listed(asked.keep) or []
    with rows_of(asked.data, asked.encoding) as data, progress(asked.data.name, quiet=asked.as_json) as tell:
        frame = model_table(data, model, tell, kept)
        predictions = predicted(model, frame, least, kept)
        tell("writing")
        if streamed:
            write(predictions, sys.stdout.buffer)
            return
        write_with(asked.output, lambda temporary: write(predictions, temporary, asked.output))
    if asked.as_json:
        as_json({"written": str(asked.output), "columns": predictions.column_names})
        return
    table("Predictions", {"written": str(asked.output), "columns": ", ".join(predictions.column_names)})


def write(predictions: pa.Table, place: Any, named: Path = STREAM) -> None:
    """Writes a table in the format that the name asks for."""
    if named.suffix.lower() in (".parquet", ".pq"):
        from pyarrow import parquet

        parquet.write_table(predictions, place)
        return
    from pyarrow import csv

    csv.write_csv(predictions, place)


def threshold_of(model: Model, threshold: float | None, cost: str | None) -> float | None:
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


def predicted(model: Model, frame: Any, threshold: float | None = None, kept: list[str] | None = None) -> pa.Table:
    """A table of what is kept, ``prediction``, and one column ``p(CLASS)`` per class if there are classes."""
    import numpy as np
    import pyarrow as pa

    beside = {name: frame.column(name) for name in kept or []}
    if model.says_numbers:
        return pa.table({**beside, "prediction": np.asarray(model.predict(frame), np.float64)})
    chances = model.predict_proba(frame)
    names = [str(name) for name in model.classes]
    chosen = chances.argmax(axis=1) if threshold is None else (chances[:, 1] >= threshold).astype(int)
    columns = {"prediction": pa.array(np.asarray(names, dtype=object)[chosen], pa.string())}
    return pa.table({**beside, **columns, **{f"p({name})": chances[:, i] for i, name in enumerate(names)}})
