"""A PostgreSQL server, Debian's, for as long as a test needs one: on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

NOBODY = "nobody"
"""Who runs it where we are root, whom the server refuses."""

PLACES = "/usr/lib/postgresql"


def programs() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``, of the newest version there is; None where there is none."""
    results = [path.parent for path in Path(PLACES).glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    results += [] if on_path is None else [Path(on_path).parent]
    return max(results, key=lambda path: (len(path.parent.name), path.parent.name), default=None)


def _run(binaries: Path, folder: Path, user: int | None, name: str, *arguments: str) -> None:
    subprocess.run(
        [binaries / name, *arguments],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
        timeout=300,
        user=user,
        extra_groups=None if user is None else [],
    )


@contextmanager
def server(*settings: str) -> Iterator[str]:
    """The URL of the database of a new server; skips the test where PostgreSQL is not installed.

    Args:
        settings: of the server, such as ``default_transaction_isolation=serializable``.
    """
    binaries = programs()
    if binaries is None:
        pytest.skip("no PostgreSQL server here: make setup, or apt-get install postgresql")
    who = pwd.getpwnam(NOBODY) if os.getuid() == 0 else None
    # a short name: sockets have no long ones; and a place that nobody may enter
    folder = Path(tempfile.mkdtemp(prefix="tacit-pg-", dir="/tmp"))
    try:
        if who is not None:
            os.chown(folder, who.pw_uid, who.pw_gid)
        run = partial(_run, binaries, folder, None if who is None else who.pw_uid)
        data = str(folder / "data")
        run("initdb", "-D", data, "-U", "tacit", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = ["listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "max_connections=100"]
        words = " ".join(f"-c '{option}'" for option in (*options, *settings))
        run("pg_ctl", "-D", data, "-w", "-t", "120", "-l", str(folder / "log"), "-o", words, "start")
        try:
            yield f"postgresql://tacit@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
