"""Files are there whole or not at all: when writing fails, when the process is killed, on file systems of any kind."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from tacit import whole_files
from tacit.whole_files import give_name, sweep, without_name, write_text, write_with

WRITES = """
import os, sys, time
from pathlib import Path
from tacit.whole_files import write_with
if sys.argv[2] == "named":
    os.O_TMPFILE = os.O_DIRECTORY
def slow(file):
    file.write(b"half"); file.flush(); print("writing", flush=True); time.sleep(60)
write_with(sys.argv[1], slow, private=True)
"""


@pytest.fixture(params=["without a name", "named", "copied", "no links"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """File systems: with files that have no name, without, such that get no name later, and without any links."""
    link = os.link

    def no_names(source: Any, *rest: Any, **options: Any) -> None:
        if request.param == "no links" or str(source).startswith("/proc"):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, *rest, **options)

    if request.param in ("named", "no links"):
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    if request.param in ("copied", "no links"):
        monkeypatch.setattr(os, "link", no_names)
    return str(request.param)


def writer(path: Path, kind: str) -> subprocess.Popen[str]:
    """A process in the middle of a file."""
    process = subprocess.Popen([sys.executable, "-c", WRITES, str(path), kind], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    return process


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, system: str) -> None:
    target = tmp_path / "file.txt"

    def fail(file: IO[bytes]) -> None:
        file.write(b"half of it")
        raise RuntimeError("in the middle")

    for text in (None, "first", "second"):
        if text is not None:
            write_text(target, text)
        with pytest.raises(RuntimeError):
            write_with(target, fail)
        assert [(path, path.read_text()) for path in tmp_path.iterdir()] == ([(target, text)] if text else [])
    with pytest.raises(FileExistsError, match=r"file\.txt"):
        write_text(target, "third", replace=False)
    (tmp_path / "link").symlink_to(target)
    write_text(tmp_path / "link", "through the link")
    assert (target.read_text(), (tmp_path / "link").is_symlink(), len(list(tmp_path.iterdir()))) == (
        "through the link", True, 2,
    )  # fmt: skip


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_private_files_are_their_owners_alone_from_the_beginning(tmp_path: Path, system: str, mask: int) -> None:
    records, before = [], os.umask(mask)
    try:
        for name in ("new", "new"):
            write_with(
                tmp_path / name, lambda file: records.append(os.fstat(file.fileno()).st_mode & 0o777), private=True
            )
        write_text(tmp_path / "public", "")
        write_text(tmp_path / "public", "again")
    finally:
        os.umask(before)
    assert records == [0o600, 0o600]
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o666 & ~mask


def test_a_killed_process_leaves_nothing(tmp_path: Path) -> None:
    process = writer(tmp_path / "out.csv", "without a name")
    process.kill()
    process.wait()
    assert list(tmp_path.iterdir()) == []


def test_what_a_dead_process_left_goes_with_the_next_file_and_that_of_a_live_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, live = writer(tmp_path / "out.csv", "named"), writer(tmp_path / "out.csv", "named")
    dead.kill()
    dead.wait()
    parts = {path.name: path.stat() for path in tmp_path.iterdir()}
    assert len(parts) == 2
    assert {stat.S_IMODE(about.st_mode) for about in parts.values()} == {0o600}
    [of_live] = [name for name in parts if f"-{live.pid}-" in name]
    others = {
        f".tacit-elsewhere-{dead.pid}-1",
        ".tacitus",
        "out.csv",
    }  # of another host, whose locks are not seen
    for name in others:
        (tmp_path / name).write_bytes(b"")
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    try:
        write_text(tmp_path / "out.csv", "whole")
        assert {path.name for path in tmp_path.iterdir()} == {of_live, *others}
        live.send_signal(signal.SIGTERM)
        live.wait()
        sweep(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == others
    finally:
        live.kill()
        live.wait()


def test_a_file_that_was_swept_before_its_lock_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    lock, taken = whole_files._lock, []

    def late(file: IO[bytes], wait: bool = True) -> None:
        if not taken:
            [path] = tmp_path.iterdir()
            taken.append(path)
            path.unlink()
        lock(file, wait)

    monkeypatch.setattr(whole_files, "_lock", late)
    write_text(tmp_path / "out.csv", "whole")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["whole"]


@pytest.mark.parametrize("step", ["copy", "synchronise"])
def test_a_full_disk_names_the_file_and_leaves_nothing(
    tmp_path: Path, system: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((shutil, "copyfileobj") if step == "copy" else (os, "fsync")), full)  # type: ignore[misc]
    if step == "copy" and system != "copied":
        return
    with pytest.raises(OSError, match=r"No space.*out\.csv"):
        write_text(tmp_path / "out.csv", "text")
    with without_name(tmp_path) as file, pytest.raises(OSError, match="No space"):
        give_name(file, tmp_path / "rows")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file.*nowhere/out\.csv"):
        write_text(tmp_path / "nowhere" / "out.csv", "")
