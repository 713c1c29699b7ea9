"""Output files of commands. One rule: a file that is there stays as it is, unless --force says otherwise.

Not even ``--force`` replaces what the command itself reads, or what cannot be made again: a database, where an account
may be, a key or its certificate, or the state of a stream. All of it is checked before anything is charged.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tacit.cli.failures import Mistake, together
from tacit.errors import STANDS

BESIDE_SQLITE = ("", "-wal", "-shm", "-journal", ".key")
"""What is added to the name of an SQLite file for the files that belong to it."""

IRREPLACEABLE = {
    "an SQLite database, which may hold accounts": re.compile(rb"SQLite format 3\0"),
    "the state of a stream": re.compile(rb'\{"format": "tacit suspended stream"'),
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----|[0-9a-f]{64}\n?\Z"),
    "a public key or a certificate, which others hold": re.compile(rb"-----BEGIN |ssh-|ecdsa-"),
}
"""How files begin that no command overwrites."""

LONGEST_HEAD = 70
"""Bytes of a file by which it is known to be one of these."""


def check_outputs(
    outputs: Mapping[str, Path | None],
    inputs: Mapping[str, str | Path | None],
    account: str | None = None,
    force: bool | None = False,
) -> None:
    """Raises unless every output can be made, without destroying an input, the account, or another output.

    Outputs are called by their options, inputs (files, folders, patterns, URLs) by what they are, such as "the data".
    ``force`` says whether other files may be overwritten; None where no option allows it.
    """
    places: dict[Path, str] = {}
    for what, where in inputs.items():
        places |= dict.fromkeys(_files_of(where), what)
    places |= dict.fromkeys(_files_of(account, BESIDE_SQLITE), "the account, or belongs to it")
    together(*(partial(_check_target, path, option) for option, path in outputs.items()))
    for option, path in outputs.items():
        if path is None:
            continue
        target = path.resolve()
        inside = next((what for place, what in places.items() if place in target.parents), "")
        if inside:
            raise Mistake(f"{option}: {path} lies in the folder of {inside}, which is read as a whole: give another")
        if target in places:
            raise Mistake(f"{option}: {path} is {places[target]}; that would overwrite it: give another file")
        places[target] = f"what {option} writes"
    together(*(partial(_check_free, path, option, force) for option, path in outputs.items()))


def free_place(path: Path, force: bool) -> Path:
    """``path``, or one beside it where a file was made since :func:`check_outputs`: both were paid for."""
    place, number = path, 1
    while place.exists() and not force:
        number += 1
        place = path.with_stem(f"{path.stem}-{number}")
    return place


def write_paid(
    arguments: Any, ways: Mapping[str, Callable[[Path], object]], done: str, replaced: str
) -> dict[str, str]:
    """Writes files that were paid for, those of which ``arguments`` name a place, in their order.

    Each goes to a free place, but for the one to be ``replaced``. A failure says what was ``done`` and which are there.
    """
    written: dict[str, str] = {}
    try:
        for name, way in ways.items():
            if (path := getattr(arguments, name)) is not None:
                place = free_place(path, arguments.force or name == replaced)
                way(place)
                written[name] = str(place)
    except OSError as error:
        there = ", ".join(written.values()) or "nothing"
        what = f"{error.filename or 'a file'}: {error.strerror or error}"
        raise Mistake(f"{what}. {done}; written so far: {there}", STANDS) from error
    return written


def _files_of(where: str | Path | None, beside: Sequence[str] = ("",)) -> Iterator[Path]:
    """The files and folders that a name, a pattern or the URL of a database means, whether or not they exist."""
    if where is None:
        return
    name = str(where)
    if "://" in name:
        name, beside = name.partition(":///")[2], BESIDE_SQLITE
    yield from (Path(f"{name}{ending}").resolve() for ending in beside if name)
    if not Path(name).exists() and glob.has_magic(name):
        yield from (Path(match).resolve() for match in glob.glob(name, recursive=True))  # noqa: PTH207 - anywhere


def _check_free(path: Path | None, option: str, force: bool | None) -> None:
    """Raises for a file that must stay."""
    if path is None or not path.exists():
        return
    if not force:
        remedy = "" if force is None else ", or --force to overwrite it"
        raise Mistake(f"{path} exists; give another {option}{remedy}")
    with path.open("rb") as file:
        head = file.read(LONGEST_HEAD)
    for what, beginning in IRREPLACEABLE.items():
        if beginning.match(head):
            raise Mistake(f"{option}: {path} is {what}, and is never overwritten: give another file, or remove it")


def _check_target(path: Path | None, option: str) -> None:
    """Raises unless a file can be made at ``path``."""
    if path is None:
        return
    folder = path.parent
    if not folder.is_dir():
        raise Mistake(f"{option}: the folder {folder} does not exist")
    if path.is_dir():
        raise Mistake(f"{option}: {path} is a folder; give a file name")
    if path.exists() and not path.is_file():
        raise Mistake(f"{option}: {path} is a device or a pipe, which would be replaced; give a file name")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise Mistake(f"{option}: {path} cannot be written")
