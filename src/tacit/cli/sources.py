"""Rows of `tacit fit` that are not one file in memory: folders, patterns, data bases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.failures import Mistake
from tacit.cli.fit_arguments import FitArguments
from tacit.cli.tables import csv_options, is_many

if TYPE_CHECKING:
    from tacit.schema import Schema


def is_source(asked: FitArguments, schema: Schema | None) -> bool:
    """Whether rows are read in chunks: where there may be many files, no file, or an option says so."""
    if "://" in asked.data or asked.query is not None or asked.engine is not None:
        return True
    return is_many(asked.path) and (schema is None or schema.unit is None)  # units are protected in memory alone


def source_of(asked: FitArguments, schema: Schema | None) -> Any:
    """The rows that are read in chunks; None for a file that is read into memory.

    Raises:
        Mistake: for options that say nothing here.
        DataError: if there is nothing to read.
    """
    if not is_source(asked, schema):
        if asked.directory is not None or asked.keep:
            raise Mistake("--directory and --keep are for rows that stay on disk: add --engine streamed")
        if asked.cluster is not None:
            raise Mistake("--cluster is where --engine dask runs: add that")
        return None
    if schema is None:
        raise Mistake(
            f"{asked.data} is read in chunks, and needs a --schema: nothing about its columns may come from its rows"
        )
    if asked.batches or asked.adds_to is not None:
        raise Mistake("--batches and --adds-to learn from files in memory: give one file")
    from tacit.encoding.source import read_source

    return read_source(
        asked.data,
        query=asked.query,
        engine=asked.engine or "streamed",
        directory=asked.directory,
        keep=asked.keep,
        cluster=asked.cluster,
        **csv_options(asked),
    )
