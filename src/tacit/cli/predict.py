"""`tacit predict`: what a model says of rows, and counts of what the rows hold that the model does not know.

The counts are exact and not private: they go to the terminal of whoever holds the rows, and nowhere else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli import arguments as shared
from tacit.cli.arguments import RowArguments, listed, pair_of
from tacit.cli.console import as_json, progress, table, visible
from tacit.cli.failures import Mistake
from tacit.cli.outputs import check_outputs
from tacit.cli.tables import STREAM, columns_for, encoders_of, rows_of
from tacit.whole_files import write_with

if TYPE_CHECKING:
    import pyarrow as pa

    from tacit.encoding.frames import Frame
    from tacit.encoding.sources import Reader
    from tacit.models.base import Model


NOTABLE, MANY = 0.01, 0.1
"""Shares of rows: from the first on clipped and unknown values are named, from the second on missing ones."""


@dataclass
class Counts:
    """Rows so far, and per column how many are missing, out of bounds, or hold what is not declared."""

    rows: int = 0
    columns: dict[str, dict[str, int]] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)

    def add(self, frame: Frame, encoders: Iterable[tuple[str, Any]]) -> None:
        """Counts a chunk of rows in the columns that the model needs, by their encoders."""
        self.rows += frame.n_rows
        for name, encoder in encoders:
            if name not in frame.names:
                continue
            counts = self.columns.setdefault(name, {"missing": 0, "clipped": 0, "unknown": 0})
            for what, mask in self._masks(frame, name, encoder):
                counts[what] += int(mask.sum())

    def _masks(self, frame: Frame, name: str, encoder: Any) -> list[tuple[str, Any]]:
        """Which rows are missing, clipped or unknown."""
        import numpy as np

        from tacit.encoding.grid import NumericGrid
        from tacit.encoding.values import BooleanIndex, CategoryIndex

        if isinstance(encoder, NumericGrid):
            numbers = encoder.numbers(frame, name)
            outside = (numbers < encoder.lower) | (numbers > encoder.upper)
            return [("missing", ~np.isfinite(numbers)), ("clipped", np.isfinite(numbers) & outside)]
        if not isinstance(encoder, CategoryIndex | BooleanIndex):
            return []
        codes = encoder.encode(frame.column(name), name)
        masks: list[tuple[str, Any]] = [("missing", codes == encoder.missing)]
        if isinstance(encoder, CategoryIndex):
            unknown = codes == encoder.other
            masks.append(("unknown", unknown))
            if name not in self.alike and unknown.any():
                self._look_alike(frame, name, encoder, int(unknown.argmax()))
        return masks

    def _look_alike(self, frame: Frame, name: str, encoder: Any, row: int) -> None:
        """Keeps in what alone the first unknown value of a column differs from a declared one."""
        import numpy as np

        from tacit.encoding.frames import take
        from tacit.schema.alike import difference

        [value] = list(take(frame.column(name), np.array([row])))
        value = value.as_py() if hasattr(value, "as_py") else value
        if isinstance(value, str) and (why := difference(value, map(str, encoder.categories))):
            self.alike[name] = why

    def notes(self) -> list[str]:
        """What a person should know before they trust the predictions, in words."""
        words = []
        for name, counts in self.columns.items():
            for what, least, note in (
                ("missing", MANY, "are empty or cannot be read, and count as missing"),
                ("clipped", NOTABLE, "lie outside the declared bounds, and are clipped"),
                ("unknown", NOTABLE, "hold values that are not declared, and go to 'other'"),
            ):
                if counts[what] > least * self.rows:
                    why = f"; one differs only {self.alike[name]}" if what == "unknown" and name in self.alike else ""
                    words.append(f"column '{name}': {counts[what]:,} of {self.rows:,} rows {note}{why}")
        return words


OTHER_FORMATS = (
    ".xlsx", ".xls", ".ods", ".json", ".feather", ".arrow", ".orc", ".gz", ".zip", ".zst", ".db", ".duckdb",
)  # fmt: skip
"""Endings of names under which CSV could not be read."""


@dataclass(frozen=True, kw_only=True)
class PredictArguments(RowArguments, shared.WritingArguments):
    model: shared.ModelFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "--out",
            "-o",
            help="Output file: Parquet if it ends in .parquet, otherwise CSV; - for standard output.",
        ),
    ]
    threshold: Annotated[float | None, "Predict the positive class at or above this probability (binary models)."] = (
        None
    )
    cost: Annotated[
        str | None, "Choose the threshold by the cost of a false positive and a false negative, e.g. 1,5."
    ] = None
    keep: Annotated[str | None, "Columns of the data to copy to the output, comma-separated."] = None


def run(arguments: PredictArguments) -> None:
    """Predict classes with probabilities, or numbers, for new rows, in bounded memory."""
    from tacit.models.files import load_model

    streamed = arguments.output == STREAM
    if streamed and arguments.as_json:
        raise Mistake("--json and -o - both write to standard output: leave one of them out")
    if not streamed:
        inputs: dict[str, str | Path | None] = {"the data": arguments.data, "the model": arguments.model}
        check_outputs({"--output": arguments.output}, inputs, force=arguments.force)
        check_format(arguments.output)
    elif sys.stdout.name == os.devnull:
        raise Mistake("-o -: standard output is closed")
    model, _ = load_model(arguments.model)
    least = threshold_of(model, arguments.threshold, arguments.cost)
    extra = listed(arguments.keep) or []
    with read(arguments) as reader, progress(Path(arguments.data).name, quiet=arguments.as_json) as tell:
        names, numeric = columns_for(model, extra)
        encoders, counts = list(encoders_of(model)), Counts()
        nothing = reader.empty(names, numeric)

        def predictions() -> Iterator[pa.Table]:
            rows = 0
            for chunk in reader.chunks(names, numeric):
                yield predicted(model, chunk, least, extra)
                counts.add(chunk, encoders)
                rows += chunk.n_rows
                tell(f"{rows:,} rows")

        _check_kept(extra, predicted(model, nothing, least).column_names)
        columns = predicted(model, nothing, least, extra)
        if streamed:
            with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream:  # ends where nobody reads on
                write(predictions(), columns, stream, arguments.output, arguments.decimal)
            _say(counts.notes())
            return
        place, decimal = arguments.output, arguments.decimal
        write_with(place, lambda file: write(predictions(), columns, file, place, decimal), private=True)
    if arguments.as_json:
        as_json({"written": str(arguments.output), "columns": columns.column_names, "notes": counts.notes()})
        return
    _say(counts.notes())
    table("Predictions", {"written": str(arguments.output), "columns": ", ".join(columns.column_names)})


def _say(notes: list[str]) -> None:
    """Prints what the rows hold that the model does not know, on standard error."""
    for note in notes:
        typer.echo(visible(f"note: {note}"), err=True)


def _check_kept(columns: list[str], own: list[str]) -> None:
    """Raises where a column to keep is called as one of the predictions."""
    for name in columns:
        if name in own:
            raise Mistake(
                f"--keep: the predictions have a column {name!r} of their own, and a kept one would be lost: rename "
                "it in the data, or leave it out"
            )


def check_format(output: Path, option: str = "--output") -> None:
    """Raises where a name promises a format that is not written."""
    if output.suffix.lower() in OTHER_FORMATS:
        raise Mistake(
            f"{option}: {output} would not be what its name says; predictions are written as Parquet where the name "
            "ends in .parquet, else as CSV, such as predictions.csv"
        )


def is_elsewhere(options: RowArguments) -> bool:
    """Whether rows are in many files, or in a database."""
    return "://" in options.data or options.query is not None or not Path(options.data).is_file()


@contextmanager
def read(options: RowArguments) -> Iterator[Reader]:
    """A reader of the rows; errors as in :func:`tacit.cli.tables.rows_of`."""
    from tacit.encoding.source import read_source
    from tacit.encoding.sources import FileReader

    if options.data != str(STREAM) and is_elsewhere(options):
        yield read_source(options.data, query=options.query, engine="memory", **options.csv()).reader
        return
    with rows_of(Path(options.data), options) as (file, dialect):
        yield FileReader((file,), dialect)


def write(tables: Iterator[pa.Table], columns: pa.Table, place: Any, output: Path, decimal: str | None) -> None:
    """Writes tables one after the other in the format that ``output`` asks for; ``columns`` where there are no rows.

    A CSV file has decimal commas and semicolons where the rows had decimal commas, so that the same program reads it.
    """
    from pyarrow import csv, parquet

    parquets, commas = output.suffix.lower() in (".parquet", ".pq"), decimal == ","
    if commas and not parquets:
        tables, columns = map(with_commas, tables), with_commas(columns)
    first = next(tables, columns)
    schema = typed(first.schema, columns.schema)
    if parquets:
        writer: Any = parquet.ParquetWriter(place, schema)
    else:
        writer = csv.CSVWriter(place, schema, write_options=csv.WriteOptions(delimiter=";" if commas else ","))
    with writer as file:
        for each in chain([first], tables):
            file.write_table(each.cast(schema))


def typed(first: pa.Schema, declared: pa.Schema) -> pa.Schema:
    """The first part's types; of a column that has no value there, and so no type, that of all parts."""
    import pyarrow as pa

    return pa.schema(
        [other if field.type == pa.null() else field for field, other in zip(first, declared, strict=True)]
    )


def with_commas(chunk: pa.Table) -> pa.Table:
    """The table with its fractions as texts that have decimal commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(chunk.schema):
        if pa.types.is_floating(column.type):
            texts = pc.replace_substring(pc.cast(chunk.column(place), pa.string()), ".", ",")
            chunk = chunk.set_column(place, column.name, texts)
    return chunk


def classes_of(model: Model) -> tuple[Any, ...]:
    """The classes that a model tells apart; none, if it is of a number."""
    from tacit.models.base import ClassModel

    return tuple(model.classes) if isinstance(model, ClassModel) else ()


def threshold_of(model: Model, threshold: float | None, cost: str | None) -> float | None:
    """From which probability on the positive class is predicted; None for the likeliest class."""
    if threshold is None and cost is None:
        return None
    if len(classes_of(model)) != 2:
        raise Mistake("--threshold and --cost are about two classes, and this model does not tell two apart")
    if cost is None:
        if threshold is None or not 0 <= threshold <= 1:
            raise Mistake(f"--threshold: give a probability, got {threshold:g}")
        return threshold
    if threshold is not None:
        raise Mistake("give --threshold or --cost, not both")
    positive, negative = pair_of(cost, "--cost: give what a false positive and a false negative cost, such as 1,5")
    if not (min(positive, negative) >= 0 and 0 < positive + negative < float("inf")):
        raise Mistake(f"--cost: costs are at least 0, and not both 0; got {cost!r}")
    return positive / (positive + negative)


def predicted(model: Model, frame: Any, threshold: float | None = None, extra: list[str] | None = None) -> pa.Table:
    """A table of what is kept, ``prediction``, and one column ``proba_CLASS`` per class if there are classes."""
    import numpy as np
    import pyarrow as pa

    from tacit.models.base import ClassModel

    beside = {name: frame.column(name) for name in extra or []}
    if not isinstance(model, ClassModel):
        return pa.table({**beside, "prediction": np.asarray(model.predict(frame), np.float64)})
    chances = model.predict_proba(frame)
    names = [str(name) for name in model.classes]
    indices = chances.argmax(axis=1) if threshold is None else (chances[:, 1] >= threshold).astype(int)
    columns = {"prediction": pa.array(np.asarray(names, dtype=object)[indices], pa.string())}
    return pa.table({**beside, **columns, **{f"proba_{name}": chances[:, i] for i, name in enumerate(names)}})
