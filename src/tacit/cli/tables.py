"""Tables of commands: exactly the columns that are needed. What their cells hold is no error."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.arguments import CsvArguments
from tacit.cli.failures import Mistake
from tacit.encoding.errors import DataError

if TYPE_CHECKING:
    from tacit.encoding.frames import Frame
    from tacit.models.base import Model
    from tacit.schema import Schema
    from tacit.schema.csv_format import CsvFormat


Tell = Callable[[str], None]


def training_table(
    path: Path,
    target: str,
    schema: Schema | None,
    tell: Tell,
    numbers: bool = True,
    numeric_target: bool = False,
    dialect: CsvFormat | None = None,
) -> tuple[Frame, Any]:
    """The features of a table, and the target beside them; as a number if ``numeric_target``.

    Without a schema all columns but the target are read as numbers; or, unless ``numbers``, as what they are, which a
    CSV file does not say.
    """
    from tacit.encoding.folders import files_of
    from tacit.encoding.read import check_decimals, column_names, is_parquet
    from tacit.encoding.sources import read_files
    from tacit.schema.columns import is_plain_number
    from tacit.schema.csv_format import PLAIN

    dialect = dialect or PLAIN
    if schema is None:
        features = [name for name in column_names(files_of(path)[0], dialect) if name != target]
        numeric = features if numbers else []
    else:
        features = list(schema.features)
        numeric = [name for name in features if is_plain_number(schema.columns[name])]
        if schema.unit is not None:
            features.append(schema.unit.column)
        numeric_target = numeric_target and (schema.label is None or schema.label.cell_format.is_plain)
    numeric = [*numeric, *([target] if numeric_target else [])]
    if schema is None:
        check_decimals(files_of(path)[0], features, dialect)
    frame = read_files(path, [*features, target], numeric, lambda n: tell(f"{n:,} rows read"), dialect)
    untyped = schema is None and not numbers and not is_parquet(files_of(path)[0])
    return replace(frame.select(features), untyped=untyped), frame.column(target)


STREAM = Path("-")
"""The name of standard input and output."""


def is_many(path: Path) -> bool:
    """Whether a path means files of a folder, or those that match a pattern."""
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


@contextmanager
def rows_of(path: Path, options: CsvArguments) -> Iterator[tuple[Path, CsvFormat]]:
    """A file of rows, or standard input as one, and how it is written."""
    from tacit.encoding.read_table import csv_format

    try:
        dialect = csv_format(**options.csv())
    except DataError as error:
        raise Mistake(f"--{error.message}") from None
    if path != STREAM:
        yield path, dialect
        return
    with os.fdopen(os.memfd_create("rows"), "w+b") as memory:
        shutil.copyfileobj(sys.stdin.buffer, memory)
        memory.flush()
        place = f"/proc/self/fd/{memory.fileno()}"
        try:
            yield Path(place), dialect
        except DataError as error:
            raise DataError(str(error).replace(place, "standard input")) from None


def columns_for(model: Model, more: Sequence[str] = ()) -> tuple[list[str], frozenset[str]]:
    """The columns that a model needs for prediction, and ``more``; and which of them are numbers."""
    from tacit.encoding.grid import NumericGrid
    from tacit.encoding.matrix_rows import ROWS

    if model.feature_names == (ROWS,):
        raise Mistake("the model was made for matrices without column names: predict from Python")
    numeric = [
        name for name, encoder in encoders_of(model) if isinstance(encoder, NumericGrid) and encoder.reads_numbers
    ]
    return list(dict.fromkeys([*model.feature_names, *more])), frozenset(numeric)


def encoders_of(model: Any) -> Iterator[tuple[str, Any]]:
    """Names and encoders of a model's columns, each once: kept per feature, or as one encoding of the whole table.

    Of a model made of models, those of all of them.
    """
    inside = getattr(model, "members", None) or [part for part in (getattr(model, "base", None),) if part is not None]
    if inside:
        yield from {name: encoder for part in inside for name, encoder in encoders_of(part)}.items()
    elif hasattr(model, "features"):
        yield from ((feature.name, feature.encoder) for feature in model.features)
    elif hasattr(model, "encoders"):
        yield from zip(model.names, model.encoders, strict=True)
    else:
        encoding = getattr(getattr(model, "encoder", model), "encoding", None)
        if encoding is not None:
            yield from zip(encoding.names, encoding.encoders, strict=True)


def check_there(data: str | os.PathLike[str]) -> None:
    """Raises for the name of one file that does not exist; patterns, URLs and standard input are left to readers."""
    name = os.fspath(data)
    if name != "-" and "://" not in name and not set("*?[") & set(name) and not Path(name).exists():
        raise Mistake(f"{name} does not exist")
