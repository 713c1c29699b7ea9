"""Files that commands write: checked before anything is spent, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tacit.cli.failures import Mistake


def check_target(path: Path | None, option: str) -> None:
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
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise Mistake(f"{option}: {path} cannot be written")


def write_with(path: Path, write: Callable[[Path], None]) -> None:
    """Lets ``write`` fill a file beside ``path`` and puts it in place in one step: there is never half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all."""
    from tacit.models.base import write_atomically

    write_atomically(path, text)
