"""Private rows that come from a source: encoded once to disk before the charge, sealed block by block after it."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol

import numpy as np

from tacit.arrays import Ints
from tacit.curator.recipes import Columns, Recipe, label_codes, targets_of
from tacit.curator.rows import PrivateRows
from tacit.encoding.frames import Frame
from tacit.encoding.labels import NumericLabelIndex
from tacit.encoding.source import DeclaredSource
from tacit.encoding.table import TableEncoding
from tacit.encoding.values import LabelIndex
from tacit.engines.blocks import BlockTable, SealedTable, counting
from tacit.engines.dense import DenseRows
from tacit.engines.rows import Rows, Workspace
from tacit.engines.store import (
    BLOCK_ROWS,
    Arrays,
    DamagedStoreError,
    DirectoryError,
    DiskFullError,
    DiskWorkspace,
    Store,
    StoreWriter,
    is_full,
)
from tacit.privacy.ledger import Reservation
from tacit.privacy.signatures import library_version
from tacit.queries.query import Layout
from tacit.schema import Schema
from tacit.whole_files import give_name, sweep, without_name

Labels = LabelIndex | NumericLabelIndex

_NUMBERS = count(1)


def arrays_of(frame: Frame, labels: Any, recipe: Recipe, label_index: Labels) -> Arrays:
    """What is kept of some rows: codes of every column, of the label, targets, vectors. Rows that a rule drops go."""
    codes = label_codes(labels, label_index)
    dense, targets = recipe.dense(frame), targets_of(labels, label_index)
    arrays: Arrays = [*recipe.columns(frame), codes]
    arrays += [] if targets is None else [targets]
    arrays += [] if dense is None else [dense.values]
    keep = counting(codes)
    return arrays if keep.all() else [array[keep] for array in arrays]


def rows_of(arrays: Arrays, recipe: Recipe, label_index: Labels, workspace: Workspace) -> Rows:
    """A block of the rows of which this is kept."""
    n_columns = len(recipe.n_codes)
    rest = arrays[n_columns + 1 :]
    targets = rest.pop(0) if isinstance(label_index, NumericLabelIndex) else None
    dense = None
    if rest:
        encoder: Any = recipe.encoder  # type: ignore[attr-defined]
        dense = DenseRows(rest[0], encoder.clipper.radius, encoder.width)
    layout = Layout(recipe.n_codes, label_index.n_classes, 0 if dense is None else dense.n_features)
    columns: list[Any] = arrays[:n_columns]
    return Rows(columns, arrays[n_columns], layout, None, dense, targets, workspace)


class RemoteTable(BlockTable):
    """Rows that are elsewhere: here are their number for those who hold them, and what is public."""

    def __init__(self, layout: Layout) -> None:
        super().__init__([])
        self._public, self._number = layout, next(_NUMBERS)

    @property
    def layout(self) -> Layout:
        return self._public

    def coarsen(self, column: int, mapping: Ints) -> None:
        super().coarsen(column, mapping)
        self._public = self._public.coarsened(column, mapping)


class PreparedRows(Protocol):
    """Rows that are encoded, wherever they are, and can be sealed once they are paid for."""

    def rows(self, reservation: Reservation, random_state: int | None) -> PrivateRows:
        """The rows of one fit."""


class PreparedSource:
    """A source that is ready to be sealed: what its columns say is encoded, and nothing but noise can get out.

    ``directory`` is for files; None where rows are kept in memory.
    """

    def __init__(self, source: DeclaredSource, directory: Path | None) -> None:
        self._source, self._directory = source, directory
        self._files: dict[Any, Sequence[Arrays]] = {}

    def rows(self, reservation: Reservation, random_state: int | None) -> PrivateRows:
        return SourceRows(self._source.schema, self.table, reservation, random_state)

    def table(self, recipe: Recipe, label_index: Labels) -> BlockTable:
        workspace = Workspace() if self._directory is None else DiskWorkspace(self._directory)
        blocks = self.encoded(recipe, label_index)
        return BlockTable([rows_of(list(arrays), recipe, label_index, workspace) for arrays in blocks])

    def encoded(self, recipe: Recipe, label_index: Labels) -> Sequence[Arrays]:
        """What is kept of all rows, by block: read from the source once for every recipe."""
        files = self._files.get((recipe, label_index))
        if files is None:
            files = self._made(recipe, label_index)
            self._files[recipe, label_index] = files
        return files

    def _made(self, recipe: Recipe, label_index: Labels) -> Sequence[Arrays]:
        name = self._kept_name(recipe, label_index)
        if name is not None and name.exists():
            try:
                with name.open("r+b") as file:
                    return list(Store(file, check=True).blocks())
            except DamagedStoreError:
                name.unlink()  # it is made again
        nothing = self._source.without_rows
        like = arrays_of(nothing, self._source.labels(nothing), recipe, label_index)
        chunks = (arrays_of(*chunk, recipe, label_index) for chunk in self._source.chunks())
        if self._directory is None:
            return [[np.concatenate(parts) for parts in zip(like, *chunks, strict=True)]]
        with self._new_file(self._directory) as file:
            with StoreWriter(file, like, self._directory, BLOCK_ROWS) as writer:
                for arrays in chunks:
                    writer.append(arrays)
            if name is not None:
                give_name(file, name)
            return list(Store(file).blocks())

    def _kept_name(self, recipe: Recipe, label_index: Labels) -> Path | None:
        """What the file is called that stays for the next fit; None if none does."""
        if not (self._source.source.keep and isinstance(recipe, Columns) and self._directory is not None):
            return None
        facts = [
            library_version(),
            self._source.state,
            recipe.encoding.to_dict(),
            label_index.to_dict(),
            self._source.wanted,
        ]
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "surrogateescape")).hexdigest()
        return self._directory / f"{digest[:32]}.rows"

    @staticmethod
    @contextmanager
    def _new_file(directory: Path) -> Iterator[IO[bytes]]:
        """A file without a name, that is gone with its last mapping, however the process ends, unless it gets one."""
        try:
            with without_name(directory) as file:
                yield file
        except OSError as error:
            if is_full(error):
                raise DiskFullError.of(directory, 1 << 20) from None
            raise


class SourceRows(PrivateRows):
    """Rows that are sealed where they are by ``table``, under a schema that declares all: of a source, or of sites."""

    def __init__(
        self,
        schema: Schema,
        table: Callable[[Recipe, Labels], SealedTable],
        reservation: Reservation,
        random_state: int | None,
        whose: str = "a source",
    ) -> None:
        super().__init__(Frame({}, 0), None, reservation, random_state)
        self._schema, self._sealed, self._whose = schema, table, whose

    @property
    def names(self) -> tuple[str, ...]:
        return self._schema.features

    def with_labels_as(self, name: str) -> NoReturn:
        """Not here, where the schema declares the label."""
        raise TypeError(f"the label of {self._whose} is declared, and is no column '{name}'")

    def keys(self, *_: Any, **__: Any) -> NoReturn:
        """Not here, where the schema declares all values."""
        raise TypeError(f"the values of {self._whose} are declared")

    def _table(self, recipe: Recipe, label_index: Labels, levels: int = 1) -> SealedTable:
        assert levels == 1, "such rows have no weights"
        return self._sealed(recipe, label_index)


@contextmanager
def prepare(source: DeclaredSource, encoding: TableEncoding, label_index: Labels) -> Iterator[PreparedSource]:
    """A source whose columns are encoded, before the charge: what is wrong with its files is found while it is free.

    Nothing of what is encoded can get out but through a curator, which charges first.

    Raises:
        DataError: if the source cannot be read.
        DirectoryError: if files cannot be made in the directory, with the reason.
        DiskFullError: if there is no room.
    """
    directory = None
    if source.source.engine == "streamed":
        directory = source.source.directory or Path(tempfile.gettempdir())
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            if is_full(error):
                raise DiskFullError.of(directory, 1 << 20) from None
            raise DirectoryError(f"{directory} cannot be used for files: {os.strerror(error.errno or 0)}") from None
        sweep(directory)
    ready = PreparedSource(source, directory)
    ready.encoded(Columns(encoding), label_index)
    yield ready
