"""Files that commands write: checked before anything is spent, so that nothing is overwritten."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tacit.cli.failures import Mistake, together

BESIDE_SQLITE = ("", "-wal", "-shm", "-journal", ".key")
"""What is added to the name of an SQLite file for the files that belong to it."""


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None], account: str | None = None
) -> None:
    """Raises unless every output can be made without destroying an input, the account, or another output.

    Outputs go by their options, inputs by what they are, such as "the data".

    Raises:
        Mistake: names the option and what is in the way; nothing is written then.
    """
    places = {path.resolve(): what for what, path in inputs.items() if path is not None}
    places |= dict.fromkeys(_files_of(account), "the account, or belongs to it")
    together(*(partial(_check_target, path, option) for option, path in outputs.items()))
    for option, path in outputs.items():
        if path is None:
            continue
        what = places.get(path.resolve())
        if what is not None:
            raise Mistake(f"{option}: {path} is {what}; that would overwrite it: give another file")
        places[path.resolve()] = f"what {option} writes"


def refuse_overwriting(outputs: Mapping[str, Path | None], force: bool) -> None:
    """Raises for outputs that are there already, unless they may be overwritten.

    Raises:
        Mistake: names the option and the file.
    """
    for option, path in outputs.items():
        if path is not None and path.exists() and not force:
            raise Mistake(f"{path} exists; give another {option}, or --force to overwrite it")


def free_place(path: Path) -> Path:
    """``path``, or one beside it where a file was made since :func:`refuse_overwriting`: both were paid for."""
    place, number = path, 1
    while place.exists():
        number += 1
        place = path.with_stem(f"{path.stem}-{number}")
    return place


def check_there(data: str | os.PathLike[str]) -> None:
    """Raises for the name of one file that does not exist; patterns, URLs and standard input are left to readers.

    Raises:
        Mistake: names it.
    """
    name = os.fspath(data)
    if name != "-" and "://" not in name and not set("*?[") & set(name) and not Path(name).exists():
        raise Mistake(f"{name} does not exist")


def _files_of(account: str | None) -> list[Path]:
    """The files of an account's store, if it is kept in one."""
    if account is None:
        return []
    from tacit.privacy.database import normal_url

    url = normal_url(account)
    if url.get_backend_name() != "sqlite":
        return []
    return [Path(f"{url.database}{ending}").resolve() for ending in BESIDE_SQLITE]


def _check_target(path: Path | None, option: str) -> None:
    """Raises unless a file can be made at ``path``; nothing is written.

    Raises:
        Mistake: names the option and what is in the way.
    """
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
