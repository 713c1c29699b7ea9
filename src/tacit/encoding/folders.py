"""The files of rows that a path, a folder, a pattern or a list means; what is doubtful about them is refused.

Their names, forms and sizes are public. Rows that would be left out, or that would count twice, are a reason to stop.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from tacit.encoding.errors import DataError
from tacit.encoding.read import column_names, explained, is_gzip, is_parquet, parquet_groups, unpacked

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
"""What files of a folder are read; others, and those whose names begin with a dot or underscore, are not."""

VERSIONED = {"_delta_log": "Delta Lake", ".hoodie": "Hudi"}
"""Folders of tables that keep the rows of former versions beside the present ones."""

UNREAD = tuple(
    f"{kind}.{packed}" for kind in (".csv", ".tsv", ".parquet") for packed in ("bz2", "lz4", "xz", "zip", "zst")
)
UNREAD += (".jsonl", ".ndjson", ".feather", ".arrow", ".orc", ".avro", ".parquet.gz")
"""Rows that no fit reads: a folder that has such files is refused, or a part of its rows would be left out unseen."""

HEAD_BYTES = 1 << 16
"""Bytes by which files of one size are told apart before they are read to their ends."""

_URL = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
"""How a URL begins; a path has made one slash of two."""


def files_of(where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[Path, ...]:
    """The files that a path, a folder, a pattern or a list of these means, sorted by name.

    Raises:
        DataError: if there are none, one is there under two names or packed beside itself, which would double its
            rows, or a folder holds rows that are not read.
    """
    files = _files_of(where)
    first: dict[tuple[int, int] | Path, Path] = {}
    for file in files:
        facts = file.stat()
        other = first.setdefault((facts.st_dev, facts.st_ino), file)
        if other is not file:
            raise DataError(f"{file} is the same file as {other}, and its rows would count twice: name it once")
        place = file.with_suffix("") if file.suffix.lower() == ".gz" else file
        if (other := first.setdefault(place.resolve(), file)) is not file:
            raise DataError(f"{file} and {other} are named as one file, packed and not, whose rows would count twice")
    return files


def _files_of(where: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> tuple[Path, ...]:
    if not isinstance(where, str | os.PathLike):
        files = tuple(path for each in where for path in _files_of(each))
        if not files:
            raise DataError("an empty list names no files")
        return files
    path = Path(where)
    if path.is_dir():
        return _inside(path)
    if path.exists() or not glob.has_magic(str(where)):
        if not path.exists():
            if _URL.match(str(where)):  # not repeated: it may hold a password
                raise DataError("files are read here, and the URL of a database or a store was given")
            raise DataError(f"{path} does not exist")
        return (path,)
    names = sorted(map(Path, glob.glob(str(where), recursive=True)))  # noqa: PTH207 - a pattern may begin anywhere
    other = next((name for name in names if not name.is_file() and not (name.is_dir() and "**" in str(where))), None)
    if other is not None:
        raise DataError(f"{str(where)!r} matches {other}, which is no file: end the pattern as the names of files do")
    if not any(name.is_file() for name in names):
        raise DataError(f"no file matches {str(where)!r}")
    return tuple(name for name in names if name.is_file())


def _inside(folder: Path) -> tuple[Path, ...]:
    """The files of rows in a folder and those below it."""
    files = sorted(_walk(folder))
    inside = [file for file in files if file.name.lower().endswith(ENDINGS)]
    if not inside:
        raise DataError(f"{folder} holds no files of rows; they end in {', '.join(ENDINGS)}")
    lost = next((file for file in inside if not file.is_file()), None)
    if lost is not None:
        raise DataError(f"{lost} is no file, or a link to none: take it away, or put the file there")
    names = tuple(file.name for file in inside)
    for file in (each for each in files if not each.name.lower().endswith(ENDINGS) and each.is_file()):
        if file.name.lower().endswith(UNREAD):
            raise DataError(f"{file} beside {names[0]} is of a kind that is not read: rewrite it, or take it away")
        if not file.name.startswith(names) and _is_part(file, inside[0]):  # a.csv.bak is a version of a.csv
            raise DataError(
                f"{file} has the columns of {names[0]}, and would be left out for the end of its name: rename it to "
                f"end in {inside[0].suffix}, or take it away"
            )
    return tuple(inside)


def _walk(folder: Path) -> Iterator[Path]:
    """What is in a folder and those below it, but for folders and for names that begin with a dot or an underscore."""

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None

    for place, folders, names in os.walk(folder, onerror=refuse):
        kinds = [VERSIONED[name] for name in folders if name in VERSIONED]
        if kinds:
            raise DataError(
                f"{place} is a table of {kinds[0]}, whose folder holds the rows of former versions, too: give the "
                "present ones, as a pyarrow data set or a list of files"
            )
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        link = next((name for name in folders if Path(place, name).is_symlink()), None)
        if link is not None:
            raise DataError(f"{Path(place, link)} links to a folder, which is not read: give a list of both folders")
        yield from (Path(place, name) for name in names if not name.startswith((".", "_")))


def _is_part(file: Path, part: Path) -> bool:
    """Whether a file has the columns of one that is read."""
    try:
        return is_parquet(file) == is_parquet(part) and set(column_names(file)) == set(column_names(part))
    except DataError:
        return False


def check_copies(paths: Sequence[Path]) -> None:
    """Raises :class:`DataError` where two files hold the same bytes, packed or not, and rows among them.

    Every row would count twice. That no file is the copy of another is public, as the form of files is (decision 6).
    """
    for alike in _grouped(_grouped([[*paths]], _size), _head):
        with_rows = [path for path in alike if _has_rows(path)]
        for path, other, *_ in _grouped([with_rows], _digest):
            raise DataError(
                f"{other} holds the same bytes as {path}, and its rows would count twice: take one of them away. If "
                "they are rows of different people, write both into one file"
            )


def _grouped(groups: Iterable[Sequence[Path]], key: Callable[[Path], object]) -> list[list[Path]]:
    """The files of each group that share their key with another."""
    parts: dict[object, list[Path]] = {}
    for number, group in enumerate(groups):
        for path in group if len(group) > 1 else ():
            parts.setdefault((number, key(path)), []).append(path)
    return [part for part in parts.values() if len(part) > 1]


def _size(path: Path) -> int:
    """The bytes of a file when it is unpacked, modulo ``2**32``, as gzip has them at its end."""
    size = path.stat().st_size
    if not is_gzip(path):
        return size % (1 << 32)
    with path.open("rb") as raw:
        raw.seek(max(size - 4, 0))
        return int.from_bytes(raw.read(4), "little")


def _head(path: Path) -> bytes:
    with explained(path), unpacked(path) as stream:
        return bytes(stream.read(HEAD_BYTES))


def _digest(path: Path) -> bytes:
    with explained(path), unpacked(path) as stream:
        return hashlib.file_digest(stream, "sha256").digest()


def _has_rows(path: Path) -> bool:
    """Whether a file holds more than the names of its columns."""
    return sum(parquet_groups(path)) > 0 if is_parquet(path) else len(_head(path).strip(b"\0\r\n\t ").splitlines()) > 1
