"""Files that are there whole or not at all, however their process ends.

A file has no name until it is complete. Where the file system gives no such files, or a file replaces another, it has a
name of its own for a while, ``.tacit-HOST-...``, and a lock. The next that needs such a name in that folder removes
those of this host and user whose lock is free: their processes have died.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

UNFINISHED = ".tacit-"
"""So begin the names of files that are not complete."""


def write_with(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], object], private: bool = False, replace: bool = True
) -> None:
    """Puts what ``write`` writes in place in one step; it is on the disk when this returns. A link is followed.

    Args:
        path: of the file.
        write: fills the file, which is opened for bytes.
        private: only the owner can read it, from the beginning; otherwise it gets the usual permissions.
        replace: what is there goes.

    Raises:
        FileExistsError: if there is such a file, and it is not to be replaced.
        OSError: with the name ``path``; nothing is left then.
    """
    target, mode = Path(path).resolve(), 0o600 if private else 0o666
    try:
        with _new_file(target.parent, mode) as (file, name):
            write(file)
            _place(file, name, target, mode, replace)
    except OSError as error:  # a full disk names no file, and nobody knows the temporary one
        if error.filename in (None, str(target), str(target.parent)) or UNFINISHED in str(error.filename):
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise


def write_text(path: str | os.PathLike[str], text: str, private: bool = False, replace: bool = True) -> None:
    """Writes a text file whole or not at all; see :func:`write_with`."""
    data = text.encode("utf-8")
    write_with(path, lambda file: file.write(data), private, replace)


def without_name(directory: Path) -> IO[bytes]:
    """A new private file that is gone with the last that refers to it, unless it is given a name."""
    try:
        return _unnamed(directory, 0o600)
    except OSError:  # a file system without such files; what else is wrong is wrong below, too
        return tempfile.TemporaryFile(dir=directory)


def give_name(file: IO[bytes], path: Path) -> None:
    """Lets a complete file :func:`without_name` stay as ``path``, on the disk; a file of that name stays as it is."""
    with suppress(FileExistsError):
        _place(file, None, path, 0o600, replace=False)


def sweep(directory: Path) -> None:
    """Removes unfinished files of processes of this host and user that have died."""
    for path in directory.glob(f"{UNFINISHED}{_host()}-*"):
        with suppress(OSError, ImportError):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid():
                with path.open("rb") as file:
                    _lock(file, wait=False)
                    path.unlink()


def _unnamed(directory: Path, mode: int) -> IO[bytes]:
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        raise OSError("this system has no files without names")
    return os.fdopen(os.open(directory, flag | os.O_RDWR | os.O_CLOEXEC, mode), "w+b")


@contextmanager
def _new_file(directory: Path, mode: int) -> Iterator[tuple[IO[bytes], Path | None]]:
    """A file, and the name that it has until it is in place, which goes in any case; None where it has none."""
    name = None
    try:
        try:
            file = _unnamed(directory, mode)
        except OSError:
            file, name = _named(directory, mode)
        with file:
            yield file, name
    finally:
        if name is not None:
            name.unlink(missing_ok=True)


def _named(directory: Path, mode: int) -> tuple[IO[bytes], Path]:
    """A locked file under a name of its own."""
    while True:
        name = _free_name(directory)
        with suppress(FileExistsError):
            file = os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "w+b")
            _lock(file)
            if os.fstat(file.fileno()).st_nlink:  # it was not taken for one of a dead process before it had its lock
                return file, name
            file.close()


def _place(file: IO[bytes], name: Path | None, target: Path, mode: int, replace: bool) -> None:
    """Puts a complete file in place, from its name, or without one."""
    file.flush()
    os.fsync(file.fileno())
    if name is not None:
        _move(name, target, replace)
    else:
        _lock(file)
        try:
            _link(file, target)
        except FileExistsError:
            other = _free_name(target.parent)
            _link(file, other)
            _move(other, target, replace)
        except OSError:  # a system that gives such files no names
            copy, other = _named(target.parent, mode)
            try:
                with copy:
                    file.seek(0)
                    shutil.copyfileobj(file, copy, 1 << 20)
                    copy.flush()
                    os.fsync(copy.fileno())
                    _move(other, target, replace)
            finally:
                other.unlink(missing_ok=True)
    _synchronise(target.parent)


def _move(name: Path, target: Path, replace: bool) -> None:
    """Gives a complete file its name; the other one goes in any case."""
    try:
        if not replace:
            try:
                return os.link(name, target)
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        name.replace(target)
    finally:
        name.unlink(missing_ok=True)


def _link(file: IO[bytes], path: Path) -> None:
    # with a folder, which an absolute path does not ask for, the link is followed
    os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno(), follow_symlinks=True)


def _free_name(directory: Path) -> Path:
    """A name that no other process takes; it says the host, since locks need not be seen by others of a shared disk."""
    sweep(directory)
    return directory / f"{UNFINISHED}{_host()}-{os.getpid()}-{time.monotonic_ns():x}"


@cache
def _host() -> str:
    try:
        machine = Path("/etc/machine-id").read_text("ascii")
    except (OSError, ValueError):
        machine = ""
    return hashlib.sha256(f"{platform.node()} {machine}".encode()).hexdigest()[:8]


def _lock(file: IO[bytes], wait: bool = True) -> None:
    """Locks a file while it is open.

    Raises:
        OSError: if it does not wait, and somebody else has the lock, or the file system knows no locks.
    """
    import fcntl  # not everywhere where a model is read

    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        if not wait:
            raise


def _synchronise(folder: Path) -> None:
    """Waits until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        OSError: if it cannot be read.
        ValueError: if it is none, or nested too deeply.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
